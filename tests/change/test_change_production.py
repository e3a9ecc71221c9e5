"""Production is a cell's, not a rack's name: what a session does with a host that is a production rack's."""

from __future__ import annotations

import io
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exacell.change.dcli.hosts import _child
from exacell.change.door import door_of
from exacell.core.belonging import Identity
from exacell.core.config import RackConfig
from exacell.core.errors import RefusedError, TransportError
from exacell.language.words import split_words
from exacell.output.terminal import TerminalConsole
from exacell.prompt.appearance import prompt_fragments
from exacell.runner import Runner
from exacell.session import recognition
from exacell.session.services import Services
from exacell.session.state import Options
from exacell.session.store import Store, StoreError
from exacell.transport.base import FleetResult, Judgement, Pair, Reply, ReplyHandler, Request, Role, State
from exacell.transport.exchange import wait_until_ours
from exacell.transport.rack_transport import RackTransport
from exacell.transport.ssh.hostkeys import KnownHosts
from tests.support.patience import LONG_S
from tests.support.sessions import Session, TableTransport

CONFIG = """
[racks.prod]
cells = "exa1cel[01-02]"
dbnodes = "exa1db01"
production = true

[racks.bank]
cells = "bankcel01"
production = true

[racks.lab]
cells = "c1,c2"
dbnodes = "d1"
[racks.lab.asm.main]
home = "/u01/grid"
"""


def identity(keys: str = "", told: str = "", addresses: str = "") -> Identity:
    return Identity(keys=frozenset(keys.split()), id=told, addresses=frozenset(addresses.split()))


PROD = {"exa1cel01": identity("PK1", "PI1", "10.0.0.1:22"), "exa1db01": identity("PK9", "", "10.0.0.9:22")}


class Shown(RackTransport):
    """Answers as TableTransport does, to targets that show something of themselves; asks before what changes something leaves.

    Attributes:
        who: what each target shows once it is connected to.
        pins: what is known of it without a connection.
        later: what it shows once it was asked, but before anything leaves.
    """

    def __init__(
        self, table: TableTransport, who: Mapping[str, Identity], *, pins: Mapping[str, Identity] = {}
    ) -> None:
        super().__init__(RackConfig(name="lab", cells=("c1", "c2")))
        self.table, self.who, self.pins, self.met = table, dict(who), pins, set[str]()
        self.later: dict[str, Identity] = {}

    @property
    def host_keys(self) -> Mapping[str, str]:
        return {t: min(self.who[t].keys) for t in self.met if t in self.who and self.who[t].keys}

    def shows(self, target: str, *, addresses: bool = False) -> Identity:
        found = self.who.get(target, Identity()) if target in self.met else self.pins.get(target, Identity())
        place = self.who.get(target, Identity()).addresses if addresses else frozenset()
        return replace(found, id="", addresses=place)

    def logins(self, targets: Sequence[str], role: Role) -> FleetResult:
        self.met.update(targets)
        return FleetResult(targets=tuple(targets), replies={t: Reply(target=t, state=State.OK) for t in targets})

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        self._check(requests)
        requests = self._gated(requests)
        self.who.update(self.later)
        self.met.update(request.target for request in requests)
        replies = {}
        for request in requests:
            why = wait_until_ours(request)
            told = self.who.get(request.target, Identity()).id
            if why:
                reply = Reply(target=request.target, state=State.NOT_ATTEMPTED, problem=why)
            elif "releaseversion, id" in request.command.lower() and request.target not in self.table.down:
                reply = Reply(
                    target=request.target,
                    state=State.OK,
                    stdout=f"\t {request.target}\t 19.3\t {told}\n",
                    exit_status=0,
                )
            else:
                reply = self.table.run([request]).replies[request.target]
            replies[request.target] = reply
            if on_reply is not None:
                on_reply(reply)
        return FleetResult(targets=tuple(r.target for r in requests), replies=replies)

    def close(self) -> None:
        self.met.clear()


class Desk:
    """A session on the rack lab beside the production racks prod, of which PROD is remembered, and bank.

    Args:
        who: what the hosts of lab show.
    """

    def __init__(self, folder: Path, who: Mapping[str, Identity], *, rack: str = "lab", **more: Any) -> None:
        (folder / "config.toml").write_text(CONFIG)
        self.store = Store(folder / "store.db")
        if not (folder / "store.db").exists():
            self.store.keep_identities("prod", PROD)
        self.found = Session(folder, options=Options(rack=rack), **more)
        self.session = self.found.session
        self.transport = Shown(self.found.answers, who)
        self.services = self.found.services = Services(self.session, self.found.console, self.transport)
        self.transport.rack = self.session.need_rack()

    def say(self, text: str) -> Any:
        return self.found.say(text)

    @property
    def written(self) -> list[str]:
        changing = (Role.WRITE, Role.ASM_WRITE, Role.HOST_WRITE)
        return [request.target for request in self.found.answers.asked if request.role in changing]


