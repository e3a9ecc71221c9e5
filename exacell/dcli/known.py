"""Commands that only show something, and commands that run another one: what a reader of shell text has to know.

A command that is not here is not taken for harmless. Source: the manual pages of the commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from exacell.dcli.shellwords import Word


def _behind_options(*with_value: str) -> Callable[[Sequence[Word]], Sequence[Word]]:
    """Return a function that cuts a prefix command's own options off; those ``with_value`` take the next word."""

    def cut(words: Sequence[Word]) -> Sequence[Word]:
        rest = list(words)
        while rest and (rest[0].text.startswith("-") or re.match(r"[A-Za-z_]\w*=", rest[0].text)):
            option = rest.pop(0).text
            if option in with_value and rest:
                rest.pop(0)
        return rest

    return cut


def _behind_duration(words: Sequence[Word]) -> Sequence[Word]:
    return _behind_options("-s", "-k")(words)[1:]


PREFIXES: dict[str, Callable[[Sequence[Word]], Sequence[Word]]] = {
    "sudo": _behind_options("-u", "-g"),
    "nohup": _behind_options(),
    "time": _behind_options(),
    "env": _behind_options("-u"),
    "nice": _behind_options("-n"),
    "ionice": _behind_options("-c", "-n"),
    "stdbuf": _behind_options("-o", "-e", "-i"),
    "command": _behind_options(),
    "exec": _behind_options(),
    "timeout": _behind_duration,
}
"""Commands that run the command behind them."""

SHELLS = frozenset(("sh", "bash", "ksh", "dash", "su"))


def _names(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_SHOWING = _names(
    ": [ [[ true false test echo printf uname uptime cat tac ls df du ps who w whoami id groups pwd cd sleep wait exit",
    "return break continue shift export unset set local read declare typeset let getopts umask type which grep egrep",
    "fgrep zgrep zcat head tail wc cut tr column paste join comm nl od hexdump rev fold expand unexpand fmt seq basename",
    "dirname readlink realpath stat file diff cmp cksum sum md5sum sha1sum sha256sum free vmstat iostat mpstat pidstat",
    "nstat netstat lscpu lsblk lspci lsscsi lsmod lsof nproc getconf locale imageinfo imagehistory ibstat ibstatus",
    "ibhosts ibnetdiscover iblinkinfo ibswitches ping traceroute getent last lastlog finger tty printenv jobs top pgrep",
    "pidof strings less more bc expr logname arch lsattr ulimit",
)
"""Commands that show something and change nothing, whatever their arguments, apart from redirections."""


def _sed(words: Sequence[str]) -> bool:
    if any(re.match(r"-[a-zA-Z]*i|--in-place|-f|--file|-[a-zA-Z]*s?f", word) for word in words):
        return False
    scripts = [word for word in words if not word.startswith("-")][:1]
    return all(not re.search(r"(^|[;{}\d$/ ])[wWe](\s|$)|/[gpIiMm\d]*[we][gpIiMm\d]*(\s|$)", text) for text in scripts)


def _awk(words: Sequence[str]) -> bool:
    if any(word.startswith(("-f", "--file", "-i", "-E")) for word in words):
        return False
    return not any(re.search(r"system\s*\(|\|&?\s*[\"a-z]|getline|print[^;}]*>", word) for word in words)


def _find(words: Sequence[str]) -> bool:
    return not any(word.startswith(("-exec", "-ok", "-delete", "-fprint", "-fls")) for word in words)


def _first(*allowed: str) -> Callable[[Sequence[str]], bool]:
    def check(words: Sequence[str]) -> bool:
        plain = [word for word in words if not word.startswith("-")]
        return bool(plain) and plain[0] in allowed

    return check


def _any(*allowed: str) -> Callable[[Sequence[str]], bool]:
    return lambda words: any(word in allowed for word in words)


_WITH_ARGUMENTS: dict[str, Callable[[Sequence[str]], bool]] = {
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "find": _find,
    "systemctl": _first("status", "is-active", "is-enabled", "is-failed", "list-units", "show"),
    "service": lambda words: len(words) == 2 and words[1] == "status",
    "chkconfig": lambda words: words[:1] == ["--list"],
    "rpm": lambda words: bool(words) and re.match(r"-q|--query", words[0]) is not None,
    "ip": lambda words: not _any("add", "del", "delete", "set", "flush", "change", "replace", "append")(words),
    "ifconfig": lambda words: len([w for w in words if not w.startswith("-")]) <= 1,
    "ethtool": lambda words: len(words) == 1 or (len(words) == 2 and words[0] in ("-i", "-S", "-k", "-g", "-a", "-c")),
    "mount": lambda words: not words,
    "dmesg": lambda words: not any(re.match(r"-[a-zA-Z]*[cCDEn]|--(clear|read-clear|console)", word) for word in words),
    "ipmitool": lambda words: (
        _any("list", "elist", "print", "status", "info", "get")(words)
        and not _any("set", "clear", "off", "on", "reset", "cycle", "write", "raw", "delete")(words)
    ),
    "dbmcli": lambda words: words[:1] == ["-e"] and words[1:2] != [] and words[1].split()[0].lower() == "list",
    "crontab": lambda words: list(words) == ["-l"],
    "sar": lambda words: "-o" not in words,
    "journalctl": lambda words: not any(w.startswith(("--vacuum", "--rotate", "--flush")) for w in words),
    "MegaCli64": lambda words: any(re.search(r"(Info|PdList|PDList|Show|GetBbuStatus)", word) for word in words),
    "nvme": _first("list", "smart-log", "id-ctrl"),
    "crsctl": _first("check", "stat", "status", "query"),
    "srvctl": _first("status", "config"),
    "ss": lambda words: not _any("-K", "--kill")(words),
    "uniq": lambda words: len([word for word in words if not word.startswith("-")]) <= 1,
    "arp": lambda words: all(word in ("-a", "-n", "-an", "-v") for word in words),
    "dmidecode": lambda words: not any(word.startswith("--dump-bin") for word in words),
}
"""Commands that show something with some arguments only."""


def shows_only(name: str, words: Sequence[Word]) -> bool:
    """Return whether the command ``name`` with these arguments changes nothing, apart from redirections."""
    texts = [word.text for word in words]
    if name == "hostname":
        return not [text for text in texts if not text.startswith("-")]
    if name == "date":
        return not any(re.match(r"-s|--set|\d{8,}", text) for text in texts)
    if name == "sort":
        return not any(re.match(r"-o|--output", text) for text in texts)
    if name in ("trap", "alias"):
        return not texts or texts[0] in ("-", "''", "")
    if name in _WITH_ARGUMENTS:
        return _WITH_ARGUMENTS[name](texts)
    return name in _SHOWING
