"""Help's pages about CellCLI: objects, attributes, metrics and codes."""

from __future__ import annotations

from collections.abc import Iterator

from exacell.cellcli.codes import CODES, find_code, metric_meaning, value_meanings
from exacell.cellcli.nodes import Verb
from exacell.cellcli.schema import Attribute, ObjectType, find_object, metric, metrics, objects
from exacell.commands.pages.lines import columns, wrap
from exacell.core.errors import StatementError
from exacell.core.meant import closest
from exacell.language.registry import commands


def code_page(text: str) -> Iterator[str]:
    """Yield a page on an error code.

    Raises:
        StatementError: the code is unknown; similar ones are suggested.
    """
    found = find_code(text)
    if found is None:
        near = closest(text.upper(), [code for code in CODES if code[:4] == text[:4].upper()])
        raise StatementError(
            f"{text.upper()} is unknown: no public source describes it",
            suggestions=near,
            hint="" if near else "read the text that the cell printed; `list alerthistory` may show more",
        )
    yield found.code
    yield ""
    yield from wrap(found.meaning)
    yield from wrap(found.way)
    if not found.confirmed:
        yield from wrap("The code is documented, but no public session shows it; your release may print another one.")
    yield ""
    yield "Source:  public documents and sessions; exacell never depends on the code alone"
    yield f"Example: {found.example}"


def object_page(subject: ObjectType) -> Iterator[str]:
    """Yield a page about an object: its attributes, and the exacell statements for it."""
    yield f"{subject.name}: " + ", ".join(verb for verb in Verb if verb in subject.verbs)
    if subject.lifetime.since or subject.lifetime.until:
        until = f", gone in {subject.lifetime.until}" if subject.lifetime.until else ""
        yield f"since release {subject.lifetime.since or '?'}{until}"
    yield ""
    yield from columns([(attribute.name, _kind(attribute)) for attribute in subject.attributes.values()])
    own = [each.name for each in commands().values() if subject.name.lower() in each.words]
    if own:
        yield ""
        yield from wrap("Ours:    " + " · ".join(own), indent="         ", first="")


def _kind(attribute: Attribute) -> str:
    parts = [str(attribute.kind)]
    parts += ["modifiable"] if attribute.modifiable else ["given with CREATE"] if attribute.created else []
    parts += ["hidden"] if attribute.hidden else []
    parts += [f"since {attribute.lifetime.since}"] if attribute.lifetime.since else []
    parts += [f"until {attribute.lifetime.until}"] if attribute.lifetime.until else []
    return ", ".join(parts) + (f": {attribute.about}" if attribute.about else "")


def attribute_page(object_name: str, name: str) -> Iterator[str]:
    """Yield a page on an attribute.

    Raises:
        StatementError: the object or attribute is unknown; similar ones are suggested.
    """
    subject = find_object(object_name)
    if subject is None:
        near = closest(object_name, (item.lower() for item in objects()))
        raise StatementError(f"'{object_name}' is not a CellCLI object", suggestions=near)
    attribute = subject.attribute(name)
    if attribute is None:
        near = closest(name, (item.name for item in subject.attributes.values()))
        raise StatementError(f"{subject.name} has no attribute '{name}'", suggestions=near)
    yield f"{subject.name} {attribute.name}"
    yield from wrap(_kind(attribute), indent="    ")
    values = value_meanings(subject.name, attribute.name)
    if values:
        yield ""
        yield from columns(values)
    if not attribute.printed:
        yield from ["", "It can only be set: cells do not print it."]
        return
    if attribute.hidden:
        yield from ["", "DETAIL leaves it out: name it after ATTRIBUTES."]
    yield ""
    yield f"Example: list {subject.name.lower()} attributes name, {attribute.name}"


def metric_page(name: str) -> Iterator[str]:
    """Yield a page on a metric.

    Raises:
        StatementError: the metric is unknown; similar ones are suggested.
    """
    found = metric(name)
    if found is None:
        raise StatementError(f"'{name}' is not a metric", suggestions=closest(name.upper(), metrics()))
    yield f"{found.name}: {found.metric_type.lower()} metric of {found.object_type}, in {found.unit}"
    what = metric_meaning(found.name)
    if what:
        yield from wrap(what[:1].upper() + what[1:] + ".", indent="    ")
    else:
        yield from wrap(f"list metricdefinition {found.name} detail shows the cells' own description.", indent="    ")
    meaning = {
        "Cumulative": "It counts up since CELLSRV started or its object was created: `snap` and `delta` show the difference.",
        "Rate": "It is the average over the last collection period.",
        "Instantaneous": "It is the value at the moment of collection.",
    }.get(found.metric_type)
    if meaning:
        yield from wrap(meaning, indent="    ")
    yield from wrap("Collected once a minute on each cell's own clock.", indent="    ")
    yield ""
    yield f"Example: list metriccurrent {found.name}"
