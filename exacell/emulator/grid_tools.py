"""Programs of the installations on an emulated database node that only tell: ocrcheck, lsnrctl, opatch and their like.

Source: Oracle Clusterware Administration and Deployment Guide, "OCRCHECK", "OCRCONFIG", "OIFCFG"; Net Services Reference,
"Listener Control Utility"; published sessions. Sizes of the registry, process times and networks are ours.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from exacell.emulator.asm.attributes import version_text
from exacell.emulator.asm.instance import Asm
from exacell.emulator.names import DATABASE_HOME, GRID_HOME
from exacell.emulator.ora_messages import ORA_TEXTS
from exacell.emulator.program import Out, Program
from exacell.emulator.sql.date_masks import format_date
from exacell.emulator.sql.values import from_epoch

_REGISTRY_KB, _REGISTRY_USED_KB = 491684, 84680
_STAMP = "DD-MON-YYYY HH24:MI:SS"
_OTHER_DEVICES = 4
_REFUSED = 1


def _ocrcheck(asm: Asm, node: int, login: str, words: Sequence[str]) -> tuple[str, int]:
    data = asm.cluster.data
    if "-config" in words:
        return f"Oracle Cluster Registry configuration is :\n\t Device/File Name         :   +{data}\n", 0
    number = zlib.crc32(data.encode()) % 10**9
    text = "Status of Oracle Cluster Registry is as follows :\n"
    for title, value in {
        "Version": 4,
        "Total space (kbytes)": _REGISTRY_KB,
        "Used space (kbytes)": _REGISTRY_USED_KB,
        "Available space (kbytes)": _REGISTRY_KB - _REGISTRY_USED_KB,
    }.items():
        text += f"\t {title:<25}: {value:>10}\n"
    text += f"\t {'ID':<25}: {number:>10}\n\t {'Device/File Name':<25}: {'+' + data:>10}\n"
    text += f"{' ' * 36}Device/File integrity check succeeded\n\n"
    text += f"{' ' * 36}Device/File not configured\n\n" * _OTHER_DEVICES
    checked = "succeeded" if login == "root" else "bypassed due to non-privileged user"
    return f"{text}\t Cluster registry integrity check succeeded\n\n\t Logical corruption check {checked}\n\n", 0


def _ocrconfig(asm: Asm, node: int, login: str, words: Sequence[str]) -> tuple[str, int]:
    if not words or words[0] != "-showbackup":
        return "Usage: ocrconfig -showbackup [auto|manual]\n", _REFUSED
    text = ""
    for age in (4, 8, 12, 24, 168):
        when = format_date(from_epoch(asm.now() - age * 3600), "YYYY/MM/DD HH24:MI:SS")
        name = {24: "day", 168: "week"}.get(age, f"backup{age // 4 - 1:02d}")
        text += f"\n{asm.nodes[0]}     {when}     +{asm.cluster.data}:/{asm.nodes[0]}/OCRBACKUP/{name}.ocr\n"
    return text, 0


def _services(asm: Asm, node: int) -> str:
    text = "Services Summary...\n"
    for service in sorted(("+ASM", *asm.databases)):
        text += f'Service "{service}" has 1 instance(s).\n'
        text += f'  Instance "{service}{node + 1}", status READY, has 1 handler(s) for this service...\n'
    return text


def _lsnrctl(asm: Asm, node: int, login: str, words: Sequence[str]) -> tuple[str, int]:
    version, host = version_text(asm.version), asm.nodes[node]
    head = f"\nLSNRCTL for Linux: Version {version} - Production on {format_date(from_epoch(asm.now()), _STAMP)}\n\n"
    command, name = (*words, "", "")[:2]
    name = name.upper() or "LISTENER"
    command = command.lower()
    if command == "version":
        return f"{head}TNSLSNR for Linux: Version {version} - Production\nThe command completed successfully\n", 0
    if command not in ("status", "services", "stat"):
        return f'{head}NL-00853: undefined command "{command}".  Try "help"\n', _REFUSED
    address = f"(ADDRESS=(PROTOCOL=IPC)(KEY={name}))"
    head += f"Connecting to (DESCRIPTION={address})\n"
    scan = name == "LISTENER_SCAN1" and node == 0
    if name != "LISTENER" and not scan:
        return f"{head}TNS-12541: TNS:no listener\n TNS-12560: TNS:protocol adapter error\n", _REFUSED
    if command == "services":
        return f"{head}{_services(asm, node)}The command completed successfully\n", 0
    up = int(asm.now() - asm.started)
    days = f"{up // 86400} days {up % 86400 // 3600} hr. {up % 3600 // 60} min. {up % 60} sec"
    fields = {
        "Alias": name,
        "Version": f"TNSLSNR for Linux: Version {version} - Production",
        "Start Date": format_date(from_epoch(asm.started), _STAMP),
        "Uptime": days,
        "Trace Level": "off",
        "Security": "ON: Local OS Authentication",
        "SNMP": "OFF",
        "Listener Parameter File": f"{GRID_HOME}/network/admin/listener.ora",
        "Listener Log File": f"/u01/app/grid/diag/tnslsnr/{host}/{name.lower()}/alert/log.xml",
    }
    text = f"{head}STATUS of the LISTENER\n------------------------\n"
    text += "".join(f"{title:<26}{value}\n" for title, value in fields.items())
    text += f"Listening Endpoints Summary...\n  (DESCRIPTION=(ADDRESS=(PROTOCOL=ipc)(KEY={name})))\n"
    text += f"  (DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST={host})(PORT=1521)))\n"
    return f"{text}{_services(asm, node)}The command completed successfully\n", 0


def _tnsping(asm: Asm, node: int, login: str, words: Sequence[str]) -> tuple[str, int]:
    now, version = format_date(from_epoch(asm.now()), _STAMP), version_text(asm.version)
    head = f"\nTNS Ping Utility for Linux: Version {version} - Production on {now}\n\nUsed parameter files:\n\n"
    if not words or words[0].upper() not in asm.databases:
        return f"{head}TNS-03505: Failed to resolve name\n", _REFUSED
    scan = f"{asm.rack.spec.name}-scan"
    service = f"(DESCRIPTION = (ADDRESS = (PROTOCOL = TCP)(HOST = {scan})(PORT = 1521)) (CONNECT_DATA ="
    service += f" (SERVER = DEDICATED) (SERVICE_NAME = {words[0].upper()})))"
    times = int(words[1]) if len(words) > 1 and words[1].isdigit() else 1
    ok = "OK (0 msec)\n" * min(times, 100)
    return f"{head}\nUsed TNSNAMES adapter to resolve the alias\nAttempting to contact {service}\n{ok}", 0


def _oifcfg(asm: Asm, node: int, login: str, words: Sequence[str]) -> tuple[str, int]:
    networks = {"bondeth0": ("10.1.0.0", "public"), "ib0": ("192.168.10.0", "cluster_interconnect,asm")}
    if list(words[:1]) == ["getif"]:
        return "".join(f"{name}  {net}  global  {use}\n" for name, (net, use) in networks.items()), 0
    if list(words[:1]) == ["iflist"]:
        return "".join(f"{name}  {net}\n" for name, (net, _) in networks.items()), 0
    return "PRIF-9: incorrect usage\n", _REFUSED


def _opatch(asm: Asm, node: int, login: str, words: Sequence[str]) -> tuple[str, int]:
    home = DATABASE_HOME if login == "oracle" else GRID_HOME
    if "-oh" in words[:-1]:
        home = words[list(words).index("-oh") + 1]
    command = words[0].lower() if words else ""
    if command == "version":
        return "OPatch Version: 12.2.0.1.30\n\nOPatch succeeded.\n", 0
    none = f'There are no Interim patches installed in this Oracle Home "{home}".\n\nOPatch succeeded.\n'
    if command == "lspatches":
        return none, 0
    if command in ("lsinventory", "lsinv"):
        version = version_text(asm.version)
        product = "Oracle Grid Infrastructure" if home == GRID_HOME else "Oracle Database"
        return (
            f"Oracle Interim Patch Installer version 12.2.0.1.30\n\nOracle Home       : {home}\n"
            f"Central Inventory : /u01/app/oraInventory\n   from           : {home}/oraInst.loc\n"
            f"OPatch version    : 12.2.0.1.30\nOUI version       : 12.2.0.7.0\n\n{'-' * 80}\n"
            f"Local Machine Information::\nHostname: {asm.nodes[node]}\n\nInstalled Top-level Products (1):\n\n"
            f"{product:<70}{version}\nThere are 1 products installed in this Oracle Home.\n\n\n{none}"
        ), 0
    return f"OPatch: unknown command '{command}'\n\nOPatch failed with error code 73\n", 73


def _oerr(asm: Asm, node: int, login: str, words: Sequence[str]) -> tuple[str, int]:
    if len(words) != 2 or not words[1].isdigit():
        return "Usage: oerr facility error\n", _REFUSED
    number = int(words[1])
    if words[0].lower() != "ora" or number not in ORA_TEXTS:
        return f"oerr: Unknown facility '{words[0]}'\n" if words[0].lower() != "ora" else "", _REFUSED
    return f'{number:05d}, 00000, "{re.sub(r"{}", "%s", ORA_TEXTS[number])}"\n', 0


TOOLS: Mapping[str, Callable[[Asm, int, str, Sequence[str]], tuple[str, int]]] = MappingProxyType(
    {
        "lsnrctl": _lsnrctl,
        "ocrcheck": _ocrcheck,
        "ocrconfig": _ocrconfig,
        "oerr": _oerr,
        "oifcfg": _oifcfg,
        "opatch": _opatch,
        "tnsping": _tnsping,
    }
)
"""What each gives for its words: text and exit status."""


def grid_tool(name: str, asm: Asm, node: int, login: str, argv: Sequence[str]) -> Program:
    """Return the running program ``name``, one of :data:`TOOLS`."""
    asm.rack.advance()
    asm.settle()
    text, status = TOOLS[name](asm, node, login, argv)
    yield Out(text)
    return status
