"""Commands that only show something, and commands that run another one: what a reader of shell text has to know.

A command that is not here is not taken for harmless, nor is an option of a command that runs others. Source: the manual
pages of the commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from exacell.dcli.filters import awk_shows, sed_shows
from exacell.dcli.shellwords import Word
from exacell.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Prefix:
    """The options of a command that runs the command behind them.

    Attributes:
        valued: options that take the next word.
        alone: a pattern for whole options that stand alone, their value in them where they have one.
        operands: how many words stand between the options and the command.
    """

    valued: tuple[str, ...] = ()
    alone: str = r"(?!)"
    operands: int = 0

    def behind(self, words: Sequence[Word]) -> tuple[list[Word], list[Word]] | None:
        """Return the environment variables that are set and the command that is run; None when it can't be told."""
        rest, assigned = list(words), []
        while rest:
            option = rest[0].text
            if re.match(r"[A-Za-z_]\w*=", option):
                assigned.append(rest.pop(0))
            elif option == "--":
                rest.pop(0)
                break
            elif option in self.valued:
                del rest[:2]
            elif re.fullmatch(self.alone, option):
                rest.pop(0)
            elif option.startswith("-"):
                return None
            else:
                break
        command = rest[self.operands :]
        # What is expanded in a word before the command may become several words, and one of them the command.
        if any(word.dynamic or word.braces or word.glob for word in words[: len(words) - len(command)]):
            return None
        return assigned, command


PREFIXES: Mapping[str, Prefix] = {
    "sudo": Prefix(valued=("-u", "-g"), alone=r"-[EHnSbi]+|-[ug]\w+|--(user|group)=\w+|--(non-interactive|login)"),
    "nohup": Prefix(),
    "time": Prefix(alone="-p"),
    "env": Prefix(valued=("-u",), alone=r"-|-i|--ignore-environment|--unset=\w+"),
    "nice": Prefix(valued=("-n",), alone=r"-n?-?\d+|--adjustment=-?\d+"),
    "ionice": Prefix(valued=("-c", "-n"), alone=r"-[cn]\d|-t"),
    "stdbuf": Prefix(valued=("-o", "-e", "-i"), alone=r"-[oei]\w+"),
    "command": Prefix(alone="-p"),
    "exec": Prefix(alone="-[cl]+"),
    "timeout": Prefix(
        valued=("-s", "-k"),
        alone=r"--foreground|--preserve-status|-v|--(signal|kill-after)=\w+|-[sk]\w+",
        operands=1,
    ),
}
"""Commands that run the command behind them."""

SHELLS = frozenset(("sh", "bash", "ksh", "dash", "su"))

DECLARING = frozenset(("export", "declare", "typeset", "local", "readonly"))
"""Builtins whose arguments are assignments."""

_LOADING = frozenset(
    (
        "PATH",
        "HOME",
        "ENV",
        "BASH_ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "PROMPT_COMMAND",
        "PAGER",
        "SHELL",
        "CLASSPATH",
        "GCONV_PATH",
    )
)
_LOADING_PREFIXES = ("LD_", "LESS", "DYLD_", "BASH_FUNC", "PYTHON", "PERL", "JAVA", "_JAVA", "JDK_", "RPM", "SYSTEMD_")
_SYSTEM = re.compile(r"(/usr(/local)?)?/s?bin|/opt/[\w./-]+")
_PLACES = re.compile(r"\$PATH|\$\{PATH\}")


def trusted_path(text: str) -> bool:
    """Return whether a command is named without a directory, or in one that the system's programs are in."""
    directory, slash, _ = text.rpartition("/")
    return not slash or (_SYSTEM.fullmatch(directory) is not None and ".." not in directory)


def steers(assignment: str) -> bool:
    """Return whether ``NAME=value`` may make well-known commands mean something else, or run something before them."""
    name, _, value = assignment.partition("=")
    name = name.rstrip("+")
    if name == "PATH":
        return not all(_PLACES.fullmatch(part) or trusted_path(f"{part}/x") for part in value.split(":"))
    return name in _LOADING or name.startswith(_LOADING_PREFIXES)


