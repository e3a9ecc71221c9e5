"""The values that ALTER and CREATE accept for an attribute, as its line in the schema's table declares."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.schema import Attribute, Release, object_types
from exacell.emulator.grammar.changing import size_of

MAX_TEXT = 255


def checked_values(
    owner: str, values: Mapping[str, str], release: Release, *, creating: bool = False
) -> dict[str, str]:
    """Return the values that a statement sets, by the attributes' names, in Oracle's spelling.

    Args:
        values: as they were given, by the attributes' names in upper or lower case.
        creating: for CREATE, which also accepts attributes that can't be changed later.

    Raises:
        CellError: the release has no such attribute, it can't be set, or it does not accept the value.
    """
    found = {attribute_of(owner, name, release, creating=creating): text for name, text in values.items()}
    return {attribute.name: checked(attribute, text) for attribute, text in found.items()}


def attribute_of(owner: str, name: str, release: Release, *, creating: bool = False) -> Attribute:
    """Return the attribute that a statement sets.

    Raises:
        CellError: the release has no attribute of that name, or it can't be set.
    """
    attribute = object_types()[owner].attribute(name, release)
    if attribute is None:
        raise CellError(Code.UNKNOWN_ATTRIBUTE, attribute=name, object=owner)
    if not (attribute.modifiable or (creating and attribute.created)):
        raise CellError(Code.READ_ONLY, attribute=attribute.name, object=owner)
    return attribute


def checked(attribute: Attribute, text: str) -> str:
    """Return a value of an attribute in Oracle's spelling.

    Raises:
        CellError: the attribute does not accept the value.
    """
    if attribute.values and attribute.several:
        return ",".join(_one_of(attribute, part.strip()) for part in text.split(","))
    if attribute.values:
        return _one_of(attribute, text)
    if attribute.kind == "bool":
        if text.upper() not in ("TRUE", "FALSE"):
            raise _wrong(attribute, text, "TRUE or FALSE")
        return text.upper()
    if attribute.kind == "int" and not text.isdecimal():
        raise _wrong(attribute, text, _whole(attribute))
    if attribute.range is not None:
        least, most = attribute.range
        if int(text) < least or (most is not None and int(text) > most):
            raise _wrong(attribute, text, _whole(attribute))
    if attribute.kind == "number":
        _number(attribute, text)
    if attribute.kind == "size":
        size_of(text, attribute.name)
    if attribute.kind == "text" and len(text) > MAX_TEXT:
        raise _wrong(attribute, text, f"at most {MAX_TEXT} characters")
    return text


def _number(attribute: Attribute, text: str) -> None:
    try:
        float(text)
    except ValueError:
        raise _wrong(attribute, text, "a number") from None


def _whole(attribute: Attribute) -> str:
    if attribute.range is None:
        return "a whole number"
    least, most = attribute.range
    return f"a whole number from {least} on" if most is None else f"a whole number from {least} to {most}"


def _one_of(attribute: Attribute, text: str) -> str:
    found = next((value for value in attribute.values if value.lower() == text.lower()), None)
    if found is None:
        *some, last = attribute.values
        raise _wrong(attribute, text, f"{', '.join(some)} or {last}" if some else f"it must be {last}")
    return found


def _wrong(attribute: Attribute, text: str, rule: str) -> CellError:
    return CellError(Code.BAD_VALUE, value="***" if attribute.secret else text, attribute=attribute.name, rule=rule)
