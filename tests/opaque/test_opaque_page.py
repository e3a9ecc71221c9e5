"""The page that tells users what is read has what the program has."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from exacell.opaque.scan import command_findings
from exacell.opaque.table import READ, SHOWN

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "shell-text.md").read_text(encoding="utf-8")


def test_the_list_of_commands_is_the_tables() -> None:
    """Each command is on the page with its options, operands and reason; docs/make_shell_table.py writes them there."""
    assert runpy.run_path(str(DOCS / "make_shell_table.py"))["rendered"]() in PAGE


def test_the_folders_are_those_of_the_program() -> None:
    """Each folder below which files are read or listed is on the page."""
    assert {*READ, *SHOWN} <= set(re.findall(r"`(/[^`]*)`", PAGE))


def test_what_the_page_calls_read_is_read() -> None:
    """The examples of texts that are read are read, and those of texts that are not are not."""
    assert command_findings("cellcli -e list cell | grep x").harmless
    assert command_findings("cat /etc/*release").harmless
    assert command_findings("iostat 1 10").harmless
    for text in ("echo list cell | cellcli", "tail -f /var/log/messages", "iostat 1"):
        assert text in PAGE.replace("tail -f`", "tail -f /var/log/messages`")
        assert command_findings(text).unread
