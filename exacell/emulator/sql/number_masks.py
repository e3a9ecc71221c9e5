"""Number format models: TO_CHAR and TO_NUMBER with a mask, and COLUMN … FORMAT of SQL*Plus.

Source: Oracle Database SQL Language Reference, "Number Format Models".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.values import number_of, number_text

_SHAPE = re.compile(
    r"(?P<fm>FM)?(?P<lead>S)?(?P<money>[$LCU])?(?P<blank>B)?(?P<money2>\$)?"
    r"(?P<whole>[90,G$]*)(?P<point>[.D](?P<fraction>[90$]*))?(?P<shift>V[90]+)?(?P<power>EEEE)?(?P<trail>S|MI|PR)?"
)
_MARKS = {"$": "$", "L": "$", "C": "USD", "U": "$"}
LOCAL_CURRENCY_WIDTH = 10
"""Characters that L takes in a column."""


@dataclass(frozen=True, kw_only=True)
class _Mask:
    """The parts of a number format model."""

    trim: bool
    lead_sign: bool
    money: str
    blank_zero: bool
    whole: str
    fraction: str | None
    power: bool
    trail: str


def _mask(text: str) -> _Mask:
    match = _SHAPE.fullmatch(text.upper())
    if match is None or not (match["whole"] or match["fraction"]):
        raise OraError(ora(1481))
    whole, fraction = match["whole"], match["fraction"]
    money = match["money"] or match["money2"] or ("$" if "$" in whole + (fraction or "") else "")
    return _Mask(
        trim=match["fm"] is not None,
        lead_sign=match["lead"] is not None,
        money=money,
        blank_zero=match["blank"] is not None,
        whole=whole.replace("$", "").replace("G", ","),
        fraction=fraction.replace("$", "") if fraction is not None else None,
        power=match["power"] is not None,
        trail=match["trail"] or "",
    )


def is_number_mask(text: str) -> bool:
    """Return whether a text is a number format model."""
    try:
        _mask(text)
    except OraError:
        return bool(re.fullmatch(r"(?:FM)?0*X+", text.upper()))
    return len(text) < 64


def mask_width(text: str) -> int:
    """Return the most characters that a mask can produce."""
    upper = text.upper().removeprefix("FM")
    if re.fullmatch("0*X+", upper):
        return len(upper) + 1
    mask = _mask(upper)
    digits = len(mask.whole) + (len(mask.fraction) + 1 if mask.fraction is not None else 0)
    money = {"": 0, "$": 1}.get(mask.money, LOCAL_CURRENCY_WIDTH)
    return digits + 1 + money + (mask.trail == "PR") + (5 if mask.power else 0)


def format_number(value: int | Decimal, mask: str) -> str:
    """Return TO_CHAR(number, mask); ``####`` if the number does not fit.

    Raises:
        OraError: ORA-01481 if ``mask`` is not a number format model.
    """
    upper = mask.upper()
    if re.fullmatch(r"(?:FM)?0*X+", upper):
        return _hexadecimal(value, mask)
    if upper in ("TM", "TM9", "TME"):
        return number_text(value)
    shape = _mask(upper)
    number = Decimal(value)
    if shape.power:
        return _scientific(number, shape)
    digits = f"{abs(number):.{len(shape.fraction or '')}f}"
    negative = number < 0 and any(mark in "123456789" for mark in digits)
    int_digits, _, frac_digits = digits.partition(".")
    places = shape.whole.replace(",", "")
    if int_digits == "0" and "0" not in places:
        int_digits = "" if shape.fraction else "0"
    width = mask_width(upper)
    if len(int_digits) > len(places):
        return "#" * width
    text = _grouped(int_digits, shape.whole) + (f".{frac_digits}" if shape.fraction else "")
    if shape.fraction == "":
        text += "."
    if shape.blank_zero and not number:
        text = ""
    if shape.trim and shape.fraction and "0" not in shape.fraction:
        text = text.rstrip("0")
    text = _MARKS.get(shape.money, "") + text
    text = _signed(text, negative, shape)
    return text if shape.trim else text.rjust(width)


def _grouped(digits: str, whole: str) -> str:
    places = whole.replace(",", "")
    first_zero = places.find("0")
    minimum = len(places) - first_zero if first_zero >= 0 else 0
    pending = list(digits.rjust(max(minimum, len(digits)), "0"))
    out: list[str] = []
    for mark in reversed(whole):
        if mark == ",":
            if pending:
                out.append(",")
        elif pending:
            out.append(pending.pop())
    return "".join(reversed(out))


def _signed(text: str, negative: bool, shape: _Mask) -> str:
    if shape.lead_sign:
        return ("-" if negative else "+") + text
    if shape.trail == "S":
        return text + ("-" if negative else "+")
    if shape.trail == "MI":
        return text + ("-" if negative else "" if shape.trim else " ")
    if shape.trail == "PR":
        return f"<{text}>" if negative else text if shape.trim else f"{text} "
    return ("-" if negative else "") + text


def _scientific(number: Decimal, shape: _Mask) -> str:
    mantissa, _, exponent = f"{number:.{len(shape.fraction or '')}E}".partition("E")
    text = f"{mantissa}E{exponent[0]}{exponent[1:].zfill(2)}"
    return text if shape.trim else " " * (number >= 0) + " " + text


def _hexadecimal(value: int | Decimal, mask: str) -> str:
    upper = mask.upper()
    trim, picture = upper.startswith("FM"), upper.removeprefix("FM")
    number = round(Decimal(value))
    text = f"{number:x}" if "x" in mask else f"{number:X}"
    if number < 0 or len(text) > len(picture):
        return "#" * (len(picture) + 1)
    text = text.rjust(len(picture) if picture.startswith("0") else 0, "0")
    return text if trim else text.rjust(len(picture) + 1)


def parse_number(text: str, mask: str) -> int | Decimal:
    """Return TO_NUMBER(text, mask).

    Raises:
        OraError: ORA-01722 if the text is not a number of that form; ORA-01481 if ``mask`` is not a number format model.
    """
    if re.fullmatch(r"(?:FM)?0*X+", mask.upper()):
        try:
            return int(text.strip(), 16)
        except ValueError:
            raise OraError(ora(1722)) from None
    shape = _mask(mask)
    plain = text.strip().replace("$", "").replace(",", "") if "," in shape.whole or shape.money else text.strip()
    negative = plain.endswith("-") or (plain.startswith("<") and plain.endswith(">"))
    try:
        number = number_of(Decimal(plain.strip("<>").rstrip("-+")))
    except InvalidOperation:
        raise OraError(ora(1722)) from None
    return -number if negative else number