OTHER = identity("LK1", "LI1", "10.0.0.1:22")
SENT = "sh --accept-opaque -y touch /tmp/x"


@pytest.mark.parametrize(
    ("one", "by"),
    [
        (identity("PK1", "LI1"), "host key"),
        (identity("LK1", "PI1"), "id"),
        (identity("", "PI1"), "id"),
        (identity("", "", "10.0.0.1:22"), "address and port"),
        (identity("LK1", "LI1", "10.0.0.1:22"), ""),
        (identity("LK1", "", "10.0.0.1:22"), ""),
        (identity("", "LI1", "10.0.0.1:22"), ""),
        (identity(), ""),
    ],
)
def test_a_cell_that_is_a_production_racks_takes_nothing_unread(one: Identity, by: str, tmp_path: Path) -> None:
    """Its host key, its id or, where it shows neither, its address closes it; without any of them the work is done."""
    desk = Desk(tmp_path, {"c1": one, "c2": OTHER})
    if not by:
        desk.say(SENT)
        assert set(desk.written) == {"c1", "c2"}
        return
    with pytest.raises(
        RefusedError, match=f"rack prod .c1 is its exa1cel01, same {by}. is a production rack.*nothing was sent"
    ):
        desk.say(SENT)
    assert desk.written == []
    desk.say("on c2 " + SENT)  # The other cell is none of prod's.
    assert desk.written == ["c2"]


def test_nobody_is_asked_for_what_reads(tmp_path: Path) -> None:
    """Reads of such a cell go on, and no connection is made to find out who a host is."""
    desk = Desk(tmp_path, {"c1": identity("PK1"), "d1": identity("PK9")})
    desk.say("on c1 sh uptime")
    assert desk.transport.met == {"c1"} and desk.session.owners.keys() == {"c1"}


@pytest.mark.parametrize(
    "text",
    [
        "on @db " + SENT,
        "dcli -c d1 touch /tmp/x",
        "dcli -l root -c d1 touch /tmp/x",
        "dcli -c d1 -k",
        "dcli -c d1 -f {file}",
    ],
)
def test_a_database_node_is_known_by_its_host_key(text: str, tmp_path: Path) -> None:
    """What goes to a database node of a production rack is refused before a change is begun: by ON, dcli, -l, a key or a file."""
    desk = Desk(tmp_path, {"d1": identity("PK9"), "c1": OTHER, "c2": OTHER})
    desk.session.options = replace(desk.session.options, flags={"accept-opaque": True, "yes": True})
    with pytest.raises(RefusedError, match="exa1db01"):
        desk.say(text.format(file=tmp_path / "config.toml"))
    assert desk.written == []
    assert not desk.services.journal.exists or {row.kind for row in desk.services.journal.entries()} == {"refused"}


def test_a_change_in_a_text_is_refused_and_journalled(tmp_path: Path) -> None:
    """CellCLI's changes in shell text for such a cell are refused before anything is read for them, as a row of the journal."""
    desk = Desk(tmp_path, {"c1": identity("PK1"), "c2": OTHER})
    for text in ("sh -y cellcli -e alter cell comment=x", "dcli -c c1 cellcli -e alter cell comment=x"):
        with pytest.raises(RefusedError, match="c1 is exa1cel01 of rack prod"):
            desk.say(text)
    rows = desk.services.journal.entries()
    assert [row.kind for row in rows] == ["refused", "refused"] and desk.written == []
    assert all("of rack prod" in str(row.body["refused"]) for row in rows)


@pytest.mark.parametrize("mode", ["ro", "rw"])
def test_dcli_takes_along_what_was_opened(mode: str, tmp_path: Path) -> None:
    """A production rack whose name was typed is open under other names for dcli from there, too; one that is not is closed."""
    desk = Desk(tmp_path, {}, rack="prod", answer="prod")
    if mode == "rw":
        desk.say("set mode rw")
    desk.session.opened.add("bank")
    child, _ = _child(desk.session, desk.services, RackConfig(name="cells", cells=("h",)), keep_mode=False)
    assert child.opened == ({"bank", "prod"} if mode == "rw" else {"bank"})


