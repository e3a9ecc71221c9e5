"""A change: its plan confirmed, locked, carried out, followed, settled, resumed, undone and taken back by itself."""
