"""What the progress display shows for one stage: a phrase and a fraction per target."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from exacell.output.console import Console, Progress


class Board:
    """Collects the states of one stage's targets and shows them each time one changes, from any thread."""

    def __init__(
        self,
        console: Console,
        title: str,
        number: int,
        of: int,
        targets: Sequence[str],
        state: str = "checking",
        others: str = "",
    ) -> None:
        self._console = console
        self._title, self._number, self._of = title, number, of
        self._states = dict.fromkeys(targets, state)
        self._fraction: dict[str, float] = {}
        self._eta: dict[str, float] = {}
        self._others = others
        self._lock = threading.RLock()
        self._show()

    def set(self, target: str, phrase: str, fraction: float | None = None, eta: float | None = None) -> None:
        """Show ``phrase`` for a target.

        Args:
            fraction: 0 to 1; None leaves what was shown.
            eta: seconds until the target may be done; None when that can't be told any more.
        """
        with self._lock:
            self._states[target] = phrase
            if fraction is not None:
                self._fraction[target] = fraction
            if eta is None:
                self._eta.pop(target, None)
            else:
                self._eta[target] = eta
            self._show()

    def set_all(self, targets: Mapping[str, object], phrase: str) -> None:
        """Show the same phrase for several targets."""
        with self._lock:
            for target in targets:
                self._states[target] = phrase
            self._show()

    def only(self, states: Mapping[str, str]) -> None:
        """Show these targets and no others."""
        with self._lock:
            self._states = dict(states)
            self._fraction, self._eta = {}, {}
            self._show()

    def _show(self) -> None:
        self._console.progress(
            Progress(
                stage=self._title,
                number=self._number,
                of=self._of,
                states=dict(self._states),
                fraction=dict(self._fraction),
                eta=max(self._eta.values(), default=None),
                others=self._others,
            )
        )
