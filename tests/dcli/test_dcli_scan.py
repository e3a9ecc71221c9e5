"""What is read out of shell text, scripts and CellCLI files before anything is sent."""

from __future__ import annotations

import pytest

from exacell.dcli.scan import scan_command, scan_script

HARMLESS = [
    "cellcli -e list cell detail",
    'cellcli -e "list griddisk where status=\'active\'" | grep -c DATA',
    "cellcli -e list metriccurrent where name like \\'FC.*\\'",
    "cellcli -m -e drop flashcache",
    "( hostname; cellcli -e list celldisk | egrep name ) 2>&1",
    "for i in 1 2 3; do cellcli -e list cell attributes name; done; uptime",
    "if [ -d /x ]; then cat /etc/hosts | sort -u; else date; fi",
    "[[ -d a && -e b ]] && hostname",
    "while read x; do echo $x; done < /tmp/list",
    "case $1 in a|b) hostname;; *) uptime ;; esac",
    "a=(1 2 3); (( i++ )); echo ${a[0]} $((1 + 2))",
    "x=$(cellcli -e list cell attributes name); echo \"$x\" `hostname`",
    "awk '{print $1}' /proc/loadavg | sed 's/a/b/'",
    "sudo -u celladmin cellcli -e list cell",
    "service celld status; systemctl is-active sshd",
    "vmstat 1 3; df -h > /dev/null 2>&1",
    "cellcli <<'EOF'\nlist cell\n-- drop flashcache\nexit\nEOF",
    "show() { cellcli -e list $1; }\nshow cell",
    "# drop flashcache\nhostname",
    "cellcli -e 'list cell; list flashcache detail'",
    "timeout 5 hostname; rpm -qa; find / -name core",
    "cellcli",
    "command -v cellcli",
]  # fmt: skip

CHANGES = {
    "cellcli -e drop flashcache": ["drop flashcache"],
    "cellcli -e 'list cell; drop flashlog; create flashlog all'": ["drop flashlog", "create flashlog all"],
    "cellcli <<EOF\ndrop flashcache\ncreate flashcache all\nEOF\n": ["drop flashcache", "create flashcache all"],
    "cellcli <<EOF\ndrop flashcache\ncreate flashcache all\n": ["drop flashcache", "create flashcache all"],
    "cellcli <<-EOF\n\tdrop flashcache;\n\tEOF\nhostname": ["drop flashcache"],
    "cat <<EOF | cellcli -n -x\nalter flashcache all -\n  flush\nEOF": ["alter flashcache all    flush"],
    "echo 'drop flashcache' | cellcli": ["drop flashcache"],
    "cellcli <<< 'drop flashcache'": ["drop flashcache"],
    "bash -c 'cellcli -e drop flashcache'": ["drop flashcache"],
    "nohup sudo cellcli -e drop celldisk all &": ["drop celldisk all"],
    "/usr/local/bin/cellcli -e alter iormplan objective=basic": ["alter iormplan objective=basic"],
    "f() { cellcli -e drop celldisk all; }; f": ["drop celldisk all"],
    "x=$(cellcli -e drop flashcache)": ["drop flashcache"],
    "echo `cellcli -e drop flashcache`": ["drop flashcache"],
    "case $1 in a) hostname;; *) cellcli -e 'drop flashlog';; esac": ["drop flashlog"],
    "cellcli -e alter iormplan dbplan=\\(\\(name=a,share=2\\)\\)": ["alter iormplan dbplan=((name=a,share=2))"],
    "true && ( cellcli -e drop flashcache ) || false": ["drop flashcache"],
    "while true; do cellcli -e drop flashcache; done": ["drop flashcache"],
}

UNREAD = [
    "rm -rf /tmp/x",
    "cellcli -e @changes.scl",
    "cellcli < changes",
    "generate | cellcli",
    "{ echo drop flashcache; } | cellcli",
    "f() { cellcli; }; echo drop flashcach | f",
    "echo drop flashcach | { hostname; cellcli; }",
    "$(cellcli)",
    "$CMD drop",
    "./script.sh",
    ". /etc/profile",
    "eval hostname",
    "ls > /etc/passwd",
    "echo 'unclosed",
    "diff <(ls) <(ls /)",
    "for d in a b; do cellcli -e alter griddisk $d inactive; done",
    "cellcli <<EOF\nalter griddisk $d inactive\nEOF",
    "cellcli -e drop flashcach",
    "cellcli -e spool /tmp/x",
    "sed -i s/a/b/ /etc/hosts",
    "awk 'BEGIN { system(\"reboot\") }'",
    "find / -delete",
    "date -s 12:00",
    "hostname newname",
    "sh script",
    "xargs rm < list",
    "service celld restart",
    "sqlplus / as sysdba <<EOF\ndrop table x;\nEOF",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_reads_need_nothing(text: str) -> None:
    """Commands that only show something should be told as such, whatever shell is around them."""
    found = scan_command(text)
    assert found.harmless, (found.changes, found.unread)


@pytest.mark.parametrize("text", CHANGES)
def test_cellcli_changes_are_found(text: str) -> None:
    """Each changing statement should come out, in order, and nothing else be unread."""
    found = scan_command(text)
    assert ([c.text for c in found.changes], found.unread) == (CHANGES[text], [])


@pytest.mark.parametrize("text", UNREAD)
def test_what_cannot_be_read_is_named(text: str) -> None:
    """A command that might change something should never pass for a read."""
    assert scan_command(text).unread


@pytest.mark.parametrize(
    "text",
    [
        'CMD="drop flashcache"; cellcli -e $CMD',
        "cellcli -e 'drop flashcache\nrun_it",
        "python -c \"os.system('cellcli -e drop flashcache')\"",
        "cellcli -e drop flashcache $ALL",
    ],
)
def test_in_doubt_what_looks_like_a_change_is_one(text: str) -> None:
    """A change inside text that is not understood should still be judged."""
    found = scan_command(text)
    assert found.unread and [c.text for c in found.changes] == ["drop flashcache"]


def test_a_function_called_by_name_is_no_unknown_command() -> None:
    """What a function does should count where it is written."""
    found = scan_command("function reset { cellcli -e drop flashcache; }\nreset")
    assert [c.text for c in found.changes] == ["drop flashcache"] and not found.unread


def test_scripts_are_read_by_what_they_are() -> None:
    """A .scl file should be CellCLI's, a shell script a shell's, and anything else be unread."""
    scl = scan_script(b"list cell\ndrop flashcache\nREM done\ncreate flashcache -\n all\n", "f.scl")
    assert [" ".join(c.text.split()) for c in scl.changes] == ["drop flashcache", "create flashcache all"]
    assert not scl.unread
    assert scan_script(b"#!/bin/ksh\nhostname\n", "f.sh").harmless
    assert scan_script(b"hostname\r\nuptime\r\n", "f").harmless
    assert scan_script(b"#!/usr/bin/perl\nprint 1;\n", "f.pl").unread == ["f.pl is a script for /usr/bin/perl"]
    assert scan_script(b"\x7fELF\0\0", "prog").unread == ["prog is a program"]
    assert scan_script(b"@other.scl\n", "f.scl").unread


def test_endless_nesting_is_given_up() -> None:
    """Commands inside commands should end somewhere."""
    text = "hostname"
    for _ in range(9):
        text = f"echo $({text})"
    assert scan_command(text).unread