def _names(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_SHOWING = _names(
    ": [ [[ true false test echo printf uname uptime cat tac ls df du ps who w whoami id groups pwd cd sleep wait exit",
    "return break continue shift export unset set local read declare typeset let getopts umask type which grep egrep",
    "fgrep zgrep zcat head tail wc cut tr column paste join comm nl od hexdump rev fold expand unexpand fmt seq basename",
    "dirname readlink realpath stat diff cmp cksum sum md5sum sha1sum sha256sum free vmstat iostat mpstat",
    "nstat netstat lscpu lsblk lspci lsscsi lsmod nproc getconf locale imageinfo imagehistory ibstat ibstatus",
    "ibhosts iblinkinfo ibswitches ping traceroute getent last finger tty printenv top pgrep",
    "pidof strings bc expr logname arch lsattr ulimit readonly",
)
"""Commands that show something and change nothing, whatever their arguments, apart from redirections."""

Judge = Callable[[Sequence[str]], bool]


def _find(words: Sequence[str]) -> bool:
    return not any(word.startswith(("-exec", "-ok", "-delete", "-fprint", "-fls")) for word in words)


_OPTION = re.compile(r"--(no-pager|no-legend|all|full|quiet|plain|failed|version)|--[\w-]+=.*|-[alqv]+")
"""Options before a word that says what is done: they take no word behind them for their value."""


def _first(*allowed: str) -> Judge:
    return lambda words: next((word for word in words if not _OPTION.fullmatch(word)), "") in allowed


def _never(*patterns: str) -> Judge:
    """Everything is harmless unless a word matches; long options may be cut short as getopt_long(3) lets them."""

    def harmless(words: Sequence[str]) -> bool:
        names = [word.partition("=")[0] for word in words if re.match(r"--\w", word)]
        return not any(re.match(pattern, word) for word in words for pattern in patterns) and not any(
            pattern.startswith(name) for name in names for pattern in patterns
        )

    return harmless


def _only(*patterns: str) -> Judge:
    """Nothing is harmless unless each word matches."""
    return lambda words: all(any(re.fullmatch(pattern, word) for pattern in patterns) for word in words)


def _date(words: Sequence[str]) -> bool:
    """``date`` with a format, or with options that tell which time is shown: any other operand sets the clock."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-d", "--date", "-r", "--reference"):
            del rest[:1]
        elif not re.fullmatch(
            r"\+.*|-[uR]+|-[dr].+|-I\w*|--(date|reference|rfc-3339|iso-8601)=.*|--(utc|universal)", word, re.DOTALL
        ):
            return False
    return True


_IPMI = re.compile(
    r"(-v |-I \w+ )*("
    r"(sel|sdr|fru|user) (list|elist|info|print)( \d+)?|sel|sdr|fru|sensor|(sdr|sensor) (list|type|get) [\w -]+|sensor list|"
    r"sel (get|time get) ?\w*|chassis (power )?status|power status|lan print( \d+)?|(mc|bmc) info|channel info( \d+)?)"
)
"""ipmitool's reads. Source: ipmitool(1)."""


def _ip(words: Sequence[str]) -> bool:
    """``ip [-s] object [show …]``; the ``s`` of a link is its ``set``."""
    plain = [word for word in words if not word.startswith("-")]
    objects = ("a", "addr", "address", "l", "link", "r", "route", "rule", "n", "neigh", "maddr", "monitor")
    if not plain or plain[0] not in objects or any(re.match(r"--?(b|n|fo)", word) for word in words):
        return False
    return (
        len(plain) == 1 or plain[1] in ("show", "list", "ls", "get") or (plain[1] == "s" and plain[0] in ("a", "addr"))
    )


def _dbmcli(words: Sequence[str]) -> bool:
    text = " ".join(words[1:])
    return words[:1] == ["-e"] and text[:5].lower() == "list " and not re.search(r"[;\n]", text)


_WITH_ARGUMENTS: Mapping[str, Judge] = {
    "sed": sed_shows,
    "awk": awk_shows,
    "gawk": awk_shows,
    "find": _find,
    "file": _never(r"-[a-zA-Z]*[Cm]", "--compile", "--magic"),
    "less": _never(r"\+", "-[a-zA-Z]*[oOkT]", "--log", "--lesskey", "--tag"),
    "more": _never(r"\+"),
    "sort": _never("-[a-zA-Z]*o", "--output", "--compress"),
    "hostname": _only("-[sfiIdAay]", "--(short|fqdn|long|ip-address|all-ip-addresses|domain|alias)"),
    "date": _date,
    "jobs": _never("-[a-zA-Z]*x"),
    "pidstat": _never(r"-[a-zA-Z]*e", r"--?exec"),
    "ibnetdiscover": _never("--cache", "--outstanding"),
    "lastlog": _never(r"-[a-zA-Z]*[CSRP]", "--clear", "--set", "--root", "--prefix"),
    "lsof": _never("-[a-zA-Z]*D"),
    "systemctl": _first("status", "is-active", "is-enabled", "is-failed", "list-units", "show"),
    "service": lambda words: len(words) == 2 and words[1] == "status",
    "chkconfig": lambda words: words[:1] == ["--list"],
    "rpm": lambda words: (
        bool(words)
        and re.match(r"-q|--query", words[0]) is not None
        and _never(
            "--pipe", "--eval", "--define", "--predefine", "-[a-zA-Z]*[DE]", "--macros", "--load", "--rcfile"
        )(words)
    ),
    "ip": _ip,
    "ifconfig": lambda words: len([w for w in words if not w.startswith("-")]) <= 1,
    "ethtool": lambda words: len(words) == 1 or (len(words) == 2 and words[0] in ("-i", "-S", "-k", "-g", "-a", "-c")),
    "mount": lambda words: not words,
    "dmesg": _never(r"-[a-zA-Z]*[cCDEn]", "--clear", "--read-clear", "--console-off", "--console-on", "--console-level"),
    "ipmitool": lambda words: _IPMI.fullmatch(" ".join(words)) is not None,
    "dbmcli": _dbmcli,
    "crontab": lambda words: list(words) == ["-l"],
    "sar": lambda words: not any(re.match(r"-[a-zA-Z]*o", word) for word in words),
    "journalctl": _never("--vacuum", "--rotate", "--flush", "--cursor-file", "--sync", "--setup", "--update"),
    "MegaCli64": _only(r"-?(AdpAllInfo|CfgDsply|ShowSummary|EncInfo|LDInfo|LdInfo|P[Dd]List|LDPDInfo|AdpBbuCmd)",
                       r"-(a|L)(ALL|All|all|\d+)", "-Get(BbuStatus|BbuCapacityInfo|BbuDesignInfo|BbuProperties)", "-NoLog"),
    "nvme": _first("list", "smart-log", "id-ctrl"),
    "crsctl": _first("check", "stat", "status", "query"),
    "srvctl": _first("status", "config"),
    "ss": _never(r"-[a-zA-Z]*[KD]", "--kill", "--diag"),
    "uniq": lambda words: len([word for word in words if not word.startswith("-")]) <= 1,
    "arp": lambda words: all(word in ("-a", "-n", "-an", "-v") for word in words),
    "dmidecode": _never("--dump-bin"),
}  # fmt: skip
"""Commands that show something with some arguments only."""


def evaluated_by(name: str, words: Sequence[Word]) -> Sequence[Word]:
    """Return those arguments of a builtin that it evaluates as arithmetic, or whose index it does."""
    texts = [word.text for word in words]
    if name == "let":
        return words
    if name in DECLARING:
        typed = any(re.match(r"-\w*i", text) for text in texts)
        return [word for word in words if typed or "[" in word.text.partition("=")[0]]
    if _names_variable(name, texts):
        words = words[:2]
    elif name not in ("unset", "read") and _NAMING.get(name, frozenset()).isdisjoint(texts):
        return ()
    return [word for word in words if word.dynamic or "[" in word.text]


def _names_variable(name: str, texts: Sequence[str]) -> bool:
    """Whether it is ``printf -v``."""
    return name == "printf" and any(text.startswith("-v") for text in texts[:1])


_NAMING = {"test": frozenset(("-v", "-R")), "[": frozenset(("-v", "-R")), "wait": frozenset(("-p",))}
"""Builtins and their options behind which a variable is named, whose index is evaluated."""

_SETS = frozenset(("read", "getopts", "unset", "wait"))
"""Builtins that set or take away the variables that their arguments name; ``printf -v`` does, too."""


def judged_by_arguments(name: str) -> bool:
    """Return whether it hangs on a command's arguments what it does, so that they have to be known."""
    return name in _WITH_ARGUMENTS


def shows_only(name: str, words: Sequence[Word]) -> bool:
    """Return whether the command ``name`` with these arguments changes nothing, apart from redirections."""
    texts = [word.text for word in words]
    named = texts if name in _SETS else texts[:2] if _names_variable(name, texts) else ()
    if any(steers(f"{text.removeprefix('-v')}=") for text in named):
        return False
    if name in ("trap", "alias"):
        return not texts or texts[0] in ("-", "")
    if name in _WITH_ARGUMENTS:
        return _WITH_ARGUMENTS[name](texts)
    return name in _SHOWING
