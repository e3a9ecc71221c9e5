"""The effects of statements on an emulated cell: one module for each kind of object."""
