"""How a surface gets its context, and its context a rack."""

from __future__ import annotations

import os
from collections.abc import Mapping

from exacell.core.config import load
from exacell.core.paths import Home
from exacell.core.racks import NoRackError, way_to_a_rack
from exacell.language.options import CommandLine
from exacell.output.console import Console
from exacell.session.context import Context, Options


def options_of(line: CommandLine) -> Options:
    """Return the context's options that a command line asks for."""
    return Options(
        rack=line.value("rack"),
        cells=line.value("cells"),
        group_file=line.value("group-file"),
        login=line.value("login"),
        monitor="monitor" in line.switches,
        format=line.value("format").lower(),
        ssh_config=line.value("ssh-config"),
        quiet="quiet" in line.switches,
    )


def open_context(options: Options, console: Console, *, env: Mapping[str, str] | None = None) -> Context:
    """Return a context for the options; a rack that was asked for is chosen, else one is found on first need.

    Raises:
        ExacellError: the configuration is wrong, or the rack asked for does not exist.
    """
    variables = os.environ if env is None else env
    home = Home.from_env(variables)
    context = Context(home=home, config=load(home, variables), console=console, options=options, env=variables)
    if options.rack or options.cells or options.group_file or variables.get("EXACELL_RACK"):
        context.session.choose_rack()
    return context


def find_rack_quietly(context: Context) -> None:
    """Choose the default rack when there is one; the prompt opens without a rack otherwise."""
    try:
        context.need_rack()
    except NoRackError:
        context.console.say(f"no rack yet: {way_to_a_rack(context.config.racks)}")
