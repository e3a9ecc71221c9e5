"""The machines of emulated hosts: the same in every program that tells of them, for each model and release."""

from __future__ import annotations

import pytest
from cells_bench import MORNING, Bench

from exacell.emulator.basics.profiles import models, releases
from exacell.emulator.basics.program import Out, Pause, Program
from exacell.emulator.hosts.tools import TOOLS
from exacell.emulator.programs.date import date, formatted
from exacell.emulator.programs.machine import machine_of, processors
from exacell.emulator.programs.network import NETWORK
from exacell.emulator.programs.power import PROGRAMS as POWER
from exacell.emulator.programs.proc import fixed_files, moving_files
from exacell.emulator.programs.reports import REPORTS
from tests.support.every import every

PAIRS = [(model, name) for name, release in releases().items() for model in release.models if model in models()]


def printed(program: Program) -> tuple[str, int]:
    """Return what a program prints, and its exit status."""
    text = ""
    while True:
        try:
            event = next(program)
        except StopIteration as end:
            return text, end.value
        assert isinstance(event, Out | Pause)
        text += event.text if isinstance(event, Out) else ""


def tell(bench: Bench, name: str, *argv: str, host: str = "exa1cel01") -> str:
    """Return what a program prints on a host; it must not refuse."""
    text, status = printed({**REPORTS, **NETWORK}[name](lambda: machine_of(bench.rack, host), argv))
    assert status == 0, text
    return text


def test_every_tool_that_is_offered_is_there() -> None:
    """The programs that hosts have are those that the rack answers, and no other."""
    assert set(TOOLS) == {"date", *REPORTS, *NETWORK}
    assert not set(TOOLS) & set(POWER)


@every(PAIRS)
def test_each_model_and_release_has_a_machine(model: str, release: str) -> None:
    """On every kind of host all programs answer, and /proc tells of as many processors and disks as they do."""
    bench = Bench(model=model, release=release)
    for host in ("exa1cel01", "exa1db01"):
        machine = machine_of(bench.rack, host)
        assert machine.threads == processors(model, is_cell=machine.is_cell) == machine.sockets * machine.cores * 2
        assert sum(machine.shares) == pytest.approx(100, abs=0.2)
        files = {**fixed_files(machine), **moving_files(machine)}
        assert files["/proc/cpuinfo"].count("processor\t:") == machine.threads
        assert len(files["/proc/diskstats"].splitlines()) == len(machine.devices) > 0
        for name in (*REPORTS, *NETWORK):
            argv = {"ip": ("addr",), "ethtool": ("eth0",), "rpm": ("-qa",)}.get(name, ())
            assert tell(bench, name, *argv, host=host)


def test_iostat_says_what_the_metrics_say(bench: Bench) -> None:
    """Under load the requests of all disks are those of the CD_ metrics of the same collection; without, none."""
    assert set(tell(bench, "iostat", "-xd", "sdc").splitlines()[-2].split()[1:5]) == {"0.00"}
    bench.rack.start_load(seconds=600, profile="mixed")
    bench.pass_time(400)
    rows = [line.split() for line in tell(bench, "iostat", "-xdk").splitlines() if line.startswith(("sd", "nvme"))]
    assert len(rows) == len(bench.cell.luns)
    wanted = sum(
        float(value.split()[0].replace(",", ""))
        for metric in ("CD_IO_RQ_R_SM_SEC", "CD_IO_RQ_R_LG_SEC", "CD_IO_RQ_W_SM_SEC", "CD_IO_RQ_W_LG_SEC")
        for ((value,),) in [[row] for row in bench.values(f"list metriccurrent {metric} attributes metricValue")]
    )
    assert wanted > 100
    assert sum(float(row[3]) + float(row[4]) for row in rows) == pytest.approx(wanted, rel=0.02)


def test_counters_never_fall(bench: Bench) -> None:
    """What /proc counts since boot is never less than a minute before."""
    bench.rack.start_load(seconds=1200, profile="mixed")
    before: list[int] = []
    for _ in range(20):
        bench.pass_time(60)
        files = moving_files(machine_of(bench.rack, "exa1cel01"))
        lines = [*files["/proc/stat"].splitlines()[:1], *files["/proc/diskstats"].splitlines()]
        now = [int(word) for line in lines for word in line.split() if word.isdecimal()]
        assert all(new >= old for new, old in zip(now, before, strict=False))
        before = now


def test_reports_repeat_on_the_racks_clock(bench: Bench) -> None:
    """``vmstat 5 3`` and ``iostat 5 3`` print three reports with pauses of five rack seconds between."""
    for name in ("vmstat", "iostat"):
        program = REPORTS[name](lambda: machine_of(bench.rack, "exa1cel01"), ("5", "3"))
        assert [event for event in program if isinstance(event, Pause)] == [Pause(5)] * 2


