"""What every transport promises, held against each of them in front of one emulated rack."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from exacell.cellcli.reply import read_xml_documents
from exacell.core.config import RackConfig, Settings
from exacell.core.errors import RefusedError
from exacell.transport.base import FleetResult, State
from exacell.transport.clush import ClushTransport
from exacell.transport.dcli import DcliTransport
from exacell.transport.exacli import ExacliTransport
from exacell.transport.openssh import OpensshTransport
from tests.support.patience import BUSY_S, LONG_S
from tests.support.requests import CELLS, read, write

ALL = (OpensshTransport, DcliTransport, ExacliTransport, ClushTransport)
OVER_SSH = (OpensshTransport, DcliTransport, ClushTransport)
LIST = "cellcli -e 'list flashcache attributes name, size'"


@pytest.mark.parametrize("kind", ALL)
def test_every_cell_answers_with_what_it_printed(made: Any, kind: type) -> None:
    """A LIST on three cells gives three replies in their order, each with the cell's own text and status 0."""
    result = made(kind).run([read(cell, LIST) for cell in CELLS])
    assert [reply.target for reply in result.replies.values()] == list(CELLS)
    assert {reply.state for reply in result.replies.values()} == {State.OK}
    assert [reply.stdout.split() for reply in result.ok] == [[f"{cell}_FLASHCACHE", "364.75G"] for cell in CELLS]
    assert all(reply.stdout.startswith("\t ") for reply in result.ok), "leading blanks are lost"


@pytest.mark.parametrize("kind", ALL)
def test_several_statements_come_back_as_one_document_each(made: Any, kind: type) -> None:
    """Two LISTs in one request come back as two XML documents that can be read exactly."""
    command = "cellcli -n -x -xml -e 'list cell attributes name; list griddisk attributes name, size'"
    reply = made(kind).run([read("exa1cel02", command)]).replies["exa1cel02"]
    documents = read_xml_documents(reply.stdout)
    assert [len(document.records) for document in documents] == [1, 24], reply


@pytest.mark.parametrize("kind", ALL)
def test_a_read_only_transport_sends_no_write(made: Any, kind: type) -> None:
    """A write over a read-only transport is refused, naming the rack and the way out."""
    with pytest.raises(RefusedError, match="rack t1 is read-only") as refused:
        made(kind, read_only=True).run([write("exa1cel01", "cellcli -e 'alter cell comment=x'")])
    assert refused.value.hint == "set mode rw"


@pytest.mark.parametrize("kind", ALL)
def test_one_target_is_named_once(made: Any, kind: type) -> None:
    """Two requests for one target are a bug of the caller and nothing is sent."""
    with pytest.raises(ValueError, match="same target"):
        made(kind).run([read("exa1cel01", LIST), read("exa1cel01", LIST)])


@pytest.mark.parametrize("kind", ALL)
def test_a_write_is_carried_out(made: Any, kind: type) -> None:
    """A change over the transport is on the cell afterwards, and its text came back."""
    transport = made(kind)
    text = f"cellcli -e \"alter cell comment='{kind.__name__}'\""
    reply = transport.run([write("exa1cel03", text)]).replies["exa1cel03"]
    assert (reply.state, reply.stdout.strip()) == (State.OK, "Cell exa1cel03 successfully altered")
    found = transport.run([read("exa1cel03", "cellcli -e 'list cell attributes comment'")]).replies["exa1cel03"]
    assert kind.__name__ in found.stdout


@pytest.mark.parametrize("kind", OVER_SSH)
def test_a_changed_host_key_is_said_and_nothing_runs(made: Any, rack: Any, kind: type) -> None:
    """A cell whose host key is another one is unreachable for that reason, also for a change, and nothing reached it."""
    rack.fault("exa1cel02", "host-key")
    result = made(kind).run([write(cell, "echo ran") for cell in CELLS[:2]])
    assert result.replies["exa1cel01"].state is State.OK
    reply = result.replies["exa1cel02"]
    assert (reply.state, reply.stdout) == (State.UNREACHABLE, "")
    assert "host key" in reply.problem.lower()


@pytest.mark.parametrize("kind", OVER_SSH)
def test_an_unknown_host_key_is_refused_whatever_ssh_config_says(
    made: Any, rack: Any, kind: type, tmp_path: Path
) -> None:
    """StrictHostKeyChecking no in ssh_config takes no key that nobody has trusted, and no key is written down."""
    text = re.sub(
        r"UserKnownHostsFile .*", f"UserKnownHostsFile {tmp_path / 'known'}", rack.config.ssh_config.read_text()
    )
    config = tmp_path / "config"
    config.write_text(text.replace("StrictHostKeyChecking yes", "StrictHostKeyChecking no"))
    reply = made(kind, ssh_config=config).run([write("exa1cel01", "echo ran")]).replies["exa1cel01"]
    assert (reply.state, reply.stdout) == (State.UNREACHABLE, "")
    assert not (tmp_path / "known").exists()


