"""A finding as one file that needs nothing else: a page, Markdown or JSON. Pure but for the library that draws."""
