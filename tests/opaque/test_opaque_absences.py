"""Texts that nobody reads and that take disks away from ASM: what is found in them, and for what kind of work."""

from __future__ import annotations

import pytest

from exacell.opaque.scan import absences_in, command_findings
from tests.support.every import every

AWAY = {
    "reboot": "reboot",
    "/sbin/reboot -f": "reboot",
    "sync; reboot": "reboot",
    "shutdown -r now": "reboot",
    "shutdown -y -r now": "reboot",
    "shutdown -ry now": "reboot",
    "init 6": "reboot",
    "telinit 6": "reboot",
    "systemctl reboot": "reboot",
    "systemctl --force reboot": "reboot",
    "kexec -e": "reboot",
    "echo b > /proc/sysrq-trigger": "reboot",
    "ipmitool -H ilom chassis power cycle": "reboot",
    "ipmitool power reset": "reboot",
    "ssh ilom reset -script /SYS": "reboot",
    "./patchmgr -cells cells -patch -rolling": "patch",
    "./patchmgr --storage cells --upgrade": "patch",
    "patchmgr -cells cells -rollback": "patch",
    "for c in a b; do cellcli -e alter softwareupdate upgrade; done": "patch",
    "service celld restart": "service",
    "/etc/init.d/celld restart": "service",
    "systemctl restart celld": "service",
    "systemctl try-restart celld": "service",
    "pkill -9 cellsrv": "service",
    "killall cellsrv": "service",
    "service celld stop": "",
    "systemctl stop celld": "",
    "poweroff": "",
    "halt -p": "",
    "shutdown -h now": "",
    "shutdown now": "",
    "shutdown +5": "",
    "init 0": "",
    "systemctl poweroff": "",
    "ipmitool chassis power off": "",
    "ipmitool power soft": "",
    "ssh ilom stop -f /SYS": "",
}


@every(AWAY.items())
def test_what_takes_a_cell_away_is_found(text: str, kind: str) -> None:
    """Each by its kind of work, alone and inside of other text."""
    for whole in (text, f"if true; then {text}; fi", text.upper()):
        assert [found.kind for found in absences_in(whole)] == [kind], whole
    assert command_findings(f"x=1; {text}").absences


@pytest.mark.parametrize(
    "text",
    [
        "patchmgr -cells cells -patch_check_prereq -rolling",
        "./patchmgr -cells cells -cleanup",
        "fio job.fio",
        "service celld status",
        "systemctl status celld",
        "cat rebooted.txt",
        "shutdown -c",
        "alter cell shutdown services ms",
        "sqlplus / as sysasm <<E\nalter diskgroup DATA online all;\nE",
        "init 3",
    ],
)
def test_what_takes_nothing_away_is_left_alone(text: str) -> None:
    """Prerequisites, states, loads, and what only brings disks back."""
    assert absences_in(text) == ()


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("alter diskgroup data offline disks in failgroup x", ["DATA"]),
        ("begin execute immediate 'alter diskgroup reco offline disk a'; end;", ["RECO"]),
        ("asmcmd offline -G DATA -F exa1cel01", ["DATA"]),
        ('alter diskgroup "DATA" offline\ndisks in regular failgroup x', ["DATA"]),
        ("alter diskgroup data offline disk a drop after 5h", []),
        ("asmcmd offline -G data -D a -t 5h", []),
    ],
)
def test_disks_that_sql_takes_offline_go_by_their_group_s_clock(text: str, groups: list[str]) -> None:
    """The disk group is named; where DROP AFTER gives another time its own clock does not count."""
    assert [found.group for found in absences_in(text)] == groups


@pytest.mark.parametrize(
    ("text", "elsewhere"),
    [
        ("reboot", False),
        ("ssh exa1cel01 reboot", True),
        ("dcli -g cells reboot", True),
        ("./patchmgr -cells c -patch", True),
        ("ipmitool -H x power off", True),
    ],
)
def test_whether_a_text_reaches_cells_from_elsewhere(text: str, elsewhere: bool) -> None:
    """A host beside the cells has no disk of ASM's; what goes on to cells counts there, too."""
    assert [found.elsewhere for found in absences_in(text)] == [elsewhere]
