"""What may come behind ``help``: statements, objects, attributes, metrics, error codes and the topics. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exacell.cellcli.codes import CODES
from exacell.cellcli.schema import find_object, objects, objects_of
from exacell.cellcli.verbs import Verb
from exacell.language.registry import commands
from exacell.language.suggestion import Known, Piece, Suggestion, described_metrics, matching

_TOPICS = (
    ("safety", "what exacell never does"),
    ("metric", "a metric explained"),
    ("attribute", "an attribute explained"),
    ("man", "the man page"),
    ("flags", "flags of statements, and how a line is written"),
    ("docs", "a page of the documentation"),
)


def suggest_help(parts: Sequence[Piece], known: Known) -> Iterator[Suggestion]:
    """Yield the words that may stand where the last of ``parts`` (behind ``help``) is being typed."""
    typed, done = parts[-1], tuple(part.lower for part in parts[:-1])
    if done[:1] == ("metric",):
        if len(done) == 1:
            yield from matching(described_metrics(known), typed.text, typed.start)
        return
    if done[:1] == ("attribute",):
        found = find_object(done[1]) if len(done) == 2 else None
        if len(done) == 1:
            yield from matching([name.lower() for name in objects()], typed.text, typed.start)
        elif found is not None:
            yield from matching([item.name for item in found.attributes.values()], typed.text, typed.start)
        return
    if done[:1] == ("docs",):
        yield from matching(known.pages(), typed.text, typed.start)
        return
    offered: dict[str, str] = {}
    for words, command in commands().items():
        if len(words) > len(done) and words[: len(done)] == done:
            offered.setdefault(words[len(done)], command.summary if len(words) == len(done) + 1 else "")
    verb = next((verb for verb in Verb if done == (verb.value.lower(),)), None)
    if not done:
        offered |= {verb.value.lower(): offered.get(verb.value.lower()) or "CellCLI" for verb in Verb}
        offered |= dict(_TOPICS) | {name.lower(): "CellCLI object" for name in objects() if name.lower() not in offered}
        offered |= {page: "a page of the documentation" for page in known.pages() if page not in offered}
        offered |= {code: item.meaning for code, item in CODES.items()} if typed.lower[:2] in ("ce", "or") else {}
    elif verb is not None:
        offered |= {found.name.lower(): "CellCLI" for found in objects_of(verb) if found.name.lower() not in offered}
    yield from matching(sorted(offered.items()), typed.text, typed.start)
