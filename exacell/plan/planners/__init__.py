"""Planners, one module a noun: facts in, a plan out. Pure."""
