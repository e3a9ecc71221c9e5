"""The IORM plan of an emulated cell, and what it says for a database. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

from exacell.units import parse_size


@dataclass(frozen=True)
class Directive:
    """One directive of an IORM plan: its attributes in the order in which they were given, lower-case names."""

    attributes: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str | None:
        """Return the value of one attribute, None when the directive does not have it."""
        return dict(self.attributes).get(name)

    @property
    def name(self) -> str:
        """The database, category or cluster, ``default`` or ``other``."""
        return self.get("name") or ""


@dataclass(kw_only=True)
class IormPlan:
    """The cell's I/O resource management plan; it always exists. It is always active since 11.2.3.2."""

    objective: str
    active: bool = True
    db_plan: tuple[Directive, ...] = ()
    cat_plan: tuple[Directive, ...] = ()
    cluster_plan: tuple[Directive, ...] = ()

    def flash_log_on(self, database: str) -> bool:
        """Whether redo of ``database`` goes through the flash log by this plan.

        A database with a directive of its own follows that one alone; the others follow OTHER, or else DEFAULT.
        """
        return self._effective(database, "flashlog") != "off"

    def flash_cache_on(self, database: str) -> bool:
        """Whether data of ``database`` is cached by this plan."""
        return self._effective(database, "flashcache") != "off"

    def memory_off(self, database: str) -> bool:
        """Whether this plan keeps data of ``database`` out of memory; both names of the attribute are looked at."""
        return "off" in (self._effective(database, name) for name in ("pmemcache", "xrmemcache"))

    def cache_bytes(self, database: str, attribute: str) -> int | None:
        """Return what a size of this plan is for a database, in bytes; None when the plan has none."""
        text = self._effective(database, attribute)
        return parse_size(text) if text else None

    def _effective(self, database: str, attribute: str) -> str | None:
        named = {directive.name.lower(): directive for directive in self.db_plan}
        for name in (database.lower(), "other", "default"):
            if name in named:
                return named[name].get(attribute)
        return None