def test_a_load_is_not_started_for_a_production_racks_cell(tmp_path: Path) -> None:
    """The load of a recipe is held back as on the production rack, though nothing has been read before it."""
    folder = tmp_path / "recipes"
    folder.mkdir()
    recipe = 'recipe "a load"\nparam load : command = none "it"\nrisk none\n\nhost $load when $load != none\n'
    (folder / "loads.exa").write_text(recipe)
    desk = Desk(tmp_path, {"c1": identity("PK1"), "c2": OTHER})
    console = TerminalConsole(err=(said := io.StringIO()), stdin=io.StringIO())
    desk.services.console = console
    runner = Runner(desk.session, desk.services, console, out=io.StringIO(), flags={"yes": None}, prefix="")
    runner.typed = True
    assert runner.run_text(f"run loads load='touch {tmp_path / 'ran'}'") == 2, said.getvalue()
    assert not (tmp_path / "ran").exists() and "rack prod" in said.getvalue()


def test_the_gate_of_the_transport_stands_behind_all_doors(tmp_path: Path) -> None:
    """Whatever sends a change without having asked is refused by the transport, and so is a host that shows another key since."""
    desk = Desk(tmp_path, {"c1": identity("PK1"), "c2": OTHER})
    transport = desk.services.transport
    for role in (Role.WRITE, Role.ASM_WRITE, Role.HOST_WRITE):
        with pytest.raises(RefusedError, match="c1 is exa1cel01 of rack prod"):
            transport.run([Request(target=t, command="touch x", role=role) for t in ("c2", "c1")])
    assert desk.written == []
    transport.run([Request(target="c2", command="touch x", role=Role.WRITE)])
    assert desk.written == ["c2"]
    desk.transport.later["c2"] = identity("PK9")
    reply = transport.run([Request(target="c2", command="touch x", role=Role.WRITE, ours=lambda: "")]).replies["c2"]
    assert reply.state is State.NOT_ATTEMPTED and "c2 is exa1db01 of rack prod" in reply.problem
    assert desk.written == ["c2"]


def test_what_else_a_request_asks_is_asked_still(tmp_path: Path) -> None:
    """Beside who its target is, a request asks as before whether the rack is ours."""
    desk = Desk(tmp_path, {"c2": OTHER})
    reply = desk.services.transport.run(
        [Request(target="c2", command="touch x", role=Role.WRITE, ours=lambda: "the rack is somebody else's")]
    ).replies["c2"]
    assert (reply.state, reply.problem) == (State.NOT_ATTEMPTED, "the rack is somebody else's")


@pytest.mark.parametrize("answer", ["lab", "yes", "", None, "prod"])
def test_set_mode_rw_asks_for_the_production_racks_name(answer: str | None, tmp_path: Path) -> None:
    """Once such a cell was seen, set mode rw asks for the name of its rack; with it what is read may be sent, unread work not."""
    desk = Desk(tmp_path, {"c1": identity("PK1"), "c2": OTHER}, answer=answer)
    desk.say("on c1 sh uptime")
    assert desk.session.changes_nothing and desk.session.closed() is not None
    if answer != "prod":
        with pytest.raises(RefusedError, match="prod stays read-only"):
            desk.say("set mode rw")
        assert desk.session.closed() is not None
    else:
        desk.say("set mode rw")
        assert desk.session.closed() is None and not desk.session.changes_nothing
        with pytest.raises(RefusedError, match="is a production rack"):
            desk.say(SENT)
        desk.services.transport.run([Request(target="c1", command="cellcli", role=Role.WRITE)])
        assert desk.written == ["c1"]
        desk.say("set mode ro")
        assert desk.session.closed() is not None
    assert desk.found.console.questions == [
        "c1 is exa1cel01 of rack prod (same host key), a production rack: type prod for read-write: "
    ]


def test_the_prompt_is_red_once_it_is_known(tmp_path: Path) -> None:
    """A rack on which a production rack's cell was seen is shown as one, and read-only as long as that cell is selected."""
    desk = Desk(tmp_path, {"c1": identity("PK1"), "c2": OTHER})
    styles = [dict(prompt_fragments(desk.session))]
    desk.say("on c1 sh uptime")
    styles.append(dict(prompt_fragments(desk.session)))
    assert [style.get("class:prompt.production") for style in styles] == [None, "exacell> "]
    assert ["class:prompt.ro" in style for style in styles] == [False, True]
    desk.say("use c2")
    assert "class:prompt.rw" in dict(prompt_fragments(desk.session))


