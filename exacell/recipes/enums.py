"""Values of a statement that their attribute never has: ``status = normall``, ``flashCacheMode = fast``. Pure.

What ALTER can set is one of a closed list. Of what cells alone print, a release may have words that are not known
here: there only what looks like a slip for a known one is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher

from exacell.cellcli.nodes import Filter, Operator
from exacell.cellcli.schema import Attribute, Kind, find_object
from exacell.cellcli.suggest import closest

_SLIP = 0.8
"""Two words as similar as this, as difflib has it (1 is the same), may be one and a slip for it."""


def of_filters(subject: str, filters: Sequence[Filter], anything: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the values of a WHERE, each with the way out.

    Args:
        subject: the object, as LIST takes it.
        anything: words that stand for a value which is not known yet, and are not judged.
    """
    for each in filters:
        if each.operator is Operator.EQUAL and each.value.text not in anything:
            yield from of_value(subject, each.attribute, each.value.text)


def of_value(subject: str, attribute: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one value, and the way out; nothing where it may be right."""
    found = find_object(subject)
    known = found.attribute(attribute) if found is not None else None
    if known is None or known.kind is not Kind.ENUM or not known.values or not text or text.endswith("*"):
        return
    if text.lower() in (value.lower() for value in known.values):
        return
    slips = [value for value in known.values if _is_slip(text.lower(), value.lower())]
    if slips or _is_closed(known):
        near = slips or closest(text, known.values)
        *most, last = known.values
        listed = f"{', '.join(most)} or {last}" if most else last
        yield f"'{text}' is not a value of {known.name}: it is {listed}", f"did you mean {near[0]}?" if near else ""


def _is_closed(attribute: Attribute) -> bool:
    return attribute.modifiable or attribute.created


def _is_slip(word: str, known: str) -> bool:
    """Whether a word is nearly a known one; one with a further word in it says more, and is none."""
    return len(word.split()) == len(known.split()) and SequenceMatcher(None, word, known).ratio() >= _SLIP
