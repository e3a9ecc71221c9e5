"""Cells of a production rack that are reached under other names: an alias in an ssh_config, dcli, a rack of its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from exacell.core.belonging import Identity
from exacell.core.config import parse_rack
from exacell.session.store import Store
from tests.support.patience import LONG_S, until
from tests.support.program import InProcess


@pytest.fixture(scope="module")
def racks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """The program with two emulated racks of equal names: t1 is the production rack prod, too, t2 is nobody's.

    ``aliases`` in the home is an ssh_config that has ``other-NAME`` for each host of t1, with a known_hosts of its own.
    """
    program = InProcess(tmp_path_factory.mktemp("again") / "home")
    for name in ("t1", "t2"):
        program.ok("emulator", "start", name, "cells=2", "dbnodes=1", "speed=600")
    folder, place = program.home / "racks.d", program.home / "emulator" / "t1"
    text = (folder / "t1.toml").read_text()
    program.ok("-r", "t1", "alter", "cell", "comment=before", "-y")
    program.ok("-r", "t1", "plan", "as=kept", "alter", "cell", "comment=kept")
    (folder / "prod.toml").write_text(f"production = true\n{text}")
    keys = "".join(f"other-{line}\n" for line in (place / "known_hosts").read_text().splitlines())
    (program.home / "known").write_text(keys)
    config = (place / "ssh_config").read_text().replace(str(place / "known_hosts"), str(program.home / "known"))
    config = re.sub(r"(?m)^Host ", "Host other-", config)
    (program.home / "aliases").write_text(re.sub(r"HostKeyAlias ", "HostKeyAlias other-", config))
    program.ok("-r", "prod", "list", "cell")
    reach = parse_rack("t1", text, "t1.toml").reach
    for cell, user in product(("exa1cel01", "exa1cel02"), ("celladmin", "cellmonitor")):
        words = (reach.exacli, "-c", cell, "-l", user, "--cookie-jar", reach.cookie_jar, "-e", "list cell")
        subprocess.run(words, input="w\n", text=True, check=True, capture_output=True, timeout=LONG_S)
    yield program
    for name in ("t1", "t2"):
        program.ok("emulator", "stop", name)


def held(program: InProcess, rack: str) -> Any:
    cells = program.ok("-r", rack, "-o", "json", "list cell attributes name, comment, flashCacheMode").records
    return cells, program.ok("-r", rack, "-o", "json", "show", "iorm").records


ALIASED = ("--ssh-config", "{home}/aliases", "-c", "other-exa1cel01")
DOORS = [
    (*ALIASED, "alter cell comment=changed -y"),
    (*ALIASED, "disable flashlog db=SPOT -y"),
    (*ALIASED, "sh -y cellcli -e alter cell comment=changed"),
    (*ALIASED, "sh --accept-opaque -y touch x"),
    (*ALIASED, "copy /etc/hostname to=/tmp -y --accept-opaque"),
    (*ALIASED, "-y", "dcli", "-c", "other-exa1cel02", "cellcli -e alter cell comment=changed"),
    (*ALIASED, "-e", "set mode rw; alter cell comment=changed -y"),
    ("-y", "dcli", "-s", "-F {home}/aliases", "-c", "other-exa1cel01", "cellcli -e alter cell comment=changed"),
    ("-y", "--accept-opaque", "dcli", "-s", "-F {home}/aliases", "-c", "other-exa1cel01", "touch x"),
    ("-y", "--accept-opaque", "dcli", "-s", "-F {home}/aliases", "-l", "root", "-c", "other-exa1db01", "touch x"),
    (
        "-r",
        "t2",
        "-y",
        "dcli",
        "-s",
        "-F {home}/aliases",
        "-c",
        "other-exa1cel01",
        "cellcli -e alter cell comment=changed",
    ),
    ("-r", "t2", "-y", "--accept-opaque", "dcli", "-s", "-F {home}/aliases", "-c", "other-exa1cel01", "-k"),
    ("-r", "t2", "--ssh-config", "{home}/emulator/t1/ssh_config", "alter cell comment=changed -y"),
    ("-r", "t1", "undo -y"),
    ("-r", "t1", "undo 1 -y"),
    ("-r", "t1", "apply kept -y"),
    ("-r", "t1", "on @db sh --accept-opaque -y touch x"),
    ("-r", "t1", "sql asm 'begin null; end' --accept-opaque -y"),
    ("-r", "t1", "sql asm 'alter diskgroup RECO rebalance power 2' -y"),
    ("-r", "t1", "set rebalance power=2 diskgroup=RECO -y"),
    ("-r", "t1", "run reset_cold -y"),
    ("-r", "t1", "-e", "set transport openssh; alter cell comment=changed -y"),
    ("-r", "t1", "-e", "set transport dcli; alter cell comment=changed -y"),
    ("-r", "t1", "-e", "set transport clush; alter cell comment=changed -y"),
    ("-r", "t1", "-e", "set transport exacli; alter cell comment=changed -y"),
    ("-r", "t1", "-e", "set transport exacli; disable flashlog db=SPOT -y"),
]


def test_no_other_name_opens_a_production_rack(racks: InProcess) -> None:
    """Each is refused, sends nothing, and says that the target is prod's."""
    before = held(racks, "prod")
    wrong = []
    for words in DOORS:
        done = racks(*(word.format(home=racks.home) for word in words))
        if done.code == 0 or "rack prod" not in " ".join(done.err.split()):
            wrong.append((words, done.code, done.err))
    assert wrong == [], "\n".join(map(str, wrong))
    assert held(racks, "prod") == before


