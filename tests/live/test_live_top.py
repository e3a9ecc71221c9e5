"""The figures of top and its screen."""

import pytest

from exacell.live.load import Loads, Reading, reading_of
from exacell.live.top import ORDERS, Sample, Top

MINUTE = 60_000


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


def busy(count: int, **options: object) -> Top:
    view = Top(rack="exa1", every=5, **options)  # type: ignore[arg-type]
    for minute in (1, 2, 3):
        readings = {f"exa1cel{n:02d}": counters(minute, scale=n) for n in range(1, count + 1)}
        if count > 5:
            values = {**readings["exa1cel05"].values, "FL_ACTUAL_OUTLIERS": minute * 4.0}
            readings["exa1cel05"] = Reading(at=minute * MINUTE, values=values)
        view.arrived(Sample(readings=readings, problems={}))
    return view


@pytest.mark.parametrize(("width", "height"), [(80, 24), (132, 50), (60, 10), (40, 8)])
@pytest.mark.parametrize("cells", [1, 3, 64, 300])
def test_the_screen_fits_whatever_the_terminal(cells: int, width: int, height: int) -> None:
    """Never more lines than rows; from 60 columns on no line is wider; every cell is in a line or folded into one."""
    lines = busy(cells).lines(width, height, "")
    assert len(lines) == height
    assert width < 60 or max(map(len, lines)) <= width
    assert any(line.startswith("all cells") for line in lines)


@pytest.mark.parametrize("silent", [1, 5, 20, 63])
def test_silent_cells_leave_room_for_the_others(silent: int) -> None:
    """However many cells are silent, for however many reasons, two thirds of the screen show those that answer."""
    for reasons in (1, silent):
        view = busy(64)
        problems = {f"exa1cel{n + 1:02d}": f"10.0.0.{n} port 22 reason {n % reasons}" for n in range(silent)}
        view.arrived(Sample(readings={}, problems=problems))
        lines = view.lines(80, 24, "")
        assert len(lines) == 24 and max(map(len, lines)) <= 80
        shown = sum("reason" in line or "more silent" in line for line in lines)
        assert shown == (1 if reasons == 1 else min(silent, 6))
        # A folded line counts for all of its cells; nobody is lost.
        figures = sum(line[:7] == "exa1cel" and "reason" not in line for line in lines)
        rest = next((int(line.split()[0]) for line in lines if "more, hit" in line), 0)
        assert figures + rest == 64 - silent


def test_a_cell_without_figures_does_not_hide_the_sum_of_the_others() -> None:
    """The last line says how many cells it sums where one of them has no second collection yet."""
    view = busy(10)
    late = {"exa1cel11": counters(9)}
    view.arrived(Sample(readings=late, problems={}))
    last = next(line for line in view.lines(80, 24, "") if line.startswith("10 cells"))
    assert "90.0" in last and view.loads.rack().hit_percent is None


def test_what_stays_behind_fits_above_the_prompt() -> None:
    """After q the figures stay, without the keys, and never more than the terminal has rows."""
    lines = busy(64).lines(80, 23, None)
    assert len(lines) <= 23 and "q quit" not in lines[-1] and lines[-1].startswith("all cells")


def test_with_64_cells_the_worst_come_first_and_the_rest_is_one_line() -> None:
    """The cell with outliers is on top; cells without a line of their own are named as a set with their range."""
    lines = busy(64).lines(80, 24, "")
    assert lines[3].startswith("exa1cel05")
    folded = next(line for line in lines if "more, hit" in line)
    assert folded.startswith("47 more, hit") and "outliers: exa1cel[" in folded
    assert "hit%" in lines[1] and "trend" in lines[1] and "wins%" in lines[1]


def test_a_silent_cell_is_above_all_others() -> None:
    """What does not answer is the worst, with its reason, and the head counts it."""
    view = busy(10)
    view.arrived(Sample(readings={}, problems={"exa1cel09": "timed out after 60s"}))
    lines = view.lines(80, 24, "")
    assert lines[0].startswith("exa1: 9 of 10 cells") and lines[3] == "exa1cel09  timed out after 60s"


def test_s_sorts_by_the_next_figure_and_round() -> None:
    """s goes through all orders and back to the first; S goes back."""
    view = busy(10)
    seen = []
    for _ in ORDERS:
        seen.append(view.order)
        assert len(view.sorted()) == 10
        view.press("s")
    assert seen == [order.name for order in ORDERS] and view.order == "worst"
    view.press("S")
    assert view.order == "cell"


@pytest.mark.parametrize(("order", "first"), [("reads", "exa1cel10"), ("cell", "exa1cel01"), ("outliers", "exa1cel05")])
def test_orders_put_their_worst_first(order: str, first: str) -> None:
    """The most reads, the most outliers, or the name decide."""
    assert busy(10, order=order).sorted()[0].cell == first


def test_without_colour_and_unicode_the_screen_is_plain() -> None:
    """No escape and no block characters."""
    text = "\n".join(busy(10, unicode=False).lines(80, 24, ""))
    assert text.isascii() and "\x1b" not in text
    assert "\x1b[1;38;5;136m" in "\n".join(busy(10, color=True).lines(80, 24, ""))


def test_before_a_second_collection_it_says_what_it_waits_for() -> None:
    """One collection makes no difference; the screen says so instead of showing zeros."""
    view = Top(rack="exa1", every=5)
    assert "reading" in view.lines(80, 24, "")[0]
    view.arrived(Sample(readings={"c1": counters(1)}, problems={}))
    lines = view.lines(80, 24, "")
    assert "first figures with the next collection" in lines[0] and " - " in lines[3]


def test_cells_that_have_not_answered_are_named_below_those_that_have() -> None:
    """The first answers are shown at once; who has given none yet stands in one line, and is counted."""
    asked = [f"exa1cel{n:02d}" for n in range(1, 65)]
    view = Top(rack="exa1", every=5, cells=asked)
    assert "0 of 64 cells, reading" in view.lines(80, 24, "")[0]
    view.arrived(Sample(readings={cell: counters(1) for cell in asked[:30]}, problems={asked[40]: "refused"}))
    lines = view.lines(80, 24, "")
    assert lines[0].startswith("exa1: 30 of 64 cells") and "refused" in lines[3] and len(lines) == 24
    last = next(line for line in lines if line.startswith("no answer yet"))
    assert last == "no answer yet: exa1cel[31-40,42-64]"
