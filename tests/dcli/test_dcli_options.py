"""dcli's command line: what optparse makes of it, and the order in which wrong combinations are found."""

from __future__ import annotations

import pytest

from exacell.change.dcli.options import (
    DcliExit,
    DcliOptions,
    check,
    option_list,
    parse_dcli,
)
from tests.support.every import every

PARSED = {
    "-c a,b hostname": {"hosts": ("a,b",), "words": ("hostname",)},
    "-c a -c b,c uptime": {"hosts": ("a", "b,c"), "words": ("uptime",)},
    "-gcells -tv ls": {"group_file": "cells", "list_targets": True, "verbose": True, "words": ("ls",)},
    "-g one -g two ls": {"group_file": "two"},
    "-c a cellcli -e list cell detail": {"words": ("cellcli", "-e", "list", "cell", "detail")},
    "-c a --ser --hide ls -l --serial": {"serial": True, "hide_stderr": True, "words": ("ls", "-l", "--serial")},
    "-c a --vm=3": {"vmstat": "3"},
    "-c a --unk": {"drop_key": True},
    "-c a -k -l root": {"push_key": True, "login": "root"},
    "-c a -f x -f y": {"files": ("x", "y")},
    "-c a --batchsize 4 ls": {"batch_size": 4},
    "-c a --maxlines=7 ls": {"max_lines": 7},
    "-c a --ctimeout 9 --timeout 1.5 ls": {"connect_timeout": 9, "timeout": 1.5},
    "-c a -r ^ok ls": {"pattern": "^ok"},
    "-c a -n ls": {"abnormal": True},
    "-c a -x f.scl -d /tmp/": {"execute": "f.scl", "destination": "/tmp/"},
    "-c a -- -t": {"words": ("-t",), "list_targets": False},
    "": {"words": (), "max_lines": 100000, "login": ""},
}


@every(PARSED)
def test_words_mean_what_they_mean_to_dcli(text: str) -> None:
    """Prefixes, glued values, clusters and repeated options should be read as optparse reads them."""
    found = parse_dcli(text.split())
    assert {name: getattr(found, name) for name in PARSED[text]} == PARSED[text]


def test_one_f_may_name_several_files() -> None:
    """A value of -f should be split at blanks."""
    assert parse_dcli(["-f", "a b", "-f", "c", "-c", "x"]).files == ("a", "b", "c")


def test_an_empty_vmstat_is_a_value() -> None:
    """--vmstat '' should be there, and no --vmstat should not."""
    assert parse_dcli(["--vmstat", ""]).vmstat == "" and parse_dcli([]).vmstat is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--nosuch", "dcli: error: no such option: --nosuch"),
        ("-c", "dcli: error: -c option requires 1 argument"),
        ("--batchsize many ls", "dcli: error: option --batchsize: invalid integer value: 'many'"),
        ("--s ls", "dcli: error: ambiguous option: --s (--scp, --serial, --showbanner?)"),
        ("--ctimeout 1.5 ls", "dcli: error: option --ctimeout: invalid integer value: '1.5'"),
    ],
)
def test_a_wrong_option_ends_with_usage_and_2(text: str, message: str) -> None:
    """An option that is not known should be told on standard error alone, status 2."""
    with pytest.raises(DcliExit) as end:
        parse_dcli(text.split())
    assert (end.value.status, end.value.out) == (2, "")
    assert end.value.err.startswith("Usage: dcli") and end.value.err.splitlines()[-1] == message


def test_help_and_version_end_with_0() -> None:
    """--help should print all options, --version the version that is imitated."""
    with pytest.raises(DcliExit) as end:
        parse_dcli(["-h"])
    assert end.value.status == 0 and all(f" {name}" in end.value.out for name in ("--vmstat", "-x", "--live"))
    with pytest.raises(DcliExit) as end:
        parse_dcli(["--version"])
    assert (end.value.status, end.value.out) == (0, "version 3.5")


ORDER = [
    ("-c a", "nothing to do"),
    ("-c a -d /tmp", "nothing to do"),
    ("-x f -f g ls", "a command and -x"),
    ("-x f -f g", "-f and -x"),
    ("-x f --hidestderr", "--hidestderr"),
    ("-n -r x --vmstat 3 --hidestderr", "--hidestderr"),
    ("-n -r x --vmstat 3", "-n and -r"),
    ("--vmstat 3 -f x -n", "-x, -f and a command"),
    ("--vmstat 3 -n", "--vmstat excludes -n"),
    ("--ctimeout -1 --serial --batchsize 3 ls", "--ctimeout"),
    ("--root-exadatatmp -l celladmin --serial --batchsize 3 ls", "--root-exadatatmp"),
    ("--serial --batchsize -1 ls", "exclude each other"),
    ("--batchsize -1 ls", "negative"),
]


@every(ORDER)
def test_wrong_combinations_are_found_in_dclis_order(text: str, part: str) -> None:
    """The first broken rule in dcli's order should be told, with the whole option list on standard output."""
    with pytest.raises(DcliExit) as end:
        check(parse_dcli(text.split()))
    assert end.value.status == 2 and end.value.out == option_list()
    assert end.value.err.startswith("Error: ") and part in end.value.err


@pytest.mark.parametrize(
    "text",
    [
        "ls",
        "-t",
        "-k",
        "--unkey",
        "--vmstat 3",
        "-f x",
        "-x y",
        "-l root --root-exadatatmp ls",
        "--batchsize 0 ls",
        "--serial --batchsize 0 ls",
    ],
)
def test_sound_combinations_pass(text: str) -> None:
    """Each thing to do should be enough by itself."""
    check(parse_dcli(text.split()))


@pytest.mark.parametrize(
    ("text", "user"), [("ls", "celladmin"), ("-l root ls", "root"), ("--root-exadatatmp ls", "root")]
)
def test_the_login_is_celladmin_unless_root_works(text: str, user: str) -> None:
    """-l should win, --root-exadatatmp mean root, and celladmin be the default."""
    assert parse_dcli(text.split()).user() == user


def test_a_command_is_its_words_joined_with_blanks() -> None:
    """No quoting of the words should be kept."""
    assert DcliOptions(words=("echo", "a  b", "c")).command == "echo a  b c"


def test_pattern_signs_in_a_statement_are_quoted_in_all_that_is_made_of_the_words() -> None:
    """What is judged, journalled and sent is one text: pattern signs of a statement stand behind a backslash in it."""
    given = ["-c", "c1", "cellcli", "-e", "list metriccurrent where name like \\'FC.*\\'"]
    found = parse_dcli(given)
    sent = "cellcli -e list metriccurrent where name like \\'FC.\\*\\'"
    assert (found.command, found.words, found.argv) == (sent, (sent,), ("-c", "c1", sent))
    other = parse_dcli(["-c", "c1", "ls", "/etc/*"])
    assert (other.words, other.argv) == (("ls", "/etc/*"), ("-c", "c1", "ls", "/etc/*"))
    assert parse_dcli(["-c", "c1"]).argv == ("-c", "c1")
