"""What stood before the statement on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from exacell.core.values import dataclass

if TYPE_CHECKING:
    from exacell.language.registry import Value


@dataclass(frozen=True, kw_only=True)
class Options:
    """What stood before the statement on the command line.

    Attributes:
        yes, dry_run, flags: apply to every statement of the run.
    """

    rack: str = ""
    cells: str = ""
    group_file: str = ""
    login: str = ""
    ssh_config: str = ""
    format: str = ""
    monitor: bool = False
    yes: bool = False
    dry_run: bool = False
    quiet: bool = False
    flags: Mapping[str, Value] = field(default_factory=dict)

    def over(self, flags: Mapping[str, Value]) -> dict[str, Value]:
        """Return the flags of a statement together with those given once for all statements; its own win."""
        found = {**self.flags, **flags}
        if self.yes:
            found["yes"] = True
        if self.dry_run:
            found["dry-run"] = True
        return found
