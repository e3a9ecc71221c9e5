"""The breakages of the guards: which functions are broken, what is done to their conditions, and what nobody can notice.

Each ``if`` is negated, made always true and made always false; each ``and``/``or`` loses a side; ``<`` becomes ``<=``; each
tuple of checks loses one; each ``needs=``, ``only_if=`` and ``proves=`` is emptied. In all functions of the files a call of what
refuses, checks or asks is left out. ``mutate_guards.py`` tries them.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

APPROVED = ("tests/plan/test_plan_approved.py", "tests/plan/test_plan_pmem.py")
FLASHCACHE = (
    "tests/plan/test_plan_flashcache.py",
    "tests/engine/test_engine_flash.py",
    "tests/engine/test_engine_flash_lost.py",
    *APPROVED,
)
GRIDDISK = ("tests/plan/test_plan_griddisk.py", "tests/plan/test_plan_flashcache.py")
GUARD = (
    "tests/plan/test_plan_guard.py",
    "tests/plan/test_plan_doubts.py",
    "tests/plan/test_plan_approved_raw.py",
    "tests/plan/test_plan_asmgone.py",
    "tests/plan/test_plan_media.py",
    "tests/plan/test_plan_nearby.py",
    *(
        f"tests/plan/test_plan_guard_{noun}.py"
        for noun in (
            "caches",
            "pmem",
            "disks",
            "luns",
            "create",
            "resize",
            "cell",
            "stopped",
            "iorm",
            "names",
            "releases",
        )
    ),
)
ROLLING = ("tests/plan/test_plan_rolling.py",)
ENGINE = (
    "tests/engine/test_engine_flash.py",
    "tests/engine/test_engine_flash_lost.py",
    "tests/engine/test_engine_policy.py",
    "tests/engine/test_engine_rolling.py",
    "tests/engine/test_engine_undo.py",
    "tests/engine/test_engine_waves.py",
    "tests/engine/test_engine_following.py",
    "tests/engine/test_engine_standing_still.py",
    "tests/engine/test_engine_leaving.py",
    "tests/engine/test_engine_guardian.py",
    "tests/engine/test_engine_outcomes.py",
    "tests/engine/test_engine_resuming.py",
    "tests/change/test_change_overtaken.py",
    "tests/faults/test_fault_moment.py",
    "tests/faults/test_fault_leaving.py",
)
RESUMING = (
    "tests/engine/test_engine_undo.py",
    "tests/engine/test_engine_undoing.py",
    "tests/engine/test_engine_resuming.py",
    "tests/faults/test_fault_resuming.py",
    "tests/faults/test_fault_not_twice.py",
    "tests/faults/test_fault_ways_out.py",
    "tests/faults/test_fault_late.py",
    "tests/engine/test_engine_settling.py",
)
DISKGROUP = ("tests/plan/test_plan_diskgroup.py", "tests/engine/test_engine_policy.py")
ONLY_CALLS = ("only calls",)
"""Stands for the functions of a file of which only the calls of guards are left out."""
TARGETS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "plan/guards/choice.py": ((), GUARD),
    "plan/guards/caches.py": ((), GUARD),
    "plan/guards/cell.py": ((), GUARD),
    "plan/guards/devices.py": ((), GUARD),
    "plan/guards/griddisks.py": ((), GUARD),
    "plan/guards/steps.py": (
        (
            "simple",
            "lossy",
            "only_words",
            "settings_proof",
        ),
        GUARD,
    ),
    "plan/guards/targets.py": (
        (),
        (
            *GUARD,
            "tests/plan/test_plan_already.py",
        ),
    ),
    "plan/asmspace.py": (
        (
            "read_sizes",
            "sizes_over",
            "_holding",
            "headers_over",
            "_is_expelled",
            "ways_out",
            "_members",
            "_stale",
        ),
        (
            "tests/plan/test_plan_guard_resize.py",
            "tests/plan/test_plan_asmgone.py",
        ),
    ),
    "plan/guards/create.py": ((), GUARD),
    "plan/guards/in_use.py": ((), GUARD),
    "core/meant.py": ((), ("tests/plan/test_plan_nearby.py", "tests/core/test_core_meant.py")),
    "plan/gate.py": (("in_use", "closed", "_other", "_own"), ROLLING),
    "plan/rolling.py": (("why_not", "roll", "_refuse_together", "_refuse_idle", "in_turns", "laps"), ROLLING),
    "journal/state.py": ((), ("tests/journal/test_journal_state.py", "tests/journal/test_journal_resets.py")),
    "plan/planners/availability.py": ((), ("tests/plan/test_plan_availability.py", *APPROVED, *ROLLING)),
    "plan/planners/cachemode.py": ((), ("tests/plan/test_plan_availability.py", *APPROVED)),
    "plan/planners/pmem.py": ((), ("tests/plan/test_plan_availability.py", *APPROVED)),
    "plan/planners/memorycache.py": ((), APPROVED),
    "plan/guards/already.py": ((), ("tests/plan/test_plan_already.py",)),
    "plan/guards/unchanged.py": ((), ("tests/plan/test_plan_unchanged.py",)),
    "plan/planners/rebalance.py": (("power_plan",), ("tests/plan/test_plan_rebalance.py",)),
    "plan/planners/griddisk_size.py": (
        ("resize_griddisk_plan", "_refuse_no_room", "_group", "_refuse_full", "_asm_stage", "_cell_step"),
        ("tests/plan/test_plan_griddisk_size.py",),
    ),
    "plan/planners/flashcache.py": (
        (
            "flush_refusal",
            "drop_step",
            "create_step",
            "_rearm",
            "_refuse_room",
            "_refuse_size",
            "applicable",
            "recreate_stages",
        ),
        FLASHCACHE,
    ),
    "plan/planners/griddisk.py": (
        ("refuse_used", "_drop", "_inactive"),
        GRIDDISK,
    ),
    "plan/planners/carve.py": (
        ("_refuse_names", "_refuse_room", "_refuse_others", "_done", "media_of", "_awake"),
        GRIDDISK,
    ),
    "plan/implausible.py": (
        (),
        (
            "tests/plan/test_plan_doubts.py",
            "tests/plan/test_plan_guard_answers.py",
        ),
    ),
    "plan/facts.py": (
        ("use", "healthy", "caching", "writeback", "pmem_writeback"),
        (
            *GRIDDISK,
            "tests/plan/test_plan_guard_answers.py",
            "tests/plan/test_plan_guard_caches.py",
            "tests/plan/test_plan_guard_pmem.py",
        ),
    ),
    "plan/planners/diskgroup.py": (
        (
            "_refuse_strangers",
            "_checked_files",
            "_existing",
            "drop_plan",
            "dismount_plan",
            "_refuse_clients",
            "_create",
            "_drop",
        ),
        (*DISKGROUP, "tests/plan/test_plan_asm_attribute.py"),
    ),
    "plan/asmchange.py": (
        ("outlines_in", "_create", "_alter", "_attribute", "_chosen", "end", "name"),
        ("tests/plan/test_plan_asmchange.py",),
    ),
    **{
        f"plan/planners/{name}.py": ((), ("tests/plan/test_plan_asm_disks.py",))
        for name in ("asm_disks", "asm_members")
    },
    "plan/planners/asm_attribute.py": ((), ("tests/plan/test_plan_asm_attribute.py",)),
    "plan/planners/clock.py": (
        (),
        ("tests/plan/test_plan_clock.py", "tests/plan/test_plan_asm_disks.py", "tests/engine/test_engine_clocks.py"),
    ),
    "change/clocks.py": (
        (),
        (
            "tests/engine/test_engine_clocks.py",
            "tests/dcli/test_dcli_upon.py",
            "tests/change/test_change_clocks.py",
        ),
    ),
    "plan/planners/diskgroup_disks.py": (
        (),
        (
            *DISKGROUP,
            "tests/plan/test_plan_diskgroup_fit.py",
        ),
    ),
    "session/saved.py": (("moved", "refuse_other_plan"), ("tests/change/test_change_saved_and_drift.py",)),
    "change/changing.py": (
        (
            "refuse_plan",
            "wide_moment",
            "carry_out",
            "_made_again",
            "refuse_read_only",
        ),
        (
            "tests/change/test_change_carrying.py",
            "tests/test_vault.py",
            "tests/engine",
            "tests/plan",
            "tests/faults/test_fault_kept_plans.py",
            "tests/faults/test_fault_not_twice.py",
        ),
    ),
    "journal/confirming.py": (
        (
            "guarded",
            "overdue",
            "deadlines",
            "_after",
            "open_deadlines",
            "_missing",
            "over",
            "confirm",
            "note_reverting",
            "note_reverted",
            "refuse_ungathered",
            "refuse_unrevertible",
        ),
        ("tests/change/test_change_confirming.py",),
    ),
    "change/door.py": (
        ("door_of", "refuse_unread", "journal_accepted", "_body", "journal_refusal"),
        (
            "tests/opaque/test_opaque_carriers.py",
            "tests/change/test_doors.py",
            "tests/dcli/test_dcli_judge.py",
            "tests/e2e/dcli/test_dcli_guarded.py",
        ),
    ),
    "change/dcli/verdict.py": (
        (
            "single_change",
            "stale_by_then",
            "judge",
            "_plans",
        ),
        (
            "tests/opaque/test_opaque_carriers.py",
            "tests/dcli/test_dcli_upon.py",
            "tests/dcli/test_dcli_judge.py",
            "tests/e2e/dcli/test_dcli_guarded.py",
        ),
    ),
    **{
        f"opaque/{name}.py": ((), ("tests/opaque",)) for name in ("findings", "lexing", "shell", "table", "scan", "sql")
    },
    **{
        f"opaque/{name}.py": ((), ("tests/opaque/test_opaque_sql.py", "tests/opaque/test_opaque_sql_grammar.py"))
        for name in ("sqlquery", "sqltokens")
    },
    "commands/host.py": (
        ("judged", "pass_here", "_refuse_changes"),
        ("tests/recipes/test_recipes_host.py", "tests/opaque"),
    ),
    "care/sqltext.py": (("refuse_losses", "_matches"), ("tests/care/test_care_asmlosses.py",)),
    "change/dcli/sequence.py": ((), ("tests/dcli/test_dcli_judge.py", "tests/e2e/dcli/test_dcli_guarded.py")),
    "change/dcli/leaving.py": ((), ("tests/faults/test_fault_leaving.py", "tests/dcli/test_dcli_upon.py")),
    "change/dcli/work.py": (("_refusal",), ("tests/faults/test_fault_leaving.py",)),
    "plan/watch.py": (("feed", "_why_failed"), ("tests/plan/test_plan_watch.py",)),
    "change/engine.py": (
        ("run", "_carry_out", "_observe_caching", "_admit", "_stages", "_stage", "_lap", "_pass", "_held"),
        ENGINE,
    ),
    "change/running.py": (
        (
            "entering",
            "unsure",
            "_broken_off",
            "_elsewhere",
            "_finished",
            "finishes",
            "told_late",
        ),
        ENGINE,
    ),
    "change/targets/base.py": (("meaning", "upon_look"), ENGINE),
    "change/targets/cells.py": (("_judge",), ENGINE),
    "change/targets/sql.py": (("_judge",), ENGINE),
    "change/following.py": (("flushes", "proofs"), ENGINE),
    "change/gatekeeper.py": (
        ("wait", "linger", "_look"),
        ("tests/engine/test_engine_rolling.py", "tests/engine/test_engine_following.py"),
    ),
    "change/waves.py": ((), ("tests/change/test_change_waves.py", "tests/e2e/test_e2e_recipe_waves.py")),
    "journal/chain.py": ((), ("tests/journal",)),
    "journal/record.py": (
        (
            *("_refuse_damage", "_refuse_another", "_refuse_gone", "_refuse_edited", "_next_change", "examine"),
            *("runs", "own", "sent_since"),
        ),
        ("tests/journal", "tests/change/test_change_pending.py", "tests/change/test_change_stopped.py"),
    ),
    "journal/left.py": (
        (),
        (
            "tests/journal",
            "tests/change/test_change_offline.py",
            "tests/change/test_change_stopped.py",
            "tests/change/test_change_lookingback.py",
            "tests/change/test_change_pending.py",
            "tests/change/test_change_stilloff.py",
        ),
    ),
    "change/undoing.py": (("_refuse_impossible", "_refuse_moved", "_statements"), RESUMING),
    "change/earlier.py": (("done_on", "refuse_running", "_to_undo"), RESUMING),
    "change/settling.py": (("_look", "settle", "_look_longer"), RESUMING),
    "change/resuming.py": (("unfinished", "retry", "_open_targets"), RESUMING),
    "change/consent.py": ((), ("tests/plan/test_plan_consent.py",)),
    "change/racklock.py": (
        (
            "shown",
            "take",
            "tell",
            "_refuse",
            "left_by_others",
            "leave",
            "_yields",
            "still_mine",
            "give_back",
            "_release",
            "_descriptor",
            "_read",
            "_write",
            "lock_of",
            "_short",
            "_emulated",
        ),
        ("tests/change/test_change_racklock.py", "tests/change/test_change_leftbehind.py"),
    ),
    "change/lockholder.py": (
        ("person", "is_process", "read_holder"),
        ("tests/change/test_change_racklock.py", "tests/change/test_change_leftbehind.py"),
    ),
    "core/sharedfile.py": (
        (
            "open_file",
            "make_file",
            "read_text",
            "write_over",
            "_refuse_odd",
            "_refuse_replaceable",
        ),
        ("tests/core/test_core_sharedfile.py", "tests/change/test_change_racklock.py"),
    ),
    "change/guardian.py": (
        (
            "watch",
            "refuse_overtaken",
            "_belongs",
        ),
        (
            "tests/change/test_change_confirming.py",
            "tests/engine/test_engine_guardian.py",
            "tests/change/test_change_overtaken.py",
        ),
    ),
    "change/pending.py": (
        ("pending", "newest_stopped", "_left_open", "half_undone"),
        ("tests/change/test_change_pending.py", "tests/change/test_change_stopped.py"),
    ),
    "change/leftovers.py": (
        (),
        ("tests/change/test_change_lookingback.py", "tests/faults/test_fault_other_hands.py"),
    ),
    "journal/actor.py": (("alive",), ("tests/journal", "tests/change/test_change_racklock.py")),
    "journal/file.py": (("explains", "whole_head", "kept_head", "refuse_cut", "damage", "pieces"), ("tests/journal",)),
    "journal/schema.py": (("strange",), ("tests/journal",)),
    "journal/reading.py": (("_entry", "gone_on_with", "is_over"), ("tests/journal",)),
    "session/state.py": (
        ("set_mode", "owner", "closed", "in_production", "changes_nothing", "refuse_closed", "no_programs"),
        ("tests/change/test_change_production.py", "tests/cli"),
    ),
    "session/logins.py": ((), ("tests/change/test_change_privilege.py", "tests/dcli/test_dcli_refused.py")),
    "commands/opaque.py": (
        ("_accepted", "sql_asm", "sql_db", "_change", "sh", "_work"),
        ("tests/dcli", "tests/care", "tests/e2e/care", "tests/e2e/test_e2e_keeping.py", "tests/e2e/test_e2e_hosts.py"),
    ),
    "language/shellwords.py": (
        (),
        (
            "tests/opaque/test_opaque_carriers.py",
            "tests/opaque/test_opaque_door.py",
            "tests/language/test_language_line.py",
            "tests/language/test_language_shellwords.py",
        ),
    ),
    "transport/capabilities.py": (
        (),
        (
            "tests/transport/test_transport_readonly.py",
            "tests/e2e/programs/test_transport_exacli.py",
            "tests/transport/test_transport_ssh.py",
        ),
    ),
    "transport/rack_transport.py": (
        ("read_only_cellcli", "falls_back", "_check", "_gated", "_asking"),
        ("tests/transport/test_transport_readonly.py", "tests/change/test_change_production.py"),
    ),
    **{
        f"transport/{name}.py": (functions, ("tests/transport/test_transport_readonly.py", *more))
        for name, (functions, more) in {
            "ssh/__init__": (ONLY_CALLS, ()),
            "openssh": (ONLY_CALLS, ("tests/transport/test_transport_once.py",)),
            "clush": (ONLY_CALLS, ()),
            "dcli": (("_refuse_shell_words",), ("tests/e2e/programs/test_transport_dcli.py",)),
            "exacli": (
                ("_refuse_change", "without_services", "_bare"),
                ("tests/e2e/programs/test_transport_exacli.py",),
            ),
            "ssh/packets": (ONLY_CALLS, ("tests/transport/test_transport_reader.py",)),
        }.items()
    },
    "core/belonging.py": (("owner_of", "comparable"), ("tests/core/test_core_belonging.py",)),
    "session/recognition.py": ((), ("tests/change/test_change_production.py",)),
    "opaque/here.py": ((), ("tests/change/test_doors.py",)),
    "change/here.py": ((), ("tests/change/test_doors.py", "tests/change/test_change_production.py")),
    "change/dcli/run.py": (("_findings", "_refuse_restricted"), ("tests/dcli",)),
    "change/dcli/hosts.py": (("_child",), ("tests/dcli",)),
    "change/passthrough.py": (ONLY_CALLS, ("tests/dcli", "tests/cellcli")),
    "language/shorthand.py": (("_refuse_short_change",), ("tests/language",)),
    "language/options.py": (("_take",), ("tests/cli/test_cli_options.py",)),
    "language/line.py": (("_read_on_after", "_on_in_front", "_named"), ("tests/language",)),
    "recipes/values.py": (
        (
            *(
                "with_places",
                "_first",
                "_command",
                "_in_shell",
                "_refuse_inside",
                "_put_in",
                "_in_sql",
                "_query_of",
                "_value",
            ),
            *("_in_list", "_quoted", "_for_shell", "_refuse_unprintable", "_marked"),
        ),
        ("tests/recipes",),
    ),
    "cellcli/iorm.py": (
        ("_check", "_check_plan", "over_allocated"),
        ("tests/cellcli", "tests/plan/test_plan_guard_iorm.py"),
    ),
    "change/recipeready.py": (ONLY_CALLS, ("tests/e2e/test_e2e_recipe_language.py", "tests/recipes")),
    "commands/care.py": (ONLY_CALLS, ("tests/care", "tests/e2e/care")),
    "transport/ssh/hostkeys.py": (("judge", "is_revoked_by"), ("tests/transport/test_transport_hostkeys.py",)),
}
"""File → the functions that are mutated (all when empty), and the tests that have to notice."""

_NOTED = "shown == self._noted or not any(shown) or (not (rack.production or self._others()))"

EQUIVALENT: dict[tuple[str, str], str] = {
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


_SWAPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
"""What stands for a comparison's operator: at a bound its neighbour, else its opposite."""


