"""What statements do to an emulated cell: one module a noun."""