def test_reads_go_on_under_any_name(racks: InProcess) -> None:
    """What only reads answers as ever, with the same exit code."""
    aliased = [word.format(home=racks.home) for word in ALIASED]
    for words in (
        ("-r", "t1", "list cell"),
        ("-r", "t1", "sh", "uptime"),
        ("-r", "t1", "-n", "alter cell comment=x"),
        ("-r", "t1", "-e", "set transport exacli; list cell"),
        (*aliased, "list cell detail"),
        (*aliased, "dcli", "-c", "other-exa1cel02", "cellcli -e list cell"),
    ):
        assert racks(*words).code == 0, words


def test_another_emulated_rack_with_the_same_names_and_ids_is_changed_as_ever(racks: InProcess) -> None:
    """t2's cells have the names and ids of prod's, and are others by their host keys."""
    ids = [racks.ok("-r", rack, "-o", "json", "list cell attributes name, id").records for rack in ("prod", "t2")]
    assert ids[0] == ids[1]
    racks.ok("-r", "t2", "alter cell comment=mine -y")
    racks.ok("-r", "t2", "-y", "--accept-opaque", "dcli", "-c", "exa1cel01", "true; hostname > /dev/null; mkdir -p x")
    assert {cell["comment"] for cell in held(racks, "t2")[0]} == {"mine"}
    racks.ok("-r", "t2", "undo", "-y")


def test_its_name_opens_it_under_another_name_too(racks: InProcess) -> None:
    """At a terminal set mode rw on t1 asks for prod's name, once it is known whose cells they are; then changes roll as there."""
    terminal = racks.at_terminal("-r", "t1", columns=150)
    with terminal:
        terminal.child.expect_exact("exacell> ")
        terminal.child.send("alter cell comment=typed -y\r")
        terminal.child.expect_exact("a production rack")
        terminal.child.expect("RO")
        terminal.child.expect_exact("exacell> ")
        terminal.child.send("set mode rw\r")
        terminal.child.expect_exact("type prod for read-write: ")
        terminal.child.send("prod\r")
        terminal.child.expect("RW")
        terminal.child.expect_exact("exacell> ")
        terminal.child.send("alter cell comment=typed -y\r")
        terminal.child.expect_exact("one cell at a time")
        terminal.child.expect_exact("journal ")
        assert {cell["comment"] for cell in held(racks, "prod")[0]} == {"typed"}
        terminal.child.send("undo -y\r")
        terminal.child.expect_exact("journal ")
        terminal.child.expect_exact("exacell> ")
    rows = racks.ok("-r", "t1", "-o", "json", "journal").records
    assert "alter cell comment=typed" in [row["statement"] for row in rows]


def test_the_memory_is_private(racks: InProcess) -> None:
    """What is known of production racks lies in the home's store, which its owner alone can read."""
    assert Path(racks.home / "store.db").stat().st_mode & 0o077 == 0


def test_a_rehearsal_of_it_is_nobodys_but_the_copys(racks: InProcess) -> None:
    """A change is rehearsed on a copy with the ids of prod's cells; prod and what is known of it stay, and it stays closed."""
    before = held(racks, "prod"), kept(racks)
    done = racks.ok("-r", "prod", "-o", "json", "rehearse", "alter", "cell", "comment=rehearsed")
    assert {(row["cell"], row["after"]) for row in done.records} == {
        ("exa1cel01", "rehearsed"),
        ("exa1cel02", "rehearsed"),
    }
    assert (held(racks, "prod"), kept(racks)) == before
    assert racks("-r", "t1", "alter cell comment=changed -y").code == 2


def kept(program: InProcess) -> dict[Any, Identity]:
    return Store(program.home / "store.db").identities(["prod"])


def test_its_guardian_takes_back_what_was_allowed(racks: InProcess) -> None:
    """A change of prod's cells under another name, after prod's name was typed, is taken back by its guardian in its time."""
    before = held(racks, "prod")
    with racks.at_terminal("-r", "t1", columns=150) as terminal:
        terminal.child.expect_exact("exacell> ")
        for line, then in (
            ("alter cell comment=typed -y", "a production rack"),
            ("set mode rw", "type prod for read-write: "),
            ("prod", "RW"),
            ("alter cell comment=watched -y --confirm-within=2s", "journal "),
        ):
            terminal.child.send(line + "\r")
            terminal.child.expect_exact(then)
        assert until(lambda: held(racks, "prod") == before)
    undone = [row for row in racks.ok("-r", "t1", "-o", "json", "journal").records if "not confirmed" in str(row)]
    assert undone, "the guardian's undo is not in the journal"
