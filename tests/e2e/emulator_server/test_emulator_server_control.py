"""The life of an emulated rack as the command layer sees it: real processes, real cells."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.core.errors import EmulatorError
from exacell.emulator import control
from exacell.emulator.basics.store import rack_files
from tests.support.patience import must_come

SMALL = {"cells": 2, "dbnodes": 1}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A directory for racks, all of which are stopped at the end."""
    home = tmp_path / "home of racks"
    yield home
    if home.exists():
        for info in control.status(home):
            control.stop(home, info.name)


def ssh(info: control.RackInfo, host: str, command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    arguments = ["ssh", "-F", str(info.ssh_config), host, command]
    return subprocess.run(arguments, input=stdin, capture_output=True, text=True, timeout=300)


def test_a_rack_starts_answers_and_stops(home: Path) -> None:
    """start makes a rack that ssh reaches; status tells of it; stop ends it and says so once."""
    info, already = control.start(home, "t1", options={**SMALL, "db": "SPOT,ERP", "cellcli-start": "0s"})
    assert not already and info.running and info.pid is not None
    assert (info.cells, info.dbnodes) == (("exa1cel01", "exa1cel02"), ("exa1db01",))
    assert (info.databases, info.model, info.mode, info.speed, info.seed) == (("SPOT", "ERP"), "x2", "writeback", 60, 1)
    assert "exa1cel01" in ssh(info, "exa1cel01", "cellcli -e list cell").stdout
    assert control.status(home) == (info,) == control.status(home, "t1")
    assert control.ssh_config(home, "t1") == info.ssh_config.read_text()
    assert control.stop(home, "t1") is True
    assert control.stop(home, "t1") is False
    (stopped,) = control.status(home)
    assert (stopped.running, stopped.pid, stopped.started, stopped.cells) == (False, None, "", info.cells)


def test_starting_a_running_rack_says_so(home: Path) -> None:
    """A second start, alone or at the same moment from another thread, finds the one running rack."""
    results: list[tuple[control.RackInfo, bool]] = []
    threads = [
        threading.Thread(target=lambda: results.append(control.start(home, "t1", options=SMALL))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(already for _, already in results) == [False, True, True]
    assert len({info.pid for info, _ in results}) == 1


def test_state_keys_and_ports_survive_a_restart_and_not_a_reset(home: Path) -> None:
    """After stop and start, what was changed is still so and clients find the same hosts; reset makes all anew."""
    first, _ = control.start(home, "t1", options=SMALL)
    known, ports = rack_files(home, "t1").known_hosts, rack_files(home, "t1").ports
    before = known.read_text(), ports.read_text()
    changed = ssh(first, "exa1cel01", "cellcli -e drop flashlog")
    assert changed.returncode == 0, changed.stdout + changed.stderr
    # Whoever ends a connection keeps its port for a minute.
    with socket.create_connection(("127.0.0.1", json.loads(before[1])["exa1cel01"]), timeout=300) as client:
        assert client.recv(4) == b"SSH-"
        control.stop(home, "t1")
        while client.recv(4096):  # What is left unread would end it at once.
            pass
    second, already = control.start(home, "t1", options={})
    assert not already and second.pid != first.pid
    assert (known.read_text(), ports.read_text()) == before
    assert ssh(second, "exa1cel01", "cellcli -e list flashlog").stdout.strip() == ""
    third, already = control.start(home, "t1", options=SMALL, reset=True)
    assert not already and known.read_text() != before[0]
    assert "exa1cel01_FLASHLOG" in ssh(third, "exa1cel01", "cellcli -e list flashlog").stdout


@pytest.mark.parametrize("options", [{"release": "9.9"}, {**SMALL, "model": "x8m", "pmem": "sideways"}])
def test_a_reset_that_can_not_be_made_loses_nothing(home: Path, options: dict[str, object]) -> None:
    """Where the new rack can't be emulated, the old one is there as it was, with its keys and what was changed."""
    first, _ = control.start(home, "t1", options=SMALL)
    keys = rack_files(home, "t1").known_hosts.read_text()
    assert ssh(first, "exa1cel01", "cellcli -e drop flashlog").returncode == 0
    with pytest.raises(EmulatorError):
        control.start(home, "t1", options=options, reset=True)
    assert rack_files(home, "t1").known_hosts.read_text() == keys
    again, already = control.start(home, "t1", options={})
    assert not already and ssh(again, "exa1cel01", "cellcli -e list flashlog").stdout.strip() == ""
    assert [path.name for path in rack_files(home, "t1").root.parent.iterdir() if "removed" in path.name] == []


def test_a_change_survives_a_killed_process(home: Path) -> None:
    """What a statement changed is stored when it has ended: kill -9 loses nothing and hinders no start."""
    info, _ = control.start(home, "t1", options=SMALL)
    assert ssh(info, "exa1cel01", "cellcli -e drop flashlog").returncode == 0
    assert info.pid is not None
    os.kill(info.pid, signal.SIGKILL)
    must_come(lambda: not control.status(home, "t1")[0].running)
    again, already = control.start(home, "t1", options={})
    assert not already
    assert ssh(again, "exa1cel01", "cellcli -e list flashlog").stdout.strip() == ""
    assert "FLASHLOG" in ssh(again, "exa1cel02", "cellcli -e list flashlog").stdout


def test_other_options_for_an_existing_rack_are_refused(home: Path) -> None:
    """Options that a rack was not made with are named with old and new value and the way out, running or stopped."""
    control.start(home, "t1", options=SMALL)
    for _ in range(2):
        with pytest.raises(EmulatorError) as error:
            control.start(home, "t1", options={"cells": 3})
        assert error.value.message == "rack t1 exists with cells=2; cells=3 needs a new one"
        assert "reset=yes" in error.value.hint
        control.stop(home, "t1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red"}, "has no option colour"),
        ({"cells": "many"}, "cells must be a number, not 'many'"),
        ({"cells": 0}, "cells=0"),
        ({"model": "x99"}, "x99"),
        ({"cellcli-start": "soon"}, "soon"),
        ({"speed": "fast"}, "speed must be a number, not 'fast'"),
    ],
)
def test_impossible_options_are_refused_and_leave_nothing(home: Path, options: control.Options, message: str) -> None:
    """A wrong option is named in one line, and no half-made rack stays behind."""
    with pytest.raises(Exception, match=message) as error:
        control.start(home, "t1", options=options)
    assert hasattr(error.value, "exit_code")
    assert control.status(home) == ()


