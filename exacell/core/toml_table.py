"""Read a TOML table key by key: each value is checked, and keys that were never read are reported as unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from exacell.core.cellset import CellSet
from exacell.core.errors import CellSetError, ConfigError, UnitError
from exacell.core.meant import ask_for
from exacell.core.plain_toml import plain_toml
from exacell.core.units import parse_duration, parse_size

T = TypeVar("T")
D = TypeVar("D")
N = TypeVar("N", int, float)


def parse_toml(text: str, source: str) -> TomlTable:
    """Return the top table of a TOML text; ``source`` names it in messages.

    Raises:
        ConfigError: the text is not TOML.
    """
    plain = plain_toml(text)
    if plain is not None:
        return TomlTable(plain, source)
    import tomllib

    try:
        return TomlTable(tomllib.loads(text), source)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source} is not TOML: {error}", hint="write text in quotes and lists in [ ]") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{source} can't be read: a number in it has thousands of digits, or its lists and tables are nested too deep",
            hint="correct that line",
        ) from error


class TomlTable:
    """One table. Every reader raises ConfigError for a value of the wrong kind; the message contains ``where``, the key and
    the rule.
    """

    def __init__(self, data: Mapping[str, object], where: str) -> None:
        self._data = data
        self.where = where
        self._asked: set[str] = set()

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys of the table, in file order."""
        return tuple(self._data)

    def under(self, over: TomlTable) -> TomlTable:
        """Return this table with the keys of ``over`` in place of its own; messages name both tables."""
        return TomlTable({**self._data, **over._data}, f"{self.where}, with {over.where}")

    def with_text(self, key: str, value: str) -> TomlTable:
        """Return this table with another text under ``key``."""
        return TomlTable({**self._data, key: value}, self.where)

    def _get(self, key: str) -> object | None:
        self._asked.add(key)
        return self._data.get(key)

    def _wrong(self, key: str, value: object, rule: str) -> ConfigError:
        return ConfigError(f"{self.where}: {key} must be {rule}, not {value!r}")

    def _read(self, key: str, default: D, read: Callable[[object], T | None], rule: str) -> T | D:
        """Return the value converted by ``read``; ``default`` if the key is missing.

        Args:
            read: returns the converted value; None if the value is of the wrong kind.
            rule: what the value must be, for the message.

        Raises:
            ConfigError: the value is of the wrong kind.
        """
        value = self._get(key)
        if value is None:
            return default
        try:
            found = read(value)
        except UnitError as error:
            raise ConfigError(f"{self.where}: {key}: {error.message}") from error
        if found is None:
            raise self._wrong(key, value, rule)
        return found

    def text(self, key: str, default: str) -> str:
        """Return a text."""
        return self._read(key, default, lambda value: value if isinstance(value, str) else None, "text in quotes")

    def choice(self, key: str, default: str, words: tuple[str, ...]) -> str:
        """Return one of ``words``, in lower case."""
        value = self.text(key, default).lower()
        if value not in words:
            raise self._wrong(key, value, f"one of {', '.join(words)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty if the key is missing."""
        return self._read(key, (), _texts, 'a list of texts such as ["SPOT", "ERP"]')

    def names(self, key: str) -> tuple[str, ...]:
        """Return host names, from a cell set or a list of cell sets; each cell set is in natural order."""
        value = self._get(key)
        parts = [] if value is None else value if isinstance(value, list) else [value]
        found: dict[str, None] = {}
        for part in parts:
            if not isinstance(part, str):
                raise self._wrong(key, value, 'host names such as "exa1cel[01-03]"')
            try:
                found.update(dict.fromkeys(CellSet.parse(part)))
            except CellSetError as error:
                raise ConfigError(f"{self.where}: {key}: {error.message}", hint=error.hint) from error
        return tuple(found)

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        return self._read(key, default, lambda value: value if isinstance(value, bool) else None, "true or false")

    def seconds(self, key: str, default: D) -> float | D:
        """Return seconds (above 0), from a number or a duration as text."""
        rule = 'a time greater than 0: seconds, or text such as "90s" or "5m"'
        return self._read(key, default, lambda value: _above_0(value, float, parse_duration), rule)

    def count(self, key: str, default: D) -> int | D:
        """Return a whole number from 1, from a number or its text."""
        return self._read(key, default, _count, "a whole number, 1 or greater")

    def size(self, key: str, default: int) -> int:
        """Return bytes (above 0), from a number of bytes or a size as text."""
        rule = 'a size greater than 0: bytes, or text such as "500m" or "2g"'
        return self._read(key, default, lambda value: _above_0(value, int, parse_size), rule)

    def table(self, key: str) -> TomlTable | None:
        """Return a table inside this one; None if it is missing."""
        found = self._read(key, None, lambda value: value if isinstance(value, dict) else None, f"a table, [{key}]")
        return None if found is None else TomlTable(found, f"{self.where} [{key}]")

    def tables(self, key: str) -> dict[str, TomlTable]:
        """Return the tables inside the table ``key`` by name; empty if it is missing."""
        outer = self.table(key)
        if outer is None:
            return {}
        found: dict[str, TomlTable] = {}
        for name in outer.keys:
            inner = outer.table(name)
            if inner is not None:
                found[name] = TomlTable(inner._data, f"{self.where} [{key}.{name}]")
        return found

    def finish(self) -> None:
        """Raise ConfigError if the table has a key that was never read."""
        unknown = [key for key in self._data if key not in self._asked]
        if unknown:
            allowed = ", ".join(sorted(self._asked))
            raise ConfigError(
                f"{self.where}: unknown key '{unknown[0]}'; allowed are {allowed}",
                hint=ask_for(unknown[0], self._asked),
            )


def _texts(value: object) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def _count(value: object) -> int | None:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 1 else None


def _above_0(value: object, kind: type[N], parse: Callable[[str], N]) -> N | None:
    """Return a number of that kind, also from a text; None if the value is neither, or is not above 0."""
    number = parse(value) if isinstance(value, str) else value
    return kind(number) if isinstance(number, (int, kind)) and not isinstance(number, bool) and number > 0 else None
