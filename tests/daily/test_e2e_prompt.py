"""The same job typed at the prompt of the real program in a pty."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pexpect

from tests.support.patience import until
from tests.support.program import plain

PROMPT = "exacell> "
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07|\r")


class Typist:
    """Types statements and reads what the program shows until the prompt is back."""

    def __init__(self, program: Any, *, patience: str = "60s") -> None:
        env = {**program.env, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.child = pexpect.spawn(
            sys.executable, ["-m", "exacell"], env=env, encoding="utf-8", timeout=300, dimensions=(50, 200)
        )
        self.child.expect_exact(PROMPT)
        # A busy machine may take longer than the prompt usually waits for an answer.
        self.type(f"set patience {patience}")

    def type(self, statement: str) -> str:
        """Return what was shown between the statement and the next prompt, without escapes."""
        self.child.sendline(statement)
        self.child.expect_exact("\n")
        self.child.expect(re.escape(PROMPT))
        return _ESCAPE.sub("", self.child.before)

    def records(self, statement: str) -> list[dict[str, Any]]:
        """Return the JSON array in what was shown."""
        shown = self.type(statement)
        start, end = shown.index("["), shown.rindex("]")
        decoder = json.JSONDecoder()
        for place in (m.start() for m in re.finditer(r"\[\s*[{\]]", shown[start : end + 1])):
            try:
                return decoder.raw_decode(shown[start + place :])[0]
            except ValueError:
                continue
        raise AssertionError(f"no JSON in {shown!r}")

    def leave(self) -> None:
        """End the program with Ctrl-D."""
        self.child.sendeof()
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus == 0


def test_the_main_job_runs_at_the_prompt(fast):
    """It should give the same results, statement by statement, as the command line does."""
    prompt = Typist(fast)
    prompt.type("connect t1")
    prompt.type("set format json")
    assert {r["size"] for r in prompt.records("list flashcache attributes name,size,status")} == {391647330304}
    prompt.type("flush flashcache -y")
    assert {(r["caching"], r["dirty"]) for r in prompt.records("show flashcache")} == {("on", 0)}
    prompt.type("resize flashcache size=288g -y")
    prompt.type("carve griddisk prefix=ssddisk -y")
    prompt.type("create diskgroup DATA_SSD prefix=ssddisk redundancy=normal au_size=4m -y")
    (group,) = prompt.records("show diskgroup DATA_SSD")
    assert (group["state"], group["disks"], group["totalMb"]) == ("MOUNTED", 48, 235776)
    prompt.type("snap flashlog as=before")
    prompt.type("emulator load t1 db=SPOT redo=2000 for=60")
    prompt.type("snap flashlog as=after")
    rack = prompt.records("delta before after")[-1]
    assert rack["cell"] is None and rack["diskFirst"] + rack["flashFirst"] == 240000
    prompt.type("disable flashlog db=SPOT -y")
    assert "drop diskgroup DATA_SSD" in " ".join(prompt.type("release griddisk prefix=ssddisk -y").split())
    prompt.type("drop diskgroup DATA_SSD -y")
    prompt.type("release griddisk prefix=ssddisk regrow=yes -y")
    assert {r["size"] for r in prompt.records("show flashcache")} == {391647330304}
    assert {r["size"] for r in prompt.records("@reset_cold size=288g -y")} == {309237645312}
    shown = prompt.type("list flashcach")
    assert "did you mean flashcache?" in shown and "^^^^^^^^^" in shown
    prompt.leave()


def test_a_question_is_asked_at_the_prompt_and_no_means_no(outside):
    """It should show the plan, ask, and send nothing when the answer is no."""
    prompt = Typist(outside)
    prompt.type("connect t1")
    prompt.child.sendline("flush flashcache")
    prompt.child.expect(r"\[y/N/d\]")
    shown = prompt.type("n")
    assert "nothing was sent" in shown
    prompt.type("set format json")
    assert {r["status"] for r in prompt.records("show flashcache")} == {"normal"}
    prompt.leave()


def test_a_plan_and_its_question_stand_on_one_screen(outside):
    """At 80 by 24 a plan, from the statement to its question, is one screen; d shows the statements and asks again."""
    with outside.at_terminal("-r", "t1", rows=24, columns=80) as terminal:
        terminal.ready().child.send("resize flashcache size=288g\r")
        terminal.child.expect_exact("proceed? [y/N/d]")
        lines = plain(terminal.child.before).splitlines()
        plan = lines[next(n for n, line in enumerate(lines) if line.startswith("Plan on t1:")) :]
        assert len(plan) < 22 and max(map(len, plan)) <= 80
        assert "  1 flush · 2 drop · 3 create flashcache  364.75G → 288G  on exa1cel[01-03]" in plan
        assert not any("CANCEL FLUSH" in line for line in plan)
        terminal.child.send("d\r")
        terminal.child.expect_exact("proceed? [y/N/d]")
        whole = plain(terminal.child.before)
        for part in ("CREATE FLASHCACHE ALL size=288G", "CANCEL FLUSH", "Note: exa1cel[01-03]: 288G = 16 flash disks"):
            assert part in whole
        assert "nothing was sent" in terminal.enter("n")


def test_typing_goes_on_while_a_cell_hangs(outside, fault):
    """It should give the prompt back while a read waits for a hanging cell, and show the answer above it when it comes."""
    fault("exa1cel02", "hang")
    prompt = Typist(outside, patience="2s")
    prompt.type("connect t1")
    shown = prompt.type("list flashlog --timeout=8s")
    assert "still waiting for an answer" in shown
    prompt.child.send("show sett")
    prompt.child.expect("exa1cel02: no end within 8s")
    prompt.child.expect(re.escape(PROMPT))
    shown = prompt.type("ings")
    assert "timeout" in shown
    prompt.leave()


def test_ctrl_c_gives_up_a_read_that_waits_behind_the_prompt(outside, fault):
    """It should end the wait at once on Ctrl-C, name the statement for the cells that answer, and take the next statement."""
    fault("exa1cel02", "hang")
    prompt = Typist(outside, patience="2s")
    prompt.type("connect t1")
    assert "still waiting" in prompt.type("list flashlog")
    prompt.child.sendintr()
    prompt.child.expect("no longer waiting for: list flashlog")
    prompt.child.expect_exact("`on exa1cel[01,03]")
    prompt.child.expect(re.escape(PROMPT))
    assert "exa1cel01" in prompt.type("on exa1cel01 list cell")
    prompt.leave()


def test_a_slow_read_is_shown_whole_once_the_last_cell_has_ended(outside, fault):
    """It should name the slow cell, give the prompt back, and show the whole answer when the slow cell's time is over."""
    fault("exa1cel02", "hang")
    prompt = Typist(outside, patience="8s")
    prompt.type("connect t1")
    prompt.child.sendline("list flashlog --timeout=16s")
    prompt.child.expect("waiting for exa1cel02: 2 of 3 answered")
    prompt.child.expect(re.escape(PROMPT))
    shown = _ESCAPE.sub("", prompt.child.before)
    assert "still waiting for an answer from exa1cel02" in shown and "FLASHLOG" not in shown
    prompt.child.expect("exa1cel02: no end within 16s")
    late = _ESCAPE.sub("", prompt.child.before)
    assert re.search(r"exa1cel\[01,03\] +\{cell\}_FLASHLOG", late)
    prompt.leave()


