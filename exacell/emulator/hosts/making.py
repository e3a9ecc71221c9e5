"""Makes the rack's hosts as they are before the first login: identity, files, and the programs that their shells find."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from exacell.emulator.basics.infiniband import FABRIC, fabric_scripts, has_infiniband
from exacell.emulator.basics.names import DATABASE_HOME, GRID_HOME
from exacell.emulator.basics.profiles import hardware_model, release_profile
from exacell.emulator.basics.store import RackFiles, write_text
from exacell.emulator.hosts.cell_files import cell_files, trace_directory
from exacell.emulator.hosts.fence import BIN, SSH, python_inside
from exacell.emulator.hosts.files import (
    CELL_LINKS,
    SYSTEM_LINKS,
    distribution_files,
    group_files,
    link_programs,
    node_files,
)
from exacell.emulator.hosts.fronts import front_scripts, ping_script
from exacell.emulator.hosts.kinds import CELL, DBNODE, HostKind
from exacell.emulator.hosts.layout import FILE as LAYOUT, database_machine
from exacell.emulator.hosts.shell import Host, inside
from exacell.emulator.hosts.tools import (
    PLACES,
    PROCESSES,
    become_scripts,
    firmware_scripts,
    process_script,
    telling_scripts,
)
from exacell.emulator.programs.machine import processors
from exacell.emulator.programs.software import distribution_of
from exacell.emulator.rack.world import World


class HostMaking:
    """Makes the hosts of a rack.

    Attributes:
        kernel: the release of the kernel that all hosts have.
    """

    def __init__(self, files: RackFiles, world: World) -> None:
        self._files, self._world = files, world
        described = world.describe()
        self._model = str(described["model"])
        self.kernel = release_profile(str(described["release"]), hardware_model(self._model)).kernel

    def scripts(self, kind: HostKind, hosts: Mapping[str, Host]) -> dict[str, str]:
        """Return the programs that shells on one kind of host find besides the emulated ones: script text by name."""
        return {
            **telling_scripts(self.kernel, processors(self._model, is_cell=kind is CELL)),
            **self._kind_scripts(kind, hosts),
        }

    def _kind_scripts(self, kind: HostKind, hosts: Mapping[str, Host]) -> dict[str, str]:
        places = {name: host.kind is CELL for name, host in hosts.items()}
        if kind is CELL:
            fabric = fabric_scripts(places) if has_infiniband(self._model) else {}
            become = become_scripts(tuple(kind.ids), everybody=False)
            own = {"ping": ping_script(places, BIN), "ps": process_script(inside(PROCESSES))}
            return {**become, **firmware_scripts(), **fabric, **own}
        clusters = self._world.clusters
        instances = {node: sids for cluster in clusters for node, sids in cluster.instances().items()}
        return {
            **become_scripts(tuple(kind.ids), everybody=True),
            **firmware_scripts(),
            **node_scripts(instances),
            **front_scripts(
                f"{SSH}/ssh_config",
                (python_inside()[0], f"{BIN}/.dcli.py"),
                places,
                infiniband=has_infiniband(self._model),
            ),
            "ping": ping_script(places, BIN),
        }

    def hosts(self) -> dict[str, Host]:
        """Return the rack's hosts by name, cells first."""
        restricted = bool(self._world.describe().get("restricted"))
        groups = group_files(self._world.cells, self._world.dbnodes)
        addresses = {name: self._world.address(name) for name in self._world.cells}
        model = hardware_model(self._model)
        layout = {LAYOUT: database_machine(addresses, self._world.dbnodes, model)}
        hosts: dict[str, Host] = {}
        for name in self._world.cells:
            files = partial(cell_files, name, addresses, self._world.dbnodes, datetime.now().astimezone())
            hosts[name] = Host(
                files=self._files,
                name=name,
                kind=CELL,
                variables={"CELLTRACE": trace_directory(name)},
                restricted=restricted,
                own_files=partial(self._own_files, CELL, files),
            )
        for cluster in self._world.clusters:
            for number, name in enumerate(cluster.nodes, start=1):
                files = partial(node_files, cluster, name, addresses, self._world.dbnodes, layout)
                hosts[name] = Host(
                    files=self._files,
                    name=name,
                    kind=DBNODE,
                    profiles=_node_profiles(number),
                    home_files=groups,
                    own_files=partial(self._own_files, DBNODE, files),
                )
        return hosts

    def _own_files(
        self, kind: HostKind, files: Callable[[], Mapping[str, str]]
    ) -> tuple[Mapping[str, str], Mapping[str, Sequence[str]]]:
        """Return a new host's files (text by path) and the names of its emulated programs by directory."""
        links: dict[str, Sequence[str]] = {
            f"{home}/bin": [name for name in kind.programs if f"{home}/bin" in kind.directories(name)]
            for home in kind.homes
        }
        offered = {*kind.programs, *firmware_scripts(), *(("orabase",) if kind is DBNODE else ())}
        for name, places in PLACES.items():
            for place in places if name in offered else ():
                if place.startswith(("/opt/", "/u01/")) and name not in links.get(place, ()):
                    links[place] = (*links.get(place, ()), name)
        return {**distribution_files(distribution_of(self.kernel)), **files()}, links

    def write_layer(self, kind: HostKind) -> None:
        """Write the directories that one kind of host has over this machine's /usr."""
        links: dict[str, Sequence[str]] = dict(CELL_LINKS if kind is CELL else SYSTEM_LINKS)
        if has_infiniband(self._model):
            links["/usr/sbin"] = (*links["/usr/sbin"], *FABRIC)
        layer = self._files.layer(kind.name)
        release = distribution_files(distribution_of(self.kernel))["etc/os-release"]
        (layer / "lib").mkdir(mode=0o755, parents=True, exist_ok=True)
        write_text(layer / "lib" / "os-release", release, mode=0o644)
        link_programs(layer.parent, links)


