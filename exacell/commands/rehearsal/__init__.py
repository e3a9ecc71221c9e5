"""Rehearsals: read the rack, make an emulated copy of it, and try a statement on the copy."""
