"""Plan where the tables of a database are stored: tablespaces on disk groups, and tables that move into them. Pure.

Source: Oracle SQL Language Reference, CREATE TABLESPACE, DROP TABLESPACE, ALTER TABLE (move_table_clause: "indexes on the table
are marked UNUSABLE"), ALTER INDEX REBUILD; Oracle Database Error Messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from exacell.core.errors import RefusedError
from exacell.core.meant import absent
from exacell.core.units import GIB, MIB, TIB, exact_size, format_size, human_size
from exacell.core.values import replace
from exacell.plan.dbchange import AddTablespace, Change as SqlChange, DropTablespace, MoveTable
from exacell.plan.model import Change, Check, Op, Plan, Risk, Stage, Step, Undo
from exacell.plan.planners.parameter import ParameterMaker, Records
from exacell.plan.planners.reads import TABLE as KEYS

MOST_FILE, MOST_BIGFILE = 32 * GIB - MIB, 32 * TIB - MIB
"""The largest data file of 8K blocks, rounded down. Source: Oracle Database Reference, Physical Database Limits (4,194,303
blocks; of a bigfile tablespace 4,294,967,295)."""

_OURS = ("SYSTEM", "SYSAUX")
_OWNERS = ("SYS", "SYSTEM")
_LONGEST = 30
"""Bytes of a tablespace's name. Source: Oracle SQL Language Reference, Database Object Naming Rules."""
_WRITES = 1800.0
"""Seconds within which a data file is written, or a table is stored again."""


def of_tablespace(name: str) -> Check:
    """Return the check that asks for a tablespace: its files, its free space, and the number of its segments."""
    return Check(object="db.tablespace", where={"name": name})


def of_place(change: MoveTable) -> Check:
    """Return the check that asks where a table is, how large it is, and which indexes it has."""
    return Check(object="db.place", where={"owner": change.owner, "name": change.name})


def placed(change: SqlChange, records: Records) -> SqlChange:
    """Return the change, completed from the records: a table that moves gets its present tablespace as ``before``."""
    if isinstance(change, MoveTable) and records.get("db.place"):
        return replace(change, before=str(records["db.place"][0]["tablespace"]))
    return change


