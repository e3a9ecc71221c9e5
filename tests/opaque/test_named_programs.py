"""Which programs a text starts that exacell does not read."""

from __future__ import annotations

from exacell.opaque.shell import unread_programs
from tests.support.every import every


@every(
    [
        ("uptime", ()),
        ("fio job.fio --output-format=json", ("fio",)),
        ("/usr/bin/fio job.fio", ("fio",)),
        ("/tmp/fio job.fio", ("/tmp/fio",)),
        ("sg_vpd -p bl /dev/sda | tee x; uptime && fio a", ("sg_vpd", "tee", "fio")),
        ("ethtool -G eth0 rx 4096", ("ethtool",)),
        ("sudo fio a", ("sudo",)),
        ("fio 'a b' 2>&1", ("fio",)),
        ("uptime\n\nfio a\n", ("fio",)),
        ("ps -ef | grep x", ()),
        ("fio 'a$b\\c'", ("fio",)),
        ("uptime >/dev/null | cat", ("uptime",)),
        ("uptime >/dev/null; cat /etc/hosts", ()),
        ("ps -ef; grep x", ("grep",)),
        ("/opt/a/b x; ls '-Z'", ("/opt/a/b", "ls")),
    ]
)
def test_the_programs_are_named(text: str, found: tuple[str, ...]) -> None:
    """Each program that is not read is there once, by its name where its folder is a system's."""
    assert unread_programs(text) == frozenset(found)


@every(
    [
        "fio $(reboot)",
        "fio `reboot`",
        "fio a > /etc/passwd",
        "fio a &",
        "(fio a)",
        "PATH=/tmp fio a",
        "f* a",
        ">/dev/null fio a",
        "<<E fio\nreboot\nE\n",
        "fio <<E\nreboot\nE\n",
        "fio \\\nreboot",
        "fio \\;a",
        "fio a\\;",
        "fio a$",
        'fio "a\\$b"x',
        'fio "a$ b"',
        "if fio; then reboot; fi; ${x}",
        "fio a\rreboot",
    ]
)
def test_what_may_start_another_program_is_none_of_them(text: str) -> None:
    """A text that holds more than plain words and joints names no programs at all."""
    assert unread_programs(text) is None
