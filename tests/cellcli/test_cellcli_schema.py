"""The tables of objects, attributes and metrics."""

from __future__ import annotations

import subprocess
import sys

import pytest

from exacell.cellcli import schema
from exacell.cellcli.forms import FORMS
from exacell.cellcli.nodes import Verb


def test_every_changing_verb_of_an_object_has_a_form_and_the_other_way_round() -> None:
    """The table of objects and the table of statement shapes name the same verb and object pairs."""
    reading = {Verb.LIST, Verb.DESCRIBE, Verb.GRANT, Verb.REVOKE}
    server = schema.find_object(schema.DBSERVER)
    assert server is not None
    known = (*schema.objects().values(), server)
    named = {(Verb(verb), found.name) for found in known for verb in found.verbs}
    named = {pair for pair in named if pair[0] not in reading}
    assert named == {pair for pair in FORMS if pair[1]}


def test_default_columns_are_attributes() -> None:
    """Every default column is an attribute of its object, spelled the same, unless attributes are unpublished."""
    for found in schema.objects().values():
        for column in found.default_columns:
            assert found.open or (found.canonical(column) == column and found.attribute(column)), (found.name, column)


def test_settings_of_forms_are_spelled_as_the_schema_spells_them() -> None:
    """A setting that is also an attribute has the attribute's spelling in the table of forms."""
    for (_, name), form in FORMS.items():
        for setting in form.settings:
            if name:
                found = schema.find_object(name)
                assert found is not None and found.canonical(setting) == setting


def test_name_comes_first_and_the_rest_in_alphabetical_order() -> None:
    """Attributes stand in DESCRIBE order; LIST DISKMAP's own column order is the one exception."""
    for found in schema.objects().values():
        names = list(found.attributes)
        if found.name == "DISKMAP" or "name" not in names:
            continue
        assert names[0] == "name"
        assert names[1:] == sorted(names[1:]), found.name


def test_lookups_ignore_case() -> None:
    """Objects, attributes and metrics are found in any case and keep CellCLI's spelling."""
    disk = schema.find_object("GridDisk")
    assert disk is not None and disk.canonical("ASMMODESTATUS") == "asmModeStatus"
    attribute = disk.attribute("asmmodestatus")
    assert attribute is not None and attribute.hidden and not attribute.modifiable
    found = schema.metric("fl_disk_first")
    assert found is not None and (found.unit, found.metric_type) == ("IO requests", "Cumulative")
    assert schema.find_object("griddisks") is None and schema.metric("FL_NO_SUCH") is None


def test_the_metric_table_is_complete() -> None:
    """All 854 definitions of a 24.x cell are there, 30 of the flash log and 172 of the flash cache; behind them 47 of earlier
    releases, one of the flash log, none of the flash cache."""
    types = [found.object_type for found in schema.metrics().values()]
    assert (len(types), types.count("FLASHLOG"), types.count("FLASHCACHE")) == (901, 31, 172)
    now, former = types[:854], types[854:]
    assert (now.count("FLASHLOG"), now.count("FLASHCACHE"), former.count("FLASHLOG")) == (30, 172, 1)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("CT_IO_TM_SM", "us"), ("CT_FC_IO_BY_SEC", "MB/sec"), ("FL_IO_W_SKIP_LOG_ON_FLASH", "IO requests")],
)
def test_a_metric_that_only_earlier_releases_have_is_known_with_its_unit(name: str, unit: str) -> None:
    """Its values in csv and json have the unit that CellCLI prints behind them in a list."""
    assert schema.metric(name) is not None and schema.known_unit(name) == unit


@pytest.mark.parametrize(
    ("older", "newer"),
    [("11.2.3.2.0", "11.2.3.3.1"), ("12.1.2.3.0", "12.2"), ("9.1", "19.3"), ("24.1", "24.1.0.0.0.240517")],
)
def test_releases_compare_by_number(older: str, newer: str) -> None:
    """Releases are ordered number by number, not as text."""
    assert schema.release_key(older) < schema.release_key(newer)


def test_a_lifetime_ends_with_the_release_that_no_longer_has_it() -> None:
    """since is included and until is not; 24.1 and 24.1.0.0.0 are one release."""
    life = schema.Lifetime(since="19.3", until="23.1")
    assert [life.includes(r) for r in ("19.2.9", "19.3.0.0.0", "22.1.31", "23.1.0.0.0")] == [False, True, True, False]
    assert schema.release_key("24.1.0.0.0") == schema.release_key("24.1")


def test_the_package_is_light() -> None:
    """Importing and using the grammar loads none of the slow modules, so that completion calls stay quick."""
    code = (
        "import sys; from exacell.cellcli import statement, reply, fold, iorm, framing, releases; "
        "statement.parse('list cell'); "
        "print([m for m in ('rich','fabric','asyncio','prompt_toolkit','numpy','xml.etree','difflib','socket',"
        "'importlib.metadata') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
