"""Outputs of other programs, read into one shape: text in, points and distributions out. Pure."""
