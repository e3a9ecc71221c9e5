"""Write a finding as one self-contained file: a page, Markdown or JSON. Pure but for the library that draws."""
