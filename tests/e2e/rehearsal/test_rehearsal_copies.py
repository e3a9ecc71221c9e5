"""What a copy of a rack has in common with it: everything that somebody can have set, on every release and hardware model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from exacell.cellcli import schema
from exacell.commands.rehearsal.copyreading import likeness_of, read_groups, read_objects
from exacell.emulator.basics.profiles import releases
from exacell.emulator.basics.schema import Release, object_types
from exacell.emulator.copies.likeness import Likeness, parts_of
from exacell.emulator.server.rack_world import RackWorld
from exacell.plan.copying import Objects, differences, unlike
from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Session
from tests.rehearsal.every_attribute import NOT_SET, PERSISTENT_MEMORY, set_everything, settable
from tests.support.worlds import Wall, WorldTransport, new_world, session_on

COMBINATIONS = [(name, model) for name, release in releases().items() for model in release.models]

NO_PART = {
    "ALERTDEFINITION": "it follows from the release alone",
    "ACTIVEREQUEST": "requests come and go",
    "FLASHCACHECONTENT": "what is cached comes and goes",
    "METRICCURRENT": "metrics are measured, and a copy begins to measure anew",
    "METRICHISTORY": "metrics are measured, and a copy begins to measure anew",
    "METRICSTREAM": "metrics are measured, and a copy begins to measure anew",
    "XRMEMCACHECONTENT": "what is cached comes and goes",
}
"""Object types that are no part of a copy, and why. Single attributes are declared with their reason in the schema's table."""


def copied(session: Session, services: Services, here: Mapping[str, Objects]) -> RackWorld:
    """Return a copy of a rack, made of what the program has read of it; its time stands still."""
    likeness = likeness_of(session, services, Request(), here)
    return RackWorld.from_state(parts_of("copy", Likeness(**{**likeness, "speed": 0.001}))[0])


def told(on: WorldTransport, cell: str, release: Release) -> Iterator[tuple[str, str]]:
    """Yield object type and line of LIST … DETAIL, and of LIST for what DETAIL hides, without what no copy can have."""
    for owner in object_types().values():
        if not owner.exists_in(release) or "LIST" not in owner.verbs or owner.name in NO_PART:
            continue
        left_out = {a.name for a in schema.objects()[owner.name].attributes.values() if a.uncopied}
        lines = on.cellcli(cell, f"list {owner.name} detail").splitlines()
        yield from ((owner.name, line) for line in lines if line.split(":")[0].strip() not in left_out)
        hidden = [a.name for a in owner.attributes_in(release) if a.hidden and a.name not in left_out and a.copied]
        if hidden:
            lines = on.cellcli(cell, f"list {owner.name} attributes name, {', '.join(hidden)}").splitlines()
            yield from ((owner.name, line) for line in lines)


@pytest.mark.parametrize(("release", "model"), COMBINATIONS)
def test_a_copy_prints_what_its_rack_prints(release: str, model: str, tmp_path: Path) -> None:
    """With every settable attribute of every object set, LIST … DETAIL of a copy and of its rack are the same."""
    wall, number = Wall(), releases()[release].number
    memory = "writeback" if model == "x8m" and number < (23, 1) else "writethrough"
    inside: dict[str, object] = {"pdb": ("SPOT.SALES", "ERP.HR")} if number >= (12, 2) else {}
    inside |= {"vault": ("V1", "V2")} if number >= (24, 1) else {}
    world = new_world(
        wall, cells=2, model=model, release=release, db=("ERP", "SPOT"), seed=7, mode=memory, pmem=memory, **inside
    )
    session, services, on = session_on(world, tmp_path, wall)
    assert not on.cellcli("exa1cel01", "create threshold CL_RUNQ comparison='>', critical=-1").count("CELL-0")
    world.inject(world.cells, "quarantine", {})
    wall.now += 180
    for cell in world.cells:
        assert not set_everything(on, cell, number, model)
    unset = {(o, a.name) for o, a in settable(number) if not a.written_only} - set(NOT_SET)
    here = read_objects(services, Request())
    for objects in here.values():
        for kind, records in objects.items():
            usual = {a.name: a.default for a in object_types()[kind].attributes}
            unset -= {(kind, n) for r in records for n, text in r.items() if text and text != usual.get(n)}
    unset -= set() if model == "x8m" else PERSISTENT_MEMORY
    if number < (11, 2, 3, 3):
        unset = {
            (kind, name) for kind, name in unset if kind != "QUARANTINE"
        }  # It takes a plan, which this release has not.
    assert not unset
    copy = copied(session, services, here)
    _, copy_services, there = session_on(copy, tmp_path)
    for cell in world.cells:
        assert list(told(there, cell, number)) == list(told(on, cell, number))
    its = read_objects(copy_services, Request())
    assert all(differences(cell, here[cell], its[cell]) == ([], []) for cell in world.cells)


STATES = [
    ("x2", "11.2.3.3.1", "alter physicaldisk '20:5' drop for replacement"),
    ("x2", "19.3", "alter griddisk DATA_CD_03_exa1cel01 inactive"),
    ("x6", "19.3", "alter flashcache all flush"),
    ("x6", "19.3", "alter flashcache all flush nowait"),
    ("x6", "19.3", "alter celldisk FD_00_exa1cel01 flush"),
    ("x6ef", "22.1", "drop flashlog"),
    ("x8m", "22.1", "drop pmemcache"),
    ("x8m", "24.1", "drop celldisk CD_05_exa1cel01 force"),
    ("x10m", "24.1", "drop xrmemcache"),
]


@pytest.mark.parametrize(("model", "release", "statement"), STATES)
def test_a_copy_is_in_the_state_of_its_rack(model: str, release: str, statement: str, tmp_path: Path) -> None:
    """What is dropped, inactive, flushed or out of its disk group is so on the copy too, for cells and for ASM."""
    wall = Wall()
    session, services, on = session_on(new_world(wall, cells=3, model=model, release=release), tmp_path, wall)
    assert "CELL-0" not in on.cellcli("exa1cel01", statement)
    here = read_objects(services, Request())
    copy_session, copy_services, _ = session_on(copied(session, services, here), tmp_path)
    assert (
        unlike(
            here,
            read_objects(copy_services, Request()),
            read_groups(session, services)[0],
            read_groups(copy_session, copy_services)[0],
        )
        == []
    )


def test_every_exception_has_its_reason() -> None:
    """What somebody can set is copied, or its line in the schema's table says why it can't be."""
    for subject in schema.objects().values():
        for attribute in subject.attributes.values():
            apart = (subject.name, attribute.name) == ("OFFLOADGROUP", "package")
            assert attribute.copied or attribute.uncopied or not attribute.settable or apart, (
                subject.name,
                attribute.name,
            )
