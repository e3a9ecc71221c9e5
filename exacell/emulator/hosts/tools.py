"""Programs for shells on emulated hosts besides Oracle's: su and sudo, and checks of the firmware.

Scripts that log in as root continue as another login (``su - celladmin -c "cellcli …"``, ``sudo -n -u grid env …``), and call
``dcli`` on a database node. This machine's own su and sudo would leave the emulated host and become a user of this machine. So
here both stay on the host: root becomes any login, every login may use sudo on database nodes, and nobody is asked for a
password.

Source: reference asm.md 1 (su, sudo).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

from exacell.emulator.basics.names import DATABASE_HOME, GRID_HOME

_BINARIES, _ADMINISTRATION = ("/bin", "/usr/bin"), ("/sbin", "/usr/sbin")
TOOLS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("date", "df", "mount", "netstat", "rpm"), _BINARIES),
    **dict.fromkeys(("free", "iostat", "lscpu", "uptime", "vmstat", "w"), ("/usr/bin",)),
    **dict.fromkeys(("ethtool", "ifconfig", "ip", "route"), _ADMINISTRATION),
}
"""Programs of the operating system that show the host's machine and that the rack answers, with the directories that hold them.
"""

TELLING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("arch", "nproc", "uname"), _BINARIES),
    **dict.fromkeys(("dmesg", "findmnt"), _BINARIES),
    "xfs_info": ("/sbin", "/usr/sbin"),
}
"""Such programs that do not need the rack, because their answer is always the same or empty."""

PLACES: Mapping[str, tuple[str, ...]] = {
    **TOOLS,
    **TELLING,
    "CheckHWnFWProfile": ("/opt/oracle.cellos", "/opt/oracle.SupportTools"),
    "MegaCli64": ("/opt/MegaRAID/MegaCli",),
    "crsctl": (f"{GRID_HOME}/bin",),
    "dbmcli": ("/usr/bin", "/usr/local/bin"),
    "dcli": ("/usr/local/bin",),
    "dmidecode": ("/usr/sbin", "/sbin"),
    "exadata.img.hw": ("/opt/oracle.cellos", "/usr/sbin"),
    "imagehistory": ("/usr/local/bin",),
    "imageinfo": ("/usr/local/bin",),
    "ipmitool": ("/usr/bin",),
    "ipconf": ("/usr/local/bin", "/opt/oracle.cellos"),
    "olsnodes": (f"{GRID_HOME}/bin",),
    "orabase": (f"{GRID_HOME}/bin", f"{DATABASE_HOME}/bin"),
    "halt": ("/sbin", "/usr/sbin"),
    "init": ("/sbin", "/usr/sbin"),
    "poweroff": ("/sbin", "/usr/sbin"),
    "reboot": ("/sbin", "/usr/sbin"),
    "service": ("/sbin", "/usr/sbin"),
    "shutdown": ("/sbin", "/usr/sbin"),
    "storcli64": ("/opt/MegaRAID/storcli",),
    "su": ("/bin", "/usr/bin"),
    "sudo": ("/usr/bin",),
    "systemctl": ("/bin", "/usr/bin"),
    "telinit": ("/sbin", "/usr/sbin"),
}
"""Directories, besides the installation directories, under which programs are called by absolute path."""


def become_scripts(logins: Sequence[str], *, everybody: bool) -> dict[str, str]:
    """Return the bodies of ``su`` and ``sudo`` by name.

    Args:
        logins: the logins of this kind of host.
        everybody: every login may use sudo, not only root.
    """
    head = _BECOME.replace("@LOGINS@", "|".join(logins))
    sudo = _SUDO.replace("@SUDOERS@", "|".join(logins) if everybody else "root")
    return {"su": head + _SU, "sudo": head + sudo}


PROCESSES = "processes"
"""The name of the request with which ps asks the rack's process for the processes of a host's services."""


def process_script(call: str) -> str:
    """Return the body of ``ps`` on cells: forms that show all processes list those of the services first.

    Args:
        call: the command that prints the processes of the services.
    """
    return _PS.replace("@CALL@", call).replace("@PS@", shutil.which("ps") or "/bin/ps")


def telling_scripts(kernel: str, threads: int) -> dict[str, str]:
    """Return the scripts that show the kernel and the number of processors; they refuse to show a kernel's log.

    Args:
        kernel: its release, as ``uname -r`` prints it.
        threads: number of processors (threads) of this kind of host.
    """
    return {
        "arch": "echo x86_64\n",
        "nproc": f"echo {threads}\n",
        "dmesg": "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1\n",
        "findmnt": "echo 'findmnt: command not found' >&2; exit 127\n",
        "uname": uname_script(kernel),
        # The file systems of these hosts are ext4. Source: xfsprogs, xfs_info.
        "xfs_info": 'echo "xfs_info: ${1:-.} is not a mounted XFS filesystem" >&2; exit 1\n',
    }


def uname_script(kernel: str) -> str:
    """Return the body of ``uname`` on hosts with this kernel."""
    return _UNAME.replace("@KERNEL@", kernel)


def firmware_scripts() -> dict[str, str]:
    """Return the checks of firmware and network configuration, and the script that shows the server's model.

    The checks find no fault. Source: Oracle DBMMN quotes what both say when nothing is wrong, and has
    ``exadata.img.hw --get model`` under "Determining the Server Model"; nomakcooper/exa_facts.
    """
    return {"CheckHWnFWProfile": _PROFILE, "exadata.img.hw": _MODEL, "ipconf": _IPCONF}


ENV_FUNCTION = """\
function env {
    case "$1" in *=*) ;; *) command env "$@"; return ;; esac
    ( while case "$1" in *=*) true ;; *) false ;; esac; do export "$1"; shift; done
      if [ $# -eq 0 ]; then command env; else "$@"; fi )
}
"""
"""Bash's ``env NAME=value program``; the program may be an absolute path that exists only as a function."""

