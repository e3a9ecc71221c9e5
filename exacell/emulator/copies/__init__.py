"""Racks that copy a described one."""
