"""Completion: what is known of racks and commands without asking, kept on disk, and how shells ask for it."""
