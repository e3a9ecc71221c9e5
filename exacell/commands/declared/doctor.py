"""Declarations of the commands that :mod:`exacell.commands.doctor` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind

COMMANDS = (
    Command(
        name="doctor",
        group="racks",
        effect=Effect.READ,
        summary="check this machine and each login on cells, hosts and ASM: what is wrong, and what to type",
        details="Here: versions, folders and their permissions, keys, the agent, open files, locale, terminal, and whether the "
        "rack's lock can be taken. For each host: what exacell reads from ssh_config beside what `ssh -G` says, and its clock. "
        "For each cell: both logins, for reads and for writes (the second one logs in and runs nothing). For each database "
        "node: its login, and whether ASM answers there. Nothing is changed. `on exa1cel02 doctor` checks one cell. Exit code "
        "1 if something can't be done, 0 otherwise. --bundle packs the checks, the configuration, the journal's last changes "
        "and crash files for a bug report. Passwords are masked; names and addresses of hosts, the user's name and the home "
        "are replaced. Look into it before you send it.",
        example="doctor",
        flags=(
            Flag(
                name="bundle",
                value=Kind.FILE,
                optional=True,
                help="write them to this new file (exacell-bundle-DATE.tar.gz without a name)",
            ),
        ),
        hosts=True,
        handler="exacell.commands.doctor:doctor",
    ),
    Command(
        name="files",
        group="racks",
        effect=Effect.READ,
        asks=False,
        summary="every place on this machine that exacell writes into, with its size",
        details="-o json also has what is lost without it. Files that you name yourself (spool, > FILE, report to=, copy "
        "from) are not among them, but their drafts in this folder are. On cells nothing is written; on other hosts, "
        "sh --detach keeps its output in /tmp/exacell-* until it is fetched.",
        example="files",
        recipe_ok=False,
        handler="exacell.commands.doctor:files",
    ),
)