@pytest.mark.parametrize(
    "line", ["!touch {ran}", "host touch {ran}", "show settings > {old}", "spool {old}", "set pager {ran}"]
)
def test_programs_and_files_here_pass_the_door_of_production(line: str, tmp_path: Path) -> None:
    """What is typed runs as ever until a production rack's host was seen on lab: then production's door stands before it."""
    desk = Desk(tmp_path, {"c1": identity("PK1"), "c2": OTHER})
    console = TerminalConsole(err=io.StringIO(), stdin=io.StringIO())
    desk.services.console = console
    runner = Runner(desk.session, desk.services, console, out=io.StringIO(), prefix="")
    runner.typed = True
    (tmp_path / "old").write_text("old\n")
    text = line.format(ran=tmp_path / "ran", old=tmp_path / "old")
    runner.run_text("on c1 sh uptime")
    code = int(runner.run_text(text))
    console.spool(None)
    assert code == 2 and not (tmp_path / "ran").exists() and (tmp_path / "old").read_text() == "old\n"
    assert split_words(text)


def test_another_production_rack_keeps_its_own_name(tmp_path: Path) -> None:
    """Being read-write on one production rack opens no cell of another; its own cells, known from both, are its own."""
    desk = Desk(tmp_path, {"bankcel01": identity("PK1")}, rack="bank", answer="bank")
    desk.say("set mode rw")
    run = desk.services.transport.run
    with pytest.raises(RefusedError, match="bankcel01 is exa1cel01 of rack prod"):
        run([Request(target="bankcel01", command="cellcli", role=Role.WRITE)])
    desk.store.keep_identities("bank", {"bankcel01": identity("PK1")})
    desk.services.close()
    desk.services.transport.run([Request(target="bankcel01", command="cellcli", role=Role.WRITE)])
    assert desk.written == ["bankcel01"]


def test_what_counts_is_what_the_configuration_says_now(tmp_path: Path) -> None:
    """A rack that is no production rack any more closes nothing, nor does a host that the rack has no more."""
    for text in (CONFIG.replace("production = true", "", 1), CONFIG.replace("exa1cel[01-02]", "exa1cel02")):
        folder = tmp_path / str(len(text))
        folder.mkdir()
        Desk(folder, {})
        (folder / "config.toml").write_text(text)
        found = Session(folder, options=Options(rack="lab"))
        services = Services(found.session, found.console, Shown(found.answers, {"c1": identity("PK1", "PI1")}))
        services.recognition.recognise(["c1"])
        assert found.session.owners == {}


def test_what_is_learned_later_counts_for_hosts_that_were_asked(tmp_path: Path) -> None:
    """A host that was none of prod's is one as soon as prod was used, in a session that goes on, too."""
    desk = Desk(tmp_path, {"c1": OTHER, "c2": OTHER})
    desk.services.recognition.recognise(["c1"])
    assert desk.session.owners == {}
    desk.store.keep_identities("prod", {"exa1cel02": OTHER})
    desk.services.recognition.recognise(["c1"])
    assert desk.session.owners["c1"].host == "exa1cel02"


def test_a_rack_that_is_only_called_like_it_is_another(tmp_path: Path) -> None:
    """Cells named by -c are a rack of their own: where it has the name of a production rack, that opens nothing."""
    desk = Desk(tmp_path, {"c1": identity("PK1")})
    desk.session.config = replace(desk.session.config, racks={"prod": desk.session.config.racks["prod"]})
    desk.session.rack = replace(desk.session.need_rack(), name="prod")
    with pytest.raises(RefusedError, match="c1 is exa1cel01 of rack prod"):
        desk.services.transport.run([Request(target="c1", command="touch x", role=Role.WRITE)])


def test_a_memory_that_can_not_be_read_closes_all(tmp_path: Path) -> None:
    """Where what is known of production racks is damaged nothing is sent, and the message says how it is mended."""
    desk = Desk(tmp_path, {"c1": OTHER, "c2": OTHER})
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("update identity set body='{}'")
    with pytest.raises(StoreError, match="is damaged") as told:
        desk.say(SENT)
    assert desk.written == [] and told.value.hint.startswith("`refresh` on rack prod")
    prod = on_prod(tmp_path, {"exa1cel01": identity("PK1"), "exa1cel02": OTHER, "exa1db01": OTHER})
    prod.say("refresh")
    assert set(prod.store.identities(["prod"])) == {("prod", host) for host in ("exa1cel01", "exa1cel02", "exa1db01")}


# -- remembering -------------------------------------------------------------------------------------------------------


def on_prod(folder: Path, who: Mapping[str, Identity], **pins: Identity) -> Desk:
    desk = Desk(folder, who, rack="prod")
    desk.transport.pins = pins
    return desk