_GUARDS = ("refuse", "check", "agree", "ask")
"""How the names of functions begin that raise where something may not be done."""


def _without_call(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield nothing in place of a statement that is a call of a guard."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        name = getattr(called, "id", None) or getattr(called, "attr", "")
        if name.lstrip("_").startswith(_GUARDS):
            yield f"without {ast.unparse(node)[:90]}", ast.Pass()


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what may be done to ``node``: a phrase, and the node that stands there instead."""
    yield from _without_call(node)
    if isinstance(node, (ast.If, ast.IfExp)):
        test = ast.unparse(node.test)
        for phrase, new in (
            (f"not ({test})", ast.UnaryOp(op=ast.Not(), operand=node.test)),
            (f"True instead of {test}", ast.Constant(value=True)),
            (f"False instead of {test}", ast.Constant(value=False)),
        ):
            changed = copy.copy(node)
            changed.test = new
            yield phrase, changed
    elif isinstance(node, ast.BoolOp):
        for place, value in enumerate(node.values):
            rest = [v for n, v in enumerate(node.values) if n != place]
            yield (
                f"without {ast.unparse(value)} in {ast.unparse(node)}",
                rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest),
            )
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        swap = _SWAPS.get(type(node.ops[0]))
        if swap is not None:
            changed_compare = copy.copy(node)
            changed_compare.ops = [swap()]
            yield f"{ast.unparse(changed_compare)} instead of {ast.unparse(node)}", changed_compare
    else:
        yield from _other_changes(node)


def _other_changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            changed_filter = copy.copy(node)
            changed_filter.ifs = [one for number, one in enumerate(node.ifs) if number != place]
            yield f"without the filter {ast.unparse(test)}", changed_filter
            if not isinstance(test, ast.Compare) or type(test.ops[0]) not in _SWAPS:
                negated = copy.copy(node)
                negated.ifs = [ast.UnaryOp(op=ast.Not(), operand=one) if one is test else one for one in node.ifs]
                yield f"the filter not ({ast.unparse(test)})", negated
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.UnaryOp) and isinstance(node.value.op, ast.Not):
        yield f"return {ast.unparse(node.value.operand)}", ast.Return(value=node.value.operand)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("any", "all"):
        yield f"not {ast.unparse(node)[:90]}", ast.UnaryOp(op=ast.Not(), operand=node)
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
        if any(isinstance(item, ast.Call) and getattr(item.func, "id", "") == "Check" for item in node.elts):
            for place, item in enumerate(node.elts):
                rest_items = [v for n, v in enumerate(node.elts) if n != place]
                yield f"without {ast.unparse(item)[:90]}", ast.Tuple(elts=rest_items, ctx=ast.Load())
    elif isinstance(node, ast.keyword) and node.arg in ("needs", "always", "only_if", "proves"):
        empty = ast.Dict(keys=[], values=[]) if node.arg == "always" else ast.Tuple(elts=[], ctx=ast.Load())
        if ast.unparse(node.value) not in ("()", "{}", "needs"):
            yield (
                f"{node.arg}= is empty instead of {ast.unparse(node.value)[:80]}",
                ast.keyword(arg=node.arg, value=empty),
            )


@dataclass(frozen=True)
class Mutant:
    """One breakage.

    Attributes:
        file: below ``exacell/``.
        first: the first line of the function's code, its decorators included.
        line: of what is broken.
        lines: of the statement that it is in; a test that runs none of them can't notice.
        place: of the node in a walk of the function, and ``change`` which of its changes.
        was: a digest of the function as it stands: a result of another text is no result.
    """

    file: str
    function: str
    first: int
    line: int
    lines: range
    what: str
    place: int
    change: int
    was: str

    @property
    def key(self) -> tuple[str, str]:
        """What EQUIVALENT is asked for; stays the same when lines move."""
        return f"{self.file}:{self.function}", self.what

    @property
    def name(self) -> str:
        """What its result is kept under."""
        return f"{self.file}:{self.function}:{self.was}:{self.place}:{self.change}"

    def __str__(self) -> str:
        return f"exacell/{self.file}:{self.line} {self.function}: {self.what}"


def mutants(file: str, package: Path) -> Iterator[Mutant]:
    """Yield every breakage of one file of the package.

    Raises:
        LookupError: a function that shall be broken is not there any more.
    """
    wanted, _ = TARGETS[file]
    tree = ast.parse((package / file).read_text(encoding="utf-8"))
    every = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    gone = set(wanted) - {node.name for node in every} - set(ONLY_CALLS)
    if gone:
        raise LookupError(f"exacell/{file} has no function {', '.join(sorted(gone))}: mend TARGETS")
    seen: set[ast.AST] = set()
    whole = [function for function in every if not wanted or function.name in wanted]
    for function in (*whole, *(function for function in every if function not in whole)):
        if function in seen:
            continue
        kinds = changes if function in whole else _without_call
        spans = dict(_spans(function))
        was = hashlib.sha256(ast.unparse(function).encode()).hexdigest()[:12]
        for place, node in enumerate(ast.walk(function)):
            if node in seen or node not in spans:
                continue
            seen.add(node)
            placed = next((one for one in ast.walk(node) if hasattr(one, "lineno")), None)
            line = getattr(placed, "lineno", 0)
            for change, (what, _) in enumerate(kinds(node)):
                yield Mutant(file, function.name, _first(function), line, spans[node], what, place, change, was)


def _first(function: ast.FunctionDef) -> int:
    return min(function.lineno, *(item.lineno for item in function.decorator_list), function.lineno)


def _spans(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, range]]:
    """Yield every node of a function's body with the lines of its statement; of a compound one those of its head."""

    def below(node: ast.AST, span: range) -> Iterator[tuple[ast.AST, range]]:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if isinstance(body, list) and body else node.end_lineno
            span = range(node.lineno, (last or node.lineno) + 1)
        yield node, span
        for child in ast.iter_child_nodes(node):
            yield from below(child, span)

    for statement in function.body:
        yield from below(statement, range(0))


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the new node for the old one, every other as it is."""
        return self.new if node is self.old else self.generic_visit(node)


def broken(mutant: Mutant, package: Path) -> CodeType:
    """Return the code of the mutant's function with the breakage in it."""
    path = package / mutant.file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    function = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (node.name, _first(node)) == (mutant.function, mutant.first)
    )
    old = list(ast.walk(function))[mutant.place]
    new = list(changes(old))[mutant.change][1]
    fresh = ast.fix_missing_locations(_Replace(old, ast.copy_location(copy.deepcopy(new), old)).visit(tree))
    return code_in(compile(fresh, str(path), "exec"), mutant)


def code_in(code: CodeType, mutant: Mutant) -> CodeType:
    """Return the code of the mutant's function in the code of its module."""
    waiting = [code]
    while waiting:
        item = waiting.pop()
        if is_code_of(item, mutant):
            return item
        waiting += [const for const in item.co_consts if isinstance(const, CodeType)]
    raise LookupError(f"no code of {mutant}")


def is_code_of(code: CodeType, mutant: Mutant) -> bool:
    """Return whether this is the code of the mutant's function, in whichever file."""
    return (code.co_name, code.co_firstlineno) == (mutant.function, mutant.first)
