"""doctor on an emulated rack over real SSH: what works, what does not, what it packs; and that it changes nothing."""

from __future__ import annotations

import socket
import stat
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from exacell.transport.ssh import route

C1, C2, C3 = "exa1cel01", "exa1cel02", "exa1cel03"


def found(rack, *words: str) -> list[dict[str, Any]]:
    return rack.json(*words, "doctor")


def not_ok(rows: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(row["cell"], row["check"], row["verdict"]) for row in rows if row["verdict"] != "ok"]


def test_a_rack_that_is_well(rack) -> None:
    """Everything is ok, with exit code 0: both logins of each cell, each database node, ASM on each, ssh_config of each."""
    done = rack.say("doctor")
    assert done.code == 0, done.out
    assert "all well" in done.err
    rows = found(rack)
    assert not_ok(rows) == []
    checked = {(row["cell"], row["check"]) for row in rows}
    assert (None, "releases") in checked
    for cell in (C1, C2, C3):
        assert {(cell, "login cellmonitor"), (cell, "login celladmin"), (cell, "ssh_config")} <= checked
    for number, node in enumerate(("exa1db01", "exa1db02"), 1):
        assert {(node, "login root"), (node, f"ASM +ASM{number}"), (node, "ssh_config")} <= checked


def test_what_fails_is_named_with_its_way_out(rack) -> None:
    """A changed host key and a cell without power fail for their cells alone, each in one line with what to type; the exit code
    is 1, and the summary names where to begin."""
    rack.fault(C2, "host-key")
    rack.fault(C3, "power-off")
    try:
        done = rack.say("doctor")
        assert done.code == 1
        assert f"begin with {C2}: login cellmonitor" in done.err
        rows = [row for row in found(rack) if row["verdict"] == "bad"]
        assert {row["cell"] for row in rows} == {C2, C3}
        assert all("ssh-keygen -R" in row["found"] for row in rows if row["cell"] == C2)
    finally:
        rack.mend("care")


def test_on_narrows_it_to_cells_or_hosts(rack) -> None:
    """With ON cells only those are looked at, no node and no ASM; with ON hosts only those hosts."""
    assert {row["cell"] for row in found(rack, "on", C2)} == {None, C2}
    assert {row["cell"] for row in found(rack, "on", "exa1db01")} == {None, "exa1db01"}


def test_a_key_that_others_can_read_is_a_warning(rack) -> None:
    """A private key with mode 644 is named with chmod 600; the exit code stays 0, since exacell itself can use it."""
    key = rack.home / "emulator" / "care" / "id_ed25519"
    key.chmod(0o644)
    try:
        rows = [row for row in found(rack) if row["verdict"] != "ok"]
        assert [(row["check"], row["next"]) for row in rows] == [("keys", f"`chmod 600 {key}`")]
        assert rack.say("doctor").code == 0
    finally:
        key.chmod(0o600)


def test_it_changes_nothing(rack) -> None:
    """It runs in read-only mode, writes no row into the journal, and no cell's statements but LIST come from it."""
    before = rack.json("journal", "show")
    assert rack("-r", "care", "-m", "doctor").code == 0
    assert rack.json("journal", "show") == before


def test_a_bundle_names_nobody(rack, tmp_path: Path) -> None:
    """The bundle is a new file for its owner alone; no name of the rack's hosts or of the home stands in it, and no address;
    a file that is there is not replaced."""
    rack.fault(C3, "power-off")
    path = tmp_path / "bundle.tar.gz"
    try:
        done = rack.say("doctor", f"--bundle={path}")
        assert "look into it before you send it" in done.err
    finally:
        rack.mend("care")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with tarfile.open(path) as archive:
        texts = {member.name: (archive.extractfile(member) or pytest.fail()).read().decode() for member in archive}
    assert set(texts) == {f"exacell-bundle/{name}" for name in ("checks.json", "rack.toml", "journal.json")}
    whole = "\n".join(texts.values())
    for name in ("exa1cel", "exa1db", "127.0.0.1", "care"):
        assert name not in whole, name
    assert '"cell[01-03]"' in texts["exacell-bundle/rack.toml"]
    kept = path.read_bytes()
    again = rack.say("doctor", f"--bundle={path}")
    assert again.code == 2
    assert f"{path}: File exists" in again.err
    assert path.read_bytes() == kept


def test_without_a_rack_it_says_how_to_name_one(program) -> None:
    """Where no rack is configured what is this machine's is checked all the same, and the configuration fails with the ways to
    choose a rack."""
    done = program("-o", "json", "doctor")
    assert done.code == 1
    assert not_ok(done.records) == [(None, "configuration", "bad")]
    assert "exacell demo" in done.out


def test_an_agent_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An agent's socket on which nobody listens, and one that takes the question and stays silent, are told as such."""
    path = tmp_path / "agent"
    monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
    assert route.agent_keys() == (frozenset(), "No such file or directory")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(path))
        assert route.agent_keys() == (frozenset(), "Connection refused")
        silent.listen()
        monkeypatch.setattr(route, "AGENT_S", 0.05)
        assert route.agent_keys() == (frozenset(), "no answer within 0.05 s")


def test_what_each_key_file_is_good_for(tmp_path: Path) -> None:
    """A key that can be used, one that needs its passphrase, and a file that holds no key have each their problem and what to
    type; where the agent holds the same key, that is said; a file that is not there is none."""
    for name, words in (("open", []), ("locked", ["secret"])):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", *(words or [""]), "-f", tmp_path / name], check=True)
    (tmp_path / "text").write_text("no key")
    held = frozenset(route.public_blobs([tmp_path / "locked"]))
    opened, locked, text = (route.key_file(tmp_path / name, held) for name in ("open", "locked", "text"))
    assert opened is not None and (opened.problem, opened.in_agent) == ("", False)
    assert locked is not None and locked.problem.endswith("needs a passphrase") and locked.in_agent
    assert locked.way == f"`ssh-add {tmp_path / 'locked'}`"
    assert text is not None and "is not a usable private key" in text.problem and "IdentityFile" in text.way
    assert route.key_file(tmp_path / "none", held) is None
