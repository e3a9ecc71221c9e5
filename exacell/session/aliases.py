"""The user's aliases: a file of lines ``name statement``, which may be edited by hand."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.core.config import trusted_group
from exacell.core.errors import ConfigError, why_unreadable
from exacell.core.paths import Home, replace_file
from exacell.core.trust import refuse_untrusted


class Aliases:
    """Names and the statements that they stand for; read again when the file has changed."""

    def __init__(self, home: Home) -> None:
        self.path = home.config_dir / "aliases"
        self._group = trusted_group(home)
        self._stamp: tuple[int, int] | None = None
        self._known: dict[str, str] = {}

    def all(self) -> Mapping[str, str]:
        """Return statement by name, in alphabetical order; empty when there is no file.

        Raises:
            ConfigError: the file can't be read, or others can write it.
        """
        refuse_untrusted(self.path, self._group)
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._known = _read(self.path.read_text(encoding="utf-8"))
                self._stamp = stamp
        except FileNotFoundError:
            self._known, self._stamp = {}, None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.path} can't be read: {why_unreadable(error)}") from error
        return self._known

    def define(self, name: str, statement: str) -> None:
        """Keep an alias; an older one of that name is replaced.

        Raises:
            ConfigError: the file can't be written.
        """
        self._write({**self.all(), name.lower(): statement})

    def remove(self, name: str) -> bool:
        """Remove an alias and return whether there was one.

        Raises:
            ConfigError: the file can't be written.
        """
        left = {known: statement for known, statement in self.all().items() if known != name.lower()}
        if len(left) == len(self.all()):
            return False
        self._write(left)
        return True

    def _write(self, aliases: Mapping[str, str]) -> None:
        text = "# name statement: $1 to $9 are the words behind the name, $* all of them\n"
        text += "".join(f"{name} {statement}\n" for name, statement in sorted(aliases.items()))
        try:
            replace_file(self.path, text, synced=True)
        except OSError as error:
            raise ConfigError(
                f"{self.path} can't be written ({error.strerror}); the aliases are as they were"
            ) from error


def _read(text: str) -> dict[str, str]:
    lines = (line.strip().split(None, 1) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {parts[0].lower(): parts[1] for parts in sorted(lines) if len(parts) == 2}
