"""Open a session for the command line or the prompt, and choose its rack."""

from __future__ import annotations

import os
from collections.abc import Mapping

from exacell.core.config import load
from exacell.core.paths import Home
from exacell.core.racks import NoRackError, way_to_a_rack
from exacell.language.options import CommandLine
from exacell.output.console import Console
from exacell.session.services import Services
from exacell.session.state import Options, Session


def options_of(line: CommandLine) -> Options:
    """Return the session options that a command line contains."""
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


def open_session(
    options: Options, console: Console, *, env: Mapping[str, str] | None = None
) -> tuple[Session, Services]:
    """Return a session for the options, and its services; chooses a rack only if one is asked for.

    Raises:
        ExacellError: the configuration is wrong, or the rack asked for does not exist.
    """
    variables = os.environ if env is None else env
    home = Home.from_env(variables)
    session = Session(home=home, config=load(home, variables), options=options, env=variables)
    services = Services(session, console)
    if options.rack or options.cells or options.group_file or variables.get("EXACELL_RACK"):
        session.choose_rack()
    return session, services


def find_rack_quietly(session: Session, services: Services) -> None:
    """Choose the default rack if there is one; without one the prompt shows how to get a rack."""
    try:
        session.need_rack()
    except NoRackError:
        services.console.say(f"no rack yet: {way_to_a_rack(session.config.racks)}")
