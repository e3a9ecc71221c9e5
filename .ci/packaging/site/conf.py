"""One site of docs/, for make docs: searchable without a network and from a folder; nothing is loaded from elsewhere."""

import re

from pygments.lexers.special import TextLexer

project = "exacell"
html_title = "exacell"
extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["man", "*.py"]
html_theme = "furo"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
smartquotes = False


def add_contents(app, name, source):
    """Give the first page what the site's margin is made of: the pages under each of its headings."""
    if name == "index":
        parts = []
        for heading, body in re.findall(r"^## (.+)\n((?:(?!^## ).*\n?)*)", source[0], re.MULTILINE):
            pages = "\n".join(dict.fromkeys(re.findall(r"\]\((\w[\w-]*)\.md\)", body)))
            parts.append(f"```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{pages}\n```")
        source[0] = "\n\n".join([source[0], *parts])


def setup(app):
    """Have Sphinx call us, and take recipes as they are."""
    app.connect("source-read", add_contents)
    app.add_lexer("exa", TextLexer)