class TablespaceMaker(ParameterMaker):
    """Makes the plans of tablespaces for one database and one statement."""

    def add_tablespace(self, change: AddTablespace) -> Plan:
        """Return the plan of CREATE TABLESPACE."""
        found = self._space(change.name)
        if found is not None:
            where = ", ".join(found["diskgroups"])
            same = (found["diskgroups"], found["bytes"], found["bigfile"])
            if same == ((change.target,), change.size, change.bigfile):
                return self.done(f"tablespace {change.name} is there already")
            raise RefusedError(
                f"{self.database} has a tablespace {change.name} already (ORA-01543): {human_size(int(found['bytes']))} on "
                f"{where}; nothing was sent",
                hint="take another name",
            )
        if len(change.name.encode()) > _LONGEST:
            raise RefusedError(
                f"the name of a tablespace has at most {_LONGEST} bytes (ORA-00972): {change.name} is longer; nothing was sent",
                hint="take a shorter name",
            )
        groups = {str(each["name"]): each for each in self.records["db.diskgroup"]}
        if change.target not in groups:
            raise RefusedError(
                f"{self.database} sees no disk group {change.target} (ORA-15001): it has {', '.join(groups)}; nothing was sent",
                hint="`show diskgroup` shows them",
            )
        free = int(groups[change.target]["usableMb"]) * MIB
        most = MOST_BIGFILE if change.bigfile else MOST_FILE
        if not MIB <= change.size <= min(most, free):
            raise RefusedError(
                f"a data file of {human_size(change.size)} is not possible: disk group {change.target} has room for "
                f"{human_size(free)} (ORA-15041), and a file of 8K blocks has 1M to {exact_size(most)} (ORA-01144); "
                "nothing was sent",
                hint="`show diskgroup` shows the free space; CREATE BIGFILE TABLESPACE takes a larger file",
            )
        told = f"{human_size(change.size)} on {change.target}"
        step = self.step(
            _create(change),
            f"make tablespace {change.name}: {told}",
            needs=(Check(object="db.tablespace", op=Op.ABSENT, where={"name": change.name}),),
            proves=(Check(object="db.tablespace", attribute="bytes", value=change.size, where={"name": change.name}),),
            within=_WRITES,
            undo=Undo.STATEMENT,
            inverse=_drop(change.name),
            changes=(Change(object="tablespace", name=change.name, attribute="size", before="-", after=told),),
        )
        return self.plan(
            Stage(title=f"make tablespace {change.name}", key="make", steps=(step,)),
            inverse=(_drop(change.name),),
            notes=(f"every byte of {human_size(change.size)} is written before it may be used",),
        )

    def drop_tablespace(self, change: DropTablespace) -> Plan:
        """Return the plan of DROP TABLESPACE of an empty one."""
        name, found = change.name, self._space(change.name)
        if found is None:
            return self.done(absent(f"there is no tablespace {name}", [name], []))
        if name in _OURS or found["contents"] != "PERMANENT":
            raise RefusedError(
                f"tablespace {name} of {self.database} is one that the database itself needs; nothing was sent",
                hint="a tablespace for tables can be dropped",
            )
        if found["default"]:
            raise RefusedError(
                f"tablespace {name} is the default tablespace of {self.database}, which Oracle does not drop (ORA-12919); "
                "nothing was sent",
                hint="ALTER DATABASE DEFAULT TABLESPACE name makes another one the default",
            )
        self._refuse_filled(name, found)
        size, groups = int(found["bytes"]), tuple(found["diskgroups"])
        back = _create(AddTablespace(name=name, target=groups[0], size=size, bigfile=found["bigfile"]))
        lost = "it had several data files" if len(groups) > 1 else ""
        if found["traits"]:
            lost = f"CREATE TABLESPACE would not bring back what it has: {', '.join(found['traits'])}"
        step = self.step(
            _drop(name),
            f"drop tablespace {name} and its file",
            needs=tuple(
                Check(
                    object="db.tablespace",
                    attribute=attribute,
                    value=0,
                    where={"name": name},
                    why="something is stored in it (ORA-01549)",
                )
                for attribute in ("segments", "tables")
            ),
            proves=(Check(object="db.tablespace", op=Op.ABSENT, where={"name": name}),),
            within=_WRITES,
            undo=Undo.IMPOSSIBLE if lost else Undo.STATEMENT,
            inverse=lost or back,
            changes=(
                Change(
                    object="tablespace",
                    name=name,
                    attribute="size",
                    before=f"{human_size(size)} on {', '.join(groups)}",
                    after="-",
                ),
            ),
        )
        users = found["users"]
        told = f"it is the default tablespace of {users} users: until they have another one, their new tables fail"
        warnings = (told,) if users else ()
        stage = Stage(title=f"drop tablespace {name}", key="drop", steps=(step,))
        return self.plan(stage, inverse=() if lost else (back,), warnings=warnings)

    def _refuse_filled(self, name: str, found: Mapping[str, Any]) -> None:
        """Raise RefusedError if something is stored in a tablespace; a table without rows may have no segment yet."""
        if not found["segments"] and not found["tables"]:
            return
        told = (
            f"{found['segments']} segments are" if found["segments"] else f"{found['tables']} tables without rows are"
        )
        raise RefusedError(
            f"tablespace {name} of {self.database} is not empty (ORA-01549): {told} in it; nothing was sent",
            hint=f"move them first: ALTER TABLE owner.name MOVE TABLESPACE ...; or lose them: sql db={self.database} "
            f"'drop tablespace {name} including contents and datafiles' --accept-opaque",
        )

    def move(self, change: MoveTable) -> Plan:
        """Return the plan of ALTER TABLE MOVE TABLESPACE, which rebuilds the table's indexes.

        The table of exacell's own look-ups belongs to SYS and is created in SYSTEM, so it may move away and come back.
        """
        told = f"{change.owner}.{change.name}"
        places = self.records["db.place"]
        if not places:
            raise RefusedError(
                f"{self.database} has no table {told}; nothing was sent",
                hint="names without quotes are upper case in the dictionary",
            )
        before, size = places[0]["tablespace"], int(places[0]["bytes"])
        if change.name != KEYS and (change.owner in _OWNERS or change.tablespace in _OURS):
            raise RefusedError(
                f"{told} to {change.tablespace}: tables of the database itself stay where they are, and those of users stay out "
                "of SYSTEM and SYSAUX; nothing was sent",
                hint="name a table of a user and a tablespace for tables",
            )
        if before is None and (places[0]["iot"] or places[0]["temporary"]):
            kind = "temporary" if places[0]["temporary"] else "index-organized"
            raise RefusedError(
                f"table {told} is {kind}, and exacell can't move such a table; nothing was sent",
                hint="exacell moves whole tables only",
            )
        if before is None:
            raise RefusedError(
                f"table {told} is partitioned: each partition is in a tablespace of its own (ORA-14511); nothing was sent",
                hint="exacell moves whole tables only",
            )
        if before == change.tablespace:
            return self.done(f"table {told} is in tablespace {before} already")
        self._refuse_space(change.tablespace, size)
        where = {"owner": change.owner, "name": change.name}
        step = self.step(
            _move(change, change.tablespace),
            f"move table {told} to tablespace {change.tablespace}",
            needs=(Check(object="db.place", attribute="tablespace", value=before, where=where),),
            proves=(Check(object="db.place", attribute="tablespace", value=change.tablespace, where=where),),
            within=_WRITES,
            risk=Risk.PERFORMANCE,
            undo=Undo.STATEMENT,
            inverse=_move(change, str(before)),
            changes=(
                Change(object="table", name=told, attribute="tablespace", before=str(before), after=change.tablespace),
            ),
        )
        indexes = self.records["db.placeIndex"]
        if parted := [f"{index['owner']}.{index['name']}" for index in indexes if index["status"] == "N/A"]:
            raise RefusedError(
                f"index {', '.join(parted)} of {told} is partitioned: all its partitions would be UNUSABLE, and exacell builds "
                "whole indexes only; nothing was sent",
                hint="`ALTER TABLE ... MOVE ... UPDATE INDEXES` keeps them; --accept-opaque sends it without a guard",
            )
        stages = [Stage(title=f"move {told}", key="move", steps=(step,))]
        for index in indexes:
            if index["status"] == "VALID":
                name = f"{index['owner']}.{index['name']}"
                stages.append(
                    Stage(title=f"rebuild {name}", key=f"rebuild {name}", steps=(self._rebuild(change, index),))
                )
        odd = [f"{index['owner']}.{index['name']}" for index in indexes if index["status"] != "VALID"]
        return self.plan(
            *stages,
            inverse=(_move(change, str(before)),),
            notes=(f"{', '.join(odd)} is not VALID now, and is left so",) if odd else (),
            warnings=(
                f"until the end nobody can change rows of {told}"
                + (", and queries do without its indexes" if len(stages) > 1 else ""),
            ),
        )

    def _space(self, name: str) -> Mapping[str, Any] | None:
        return next((each for each in self.records["db.tablespace"] if each["name"] == name), None)

    def _refuse_space(self, name: str, size: int) -> None:
        """Raise RefusedError unless a table of that many bytes fits into a tablespace."""
        space = self._space(name)
        if space is None:
            raise RefusedError(
                f"{self.database} has no tablespace {name} (ORA-00959); nothing was sent",
                hint=f"make it: CREATE TABLESPACE {name} DATAFILE '+DISKGROUP' SIZE 1G",
            )
        if space["contents"] != "PERMANENT":
            raise RefusedError(
                f"tablespace {name} is for {str(space['contents']).lower()} data, not for tables; nothing was sent",
                hint="name another one",
            )
        if int(space["free"]) < size:
            raise RefusedError(
                f"tablespace {name} has {human_size(int(space['free']))} free, and the table has {human_size(size)} (ORA-01652); "
                "nothing was sent",
                hint="make a larger one",
            )

    def _rebuild(self, change: MoveTable, index: Mapping[str, Any]) -> Step:
        owner, name = _word(str(index["owner"])), _word(str(index["name"]))
        where = {"tableOwner": change.owner, "table": change.name, "owner": index["owner"], "name": index["name"]}
        return self.step(
            f"ALTER INDEX {owner}.{name} REBUILD",
            f"build index {owner}.{name} anew",
            proves=(Check(object="db.placeIndex", attribute="status", value="VALID", where=where),),
            within=_WRITES,
            risk=Risk.PERFORMANCE,
        )


def _word(name: str) -> str:
    """Return a name of the dictionary as SQL takes it: in quotes unless it is upper case and plain."""
    return name if re.fullmatch(r"[A-Z][A-Z0-9_$#]*", name) else f'"{name}"'


def _create(change: AddTablespace) -> str:
    number = format_size(change.size)
    told = number if re.fullmatch(r"\d+[KMGT]", number) else str(change.size)
    kind = "BIGFILE TABLESPACE" if change.bigfile else "TABLESPACE"
    return f"CREATE {kind} {_word(change.name)} DATAFILE '+{change.target}' SIZE {told}"


def _drop(name: str) -> str:
    return f"DROP TABLESPACE {_word(name)}"


def _move(change: MoveTable, tablespace: str) -> str:
    return f"ALTER TABLE {_word(change.owner)}.{_word(change.name)} MOVE TABLESPACE {_word(tablespace)}"
