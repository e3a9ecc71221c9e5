"""The call behind the shells' completion, and that the files are up to date."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path
from timeit import timeit

import pytest

from exacell.language import registry
from exacell.language.registry import Kind, commands
from exacell.prompt.shells import candidates, complete
from exacell.session.completion.kept import use_kept
from exacell.session.completion.names import NameCache
from tests.support.program import InProcess

ROOT = Path(__file__).parents[2]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An EXACELL_HOME with two racks; t1 is the default."""
    (tmp_path / "racks.d").mkdir()
    (tmp_path / "racks.d" / "t1.toml").write_text('cells = "exa1cel[01-02]"\n')
    (tmp_path / "racks.d" / "u2.toml").write_text('cells = "other[1-2]"\ndbnodes = "otherdb1"\n')
    (tmp_path / "config.toml").write_text('default_rack = "t1"\n')
    return {"EXACELL_HOME": str(tmp_path)}


def words(env: dict[str, str], *typed: str) -> list[str]:
    return [word for word, _ in candidates(typed, env)]


@pytest.mark.parametrize(("shell", "name"), [("bash", "exacell.bash"), ("zsh", "_exacell"), ("fish", "exacell.fish")])
def test_completion_prints_what_the_shell_reads(tmp_path: Path, shell: str, name: str) -> None:
    """completion SHELL is the file of completions/, whole, for a shell to read from a pipe."""
    done = InProcess(tmp_path / "home").ok("completion", shell)
    assert done.out == (ROOT / "completions" / name).read_text() and not done.err


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        (["-r", ""], ["t1", "u2"]),
        (["-r", "u2", "-c", ""], ["other1", "other2"]),
        (["-c", "exa1cel01,"], ["exa1cel01,exa1cel01", "exa1cel01,exa1cel02"]),
        (["-o", "js"], ["json", "jsonl"]),
        (["list", "griddisk", "-o", "js"], ["json", "jsonl"]),
        (["list", "griddisk", "-r", "u2", "-c", ""], ["other1", "other2"]),
        (["list", "griddisk", "--ra"], ["--rack"]),
        (["list", "griddisk", "-e"], []),
        (["sh", "ls", "-c"], []),
        (["--format=js"], ["--format=json", "--format=jsonl"]),
        (["--vers"], ["--version"]),
        (["-r", "t1", "list", "flashl"], ["flashlog"]),
        (["list", "flashcache", "attributes", "name,si"], ["name,size"]),
        (["connect", ""], ["t1", "u2"]),
        (["emulator", "fault", "u2", ""], ["list", "all", "other1", "other2", "otherdb1"]),
        (["on", "exa1cel01", "li"], ["list"]),
        (["--", "flu"], ["flush"]),
        (["resize", "flashcache", "si"], ["size="]),
        (["run", "reset_c"], ["reset_cold"]),
        (["run", "reset_cold", "size="], ["size=keep"]),
        (["@reset_c"], ["@reset_cold"]),
        (["-e", "list ce"], ["list cell", "list celldisk"]),
        (["flush", "flashcache", "--dry"], ["--dry-run"]),
    ],
)
def test_candidates_are_whole_words(typed: list[str], wanted: list[str], env: dict[str, str]) -> None:
    """A candidate is the whole word of the command line, whatever part of it was completed."""
    assert words(env, *typed) == wanted


def test_descriptions_are_for_zsh_and_fish_only(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """bash gets bare words, the others a description behind a tab, always one line."""
    monkeypatch.setenv("EXACELL_HOME", env["EXACELL_HOME"])
    for shell, tab in (("bash", False), ("zsh", True), ("fish", True)):
        out = io.StringIO()
        assert complete([shell, "1", "exacell", "flu"], out) == 0
        assert (
            out.getvalue().startswith("flush") and ("\t" in out.getvalue()) is tab and out.getvalue().count("\n") == 1
        )


def test_a_broken_configuration_offers_nothing_and_says_nothing(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """While a statement is typed there is no error message, whatever the configuration holds."""
    Path(env["EXACELL_HOME"], "config.toml").write_text("= broken")
    monkeypatch.setenv("EXACELL_HOME", env["EXACELL_HOME"])
    out = io.StringIO()
    assert complete(["bash", "2", "exacell", "connect", ""], out) == 0
    assert out.getvalue() == "" and capsys.readouterr().err == ""


def test_every_command_is_offered(env: dict[str, str]) -> None:
    """Each first word of our own commands is a candidate of the empty command line."""
    assert {key[0] for key in commands()} <= set(words(env, ""))


def test_candidates_come_quickly(env: dict[str, str]) -> None:
    """Once the program runs, any completion takes a few milliseconds."""
    words(env, "")
    # Of this thread alone, and without the garbage of other tests, which timeit does not look for.
    assert timeit(lambda: words(env, "list", "metriccurrent", "FC_"), timer=time.thread_time, number=5) / 5 < 0.05


def test_no_candidate_has_control_characters(env: dict[str, str]) -> None:
    """What goes to a shell is printable."""
    for typed in ([""], ["list", ""], ["run", "reset_cold", ""], ["alter", "cell", ""]):
        assert all(re.fullmatch(r"[ -~]+", word) for word in words(env, *typed))


def test_kept_commands_are_the_declared_ones_until_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kept list holds every command as it is declared; a damaged one, or one of other sources, is written anew."""
    monkeypatch.setattr(registry, "_ADOPTED", {})
    use_kept(tmp_path)
    declared = dict(commands())
    use_kept(tmp_path)
    adopted = dict(commands())
    assert adopted is not declared and adopted.keys() == declared.keys()
    assert all(adopted[words].params == declared[words].params for words in declared)
    monkeypatch.setattr(registry, "_ADOPTED", {})
    kept = tmp_path / "commands.pickle"
    kept.write_bytes(b"damaged")
    use_kept(tmp_path)
    assert kept.read_bytes() != b"damaged" and dict(commands()).keys() == declared.keys()
    kept.chmod(0o666)
    monkeypatch.setattr(registry, "_ADOPTED", {})
    use_kept(tmp_path)
    assert kept.stat().st_mode & 0o777 == 0o600


def test_live_names_are_offered(env: dict[str, str]) -> None:
    """Names that a prompt learned are offered to the shells too."""
    cache = NameCache(Path(env["EXACELL_HOME"]) / "names" / "t1.json")
    cache.learn({Kind.GRIDDISK: ["DATA_CD_00_exa1cel01"], Kind.DB: ["SPOT"]})
    assert words(env, "list", "griddisk", "DATA_") == ["DATA_CD_00_exa1cel01"]
    assert words(env, "enable", "flashlog", "db=S") == ["db=SPOT"]


def test_recipes_are_offered_with_their_titles(env: dict[str, str], tmp_path: Path) -> None:
    """Beside each recipe stands what it does, read from its header; one that has no title, or no text, is offered bare."""
    folder = tmp_path / "recipes"
    folder.mkdir()
    (folder / "mine.exa").write_text('# a note\nrecipe "Look at the caches"\nlist flashcache\n')
    (folder / "bare.exa").write_text("list flashcache\n")
    (folder / "broken.exa").write_bytes(b"\xff\xfe\x00")
    for typed in (["run", ""], ["@"]):
        found = {word.removeprefix("@"): about for word, about in candidates(typed, env)}
        assert (found["mine"], found["bare"], found["broken"]) == ("Look at the caches", "", "")
        assert found["reset_cold"].startswith("Bring every cell")
