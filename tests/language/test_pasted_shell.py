"""Lines for programs, typed where a statement is expected."""

from __future__ import annotations

import pytest

from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.pasted_shell import program_error
from exacell.measure.importers.kinds import KINDS
from exacell.opaque.table import table
from exacell.plan.hostsettings import statement_for
from tests.support.every import every


def told(text: str) -> str:
    with pytest.raises(StatementError) as caught:
        parse_line(text)
    return caught.value.hint


@every([
        ("esxcli storage vflash cache stats", "on HOST sh esxcli storage vflash cache stats"),
        ("vscsiStats -p all -c", "on HOST sh vscsiStats -p all -c"),
        ("orion -run advanced -matrix row -num_large 0", "on HOST sh orion -run advanced -matrix row -num_large 0"),
        ("sg_vpd -p bl /dev/sdb", "on HOST sh sg_vpd -p bl /dev/sdb"),
        ("fio job.fio", "on HOST sh fio job.fio"),
        ("fio --dry-run job.fio", "on HOST sh -- fio --dry-run job.fio"),
        ("iostat -xk 5 3 | grep 'a  b'", "on HOST sh iostat -xk 5 3 | grep 'a  b'"),
        ("/usr/bin/iostat -x", "on HOST sh /usr/bin/iostat -x"),
        ("on exa1db01 iostat -xk 5 3", "on exa1db01 sh iostat -xk 5 3"),
        ("cat /sys/block/sdb/queue/max_sectors_kb", "on HOST sh cat /sys/block/sdb/queue/max_sectors_kb"),
        ("crsctl stat res -t", "on @db sh crsctl stat res -t"),
        ("echo noop > /sys/block/sdb/queue/scheduler", "on HOST set setting /sys/block/sdb/queue/scheduler=noop"),
        ("echo noop > /sys/block/$1/queue/scheduler", "on HOST set setting /sys/block/NAME/queue/scheduler=noop"),
        ("echo 0 >> /proc/sys/vm/swappiness", "on HOST set setting /proc/sys/vm/swappiness=0"),
        ("sysctl -w vm.swappiness=0", "on HOST set setting /proc/sys/vm/swappiness=0"),
        (
            "on @ini echo -n '4096 87380 16777216' | sudo tee /proc/sys/net/ipv4/tcp_rmem > /dev/null",
            'on @ini set setting "/proc/sys/net/ipv4/tcp_rmem=4096 87380 16777216"',
        ),
        ("echo 1 > /proc/sysrq-trigger", "on HOST sh echo 1 > /proc/sysrq-trigger"),
        ("echo 'a b' > /tmp/x", "on HOST sh echo 'a b' > /tmp/x"),
    ])  # fmt: skip
def test_a_line_for_a_program_is_answered_with_the_statement_that_does_it(text: str, way: str) -> None:
    """The whole line stands in what is to be typed, which is a statement of the same words; what sets the kernel is planned."""
    assert told(text) == f"type: {way}"
    line = parse_line(way)
    assert line is not None and line.call is not None
    if line.call.command.name == "sh":
        command = line.call.text_arg("command").removeprefix("-- ")
        assert text.endswith(command) and command.split()[0] in text
        assert line.on == way.split()[1] and not line.pipe and not line.redirect


@every(sorted({*table().rows, *(kind.program for kind in KINDS.values() if kind.program)}))
def test_each_program_that_is_known_has_its_way(name: str) -> None:
    """What exacell reads on hosts, and whose output it imports, is known at the prompt, too, by the same table."""
    line = f"{name} -x nonsense"
    error = program_error(line, "")
    assert name in ("asmcmd", "oracleasm", "sqlplus") or (error is not None and error.hint.endswith(f"sh {line}"))


@pytest.mark.parametrize(
    "text",
    [
        "lst cell",
        "what changed?",
        "who changes the rack",
        "free space",
        "echo 1 > /sys/$(reboot)/x",
        "echo `x` > /proc/x",
    ],
)
def test_no_setting_and_no_program_is_made_up(text: str) -> None:
    """A slip and a question keep their answer, and what a shell would work out becomes no setting."""
    assert "set setting" not in told(text)
    if not text.startswith("echo"):
        assert "sh" not in told(text).split()


def test_the_statement_for_a_setting_is_the_planners_own() -> None:
    """Advice and plans write a setting in one way, so that what is advised is what is planned."""
    assert told("echo 5 > /proc/sys/vm/swappiness").endswith(statement_for([("/proc/sys/vm/swappiness", "5")]))
