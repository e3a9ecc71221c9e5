"""Scripts for shells on emulated database nodes besides the programs: ``ps`` with the node's services and instances,
orabase, oraenv.

Scripts find the running instances of a node by their processes, ``asm_pmon_+ASM1``, and set their environment by oraenv
(source: reference asm.md section 1). Every other call of ``ps`` goes to this machine's own.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence

from exacell.emulator.basics.names import DATABASE_HOME, GRID_HOME

_BACKGROUND = ("pmon", "lgwr", "dbw0", "smon")


def node_scripts(instances: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the bodies of shell scripts by name.

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
