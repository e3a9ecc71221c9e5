"""Text that exacell carries for others (shells, SQL*Plus): what of it is read, and what is not."""