def test_typing_brings_the_prompt_back_from_a_slow_read(outside, fault):
    """It should show the prompt with what is typed at once, while the read goes on behind it."""
    fault("exa1cel02", "hang")
    prompt = Typist(outside)
    prompt.type("connect t1")
    prompt.child.sendline("list flashlog")
    prompt.child.expect("waiting for exa1cel02")
    prompt.child.send("show sett")
    prompt.child.expect("still waiting for an answer from exa1cel02")
    prompt.child.expect("show")
    prompt.child.expect("sett")
    prompt.child.sendintr()
    prompt.child.expect("no longer waiting")
    prompt.leave()


def test_cells_are_chosen_by_what_holds_for_them(outside, fault):
    """It should judge a condition on cells by a fresh reading, for one statement and for use, and take short names."""
    prompt = Typist(outside)
    prompt.type("connect t1")
    assert "exa1cel[01-03]" in prompt.type("on (where flashCacheMode=writeback) list flashlog")
    assert "is not true on any of exa1cel[01-03]" in prompt.type("on (where flashCacheMode=writethrough) list cell")
    assert "using 1 of 3 cells: exa1cel02" in prompt.type("use where name like '.*02'")
    assert "using 2 of 3 cells: exa1cel[02-03]" in prompt.type("use +cel03")
    fault("exa1cel03", "hang")
    assert "exa1cel03: no end within 6s" in prompt.type("list flashlog --timeout=6s")
    assert "using 1 of 3 cells: exa1cel02" in prompt.type("use not @failed")
    prompt.leave()


def test_names_are_learned_behind_the_prompt(outside):
    """It should read the rack's names in the background and offer them, with metric descriptions from the cells."""
    prompt = Typist(outside)
    prompt.type("connect t1")
    names = outside.home / "names" / "t1.json"
    assert until(lambda: names.exists() and '"metric"' in names.read_text())
    prompt.child.send("list griddisk DATA_CD_07")
    prompt.child.expect("DATA_CD_07_exa1cel02")
    prompt.child.expect("griddisk, seen")
    prompt.child.send("\x03")
    prompt.child.expect(re.escape(PROMPT))
    prompt.child.send("list metriccurrent FL_DISK_F")
    prompt.child.expect("redo writes that disk finished first")
    prompt.child.send("\x03")
    prompt.child.expect(re.escape(PROMPT))
    assert "are forgotten" in prompt.type("refresh")
    prompt.leave()


LOOK = """\
recipe "Look"
list cell attributes name, status
prompt "the cells stand above"
list flashcache attributes name, size
confirm "go on?"
matrix n in 1,2
  list cell attributes status
end
prompt "the end"
"""


def test_what_a_recipe_shows_keeps_its_order(outside, tmp_path):
    """A line's table stands before the next line's text and before its question; only what a matrix chose waits for the end, as
    one table."""
    (tmp_path / "look.exa").write_text(LOOK)
    prompt = Typist(outside)
    prompt.type("connect t1")
    prompt.child.sendline(f"run {tmp_path}/look.exa")
    prompt.child.expect_exact("[y/N]", timeout=60)
    before = plain(prompt.child.before).partition("[1/")[2]
    after = plain(prompt.type("y"))
    told = ["online", "the cells stand above", "_FLASHCACHE", "confirm"]
    assert [before.index(one) for one in told] == sorted(before.index(one) for one in told), before
    assert after.index("n=1") < after.index("n=2") < after.index("the end") < after.index("online")
    assert [(before + after).count(one) for one in (*told[1:3], "the end")] == [1, 1, 1], "each comes once"
    prompt.leave()
