"""Trace files reduced where they lie: what a shell and awk print of them, and what is read of that. Pure.

The script only reads, needs sh, find, sort, tail, wc and awk as POSIX has them, and makes no file. It gives what
:func:`exacell.measure.trace10046.summarize` gives of the same files: waits by event and microsecond, file by file, and the
log writes that waits share. awk's numbers are exact up to 2^53; sums of squares come in three parts that stay below.
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
    ENDLESS,
    HEAD,
    IN_STATEMENT,
    LIMITED,
    STATEMENT,
    Traced,
    headers,
)

_END = "__EXACELL_TRACES_END__"
_NO_AWK = "__EXACELL_NO_AWK__"
_NO_DIRECTORY = "__EXACELL_NO_DIRECTORY__"
_REASONS = {"limited": CUT_BY_SIZE, "statement": IN_STATEMENT, "cut": CUT, "endless": ENDLESS}

_AWK = r"""
function fakes(text,   n, rest, at, name) {
  n = 0; rest = text
  while (match(rest, /nam=\047[^\047]*\047 ela= *[0-9]/)) {
    name = substr(rest, RSTART + 5); name = substr(name, 1, index(name, "\047") - 1)
    if (event == "" || name == event) n++
    rest = substr(rest, RSTART + RLENGTH)
  }
  return n
}
function finish(   k, parts, why) {
  if (file == "") return
  why = ""
  if (text) { pending += whole_now ? 0 : fakes(last); like += pending }
  if (endless) why = "endless"
  else if (limited_now) why = "limited"
  else if (text) why = "statement"
  else if (value || !whole_now) why = "cut"
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
  text = value = like = pending = endless = heads = start = 0; within = 1; last = ""
}
within {
  if (heads < 5 && /^(Oracle Database |Instance name:|Node name:|Unix process pid:|\*\*\* )/)
    head[++heads] = substr($0, 1, most_head - start)
  start += length($0) + 1
  within = start < most_head
}
!whole_now { line = $0; if (FNR == 1) { last = line; next } $0 = last; last = line }
endless { next }
text {
  if (index($0, "END OF STMT") == 1) { text = 0; like += pending; pending = 0; next }
  length_now += length($0) + 1
  if (length_now > most) { endless = 1; pending = 0; text = 0 }
  else if (index($0, "nam=\047")) pending += fakes($0)
  next
}
value {
  at = index($0, "\"")
  if (index($0, "nam=\047")) pending += fakes(at ? substr($0, 1, at) : $0)
  if (at) { value = 0; like += pending; pending = 0 }
  next
}
/^WAIT #[0-9]+: nam=\047/ {
  at = index($0, "nam=\047"); rest = substr($0, at + 5)
  at = index(rest, "\047"); name = substr(rest, 1, at - 1)
  if (event != "" && name != event) next
  if (!match(rest, /\047 ela= *[0-9]+/) || RSTART != at) next
  ela = substr(rest, at + 6, RLENGTH - 6) + 0
  count[name, ela]++
  if (event != "" && (at = index(rest, " sync scn="))) {
    scn = substr(rest, at + 10); if (match(scn, /^[0-9]+/)) group[substr(scn, 1, RLENGTH)] += pack + ela
  }
  next
}
/^PARSING IN CURSOR #/ { text = 1; length_now = length($0) + 1; pending = 0; next }
/^ +value="[^"]*$/ { value = 1; pending = fakes($0); next }
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
  awk -v event={event} -v most={most} -v pack={pack} -v most_head={most_head} {program} "$@" || exit 4
fi
echo {end}
"""


def script(directory: str, pattern: str, event: str, *, minutes: int | None = None) -> str:
    """Return the shell script that reduces the files of one directory.

    Args:
        pattern: of the files' names, with * and ? as a shell takes them.
        minutes: only files that were written to in so many minutes; None: all.
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
        pack=PACK,
        most_head=HEAD,
        program=shlex.quote(_AWK.strip()),
        end=_END,
    )


@dataclass(frozen=True)
class Reduced:
    """What one node told of its files: each by itself, and the log writes that waits of all of them share."""

    files: Sequence[Traced]
    writes: LogWrites


def lacks_awk(text: str) -> bool:
    """Whether a node said that it has no awk."""
    return _NO_AWK in text


def read_reduced(text: str, directory: str) -> Reduced:
    """Return what the script printed.

    Raises:
        ReplyError: it did not come to its end, or a line of it can't be read.
    """
    if _NO_DIRECTORY in text:
        raise ReplyError(
            f"there is no directory {directory}, or it can't be read",
            hint="the owner of the database's software must be able to read it: user=NAME",
        )
    lines = text.splitlines()
    if not lines or lines[-1].strip() != _END:
        raise ReplyError("the reduction of the trace files ended early", hint="run it again; node=NAME asks one node")
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
                f"the reduction of the trace files printed a line that can't be read: {line[:80]}",
                hint="run it again; node=NAME asks one node",
            ) from error
    return Reduced([file.traced() for file in files], LogWrites({size: sizes[size] for size in sorted(sizes)}))


class _File:
    """One file while its lines are read."""

    def __init__(self, name: str, size: int) -> None:
        self._name, self._size = name, size
        self._broken, self._lookalikes = "", 0
        self._head: list[str] = []
        self._counts: dict[str, dict[int, int]] = {}

    def take(self, kind: str, rest: str) -> None:
        """Take one line; ValueError or KeyError where it can't be read."""
        if kind == "B":
            self._broken = _REASONS[rest]
        elif kind == "L":
            self._lookalikes = int(rest)
        elif kind == "H":
            self._head.append(rest)
        elif kind == "W":
            wait, count, event = rest.split(" ", 2)
            self._counts.setdefault(event, {})[int(wait)] = int(count)
        else:
            raise ValueError(kind)

    def traced(self) -> Traced:
        """Return what the file holds."""
        return Traced(
            events={event: Histogram.of(waits) for event, waits in self._counts.items()},
            lookalikes=self._lookalikes,
            broken={self._name: self._broken} if self._broken else {},
            headers={self._name: headers("\n".join(self._head).encode())},
            files=1,
            size=self._size,
        )
