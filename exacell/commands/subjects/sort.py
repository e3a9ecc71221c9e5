"""The functions that each sort of data must provide to be compared and reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from exacell.core.values import dataclass
from exacell.session.given import Request, Services, Session

if TYPE_CHECKING:
    from exacell.measure.finding import Finding


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The session of the user who asks, and the options.

    Attributes:
        anyway: whether to compare data that are not alike, too.
    """

    session: Session
    services: Services
    request: Request
    anyway: bool = False


@dataclass(frozen=True, kw_only=True)
class Sort:
    """One sort of data.

    Attributes:
        title: the name of its items, in the plural.
        has: returns whether an item has this name; asks no cell.
        alone: returns the finding about one item; None if only two items can be reported.
        pair: returns the comparison of the second item with the first; None if items can't be compared.
        several: returns the comparison of each other item with the first; None if at most two can be compared.
        fitting: returns the names that match a pattern with *, in the order in which they were stored.
        newest: returns the name of the newest item, empty without items; None if a report needs a name.
    """

    title: str
    has: Callable[[Asked, str], bool]
    alone: Callable[[Asked, str], Finding] | None
    pair: Callable[[Asked, str, str], Finding] | None
    several: Callable[[Asked, Sequence[str]], Finding] | None = None
    fitting: Callable[[Asked, str], Sequence[str]] | None = None
    newest: Callable[[Asked], str] | None = None