def test_vmstat_shows_what_its_options_ask_for(bench: Bench) -> None:
    """-a shows inactive and active memory, -S counts in larger units, -V says the version, and no more."""
    titles, figures = (tell(bench, "vmstat", "-a").splitlines()[row].split() for row in (1, 2))
    assert titles[4:6] == ["inact", "active"] and len(figures) == len(titles)
    whole, counted = (int(tell(bench, "vmstat", *words).splitlines()[2].split()[3]) for words in ((), ("-S", "M")))
    assert counted == whole // 1024
    assert tell(bench, "vmstat", "-V").startswith("vmstat from procps")


def test_uptime_and_df_agree_with_cellcli(bench: Bench) -> None:
    """uptime is LIST CELL's upTime, and the root file system as full as CL_FSUT says."""
    bench.pass_time(2 * 3600)
    days, clock = bench.one("list cell attributes upTime").split(" days, ")
    assert f" up {days} days, {clock:>5}, " in tell(bench, "uptime")
    assert tell(bench, "df", "-P").splitlines()[1].split()[-2] in ("38%", "39%")
    assert tell(bench, "df", "-h", "/opt/oracle/cell").splitlines()[1].endswith(" /opt/oracle")


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        ((), "Sun Sep 13 12:26:40 UTC 2020"),
        (("+%F %T.%3N %-d %s %:z",), "2020-09-13 12:26:40.500 13 1600000000 +00:00"),
        (("-u", "-Iseconds"), "2020-09-13T12:26:40+00:00"),
        (("--rfc-3339=seconds",), "2020-09-13 12:26:40+00:00"),
        (("-R",), "Sun, 13 Sep 2020 12:26:40 +0000"),
        (("-d", "yesterday", "+%F"), "2020-09-12"),
        (("-d", "1 hour ago", "+%T"), "11:26:40"),
        (("--date=2020-02-28 1 day", "+%F"), "2020-02-29"),
        (("-d@86400", "+%F %%"), "1970-01-02 %"),
        (("-d", "2020-09-13 10:00:00 -30 minutes", "+%T"), "09:30:00"),
    ],
)
def test_date_prints_the_racks_time(argv: tuple[str, ...], wanted: str) -> None:
    """Formats and dates that scripts write mean what they mean to date(1), on the rack's clock."""
    assert printed(date(MORNING + 0.5, argv)) == (f"{wanted}\n", 0)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("-s", "@1"), "cannot set date"),
        (("-d", "soon"), "invalid date ‘soon’"),
        (("-d", "2020-13-01"), "invalid date"),
    ],
)
def test_date_refuses(argv: tuple[str, ...], said: str) -> None:
    """Nobody sets the date, and what is not understood is not guessed."""
    text, status = printed(date(MORNING, argv))
    assert said in text
    assert status == 1


def test_formats_of_large_and_small_moments() -> None:
    """A moment far away, or before 1970, is printed as it is."""
    assert formatted(-1.5, "%F %T") == "1969-12-31 23:59:58"
    assert formatted(4_102_444_800, "%F") == "2100-01-01"


@pytest.mark.parametrize(
    ("name", "argv", "said"),
    [
        ("ip", ("link", "set", "eth0", "down"), "Operation not permitted"),
        ("ip", ("addr", "show", "eth9"), 'Device "eth9" does not exist.'),
        ("ifconfig", ("eth0", "down"), "Operation not permitted"),
        ("ifconfig", ("eth9",), "Device not found"),
        ("ethtool", ("eth9",), "No such device"),
        ("route", ("add", "default"), "Operation not permitted"),
        ("mount", ("/dev/sdx", "/mnt"), "only root can do that"),
        ("rpm", ("-e", "cell"), "only -q NAME"),
        ("rpm", ("-q", "emacs"), "package emacs is not installed"),
        ("df", ("--total",), "invalid option"),
        ("vmstat", ("-d",), "vmstat: invalid option -- 'd'"),
        ("vmstat", ("--nosuch", "1"), "vmstat: unrecognized option '--nosuch'"),
        ("vmstat", ("0",), "vmstat: delay must be positive integer"),
        ("vmstat", ("x",), "vmstat: failed to parse argument: 'x'"),
        ("vmstat", ("1", "2", "3"), "Usage"),
        ("vmstat", ("-S", "g"), "-S requires k, K, m or M"),
        ("iostat", ("-Q",), "Usage"),
        ("free", ("-x",), "invalid option"),
        ("uptime", ("-x",), "invalid option"),
        ("lscpu", ("-p",), "unrecognized option"),
    ],
)
def test_what_is_not_emulated_is_refused(bench: Bench, name: str, argv: tuple[str, ...], said: str) -> None:
    """A change, an unknown device or an option that is not there is said to be so, with an exit status."""
    text, status = printed({**REPORTS, **NETWORK}[name](lambda: machine_of(bench.rack, "exa1cel01"), argv))
    assert said in text
    assert status != 0
