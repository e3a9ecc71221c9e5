"""The same job typed at the prompt of the real program in a pty."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pexpect

PROMPT = "exacell> "
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07|\r")


class Typist:
    """Types statements and reads what the program shows until the prompt is back."""

    def __init__(self, program: Any) -> None:
        env = {**program.env, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.child = pexpect.spawn(
            sys.executable, ["-m", "exacell"], env=env, encoding="utf-8", timeout=60, dimensions=(50, 200)
        )
        self.child.expect_exact(PROMPT)

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


def test_the_main_job_runs_at_the_prompt(t1):
    """It should give the same results, statement by statement, as the command line does."""
    prompt = Typist(t1)
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
    assert "drop diskgroup DATA_SSD" in prompt.type("release griddisk prefix=ssddisk -y").replace("\n", " ")
    prompt.type("drop diskgroup DATA_SSD -y")
    prompt.type("release griddisk prefix=ssddisk regrow=yes -y")
    assert {r["size"] for r in prompt.records("show flashcache")} == {391647330304}
    assert {r["size"] for r in prompt.records("@reset_cold size=288g -y")} == {309237645312}
    shown = prompt.type("list flashcach")
    assert "did you mean flashcache?" in shown and "^^^^^^^^^" in shown
    prompt.leave()


def test_a_question_is_asked_at_the_prompt_and_no_means_no(t1):
    """It should show the plan, ask, and send nothing when the answer is no."""
    prompt = Typist(t1)
    prompt.type("connect t1")
    prompt.child.sendline("flush flashcache")
    prompt.child.expect(r"\[y/N\]")
    shown = prompt.type("n")
    assert "nothing was sent" in shown
    prompt.type("set format json")
    assert {r["status"] for r in prompt.records("show flashcache")} == {"normal"}
    prompt.leave()


def test_typing_goes_on_while_a_cell_hangs(t1):
    """It should give the prompt back while a read waits for a hanging cell, and show the answer above it when it comes."""
    t1.ok("emulator", "fault", "t1", "exa1cel02", "hang")
    prompt = Typist(t1)
    prompt.type("connect t1")
    shown = prompt.type("list flashlog --timeout=8s")
    assert "still waiting for an answer" in shown
    prompt.child.send("show sett")
    prompt.child.expect("exa1cel02: no end within 8s")
    prompt.child.expect(re.escape(PROMPT))
    shown = prompt.type("ings")
    assert "timeout" in shown
    prompt.leave()


def test_ctrl_c_gives_up_a_read_that_waits_behind_the_prompt(t1):
    """It should end the wait at once on Ctrl-C, and leave the shell ready for the next statement."""
    t1.ok("emulator", "fault", "t1", "exa1cel02", "hang")
    prompt = Typist(t1)
    prompt.type("connect t1")
    assert "still waiting" in prompt.type("list flashlog")
    prompt.child.sendintr()
    prompt.child.expect("gave up waiting for: list flashlog")
    prompt.child.expect(re.escape(PROMPT))
    assert "exa1cel01" in prompt.type("on exa1cel01 list cell")
    prompt.leave()
