"""The guards that ``mutate_guards.py`` breaks, and the tests that have to notice.

``guard_breaking.py`` says what is done to them, ``guard_equivalents.py`` what nobody can notice.
"""

from __future__ import annotations

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
"""In place of functions: of such a file only calls of guards are left out."""
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
