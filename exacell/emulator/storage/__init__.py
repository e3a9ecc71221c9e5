"""What databases and disk groups are, as plain data."""
