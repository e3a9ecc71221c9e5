"""The figures of top and its screen."""

import pytest

from exacell.commands.declared.watching import COMMANDS
from exacell.live.load import Loads, Reading, reading_of
from exacell.live.silence import Silence
from exacell.live.top import HEADINGS, ORDERS, Top
from exacell.session.answers import Answer
from exacell.transport.base import Reply, State

MINUTE = 60_000
NOON = 1_700_000_000.0


def reading(minute: int, **values: float) -> Reading:
    return Reading(at=minute * MINUTE, values=values)


def counters(minute: int, scale: float = 1.0, **more: float) -> Reading:
    names = {"FC_IO_RQ_R": 900, "FC_IO_RQ_R_MISS": 100, "FL_FLASH_FIRST": 75, "FL_DISK_FIRST": 25, "FL_RQ_W": 110}
    values = {name: minute * value * scale for name, value in names.items()}
    return reading(minute, **values, FL_ACTUAL_OUTLIERS=0, FL_PREVENTED_OUTLIERS=minute, FC_BY_DIRTY=1024, **more)


def test_figures_span_two_collections() -> None:
    """Shares and rates come from the difference of two collections over the seconds between them."""
    loads = Loads()
    assert loads.add({"c1": counters(1)}, {}) and loads.cells[0].hit_percent is None
    assert not loads.add({"c1": counters(1)}, {})
    assert loads.add({"c1": counters(3, CL_CPUT=7)}, {})
    load = loads.cells[0]
    assert (load.seconds, load.hit_percent, load.win_percent) == (120.0, 90.0, 75.0)
    assert (load.reads, load.redo, load.prevented, load.dirty) == (16.7, 1.8, 2, 2**30)
    assert load.cpu_percent == 7 and load.hits == (90.0,)


def test_a_cell_that_stands_still_is_waited_for_but_not_for_ever() -> None:
    """Measured is when every cell has two collections; one that collects no more is waited for until another has four."""
    loads = Loads()
    assert not loads.measured
    loads.add({"c1": counters(1), "c2": counters(1)}, {})
    for minute in (2, 3):
        loads.add({"c1": counters(minute), "c2": counters(1)}, {})
        assert not loads.measured
    loads.add({"c1": counters(4), "c2": counters(1)}, {})
    assert loads.measured
    other = Loads()
    for minute in (1, 2):
        other.add({"c1": counters(minute), "c2": counters(minute)}, {"c3": "timed out"})
    assert other.measured


def test_a_counter_that_fell_is_a_gap_never_a_rate() -> None:
    """After a restart of the counters there is no figure for that span, and one again for the next."""
    loads = Loads()
    for minute, value in ((1, 500.0), (2, 3.0), (3, 9.0)):
        loads.add({"c1": reading(minute, FC_IO_RQ_R=value, FC_IO_RQ_R_MISS=0.0)}, {})
        if minute == 2:
            assert loads.cells[0].reads is None and loads.cells[0].hits == (None,)
    assert loads.cells[0].reads == 0.1 and loads.cells[0].hits == (None, 100.0)


def test_the_rack_divides_sums_and_never_averages_percentages() -> None:
    """A busy cell counts for more; the rack has no figure while a cell has none."""
    loads = Loads()
    one = reading(1, FC_IO_RQ_R=0, FC_IO_RQ_R_MISS=0)
    loads.add({"c1": one, "c2": one}, {})
    loads.add({"c1": reading(2, FC_IO_RQ_R=900, FC_IO_RQ_R_MISS=0)}, {})
    assert loads.rack().hit_percent is None
    loads.add({"c2": reading(2, FC_IO_RQ_R=0, FC_IO_RQ_R_MISS=100)}, {})
    assert loads.rack().hit_percent == 90.0


def test_a_cell_that_gives_no_answer_is_told_and_comes_back() -> None:
    """The problem takes the place of its figures, which return with its next answer."""
    loads = Loads()
    loads.add({"c1": counters(1)}, {})
    loads.add({}, {"c1": "timed out"})
    assert loads.cells[0].problem == "timed out" and loads.cells[0].dirty is None
    loads.add({"c1": counters(1)}, {})
    assert not loads.cells[0].problem


def test_of_a_metric_with_many_objects_the_largest_counts() -> None:
    """The busiest cell disk is the cell's."""
    rows = [{"name": "CD_IO_UTIL", "metricValue": value} for value in (3, 71.5, 9)]
    assert reading_of(rows, 5).values == {"CD_IO_UTIL": 71.5}


CRITICAL = {"name": "3", "severity": "critical", "endTime": "", "examinedBy": "", "alertMessage": "Hard disk failed"}


