"""The ``ipmitool`` program of emulated hosts: the service processor's command line, as ``ipmitool sunoem cli`` reaches it.

Health checks ask it for faults, the rack's serial number and the temperature of the air. There is a small tree of
targets with properties to SHOW; the hardware is healthy, nothing can be set, and everything else is refused.

Source: Oracle ILOM, "CLI Command Reference"; Oracle DBMMN (``show /SYS/T_AMB``, ``show faulty``, ``show /SP
system_identifier``); published sessions. The answer to an unknown property and the versions of firmware are made up.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from exacell.emulator.basics.program import Out, Program
from exacell.emulator.programs.hardware import Hardware, hardware_of
from exacell.emulator.state.view import RackView

_NO_DEVICE = "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory\n"
_SHELL = "faultmgmtsp> "
_FAULTY = (
    "Target              | Property               | Value                           \n"
    "--------------------+------------------------+---------------------------------\n"
)
_PROBLEMS = (
    "Open Problems (0)\n"
    "Date/Time                 Subsystems          Component\n"
    "------------------------  ------------------  ------------\n"
)
_VERSION = (
    "SP firmware 4.0.4.52\nSP firmware build number: 132805\nSP firmware date: Thu Jan  9 15:32:05 CST 2020\n"
    "SP filesystem version: 0.2.10\n"
)
_THRESHOLDS = {
    "upper_nonrecov_threshold": 45,
    "upper_critical_threshold": 40,
    "upper_noncritical_threshold": 35,
    "lower_noncritical_threshold": 10,
    "lower_critical_threshold": 4,
    "lower_nonrecov_threshold": 0,
}
Tree = Mapping[str, Mapping[str, str]]


def ipmitool(rack: RackView, host: str, login: str, argv: Sequence[str]) -> Program:
    """Run ``ipmitool`` on a host.

    Returns:
        A program; its exit status is 1 for logins other than root, and for commands that are not emulated.
    """
    words = [word for word in argv if word not in ("-v", "-I", "open")]
    if words[:1] == ["-V"]:
        yield Out("ipmitool version 1.8.18\n")
        return 0
    if login != "root":
        yield Out(_NO_DEVICE, err=True)
        return 1
    tree = _tree(hardware_of(rack, host))
    if words[:2] == ["sunoem", "cli"]:
        yield Out("".join(_session(tree, [word for word in words[2:] if word != "force"])))
        return 0
    if words[:2] == ["sunoem", "version"]:
        yield Out(_VERSION)
        return 0
    if words[:1] == ["sel"] and words[1:2] in (["list"], ["elist"]):
        yield Out("SEL has no entries\n")
        return 0
    if words[:3] == ["chassis", "power", "status"]:
        yield Out("Chassis Power is on\n")
        return 0
    yield Out(f"Invalid command: {' '.join(words)}\n" if words else "No command provided!\n", err=True)
    return 1


def _session(tree: Tree, commands: Sequence[str]) -> Iterator[str]:
    """Yield the output of a session with the service processor."""
    yield "Connected. Use ^D to exit.\n"
    queue = list(commands)
    prompt = "-> "
    while queue:
        command = queue.pop(0)
        if re.fullmatch(r"\s*start\s+(-\w+\s+)*/SP/faultmgmt/shell\s*", command, re.IGNORECASE):
            answer = queue.pop(0) if queue and "-f" not in command and "-script" not in command else "y"
            yield f"{prompt}{command}\nAre you sure you want to start /SP/faultmgmt/shell (y/n)? {answer}\n"
            prompt = _SHELL if answer.strip().lower() == "y" else prompt
        elif prompt == _SHELL:
            yield f"{prompt}{command}\n{_manage_faults(command)}"
            prompt = "-> " if command.strip() in ("exit", "quit") else prompt
        else:
            yield f"{prompt}{command}\n{_answer(tree, command)}\n"
    yield "-> Session closed\nDisconnected\n"


def _manage_faults(command: str) -> str:
    if command.split()[:2] in (["fmadm", "faulty"], ["fmadm", "list-fault"]):
        return "No faults found\n"
    return "" if command.strip() in ("exit", "quit") else f"{command.split(' ')[0]}: command not found\n"


def _answer(tree: Tree, command: str) -> str:
    """Return the service processor's answer to a command."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    verb, rest = (words[0].lower(), words[1:]) if words else ("", [])
    if verb == "version":
        return _VERSION
    if verb not in ("show", "ls"):
        return f"{verb}: Invalid command\n" if verb else ""
    return _show(tree, rest)


