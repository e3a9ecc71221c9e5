"""Questions that people ask in their own words, and the statements that answer them. Pure.

``help`` shows the first seven at the top. ``help <words>`` searches all of them, and so does the prompt for words that begin
no statement; the prompt then shows the statement but does not carry it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from exacell.cellcli.codes import is_code
from exacell.cellcli.schema import find_object, metric
from exacell.core.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question and its answer.

    Attributes:
        text: the question in a user's words.
        type: the statement to type; ``<cell>`` and ``<db>`` stand for names of the rack.
        words: other words that people use for the question.
    """

    text: str
    type: str
    words: str = ""


ASKED = (
    Question(
        text="reset the cache before a run",
        type="run reset_cold -n",
        words="cold clean empty clear purge flush warm benchmark test fresh state flashcache",
    ),
    Question(
        text="a disk group on flash",
        type="run flash_diskgroup cache=288g -n",
        words="make new diskgroup ssd asm fast carve griddisk create",
    ),
    Question(
        text="is flash logging worth it?",
        type="run flashlog_ab db=<db> -n",
        words="flashlog redo slow latency outlier measure compare benefit experiment ab useful help helps gain",
    ),
    Question(
        text="may I take this cell down?",
        type="can offline <cell>",
        words="take shutdown off offline stop power reboot maintenance service replace safe allowed shut halt",
    ),
    Question(
        text="what changed?",
        type="journal",
        words="what changes change history yesterday last did done happened log audit since today night",
    ),
    Question(
        text="repeat it tomorrow",
        type="recipes",
        words="again script record save keep recipe schedule cron every daily nightly macro automate same",
    ),
    Question(
        text="use my dcli lines",
        type="dcli -g cells -l root cellcli -e list cell",
        words="paste here document old scripts command ssh shell eof",
    ),
    Question(
        text="is the rack well?",
        type="show health",
        words="status state ok alive fine healthy wrong problem broken failing failed check overview summary "
        "good bad up sick",
    ),
    Question(
        text="why did a change end like that?",
        type="journal show",
        words="reason cause come fail failed refused error stopped",
    ),
    Question(text="who changes the rack now?", type="show lock", words="locked whom operator someone busy holds"),
    Question(
        text="do the cells differ?",
        type="drift",
        words="same differ difference equal changed compare inconsistent baseline configuration drifted",
    ),
    Question(text="where is that disk?", type="locate disk", words="led light blink find slot physical drive"),
    Question(
        text="how full is it?",
        type="show diskgroup",
        words="space free used capacity usage size left room much gigabytes terabytes df du",
    ),
    Question(
        text="what fills the flash cache?",
        type="show flashcachecontent db=<db>",
        words="content objects tables segments inside cached contents who uses",
    ),
    Question(
        text="what is the load now?",
        type="top",
        words="performance busy slow latency iops monitor throughput live iostat watch hot stat stats statistics",
    ),
    Question(
        text="is one cell slower than the others?",
        type="show health",
        words="slow worse worst outlier poor performance lag weak disk flash hot",
    ),
    Question(
        text="compare with an earlier snapshot",
        type="delta <before> <after>",
        words="snap snapshots yesterday difference since metrics counters growth last week older",
    ),
    Question(
        text="repeat lines for each of several values",
        type="help matrix",
        words="loop loops for foreach every value iterate while until recipe databases database list statement",
    ),
    Question(
        text="Ctrl-C stops what runs; what is left?",
        type="pending",
        words="cancel kill running command interrupt interrupted halt hang hangs stuck abort end statement",
    ),
    Question(
        text="warn me when a metric is too high",
        type="help create threshold",
        words="alert alarm threshold notify notification limit above below exceeds exceed low slow",
    ),
    Question(
        text="a change that takes itself back",
        type="help --confirm-within",
        words="try test temporarily temporary automatic automatically minutes unless confirm timer revert guard",
    ),
    Question(
        text="keep the rack for myself",
        type="lock",
        words="reserve colleague others exclusive maintenance block prevent nobody else",
    ),
    Question(
        text="the journal for an auditor",
        type="journal export",
        words="audit auditor csv file report compliance evidence send",
    ),
    Question(
        text="is an alert open?",
        type="show alerts",
        words="alerts alarm alarms warning warnings critical events messages",
    ),
    Question(
        text="mark an alert as seen",
        type="ack alert <alert>",
        words="ack acknowledge acknowledged acknowledging seen examined examinedby confirm alert",
    ),
    Question(
        text="take a change back",
        type="undo",
        words="undo revert rollback restore cancel mistake oops reverse abort back",
    ),
    Question(
        text="go on after a crash",
        type="resume",
        words="continue broken interrupted half finish killed lost connection proceed",
    ),
    Question(
        text="write back or write through",
        type="set flashcache mode=writeback",
        words="mode switch writeback writethrough flashcache",
    ),
    Question(text="restart a cell's services", type="restart service", words="bounce stop start cellsrv ms rs daemon"),
    Question(text="are the cells ready to be patched?", type="check patch", words="upgrade update patching patchmgr"),
    Question(
        text="which release is this?",
        type="show versions",
        words="version image software level kernel firmware uname about",
    ),
    Question(text="which cells are there?", type="cells", words="hosts servers nodes rack machines ls who am whoami"),
    Question(
        text="learn it in ten minutes", type="tutorial", words="learn begin start new first teach introduction demo try"
    ),
    Question(
        text="what is the statement for it?",
        type="help <words>",
        words="how what usage manual explain command commands statements",
    ),
    Question(
        text="Tab in bash, zsh or fish",
        type="completion bash",
        words="completion completions complete tab autocomplete bash zsh fish bashrc shell",
    ),
    Question(text="leave", type="exit", words="bye quit logout close end go away"),
)
"""All questions; of those that match equally well, earlier ones are offered first."""

