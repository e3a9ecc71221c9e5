"""The programs that switch an emulated host off, restart it, or control its services.

shutdown, reboot, poweroff, halt, init and systemctl act on the emulated host: it goes down a moment later with all its
processes and connections; after a reboot it comes up when the boot time has passed on the rack's clock. A host that is down
has the fault power-off (:mod:`exacell.emulator.state.fault_book`): the fault stays if the rack's process ends, and clearing
it switches the host on. A cell that comes up has started its services: counters are reset, no flush is in force, and data in
memory is lost.

Source: shutdown(8), reboot(8), halt(8), init(8), systemctl(1); Oracle DBMMN, "service celld". The duration of a boot is made
up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from exacell.emulator.basics.program import Out, Program
from exacell.emulator.cellcli.program import cellcli
from exacell.emulator.state.fault_book import Kind, make_fault
from exacell.emulator.state.view import RackView

PROGRAMS = ("shutdown", "reboot", "poweroff", "halt", "init", "telinit", "systemctl", "service")
BOOT_S = 300.0
"""Rack seconds that a host takes to boot."""
GRACE_S = 5.0
"""Rack seconds between the command and the end of the host, so that the caller gets an answer."""
_OFF, _BOOT, _CANCEL, _NOTHING = "off", "boot", "cancel", "nothing"
_SHUTDOWN = {"-h": _OFF, "-P": _OFF, "-H": _OFF, "--poweroff": _OFF, "--halt": _OFF, "-r": _BOOT, "--reboot": _BOOT}
_SHUTDOWN |= {"-c": _CANCEL, "-k": _NOTHING, "--no-wall": "", "-f": "", "-F": "", "-t": ""}
_REBOOT = {"-p": _OFF, "--poweroff": _OFF, "--halt": _OFF, "--reboot": _BOOT, "-w": _NOTHING, "--wtmp-only": _NOTHING}
_REBOOT |= dict.fromkeys(("-f", "--force", "-n", "-d", "--no-wtmp", "--no-wall", "--no-sync", "-i", "-ff"), "")
_SYSTEMCTL = {"poweroff": _OFF, "halt": _OFF, "reboot": _BOOT, "kexec": _BOOT}
_VERBS = ("start", "stop", "restart", "status", "is-active")


@dataclass(frozen=True)
class Wish:
    """What a command does to the host.

    Attributes:
        action: off, boot, cancel or nothing.
        delay: rack seconds until then.
    """

    action: str
    delay: float = GRACE_S


def power(rack: RackView, host: str, login: str, name: str, argv: Sequence[str]) -> Program:
    """Run the program ``name``; its exit status is 0 if it will do what was asked."""
    words = [word for word in argv if not word.startswith("-")]
    if name == "service":
        return (yield from _service(rack, host, login, words))
    if name == "systemctl" and (not words or words[0] not in _SYSTEMCTL):
        return (yield from _unit(rack, host, login, words))
    now = rack.clock.now()
    try:
        wish = _wish(name, argv, datetime.fromtimestamp(now, UTC))
    except ValueError as error:
        yield Out(f"{name}: {error}\n", err=True)
        return 1
    if login != "root":
        yield Out(f"{name}: only root may do this\n", err=True)
        return 1
    if wish.action == _CANCEL:
        for fault in rack.faults:
            if fault.host == host and fault.kind is Kind.POWER_OFF and not fault.applied:
                rack.faults.remove(fault)
    if wish.action not in (_OFF, _BOOT):
        return 0
    options: dict[str, object] = {"after": wish.delay}
    if wish.action == _BOOT:
        options["for"] = BOOT_S
    rack.faults.put(make_fault(host, Kind.POWER_OFF, options, is_cell=host in rack.cells, now=now))
    rack.faults.on_change()
    if wish.delay > GRACE_S:
        moment = datetime.fromtimestamp(now + wish.delay, UTC).strftime("%a %Y-%m-%d %H:%M:%S UTC")
        what = "Reboot" if wish.action == _BOOT else "Shutdown"
        yield Out(f"{what} scheduled for {moment}, use 'shutdown -c' to cancel.\n", err=True)
    return 0


def _wish(name: str, argv: Sequence[str], now: datetime) -> Wish:
    """Parse a command line and return what it does to the host.

    Raises:
        ValueError: the command line is wrong; the text is the reason.
    """
    words = [word for word in argv if not word.startswith("-")]
    options = [word for word in argv if word.startswith("-")]
    if name == "systemctl":
        return Wish(_SYSTEMCTL[words[0]])
    if name in ("init", "telinit"):
        if not words or words[0] not in tuple("0123456sSqQuUaAbBcC"):
            raise ValueError("a run level is needed: 0 to 6, s or q")
        return Wish({"0": _OFF, "6": _BOOT}.get(words[0], _NOTHING))
    known = _SHUTDOWN if name == "shutdown" else _REBOOT
    action = _BOOT if name == "reboot" else _OFF
    for option in _single(options) if name == "shutdown" else options:
        if option not in known:
            raise ValueError(f"unrecognized option '{option}'")
        action = known[option] or action
    if name != "shutdown":
        return Wish(action)
    return Wish(action, max(GRACE_S, _delay(words[0] if words else "+1", now)))


def _single(options: Sequence[str]) -> list[str]:
    """Return options with combined short options split into single ones."""
    return [
        one
        for option in options
        for one in ([option] if option.startswith("--") else [f"-{letter}" for letter in option[1:]])
    ]


def _delay(text: str, now: datetime) -> float:
    """Return the rack seconds until a time in shutdown's form: now, +minutes or hh:mm."""
    if text == "now":
        return 0.0
    if re.fullmatch(r"\+?\d{1,6}", text):
        return int(text) * 60.0
    if (found := re.fullmatch(r"(\d{1,2}):(\d\d)", text)) and int(found[1]) < 24 and int(found[2]) < 60:
        moment = now.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
        return ((moment if moment > now else moment + timedelta(days=1)) - now).total_seconds()
    raise ValueError(f"Failed to parse time specification: {text}")