@pytest.mark.parametrize("kind", ALL)
def test_an_unreachable_cell_hides_no_other(made: Any, rack: Any, kind: type) -> None:
    """A cell that refuses connections is unreachable, with a reason, and the others have answered."""
    rack.fault("exa1cel02", "refuse")
    result = made(kind).run([read(cell, LIST) for cell in CELLS])
    assert {t: r.state for t, r in result.replies.items()} == {
        "exa1cel01": State.OK, "exa1cel02": State.UNREACHABLE, "exa1cel03": State.OK,
    }  # fmt: skip
    assert result.replies["exa1cel02"].problem


@pytest.fixture(scope="module")
def hung(rack_process: Any) -> tuple[float, dict[type, FleetResult]]:
    """Within which seconds, and what each transport says of a cell that hangs; all wait for it at the same time."""
    rack_process.fault("exa1cel02", "hang")
    for seconds in (2.5, 10, *BUSY_S):  # A machine with much else to do needs longer for the cells that do answer.
        with ThreadPoolExecutor(len(ALL)) as pool:
            results = list(pool.map(lambda kind: _ask_all(kind, rack_process.config, seconds), ALL))  # noqa: B023
        if all(len(result.ok) == 2 for result in results):
            break
    rack_process.mend()
    return seconds, dict(zip(ALL, results, strict=True))


def _ask_all(kind: type, config: RackConfig, seconds: float) -> FleetResult:
    transport = kind(config, Settings(timeout=seconds, connect_timeout=seconds))
    try:
        return transport.run([read(cell, LIST) for cell in CELLS])
    finally:
        transport.close()


@pytest.mark.parametrize("kind", ALL)
def test_a_cell_that_hangs_is_timed_out_and_hides_no_other(
    hung: tuple[float, dict[type, FleetResult]], kind: type
) -> None:
    """A cell that does not answer within the deadline is timed out, and the others have answered."""
    seconds, results = hung
    result = results[kind]
    assert {t: r.state for t, r in result.replies.items()} == {
        "exa1cel01": State.OK, "exa1cel02": State.TIMED_OUT, "exa1cel03": State.OK,
    }  # fmt: skip
    assert f"{seconds}s" in result.replies["exa1cel02"].problem


@pytest.mark.parametrize("kind", OVER_SSH)
def test_a_status_other_than_0_comes_back(made: Any, kind: type) -> None:
    """A command that ends with status 7 is failed with that status, and what it printed is there."""
    reply = made(kind).run([read("exa1cel01", "echo half; exit 7")]).replies["exa1cel01"]
    assert (reply.state, reply.exit_status, reply.stdout, reply.problem) == (
        State.FAILED, 7, "half\n", "exit status 7",
    )  # fmt: skip


@pytest.mark.parametrize("kind", OVER_SSH)
def test_quotes_and_specials_arrive_as_they_are(made: Any, kind: type) -> None:
    """A command's quotes, dollars, comments and blanks reach the cell's shell unchanged."""
    command = "printf '%s|' \"a  b\" 'c\"d' $((1+1)) '$HOME' \"it's\" # and no more"
    reply = made(kind).run([read("exa1cel01", command)]).replies["exa1cel01"]
    assert reply.stdout.rstrip("\n") == "a  b|c\"d|2|$HOME|it's|", reply


@pytest.mark.parametrize("kind", OVER_SSH)
def test_a_refused_read_login_falls_back_to_the_write_login(made: Any, kind: type) -> None:
    """Where the read login can't log in, reads run as the write login with cellcli -m, and the transport says where."""
    transport = made(kind, read_user="nobody9")
    for _ in range(2):
        reply = transport.run([read("exa1cel01", LIST)]).replies["exa1cel01"]
        assert reply.state is State.OK, reply
    assert transport.read_fallback == {"exa1cel01"}
    change = transport.run([read("exa1cel01", "cellcli -e \"alter cell comment='by a read'\"")]).replies["exa1cel01"]
    assert "CELL-02914" in change.stdout


@pytest.mark.parametrize("kind", ALL)
def test_nothing_is_started_once_cancelled(made: Any, kind: type) -> None:
    """With cancel set, every cell is not attempted."""
    import threading

    cancel = threading.Event()
    cancel.set()
    result = made(kind).run([read(cell, LIST) for cell in CELLS], cancel=cancel)
    assert {reply.state for reply in result.replies.values()} == {State.NOT_ATTEMPTED}


