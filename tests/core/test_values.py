"""Data classes that start quickly are the standard library's in everything but the time they take to make."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from collections.abc import Callable
from typing import Any, ClassVar

from exacell.core import values
from tests.support.every import every

Decorator = Callable[..., Any]


def family(dataclass: Decorator) -> dict[str, Any]:
    """Return classes of every shape that is used here, made by one decorator."""

    @dataclass
    class Plain:
        """Mutable."""

        name: str
        size: int = 3
        parts: list[int] = dataclasses.field(default_factory=list)

    @dataclass(frozen=True)
    class Frozen:
        """Frozen, by place."""

        name: str
        size: int = 3
        parts: tuple[int, ...] = ()

    @dataclass(frozen=True, kw_only=True)
    class Named:
        """Frozen, by name, with everything that a field can be."""

        KIND: ClassVar[str] = "named"
        size: int = 3
        name: str
        parts: dict[str, int] = dataclasses.field(default_factory=dict, compare=False)
        secret: str = dataclasses.field(default="s", repr=False)
        cache: list[int] = dataclasses.field(default_factory=list, init=False, repr=False, compare=False)
        fixed: int = dataclasses.field(default=7, init=False)

        def __post_init__(self) -> None:
            if self.size < 0:
                raise ValueError("size < 0")

    @dataclass(frozen=True, kw_only=True)
    class Child(Named):
        """A frozen child."""

        more: str = "m"

    class Loose(Frozen):
        """A child that is no data class and may have attributes of its own."""

        def __init__(self, name: str) -> None:
            super().__init__(name, 9)
            self.extra = 1

    @dataclass(frozen=True)
    class Own:
        """Says itself how it compares and shows."""

        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and other.name.lower() == self.name.lower()

        def __hash__(self) -> int:
            return hash(self.name.lower())

        def __repr__(self) -> str:
            return f"<{self.name}>"

    @dataclass(frozen=True)
    class Empty:
        """Nothing."""

    @dataclass(slots=True)
    class Slotted:
        """Left to the standard decorator."""

        name: str = "n"

    return {k: v for k, v in locals().items() if isinstance(v, type)}


MADE: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Plain", ("a",), {}),
    ("Plain", ("a", 4, [1]), {}),
    ("Plain", (), {"name": "a", "parts": [2]}),
    ("Plain", (), {}),
    ("Plain", ("a", 1, [], 3), {}),
    ("Frozen", ("a",), {}),
    ("Frozen", ("a", 5), {"parts": (1, 2)}),
    ("Frozen", ("a",), {"name": "b"}),
    ("Named", (), {"name": "a"}),
    ("Named", (), {"name": "a", "size": 9, "parts": {"x": 1}, "secret": "t"}),
    ("Named", (), {"name": "a", "size": -1}),
    ("Named", ("a",), {}),
    ("Named", (), {"name": "a", "cache": []}),
    ("Child", (), {"name": "a", "more": "x"}),
    ("Child", (), {"name": "a", "size": -1}),
    ("Loose", ("a",), {}),
    ("Own", ("Ab",), {}),
    ("Empty", (), {}),
    ("Slotted", (), {}),
]


def outcome(work: Callable[[], Any]) -> Any:
    """Return what ``work`` gives, or the kind and the text of what it raises."""
    try:
        return work()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, str(error)


@every(MADE)
def test_values_behave_alike(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A value made by either decorator shows, compares, hashes, copies and refuses to change in the same words."""
    seen = []
    for decorator in (dataclasses.dataclass, values.dataclass):
        made = family(decorator)[name]
        value = outcome(lambda made=made: made(*args, **kwargs))
        if isinstance(value, tuple):
            seen.append(value)
            continue
        other = made(*args, **kwargs)
        seen.append(
            (
                repr(value).replace("values.dataclass", ""),
                vars(value) if hasattr(value, "__dict__") else None,
                value == other,
                value != other,
                value == 3,
                outcome(lambda value=value, other=other: hash(value) == hash(other)),
                outcome(lambda value=value: dataclasses.asdict(value)),
                outcome(lambda value=value: [f.name for f in dataclasses.fields(value)]),
                outcome(lambda value=value: repr(dataclasses.replace(value, name="new"))),
                copy.deepcopy(value) == value,
                outcome(lambda value=value: setattr(value, "name", "z")),
                outcome(lambda value=value: setattr(value, "unknown", "z")),
                outcome(lambda value=value: delattr(value, "size")),
                getattr(made, "__match_args__", None),
            )
        )
    assert seen[0] == seen[1]


def test_values_of_two_classes_differ() -> None:
    """A value never equals one of a child class with the same attributes."""
    made = family(values.dataclass)
    assert made["Named"](name="a") != made["Child"](name="a")
    assert made["Frozen"]("a", 9) != made["Loose"]("a")


def test_a_value_inside_of_itself_is_shown() -> None:
    """A value that contains itself is shown with dots instead of without end."""
    value = family(values.dataclass)["Plain"]("a")
    value.parts.append(value)
    assert "..." in repr(value)


@values.dataclass(frozen=True, kw_only=True)
class Pickled:
    """At a module's level, as pickling wants it."""

    name: str
    parts: tuple[int, ...] = ()


def test_pickled() -> None:
    """A value survives pickling."""
    value = Pickled(name="a", parts=(1,))
    assert pickle.loads(pickle.dumps(value)) == value


def test_first_values_from_many_threads() -> None:
    """Threads that make a class's first value at the same time all get a whole one."""
    made = family(values.dataclass)["Named"]
    barrier, found = threading.Barrier(8), []

    def work() -> None:
        barrier.wait(300)
        found.append(made(name="a", size=4))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert [value.size for value in found] == [4] * 8
    assert len(set(found)) == 1