def test_a_production_rack_is_remembered_when_it_is_used(tmp_path: Path) -> None:
    """What its hosts show replaces what was known, an id that was not asked stands; the others count by known_hosts, once."""
    who = {"exa1cel01": identity("NK1", "NI1", "10.1.0.1:22"), "exa1cel02": identity("PK2", "PI2", "10.0.0.2:22")}
    desk = on_prod(tmp_path, who, exa1cel02=identity("PIN"), exa1db01=identity("PIN9"))
    desk.say("on exa1cel01 sh uptime")
    kept = desk.store.identities(["prod"])
    assert kept["prod", "exa1cel01"] == identity("NK1", "NI1", "10.1.0.1:22")
    assert kept["prod", "exa1cel02"].keys == {"PIN"}
    assert kept["prod", "exa1db01"] == PROD["exa1db01"]
    desk.services.fleet.greet(["exa1cel02"])
    desk.services.close()
    assert desk.store.identities(["prod"])["prod", "exa1cel02"] == identity("PK2", "PI2", "10.0.0.2:22")
    desk.transport.who["exa1cel02"] = identity("NK2", "", "10.0.0.2:22")
    desk.services.transport.logins(["exa1cel02"], Role.READ)
    desk.services.close()
    assert desk.store.identities(["prod"])["prod", "exa1cel02"] == identity("NK2", "PI2", "10.0.0.2:22")


def test_the_address_of_a_host_that_was_not_selected_counts(tmp_path: Path) -> None:
    """A cell of a production rack that nobody connected to, and known_hosts has not, is known again by its address, from any
    rack; once its key is known that decides."""
    who = {"exa1cel01": identity("PK1", "PI1"), "exa1cel02": identity("PK2", "PI2", "10.0.0.2:22")}
    prod = on_prod(tmp_path, who)
    prod.say("on exa1cel01 sh uptime")
    prod.services.close()
    assert prod.store.identities(["prod"])["prod", "exa1cel02"] == identity("", "", "10.0.0.2:22")
    for number, one in enumerate((identity("", "", "10.0.0.2:22"), identity("LK1", "LI1", "10.0.0.2:22"))):
        lab = Desk(tmp_path, {"c1": one, "c2": OTHER})
        with pytest.raises(RefusedError, match="c1 is its exa1cel02, same address and port"):
            lab.say(f"on c1 sh --accept-opaque -y touch /tmp/{number}")
        assert lab.written == []
    prod.say("on exa1cel02 sh uptime")
    prod.services.close()
    assert prod.store.identities(["prod"])["prod", "exa1cel02"].keys == {"PK2"}
    Desk(tmp_path, {"c1": one, "c2": OTHER}).say("on c1 sh --accept-opaque -y touch /tmp/x")


def test_a_resolver_that_does_not_answer_delays_nobody_for_long(tmp_path: Path, monkeypatch: Any) -> None:
    """Addresses that are only remembered are waited for together and a short time; what is not known then is not remembered."""
    monkeypatch.setattr(recognition, "RESOLVED_S", 0.2)
    prod, over = on_prod(tmp_path, {"exa1cel01": identity("PK1", "PI1")}), threading.Event()
    shows = prod.transport.shows

    def slow(target: str, *, addresses: bool = False) -> Identity:
        if addresses and target == "exa1cel02":
            over.wait(LONG_S)
        return shows(target, addresses=addresses)

    prod.transport.shows = slow  # type: ignore[method-assign]
    prod.say("on exa1cel01 sh uptime")
    assert not over.is_set() and ("prod", "exa1cel02") not in prod.store.identities(["prod"])
    over.set()


def test_refresh_asks_all_of_its_hosts(tmp_path: Path) -> None:
    """refresh on a production rack replaces all that was known of the hosts that answer."""
    who = {"exa1cel01": identity("NK1", ""), "exa1db01": identity("NK9", "", "10.0.0.8:22")}
    desk = on_prod(tmp_path, who)
    result = desk.say("refresh")
    kept = desk.store.identities(["prod"])
    assert kept["prod", "exa1cel01"] == identity("NK1") and kept["prod", "exa1db01"].keys == {"NK9"}
    assert "identified again: 2 hosts of prod" in result.notes
    assert "exa1cel02: not reached; what is known of it is kept" in result.notes


def test_nothing_is_remembered_of_hosts_reached_another_way(tmp_path: Path) -> None:
    """Under --ssh-config or dcli -s -F a production rack's names may lead elsewhere: what those hosts show is not kept."""
    desk = on_prod(tmp_path, {"exa1cel01": identity("LK1", "LI1")})
    desk.session.rack = replace(desk.session.need_rack(), ssh_config=tmp_path / "other")
    desk.say("on exa1cel01 sh uptime")
    assert desk.store.identities(["prod"]) == {("prod", host): one for host, one in PROD.items()}


