"""Who gets in, and what a wrong environment gives."""

from __future__ import annotations

import pytest

GRID = "/u01/app/19.0.0.0/grid"


@pytest.mark.parametrize(
    ("login", "sid", "logon", "codes"),
    [
        ("grid", "+ASM1", "/ as sysasm", []),
        ("grid", "+ASM1", "/ as sysdba", []),
        ("grid", "+ASM1", "sys/any as sysasm", []),
        ("grid", "+ASM1", "/", [1017]),
        ("grid", "+ASM1", "scott/tiger", [1017]),
        ("grid", "+ASM1", "sys/x@elsewhere as sysdba", [12154]),
        ("grid", "SPOT1", "/ as sysdba", [1031]),
        ("oracle", "+ASM1", "/ as sysasm", [1031]),
        ("oracle", "SPOT1", "/ as sysdba", []),
        ("oracle", "SPOT1", "/ as sysasm", [1031]),
        ("root", "+ASM1", "/ as sysasm", [1031]),
    ],
)
def test_who_may(lab, login, sid, logon, codes):
    """Group membership decides; a refused logon with -L ends with status 1."""
    ran = lab.sql("prompt in\n", "-S", "-L", logon, login=login, sid=sid)
    assert ran.codes == codes
    assert ran.status == (1 if codes else 0)
    assert (ran.out == "in\n") is (not codes)


def test_root_is_told_whom_to_use(lab):
    """Root learns which login is meant."""
    assert "log in as grid" in lab.sql("", login="root").err


def test_logon_in_three_words(lab):
    """The connection string may come as one argument or as several."""
    assert lab.sql("prompt in\n", "-S", "/", "as", "sysasm").out == "in\n"


def test_without_l_the_input_is_eaten(lab):
    """Without -L a failed logon asks for a user name and takes the script's lines for it."""
    ran = lab.sql("drop diskgroup reco;\nx\ndrop diskgroup data;\ny\n", "-S", "scott/tiger")
    assert ran.status == 1
    assert "Enter user-name: " in ran.out and "SP2-0157" in ran.out
    assert {"DATA", "RECO"} <= set(lab.asm.groups)


def test_no_sid(lab):
    """Without ORACLE_SID the logon is ORA-12162, without ORACLE_HOME the program does not even start."""
    assert lab.sql("", "-S", "-L", "/ as sysasm", env={"ORACLE_HOME": GRID}).codes == [12162]
    ran = lab.sql("", "-S", "-L", "/ as sysasm", env={"ORACLE_SID": "+ASM1"})
    assert ran.status == 1
    assert "SP2-0750" in ran.err


@pytest.mark.parametrize(("sid", "home"), [("+ASM9", GRID), ("+ASM2", GRID), ("+ASM1", "/u01/app/oracle/db")])
def test_idle_instance(lab, sid, home):
    """A SID that does not run here, or the wrong home, is an idle instance: statements are ORA-01034, ORA-27101."""
    ran = lab.sql("select 1 from dual;\n", sid=sid, home=home)
    assert ran.codes == [1034, 27101]
    assert "Connected to an idle instance." in lab.sql("", "-L", "/ as sysasm", sid=sid, home=home).out


def test_nolog_and_connect(lab):
    """After /nolog there is no connection until CONNECT; SP2-0640 is no SQL error."""
    ran = lab.sql("whenever sqlerror exit 3\nselect 1 from dual;\nconnect / as sysasm\nshow user\n", "-S", "/nolog")
    assert ran.lines == ["SP2-0640: Not connected", "Connected.", 'USER is "SYS"']
    assert ran.status == 0
    assert lab.sql("whenever sqlerror exit 3\nconnect scott/tiger\n", "-S", "/nolog").status == 3


def test_the_slash_may_touch_the_privilege(lab):
    """``sqlplus "/as sysasm"`` logs in as ``/ as sysasm`` does."""
    assert lab.sql("select count(*) from v$asm_diskgroup;\n", "-S", "-L", "/as sysasm").lines[-1].strip() == "2"
