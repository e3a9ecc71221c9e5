"""What help shows besides a statement's own page: its first screen, what it finds for any words, and how lines are set."""
