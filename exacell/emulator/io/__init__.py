"""Reads and writes: what loads do on cells, and what cells and databases count of it."""
