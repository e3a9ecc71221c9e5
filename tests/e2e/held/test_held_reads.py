"""Reads through a holder of connections over real SSH: the same bytes, none of the libraries, nothing but reads."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from exacell.transport.held.client import talk
from exacell.transport.held.frames import Batch, FrameError, told_batches
from tests.e2e.held.conftest import Holding, gone, living
from tests.support.patience import until

READS = tuple(
    tuple(words.split(" ", 1)) if words.startswith("-o") else ("", words)
    for words in (
        *(
            "list cell",
            "list cell attributes name, flashCacheMode",
            "list cell attributes name, releaseVersion, status",
            "describe cell",
        ),
        *("list celldisk", "list celldisk detail", "list celldisk where diskType=FlashDisk", "describe celldisk"),
        *("list griddisk", "list griddisk detail", "list griddisk attributes name, size, status", "describe griddisk"),
        *("list flashcache", "list flashcache detail", "list flashlog", "list flashlog detail", "list iormplan detail"),
        *("list physicaldisk", "list physicaldisk detail", "list lun", "list lun detail", "list database"),
        *("list metricdefinition", "list metricdefinition detail", "describe metriccurrent", "describe griddisk"),
        *("list alertdefinition", "list alerthistory", "list role", "list user", "list threshold", "list key"),
        *("list quarantine", "list diagpack", "list ibport", "list offloadgroup", "list iormprofile"),
        *("list nosuch", "list cell attributes nosuch", "list griddisk where nosuch=1", "list griddisk DATA_CD_99_x"),
        *("list celldisk FD_00_exa1cel01", "list cell where", "on exa1cel02 list cell", "on exa1cel09 list cell"),
        *("on exa1cel[01-02] list griddisk attributes name", "show flashcache", "show griddisk", "show iorm"),
        *("show versions", "show services", "show health", "show quarantine", "cells", "racks"),
        *("-ojson list cell", "-ojson list griddisk", "-ocsv list celldisk", "-ojsonl list flashcache"),
        *("-oraw list griddisk detail", "-otsv list lun", "-oyaml list flashlog", "-omd list cell", "-oraw list cell"),
        *("list griddisk attributes name where status=active", "list cell; list flashlog"),
    )
)
"""Reads whose answers do not change by themselves, good ones and wrong ones."""


def test_answers_are_the_same_bytes(holding: Holding) -> None:
    """Output, messages and exit codes of sixty reads are the same with a holder and without."""
    without = [holding(*filter(None, words)) for words in READS]
    holding.on()
    before = holding.status()["reads"]
    held = [holding(*filter(None, words)) for words in READS]
    different = [(words, one, other) for words, one, other in zip(READS, without, held, strict=True) if one != other]
    assert different == []
    assert len(READS) >= 60 and holding.status()["reads"] - before >= 50


def test_the_second_read_imports_no_ssh(holding: Holding) -> None:
    """EXACELL_HOLD has the first read start a holder; a later one imports neither fabric nor paramiko."""
    code = (
        "import os, sys; os.environ['EXACELL_HOLD'] = '1m'; from exacell.cli import main\n"
        "code = main(['-r', 't1', '-o', 'json', 'list', 'cell'])\n"
        "print(sorted({'fabric', 'paramiko', 'exacell.transport.ssh'} & set(sys.modules)), file=sys.stderr)"
    )

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=holding.outside.env,
            timeout=60,
        )

    first = run()
    assert "fabric" in first.stderr
    assert until(lambda: holding.status()["connections"] == 3)
    second = run()
    assert second.stderr == "[]\n" and second.stdout == first.stdout and len(json.loads(second.stdout)) == 3


def test_many_first_reads_start_one_holder(holding: Holding) -> None:
    """A dozen programs that begin at once start one holder, which outlives them and holds none of their streams open."""
    words = [sys.executable, "-m", "exacell", "-r", "t1", "-o", "raw", "list", "cell"]
    env = {**holding.outside.env, "EXACELL_HOLD": "1m"}
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env) for _ in range(12)]
    answers = {each.communicate(timeout=120)[0] for each in running}
    assert len(answers) == 1 and all(each.returncode == 0 for each in running)
    assert until(lambda: holding.status()["state"] == "running")
    assert len(living(holding.program.home)) == 1


NO_READS = (
    *("alter cell comment='x'", "drop flashcache", "LIST CELL; DROP FLASHCACHE", "list cell -", "list", "help", ""),
    "list cell\ndrop flashcache",
)


@pytest.mark.parametrize("statement", NO_READS)
def test_a_holder_refuses_what_is_no_read(holding: Holding, statement: str) -> None:
    """Asked by its own protocol, a holder carries LIST and DESCRIBE of one line, for cells of its rack, and nothing else."""
    holding.on()
    batch = Batch(statements=(statement,), cells=("exa1cel01",), seconds=5.0)
    strange = Batch(statements=("list cell",), cells=("exa1db01",), seconds=5.0)
    for asked in (batch, strange):
        ask = {"what": "ask", "identity": holding.hold.identity, "batches": told_batches([asked])}
        with pytest.raises(FrameError):
            list(talk(holding.hold, ask, None))
    assert "comment" not in holding.log()


def test_a_change_never_goes_through_it(holding: Holding) -> None:
    """A changing statement opens its own connections; of all that it asks and sends the holder sees reads alone."""
    holding.on()
    assert holding("alter cell comment='held'", "-y").code == 0
    assert [row["comment"] for row in holding("-o", "json", "list cell attributes name, comment").records] == [
        "held"
    ] * 3
    assert holding("alter cell comment=''", "-y").code == 0
    asked = [line for line in holding.log().splitlines() if " asked " in line]
    assert asked and not any("alter" in line.lower() for line in asked)


def test_two_homes_have_two_holders(holding: Holding, another: Holding) -> None:
    """Each home has a holder of its own."""
    assert holding.on() != another.on()


def test_what_it_was_made_by_ends_it(holding: Holding) -> None:
    """A holder ends when the configuration changes; the next read is right, and so is a holder that is started then."""
    pid = holding.on()
    (holding.program.home / "racks.d" / "t1.toml").open("a").write("\n")
    assert holding("list cell").code == 0
    assert until(lambda: gone(pid))
    assert holding.on() != pid


def test_it_ends_when_idle_and_with_its_home(holding: Holding, another: Holding) -> None:
    """A holder ends after its idle time, and when its home's folder is taken away."""
    idle, homeless = holding.on("2s"), another.on()
    another.hold.folder.rename(another.hold.folder.with_name("away"))
    assert until(lambda: gone(idle)) and until(lambda: gone(homeless))


def test_whoever_leaves_is_not_worked_for(holding: Holding, fault: object) -> None:
    """A program that is killed while a slow cell answers ends its read in the holder at once."""
    assert callable(fault)
    holding.on()
    fault("exa1cel02", "slow", "delay=30s")
    words = [sys.executable, "-m", "exacell", "-r", "t1", "list", "cell"]
    asking = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=holding.outside.env)
    assert until(lambda: holding.status()["reads"] == 1)
    time.sleep(0.3)
    asking.kill()
    asking.wait()
    assert until(lambda: f"pid {asking.pid} has gone" in holding.log())
