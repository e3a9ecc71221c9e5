"""Reaching cells and database nodes."""
