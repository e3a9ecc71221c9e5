"""SQL pasted where a statement is expected: what to type instead. Pure."""

from __future__ import annotations

import re

from exacell.core.errors import StatementError

_CREATE = re.compile(
    r"create\s+diskgroup\s+(?P<name>\S+)\s+(?:(?P<redundancy>external|normal|high|flex|extended)\s+redundancy\b"
    r"|(?=(?:quorum\s+|regular\s+)?(?:failgroup|disk)\s))(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OTHER = re.compile(
    r"(?:drop\s+diskgroup\s+\S+\s+(?:force|including|excluding)\b|alter\s+diskgroup\s|(?:alter|drop|create)\s+(?:system|tablespace|table|index|session)\s"
    r"|select\s|with\s+\w+\s+as\b|desc(?:ribe)?\s+(?:g?v\$|x\$|dba_|all_)\w)",
    re.IGNORECASE,
)
_DISKS = re.compile(r"disk\s+'[oO]/[^'/]*/(?P<prefix>[\w.-]+?)_?\*'", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"'([\w.]+)'\s*=\s*'([^'\s]*)'")
_SEVERAL = re.compile(r"\bfailgroup\b|\bquorum\b|'\s*,\s*'[oO]/", re.IGNORECASE)


def sql_error(text: str) -> StatementError | None:
    """Return the error that says how to have pasted SQL carried out; None when ``text`` is none.

    Source: Oracle Automatic Storage Management Administrator's Guide, CREATE DISKGROUP.
    """
    create = _CREATE.match(text)
    if create is not None:
        end = create.start("rest")
        own = _own_create(create)
        hint = f"type: {own}" if own else "create diskgroup NAME prefix=p redundancy=normal; help create diskgroup"
        return StatementError(
            "this is SQL; exacell's own create diskgroup counts the disks first", start=0, end=end, hint=hint
        )
    if _OTHER.match(text):
        end = len(text.split(None, 2)[0])
        whole = " ".join(text.strip().rstrip(";/ ").split()).replace('"', '""')
        asm = re.search(r"asm_|diskgroup", text, re.IGNORECASE)
        hint = f'type: sql {"asm" if asm else "db=NAME"} "{whole}"'
        return StatementError("this is SQL, which needs sql in front", start=0, end=end, hint=hint)
    return None


def sql_goes_on(text: str) -> bool:
    """Return whether ``text`` is SQL, pasted in several lines, that has not come to the ``;`` or ``/`` at its end."""
    begun = text.lstrip()
    return bool(_OTHER.match(begun) or _CREATE.match(begun)) and not text.rstrip().endswith((";", "/"))


def _own_create(create: re.Match[str]) -> str:
    """Return the statement of ours that makes the same disk group; empty when there is none."""
    rest = create["rest"]
    disks = _DISKS.search(rest)
    redundancy = (create["redundancy"] or "normal").lower()
    if disks is None or _SEVERAL.search(rest) or redundancy not in ("external", "normal", "high"):
        return ""
    words = [f"create diskgroup {create['name']} prefix={disks['prefix']} redundancy={redundancy}"]
    # What exacell always sets itself is not repeated.
    found = [(key.lower(), value) for key, value in _ATTRIBUTE.findall(rest)]
    words += [f"{key}={value}" for key, value in found if key != "cell.smart_scan_capable"]
    return " ".join(words)
