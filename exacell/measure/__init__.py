"""Measurements: snapshots of counters and their difference, traces, imports, experiments and reports."""
