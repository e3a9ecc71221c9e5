"""vmstat of many targets side by side, as ``dcli --vmstat`` shows it: pure functions from text to text.

Source: reference dcli.md, section 8; the columns are vmstat's own, procps vmstat(8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.change.dcli.options import usage_error
from exacell.core.values import dataclass

_NOT_PERIODIC = frozenset(("-f", "-s", "-m", "-p", "-D", "-d", "-V"))
_FLOORS = {"swpd": 6, "free": 6, "buff": 6, "cache": 6, "inact": 6, "active": 6}
_FLOOR = 2
_FLOOR_FIELDS = {"si": 4, "so": 4, "bi": 5, "bo": 5, "in": 4, "cs": 4}
_SUMMARY = ("Minimum", "Maximum", "Average")


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What the words of ``--vmstat`` ask for.

    Attributes:
        periodic: False: ``vmstat`` runs once as an ordinary command.
        options: vmstat's other words.
        delay: seconds between rounds; None for a single round.
        count: rounds; None for without end.
        header_once: ``-n``.
    """

    text: str
    periodic: bool
    options: tuple[str, ...] = ()
    delay: int | None = None
    count: int | None = None
    header_once: bool = False

    def command(self, number: int) -> str:
        """Return the command of a round, the first of which is 1 and shows the means since the start of the host."""
        if not self.periodic:
            return f"vmstat {self.text}".rstrip()
        words = ["vmstat", *self.options]
        return " ".join(words if number == 1 else [*words, str(self.delay), "2"])

    def goes_on(self, number: int) -> bool:
        """Return whether another round follows round ``number``."""
        return self.periodic and self.delay is not None and (self.count is None or number < self.count)


def read_watch(text: str) -> Watch:
    """Return what the words of ``--vmstat`` ask for; what is not periodic runs once as it is.

    Raises:
        DcliExit: a word would be more than an argument for the shell there.
    """
    words = text.split()
    strange = next((word for word in words if not all(char.isalnum() or char in "-_./=," for char in word)), None)
    if strange is not None:
        raise usage_error(f"--vmstat takes vmstat's options, and '{strange}' is none")
    numbers = [word for word in words if word.isdigit()]
    others = [word for word in words if not word.isdigit()]
    if any(word in _NOT_PERIODIC for word in others) or len(numbers) > 2 or any(int(number) <= 0 for number in numbers):
        return Watch(text=text, periodic=False)
    if any(word.lstrip("-").isdigit() for word in others):
        return Watch(text=text, periodic=False)
    return Watch(
        text=text,
        periodic=True,
        options=tuple(word for word in others if word != "-n"),
        delay=int(numbers[0]) if numbers else None,
        count=int(numbers[1]) if len(numbers) == 2 else (None if numbers else 1),
        header_once="-n" in others,
    )


class Table:
    """The display over all rounds: columns only grow wider."""

    def __init__(self, watch: Watch, targets: Sequence[str]) -> None:
        self._watch = watch
        self._targets = tuple(targets)
        self._names = (*targets, *(_SUMMARY if len(targets) > 1 else ()))
        self._widths: list[int] = []
        self._headed = False

    def lines(self, outputs: Mapping[str, str], time: str) -> list[str]:
        """Return the lines of one round.

        Args:
            outputs: what vmstat printed, by target; only its last line counts.
            time: the local time of the round, as shown in the header.

        Raises:
            ValueError: a target's output is not vmstat's table.
        """
        groups, titles = _header(outputs[self._targets[0]])
        rows = {target: _row(outputs[target]) for target in self._targets}
        if len({len(row) for row in rows.values()} | {len(titles)}) != 1:
            raise ValueError("the targets' vmstat show different columns")
        cells = [*rows.values(), *(_summary(list(rows.values())) if len(rows) > 1 else ())]
        floors = [max(_FLOORS.get(t, _FLOOR), _FLOOR_FIELDS.get(t, _FLOOR), len(t)) for t in titles]
        widths = [max(len(str(row[place])) for row in cells) for place in range(len(titles))]
        before = self._widths or floors
        self._widths = [max(trio) for trio in zip(floors, widths, before, strict=True)]
        indent = max(*(len(name) for name in self._names), len(time)) + 1
        printed: list[str] = []
        if not (self._watch.header_once and self._headed):
            printed.append(" " * indent + groups)
            printed.append(f"{time:<{indent}}" + self._fields(titles))
            self._headed = True
        for name, row in zip(self._names, cells, strict=True):
            printed.append(f"{name:>{indent - 1}}:" + self._fields([str(value) for value in row]))
        return printed

    def _fields(self, values: Sequence[str]) -> str:
        return " ".join(value.rjust(width) for value, width in zip(values, self._widths, strict=True))


def _header(output: str) -> tuple[str, list[str]]:
    lines = output.splitlines()
    titles = next((n for n, line in enumerate(lines) if line.split()[:2] == ["r", "b"]), None)
    if titles is None:
        raise ValueError("vmstat printed no header")
    return (lines[titles - 1].rstrip() if titles else ""), lines[titles].split()


def _row(output: str) -> list[int]:
    lines = [line for line in output.splitlines() if line.strip()]
    return [int(word) for word in lines[-1].split()] if lines else []


def _summary(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the rows of minimum, maximum and average, the last rounded half up."""
    columns = list(zip(*rows, strict=True))
    averages = [(2 * sum(column) + len(column)) // (2 * len(column)) for column in columns]
    return [[min(column) for column in columns], [max(column) for column in columns], averages]
