"""A TOML table that is read key by key, each value checked, and that then complains about the keys nobody asked for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import overload

from exacell.core.cellset import CellSet
from exacell.core.errors import CellSetError, ConfigError, UnitError
from exacell.core.units import parse_duration, parse_size


def parse_toml(text: str, source: str) -> TomlTable:
    """Return the top table of a TOML text; ``source`` names it in messages.

    Raises:
        ConfigError: the text is no TOML.
    """
    import tomllib

    try:
        return TomlTable(tomllib.loads(text), source)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source} is not TOML: {error}") from error


class TomlTable:
    """One table. Every reader raises ConfigError for a value of the wrong kind, naming ``where``, key and rule."""

    def __init__(self, data: Mapping[str, object], where: str) -> None:
        self._data = data
        self.where = where
        self._asked: set[str] = set()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the table has, in file order."""
        return tuple(self._data)

    def under(self, over: TomlTable) -> TomlTable:
        """Return this table with the keys of ``over`` put over its own; messages name both places."""
        return TomlTable({**self._data, **over._data}, f"{self.where}, with {over.where}")

    def with_text(self, key: str, value: str) -> TomlTable:
        """Return this table with another text under ``key``."""
        return TomlTable({**self._data, key: value}, self.where)

    def _get(self, key: str) -> object | None:
        self._asked.add(key)
        return self._data.get(key)

    def _wrong(self, key: str, value: object, rule: str) -> ConfigError:
        return ConfigError(f"{self.where}: {key} must be {rule}, not {value!r}")

    def text(self, key: str, default: str) -> str:
        """Return a text."""
        value = self._get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self._wrong(key, value, "text in quotes")
        return value

    def choice(self, key: str, default: str, words: tuple[str, ...]) -> str:
        """Return one of ``words``, in lower case."""
        value = self.text(key, default).lower()
        if value not in words:
            raise self._wrong(key, value, f"one of {', '.join(words)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty when absent."""
        value = self._get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, value, 'a list of texts such as ["SPOT", "ERP"]')
        return tuple(value)

    def names(self, key: str) -> tuple[str, ...]:
        """Return host names: a cell set as text, or a list of such; in natural order within each text."""
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
        value = self._get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._wrong(key, value, "true or false")
        return value

    @overload
    def seconds(self, key: str, default: float) -> float: ...
    @overload
    def seconds(self, key: str, default: None) -> float | None: ...
    def seconds(self, key: str, default: float | None) -> float | None:
        """Return seconds above 0, from a number or a duration in text."""
        value = self._get(key)
        if value is None:
            return default
        seconds = 0.0
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = float(value)
        elif isinstance(value, str):
            try:
                seconds = parse_duration(value)
            except UnitError as error:
                raise ConfigError(f"{self.where}: {key}: {error.message}") from error
        if seconds <= 0:
            raise self._wrong(key, value, 'a time above 0: seconds, or text such as "90s" or "5m"')
        return seconds

    @overload
    def count(self, key: str, default: int) -> int: ...
    @overload
    def count(self, key: str, default: None) -> int | None: ...
    def count(self, key: str, default: int | None) -> int | None:
        """Return a whole number from 1, from a number or its text."""
        value = self._get(key)
        if value is None:
            return default
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise self._wrong(key, value, "a whole number from 1")
        return number

    def size(self, key: str, default: int) -> int:
        """Return bytes above 0, from a number of bytes or a size in text."""
        value = self._get(key)
        if value is None:
            return default
        size = 0
        if isinstance(value, int) and not isinstance(value, bool):
            size = value
        elif isinstance(value, str):
            try:
                size = parse_size(value)
            except UnitError as error:
                raise ConfigError(f"{self.where}: {key}: {error.message}") from error
        if size <= 0:
            raise self._wrong(key, value, 'a size above 0: bytes, or text such as "500m" or "2g"')
        return size

    def table(self, key: str) -> TomlTable | None:
        """Return a table inside this one, None when it is absent."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(key, value, f"a table, [{key}]")
        return TomlTable(value, f"{self.where} [{key}]")

    def tables(self, key: str) -> dict[str, TomlTable]:
        """Return the tables in the table ``key`` by name; empty when it is absent."""
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
        """Raise ConfigError when the table has a key that was not asked for."""
        unknown = [key for key in self._data if key not in self._asked]
        if unknown:
            close = difflib.get_close_matches(unknown[0], self._asked, n=1)
            raise ConfigError(
                f"{self.where}: unknown key '{unknown[0]}'; allowed are {', '.join(sorted(self._asked))}",
                hint=f"did you mean {close[0]}?" if close else "",
            )
