"""The daily kinds of shell text that are read."""

from __future__ import annotations

from exacell.opaque.scan import command_findings
from tests.support.every import every

DAILY = [
    "hostname",
    "hostname -f",
    "uptime",
    "date",
    "uname -a",
    "cat /etc/hosts",
    "cat /etc/*release",
    "cat /proc/meminfo",
    "ls -l /opt/oracle",
    "ls -ltr /var/log/*",
    "df -h",
    "free -m",
    "ps -ef | grep cellsrv",
    "ps aux --sort=-rss | head -5",
    "netstat -rn",
    "ip addr",
    "ifconfig -a",
    "ethtool eth0",
    "ibstat",
    "ipmitool sel list",
    "ipmitool sdr",
    "dmidecode -s system-serial-number",
    "lspci",
    "rpm -qa | grep cell",
    "imageinfo",
    "imagehistory",
    "tail -20 /var/log/messages",
    "grep -i error /var/log/messages | tail -5",
    "cat /etc/redhat-release",
    "service celld status",
    "crsctl stat res -t",
    "cellcli -e list cell",
    "cellcli -e \"list griddisk attributes name,size where name like 'DATA.*'\" | awk '{print $1}' | sort -u | wc -l",
    "iostat -x 1 2",
    "vmstat 1 2",
    "cellcli <<EOF\nlist cell\nlist griddisk detail\nEOF",
]


@every(DAILY)
def test_daily_text_is_read(text: str) -> None:
    """What people type every day to look at a cell is read, and changes nothing."""
    found = command_findings(text)
    assert found.unread == []
    assert found.harmless
