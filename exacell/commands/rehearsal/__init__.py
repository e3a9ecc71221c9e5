"""Rehearsals: try a statement on a copy of the rack, and read the rack for that."""
