"""From results to text: tables, formats, plans."""
