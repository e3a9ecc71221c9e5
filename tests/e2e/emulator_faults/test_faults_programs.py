"""Programs of other people on the rack: on the PATH of this machine, behind OpenSSH's sshd, and database nodes' ones."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults_bench import C1, C2, Bench

from exacell.emulator import control
from tests.support import sshd as sshd_support
from tests.support.sshd import Sshd

NODE = "exa1db01"
ASM = ". ~/.bash_profile; sqlplus -S -L / as sysasm"


def test_cellcli_on_the_path_of_another_program(bench: Bench, tmp_path: Path) -> None:
    """The path's cellcli is the first cell's, or EXACELL_EMU_HOST's; -e, standard input and @file of the caller work."""
    assert bench.shim("cellcli", "-e", "list", "cell").stdout.split() == [C1, "online"]
    assert bench.shim("cellcli", "-e", "list cell", EXACELL_EMU_HOST=C2).stdout.split() == [C2, "online"]
    assert bench.shim("cellcli", "-n", "-x", stdin="list cell\nlist flashcache\n").stdout.count("\n") == 2
    (tmp_path / "two.scl").write_text("list cell\nlist flashlog\n")
    assert bench.shim("cellcli", "-e", "@two.scl", cwd=tmp_path).stdout.count("\n") == 2


def test_the_path_speaks_for_the_host_and_login(bench: Bench) -> None:
    """hostname, uname -n, whoami and id are the chosen host's and login's; cellmonitor may not change anything."""
    assert bench.shim("sh", "-c", "hostname; uname -n; whoami; id -un").stdout.split() == [C1, C1, *["celladmin"] * 2]
    other = {"EXACELL_EMU_HOST": C2, "EXACELL_EMU_LOGIN": "cellmonitor"}
    assert bench.shim("sh", "-c", "hostname; whoami", **other).stdout.split() == [C2, "cellmonitor"]
    assert "CELL-02913" in bench.shim("cellcli", "-e", "drop flashlog", **other).stdout


def test_database_programs_on_the_path(bench: Bench, tmp_path: Path) -> None:
    """The path's sqlplus and asmcmd are the first database node's as grid, and sqlplus runs scripts of the caller."""
    assert "DATA/" in bench.shim("asmcmd", "lsdg").stdout
    (tmp_path / "groups.sql").write_text(
        "set heading off feedback off\nselect name from v$asm_diskgroup where name='&1';\nexit 3\n"
    )
    done = bench.shim("sqlplus", "-S", "/ as sysasm", "@groups", "RECO", cwd=tmp_path)
    assert (done.stdout.split()[-1], done.returncode) == ("RECO", 3)


def test_an_unknown_host_has_no_such_program(bench: Bench) -> None:
    """A host that is not in the rack is command not found, status 127."""
    done = bench.shim("cellcli", "-e", "list cell", EXACELL_EMU_HOST="exa1cel99")
    assert done.returncode == 127 and "exa1cel99" in done.stderr


def test_faults_reach_programs_on_the_path(bench: Bench) -> None:
    """Faults of statements strike there too; a dropped connection is status 70 and a line on stderr."""
    bench.fault("error", code="CELL-02559", match="flashcache")
    assert bench.shim("cellcli", "-e", "list flashcache").stdout.startswith("CELL-02559:")
    bench.fault("drop", match="list cell")
    done = bench.shim("cellcli", "-e", "list cell")
    assert (done.returncode, done.stdout) == (70, "") and "does not answer" in done.stderr


@pytest.fixture(scope="module")
def front(faulty_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """OpenSSH's own sshd in front of the second cell."""
    if sshd_support.PROGRAM is None:
        pytest.skip("no sshd program is installed (openssh-server)")
    path = control.program_path(faulty_home, "t1")
    config = sshd_support.CONFIG.replace("SetEnv PATH={directory}/bin", f"SetEnv EXACELL_EMU_HOST={C2} PATH={path}")
    assert str(path) in config
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sshd_support, "CONFIG", config)
        server = Sshd(tmp_path_factory.mktemp("front"))
        server.start()
    server.known_hosts()
    server.ssh_config()
    yield server
    server.stop()


@pytest.mark.sshd
def test_opensshs_own_server_in_front(bench: Bench, front: Sshd, tmp_path: Path) -> None:
    """With the path in its SetEnv, a real sshd serves a cell: plain commands, pipelines, scripts on standard input."""

    def ssh(command: str, stdin: str = "") -> str:
        arguments = ["ssh", "-F", str(front.directory / "ssh_config"), "front", command]
        return subprocess.run(arguments, input=stdin, capture_output=True, text=True, timeout=300).stdout

    assert ssh("cellcli -e list cell").split() == [C2, "online"]
    piped = ssh("( hostname; cellcli -e list flashcache detail | egrep size: ) 2>&1").split()
    assert sorted(piped) == sorted([C2, "size:", "364.75G"])
    assert ssh("cellcli -n -x", "alter cell location=front\nlist cell attributes location\n").splitlines()[
        -1
    ].split() == ["front"]
    assert "front" in bench.says("list cell attributes location", host=C2)


def test_errors_of_sql(bench: Bench) -> None:
    """error strikes SQL statements on a database node like Oracle's own errors: block, status by WHENEVER."""
    bench.fault("error", host=NODE, code="ORA-15041", match="create diskgroup")
    script = "whenever sqlerror exit failure\ncreate diskgroup x external redundancy disk 'o/*/nothing*';\n"
    done = bench.ssh(NODE, ASM, stdin=script)
    assert done.returncode == 1 and b"ORA-15041:" in done.stdout and b"ERROR at line 1" in done.stdout
    bench.fault("garbage", host=NODE, match="lsdg")
    assert b"DATA" not in bench.ssh(NODE, ". ~/.bash_profile; asmcmd lsdg").stdout


def test_sqlplus_runs_scripts_of_the_login(bench: Bench) -> None:
    """@file is read in the directory where sqlplus was started; scripts start scripts; EXIT ends it all."""
    bench.ssh(NODE, "cat > outer.sql", stdin="set heading off\n@inner one\nprompt not reached\n")
    bench.ssh(NODE, "cat > inner.sql", stdin="prompt inner &1\nselect 41+1 from dual;\nexit 5\n")
    done = bench.ssh(NODE, f"{ASM} @outer")
    assert done.returncode == 5
    assert [line.strip() for line in done.stdout.decode().splitlines() if line.strip()] == ["inner one", "42"]
    assert b'SP2-0310: unable to open file "missing.sql"' in bench.ssh(NODE, f"{ASM} @missing").stdout


def test_a_script_that_calls_itself_ends(bench: Bench) -> None:
    """Scripts nest twenty deep and no deeper."""
    bench.ssh(NODE, "cat > self.sql", stdin="@self\n")
    done = bench.ssh(NODE, f"{ASM} @self")
    assert done.stdout.count(b"SP2-0309:") == 1 and done.returncode == 0
