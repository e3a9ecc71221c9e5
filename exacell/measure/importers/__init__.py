"""Import the outputs of other programs into one shape: text in, points and distributions out. Pure.

Each program has a module of its own here, even a small one: it is a row of the table in :mod:`exacell.measure.importers.kinds`.
"""