def _node_profiles(number: int) -> Mapping[str, Mapping[str, str]]:
    """Return the variables that the logins' profiles export on the n-th node of a cluster, as the installer sets them."""
    return {
        "grid": {"ORACLE_HOME": GRID_HOME, "ORACLE_SID": f"+ASM{number}"},
        "oracle": {"ORACLE_HOME": DATABASE_HOME},
    }


_BACKGROUND = ("pmon", "lgwr", "dbw0", "smon")


def node_scripts(instances: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the bodies of shell scripts of database nodes by name: ``ps`` with services and instances, orabase, oraenv.

    Scripts find the running instances of a node by their processes, ``asm_pmon_+ASM1``, and set their environment by oraenv
    (source: reference asm.md section 1). Every other call of ``ps`` goes to this machine's own.

    Args:
        instances: the SIDs that run on each database node.
    """
    nodes = "".join(f"{shlex.quote(host)}) sids={shlex.quote(' '.join(sids))} ;;\n" for host, sids in instances.items())
    return {
        "ps": f'case "$EXACELL_EMU_HOST" in\n{nodes}esac\n{_PS}'.replace("@PS@", shutil.which("ps") or "/bin/ps"),
        "orabase": f'case "$ORACLE_HOME" in {GRID_HOME}*) echo /u01/app/grid ;; *) echo /u01/app/oracle ;; esac\n',
        "oraenv": _ORAENV.replace("@GRID@", GRID_HOME).replace("@DATABASE@", DATABASE_HOME),
    }


_SERVICES = (
    ("root", "/sbin/init"),
    ("root", "/usr/sbin/sshd -D"),
    ("root", "/usr/sbin/crond -n"),
    ("root", f"{GRID_HOME}/bin/ohasd.bin reboot"),
    ("grid", f"{GRID_HOME}/bin/evmd.bin"),
    ("grid", f"{GRID_HOME}/bin/ocssd.bin"),
    ("root", f"{GRID_HOME}/bin/crsd.bin reboot"),
    ("grid", f"{GRID_HOME}/bin/tnslsnr LISTENER -no_crs_notify -inherit"),
)
"""Logins and their processes on a database node besides its instances. Source: published ps of nodes with Grid Infrastructure."""


def _services() -> str:
    numbers = (1, *range(2401, 3000, 12))
    rows = zip(_SERVICES, numbers, strict=False)
    return "\n".join(
        f"""    printf "$format" {owner} {number} {min(number - 1, 1)} {shlex.quote(command)}"""
        for (owner, command), number in rows
    )


_PS = f"""\
processes() {{
    format=$1 number=9000
{_services()}
    for sid in $sids; do
        case "$sid" in +*) owner=grid prefix=asm ;; *) owner=oracle prefix=ora ;; esac
        for process in {" ".join(_BACKGROUND)}; do
            number=$((number + 12))
            printf "$format" "$owner" "$number" 1 "${{prefix}}_${{process}}_$sid"
        done
    done
}}
case "$*" in
    -ef|-e\\ -f|-aef|-eaf)
        echo 'UID          PID    PPID  C STIME TTY          TIME CMD'
        processes '%-8s %7s %7s  0 Jan01 ?        00:00:42 %s\\n' ;;
    aux|-aux|auxw|auxww)
        echo 'USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND'
        processes '%-8s %7s  0.0  0.%s 812044 41220 ?        Ss   Jan01   0:42 %s\\n' ;;
    '-eo args'|'-e -o args'|'-eo cmd'|'-e -o cmd'|'-eo command'|'-e -o command')
        echo COMMAND
        processes '%.0s%.0s%.0s%s\\n' ;;
    '-eo args='|'-e -o args='|'-eo cmd='|'-e -o cmd='|'-eo command='|'-e -o command=')
        processes '%.0s%.0s%.0s%s\\n' ;;
    *) exec @PS@ "$@" ;;
esac
"""

_ORAENV = """\
if [ "$ORAENV_ASK" != NO ]; then
    printf 'ORACLE_SID = [%s] ? ' "$ORACLE_SID"
    read -r NEWSID
    ORACLE_SID=${NEWSID:-$ORACLE_SID}
fi
case "$ORACLE_SID" in
    +*) ORACLE_HOME=@GRID@ ORACLE_BASE=/u01/app/grid ;;
    *) ORACLE_HOME=@DATABASE@ ORACLE_BASE=/u01/app/oracle ;;
esac
export ORACLE_SID ORACLE_HOME ORACLE_BASE
"""