def answered(cell: str, at: Reading, *alerts: dict[str, str]) -> Answer:
    rows = [{"name": name, "metricValue": value, "collectionTime": at.at} for name, value in at.values.items()]
    return Answer(cell=cell, tables=(rows, alerts), reply=Reply(target=cell, state=State.OK))


def failed(cell: str, problem: str, seconds: float = 0.0) -> Answer:
    reply = Reply(target=cell, state=State.TIMED_OUT, seconds=seconds, problem=problem)
    return Answer(cell=cell, problem=problem, reply=reply)


def top(**options: object) -> Top:
    return Top(rack="exa1", silence=Silence(lambda: NOON), **options)  # type: ignore[arg-type]


def busy(count: int, **options: object) -> Top:
    view = top(**options)
    for minute in (1, 2, 3):
        readings = {f"exa1cel{n:02d}": counters(minute, scale=n) for n in range(1, count + 1)}
        if count > 5:
            values = {**readings["exa1cel05"].values, "FL_ACTUAL_OUTLIERS": minute * 4.0}
            readings["exa1cel05"] = Reading(at=minute * MINUTE, values=values)
        view.arrived([answered(cell, reading) for cell, reading in readings.items()])
    return view


def test_a_critical_alert_that_nobody_examined_comes_first() -> None:
    """The cell stands above those with worse figures, in red, and is named above the table, until somebody has looked; an order
    by a figure is by that figure."""
    view = busy(10)
    assert view.sorted()[0].cell == "exa1cel05" and "alerts" not in view.shown(80, 24).above[0]
    view.arrived([answered("exa1cel09", counters(4, scale=9), CRITICAL)])
    shown = view.shown(80, 24)
    assert (shown.rows[0].key, shown.rows[0].meaning) == ("exa1cel09", "error")
    assert shown.above[0].endswith("sorted by worst, alerts: exa1cel09")
    view.press("S")
    assert view.order == "cell" and view.sorted()[0].cell == "exa1cel01"
    view.press("s")
    view.arrived([answered("exa1cel09", counters(5, scale=9))])
    assert view.sorted()[0].cell == "exa1cel05" and "alerts" not in view.shown(80, 24).above[0]


def texts(view: Top, width: int = 80, height: int = 24) -> list[str]:
    return [row.text for row in view.shown(width, height).rows]


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("cells", [1, 64, 300])
def test_every_cell_has_a_row_that_fits_the_terminal(cells: int, width: int) -> None:
    """No cell is folded away, and where the terminal is narrow columns go, not cells; what stays behind fits, too."""
    view = busy(cells)
    shown = view.shown(width, 24)
    assert [row.key for row in shown.rows] == [load.cell for load in view.sorted()] and len(shown.rows) == cells
    assert all(len(f"  {row.text}") <= width for row in shown.rows)
    assert all(len(line) <= width for line in (*shown.above[1:], *shown.below))
    last = view.last_lines(width, 23, color=False)
    assert len(last) <= 23 and last[-1].startswith("  all cells")


def test_the_heads_are_words() -> None:
    """At 80 columns each column's two lines say what it is; no head is a word cut short."""
    _, above, titles = busy(3).shown(80, 24).above
    assert above.split() == ["flash", "reads", "redo", "flash", "slow", "disk"]
    assert titles.split() == ["cell", "hits", "trend", "per", "s", "dirty", "per", "s", "wins", "redo", "CPU", "busy"]
    assert {"out", "prev"}.isdisjoint({word for heading in HEADINGS for word in (heading.above, heading.title)})


@pytest.mark.parametrize("silent", [1, 5, 20, 63])
def test_silent_cells_are_rows_and_leave_room_for_the_others(silent: int) -> None:
    """A third of the screen shows silent cells, the others' figures follow, and the silent rest can be scrolled to."""
    view = busy(64)
    view.arrived([failed(f"exa1cel{n + 1:02d}", "timed out after 60s", 60.0) for n in range(silent)])
    shown = texts(view)
    first = next(number for number, text in enumerate(shown) if "no answer" not in text)
    assert len(shown) == 64 and first == min(silent, 6)
    assert sum("no answer since " in text and text.endswith("(1m00s): timed out after 60s") for text in shown) == silent
    assert not any("no answer" in text for text in shown[first : first + 64 - silent])
    assert f"{64 - silent} of 64 cells" in view.shown(80, 24).above[0]


def test_a_cell_that_hangs_is_a_row_that_says_since_when() -> None:
    """Before any answer, and though its last figures were good; a short wait is no silence."""
    view = busy(3)
    view.silence.late = lambda: {"exa1cel02": 35.0, "exa1cel03": 1.0}
    rows = texts(view)
    assert rows[0].startswith("exa1cel02  no answer since ") and rows[0].endswith("(35s)")
    assert not any("no answer" in row for row in rows[1:])
    view.arrived([answered("exa1cel02", counters(4))])
    view.silence.late = dict
    assert not any("no answer" in row for row in texts(view))


