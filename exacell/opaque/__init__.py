"""Judge text that exacell carries for others (shells, SQL*Plus): which parts it can read, and which it can't."""
