"""The program ``srvctl`` of an emulated database node, for disk groups (and the state of ASM and databases).

Source: reference asm.md section 9; Oracle Real Application Clusters Administration Guide, "SRVCTL Command Reference". The
codes PRC* and CRS-* stand for what real messages say; only their kind is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.emulator.asm.changes import dismount_group, mount_group
from exacell.emulator.asm.instance import Asm
from exacell.emulator.asm.model import DiskGroup
from exacell.emulator.names import DATABASE_HOME
from exacell.emulator.ora_messages import OraError
from exacell.emulator.program import Out, Program
from exacell.emulator.srvctl_network import network_text

_USAGE = (
    "Usage: srvctl {status|start|stop|remove|config} diskgroup -diskgroup <name> [-node <nodes>] [-force] [-detail]\n"
    "       srvctl {status|config} {asm|database} [-db <name>]\n"
    "       srvctl {status|config} {listener|scan|scan_listener|vip|ons|nodeapps|service|cvu}\n"
    "       srvctl status instance -db <name> {-instance <name>|-node <node>}\n"
)
_OPTIONS = {
    "-g": "diskgroup",
    "-diskgroup": "diskgroup",
    "-n": "node",
    "-node": "node",
    "-d": "db",
    "-db": "db",
    "-i": "instance",
    "-instance": "instance",
    "-f": "force",
    "-force": "force",
    "-a": "detail",
    "-detail": "detail",
    "-v": "verbose",
    "-verbose": "verbose",
    "-s": "service",
    "-service": "service",
    "-l": "listener",
    "-listener": "listener",
    "-netnum": "network",
    "-k": "network",
    "-all": "all",
}
_FLAGS = frozenset({"force", "detail", "verbose", "all"})


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
    if noun in ("asm", "database", "db", "instance") and (
        verb == "status" or (verb == "config" and noun != "instance")
    ):
        show = _status_of_instances if verb == "status" else _config_of_instances
        return show(asm, noun, options)
    nodes = _nodes(asm, options.get("node"))
    if not isinstance(nodes, str):
        told = network_text(asm, verb, noun, [asm.nodes[node] for node in nodes])
        if told is not None:
            return told, 0
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
    if isinstance(nodes, str):
        return f"PRKO-2006 : Invalid node name: {nodes}\n", 1
    group = asm.groups.get(name)
    if verb == "config":
        return f"Disk Group {name} is enabled\n", 0
    if verb == "remove":
        return _remove(asm, name, group, "force" in options)
    if verb == "status":
        text, status = _status(asm, name, group, nodes)
        return text + (f"Disk Group {name} is enabled\n" if "detail" in options else ""), status
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
        enabled = "ASM is enabled.\n" if "detail" in options else ""
        return f"ASM is running on {','.join(asm.nodes)}\n{enabled}", 0
    name = options.get("db", "").upper()
    if name not in asm.databases:
        return _no_database(name)
    instances = {f"{name}{number}": node for number, node in enumerate(asm.nodes, 1)}
    if noun == "instance":
        wanted = [word.upper() for word in options.get("instance", "").split(",") if word]
        on = [word for word in options.get("node", "").split(",") if word]
        wrong = next((word for word in wanted if word not in instances), None)
        if wrong is not None or not (wanted or on):
            return f"PRKO-2009 : Invalid instance name: {wrong or ''}\n", 1
        instances = {each: node for each, node in instances.items() if each in wanted or node in on}
    return "".join(f"Instance {each} is running on node {node}\n" for each, node in instances.items()), 0


def _config_of_instances(asm: Asm, noun: str, options: Mapping[str, str]) -> tuple[str, int]:
    data = asm.cluster.data
    if noun == "asm":
        return f"ASM home: <CRS home>\nPassword file: +{data}/orapwASM\nASM listener: LISTENER\n", 0
    name = options.get("db", "").upper()
    if not name:
        return "".join(f"{database}\n" for database in asm.databases), 0
    if name not in asm.databases:
        return _no_database(name)
    groups = [group.name for group in asm.groups.values() if any(file.database == name for file in group.files)]
    fields = {
        "Database unique name": name,
        "Database name": name,
        "Oracle home": DATABASE_HOME,
        "Oracle user": "oracle",
        "Spfile": f"+{data}/{name}/PARAMETERFILE/spfile{name.lower()}.ora",
        "Domain": "",
        "Start options": "open",
        "Stop options": "immediate",
        "Database role": "PRIMARY",
        "Management policy": "AUTOMATIC",
        "Server pools": "",
        "Disk Groups": ",".join(groups),
        "Services": "",
        "Type": "RAC",
        "Database instances": ",".join(f"{name}{number}" for number in range(1, len(asm.nodes) + 1)),
        "Configured nodes": ",".join(asm.nodes),
    }
    lines = "".join(f"{title}: {value}\n" for title, value in fields.items())
    return f"{lines}Database is administrator managed\n", 0


def _no_database(name: str) -> tuple[str, int]:
    return f"PRCD-1120 : The resource for database {name} could not be found.\n", 1
