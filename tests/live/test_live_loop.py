"""The loop of a live screen: keys are answered while a reading takes its time."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from exacell.core.errors import RefusedError
from exacell.live.loop import Reader, run_live


class Keys:
    """A screen whose keys come from a list; waits as long as ``until`` says before each."""

    def __init__(self, *keys: str, until: Callable[[list[list[str]]], bool] = lambda drawn: True) -> None:
        self._keys = list(keys)
        self._until = until
        self._woken = threading.Event()
        self.drawn: list[list[str]] = []
        self.size = (80, 24)

    def draw(self, lines: list[str]) -> None:
        self.drawn.append(lines)

    def key(self, timeout: float | None = None) -> str:
        if not self._until(self.drawn):
            self._woken.wait(0.05)
            self._woken.clear()
            return ""
        return self._keys.pop(0)

    def wake(self) -> None:
        self._woken.set()


class Seen:
    """A view that keeps what arrives and which keys were pressed."""

    def __init__(self, most: int = 0) -> None:
        self.values: list[int] = []
        self.pressed: list[str] = []
        self._most = most

    def arrived(self, value: int) -> None:
        self.values.append(value)

    def press(self, key: str) -> bool:
        self.pressed.append(key)
        return key == "s"

    @property
    def ended(self) -> bool:
        return bool(self._most) and len(self.values) >= self._most

    def lines(self, width: int, height: int, status: str) -> list[str]:
        return [str(self.values[-1:]), status]


def reader(read: Callable[[], int], screen: Keys) -> Reader[int]:
    return Reader(read, 0.01, late=lambda: "waiting for cel07", wake=screen.wake)


def test_q_leaves_while_a_reading_hangs() -> None:
    """A key is answered although the cell never is; the reading is left to itself."""
    hanging = threading.Event()
    screen = Keys("s", "q")
    view = Seen()
    run_live(screen, reader(lambda: int(hanging.wait(300)), screen), view)  # type: ignore[arg-type]
    assert view.pressed == ["s", "q"] and not view.values
    hanging.set()


def test_readings_arrive_and_p_pauses() -> None:
    """What is read is shown; p stops the reading and says so, p again goes on."""
    screen = Keys("p", "p", "q", until=lambda drawn: drawn[-1][0] != "[]")
    run_live(screen, reader(lambda: 7, screen), Seen())  # type: ignore[arg-type]
    assert screen.drawn[-2][1] == "paused" and screen.drawn[-1][1] == ""


def test_it_ends_by_itself_when_the_view_has_enough() -> None:
    """A view that wants two readings gets two."""
    screen, view = Keys(until=lambda drawn: False), Seen(most=2)
    run_live(screen, reader(lambda: 1, screen), view)  # type: ignore[arg-type]
    assert len(view.values) >= 2


def test_a_first_reading_that_fails_is_raised_a_later_one_is_told() -> None:
    """Without anything to show the error ends it; afterwards the last answer stays with the error below it."""

    def refused() -> int:
        raise RefusedError("no cell is selected")

    screen = Keys(until=lambda drawn: False)
    with pytest.raises(RefusedError, match="no cell"):
        run_live(screen, reader(refused, screen), Seen())  # type: ignore[arg-type]
    answers = iter([5])

    def once() -> int:
        for value in answers:
            return value
        return refused()

    screen = Keys("q", until=lambda drawn: drawn[-1] == ["[5]", "no cell is selected"])
    run_live(screen, reader(once, screen), Seen())  # type: ignore[arg-type]


def test_a_mistake_of_ours_is_not_swallowed() -> None:
    """What is no ExacellError reaches the caller from the reading thread."""
    screen = Keys(until=lambda drawn: False)
    with pytest.raises(ZeroDivisionError):
        run_live(screen, reader(lambda: 1 // 0, screen), Seen())  # type: ignore[arg-type]