def test_a_rack_file_is_written_and_a_real_racks_is_never_touched(home: Path) -> None:
    """start describes the rack for -r, and refuses a name that a real rack has."""
    info, _ = control.start(home, "t1", options=SMALL)
    described = tomllib.loads(control.rack_file(home, "t1").read_text())
    root = info.ssh_config.parent
    programs = {"dcli": root / "bin/path/dcli", "exacli": root / "bin/path/exacli", "cookie_jar": root / "cookies"}
    assert described == {
        **{name: str(path) for name, path in programs.items()},
        "cells": "exa1cel[01-02]",
        "dbnodes": "exa1db01",
        "ssh_config": str(info.ssh_config),
        "emulated": True,
        "asm": {
            "main": {
                "nodes": "exa1db01",
                "home": "/u01/app/19.0.0.0/grid",
                "sid": "+ASM1",
                "user": "grid",
                "databases": ["SPOT", "ERP"],
            }
        },
    }
    real = control.rack_file(home, "prod")
    real.write_text('cells = "dm01cel[01-14]"\n')
    with pytest.raises(EmulatorError, match="describes a real rack"):
        control.start(home, "prod", options=SMALL)
    assert real.read_text() == 'cells = "dm01cel[01-14]"\n'


def test_an_unknown_rack_is_named_with_those_that_there_are(home: Path) -> None:
    """Asking for a rack that was never made says which there are and how to make it."""
    control.start(home, "t1", options=SMALL)
    for ask in (control.stop, control.status, control.ssh_config):
        with pytest.raises(EmulatorError, match=r"there is no emulated rack t2 \(there is t1\)"):
            ask(home, "t2")


