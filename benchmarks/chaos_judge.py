"""Judges what a round of benchmarks/chaos.py has left behind."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from typing import TYPE_CHECKING

from matrix_audit import second_failure_groups, unannounced
from matrix_run import State, differences

from exacell.change.lockholder import read_holder
from exacell.change.pending import pending

if TYPE_CHECKING:
    from chaos import Round
    from chaos_rack import ChaosRack


class Judge:
    """Asks whether a round has ended as it has to."""

    def __init__(self, rack: ChaosRack, turn: Round) -> None:
        self.rack, self.turn = rack, turn

    def problems(self) -> list[str]:
        """Return what is wrong, nothing when the round was survived."""
        found = self.rack.state()
        return [
            *self._state(found),
            *self._caches(found),
            *self._books(),
            *self._audit(),
            *self._told(),
            *self._left(),
        ]

    def _state(self, found: State) -> list[str]:
        turn, choice = self.turn, self.turn.choice
        self._second_operator(found)
        ends = {"as it was": self._plain(turn.before), "as intended": self._plain(choice.intended)}
        now = self._plain(found)
        for name, end in ends.items():
            if now == end:
                choice.ended = name
                return []
        refused = any("refused" in line or "nothing was sent" in line for line in turn.story)
        if self._expelled(found):
            choice.ended, self.rack.expelled = "ASM dropped disks for good", True
            told = any("ASM dropped" in line or "ASM has dropped" in line for line in turn.story)
            return [] if told else ["ASM dropped disks for good, and nobody was told"]
        if choice.raw or choice.again or not choice.undo:
            mixed = all(now[host] in (ends["as it was"][host], ends["as intended"][host]) for host in now)
            if mixed and (refused or choice.again or choice.raw):
                choice.ended = "in part" + (", refused" if refused else "")
                return []
        why = {name: differences(end, now) for name, end in ends.items()}
        return [f"the rack is neither {' nor '.join(f'{name} ({text})' for name, text in why.items())}"]

    def _second_operator(self, found: State) -> None:
        """Take the comments that the second operator may have made for what was there."""
        for host in self.rack.info.cells:
            comment = found[host]["settings"].get("comment")
            if comment in self.rack.comments:
                for end in (self.turn.before, self.turn.choice.intended):
                    end[host]["settings"]["comment"] = comment

    def _plain(self, state: State) -> State:
        """Return the state without what a restart of CELLSRV legitimately changes, and what is the next change's."""
        plain = deepcopy(state)
        for host, values in plain.items():
            if host != "ASM":
                del values["caching"], values["pmem caching"]
        return plain

    def _expelled(self, found: State) -> bool:
        before = self.turn.before["ASM"]
        return any(
            set(group["disks"]) - set(found["ASM"][name]["disks"])
            for name, group in before.items()
            if name in found["ASM"] and name in self.turn.choice.intended["ASM"]
        )

    def _caches(self, found: State) -> list[str]:
        problems = []
        if lost := self.rack.lost():
            problems.append(f"{lost} dirty bytes were dropped")
        goal = self.turn.choice.intended
        for host in self.rack.info.cells:
            for key, cache in (("caching", "flash cache"), ("pmem caching", "pmem")):
                meant = goal[host][key] or self.turn.before[host][key]
                there = found[host][cache] if cache == "flash cache" else found[host][cache][1]
                if there and meant and not found[host][key] and goal[host][key]:
                    problems.append(f"{key} is off on {host}")
        return problems

    def _books(self) -> list[str]:
        problems = []
        for who, journal in (("operator", self.rack.journal), ("second operator", self.rack.other_journal)):
            if journal.path.exists() and (wrong := journal.verify()):
                problems.append(f"the {who}'s journal: {wrong}")
        lock = self.rack.folder / "t1.lock"
        text = lock.read_text() if lock.exists() else ""
        held = json.loads(text) if text.strip() else {}
        running = read_holder(held.get("running"))
        if held.get("kept") or (running is not None and running.lives):
            problems.append(f"the lock is held: {text}")
        shown = self.rack.wait(self.rack.start("journal show"))
        if shown.code:
            problems.append(f"journal show: {shown.code} {shown.text}")
        ones = [path / "journal.db" for path in self.rack.folder.glob("one.made-*")]
        problems += [f"a journal was begun where none belongs: {path}" for path in ones if path.exists()]
        crashes = [str(path) for home in (self.rack.home, self.rack.second) for path in home.glob("crash-*")]
        return [*problems, *(f"a mistake in exacell: {path}" for path in crashes), *self._truth()]

    def _truth(self) -> list[str]:
        """Return the changes that have no end in the journal, and the intents of ended changes without an outcome."""
        open_rows = self.rack.journal.unfinished("t1")
        rows = self.rack.rows_since(self.turn.journal_from)
        done = {row.change for row in rows if row.kind == "end" and "abandoned" not in (row.body.get("done") or ())}
        missing: Counter[tuple[int, str]] = Counter()
        for row in rows:
            if row.change in done and row.kind in ("intent", "outcome"):
                missing[row.change, row.target] += 1 if row.kind == "intent" else 0
                if row.kind == "outcome" and missing[row.change, row.target]:
                    missing[row.change, row.target] -= 1
        return [
            *(f"change {row.change} has no end in the journal" for row in open_rows),
            *(f"change {n} has ended, and {t} has an intent without an outcome" for (n, t), k in missing.items() if k),
        ]

    def _left(self) -> list[str]:
        """Return what nobody needs any more and is there all the same."""
        rack = self.rack
        return [
            *(f"a process is left: {text}" for text in rack.left_processes()),
            *(f"a connection is left: {text}" for text in rack.open_connections()),
            *(f"a file is left: {text}" for text in rack.odd_files()),
        ]

    def _told(self) -> list[str]:
        told = [item.sentence for item in pending(self.rack.journal, "t1")]
        if self.turn.choice.raw and not self.turn.choice.undo:
            told = [line for line in told if "caching off" not in line]
        return [f"still told: {line}" for line in told]

    def _audit(self) -> list[str]:
        """Return changing statements that no intent precedes, or more of them than intents, and second failure groups."""
        journals = [j for j in (self.rack.journal, self.rack.other_journal) if j.path.exists()]
        intents = [entry for journal in journals for entry in journal.entries() if entry.kind == "intent"]
        rows = self.rack.audit(self.turn.audit_from)
        by_itself = any(word in blow for blow in self.turn.blows for word in ("reboot", "cellsrv", "ms-down"))
        slack = 7300.0 if self.rack.skewed else 0.0
        return [*unannounced(rows, intents, slack=slack), *([] if by_itself else second_failure_groups(rows))]