def _service(rack: RackView, host: str, login: str, words: Sequence[str]) -> Program:
    """Run ``service NAME VERB``."""
    name, verb = (*words, "", "")[:2]
    if name != "celld" or host not in rack.cells:
        yield Out(f"{name}: unrecognized service\n", err=True)
        return 1
    if verb not in _VERBS[:4]:
        yield Out("Usage: celld {start|stop|restart|status}\n", err=True)
        return 2
    return (yield from _celld(rack, host, login, verb))


def _unit(rack: RackView, host: str, login: str, words: Sequence[str]) -> Program:
    """Run ``systemctl VERB UNIT``."""
    verb, unit = (*words, "", "")[:2]
    if verb not in _VERBS or not unit:
        known = ", ".join((*_VERBS, *_SYSTEMCTL))
        yield Out(f"systemctl: {verb or 'that'} is not possible here, only {known}\n", err=True)
        return 1
    name = unit.removesuffix(".service")
    known_here = name == "celld" and host in rack.cells
    if verb == "is-active":
        up = known_here and rack.cells[host].cellsrv_up
        yield Out("active\n" if up else "inactive\n")
        return 0 if up else 3
    if not known_here:
        problem = "could not be found." if verb == "status" else "not found."
        start = "" if verb == "status" else f"Failed to {verb} {name}.service: "
        yield Out(f"{start}Unit {name}.service {problem}\n", err=True)
        return 4 if verb == "status" else 5
    return (yield from _celld(rack, host, login, verb))


def _celld(rack: RackView, host: str, login: str, verb: str) -> Program:
    """Show, start or stop a cell's services."""
    if verb == "status":
        statement = "list cell attributes rsStatus,msStatus,cellsrvStatus detail"
    elif login != "root":
        yield Out("celld: only root may do this\n", err=True)
        return 4
    else:
        statement = f"alter cell {_VERB[verb]} services all"
    return (yield from cellcli(rack, host, login, ("-e", statement), tty=False, has_stdin=False))


_VERB = {"start": "startup", "stop": "shutdown", "restart": "restart"}