def test_an_emulated_hosts_id_counts_for_nothing(tmp_path: Path) -> None:
    """A host that exacell's emulator runs is known by its host key alone, to remember it and to know it again."""
    key = "AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
    folder = tmp_path / "emulator" / "t1"
    folder.mkdir(parents=True)
    (folder / "known_hosts").write_text(f"exa1cel01 ssh-ed25519 {key}\n")
    (mark,) = KnownHosts.read([folder / "known_hosts"]).fingerprints
    desk = Desk(tmp_path, {"c1": identity(mark, "PI1"), "c2": identity("LK2", "PI1")})
    desk.services.recognition.recognise(["c1", "c2"])
    assert set(desk.session.owners) == {"c2"}
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "emulator").symlink_to(tmp_path / "emulator")
    prod = on_prod(tmp_path / "p", {"exa1cel01": identity(mark, "PI7")})
    prod.say("refresh")
    assert prod.store.identities(["prod"])["prod", "exa1cel01"] == identity(mark)


# -- who is asked, and what stands ---------------------------------------------------------------------------------------


def test_nobody_is_asked_where_no_other_production_rack_is_known(tmp_path: Path) -> None:
    """No connection is made where nothing is known of a production rack, where none is another one, and for no target."""
    (tmp_path / "new").mkdir()
    desk = Desk(tmp_path / "new", {"c1": OTHER})
    with sqlite3.connect(tmp_path / "new" / "store.db") as connection:
        connection.execute("delete from identity")
    desk.services.recognition.recognise(["c1", "d1"])
    (tmp_path / "own").mkdir()
    own = Desk(tmp_path / "own", {"exa1cel01": identity("PK1")}, rack="prod")
    racks = {name: rack for name, rack in own.session.config.racks.items() if name != "bank"}
    own.session.config = replace(own.session.config, racks=racks)
    own.services.recognition.recognise(["exa1cel01"])
    none = Desk(tmp_path, {"c1": OTHER})
    none.services.recognition.recognise(["", ""])
    assert (desk.transport.met, own.transport.met, none.transport.met) == (set(), set(), set())


def test_each_kind_of_host_is_asked_in_its_own_way(tmp_path: Path) -> None:
    """A cell is asked for its id, a node of an ASM cluster and any other host log in, each with its own login, and once."""
    desk = Desk(tmp_path, {"c1": OTHER, "d1": identity("LK9")})
    rack = desk.session.need_rack()
    asked: list[tuple[tuple[str, ...], Role]] = []
    logins = desk.transport.logins

    def noted(targets: Sequence[str], role: Role) -> FleetResult:
        asked.append((tuple(targets), role))
        return logins(targets, role)

    desk.transport.logins = noted  # type: ignore[method-assign]
    for _ in range(2):
        desk.services.recognition.recognise(["c1", "d1"])
    desk.session.rack = replace(rack, asm={}, dbnodes=("d1", "d2"))
    desk.transport.who["d2"] = identity("PK9")
    desk.services.recognition.recognise(["d1", "d2"])
    desk.transport.who["c2"] = identity("", "LI2")  # As over a transport without host keys.
    desk.transport.met.add("d3")
    desk.transport.who["d3"] = identity("LK3")
    desk.services.recognition.recognise(["c2"])
    desk.session.rack = replace(rack, asm={}, dbnodes=("d1", "d2", "d3"))
    desk.services.recognition.recognise(["d3"])
    assert asked == [(("d1",), Role.ASM_READ), (("d2",), Role.HOST_READ)]
    assert desk.session.owners.keys() == {"d2"}


def test_who_has_shown_a_key_is_not_waited_for_again(tmp_path: Path) -> None:
    """A cell whose CellCLI does not answer is known by its key, and is not asked for its id before each change."""
    desk = Desk(tmp_path, {"c1": identity("LK1")})
    desk.found.answers.down.add("c1")
    for _ in range(3):
        desk.services.recognition.recognise(["c1"])
    assert len(desk.found.answers.asked) == 1


def test_who_showed_nothing_is_asked_again(tmp_path: Path) -> None:
    """A host that did not answer is none of prod's only until it does."""
    desk = Desk(tmp_path, {})
    desk.services.recognition.recognise(["d1"])
    assert desk.session.owners == {}
    desk.transport.met.clear()
    desk.transport.who["d1"] = identity("PK9")
    desk.services.recognition.recognise(["d1"])
    assert desk.session.owners.keys() == {"d1"}


