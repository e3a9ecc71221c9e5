"""The program ``srvctl`` of an emulated database node, for disk groups (and the status of ASM and databases).

Source: reference asm.md section 9. The codes PRC* and CRS-* stand for what real messages say; only their kind is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.emulator.asm import Asm
from exacell.emulator.asm_changes import dismount_group, mount_group
from exacell.emulator.asm_model import DiskGroup
from exacell.emulator.ora_messages import OraError
from exacell.emulator.program import Out, Program

_USAGE = "Usage: srvctl {status|start|stop|remove|config} diskgroup -diskgroup <name> [-node <nodes>] [-force]\n"
_OPTIONS = {
    "-g": "diskgroup",
    "-diskgroup": "diskgroup",
    "-n": "node",
    "-node": "node",
    "-d": "db",
    "-db": "db",
    "-f": "force",
    "-force": "force",
    "-a": "detail",
    "-detail": "detail",
    "-v": "verbose",
    "-verbose": "verbose",
}
_FLAGS = frozenset({"force", "detail", "verbose"})


def srvctl(asm: Asm, argv: Sequence[str]) -> Program:
    """Return the running program."""
    asm.rack.advance()
    asm.settle()
    text, status = _run(asm, argv)
    yield Out(text)
    return status


def _run(asm: Asm, argv: Sequence[str]) -> tuple[str, int]:
    if list(argv[:1]) in (["-version"], ["-V"]):
        return f"srvctl version: {'.'.join(str(part) for part in asm.version)}\n", 0
    if len(argv) < 2:
        return _USAGE, 1
    verb, noun = argv[0].lower(), argv[1].lower()
    options = _options(argv[2:])
    if isinstance(options, str):
        return f"PRKO-2002 : Invalid command line option: {options}\n", 1
    if noun in ("asm", "database", "db") and verb == "status":
        return _status_of_instances(asm, noun, options)
    if noun not in ("diskgroup", "dg") or verb not in ("status", "start", "stop", "remove", "config"):
        return f"PRKO-2000 : Invalid command line: {' '.join(argv[:2])}\n{_USAGE}", 1
    name = options.get("diskgroup", "").upper()
    if not name:
        return f"PRKO-2003 : the option -diskgroup is missing\n{_USAGE}", 1
    if name not in asm.resources:
        return (
            f"PRCA-1000 : ASM Disk Group {name} does not exist\nPRCR-1001 : Resource ora.{name}.dg does not exist\n",
            1,
        )
    nodes = _nodes(asm, options.get("node"))
    if isinstance(nodes, str):
        return f"PRKO-2006 : Invalid node name: {nodes}\n", 1
    group = asm.groups.get(name)
    if verb == "config":
        return f"Disk Group {name} is enabled\n", 0
    if verb == "remove":
        return _remove(asm, name, group, "force" in options)
    if verb == "status":
        return _status(asm, name, group, nodes)
    return _start_or_stop(asm, name, nodes, start=verb == "start", force="force" in options)


def _options(words: Sequence[str]) -> Mapping[str, str] | str:
    """Return the options by their long names; the first wrong word when there is one."""
    found: dict[str, str] = {}
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name = _OPTIONS.get(word.lower())
        if name is None or (name not in _FLAGS and not queue):
            return word
        found[name] = "" if name in _FLAGS else queue.pop(0)
    return found


def _nodes(asm: Asm, names: str | None) -> list[int] | str:
    """Return the indexes of the named nodes, of all when none is named; the first name that is no node."""
    if names is None:
        return list(range(len(asm.nodes)))
    chosen: list[int] = []
    for name in names.split(","):
        if name not in asm.nodes:
            return name
        chosen.append(asm.nodes.index(name))
    return chosen


def _status(asm: Asm, name: str, group: DiskGroup | None, nodes: Sequence[int]) -> tuple[str, int]:
    running = [asm.nodes[node] for node in nodes if group is not None and node in group.mounted]
    if running:
        return f"Disk Group {name} is running on {','.join(running)}\n", 0
    return f"Disk Group {name} is not running\n", 0


def _start_or_stop(asm: Asm, name: str, nodes: Sequence[int], *, start: bool, force: bool) -> tuple[str, int]:
    """Mount or dismount on every node; what is already so is left, every failure is told."""
    text = ""
    word = "start" if start else "stop"
    code = "PRCR-1079 : Failed to start" if start else "PRCR-1065 : Failed to stop"
    changed = 0
    for node in nodes:
        group = asm.groups.get(name)
        if group is not None and (node in group.mounted) == start:
            continue
        try:
            if start:
                mount_group(asm, node, name)
            else:
                dismount_group(asm, node, name, force=force)
            changed += 1
        except OraError as error:
            stack = "".join(f"{line}\n" for line in error.stack)
            text += f'{code} resource ora.{name}.dg\nCRS-5017: The resource action "ora.{name}.dg {word}" encountered '
            text += f"the following error on {asm.nodes[node]}:\n{stack}"
    if not changed and not text:
        state = "already running" if start else "already stopped"
        text = f"PRCC-{1014 if start else 1016} : {name} was {state}\n"
    return text, 1 if text else 0


def _remove(asm: Asm, name: str, group: DiskGroup | None, force: bool) -> tuple[str, int]:
    if group is not None and group.mounted and not force:
        return f"PRCR-1028 : Failed to remove resource ora.{name}.dg: it is running, -force is needed\n", 1
    asm.resources.discard(name)
    return "", 0


def _status_of_instances(asm: Asm, noun: str, options: Mapping[str, str]) -> tuple[str, int]:
    if noun == "asm":
        return f"ASM is running on {','.join(asm.nodes)}\n", 0
    name = options.get("db", "").upper()
    if name not in asm.databases:
        return f"PRCD-1120 : The resource for database {name} could not be found.\n", 1
    lines = [f"Instance {name}{number} is running on node {node}\n" for number, node in enumerate(asm.nodes, 1)]
    return "".join(lines), 0
