"""Declarations of the commands that :mod:`exacell.commands.keeping` carries out."""

from __future__ import annotations

from exacell.commands.declared.recipes import GROUP
from exacell.language.registry import Command, Effect, Kind, Param
from exacell.language.shellwords import ACCEPT

COMMANDS = (
    Command(
        name="keep",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="in a recipe: keep files of hosts, or a statement's answer, with the run; results lists them",
        details="keep @db:/tmp/x.json as=x, keep list metriccurrent as=counters, keep on @db sh --detach fio "
        "job.fio as=fio. The statement must be one that reads, or sh; for sh each host's output is a file of its "
        "own, whatever its exit status. Kept files lie beside the journal in a folder that only you can enter; the "
        "journal has size and SHA-256. An answer is JSON unless its -o names another format. Put a command with | "
        "or ; in quotes. resume does not fetch again what arrived whole; what arrived in part leaves nothing.",
        example="keep list flashcache detail as=before",
        params=(
            Param(name="as", kind=Kind.NAME, required=True, help="its name within the run"),
            Param(
                name="what",
                kind=Kind.STATEMENT,
                positional=True,
                required=True,
                rest=True,
                help="[HOSTS:]/path there, a statement that reads, or sh",
            ),
        ),
        flags=(ACCEPT,),
        hosts=True,
        handler="exacell.commands.keeping:keep",
    ),
)