def test_the_resolver_is_asked_for_those_alone_whom_nothing_else_tells(tmp_path: Path) -> None:
    """Where keys can be compared, or the owner is known, no address is looked up."""
    desk = Desk(tmp_path, {"c1": OTHER, "c2": identity("PK1")})
    desk.store.keep_identities("prod", {"exa1cel01": identity("PK1", "PI1")})
    bare = {"exa1cel02": identity("", "", "10.0.0.2:22")}
    looked: list[str] = []
    shows = desk.transport.shows

    def noted(target: str, *, addresses: bool = False) -> Identity:
        looked.extend([target] if addresses else [])
        return shows(target, addresses=addresses)

    desk.transport.shows = noted  # type: ignore[method-assign]
    desk.services.recognition.recognise(["c1", "c2"])
    assert looked == [] and desk.session.owners.keys() == {"c2"}
    desk.store.keep_identities("prod", bare)
    desk.services.recognition.recognise(["c1", "c2"])
    assert looked == ["c1"] and desk.session.owners.keys() == {"c2"}


def test_a_cell_known_by_its_id_stays_closed_whatever_key_it_shows(tmp_path: Path) -> None:
    """The last question right before a change leaves looks at the key, and forgets nothing that the id told."""
    desk = Desk(tmp_path, {"c1": identity("LK1", "PI1"), "c2": OTHER})
    desk.services.recognition.recognise(["c1", "c2"])
    for _ in range(2):
        assert "rack prod" in desk.services.recognition.why_not("c1")
    assert desk.services.recognition.why_not("c2") == ""

    def unknown(target: str, *, addresses: bool = False) -> Identity:
        raise TransportError(f"host name {target} cannot be resolved")

    desk.transport.shows = unknown  # type: ignore[method-assign]
    assert desk.services.recognition.why_not("d1") == "", "one that was not connected to has shown nothing"


def test_the_gate_asks_for_changes_alone(tmp_path: Path) -> None:
    """A read of a cell that is known to be prod's goes on; a statement upon a look is asked as any other change."""
    desk = Desk(tmp_path, {"c1": identity("PK1"), "c2": OTHER})
    desk.services.recognition.recognise(["c1"])
    read = desk.transport.run([Request(target="c1", command="uptime", role=Role.READ)]).replies["c1"]
    assert read.state is State.OK
    pair = Pair(
        program="cellcli", look="", whole=bool, judge=lambda text: Judgement(), statement="drop", ours=lambda: ""
    )  # fmt: skip
    (gated,) = desk.transport._gated([Request(target="c1", command="x", role=Role.WRITE, pair=pair)])
    assert gated.pair is not None and "rack prod" in str(gated.pair.ours())


def test_an_emulated_rack_of_another_home_is_one_too(tmp_path: Path) -> None:
    """The hosts of a rack that the configuration calls emulated count by their keys alone if its folder is an emulator's."""
    key = "AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
    place = tmp_path / "away"
    (place / "hosts").mkdir(parents=True)
    (place / "known_hosts").write_text(f"c1 ssh-ed25519 {key}\n")
    (mark,) = KnownHosts.read([place / "known_hosts"]).fingerprints
    for emulated, whole, owned in ((True, True, False), (False, True, True), (True, False, True)):
        desk = Desk(tmp_path, {"c1": identity(mark, "PI1")})
        if not whole:
            (place / "hosts").rmdir()
        other = replace(desk.session.need_rack(), name="far", emulated=emulated, ssh_config=place / "ssh_config")
        bare = replace(other, name="bare", emulated=True, ssh_config=None)
        racks = {**desk.session.config.racks, "far": other, "bare": bare}
        desk.session.config = replace(desk.session.config, racks=racks)
        desk.services.recognition.recognise(["c1"])
        assert ("c1" in desk.session.owners) is owned, (emulated, whole)


def test_nothing_is_remembered_of_a_rack_that_is_no_production_rack(tmp_path: Path) -> None:
    """What hosts of lab show is judged, and not kept; nor is what a rack shows that the configuration has not."""
    desk = Desk(tmp_path, {"c1": OTHER})
    desk.say("on c1 sh uptime")
    desk.services.close()
    assert desk.store.identities(["lab"]) == {}
    desk.session.rack = replace(desk.session.need_rack(), name="typed", production=True)
    desk.transport.met.add("c1")
    desk.services.transport.logins(["c1"], Role.READ)
    desk.services.recognition.note()
    assert desk.store.identities(["typed"]) == {}


def test_refresh_keeps_what_is_known_of_those_who_are_away(tmp_path: Path) -> None:
    """A host that is away keeps all that is known of it; one that answers is known by what it shows now, its address, too."""
    desk = on_prod(tmp_path, {"exa1cel01": identity("", "NI1"), "exa1db01": identity("PK9", "", "10.9.0.9:22")})
    desk.store.keep_identities("prod", {"exa1cel02": identity("PK2", "PI2", "10.0.0.2:22")})
    desk.say("refresh")
    kept = desk.store.identities(["prod"])
    assert kept["prod", "exa1cel02"] == identity("PK2", "PI2", "10.0.0.2:22")
    assert kept["prod", "exa1db01"] == identity("PK9", "", "10.9.0.9:22")


