"""The programs in the directory of ``emulator path`` that reach the rack's hosts from outside.

These are programs that a DBA's scripts call on a database node or a workstation: dcli and exacli with Oracle's command
lines, and the system's ssh, scp and sftp, configured for the rack's hosts.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence

from exacell.emulator.basics.infiniband import fabric_scripts, places


def of_the_machine(name: str) -> str | None:
    """Return the path of this machine's own program of a name; None if there is none.

    PATH may contain directories that ``emulator path`` printed, of this rack or another one. They hold ``cellcli`` beside
    ``ssh``, and are skipped.
    """
    own = [place for place in os.get_exec_path() if not os.path.exists(os.path.join(place, "cellcli"))]
    return shutil.which(name, path=os.pathsep.join(own))


def front_scripts(
    ssh_config: str, dcli: Sequence[str], hosts: Mapping[str, bool], *, infiniband: bool = False
) -> dict[str, str]:
    """Return the bodies of the shell scripts by name.

    Args:
        ssh_config: path of the rack's ssh_config, as the scripts will use it.
        dcli: the interpreter (words for a shell) and the path of our dcli, as the scripts will use them.
        hosts: by name, whether the host is a cell.
        infiniband: include the programs that show the fabric.
    """
    config, (python, program) = shlex.quote(ssh_config), dcli
    scripts = {"dcli": f'exec {python} -I -S {shlex.quote(program)} {config} "$@"\n'}
    for name in ("ssh", "scp", "sftp"):
        own = of_the_machine(name)
        if own is not None:
            scripts[name] = f'exec {shlex.quote(own)} -F {config} "$@"\n'
    return scripts | fabric_scripts(hosts) if infiniband else scripts


DOWN = ".down"
"""The file beside the scripts with the names of the rack's hosts that are switched off, one on each line."""


def ping_script(hosts: Mapping[str, bool], directory: str, *, others: str | None = None) -> str:
    """Return the body of a ``ping`` script that answers for the rack's hosts, each at its own address, once or ``-c`` times.

    Hosts answer without loss; hosts that are switched off lose all packets. Both results are printed at once.

    Args:
        hosts: by name, whether the host is a cell.
        directory: the directory with :data:`DOWN`.
        others: the program that is called for all other names; None: they are unknown hosts.
    """
    unknown = (
        f'exec {shlex.quote(others)} "$@"' if others else 'echo "ping: $host: Name or service not known" >&2; exit 2'
    )
    known = "".join(
        f"{shlex.quote(name)}|{shlex.quote(address)}) name={shlex.quote(name)} address={shlex.quote(address)} ;;\n"
        for name, _, address in places(hosts)
    )
    down = shlex.quote(f"{directory}/{DOWN}")
    return f'for host; do :; done\ncase "$host" in\n{known}*) {unknown} ;;\nesac\ndown={down}\n{_PING}'


_PING = """\
count=1 quiet=
while [ $# -gt 1 ]; do
    case "$1" in
        -c) count=$2; shift ;;
        -c*) count=${1#-c} ;;
        -q) quiet=yes ;;
        -[iIlmMpQsStTwW]) shift ;;
    esac
    shift
done
case "$count" in ''|*[!0-9]*|0) echo "ping: invalid argument: '$count': out of range: 1 <= value" >&2; exit 1 ;; esac
echo "PING $host ($address) 56(84) bytes of data."
if grep -qx "$name" "$down" 2>/dev/null; then
    echo
    echo "--- $host ping statistics ---"
    echo "$count packets transmitted, 0 received, 100% packet loss, time $(((count - 1) * 1000))ms"
    echo
    exit 1
fi
number=0
while [ -z "$quiet" ] && [ "$number" -lt "$count" ]; do
    number=$((number + 1))
    echo "64 bytes from $host ($address): icmp_seq=$number ttl=64 time=0.100 ms"
done
echo
echo "--- $host ping statistics ---"
echo "$count packets transmitted, $count received, 0% packet loss, time $(((count - 1) * 1000))ms"
echo "rtt min/avg/max/mdev = 0.100/0.100/0.100/0.000 ms"
"""
