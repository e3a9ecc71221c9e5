"""Provide dcli's command line over exacell's connections: its options, output, exit codes and order."""
