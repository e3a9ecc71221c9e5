"""The sorts of data that can be compared and reported, each found by its name: imports, snapshots, sets of trace files.

A new sort needs a module here with a Sort, and an entry in :data:`exacell.commands.subjects.sorts.SORTS`.
"""
