"""What each sort of thing that can be compared and reported must say of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from exacell.core.values import dataclass
from exacell.session.given import Request, Services, Session

if TYPE_CHECKING:
    from exacell.measure.finding import Finding


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Who asks, and how.

    Attributes:
        anyway: also of what is not alike.
    """

    session: Session
    services: Services
    request: Request
    anyway: bool = False


@dataclass(frozen=True, kw_only=True)
class Sort:
    """One sort.

    Attributes:
        title: what its things are called, in the plural.
        has: whether a name is one of its things; asks no cell.
        alone: what one of them says; None where only two say something.
        pair: what the second says beside the first; None where each of them says all by itself.
        several: what the others say, each beside the first; None where there are two at most.
        fitting: the names of those that fit a pattern with *, in the order in which they were kept.
        newest: the name of the newest one, empty where there is none; of sorts that can be reported without a name.
    """

    title: str
    has: Callable[[Asked, str], bool]
    alone: Callable[[Asked, str], Finding] | None
    pair: Callable[[Asked, str, str], Finding] | None
    several: Callable[[Asked, Sequence[str]], Finding] | None = None
    fitting: Callable[[Asked, str], Sequence[str]] | None = None
    newest: Callable[[Asked], str] | None = None
