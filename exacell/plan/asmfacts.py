"""Define ASM's facts for the planners: the script that asks an ASM instance, and the meaning of its answer. Pure.

The script follows reference asm.md section 1: everything that could change the shape of the output is set; every row is
one column of ``|``-separated fields; an ``ORA-`` or ``SP2-`` line anywhere is an error for any exit status (which is
the code modulo 256); and an end marker proves that everything before it succeeded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.core.cellset import grouped
from exacell.core.errors import ReplyError
from exacell.core.units import counted
from exacell.core.values import dataclass, field

END = "__EXACELL_OK__"

PREAMBLE = """\
whenever oserror exit failure
whenever sqlerror exit failure
set define off echo off feedback off verify off heading off pagesize 0
set linesize 32767 trimout on trimspool on tab off wrap off newpage none
set numwidth 20 sqlblanklines on
"""

_QUERIES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "instance": ("gv$instance", ("inst_id", "instance_name", "host_name", "version")),
    "group": (
        "gv$asm_diskgroup",
        (
            "inst_id",
            "group_number",
            "name",
            "state",
            "type",
            "allocation_unit_size",
            "total_mb",
            "free_mb",
            "required_mirror_free_mb",
            "usable_file_mb",
            "offline_disks",
            "compatibility",
            "database_compatibility",
            "voting_files",
        ),
    ),
    "disk": (
        "v$asm_disk",
        (
            "group_number",
            "path",
            "header_status",
            "mount_status",
            "mode_status",
            "os_mb",
            "name",
            "failgroup",
            "repair_timer",
            "state",
            "total_mb",
            "voting_file",
        ),
    ),
    "attribute": ("v$asm_attribute", ("group_number", "name", "value")),
    "file": ("v$asm_file", ("group_number", "count(*)")),
    "client": (
        "gv$asm_client",
        ("inst_id", "group_number", "instance_name", "db_name", "status", "compatible_version"),
    ),
    "operation": (
        "gv$asm_operation",
        ("inst_id", "group_number", "operation", "state", "est_minutes", "power", "sofar", "est_work"),
    ),
}

TIMES = ("disk_repair_time", "failgroup_repair_time")
ATTRIBUTES = ("cell.smart_scan_capable", "compatible.asm", "compatible.rdbms", "content.type", *TIMES)
"""Attributes of disk groups that the script asks for. Source: reference asm.md section 3."""

_TAILS = {
    "file": " group by group_number",
    "attribute": f" where name in ({', '.join(map(repr, ATTRIBUTES))})",
}


def facts_script() -> str:
    """Return the SQL*Plus script whose answer :func:`read_facts` reads."""
    return f"{facts_look()}exit\n"


def facts_look() -> str:
    """Return the same script for a SQL*Plus that stays open; an error ends it as it does in a script."""
    parts = [PREAMBLE]
    for key, (view, columns) in _QUERIES.items():
        fields = "||'|'||".join(columns)
        parts.append(f"prompt __EXACELL_{key.upper()}__\nselect {fields} from {view}{_TAILS.get(key, '')};\n")
    return "".join(parts) + f"prompt {END}\n"


def change_script(statements: Sequence[str]) -> str:
    """Return the script that runs ``statements`` (SQL without ``;``) and prints the end marker if all succeeded."""
    return PREAMBLE + change_lines(statements)


def change_lines(statements: Sequence[str]) -> str:
    """Return the lines of :func:`change_script` for a SQL*Plus that is set up already."""
    body = "".join(f"{statement.rstrip(';')};\n" for statement in statements)
    return f"{body}prompt {END}\nexit\n"


def has_ended(text: str) -> bool:
    """Return whether the answer to a script is complete: it has the end marker, or an error that ends the script."""
    return END in text or bool(sql_errors(text))


def sql_errors(text: str) -> tuple[str, ...]:
    """Return the ``ORA-`` and ``SP2-`` lines of SQL*Plus's output, in order."""
    return tuple(
        line.strip() for line in text.splitlines() if re.match(r"\s*(ORA-\d{5}|SP2-\d{4}|ASMCMD-\d{4,5})\b", line)
    )


def check_sql(text: str) -> None:
    """Raise ReplyError unless the script ran to its end marker without an error line.

    Raises:
        ReplyError: names the first specific error, or says that the output ends early.
    """
    errors = sql_errors(text)
    if errors:
        # The generic wrapper comes first (ORA-15018, 15032, 15039); the causes follow it.
        raise ReplyError(" / ".join(errors[:4]))
    if END not in text:
        last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "nothing")
        raise ReplyError(
            f"SQL*Plus ended early; its last output: {last[:200]}",
            hint="`sql asm 'select 1 from dual'` shows how it answers",
        )


@dataclass(frozen=True, kw_only=True)
class AsmInstance:
    """One running ASM instance."""

    inst_id: str
    name: str
    host: str
    version: str


