"""Which command lines need a shell, and what the others mean."""

from __future__ import annotations

import subprocess

import pytest
from server_fakes import RunningRack

from exacell.emulator.basics.names import DATABASE_HOME, GRID_HOME
from exacell.emulator.hosts.kinds import CELL, DBNODE
from exacell.emulator.hosts.simple_command import simple_command

PLAIN = (
    "cellcli -e list cell",
    "cellcli -e 'list cell detail'",
    'cellcli -e "list cell detail"',
    "  cellcli   -e\tlist  cell  ",
    """cellcli -e "list griddisk where name like 'a.*'" """,
    """cellcli -e 'list x where a="b"'""",
    r"cellcli -e list x where name like \'FC.\*\'",
    r"cellcli -e list x where size \> 1G",
    r'cellcli "a\"b\\c\$d\`e\f"',
    "cellcli -e ''",
    "cellcli a'b'\"c\"d",
    "cellcli -e list cell where status != normal",
    "cellcli -e 'a;b|c>d<e$f(g)'",
    'cellcli -e "a;b|c>d<e(g)*?[x]"',
    "cellcli a=b",
)

NEEDS_SHELL = (
    "",
    "   ",
    "( hostname; cellcli -e list cell ) 2>&1",
    "cellcli -e list cell | wc -l",
    "cellcli -e list cell > f",
    "cellcli -e list cell; true",
    "cellcli &",
    "cellcli $HOME",
    'cellcli "$HOME"',
    'cellcli "`id`"',
    "cellcli *",
    "cellcli a?",
    "cellcli [a]",
    "cellcli {a,b}",
    "cellcli ~",
    "cellcli # comment",
    "cellcli 'open",
    'cellcli "open',
    "cellcli\\",
    "cellcli a\ncellcli b",
    "! cellcli",
    "A=1",
    "env -i cellcli",
)


@pytest.mark.parametrize("line", PLAIN)
def test_a_shell_would_split_plain_commands_into_the_same_words(line: str) -> None:
    """A line that is taken as plain has exactly the words that a real shell makes of it."""
    command = simple_command(line)
    assert command is not None
    script = f"cellcli() {{ printf '%s\\0' cellcli \"$@\"; }}; {line}"
    words = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert command.words == tuple(words.split("\0")[:-1])


@pytest.mark.parametrize("line", NEEDS_SHELL)
def test_what_a_shell_expands_or_redirects_is_left_to_a_shell(line: str) -> None:
    """A line in which a shell would do more than split and unquote is not taken as plain."""
    assert simple_command(line) is None


@pytest.mark.parametrize("prefix", ["", "env "])
def test_assignments_in_front_become_the_environment(prefix: str) -> None:
    """NAME=value words before the program are its environment, with or without env; later ones are arguments."""
    command = simple_command(f"{prefix}ORACLE_SID=+ASM1 ORACLE_HOME='/u01/a b' sqlplus -S '/ as sysasm' X=1")
    assert command is not None
    assert command.words == ("sqlplus", "-S", "/ as sysasm", "X=1")
    assert dict(command.environment) == {"ORACLE_SID": "+ASM1", "ORACLE_HOME": "/u01/a b"}


def test_programs_are_known_by_name_and_where_they_are_installed() -> None:
    """A host's kind answers its own programs, bare or by installed path, and no others."""
    assert CELL.answers("cellcli") and DBNODE.answers("sqlplus") and DBNODE.answers(f"{GRID_HOME}/bin/asmcmd")
    assert not CELL.answers("sqlplus") and not DBNODE.answers("cellcli") and not DBNODE.answers("/tmp/bin/asmcmd")


def test_processes_of_a_node_are_its_instances(rack: RunningRack) -> None:
    """On a database node ps shows services and instances in the forms that scripts ask for; anything else is the machine's
    ps."""
    full = rack.ssh("exa1db01", "ps -ef | grep pmon | grep -v grep | awk '{print $NF}'").stdout.split()
    assert full == ["asm_pmon_+ASM1", "ora_pmon_SPOT1", "ora_pmon_ERP1"]
    assert "asm_smon_+ASM1" in rack.ssh("exa1db01", "ps -eo args").stdout.splitlines()
    assert rack.ssh("exa1db01", "ps aux | awk '/lgwr_ERP1/ {print $1}'").stdout == "oracle\n"
    assert rack.ssh("exa1db01", "ps -p $$ -o pid=").stdout.strip().isdigit()
    listed = rack.ssh("exa1db01", "ps -ef").stdout
    for process in ("/sbin/init", "bin/ocssd.bin", "bin/crsd.bin reboot", "bin/tnslsnr LISTENER"):
        assert process in listed


def test_oraenv_sets_the_home_of_a_sid(rack: RunningRack) -> None:
    """Sourced with ORAENV_ASK=NO it exports the home that the instance runs from."""
    line = "export ORAENV_ASK=NO ORACLE_SID={}; . oraenv > /dev/null; printenv ORACLE_HOME"
    assert rack.ssh("exa1db01", line.format("+ASM1")).stdout == f"{GRID_HOME}\n"
    assert rack.ssh("exa1db01", line.format("SPOT1")).stdout == f"{DATABASE_HOME}\n"
    assert "oraenv" in rack.ssh("exa1cel01", ". oraenv").stderr
