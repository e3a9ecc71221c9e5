"""files names every place that is written, and docs/install.md the folders that these lie in."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LIFE = (
    ("alias fd list griddisk",),
    ("snap flashlog as=before",),
    ("save baseline as=golden",),
    ("plan as=monday resize flashcache size=288g",),
    ("-y", "alter cell comment='x'"),
    ("-y", "undo"),
    ("lock reason=test",),
    ("unlock",),
    ("-y", "run keeping"),
    ("-y", "alter cell comment='y' --confirm-within=10m"),
    ("confirm",),
    ("list cell", "--timeout=30s"),
    ("pending",),
)


def test_nothing_is_written_anywhere_else(rack) -> None:
    """After changes, snapshots, kept plans, a recipe's run and a change that would take itself back, each file of exacell's
    folders lies in a place that files names, and sizes are those of the files."""
    (rack.home / "recipes").mkdir()
    (rack.home / "recipes" / "keeping.exa").write_text('recipe "Keeping"\nkeep @db:/etc/os-release as=release\n')
    for words in LIFE:
        done = rack.say(*words)
        assert done.code == 0, (words, done.err)
    rows = {row["path"]: row["bytes"] for row in rack.json("files")}
    named = [found for path in rows for found in Path(path).parent.glob(Path(path).name)]
    written = [file for file in rack.home.rglob("*") if file.is_file()]
    assert len(written) > 10
    assert [file for file in written if not any(file == one or one in file.parents for one in named)] == []
    assert rows[str(rack.home / "journal.*")] == sum(file.stat().st_size for file in rack.home.glob("journal.*"))
    assert rows[str(rack.home / "runs")] == (next((rack.home / "runs").rglob("os-release"))).stat().st_size * 2
    assert rows[str(rack.home / "aliases")] == (rack.home / "aliases").stat().st_size


def test_the_page_on_removing_names_the_folders(program) -> None:
    """docs/install.md has the folders of configuration, state and cache, the locks of real racks and the drafts, which files
    names, too."""
    text = (ROOT / "docs" / "install.md").read_text()
    drafts = ("`.exacell.PID.THREAD`", "`.exacell-*`", "`exacell-ssh-*`", "`exacell-*.scl`", "`exacell-*.txt`")
    for place in (
        "~/.config/exacell",
        "~/.local/state/exacell",
        "~/.cache/exacell",
        "/var/tmp/exacell-",
        "`files`",
        *drafts,
    ):
        assert place in text
    (program.home / "racks.d").mkdir(parents=True, exist_ok=True)
    (program.home / "racks.d" / "real.toml").write_text('cells = "exa7cel[01-02]"\n')
    assert "exacell-exa7cel01.lock" in {Path(row["path"]).name for row in program("-o", "json", "files").records}