_UNAME = """\
[ $# -gt 0 ] || set -- -s
s= n= r= v= m= p= i= o=
for word; do
    case "$word" in
        --all) word=-a ;; --kernel-name) word=-s ;; --nodename) word=-n ;; --kernel-release) word=-r ;;
        --kernel-version) word=-v ;; --machine) word=-m ;; --processor) word=-p ;; --hardware-platform) word=-i ;;
        --operating-system) word=-o ;;
    esac
    case "$word" in
        -[asnrvmpio]*) ;;
        *) echo "uname: extra operand '$word'" >&2; exit 1 ;;
    esac
    letters=${word#-}
    while [ -n "$letters" ]; do
        case "$letters" in
            a*) s=1 n=1 r=1 v=1 m=1 p=1 i=1 o=1 ;;
            s*) s=1 ;; n*) n=1 ;; r*) r=1 ;; v*) v=1 ;; m*) m=1 ;; p*) p=1 ;; i*) i=1 ;; o*) o=1 ;;
            *) echo "uname: invalid option -- '$letters'" >&2; exit 1 ;;
        esac
        letters=${letters#?}
    done
done
set --
[ -n "$s" ] && set -- "$@" Linux
[ -n "$n" ] && set -- "$@" "$EXACELL_EMU_HOST"
[ -n "$r" ] && set -- "$@" '@KERNEL@'
[ -n "$v" ] && set -- "$@" '#2 SMP'
[ -n "$m" ] && set -- "$@" x86_64
[ -n "$p" ] && set -- "$@" x86_64
[ -n "$i" ] && set -- "$@" x86_64
[ -n "$o" ] && set -- "$@" GNU/Linux
echo "$*"
"""

_PS = """\
case "$*" in
    -ef|-e\\ -f|-aef|-eaf) form=ef ;;
    aux|-aux|auxw|auxww) form=aux ;;
    '-eo args'|'-e -o args'|'-eo cmd'|'-e -o cmd'|'-eo command'|'-e -o command') form=args ;;
    *) exec @PS@ "$@" ;;
esac
@CALL@ $form
if [ -x @PS@ ]; then exec @PS@ "$@" --no-headers; fi
"""

_BECOME = """\
# become LOGIN FRESH COMMAND [ARG]...: run bash's text as another login; FRESH as after a login of its own.
become() {
    login=$1 fresh=$2
    shift 2
    case "$login" in root) home=/root ;; *) home=/home/$login ;; esac
    if [ -n "$fresh" ]; then
        cd "$home" || exit 1
        set -- "$SHELL" "$@"
        exec /usr/bin/env -i TERM="$TERM" LANG="$LANG" PATH="$PATH" SHELL="$SHELL" BASH_ENV="$BASH_ENV" HOME="$home" \\
            USER="$login" LOGNAME="$login" HOSTNAME="$HOSTNAME" EXACELL_EMU_HOST="$EXACELL_EMU_HOST" \\
            EXACELL_EMU_LOGIN="$login" EXACELL_EMU_SESSION="$EXACELL_EMU_SESSION" "$@"
    fi
    export EXACELL_EMU_LOGIN="$login" HOME="$home" USER="$login" LOGNAME="$login"
    exec "$SHELL" "$@"
}
profiled='[ -f ~/.bash_profile ] && . ~/.bash_profile; eval "$1"'
# session LOGIN FRESH: an interactive shell on a terminal, else one that reads its commands from standard input.
session() {
    if [ -t 0 ]; then become "$1" "$2" --noprofile --rcfile "${BASH_ENV%/*}/.interactive" -i; fi
    if [ -n "$2" ]; then become "$1" 1 -c "$profiled" su 'exec "$SHELL" -s'; fi
    become "$1" '' -s
}
known() { case "$1" in @LOGINS@) ;; *) false ;; esac; }
"""