def test_what_a_statement_shows_takes_nothing_away(tmp_path: Path) -> None:
    """A host of which less is seen this time keeps its key and its address, and one without an address is not kept as nothing."""
    desk = on_prod(tmp_path, {"exa1cel01": identity("", "NI1")})
    desk.services.fleet.greet(["exa1cel01"])
    desk.services.close()
    kept = desk.store.identities(["prod"])
    assert kept["prod", "exa1cel01"] == identity("PK1", "NI1", "10.0.0.1:22")
    assert ("prod", "exa1cel02") not in kept
    assert kept["prod", "exa1db01"] == PROD["exa1db01"]


def test_the_door_is_that_of_the_stricter_rule(tmp_path: Path) -> None:
    """A session that is read-only stays so for a production rack's cell that was opened; a production rack's own door has its
    own name, whoever's cell it is."""
    desk = Desk(tmp_path, {"c1": identity("PK1")})
    desk.services.recognition.recognise(["c1"])
    desk.session.opened.add("prod")
    assert not door_of(desk.session, ["c1"]).read_only
    desk.session.read_only = True
    assert door_of(desk.session, ["c1"]).read_only and door_of(desk.session, ["c1"]).production
    bank = Desk(tmp_path, {"bankcel01": identity("PK1")}, rack="bank")
    bank.services.recognition.recognise(["bankcel01"])
    assert bank.session.owners and door_of(bank.session, ["bankcel01"]).rack == "bank"


def test_what_is_known_already_is_kept_and_looked_up_once(tmp_path: Path) -> None:
    """A host that shows the key that is known keeps it, though its address was never known; one that has none is looked up once
    in a session."""
    desk = on_prod(tmp_path, {"exa1cel01": identity("PK1", "PI1"), "exa1db01": identity("PK9", "", "10.0.0.9:22")})
    desk.store.keep_identities("prod", {"exa1db01": identity("PK9")})
    looked: list[str] = []
    shows = desk.transport.shows

    def noted(target: str, *, addresses: bool = False) -> Identity:
        looked.extend([target] if addresses else [])
        return shows(target, addresses=addresses)

    desk.transport.shows = noted  # type: ignore[method-assign]
    desk.say("on exa1cel01 sh uptime")
    desk.say("dcli -c exa1db01 uptime")
    assert desk.store.identities(["prod"])["prod", "exa1db01"] == identity("PK9")
    assert looked.count("exa1cel02") == 1


def test_a_host_whose_address_is_known_is_not_looked_up_again(tmp_path: Path) -> None:
    """A host that shows nothing of itself is looked up once, however often it is used and in whatever session."""
    for first in (True, False):
        desk = on_prod(tmp_path, {"exa1cel01": identity("PK1", "PI1"), "exa1cel02": identity("", "", "10.0.0.2:22")})
        looked: list[str] = []
        shows = desk.transport.shows

        def noted(target: str, *, addresses: bool = False, looked: list[str] = looked, shows: Any = shows) -> Identity:
            looked.extend([target] if addresses else [])
            return shows(target, addresses=addresses)  # type: ignore[no-any-return]

        desk.transport.shows = noted  # type: ignore[method-assign]
        desk.say("on exa1cel02 sh uptime")
        desk.say("on exa1cel01,exa1cel02 list cell")
        desk.services.close()
        assert looked.count("exa1cel02") == first
        assert desk.store.identities(["prod"])["prod", "exa1cel02"] == identity("", "", "10.0.0.2:22")


def test_a_run_without_a_load_asks_nobody(tmp_path: Path) -> None:
    """No connection is made to find out whose the cells are where no load is to be started for them."""
    folder = tmp_path / "recipes"
    folder.mkdir()
    recipe = 'recipe "no load"\nparam load : command|none = none "it"\nrisk none\n\nhost $load when $load != none\n'
    (folder / "loads.exa").write_text(recipe)
    desk = Desk(tmp_path, {"c1": identity("PK1"), "c2": OTHER})
    desk.say("run loads")
    assert desk.transport.met == set()


def test_the_only_production_rack_is_remembered_too(tmp_path: Path) -> None:
    """A production rack is remembered when it is used, whether or not there is another one."""
    desk = on_prod(tmp_path, {"exa1cel01": identity("NK1", "", "10.0.0.1:22")})
    racks = {name: rack for name, rack in desk.session.config.racks.items() if name != "bank"}
    desk.session.config = replace(desk.session.config, racks=racks)
    desk.say("on exa1cel01 sh uptime")
    assert desk.store.identities(["prod"])["prod", "exa1cel01"].keys == {"NK1"}
