"""The IORM plan of an emulated cell, and its rules for a database. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

from exacell.core.units import parse_size


@dataclass(frozen=True)
class Directive:
    """One directive of an IORM plan: its attributes in the order in which they were given, lower-case names."""

    attributes: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str | None:
        """Return the value of one attribute, None when the directive does not have it."""
        return dict(self.attributes).get(name)

    @property
    def name(self) -> str:
        """Return the name of the database, category or cluster, or ``default`` or ``other``."""
        return self.get("name") or ""


@dataclass(kw_only=True)
class IormPlan:
    """The cell's I/O resource management plan; it always exists. It is always active since 11.2.3.2."""

    objective: str
    active: bool = True
    db_plan: tuple[Directive, ...] = ()
    cat_plan: tuple[Directive, ...] = ()
    cluster_plan: tuple[Directive, ...] = ()

    @property
    def enforced(self) -> bool:
        """Return whether shares and limits of this plan are in force. Source: reference cellcli.md 7.5."""
        return self.active and self.objective != "basic"

    def flash_log_on(self, database: str) -> bool:
        """Return whether redo of ``database`` goes through the flash log by this plan.

        A database with its own directive follows only that one; the others follow OTHER, or else DEFAULT.
        """
        return self._effective(database, "flashlog") != "off"

    def flash_cache_on(self, database: str) -> bool:
        """Return whether data of ``database`` is cached by this plan."""
        return self._effective(database, "flashcache") != "off"

    def memory_off(self, database: str) -> bool:
        """Return whether this plan keeps data of ``database`` out of memory; both names of the attribute count."""
        return "off" in (self._effective(database, name) for name in ("pmemcache", "xrmemcache"))

    def cache_bytes(self, database: str, attribute: str) -> int | None:
        """Return the bytes of one of a database's size attributes in this plan; None if the plan has none."""
        text = self._effective(database, attribute)
        return parse_size(text) if text else None

    def cache_limit(self, database: str) -> int | None:
        """Return the most bytes that a database may have in the flash cache; None if this plan does not limit them."""
        limit = self.cache_bytes(database, "flashcachelimit")
        return limit if limit is not None else self.cache_bytes(database, "flashcachesize")

    def share(self, database: str) -> float:
        """Return a database's part of busy disks: its share or, in a plan with allocations, its percentage.

        A database that the plan does not name has one share, or the smallest part of the lowest level.
        """
        text = self._effective(database, "share")
        if text is not None:
            return float(text)
        allocation = self._effective(database, "allocation")
        level = int(self._effective(database, "level") or 1)
        return max(1.0, float(allocation)) / 10.0 ** (level - 1) if allocation is not None else 1.0

    def limit(self, database: str) -> float:
        """Return the share (0 to 1) of the disks' time that a database may use; 0 means no limit."""
        return float(self._effective(database, "limit") or 0) / 100.0

    def _effective(self, database: str, attribute: str) -> str | None:
        named: dict[str, Directive] = {}
        for directive in self.db_plan:
            # A profile's directive is not for a database; the databases of an emulated rack are primary.
            if (directive.get("type") or "database").lower() == "database" and (
                (directive.get("role") or "primary").lower() == "primary"
            ):
                named.setdefault(directive.name.lower(), directive)
        for name in (database.lower(), "other", "default"):
            if name in named:
                return named[name].get(attribute)
        return None
