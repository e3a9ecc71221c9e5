"""The table of commands that only read: its form, what is not in it, and that all of it can be used."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from exacell.opaque.findings import UnreadError
from exacell.opaque.scan import command_findings
from exacell.opaque.shell import read_shell
from exacell.opaque.table import Row, table
from tests.support.every import every

ROWS = table().rows

BUILTINS = """
    . : [ [[ ]] { } ! alias bg bind break builtin caller case cd chdir command compgen complete compopt continue coproc
    declare dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash
    help history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set
    shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset until wait while
    autoload compound enum float getconf hist integer nameref newgrp print redirect sleep stop whence basename chmod cp
    dirname ln logname mkdir mktemp mv rm bye comparguments compadd compcall compctl compdescribe compfiles compgroups
    compquote compset comptags comptry compvalues disable echotc echoti emulate end foreach functions getln log limit
    nocorrect noglob private pushln r rehash repeat sched setopt ttyctl unfunction unhash unlimit unsetopt vared where
    which zcompile zformat zle zmodload zparseopts zregexparse zstyle always global rename realpath mknod nice ps1
"""
"""Builtins and reserved words of bash, dash, mksh, ksh93, busybox sh and zsh, as these list them themselves."""

EXAMPLES = {
    "FILE": ["/etc/hosts"],
    "FILES": ["/etc/hosts", "/etc/*release", "/etc/hosts /etc/passwd"],
    "PLACE": ["/etc/hosts", "/usr/bin/ls"],
    "PLACES": ["/etc", "/tmp/*", "/etc /var/log/messages"],
    "COUNT": ["5"],
    "START": ["20", "+20"],
    "SECONDS": ["1"],
    "TIMES": ["2"],
    "AGO": ["-1", "+30"],
    "SIZE": ["+100M"],
    "TEXT": ["x", "'a b'"],
    "NAME": ["celld"],
    "NAMES": ["name,status"],
    "PACKAGE": ["kernel", "'cell*'"],
    "INTERFACE": ["eth0", "bondib0"],
    "COLUMNS": ["pid,args"],
    "ORDER": ["-rss"],
    "KEY": ["2", "1,3nr"],
    "CHARACTER": ["','", "' '"],
    "FIELDS": ["1", "1-3,5"],
    "CHARACTERS": ["a-z", "'[:upper:]'"],
    "LINES": ["5p", "'5,$p'"],
    "PRINT": ["'{print $1}'", "'{print $1,$3}'"],
    "MOMENT": ["+%F"],
    "SLOT": ["00:1f.0"],
    "KEYWORD": ["system-serial-number"],
    "TYPES": ["memory", "0,1"],
    "NETWORK": ["DEV"],
    "SERVICE": ["celld", "sshd"],
    "VARIABLE": ["vm.swappiness"],
    "UNIT": ["celld.service"],
    "FORM": ["f"],
    "BYTES": ["M"],
    "LOGIN": ["/", "'/ as sysdba'"],
    "FIRST": ["hello", "''"],
    "PRINTED": ["world", "a -e 'b c'"],
    "SHOWN": ["NAME,SIZE", "NAME,ROTA,SCHED"],
    "SORTED": ["%CPU", "-RES"],
    "PORT": [":1521"],
    "MOUNTED": ["/", "/u01"],
    "STATISTICS": ["io,mem", "exec_ntotal"],
    "ASMPATH": ["+DATA", "+DATA/SPOT/DATAFILE/system.256.1"],
    "MDARRAY": ["/dev/md0", "/dev/md/root"],
    "LEVEL": ["3"],
    "DISK": ["/dev/sda", "/dev/nvme0n1", "/dev/mapper/mpatha"],
    "INTERNET": ["", "TCP", "TCP:1521", "4UDP"],
    "STATES": ["TCP:LISTEN"],
    "WHEN": ["today", "'1 hour ago'", "'2026-11-29 02:00:00'", "-2h"],
    "BOOT": ["-1"],
    "JOURNALFORM": ["short-iso"],
    "SMARTLOG": ["error"],
    "DRIVE": ["megaraid,8"],
    "PROCESSES": ["ALL", "4711"],
    "SARFILE": ["/var/log/sa/sa28"],
    "CLOCK": ["02:00", "02:00:30"],
    "RECORD": ["SRV"],
    "ADDRESS": ["192.168.10.1"],
    "ADRSHOW": ["'show homes'", "'set home diag/rdbms/spot/SPOT1; show alert -tail 50'"],
    "LISTING": ["'list dbserver attributes name, status'"],
}


def written(word: str) -> list[str]:
    """Return examples of a word of the table."""
    kind = max((kind for kind in table().kinds if word.endswith(kind)), key=len, default="")
    return [word.removesuffix(kind) + value for value in EXAMPLES[kind]] if kind else [word]


def shapes(row: Row) -> Iterator[str]:
    """Yield commands that have each shape and each option of a row."""
    before = f"{row.name} " + " ".join(row.needs)
    if row.name == "cellcli":
        yield from (f"cellcli {option} -e list cell" for option in row.options)
        return
    if row.name == "sqlplus":
        return
    for shape in row.operands:
        parts = [part for part in shape.split() if part != "|"]
        feeding = "cat /etc/hosts | " if shape.endswith("|") else ""
        texts = [""]
        for part in parts:
            texts = [f"{text} {value}" for text in texts for value in written(part)]
        yield from (f"{feeding}{before}{text}" for text in texts)
    plain = next(shapes_of_operands(row))
    for letter in row.letters:
        yield f"{plain} -{letter}"
    if row.letters:
        yield f"{plain} -{row.letters}"
    for option in row.options:
        name, _, kind = option.partition(" ")
        for value in written(kind) if kind else written(name):
            yield f"{plain} {name} {value}" if kind else f"{plain} {value}"


def shapes_of_operands(row: Row) -> Iterator[str]:
    """Yield commands of a row without options but those that it needs."""
    for shape in row.operands:
        words = [written(part)[0] for part in shape.split() if part != "|"]
        yield " ".join(
            [*(["cat /etc/hosts |"] if shape.endswith("|") else []), row.name, *row.needs, *words],
        )


ALL = sorted({text for row in ROWS.values() for text in shapes(row)})


@every(ALL)
def test_everything_in_the_table_can_be_used(text: str) -> None:
    """Each option and each shape of each row is read where it is written as the table has it."""
    assert read_shell(text).pipelines


@every(ROWS.values(), name=lambda row: row.name)
def test_row_tells_why_and_whence(row: Row) -> None:
    """Each row says why it changes nothing and where that is written, and what it takes."""
    assert row.why
    assert row.source
    assert row.operands
    assert not set(row.letters) - set("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert all(option.startswith("-") for option in (*row.options, *row.needs))
    assert set(row.sockets) <= {"netlink", "inet", "unix"}


@every(ROWS.values(), name=lambda row: row.name)
def test_words_in_capitals_are_kinds(row: Row) -> None:
    """No kind is misspelt: whatever ends in three capitals is one, but for words that programs themselves have."""
    for text in (*row.options, *row.operands):
        for part in text.split():
            capitals = re.search(r"[A-Z]{3,}$", part)
            if capitals and part not in ("ALL", "SYSDBA", "SYSASM", "-SILENT"):
                assert any(part.endswith(kind) for kind in table().kinds), part


def test_no_builtin_and_no_reserved_word_is_in_the_table() -> None:
    """What a shell does by itself is not in the table, so that every command of it is a program everywhere."""
    assert set(BUILTINS.split()) & set(ROWS) == {"echo"}  # Printed alike by all, see test_builtins.
    assert not {"xxd", "less", "more", "env", "xargs", "sudo", "tee", "dd", "sh", "bash"} & set(ROWS)


def test_table_is_as_long_as_people_need() -> None:
    """The table holds some dozens of commands, each once."""
    assert 60 <= len(ROWS) <= 120


def test_every_kind_has_an_example_that_fits() -> None:
    """All kinds are tried, and their patterns match them."""
    assert set(EXAMPLES) == set(table().kinds)


NEAR = [
    "{name} -Z", "{name} --zzz", "{name} --help", "{name} $x", "{name} -", "{name} --", "{name} -- /etc/hosts",
    "{name} ../x", "{name} /dev/watchdog", "{name} /run/x", "{name} *", "{name} -*", "{name} /etc/../dev/x",
    "{name} > /tmp/x", "{name} <<EOF\nx\nEOF", "{name} &", "{name} `x`", "x={name} {name}", "./{name}", "/tmp/{name}",
]  # fmt: skip


TEXTS = ("{name} ../x", "{name} /dev/watchdog", "{name} /run/x", "{name} /etc/../dev/x")
"""What is the pattern of a process where a pattern stands."""


@every(ROWS)
def test_what_no_row_takes_is_unread(name: str) -> None:
    """No command takes an unlisted option, a device, a file elsewhere, a pattern alone or a redirection to a file."""
    for shape in NEAR:
        found = command_findings(shape.format(name=name))
        assert found.unread or (name == "pgrep" and shape in TEXTS) or name == "echo", shape


MORE = ("-Z", "--output=/tmp/x", "-o/tmp/x", "--zzz", "/dev/watchdog", "../x")
"""Words that no row takes; behind tr the last two are characters."""


@every([text for text in ALL[::3] if " -e " not in text and not text.startswith("echo ")])
def test_nothing_more_may_stand_behind_what_is_read(text: str) -> None:
    """A text that is read is unread with one more word that its last command does not take."""
    for more in MORE[: 4 if "| tr" in text else None]:
        with pytest.raises(UnreadError):
            read_shell(f"{text} {more}")


def test_long_options_are_not_read_cut_short() -> None:
    """No long option is read without its last letters."""
    for row in ROWS.values():
        for option in row.options:
            name = option.partition(" ")[0].partition("=")[0]
            if name.startswith("--") and name[:-1] not in row.options:
                with pytest.raises(UnreadError):
                    read_shell(f"{row.name} {name[:-1]}")


READS = [
    "lsblk -o NAME,SIZE", "lsblk -d -o NAME,ROTA,SCHED", "lsblk -dno NAME", "top -b -n 1 | head -20", "top -bn1",
    "top -bn 1 -o %CPU", "top -b -n 2 -d 5 -c", "cellsrvstat -interval=5 -count=2",
    "cellsrvstat -stat_group=io,mem -interval=1 -count=3", "cellsrvstat", "lsof -i -n -P | head", "lsof -inP",
    "lsof -i :1521", "lsof -u oracle", "xfs_info /", "xfs_info /u01", "echo hello", "echo", "echo -n hello", "echo a -e",
    "echo '--- disks ---'; lsblk", "cat /sys/block/sdh/queue/max_sectors_kb",
    "cat /sys/block/sda/queue/scheduler /sys/block/sdb/queue/scheduler",
    "cat /proc/sys/fs/aio-max-nr /proc/sys/kernel/shmmax", "cat /sys/kernel/mm/transparent_hugepage/enabled", "asmcmd lsdg",
    "asmcmd lsdg DATA", "asmcmd lsdsk -k", "asmcmd lsdsk -k -G DATA", "asmcmd lsdsk --candidate", "oracleasm listdisks",
    "oracleasm status", "sysctl -a", "sysctl -a | grep dirty", "mdadm --detail /dev/md0", "mdadm -D /dev/md0", "multipath -ll",
    "iscsiadm -m session", "iscsiadm -m session -P 3", "iscsiadm -m node", "opatch lsinventory", "opatch lspatches",
    "oifcfg getif", "oifcfg iflist -p -n", "ocrcheck", "crsctl get css misscount", "srvctl status instance -d SPOT -i SPOT1",
    "asmcmd lsattr -l -G DATA", "asmcmd lsattr -G DATA -l", "asmcmd ls +DATA", "asmcmd ls -l +DATA/SPOT", "asmcmd lsof",
    "cat /sys/block/*/queue/scheduler", "cat /sys/block/sd?/queue/max_sectors_kb", "grep . /sys/block/sd*/queue/nr_requests",
    "cat /sys/block/*/device/queue_depth /etc/hosts", "cat /sys/class/net/*/mtu", "ls -l /dev/sd*", "ls -l /dev/sda1",
    "ls -l /dev/nvme*n1", "ls -l /dev/mapper", "ls -l /dev/mapper/*", "ls -l /dev/disk/by-id", "ls /dev/oracleasm/disks/*",
    # Of a day at a database node.
    "lsblk /dev/sda", "lsblk -f /dev/sda /dev/nvme0n1", "lsof -nP -iTCP -sTCP:LISTEN", "lsof -iTCP:1521", "lsof /u01",
    "journalctl --since today", "journalctl --since '2026-11-29 02:00:00' --until '2026-11-29 03:00:00' --no-pager",
    "journalctl -u celld -n 50", "journalctl -xeu ohasd", "journalctl -b -1 -p err", "journalctl -o short-iso --since '-2h'",
    "journalctl --list-boots", "journalctl --disk-usage", "timedatectl", "timedatectl status", "timedatectl show",
    "hostnamectl", "smartctl -a /dev/sda", "smartctl -H -d megaraid,8 /dev/sda", "smartctl -l error /dev/nvme0",
    "smartctl -x /dev/sda", "nvme smart-log /dev/nvme0", "nvme error-log /dev/nvme0n1",
    "stat /u01/app/oracle", "stat -c %a /etc/oratab", "findmnt /u01",
    "findmnt -t nfs4",
    "findmnt /", "stat /", "fuser -v /u01", "fuser /dev/sda", "pidstat -d 1 3", "pidstat -u -p ALL 1 1", "pstree -ap oracle",
    "ps -fu oracle", "sar -q -f /var/log/sa/sa28 -s 02:00 -e 03:00", "nfsstat -m", "dmesg -T --level=err,warn",
    "ss -tan state established", "ip route get 192.168.10.1", "ethtool -m re0", "sysctl kernel.shmmax kernel.shmall",
    "systemctl list-units --type=service --state=running", "systemctl show -p MainPID chronyd", "systemctl cat chronyd",
    "systemctl list-timers --all", "awk -F: '{print $1,$3}' /etc/passwd", "dig +short exa1-scan", "dig -x 192.168.10.1",
    "tnsping SPOT 3", "oerr ora 600", "adrci exec='show homes'",
    "adrci exec='set home diag/rdbms/spot/SPOT1; show alert -tail 50'", "/u01/app/19.0.0.0/grid/bin/crsctl stat res -t",
    "/u01/app/oracle/product/19.0.0.0/dbhome_1/OPatch/opatch lspatches",
    "/u01/app/19.0.0.0/grid/bin/crsctl stat res ora.asm -t", "crsctl get cluster mode status", "srvctl config service -d SPOT",
    "srvctl status vip -n exa1db01", "srvctl config scan_listener", "asmcmd lspwusr",
    "cat /u01/app/oracle/product/19.0.0.0/dbhome_1/network/admin/tnsnames.ora", "cat /proc/4711/limits",
    "cat /sys/class/net/re0/statistics/rx_errors", "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "cat /root/cell_group",
]  # fmt: skip

UNREAD = [
    "lsblk --sysroot /tmp", "top", "top -b", "top -n 1", "top -b -n 0", "cellsrvstat -interval=5", "cellsrvstat -count=0",
    "lsof -D b", "lsof -r", "lsof -r 2 -i", "lsof /dev/sda", "xfs_info /dev/sda", "xfs_info -V /", "xfs_info",
    "xfs_info / /u01", "xfs_info /tmp/x", "echo -e x", "echo -E x", "echo -ne x", "echo -n -n x", "echo - x", "echo 'a\\nb'",
    "echo *", "echo $HOME", "echo x > /tmp/x", "cat /sys/block/sdh/device/delete", "cat /sys/block/sdh/trace/enable",
    "cat /sys/kernel/debug/x", "cat /proc/kmsg", "cat /proc/sys/vm/drop_caches", "asmcmd", "asmcmd lsdg -i 1",
    "asmcmd dropdg DATA", "asmcmd cp x y", "asmcmd rm DATA/x", "oracleasm deletedisk X", "oracleasm scandisks",
    "oracleasm configure", "oracleasm listdisks -x",
    "lsblk /etc/hosts", "lsof +D /u01", "journalctl --vacuum-size=1M", "journalctl --vacuum-time 1d", "journalctl --rotate",
    "journalctl --flush", "journalctl --sync", "journalctl --relinquish-var", "journalctl --setup-keys",
    "journalctl --update-catalog", "journalctl -f", "journalctl -D /tmp", "journalctl --since", "timedatectl set-time 12:00",
    "timedatectl set-ntp false", "timedatectl -H c1 status", "hostnamectl set-hostname x", "hostnamectl hostname x",
    "smartctl -t short /dev/sda", "smartctl -X /dev/sda", "smartctl -s off /dev/sda", "smartctl -o on /dev/sda",
    "smartctl --set=wcache,off /dev/sda", "smartctl -l scterc,70,70 /dev/sda", "smartctl -l scttempint,1 /dev/sda",
    "smartctl -a /etc/hosts", "smartctl -B /tmp/x /dev/sda", "nvme format /dev/nvme0", "nvme sanitize /dev/nvme0",
    "nvme smart-log /etc/hosts", "nvme reset /dev/nvme0", "storcli64 /c0 set jbod=on", "storcli64 /c0/e1/s1 start erase",
    "storcli64 /c0/v0 del", "storcli64 show file=/tmp/x", "stat --printf=x /etc", "findmnt --poll", "fuser -k /u01",
    "fuser -km /u01", "fuser -i /u01", "pidstat -e rm x", "pidstat 1", "sar -f /etc/passwd", "sar -o /tmp/x 1 2", "sar -f",
    "nfsstat -z", "dmesg -C", "dmesg -w", "ip route flush table 1", "ip route get 1.2.3.4 mark 1", "ethtool -M re0",
    "systemctl list-units --root=/tmp", "systemctl isolate rescue", "systemctl edit chronyd", "systemctl cat chronyd -H c1",
    "awk -F: '{system($1)}' /etc/passwd", "awk -F: -f /etc/x /etc/passwd", "awk -F", "dig @8.8.8.8 x", "dig -f /etc/hosts",
    "dig -k /etc/key x", "tnsping SPOT x", "adrci exec='purge'", "adrci exec='show alert'", "adrci exec='show alert -tail -f'",
    "adrci exec='show homes; purge -age 1'", "adrci exec='spool /tmp/x'", "adrci exec='host id'", "adrci script=/tmp/x",
    "/tmp/crsctl stat res -t", "/u01/app/bin/crsctl stat res -t", "/u01/app/../tmp/bin/crsctl stat res -t",
    "/u01/app/x/bin/lsblk", "/u01/app/x/OPatch/crsctl stat res -t", "/u01/app/x/bin/opatch lspatches",
    "/opt/MegaRAID/storcli/smartctl -a /dev/sda", "crsctl stop res ora.asm", "crsctl set cluster mode standard",
    "srvctl stop vip -n exa1db01", "asmcmd rmusr x", "cat /proc/4711/environ", "cat /proc/4711/mem", "cat /proc/self/environ",
    "cat /u01/app/x/network/admin/../../../../../etc/shadow.ora", "cat /u01/app/x/network/admin/wallet.ora",
    "cat /root/.ssh/id_rsa", "cat /sys/module/nvme/parameters/x",
]  # fmt: skip


@every(READS)
def test_what_a_dba_types_on_a_host_is_read(text: str) -> None:
    """Commands that only show something are read, whichever of their usual options stand there."""
    assert command_findings(text).harmless, command_findings(text).unread


@every(UNREAD)
def test_their_neighbours_that_may_change_something_are_not(text: str) -> None:
    """What writes, goes on without end, or reaches a device is not read."""
    assert command_findings(text).unread


def test_only_asmcmd_that_is_read_asks_for_its_environment() -> None:
    """The environment of Grid Infrastructure is for texts that only read and call asmcmd."""
    assert command_findings("asmcmd lsdg | head -3").asks_asm
    assert not command_findings("asmcmd rm DATA/x").asks_asm and not command_findings("uptime").asks_asm