@dataclass(frozen=True, kw_only=True)
class DiskGroup:
    """A disk group over all instances; sizes in MB as ASM gives them.

    Attributes:
        states: state by instance id (MOUNTED, DISMOUNTED …).
        number: its group number on the instance that was asked, 0 if it is not mounted there.
        files: number of files; None (unknown) if it is not mounted on the instance that was asked.
        clients: databases connected to it on any instance.
        compatible: the value of COMPATIBLE of each of them.
        clusterware: ASM itself is a client: the group holds the cluster's own files.
        attributes: those of ATTRIBUTES that it has; empty if it is not mounted on the instance that was asked.
    """

    name: str
    number: int
    states: Mapping[str, str]
    type: str
    au_size: int
    total_mb: int
    free_mb: int
    required_mirror_free_mb: int
    usable_file_mb: int
    offline_disks: int
    compatible_asm: str
    compatible_rdbms: str
    voting_files: bool
    files: int | None
    clients: tuple[str, ...]
    compatible: Mapping[str, str] = field(default_factory=dict)
    clusterware: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """Return MOUNTED if any instance has it mounted, else the state that they report."""
        values = set(self.states.values())
        return next((s for s in ("MOUNTED", "CONNECTED", "RESTRICTED", "QUIESCING") if s in values), "DISMOUNTED")


@dataclass(frozen=True, kw_only=True)
class AsmDisk:
    """One disk as ASM discovers it; ``cell_address`` and ``grid_disk`` come from ``o/<address>/<name>``.

    Attributes:
        repair_s: seconds after which ASM drops an offline disk for good; 0 if no such time runs.
        state: NORMAL, ADDING, DROPPING …
        total_mb: the MB of the disk that ASM uses, 0 outside of a mounted disk group.
        voting: it holds a voting file.
    """

    group: int
    path: str
    header: str
    mount: str
    mode: str
    os_mb: int
    name: str
    failgroup: str
    repair_s: int = 0
    state: str = "NORMAL"
    total_mb: int = 0
    voting: bool = False

    @property
    def grid_disk(self) -> str:
        """Return the grid disk's name; empty for a path of another form."""
        parts = self.path.split("/")
        return parts[2] if len(parts) == 3 and parts[0] == "o" else ""

    @property
    def cell_address(self) -> str:
        """Return the cell's address in the path; empty for a path of another form."""
        parts = self.path.split("/")
        return parts[1] if len(parts) == 3 and parts[0] == "o" else ""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A row of gv$asm_operation that is not DONE.

    Attributes:
        diskgroup: its name; empty if no mounted group has the number.
        sofar, work: allocation units; 0 on instances that only wait.
        minutes: ASM's own estimate.
    """

    inst_id: str
    diskgroup: str
    kind: str
    state: str
    power: int
    sofar: int
    work: int
    minutes: int


@dataclass(frozen=True, kw_only=True)
class AsmFacts:
    """The answer of one ASM cluster.

    Attributes:
        node: the database node that was asked.
        operations: number of rebalances, resyncs and similar work that run or wait.
    """

    cluster: str
    node: str
    instances: tuple[AsmInstance, ...]
    groups: tuple[DiskGroup, ...]
    disks: tuple[AsmDisk, ...]
    operations: int
    running: tuple[Operation, ...] = ()

    def group(self, name: str) -> DiskGroup | None:
        """Return the disk group with this name; None if ASM does not know it."""
        return next((g for g in self.groups if g.name == name.upper()), None)

    def members(self, group: DiskGroup) -> tuple[AsmDisk, ...]:
        """Return the disks of a group that is mounted on the instance that was asked."""
        return tuple(d for d in self.disks if group.number and d.group == group.number)

    def stands(self, diskgroup: str) -> bool:
        """Return whether a rebalance of a disk group waits because its power is 0."""
        own = [o for o in self.running if o.diskgroup == diskgroup and o.kind == "REBAL"]
        return bool(own) and not any(o.power for o in own)

    def told(self, diskgroup: str) -> str:
        """Return ASM's present work on a disk group in a few words; only the instance that does the work knows the progress."""
        works = next((o for o in self.running if o.diskgroup == diskgroup and o.work), None)
        found = works or next((o for o in self.running if o.diskgroup == diskgroup), None)
        if found is None:
            return ""
        what = f"{'rebalance' if found.kind == 'REBAL' else found.kind} of {diskgroup}"
        if self.stands(diskgroup):
            return f"{what} is stopped (power 0)"
        far = f": {100 * found.sofar // found.work}%, {counted(found.minutes, 'minute')} left" if found.work else ""
        return f"{what} runs with power {found.power}{far}"

    def headers(self) -> dict[str, str]:
        """Return grid disk name (lower case) → header_status."""
        return {disk.grid_disk.lower(): disk.header for disk in self.disks if disk.grid_disk}


