"""Carry out changes: plans are confirmed, locked, carried out, followed, settled, resumed, undone and taken back in time."""
