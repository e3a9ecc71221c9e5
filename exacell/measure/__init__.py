"""Snapshots of counters and what two of them mean."""
