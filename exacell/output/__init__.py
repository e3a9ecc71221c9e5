"""Turn results into text: tables, formats, plans."""
