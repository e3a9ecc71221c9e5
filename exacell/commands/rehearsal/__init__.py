"""A statement tried on a copy of the rack, and what is read of the rack for that."""