def read_facts(cluster: str, node: str, text: str) -> AsmFacts:
    """Return the facts in the answer to :func:`facts_script`.

    Raises:
        ReplyError: the answer contains an error, ends early, or a row has a wrong number of fields.
    """
    check_sql(text)
    tables: dict[str, list[dict[str, str]]] = {key: [] for key in _QUERIES}
    current = ""
    for raw in text.splitlines():
        line = raw.strip()
        marker = re.fullmatch(r"__EXACELL_([A-Z]+)__", line)
        if marker:
            current = marker[1].lower()
            continue
        if not line or current not in tables:
            continue
        columns = _QUERIES[current][1]
        fields = line.split("|")
        if len(fields) != len(columns):
            raise ReplyError(
                f"{node}: a row of {_QUERIES[current][0]} has {len(fields)} fields, not {len(columns)}: {line}",
                hint="`sql asm` shows what SQL*Plus answers there",
            )
        tables[current].append(dict(zip(columns, (field.strip() for field in fields), strict=True)))
    return _facts(cluster, node, tables)


def _facts(cluster: str, node: str, tables: Mapping[str, Sequence[Mapping[str, str]]]) -> AsmFacts:
    instances = tuple(
        AsmInstance(inst_id=r["inst_id"], name=r["instance_name"], host=r["host_name"], version=r["version"])
        for r in tables["instance"]
    )
    if not instances:
        raise ReplyError(
            f"{node}: gv$instance has no row, so the state of the ASM cluster {cluster} is unknown",
            hint="`srvctl status asm` shows whether it runs there",
        )
    own = _own_instance(node, instances)
    files = {r["group_number"]: _int(r["count(*)"]) for r in tables["file"]}
    rows_by_name = grouped((row["name"].upper(), row) for row in tables["group"])
    groups = tuple(_group(name, rows, own, files, tables) for name, rows in rows_by_name.items())
    disks = tuple(
        AsmDisk(
            group=_int(r["group_number"]),
            path=r["path"],
            header=r["header_status"].upper(),
            mount=r["mount_status"].upper(),
            mode=r["mode_status"].upper(),
            os_mb=_int(r["os_mb"]),
            name=r["name"],
            failgroup=r["failgroup"],
            repair_s=_int(r["repair_timer"]),
            state=r["state"].upper(),
            total_mb=_int(r["total_mb"]),
            voting=r["voting_file"].upper() == "Y",
        )
        for r in tables["disk"]
    )
    names = {(r["inst_id"], r["group_number"]): r["name"].upper() for r in tables["group"] if _int(r["group_number"])}
    running = tuple(
        Operation(
            inst_id=r["inst_id"],
            diskgroup=names.get((r["inst_id"], r["group_number"]), ""),
            kind=r["operation"].upper(),
            state=r["state"].upper(),
            power=_int(r["power"]),
            sofar=_int(r["sofar"]),
            work=_int(r["est_work"]),
            minutes=_int(r["est_minutes"]),
        )
        for r in tables["operation"]
        if r["state"].upper() not in ("DONE", "")
    )
    return AsmFacts(
        cluster=cluster,
        node=node,
        instances=instances,
        groups=groups,
        disks=disks,
        operations=len(running),
        running=running,
    )


def _own_instance(node: str, instances: Sequence[AsmInstance]) -> str:
    short = node.split(".")[0].lower()
    return next((i.inst_id for i in instances if i.host.split(".")[0].lower() == short), "")


def _group(
    name: str,
    rows: Sequence[Mapping[str, str]],
    own: str,
    files: Mapping[str, int],
    tables: Mapping[str, Sequence[Mapping[str, str]]],
) -> DiskGroup:
    mounted = [r for r in rows if r["state"].upper() not in ("DISMOUNTED", "UNKNOWN", "BROKEN")]
    best = next((r for r in mounted if r["inst_id"] == own), mounted[0] if mounted else rows[0])
    here = next((r for r in rows if r["inst_id"] == own), None)
    number = _int(here["group_number"]) if here is not None and here in mounted else 0
    numbers = {(r["inst_id"], r["group_number"]) for r in mounted}
    clients = [c for c in tables["client"] if (c["inst_id"], c["group_number"]) in numbers]
    databases = [c for c in clients if not c["instance_name"].startswith("+ASM")]
    compatible = {c["db_name"] or c["instance_name"]: c["compatible_version"] for c in databases}
    return DiskGroup(
        name=name,
        number=number,
        states={r["inst_id"]: r["state"].upper() for r in rows},
        type=best["type"].upper(),
        au_size=_int(best["allocation_unit_size"]),
        total_mb=_int(best["total_mb"]),
        free_mb=_int(best["free_mb"]),
        required_mirror_free_mb=_int(best["required_mirror_free_mb"]),
        usable_file_mb=_int(best["usable_file_mb"]),
        offline_disks=_int(best["offline_disks"]),
        compatible_asm=best["compatibility"],
        compatible_rdbms=best["database_compatibility"],
        voting_files=best["voting_files"].upper() == "Y",
        files=files.get(str(number), 0) if number else None,
        clients=tuple(sorted(compatible)),
        compatible=compatible,
        clusterware=len(databases) < len(clients),
        attributes={r["name"]: r["value"] for r in tables["attribute"] if number and _int(r["group_number"]) == number},
    )


def _int(text: str) -> int:
    try:
        return int(float(text)) if text.strip() else 0
    except ValueError as error:
        raise ReplyError(
            f"ASM must give a number, not '{text}'", hint="`sql asm` shows what SQL*Plus answers there"
        ) from error