@pytest.mark.parametrize("kind", ALL)
def test_replies_are_told_once_each(made: Any, kind: type) -> None:
    """on_reply hears of each cell exactly once."""
    told: list[str] = []
    made(kind).run([read(cell, LIST) for cell in CELLS], on_reply=lambda reply: told.append(reply.target))
    assert sorted(told) == list(CELLS)


LONG = "0" * 64
"""A line of an endless answer: short ones cost the programs that number lines a busy host's patience."""


@pytest.mark.parametrize("kind", OVER_SSH)
def test_a_large_answer_is_on_disk_and_an_endless_one_a_failure(made: Any, kind: type) -> None:
    """With in_pieces a large answer is read from disk; one that is larger than max_answer is broken off, others stand."""
    transport = made(kind, timeout=LONG_S)
    transport.settings = transport.settings.with_value("max_answer", "4m")
    each = f"case $(hostname) in {CELLS[0]}*) yes {LONG};; {CELLS[1]}*) seq 300000;; *) seq 3;; esac"
    endless, large, small = transport.run([read(cell, each, in_pieces=True) for cell in CELLS]).replies.values()
    assert (endless.state, endless.stdout, endless.large) == (State.FAILED, "", None), endless.problem
    assert endless.problem == (
        "its answer is larger than 4M: it was cut off and is not used (`set max_answer` raises the limit)"
    )
    assert large.large is not None and large.large.text == "".join(f"{n}\n" for n in range(1, 300_001))
    assert (large.stdout, small.stdout, small.large) == ("", "1\n2\n3\n", None)


@pytest.mark.parametrize("kind", OVER_SSH)
@pytest.mark.parametrize("command", [f"yes {LONG} >&2", f"yes {LONG}; exit 3"], ids=["errors", "output"])
@pytest.mark.parametrize("ask", [read, write])
def test_an_endless_answer_ends_alone_too(made: Any, kind: type, command: str, ask: Any) -> None:
    """What a single cell says without end, on either stream, in a read or a change, is broken off at max_answer."""
    transport = made(kind, timeout=LONG_S)
    transport.settings = transport.settings.with_value("max_answer", "1m")
    reply = transport.run([ask(CELLS[0], command)]).replies[CELLS[0]]
    assert (reply.state, reply.stdout, reply.stderr) == (State.FAILED, "", ""), reply.problem
    assert reply.problem.startswith("its answer is larger than 1M: it was cut off")


@pytest.mark.parametrize("kind", ALL)
def test_a_change_leaves_only_while_it_may(made: Any, kind: type) -> None:
    """Right before a change leaves it is asked whether it may, until that is known; one that may not is not sent."""
    transport, text = made(kind), "cellcli -e \"alter cell comment='left'\""
    answers = {"exa1cel01": [None, "taken over by maria"], "exa1cel02": [None, ""]}
    asked = [write(cell, text, ours=lambda cell=cell: answers[cell].pop(0)) for cell in answers]
    transport.run([write(cell, "cellcli -e \"alter cell comment='before'\"") for cell in answers])
    result = transport.run(asked).replies
    assert answers == {"exa1cel01": [], "exa1cel02": []}
    assert (result["exa1cel01"].state, result["exa1cel01"].problem) == (State.NOT_ATTEMPTED, "taken over by maria")
    assert result["exa1cel02"].state is State.OK
    look = "cellcli -e 'list cell attributes comment'"
    found = transport.run([read(cell, look) for cell in answers]).replies
    assert [found[cell].stdout.split() for cell in answers] == [["before"], ["left"]]


@pytest.mark.parametrize("kind", ALL)
def test_a_target_that_turns_out_a_production_racks_gets_nothing(made: Any, kind: type) -> None:
    """The gate is asked for all targets before anything begins, and for each once more right before its change leaves."""

    asked: list[str] = []

    class Later:
        def pass_all(self, targets: Any) -> None:
            asked.extend(targets)

        def why_not(self, target: str) -> str:
            return f"{target} is exa1cel09 of rack prod" if target == "exa1cel01" else ""

    transport = made(kind)
    transport.gate = Later()
    cells = ("exa1cel01", "exa1cel02")
    result = transport.run([write(cell, "cellcli -e \"alter cell comment='gated'\"") for cell in cells]).replies
    assert asked == list(cells)
    assert result["exa1cel01"].state is State.NOT_ATTEMPTED and "rack prod" in result["exa1cel01"].problem
    assert result["exa1cel02"].state is State.OK
    found = transport.run([read(cell, "cellcli -e 'list cell attributes comment'") for cell in cells]).replies
    assert ["gated" in found[cell].stdout for cell in cells] == [False, True]
