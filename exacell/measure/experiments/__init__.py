"""Experiments: the order of their runs, the difference that they can detect, and their results."""