def test_since_when_is_told_of_the_first_of_several_failures() -> None:
    """A cell that times out again and again has been silent since it was asked the first time."""
    clock = [NOON]
    silence = Silence(lambda: clock[0])
    silence.arrived(failed("c1", "timed out after 60s", 60.0))
    clock[0] += 120
    silence.arrived(failed("c1", "timed out after 10s", 10.0))
    assert silence.told()["c1"].endswith("(3m00s): timed out after 10s")
    silence.arrived(answered("c1", counters(1)))
    assert silence.told() == {}
    said = Answer(cell="c1", problem="CELL-01514", reply=Reply(target="c1", state=State.OK, stdout="CELL-01514: x"))
    silence.arrived(said)
    assert silence.told()["c1"].startswith("only an error since ")


def test_a_cell_without_figures_does_not_hide_the_sum_of_the_others() -> None:
    """The last line says how many cells it sums where one of them has no second collection yet."""
    view = busy(10)
    view.arrived([answered("exa1cel11", counters(9))])
    (last,) = view.shown(80, 24).below
    assert last.startswith("  10 cells") and "90.0%" in last and view.loads.rack().hit_percent is None


def test_what_stays_behind_folds_the_cells_that_do_not_fit() -> None:
    """After q the worst cells stay above the prompt, and the others in one line with their range and names."""
    lines = busy(64).last_lines(160, 23, color=False)
    assert len(lines) == 23 and lines[3].startswith("  exa1cel05") and lines[-1].startswith("  all cells")
    assert lines[-2].startswith("  46 more, hits 90.0-90.0%, dirty up to 1G, 0 slow redo writes: exa1cel[")


def test_what_sort_offers_is_what_top_sorts_by() -> None:
    """The choices of sort= that help and completion offer are the orders of top."""
    (command,) = (each for each in COMMANDS if each.words == ("top",))
    (sort,) = (param for param in command.params if param.name == "sort")
    assert tuple(sort.choices) == tuple(order.name for order in ORDERS)


def test_s_sorts_by_the_next_figure_and_round() -> None:
    """s goes through all orders and back to the first; S goes back."""
    view = busy(10)
    seen = []
    for _ in ORDERS:
        seen.append(view.order)
        assert len(view.sorted()) == 10
        assert view.press("s")
    assert seen == [order.name for order in ORDERS] and view.order == "worst"
    assert view.press("S") and not view.press("x")
    assert view.order == "cell"


@pytest.mark.parametrize(("order", "first"), [("reads", "exa1cel10"), ("cell", "exa1cel01"), ("outliers", "exa1cel05")])
def test_orders_put_their_worst_first(order: str, first: str) -> None:
    """The most reads, the most outliers, or the name decide."""
    assert busy(10, order=order).sorted()[0].cell == first


def test_cells_that_do_the_same_keep_their_places() -> None:
    """A CPU that is a point busier on one cell this time moves no row; one that is much busier does."""
    view = top(cells=["c1", "c2", "c3"])
    for minute, busiest, first in ((1, "c1", "c1"), (2, "c2", "c1"), (3, "c3", "c1")):
        for cell in view.cells:
            view.arrived([answered(cell, counters(minute, CL_CPUT=3.4 if cell == busiest else 2.1))])
        assert view.sorted()[0].cell == first, f"after collection {minute}"
    view.arrived([answered("c3", counters(4, CL_CPUT=80))])
    assert view.sorted()[0].cell == "c3"


def test_without_colour_and_unicode_the_rows_are_plain() -> None:
    """No escape and no block characters; the cell with slow redo writes has its meaning, not a colour, in its row."""
    view = busy(10, unicode=False)
    assert "\n".join(texts(view)).isascii()
    assert view.shown(80, 24).rows[0].meaning == "odd"


def test_before_a_second_collection_it_says_what_it_waits_for() -> None:
    """One collection makes no difference; the screen says so instead of showing zeros."""
    view = top(cells=["c1", "c2"])
    shown = view.shown(80, 24)
    assert "0 of 2 cells, reading" in shown.above[0]
    assert [row.text for row in shown.rows] == [f"{cell.ljust(9)}  no answer yet" for cell in ("c1", "c2")]
    view.arrived([answered("c1", counters(1))])
    assert "first figures with the next collection" in view.shown(80, 24).above[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [(5, "5"), (5.25, "5.2"), (99_999, "99,999"), (123_456, "123k"), (2_345_678, "2.3M"), (234e6, "234M")],
)
def test_rates_fit_six_characters(value: float, text: str) -> None:
    """Large rates are told in thousands and millions."""
    from exacell.live.top import _rate

    assert _rate(value) == text
