"""What SQL and asmcmd that are not read otherwise would do to disk groups."""

from __future__ import annotations

import pytest

from exacell.care.sqltext import asm_losses, refuse_losses
from exacell.core.errors import RefusedError
from exacell.opaque.scan import command_findings
from tests.support.every import every

LOSING = {
    "drop diskgroup data force including contents": "DATA",
    "DROP /* x */ DISKGROUP DATA INCLUDING CONTENTS": "DATA",
    "drop -- x\n diskgroup data": "DATA",
    "begin execute immediate 'drop diskgroup data including contents'; end;": "DATA",
    "alter diskgroup data drop disk DATA_CD_00 force": "DATA",
    "alter diskgroup data add disk 'o/*/x' drop disks in failgroup f force": "DATA",
    "alter diskgroup data drop file '+DATA/x'": "DATA",
    "alter diskgroup data dismount force": "DATA",
    "alter diskgroup all dismount force": "ALL",
    "alter diskgroup data, reco dismount force": "DATA",
    "alter diskgroup data add disk 'o/*/RECO*' force": "DATA",
    "create diskgroup x external redundancy disk 'o/*/DATA*' force": "X",
    "asmcmd dropdg -r -f DATA": "DATA",
    "su - grid -c 'asmcmd dropdg data'": "DATA",
    "asmcmd rm -rf +DATA/SPOT": "DATA",
    "asmcmd --privilege sysasm rm '+DATA/SPOT/x'": "DATA",
    "asmcmd umount -f DATA": "DATA",
    'alter diskgroup "DATA" drop disk x force': "DATA",
    "alter diskgroup data offline disks in failgroup f drop after 0m": "DATA",
    "alter diskgroup data offline disk a drop after 29 m": "DATA",
    "asmcmd offline -G DATA -F exa1cel01 -t 0m": "DATA",
    "asmcmd offline -D a -G DATA -t 10m": "DATA",
    "alter diskgroup data set attribute 'disk_repair_time'='0m'": "DATA",
    "alter diskgroup data set attribute 'content.type'='data', 'failgroup_repair_time' = '5 m'": "DATA",
    "begin execute immediate q'[alter diskgroup data set attribute 'disk_repair_time'='1m']'; end;": "DATA",
    "asmcmd setattr -G DATA disk_repair_time 5m": "DATA",
    "sqlplus / as sysasm <<E\ndrop diskgroup data\nincluding contents;\nE": "DATA",
}
KEEPING = [
    "alter diskgroup data mount force",
    "alter diskgroup data drop disk DATA_CD_00",
    "alter diskgroup data drop disk a noforce",
    "alter diskgroup data online disks in failgroup f",
    "alter diskgroup data dismount",
    "create diskgroup x external redundancy disk 'o/*/x*' noforce",
    "asmcmd lsdg",
    "alter diskgroup data offline disk a drop after 30m",
    "alter diskgroup data offline disk a drop after 8h",
    "asmcmd offline -G data -D a -t 8h",
    "alter diskgroup data set attribute 'disk_repair_time'='3.6h'",
    "asmcmd setattr -G data failgroup_repair_time 24h",
    "asmcmd umount DATA",
    "drop table x",
]


@every(LOSING.items())
def test_what_a_disk_group_would_lose_needs_its_name(text: str, group: str) -> None:
    """Nothing takes a disk group, its files or its disks by FORCE before its loss is accepted by its name."""
    losses = asm_losses(text)
    assert list(losses) == [group]
    with pytest.raises(RefusedError, match=f"data would be lost on {group}") as caught:
        refuse_losses(text, losses, ("OTHER",))
    assert caught.value.hint == f"--accept-data-loss={group} accepts it; -y and --accept-opaque never do"
    refuse_losses(text, losses, (group.lower(),))


@every(KEEPING)
def test_what_takes_nothing_by_force_needs_no_name(text: str) -> None:
    """ASM's own checks stand before whatever is done without FORCE to disks that it can spare."""
    assert not asm_losses(text)


def test_what_only_shows_something_loses_nothing() -> None:
    """A command that prints or looks for such words is no change of a disk group."""
    assert not command_findings("grep 'drop diskgroup data' /var/log/messages").losses
    assert command_findings("sqlplus / as sysasm <<E\ndrop diskgroup data;\nE").losses == {"DATA": "it is dropped"}