def test_a_load_ends_when_it_is_collected(home: Path) -> None:
    """load returns after the load was applied; a rack that does not run and an unknown database are refused."""
    info, _ = control.start(home, "t1", options={**SMALL, "speed": 6000})
    loaded = control.load(home, "t1", db="SPOT", redo=100, seconds=60)
    assert (loaded["db"], loaded["redo"], loaded["seconds"]) == ("SPOT", 100, 60)
    listed = ssh(info, "exa1cel01", "cellcli -e list metriccurrent FL_IO_W").stdout
    assert float(listed.split()[2].replace(",", "")) > 0
    own = control.load(home, "t1", seconds=60, profile="dw")
    assert (own["db"], own["profile"], own["redo"]) == ("SPOT", "dw", 40)
    with pytest.raises(EmulatorError, match="profile=web is no load; there are redo, oltp, dw, mixed, batch"):
        control.load(home, "t1", seconds=60, profile="web")
    with pytest.raises(EmulatorError, match="NOSUCH"):
        control.load(home, "t1", db="NOSUCH", redo=100, seconds=60)
    control.stop(home, "t1")
    with pytest.raises(EmulatorError, match="rack t1 is not running"):
        control.load(home, "t1", db="SPOT", redo=100, seconds=60)


def test_the_process_keeps_none_of_the_callers_descriptors(home: Path) -> None:
    """A caller's pipe is at its end when the caller is: the rack's process has none of its descriptors."""
    code = (
        "import os, sys; from pathlib import Path; from exacell.emulator import control\n"
        "os.set_inheritable(os.open('/dev/null', os.O_RDONLY), True)\n"
        "info, _ = control.start(Path(sys.argv[1]), 't1', options={'cells': 2, 'dbnodes': 1}); print(info.pid)"
    )
    root = str(Path(control.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code, str(home)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": root + os.pathsep + os.environ.get("PYTHONPATH", "")},
    )
    assert done.stderr == "" and done.returncode == 0
    opened = [os.readlink(entry) for entry in Path(f"/proc/{int(done.stdout)}/fd").iterdir()]
    own = ("socket:", "anon_inode:", str(home))
    assert all(path == "/dev/null" or path.startswith(own) for path in opened), opened
    assert opened.count("/dev/null") == 2


def test_sigterm_is_a_clean_stop(home: Path) -> None:
    """SIGTERM stores the state and removes the way to the process."""
    info, _ = control.start(home, "t1", options=SMALL)
    assert info.pid is not None
    os.kill(info.pid, signal.SIGTERM)
    must_come(lambda: not control.status(home, "t1")[0].running)
    assert not rack_files(home, "t1").control.exists()


def test_a_rack_whose_directory_is_gone_ends(home: Path) -> None:
    """When somebody removes the rack's directory, its process ends by itself."""
    info, _ = control.start(home, "t1", options=SMALL)
    rack_files(home, "t1").remove()
    must_come(
        lambda: not Path(f"/proc/{info.pid}").exists() or "Z" in Path(f"/proc/{info.pid}/stat").read_text().split()[2]
    )
    assert control.status(home) == ()


def test_importing_the_control_module_is_light() -> None:
    """The command layer can import control without asyncio, asyncssh, subprocess or socket."""
    heavy = ("asyncio", "asyncssh", "subprocess", "socket", "tomllib", "shutil")
    code = f"import sys; import exacell.emulator.control; print([m for m in {heavy!r} if m in sys.modules])"
    root = str(Path(control.__file__).parents[2])
    env = {"PYTHONPATH": root, "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout == "[]\n", done.stderr
