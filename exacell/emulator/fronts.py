"""What the directory of ``emulator path`` holds besides the hosts' own programs: what reaches hosts from outside.

Programs that a DBA's scripts call on a database node or a workstation: dcli and exacli as Oracle's command lines have
them, and the system's ssh, scp and sftp, told about the rack's hosts.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence

from exacell.emulator.infiniband import fabric_scripts, places


def of_the_machine(name: str) -> str | None:
    """Return the machine's own program of a name, None when it has none.

    A PATH may begin with what ``emulator path`` printed, of this rack or another one: there ``cellcli`` stands beside
    ``ssh``, and such a directory is passed over.
    """
    own = [place for place in os.get_exec_path() if not os.path.exists(os.path.join(place, "cellcli"))]
    return shutil.which(name, path=os.pathsep.join(own))


def front_scripts(
    ssh_config: str, dcli: Sequence[str], hosts: Mapping[str, bool], *, infiniband: bool = False
) -> dict[str, str]:
    """Return the bodies of the shell scripts by name.

    Args:
        ssh_config: the rack's, as who runs them names it.
        dcli: the interpreter (words for a shell) and the file of our dcli, likewise.
        hosts: by name, whether it is a cell.
        infiniband: the programs that show the fabric are there.
    """
    config, (python, program) = shlex.quote(ssh_config), dcli
    scripts = {"dcli": f'exec {python} -I -S {shlex.quote(program)} {config} "$@"\n'}
    for name in ("ssh", "scp", "sftp"):
        own = of_the_machine(name)
        if own is not None:
            scripts[name] = f'exec {shlex.quote(own)} -F {config} "$@"\n'
    # No emulated host has an address of its own: what is asked for is answered as a network without loss does.
    ping = of_the_machine("ping")
    others = 'echo "ping: $host: Name or service not known" >&2; exit 2'
    if ping is not None:
        others = f'exec {shlex.quote(ping)} "$@"'
    names = "|".join(shlex.quote(name) for name in (*hosts, *(address for _, _, address in places(hosts))))
    scripts["ping"] = (
        f'for host; do :; done\ncase "$host" in {names}) ;; *) {others} ;; esac\n'
        'echo "PING $host (127.0.0.1) 56(84) bytes of data."\n'
        'echo "64 bytes from $host (127.0.0.1): icmp_seq=1 ttl=64 time=0.1 ms"\n'
    )
    return scripts | fabric_scripts(hosts) if infiniband else scripts
