"""Describe who holds a rack's lock, and the form in which a lock file stores that.

Every user of the host can write a lock, so only names and numbers of that form are believed, and no blank is allowed in them:
text that another user wrote is never shown.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from exacell.core.units import format_duration
from exacell.core.values import dataclass
from exacell.journal.actor import actor, alive
from exacell.journal.rows import Actor

_FORMS = {
    "user": re.compile(r"[\w.@+\\$-]{1,64}", re.ASCII),
    "host": re.compile(r"[A-Za-z0-9._:-]{1,255}"),
    "pid": re.compile(r"[0-9]{1,10}"),
    "since": re.compile(r"[0-9T:.+-]{10,40}"),
    "sudo": re.compile(r"[\w.@+\\$-]{0,64}", re.ASCII),
    "started": re.compile(r"[0-9]{0,20}"),
    "change": re.compile(r"[0-9]{0,12}"),
}
"""The allowed form of each field: names and numbers without a blank, so that no text of another user is shown."""

_NEEDED = ("user", "host", "pid", "since")


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who holds a lock.

    Attributes:
        user: operating-system user; ``sudo`` is the user who became that user by sudo, empty for none.
        started: distinguishes the process from a later one with the same number.
        change: the number of the change in that user's journal; empty if no change has begun.
        kept: True if ``lock`` took the lock; only ``unlock`` gives it back.
    """

    user: str
    host: str
    pid: str
    since: str
    kept: bool = False
    sudo: str = ""
    started: str = ""
    change: str = ""

    @property
    def trace(self) -> str:
        """Return one line for other operators about what this holder left behind."""
        what = f"change {self.change}" if self.change else "a change"
        who = f"{self.sudo or self.user} on {self.host}"
        ago = format_duration(self.age)
        return f"{what} of {who}, {ago} ago, was left unfinished or needs repair: `show health` shows the present state"

    @property
    def age(self) -> float:
        """Return the seconds since it was taken; 0 if the clock of the holder's host is ahead of this one's."""
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(self.since)).total_seconds())

    @property
    def person(self) -> tuple[str, str]:
        """Return the real user and their host."""
        return (self.sudo or self.user, self.host)

    @property
    def lives(self) -> bool:
        """Return whether its process runs; True for another host, where that can't be checked."""
        return alive(Actor(host=self.host, pid=self.pid, started=self.started))

    def is_process(self, other: Holder) -> bool:
        """Return whether ``other`` is the same process."""
        return (self.host, self.pid, self.started) == (other.host, other.pid, other.started)

    def __str__(self) -> str:
        who = f"{self.sudo} as {self.user}" if self.sudo and self.sudo != self.user else self.user
        left = "" if self.kept or self.lives else ", which has ended"
        change = f", change {self.change}" if self.change else ""
        return f"{who} on {self.host} (process {self.pid}{left}{change}) for {format_duration(self.age)}"


def this_process(*, kept: bool = False, change: int = 0) -> Holder:
    """Return this process as a holder, starting now."""
    who = actor()
    return Holder(
        user=_name(who["user"]),
        host=re.sub(r"[^A-Za-z0-9._:-]", "_", who["host"])[:255] or "_",
        pid=who["pid"],
        since=datetime.now(UTC).isoformat(timespec="seconds"),
        kept=kept,
        sudo=_name(who["sudoUser"]),
        started=who["started"],
        change=str(change or ""),
    )


def _name(user: str) -> str:
    """Return a user's name with forbidden characters replaced: a directory service may allow blanks."""
    return re.sub(r"[^\w.@+\\$-]", "_", user, flags=re.ASCII)[:64]


def read_holder(data: object) -> Holder | None:
    """Return the holder that lock data describes; fields that a newer version adds are ignored.

    Raises:
        ValueError: the data does not name a holder and a time. The message repeats nothing of the data.
    """
    if data is None:
        return None
    if not isinstance(data, dict):
        raise ValueError("a holder in it is not a JSON object")
    missing = [name for name in _NEEDED if name not in data]
    if missing:
        raise ValueError(f"it has no {', '.join(missing)}")
    kept = data.get("kept", False)
    if not isinstance(kept, bool):
        raise ValueError("its kept must be true or false")
    known: dict[str, str] = {}
    for name, form in _FORMS.items():
        value = data.get(name, "")
        if not isinstance(value, str):
            raise ValueError(f"its {name} is not text")
        if not form.fullmatch(value):
            raise ValueError(f"its {name} has a form that exacell does not write")
        known[name] = value
    try:
        zone = datetime.fromisoformat(known["since"]).tzinfo
    except ValueError as error:
        raise ValueError("its since is not a time") from error
    if zone is None:
        raise ValueError("its since has no time zone")
    return Holder(**known, kept=kept)