_SU = """\
fresh= login= command= has=
while [ $# -gt 0 ]; do
    case "$1" in
        -|-l|--login) fresh=1 ;;
        -c|--command) command=$2 has=1; shift ;;
        --command=*) command=${1#*=} has=1 ;;
        -lc|-c*) [ "$1" = -lc ] && fresh=1; command=$2 has=1; shift ;;
        -s|--shell) shift ;;
        -m|-p|-f|--shell=*) ;;
        -*) echo "su: invalid option -- '${1#-}'" >&2; exit 1 ;;
        *) [ -z "$login" ] && login=$1 ;;
    esac
    shift
done
login=${login:-root}
known "$login" || { echo "su: user $login does not exist" >&2; exit 1; }
if [ "$EXACELL_EMU_LOGIN" != root ] && [ "$EXACELL_EMU_LOGIN" != "$login" ]; then
    echo "su: Authentication failure" >&2
    exit 1
fi
if [ -z "$has" ]; then session "$login" "$fresh"; fi
if [ -n "$fresh" ]; then become "$login" 1 -c "$profiled" su "$command"; fi
become "$login" '' -c "$command"
"""

_SUDO = """\
login=root fresh= shell=
while [ $# -gt 0 ]; do
    case "$1" in
        -u|--user) login=$2; shift ;;
        -u*) login=${1#-u} ;;
        --user=*) login=${1#*=} ;;
        -i|--login) fresh=1 ;;
        -n|-E|-H|-S|-k|-b|-nE|-nH|-EH) ;;
        -s) shell=1 ;;
        -l|-ll|-v) exit 0 ;;
        --) shift; break ;;
        -*) echo "sudo: invalid option -- '${1#-}'" >&2; exit 1 ;;
        *) break ;;
    esac
    shift
done
known "$login" || { echo "sudo: unknown user: $login" >&2; exit 1; }
case "$EXACELL_EMU_LOGIN" in
    @SUDOERS@) ;;
    *) echo "$EXACELL_EMU_LOGIN is not in the sudoers file.  This incident will be reported." >&2; exit 1 ;;
esac
if [ -n "$fresh" ]; then
    [ $# -eq 0 ] && session "$login" 1
    become "$login" 1 -c '[ -f ~/.bash_profile ] && . ~/.bash_profile; "$@"' sudo "$@"
fi
if [ -n "$shell" ] && [ $# -eq 0 ]; then session "$login" ''; fi
[ $# -gt 0 ] || { echo "usage: sudo [-n] [-i] [-u user] [VAR=value] command" >&2; exit 1; }
unset ORACLE_HOME ORACLE_SID ORACLE_BASE
while case "$1" in *=*) true ;; *) false ;; esac; do export "$1"; shift; done
become "$login" '' -c '"$@"' sudo "$@"
"""

_PROFILE = """\
[ "$EXACELL_EMU_LOGIN" = root ] || { echo "CheckHWnFWProfile: only root may do this" >&2; exit 1; }
echo "[SUCCESS] The hardware and firmware profile matches one of the supported profiles"
"""

_MODEL = """\
[ "$EXACELL_EMU_LOGIN" = root ] || { echo "exadata.img.hw: only root may do this" >&2; exit 1; }
case "$*" in
    '--get model'|'-get model') PATH="${BASH_ENV%/*}:$PATH" exec dmidecode -s system-product-name ;;
    *) echo "exadata.img.hw: only --get model is possible here" >&2; exit 1 ;;
esac
"""

_IPCONF = """\
case "$1" in
    -verify|--verify)
        echo "Verifying of Exadata configuration file /opt/oracle.cellos/cell.conf"
        echo "Done. Configuration file /opt/oracle.cellos/cell.conf passed all verification checks" ;;
    *) echo "ipconf: only -verify [-semantic] is possible here" >&2; exit 1 ;;
esac
"""
