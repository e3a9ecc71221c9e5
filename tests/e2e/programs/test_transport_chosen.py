"""Choosing a transport at the prompt, in the configuration, and what a plan is told before anybody confirms."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exacell.change.dcli import work
from exacell.cli import main
from exacell.core.config import (
    AUTO,
    TRANSPORTS,
    RackConfig,
    Reach,
    Settings,
    parse_rack,
    transport_name,
)
from exacell.core.errors import ConfigError
from exacell.transport.factory import make_transport
from exacell.transport.ssh import SshTransport
from tests.support.patience import patiently

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(rack: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run statements on the emulated rack; returns exit code, stdout, stderr."""
    for name, value in {"EXACELL_HOME": str(rack.home), "HOME": str(tmp_path), "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def start(*statements: str, form: str = "jsonl") -> tuple[int, str, str]:
        code = main(["-r", "t1", "-o", form, "-e", "; ".join(statements)])
        done = capsys.readouterr()
        return code, done.out, done.err

    return start


@pytest.mark.parametrize("name", TRANSPORTS)
def test_the_same_statements_work_over_every_transport(run: Run, name: str) -> None:
    """set transport changes the way and nothing else: a LIST, a change with its proof, and ASM answer as over ssh."""
    code, out, err = run(
        f"set transport {name}", "list flashcache attributes name,size", "disable flashlog db=ERP -y", "enable flashlog db=ERP -y"
    )  # fmt: skip
    assert code == 0, err
    records = [json.loads(line) for line in out.splitlines()]
    assert [r.get("size") for r in records[:3]] == [391647330304] * 3
    assert {r.get("outcome") for r in records[3:]} == {"done"}
    assert f"transport is {name}" in err
    code, out, err = run(f"set transport {name}", "show diskgroup")
    assert code == 0 and '"DATA"' in out, err
    assert ("still use ssh" in err) is (name in ("dcli", "exacli", "clush"))


@pytest.mark.parametrize("name", TRANSPORTS)
@pytest.mark.parametrize(
    "statement",
    [
        "alter cell comment=never -y",
        "resize flashcache size=288g -y",
        "dcli -c exa1cel01 cellcli -e alter cell comment=never",
        'sh "touch /tmp/never" -y',
        'sql asm "alter diskgroup data rebalance power 2" -y',
    ],
)
def test_a_read_only_session_changes_nothing_over_any_transport(run: Run, name: str, statement: str) -> None:
    """With mode ro a change is refused on every surface and over every transport, whatever is accepted; reads go on."""
    code, out, err = run(f"set transport {name}", "set mode ro", "list cell attributes name,comment", statement)
    assert code == 2 and "read-only" in err, (code, out, err)
    assert len(out.splitlines()) == 3 and "never" not in out, out


def test_what_the_transport_cannot_do_is_said_before_confirmation(run: Run) -> None:
    """A change that ExaCLI does not have is refused behind its plan and before anybody is asked, also with -n."""
    for flag in ("-y", "-n", ""):
        code, _, err = run("set transport exacli", f"alter cell restart services ms {flag}")
        assert code == 2
        assert "ExaCLI does not start, stop or restart services" in err and "nothing was sent" in err
        assert "set transport ssh" in err and "there is no terminal for the question" not in err


def test_command_lines_are_refused_where_there_are_none(run: Run) -> None:
    """dcli over exacli is refused with the transport's name, before anything is asked or sent."""
    code, out, err = run("set transport exacli", "dcli -c exa1cel01 hostname", form="table")
    assert (code, out) == (2, "") and "carries CellCLI statements only" in err


@pytest.mark.parametrize("name", ["openssh", "clush", "dcli"])
def test_dcli_runs_over_other_transports(run: Run, name: str) -> None:
    """exacell dcli prints the same over a transport that runs command lines."""
    code, out, err = run(
        f"set transport {name}", "dcli --accept-opaque -c exa1cel01,exa1cel02 'hostname; exit 3'", form="table"
    )
    assert (code, out) == (1, "exa1cel01: exa1cel01\nexa1cel02: exa1cel02\n"), err


def test_hosts_of_no_rack_go_over_the_sessions_transport(run: Run) -> None:
    """A host that no rack names is tried by the program of the rack that one is on; it hides no other target."""
    code, out, err = run("set transport dcli", "dcli -c exa1cel01,nobody.invalid hostname", form="table")
    assert code == 1 and "exa1cel01: exa1cel01" in out.splitlines(), (out, err)
    assert err.splitlines()[-1] == "Unable to connect to hosts: ['nobody.invalid']"


@pytest.mark.parametrize("name", ["openssh", "clush", "dcli"])
def test_a_commands_own_time_limit_is_no_silent_cell(run: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """dcli's --timeout keeps what was printed and adds its line, whichever program carries it."""

    def in_time(seconds: float) -> None:
        # With clush a login takes its time from that of the command, and so does whatever is slow here.
        monkeypatch.setattr(work, "_GRACE_S", 2 + seconds)
        line = f"dcli --accept-opaque --timeout {seconds} -c exa1cel01 'echo begun; exec sleep 120'"
        code, out, err = run(f"set transport {name}", line, form="table")
        assert (code, out.splitlines()[:1]) == (1, ["exa1cel01: begun"]), err
        assert "Timeout expired for pid" in out

    patiently(in_time, 0.3, 3, 15)


def test_live_output_that_can_t_be_had_is_said_first(run: Run) -> None:
    """--live over a transport that gives output at a command's end says so, and prints the same."""
    code, out, err = run("set transport dcli", "dcli --live -c exa1cel01 hostname", form="table")
    assert (code, out) == (0, "exa1cel01: exa1cel01\n")
    assert err.splitlines()[-1] == "--live: with dcli a target's lines are shown when it has ended"


@pytest.mark.parametrize("statement", ["list cell attributes name,cellsrvStatus", "show services"])
def test_what_exacli_does_not_list_is_no_blank(run: Run, statement: str) -> None:
    """A LIST of what ExaCLI does not list is refused as it was typed; it never comes out as an empty value."""
    code, out, err = run("set transport exacli", statement)
    assert (code, out) == (2, "") and "ExaCLI does not list the status of services" in err


def test_services_that_are_not_listed_are_unknown_not_well(run: Run) -> None:
    """show health over ExaCLI has ? for services, with the reason and the way out."""
    code, out, err = run("set transport exacli", "show health")
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["services"] for record in records] == ["?"] * 3, (code, out, err)


def test_show_transports_marks_the_one_in_use(run: Run) -> None:
    """show transports has one record each, and says which one the rack is reached by."""
    _, out, _ = run("set transport openssh", "show transports")
    records = [json.loads(line) for line in out.splitlines()]
    assert [r["name"] for r in records] == list(TRANSPORTS)
    assert [r["name"] for r in records if r["inUse"]] == ["openssh"]


def test_a_transport_that_cannot_be_had_changes_nothing(run: Run, rack: Any) -> None:
    """When its program is missing, set transport is refused and the session keeps the one it had."""
    file = rack.home / "racks.d" / "t1.toml"
    text = file.read_text()
    file.write_text(text.replace(str(rack.path / "dcli"), "/nowhere/dcli"))
    try:
        code, _, err = run("set transport dcli", form="table")
        assert code == 2 and "needs the program /nowhere/dcli" in err
    finally:
        file.write_text(text)


def test_who_chooses_the_transport() -> None:
    """The session's setting comes before the rack's own, which comes before ssh."""
    assert transport_name(Reach(), AUTO) == "ssh"
    assert transport_name(Reach(transport="dcli"), AUTO) == "dcli"
    assert transport_name(Reach(transport="dcli"), "openssh") == "openssh"


def test_a_rack_names_its_transport() -> None:
    """The keys of a rack's file are read, and gateways with a topology are one too many."""
    rack = parse_rack("x", 'cells = "c[1-3]"\ntransport = "clush"\ngateways = "g[1-2]"\n', "x.toml")
    assert (rack.reach.transport, rack.reach.gateways) == ("clush", ("g1", "g2"))
    with pytest.raises(ConfigError, match="keep one of them"):
        parse_rack("x", 'cells = "c1"\ngateways = "g1"\ntopology = "t.conf"\n', "x.toml")
    with pytest.raises(ConfigError, match="transport"):
        parse_rack("x", 'cells = "c1"\ntransport = "pigeon"\n', "x.toml")


def test_ssh_is_what_an_unwritten_rack_gets() -> None:
    """A rack that says nothing is reached by exacell's own SSH."""
    assert isinstance(make_transport(RackConfig(name="x", cells=("c1",)), Settings()), SshTransport)


def test_an_old_dcli_that_strips_blanks_is_read_exactly(run: Run, rack: Any, tmp_path: Path) -> None:
    """Over a dcli without --preserve-spaces lists are read as XML: the same records, whatever blanks were taken away."""
    statements = (
        "list flashcache detail",
        "list griddisk attributes name, size where name like 'DATA.*01_.*'",
        "list metriccurrent FL_RQ_W",
    )
    old = tmp_path / "dcli"
    old.write_text(
        f"#!/bin/sh\ncase $1 in --help) {rack.path}/dcli --help | grep -v -e preserve -e ctimeout; exit;; esac\n"
        f'exec {rack.path}/dcli "$@"\n'
    )
    old.chmod(0o755)
    file = rack.home / "racks.d" / "t1.toml"
    text = file.read_text()
    file.write_text(text.replace(f"{rack.path}/dcli", str(old)))
    try:
        code, out, err = run("set transport dcli", *statements)
        shown = run("set transport dcli", *statements, form="table")
    finally:
        file.write_text(text)
    assert code == 0 and shown[0] == 0, err
    assert "FLASHCACHE" in shown[1]
    over_ssh = [json.loads(line) for line in run("set transport openssh", *statements)[1].splitlines()]
    over_dcli = [json.loads(line) for line in out.splitlines()]
    names = ("cell", "name", "size", "status", "metricObjectName")
    assert [[r.get(n) for n in names] for r in over_dcli] == [[r.get(n) for n in names] for r in over_ssh]
