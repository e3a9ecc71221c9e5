"""What can be compared and reported, and who knows it by its name: imports, snapshots, sets of trace files.

Another sort is a module here with a Sort, which :data:`exacell.commands.subjects.sorts.SORTS` names.
"""
