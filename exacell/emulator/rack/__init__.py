"""The rack itself: its minutes, and what its servers may ask of it."""
