"""What the directory of ``emulator path`` holds besides the hosts' own programs: what reaches hosts from outside.

Programs that a DBA's scripts call on a database node or a workstation: dcli and exacli as Oracle's command lines have
them, and the system's ssh, scp and sftp, told about the rack's hosts.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from exacell.emulator import dcli_program
from exacell.emulator.names import cell_address, node_address

_FIRST_GUID = 0x0021280001A0A000
_PORT = """\
Infiniband device 'mlx4_0' port {port} status:
\tdefault gid:\t fe80:0000:0000:0000:{guid}
\tbase lid:\t {lid:#x}
\tsm lid:\t\t 0x1
\tstate:\t\t 4: ACTIVE
\tphys state:\t 5: LinkUp
\trate:\t\t 40 Gb/sec (4X QDR)
\tlink_layer:\t IB
"""


def has_infiniband(model: str) -> bool:
    """Return whether a rack of this model has InfiniBand: those before X8M; later ones have RoCE and no ibhosts."""
    return re.match(r"x[2-8](?!\d|m)", model) is not None


def of_the_machine(name: str) -> str | None:
    """Return the machine's own program of a name, None when it has none.

    A PATH may begin with what ``emulator path`` printed, of this rack or another one: there ``cellcli`` stands beside
    ``ssh``, and such a directory is passed over.
    """
    places = [place for place in os.get_exec_path() if not os.path.exists(os.path.join(place, "cellcli"))]
    return shutil.which(name, path=os.pathsep.join(places))


def front_scripts(
    ssh_config: Path, hosts: Mapping[str, bool], *, infiniband: bool = False, python: str
) -> dict[str, str]:
    """Return the bodies of the shell scripts by name.

    Args:
        ssh_config: the rack's.
        hosts: by name, whether it is a cell.
        infiniband: ibhosts, ibswitches, ibnodes and ibstatus are there, with lines as the programs of OFED print them
            (``Ca : GUID ports 2 "name S|C address HCA-1"``).
    """
    config = shlex.quote(str(ssh_config))
    dcli = shlex.join([python, "-I", "-S", os.path.abspath(dcli_program.__file__), str(ssh_config)])
    scripts = {"dcli": f'exec {dcli} "$@"\n'}
    for name in ("ssh", "scp", "sftp"):
        program = of_the_machine(name)
        if program is not None:
            scripts[name] = f'exec {shlex.quote(program)} -F {config} "$@"\n'
    # No emulated host has an address of its own: what is asked for is answered as a network without loss does.
    ping = of_the_machine("ping") or "/bin/ping"
    names = "|".join(shlex.quote(name) for name in hosts)
    scripts["ping"] = (
        f'for host; do :; done\ncase "$host" in {names}) ;; *) exec {shlex.quote(ping)} "$@" ;; esac\n'
        'echo "PING $host (127.0.0.1) 56(84) bytes of data."\n'
        'echo "64 bytes from $host (127.0.0.1): icmp_seq=1 ttl=64 time=0.1 ms"\n'
    )
    if infiniband:
        scripts |= _fabric(hosts)
    return scripts


def _fabric(hosts: Mapping[str, bool]) -> dict[str, str]:
    """Return what shows the InfiniBand fabric: hosts, switches, both, and the state of a host's two ports."""
    cells = [name for name, is_cell in hosts.items() if is_cell]
    nodes = [name for name, is_cell in hosts.items() if not is_cell]
    known = [(name, "C", cell_address(number)) for number, name in enumerate(cells, start=1)]
    known += [(name, "S", node_address(number)) for number, name in enumerate(nodes, start=1)]
    lines = [
        f'Ca\t: 0x{_FIRST_GUID + number * 16:016x} ports 2 "{name} {kind} {address} HCA-1"'
        for number, (name, kind, address) in enumerate(known, start=1)
    ]
    rack = re.sub(r"(?:cel|db)[0-9]+$", "", next(iter(hosts), ""))
    switches = [
        f'Switch\t: 0x{_FIRST_GUID + 0x10000 * number:016x} ports 36 "SUN DCS 36P QDR {rack}sw-ib{letter}01" '
        f"enhanced port 0 lid {number} lmc 0"
        for number, letter in enumerate("ab", start=1)
    ]
    ports = [_PORT.format(port=port, guid=f"{_FIRST_GUID + port:016x}", lid=port + 2) for port in (1, 2)]
    shown = {"ibhosts": lines, "ibswitches": switches, "ibnodes": [*lines, *switches], "ibstatus": ports}
    return {name: "cat <<'E'\n" + "".join(f"{line}\n" for line in text) + "E\n" for name, text in shown.items()}