def _show(tree: Tree, words: Sequence[str]) -> str:
    options, plain = _sorted(words)
    if plain and plain[0].lower() == "faulty":
        return _FAULTY
    path = plain[0] if plain and plain[0].startswith("/") else "/SP"
    names = [word for word in plain if word != path]
    known = next((target for target in tree if target.lower() == path.rstrip("/").lower()), None)
    if path.lower() in ("/system/open_problems", "/system/open_problems/"):
        return f"\n{_PROBLEMS}"
    if known is None:
        return f"show: Invalid target {path}\n"
    everywhere = options.get("-l", options.get("-level", "1")) != "1"
    below = [target for target in tree if target == known or (everywhere and target.startswith(f"{known}/"))]
    blocks = [block for target in below if (block := _block(tree, target, names, options))]
    return "".join(blocks) or "show: No matching properties found.\n"


def _sorted(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the options with their values, and the other words."""
    options: dict[str, str] = {}
    plain: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if word in ("-l", "-level", "-d", "-display", "-o", "-output") and queue:
            options[word] = queue.pop(0)
        elif word.startswith("-"):
            options[word] = ""
        else:
            plain.append(word)
    return options, plain


def _block(tree: Tree, target: str, names: Sequence[str], options: Mapping[str, str]) -> str:
    """Return the text that shows a target; empty if no property matches."""
    properties = dict(tree[target])
    for name in names:
        wanted, equals, value = name.partition("==")
        if not any(
            wanted.lower() == known.lower() and (not equals or value == tree[target][known]) for known in properties
        ):
            return ""
    if names:
        asked = {name.partition("==")[0].lower() for name in names}
        properties = {name: value for name, value in properties.items() if name.lower() in asked}
    only = options.get("-d", options.get("-display", ""))
    text = f"\n {target}\n"
    if not names and only in ("", "all", "targets"):
        children = [path.rpartition("/")[2] for path in tree if path.rpartition("/")[0] == target]
        text += "    Targets:\n" + "".join(f"        {child}\n" for child in children) + "\n"
    if only in ("", "all", "properties"):
        text += (
            "    Properties:\n" + "".join(f"        {name} = {value}\n" for name, value in properties.items()) + "\n"
        )
    if not names and only in ("", "all", "commands"):
        text += "    Commands:\n        cd\n        show\n"
    return text


def _tree(hardware: Hardware) -> Tree:
    """Return the targets with their properties."""
    parts = {"product_name": hardware.model, "product_serial_number": hardware.serial}
    system = {
        "health": "OK",
        "health_details": "-",
        "open_problems_count": "0",
        "type": "Rack Mount",
        "model": hardware.rack.rpartition(" ")[0],
        "serial_number": hardware.rack.rpartition(" ")[2],
        "rack_identifier": hardware.rack,
        "system_identifier": hardware.rack,
        "component_model": hardware.model,
        "component_serial_number": hardware.serial,
        "system_fw_version": "4.0.4.52",
        "locator_indicator": "Off",
        "power_state": "On",
    }
    return {
        "/SP": {"type": "SP", "hostname": f"{hardware.host}-ilom", "system_identifier": hardware.rack},
        "/SYS": {"type": "Host System", "ipmi_name": "/SYS", **parts, "fault_state": "OK", "power_state": "On"},
        "/SYS/MB": {"type": "Motherboard", "ipmi_name": "MB", "fault_state": "OK"},
        "/SYS/T_AMB": {
            "type": "Temperature",
            "ipmi_name": "T_AMB",
            "class": "Threshold Sensor",
            "value": f"{hardware.temperature:.3f} degree C",
            **{name: f"{value:.3f} degree C" for name, value in _THRESHOLDS.items()},
            "alarm_status": "cleared",
        },
        "/System": system,
        "/System/Cooling": {"health": "OK", "health_details": "-"},
        "/System/Open_Problems": {},
        "/System/Power": {"health": "OK", "health_details": "-"},
    }
