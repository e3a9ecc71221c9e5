"""The breakages of guards that nobody can notice, or need not, each with the reason."""

from __future__ import annotations

_NOTED = "shown == self._noted or not any(shown) or (not (rack.production or self._others()))"

EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "core/meant.py:closest",
        "False instead of not begins and _most(typed, key) < alike",
    ): "it only saves time: what is not alike enough is left out below",
    (
        "plan/planners/asm_disks.py:_dropped",
        "without disk.state != 'DROPPING' in disk not in going and disk.state != 'DROPPING'",
    ): "a failure group with a disk that ASM is dropping counts as away, and another beside it is refused before",
    (
        "plan/planners/asm_disks.py:offline",
        "without seconds is not None in seconds is not None and seconds < needed_for('')",
    ): "the reader of the statement takes no DROP AFTER that is no time; type checkers need the first side",
    (
        "plan/planners/asm_attribute.py:_short",
        "without 0.0 in seconds_of(value) or 0.0",
    ): "what is short is a time; type checkers need the other side",
    (
        "plan/planners/asm_attribute.py:_is_short",
        "True instead of name in TIMES",
    ): "no value that another attribute may have reads as a time of less than three hours",
    (
        "plan/planners/clock.py:clock_of",
        "without found[0] in unread or found[0]",
    ): "where none is unread the shortest was returned; type checkers need the other side",
    (
        "plan/guards/unchanged.py:doubt",
        "without isinstance(statement, Change) in isinstance(statement, Change) and statement.verb in ('ALTER', 'DROP')",
    ): "GRANT and REVOKE are no verbs of a Change; type checkers need the first side",
    **{
        (
            f"session/recognition.py:{name}",
            f"without rack is not None in {whole}",
        ): "hosts are those of a rack; type checkers need it"
        for name, whole in (
            ("_take", "rack is not None and rack.production and (rack.name == owner.rack)"),
            ("_emulated", "rack is not None and rack.emulated and rack.ssh_config"),
            ("_others", "rack is not None and rack.production"),
            ("_others", "rack is not None and any((one.production and one.name != own for one in racks))"),
        )
    },
    (
        "change/here.py:pass_pager",
        "True instead of held(session, request)",
    ): "the way out is told where the door refuses alone",
    **{
        (
            "change/here.py:pass_loads",
            broken,
        ): "what is accepted passes where -m and production are not, and so does nothing at all"
        for broken in (
            "True instead of unread and (door.monitor or door.production)",
            "without unread in unread and (door.monitor or door.production)",
            "without door.monitor or door.production in unread and (door.monitor or door.production)",
        )
    },
    **{
        ("session/recognition.py:why_not", broken): "a transport asks, and among no known hosts none is found"
        for broken in (
            "False instead of transport is None or not self._known",
            "without transport is None in transport is None or not self._known",
            "without not self._known in transport is None or not self._known",
        )
    },
    **{
        (
            "session/recognition.py:note",
            broken,
        ): "what was shown before is kept and judged alike once more, and without others nobody is"
        for broken in (
            f"False instead of {_NOTED}",
            f"without shown == self._noted in {_NOTED}",
            f"without not any(shown) in {_NOTED}",
            f"without not (rack.production or self._others()) in {_NOTED}",
        )
    },
    (
        "session/recognition.py:note",
        "True instead of self._known",
    ): "among no known hosts none is found",
    (
        "session/recognition.py:note",
        "without rack is None in transport is None or rack is None",
    ): "there is no transport without a rack; type checkers need the other side",
    (
        "session/recognition.py:_remember",
        "without host not in targets in host not in targets and (rack.name, host) not in kept",
    ): "one that stands there twice is judged twice, alike",
    (
        "session/recognition.py:_remember",
        "without anew in anew or replace(before, addresses=frozenset()) != now",
    ): "nothing is known before then, and who was reached has shown something",
    (
        "session/recognition.py:_ask",
        "without the filter cell not in fleet.ids",
    ): "greet asks a cell that has told its release only when it was reconnected to, and its id is the same then",
    (
        "session/recognition.py:_ask",
        "True instead of cells",
    ): "greet asks nobody where there is nobody",
    (
        "session/recognition.py:_identity",
        "without told in told and shown.keys & self._emulated()",
    ): "where the cell told none there is no id either way",
    (
        "session/recognition.py:_remember",
        "True instead of found",
    ): "nothing is kept then, only the store is opened",
    (
        "session/recognition.py:_emulated",
        "without self._files in self._files or KnownHostsCache()",
    ): "a new cache reads the same files again",
    (
        "plan/planners/clock.py:held_against_clocks",
        "False instead of not warnings",
    ): "without warnings the plan that is made is equal to the one that was given",
    (
        "plan/guards/targets.py:refuse_one_name",
        "True instead of isinstance(name, Scalar)",
    ): "the grammar gives a name no other value; type checkers need it",
    (
        "recipes/values.py:with_places",
        "place >= first instead of place > first",
    ): "sh and host hold no value themselves",
    (
        "language/line.py:_on_in_front",
        "without error.start is None in error.start is None or error.hint",
    ): "an error of the grammar without a hint has a place; type checkers need the first side",
    (
        "language/shorthand.py:_refuse_short_change",
        "without line is None in line is None or line.effect not in (Effect.WRITE, Effect.OPAQUE)",
    ): "what was cut short is no comment once it is written out; type checkers need the first side",
    (
        "journal/reading.py:is_over",
        "entry.seq >= row.seq instead of entry.seq > row.seq",
    ): "the row itself is a plan's, which takes nothing back",
    (
        "change/guardian.py:refuse_overtaken",
        "row.change < number instead of row.change <= number",
    ): "the change itself is one of the changes, which are passed over anyway",
    (
        "change/guardian.py:refuse_overtaken",
        "row.undoes >= number instead of row.undoes > number",
    ): "what took the change itself back belongs to the changes, which are passed over anyway",
    (
        "change/guardian.py:watch",
        "due >= 0 instead of due > 0",
    ): "at the very moment of the deadline it looks once more, a hundredth of a second later",
    (
        "plan/guards/choice.py:_judged",
        "without isinstance(statement, Grant) in isinstance(statement, Grant) or statement.object in _HARMLESS",
    ): "GRANT and REVOKE are about ROLE and PRIVILEGE, which are harmless objects anyway; type checkers need the first side",
    (
        "plan/guards/choice.py:_judged",
        "without statement.object == 'LUN' in statement.object == 'LUN' and statement.action",
    ): "nothing else that comes so far has an action",
    (
        "plan/guards/choice.py:_judged",
        "without statement.action in statement.object == 'LUN' and statement.action",
    ): "REENABLE is all that there is of a LUN",
    (
        "plan/guards/devices.py:_lun",
        "without wanted.lun in wanted.lun and lun.name.lower() == wanted.lun.lower()",
    ): "no LUN is without a name",
    (
        "plan/guards/devices.py:_lun",
        "without wanted.drive in wanted.drive and wanted.drive.lower() in (drive.lower() for drive in lun.drives)",
    ): "no physical disk is without a name",
    (
        "plan/guards/devices.py:forced",
        "without lun is not None in lun is not None and statement.verb == 'CREATE'",
    ): "where CREATE names a LUN that is not there, all disks count; type checkers need the first side",
    (
        "plan/guards/caches.py:_made",
        "without said is None in said is None or not statement.all or (not fact.flash_disks)",
    ): "a size that is not said is read as empty text, which is no size either: the same proof",
    (
        "plan/guards/caches.py:_unproven_pmem",
        "without cache is not None in fact.pmem_writeback and cache is not None and (cache.status != FLUSHED)",
    ): "only a cell with a PMEM cache has one that is write-back; type checkers need the second side",
    (
        "plan/guards/unchanged.py:with_changes",
        "without not isinstance(statement, Change) in not isinstance(statement, Change) or statement.verb != 'ALTER'",
    ): "the verb of a GRANT is no ALTER; type checkers need the first side",
    (
        "plan/planners/griddisk_size.py:resize_griddisk_plan",
        "without asm is not None in asm is not None and group is not None and (todo or group.total_mb != _total(wanted, group))",
    ): "a group was found in an ASM that was asked; type checkers need the first side",
    (
        "plan/planners/pmem.py:leave_writeback_stages",
        "without the filter fact.pmem_cache",
    ): "only a cell with a PMEM cache has one that is write-back; type checkers need the filter",
    (
        "change/engine.py:_lap",
        "without rolling is not None in lap.wave and rolling is not None",
    ): "only a rolled plan has laps with a wave; type checkers need the second side",
    (
        "change/running.py:_elsewhere",
        "without self.plan.rolling is None in not self.wave or self.plan.rolling is None",
    ): "only a rolled plan has waves; type checkers need the second side",
    (
        "change/dcli/sequence.py:_touched",
        "without not isinstance(statement, Change) in not isinstance(statement, Change) or statement.verb == 'CREATE'",
    ): "GRANT and REVOKE are about ROLE and PRIVILEGE, never about disks; type checkers need the first side",
    (
        "core/sharedfile.py:write_over",
        "size >= LARGEST instead of size > LARGEST",
    ): "a file of just that size says the same when it was written over as when it was cut first",
    (
        "change/earlier.py:_to_undo",
        "without state.plan is not None in state.plan is not None and any(state.touched.values())",
    ): "only a change with a plan's row touches cells; type checkers need the first side",
    (
        "change/earlier.py:_to_undo",
        "without plan.root in changes in plan.root in changes and changes[plan.root].undone",
    ): "a change is gone on with on its own rack, and no row leaves the journal",
    (
        "change/pending.py:_left_open",
        "without row is None in row is None or not state.stopped",
    ): "what has an end has a plan's row; type checkers need the first side",
    (
        "journal/confirming.py:_missing",
        "without 0.0 in plan.confirm_within or 0.0",
    ): "only plans with such a time are looked at; type checkers need the second side",
    (
        "journal/record.py:runs",
        "journal.taken_over(row.rack) <= row.seq instead of journal.taken_over(row.rack) < row.seq",
    ): "the row of a takeover carries nothing out, so nobody asks whether it runs",
    (
        "change/pending.py:newest_stopped",
        "without newest.finishes in newest.finishes and journal.state(rack, newest.finishes).undone",
    ): "no change has the number 0; the first side spares a look at the journal",
    (
        "plan/guards/targets.py:takes_own_name",
        "without isinstance(statement, CellChange) in isinstance(statement, CellChange) and (statement.verb, "
        "statement.object) in _OWN_NAMES",
    ): "GRANT and REVOKE are none of these; type checkers need the first side",
    (
        "change/undoing.py:_statements",
        "True instead of target in cells",
    ): "what goes to a database node is none of CellCLI's, and stays as it is",
    (
        "transport/exacli.py:_refuse_change",
        "without () in statements_in(request.command) or ()",
    ): "what is no run of CellCLI was refused before; type checkers need the second side",
    (
        "opaque/scan.py:_suspect",
        "without isinstance(parsed, (Change, Grant)) in isinstance(parsed, (Change, Grant)) and candidate.lower() not in known",
    ): "a statement that begins with one of these verbs changes something; type checkers need the first side",
    ("change/engine.py:_stages", "True instead of steps"): "a stage without steps reads, sends and journals nothing",
    (
        "change/engine.py:_stage",
        "False instead of not ready",
    ): "a stage with nothing to send sends and journals nothing",
    (
        "change/engine.py:_stage",
        "True instead of ready",
    ): "whose lock was taken over stops at the next stage all the same",
    ("change/engine.py:_stage", "True instead of watching"): "no flush is followed where there is none",
    (
        "change/engine.py:_stage",
        "True instead of r.step in watching",
    ): "what was not followed has no end that would count",
    ("change/engine.py:_observe_caching", "True instead of cells"): "no cells are asked nothing",
    (
        "change/engine.py:_observe_caching",
        "without the filter step.cache == cache",
    ): "a cell that has no such cache says so, which ends no warning",
    (
        "journal/record.py:_refuse_edited",
        "without rows in behind and rows",
    ): "a row of that number is there: it is not the newest one",
    ("change/racklock.py:leave", "True instead of found != held.left"): "it writes what is there already",
    (
        "journal/confirming.py:confirm",
        "without item.change == change in change is None or item.change == change or item.group in groups",
    ): "the group of a change holds the change",
    (
        "journal/confirming.py:deadlines",
        "without item.in_run in item.in_run and item.group == group",
    ): "a change that waits alone is the first of no run",
    ("journal/confirming.py:confirm", "True instead of known"): "a hint's words",
    ("journal/confirming.py:confirm", "True instead of kept"): "a message's words",
    (
        "journal/confirming.py:_after",
        "without 'unknown' in entry.reason or 'unknown'",
    ): "whoever writes the row gives a reason",
}
"""(file and function, what was done) → why nobody can notice, or need not."""