OVERVIEW = ASKED[:7]
"""The questions at the top of ``help``."""

_LITTLE = """a an and any are as at be been by can could did do does for from had has have how i in into is it its may me my of
on or our please shall should show so than that the there this to us want was we were what when which will with would you your"""

_EMPTY = frozenset(_LITTLE.split())
"""Words that don't show what is asked; they are ignored if there are other words."""


def stem(word: str) -> str:
    """Return a word without its ending, so that ``changes``, ``changed`` and ``changing`` become equal."""
    bare = re.sub(r"(?:ings?|ed|es|s|e)$", "", word.lower())
    return (
        (re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", bare) if bare != word.lower() else bare)
        if len(bare) > 2
        else word.lower()
    )


def asked_words(text: str) -> tuple[str, ...]:
    """Return the words of ``text`` that show what is asked; all words if each of them is a filler word."""
    words = [word.lower() for word in re.findall(r"[\w.$#-]*\w", text)]
    return tuple(word for word in words if word not in _EMPTY) or tuple(words)


def answers(text: str) -> tuple[Question, ...]:
    """Return the questions that ``text`` may mean, best first; at least two thirds of the words must match a question."""
    wanted = {stem(word) for word in asked_words(text)}
    rated = []
    for place, question in enumerate(ASKED):
        said = wanted & {stem(word) for word in asked_words(question.text)}
        met = said | wanted & {stem(word) for word in question.words.split()}
        if met and len(met) * 3 >= len(wanted) * 2:
            rated.append((-len(met), -len(said), place))
    return tuple(ASKED[place] for _, _, place in sorted(rated))


def typed(question: Question, cells: Iterable[str] = (), dbs: Iterable[str] = ()) -> str:
    """Return what to type for a question; ``<cell>`` and ``<db>`` are replaced by the first known name of each."""
    text = question.type.replace("<cell>", next(iter(cells), "<cell>"))
    return text.replace("<db>", next(iter(dbs), "<db>"))


_OWN_SHELL = "type `!` before it for your own shell, `sh` for all cells, `on CELL sh` for one cell"

PROGRAMS = {
    "exacell": "leave it and its options out here; `connect RACK` goes to another rack",
    "sqlplus": 'type `sql asm "select …"` or `sql db=NAME "select …"`',
    "asmcmd": "type `show diskgroup` or `show asmdisk`; `on @db sh …` runs a command on the database nodes",
    "oracleasm": "type `show asmdisk`; `on @db sh …` runs it on the database nodes",
    **dict.fromkeys(
        ("for", "while", "until", "if", "ssh", "scp", "cd", "vi", "sudo", "su"),
        _OWN_SHELL,
    ),
}
"""Programs and shell words that people paste, and the hint for each."""


def is_answer(hint: str) -> bool:
    """Return whether a hint of :func:`way_out` names the statement to type, and not only the ways to run a shell's word."""
    return hint.startswith("type `") and hint != _OWN_SHELL


def way_out(text: str) -> str:
    """Return a hint for words that begin no statement; empty if they match no known question or begin with a word of no
    question.
    """
    first = text.split()[0].lower().strip("?") if text.split() else ""
    if first in PROGRAMS:
        return PROGRAMS[first]
    words = asked_words(text)
    code = next((word.upper() for word in words if is_code(word)), "")
    if code:
        return f"type `help {code}`"
    name = next((word.upper() for word in text.split() if metric(word) is not None), "")
    if name:
        return f"type `show metric {name}`; `help metric {name}` explains it"
    named_object = find_object(words[0]) or find_object(words[0].removesuffix("s")) if len(words) == 1 else None
    if named_object is not None:
        name = named_object.name.lower()
        return f"type `list {name}`; `help {name}` shows its other statements"
    found = answers(text) if first in _EMPTY or stem(first) in _asked_with() else ()
    named = [word for word in words if re.search(r"\d", word)]
    return (
        f"type `{typed(found[0], named)}` ({found[0].text}); `help {' '.join(words[:4])}` finds more" if found else ""
    )


@cache
def _asked_with() -> frozenset[str]:
    return frozenset(stem(word) for each in ASKED for word in (*asked_words(each.text), *each.words.split()))
