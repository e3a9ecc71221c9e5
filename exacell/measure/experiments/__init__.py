"""Experiments: in which order runs come, what they can detect, and what they show."""
