"""A rack's state as everything that is in it sees it; how cells are made."""
