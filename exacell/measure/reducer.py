"""Reduce trace files on their host: the shell and awk script for it, and how to read its output. Pure.

The script only reads, needs sh, find, sort, tail, wc and awk as in POSIX, and creates no file. Its result is that of
:func:`exacell.measure.trace10046.summarize` for the same files: waits by event and microsecond, file by file, and the log
writes that waits share. awk's numbers are exact up to 2^53; sums of squares are split into three parts that stay below.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from exacell.core.errors import ReplyError
from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram
from exacell.measure.logwrites import PACK, LogWrites, OfSize
from exacell.measure.trace10046 import (
    CUT,
    CUT_BY_SIZE,
    DIGITS,
    ENDLESS,
    HEAD,
    IN_STATEMENT,
    LIMITED,
    LONGEST_VALUE,
    MOST,
    STATEMENT,
    Traced,
    headers,
    possible,
)

_END = "__EXACELL_TRACES_END__"
_NO_AWK = "__EXACELL_NO_AWK__"
_NO_DIRECTORY = "__EXACELL_NO_DIRECTORY__"
_REASONS = {"limited": CUT_BY_SIZE, "statement": IN_STATEMENT, "cut": CUT, "endless": ENDLESS}

_AWK = r"""
function fakes(text,   n, rest, name) {
  n = 0; rest = text
  while (match(rest, /nam=\047[^\047]*\047 ela= *-?[0-9]/)) {
    name = substr(rest, RSTART + 5); name = substr(name, 1, index(name, "\047") - 1)
    if (event == "" || name == event) n++
    rest = substr(rest, RSTART + RLENGTH)
  }
  return n
}
function replay(from,   k, n, own) {
  n = keeps; keeps = 0
  for (k = from; k <= n; k++) own[k] = kept[k]
  for (k = from; k <= n; k++) look(own[k])
}
function is_record(s) {
  return s ~ /^(WAIT|PARSING IN CURSOR|PARSE|PARSE ERROR|EXEC|FETCH|CLOSE|STAT|BINDS|ERROR|UNMAP|SORT UNMAP|LOB[A-Z]+) ?#/ \
    || s ~ /^RPC (CALL|EXEC) ?#/ || s ~ /^(XCTEND |=====================|\*\*\* )/
}
function settle(   k) {
  for (k = 1; k <= keeps; k++) {
    if (mode == "sized" ? kept[k] ~ /"\r?$/ : is_record(kept[k])) {
      if (mode == "sized") { like += fakes(kept[k]); mode = ""; replay(k + 1) } else { mode = ""; replay(k) }
      return
    }
    if (mode == "sized") pending += fakes(kept[k]); else like += fakes(kept[k])
  }
  keeps = 0; mode = mode == "sized" ? "value" : "until"
}
function keep(s,   k) {
  kept[++keeps] = s; taken += length(s) + 1
  if (mode == "sized") {
    k = left - (taken - length(s) - 1)
    if (k > length(s)) return
    s = substr(s, k + 1)
    if (s != "\"" && s != "\"\r") { settle(); return }
  } else {
    if (taken < left) return
    if (taken - left > 1) { settle(); return }
  }
  for (k = 1; k <= keeps; k++) like += fakes(kept[k])
  keeps = 0; mode = ""
}
function look(s,   at, rest, name, ela) {
  if (mode == "text") {
    if (index(s, "END OF STMT") == 1) { mode = ""; like += pending; pending = 0; return }
    length_now += length(s) + 1
    if (length_now > most) { endless = 1; pending = 0; mode = "" }
    else if (index(s, "nam=\047")) pending += fakes(s)
    return
  }
  if (mode == "value") {
    pending += fakes(s)
    if (s ~ /"\r?$/) { mode = ""; like += pending; pending = 0 }
    return
  }
  if (mode == "until" && is_record(s)) mode = ""
  if (mode == "until") { like += fakes(s); return }
  if (mode != "") { keep(s); return }
  if (s ~ /^WAIT #[0-9]+: nam=\047/) {
    at = index(s, "nam=\047"); rest = substr(s, at + 5)
    at = index(rest, "\047"); name = substr(rest, 1, at - 1)
    if (event != "" && name != event) return
    if (!match(rest, /\047 ela= *-?[0-9]+/) || RSTART != at) return
    ela = substr(rest, at + 6, RLENGTH - 6); sub(/^ *0*/, "", ela); if (ela == "") ela = "0"
    count[name, ela]++
    if (event != "" && possible(ela + 0) && (at = index(rest, " sync scn="))) {
      rest = substr(rest, at + 10); if (match(rest, /^[0-9]+/)) group[substr(rest, 1, RLENGTH)] += pack + ela
    }
    return
  }
  if (s ~ /^PARSING IN CURSOR #/) { mode = "text"; length_now = length(s) + 1; pending = 0; return }
  if (s ~ /^PARSE ERROR #[0-9]+:len=[0-9]+/) {
    match(s, /:len=[0-9]+/); left = substr(s, RSTART + 5, RLENGTH - 5) + 0
    keeps = taken = 0
    if (left >= most) mode = "until"; else if (left) mode = "failed"
    return
  }
  if (match(s, /^ +value="/)) {
    pending = 0; keeps = taken = 0; left = -1
    rest = substr(s, RLENGTH + 1)
    if (match(before, /avl=[0-9]+/) && RLENGTH <= 9) left = substr(before, RSTART + 4, RLENGTH - 4) + 0
    if (left >= 0 && left <= longest) { mode = "sized"; keep(rest) }
    else if (rest ~ /"\r?$/) like += fakes(rest)
    else { mode = "value"; pending = fakes(rest) }
  }
  before = s
}
function possible(ela) { return ela >= 0 && ela <= longest_wait && !(ela >= 4293967296 && ela < 4294967296) }
function finish(   k, parts, why) {
  if (file == "") return
  why = ""
  while (mode == "sized" || mode == "failed") settle()
  if (mode == "text") { pending += whole_now ? 0 : fakes(last); like += pending }
  if (endless) why = "endless"
  else if (limited_now) why = "limited"
  else if (mode == "text") why = "statement"
  else if (mode == "value" || !whole_now) why = "cut"
  print "F " size_now " " file
  if (why != "") print "B " why
  if (like) print "L " like
  for (k = 1; k <= heads; k++) print "H " head[k]
  for (k in count) { if (count[k]) { split(k, parts, SUBSEP); print "W " parts[2] " " count[k] " " parts[1] } }
  split("", count); split("", head)
}
FNR == 1 {
  finish()
  file = FILENAME; size_now = size; whole_now = whole; limited_now = limited
  like = pending = endless = heads = start = keeps = 0; within = 1; last = mode = before = ""
}
within {
  if (heads < 5 && /^(Oracle Database |Instance name:|Node name:|Unix process pid:|\*\*\* )/)
    head[++heads] = substr($0, 1, most_head - start)
  start += length($0) + 1
  within = start < most_head
}
!whole_now { line = $0; if (FNR == 1) { last = line; next } $0 = last; last = line }
endless { next }
{ look($0) }
END {
  finish()
  for (k in group) {
    n = int(group[k] / pack); s = group[k] - n * pack; a = int(s / 1000); b = s - a * 1000
    g[n]++; t[n] += s; qa[n] += a * a; qb[n] += a * b; qc[n] += b * b
  }
  for (n in g) printf "G %d %.0f %.0f %.0f %.0f %.0f\n", n, g[n], t[n], qa[n], qb[n], qc[n]
}
"""

_SCRIPT = """\
LC_ALL=C; export LC_ALL
command -v awk >/dev/null 2>&1 || {{ echo {no_awk}; exit 3; }}
cd {directory} 2>/dev/null || {{ echo {no_directory}; exit 3; }}
nl='
'
set --
for f in $(find . -maxdepth 1 -type f -name {pattern}{age} | sort); do
  size=$(wc -c < "$f") || continue
  size=$((size))
  if [ "$size" -eq 0 ]; then echo "F 0 $f"; continue; fi
  end=$(tail -c 4096 "$f"; echo x)
  whole=0; limited=0
  case $end in *"$nl"x) whole=1;; esac
  case $end in *{limited}*) limited=1;; esac
  set -- "$@" size="$size" whole="$whole" limited="$limited" "$f"
done
if [ $# -gt 0 ]; then
  awk -v event={event} -v most={most} -v longest={longest} -v longest_wait={longest_wait} -v pack={pack} \
    -v most_head={most_head} {program} "$@" || exit 4
fi
echo {end}
"""


def script(directory: str, pattern: str, event: str, *, minutes: int | None = None) -> str:
    """Return the shell script that reduces the files of one directory.

    Args:
        pattern: pattern of the files' names, with * and ? as in a shell.
        minutes: only files that were written to in the last minutes; None: all.
    """
    return _SCRIPT.format(
        no_awk=_NO_AWK,
        no_directory=_NO_DIRECTORY,
        directory=shlex.quote(directory),
        pattern=shlex.quote(pattern),
        age="" if minutes is None else f" -mmin -{minutes}",
        limited=shlex.quote(LIMITED.decode()),
        event=shlex.quote(event.replace("\\", "\\\\")),
        most=STATEMENT,
        longest=LONGEST_VALUE,
        longest_wait=MOST,
        pack=PACK,
        most_head=HEAD,
        program=shlex.quote(_AWK.strip()),
        end=_END,
    )


@dataclass(frozen=True)
class Reduced:
    """The result of one node: its files one by one, and the log writes that waits in any of them share."""

    files: Sequence[Traced]
    writes: LogWrites


def lacks_awk(text: str) -> bool:
    """Return whether a node reported that it has no awk."""
    return _NO_AWK in text


def read_reduced(text: str, directory: str) -> Reduced:
    """Return the result in the script's output.

    Raises:
        ReplyError: the script did not reach its end, or a line can't be read.
    """
    if _NO_DIRECTORY in text:
        raise ReplyError(
            f"there is no directory {directory}, or it can't be read",
            hint="the owner of the database's software must be able to read it: user=NAME",
        )
    lines = text.splitlines()
    if not lines or lines[-1].strip() != _END:
        raise ReplyError(
            "the program that reads the trace files ended early", hint="run it again, or on one node with node=NAME"
        )
    files: list[_File] = []
    sizes: dict[int, OfSize] = {}
    for line in lines[:-1]:
        kind, _, rest = line.partition(" ")
        try:
            if kind == "F":
                size, _, name = rest.partition(" ")
                files.append(_File(f"{directory}/{name.removeprefix('./')}", int(size)))
            elif kind == "G":
                waits, groups, total, high, middle, low = map(int, rest.split())
                sizes[waits] = OfSize(groups, total, high * 1_000_000 + 2 * middle * 1000 + low)
            else:
                files[-1].take(kind, rest)
        except (ValueError, IndexError, KeyError) as error:
            raise ReplyError(
                f"the program that reads the trace files printed a line that can't be read: {line[:80]}",
                hint="run it again, or on one node with node=NAME",
            ) from error
    return Reduced([file.traced() for file in files], LogWrites({size: sizes[size] for size in sorted(sizes)}))


class _File:
    """One file while its lines are being read."""

    def __init__(self, name: str, size: int) -> None:
        self._name, self._size = name, size
        self._broken, self._lookalikes = "", 0
        self._head: list[str] = []
        self._counts: dict[str, dict[int, int]] = {}
        self._odd: dict[str, int] = {}

    def take(self, kind: str, rest: str) -> None:
        """Read one line; raise ValueError or KeyError if it can't be read."""
        if kind == "B":
            self._broken = _REASONS[rest]
        elif kind == "L":
            self._lookalikes = int(rest)
        elif kind == "H":
            self._head.append(rest)
        elif kind == "W":
            wait, count, event = rest.split(" ", 2)
            if len(wait) < DIGITS and possible(ela := int(wait)):
                waits = self._counts.setdefault(event, {})
                waits[ela] = waits.get(ela, 0) + int(count)
            else:
                self._odd[event] = self._odd.get(event, 0) + int(count)
        else:
            raise ValueError(kind)

    def traced(self) -> Traced:
        """Return the contents of the file."""
        return Traced(
            events={event: Histogram.of(waits) for event, waits in self._counts.items()},
            lookalikes=self._lookalikes,
            odd=self._odd,
            broken={self._name: self._broken} if self._broken else {},
            headers={self._name: headers("\n".join(self._head).encode())},
            files=1,
            size=self._size,
        )
