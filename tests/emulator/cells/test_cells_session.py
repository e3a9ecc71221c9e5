"""The cellcli program: options, batches, scripts, terminal, privileges, services and codes."""

from __future__ import annotations

import pytest
from cells_bench import IN_DATA, STUCK, AsmStub, Bench

from exacell.emulator.basics.messages import Code, Evidence

BANNER = (
    "\nCellCLI: Release 19.3.2.0.0 - Production on Sun Sep 13 12:26:40 UTC 2020\n"
    "\nCopyright (c) 2007, 2016, Oracle and/or its affiliates. All rights reserved.\n\n"
)
CELL = "\t exa1cel01\t online\n"


def test_one_shot_prints_rows_only(bench: Bench) -> None:
    """With -e there is neither banner nor prompt; the command may come in one word or in several."""
    assert bench.run("-e", "list cell") == bench.run("-e", "list", "cell") == CELL
    assert bench.run("-n", "-x", "-e", "list cell;") == CELL
    assert bench.status == 0


def test_batches_go_on_after_an_error(bench: Bench) -> None:
    """Each statement of a batch is answered, whatever the one before it answered; the status says only that it ran."""
    assert bench.e("list cel; list cell") == f"     ^\nCELL-01504: Invalid command syntax.\n{CELL}"
    assert bench.status == 0


def test_xml_batches_print_a_document_a_statement(bench: Bench) -> None:
    """Each statement of an XML batch yields its own document."""
    assert bench.run("-xml", "-n", "-x", "-e", "list cell; list lun").count("<?xml") == 2


def test_unknown_options_print_the_usage(bench: Bench) -> None:
    """An unknown option, or -e without a command, prints the usage and ends with status 1."""
    for argv in (("-q",), ("-e",), ("-e", " ")):
        assert bench.run(*argv).startswith("Usage: cellcli")
        assert bench.status == 1
    assert bench.run("8888", "-vv", "-e", "list cell") == CELL


def test_a_terminal_gets_banner_prompts_and_continuations(bench: Bench) -> None:
    """A terminal session shows the banner, a prompt before and an empty line behind each statement."""
    shown = bench.run(tty=True, stdin=["list cell", "list cell -", "attributes name;", "", "rem nothing", "QUIT;"])
    assert shown == (
        f"{BANNER}CellCLI> list cell\n{CELL}\nCellCLI> list cell -\n> attributes name;\n\t exa1cel01\n\n"
        "CellCLI> \nCellCLI> rem nothing\n\nCellCLI> QUIT;\nquitting\n\n"
    )


def test_scripts_on_standard_input(bench: Bench) -> None:
    """With -n -x only the rows are printed; without them the banner and bare prompts too."""
    script = ["-- a comment", "list cell", "list cell -", " attributes name", "exit", "list lun"]
    assert bench.run("-n", "-x", stdin=script) == f"{CELL}\t exa1cel01\n"
    assert bench.run(stdin=["list cell"]) == f"{BANNER}CellCLI> {CELL}\nCellCLI> \n"


def test_nothing_on_standard_input_ends_at_once(bench: Bench) -> None:
    """Without a command, a terminal or input, cellcli ends."""
    assert bench.run("-n", "-x") == ""
    assert bench.status == 0


def test_script_files(bench: Bench) -> None:
    """START and @ run a file, ECHO ON shows its statements; a missing file and one that starts itself are errors."""
    files = {"a.cli": "set echo on\nlist cell -\nattributes name\n\nexit\nlist lun\n", "loop": "@loop\n"}
    assert bench.run("-e", "start a.cli", read_file=files.get) == "list cell attributes name\n\t exa1cel01\n"
    assert bench.run("-e", "@'a.cli'", read_file=files.get).endswith("\t exa1cel01\n")
    assert bench.e("@none", read_file=files.get) == "CELL-02921: Unable to read file none.\n"
    assert "CELL-02921" in bench.e("@loop", read_file=files.get)
    assert "CELL-02921" in bench.e("@a.cli")


def test_the_start_of_cellcli_takes_its_time() -> None:
    """The first thing that happens is a pause of cellcli-start wall seconds; without it there is none."""
    slow = Bench(cellcli_start=1.5)
    slow.e("list cell")
    assert [(pause.seconds, pause.wall) for pause in slow.pauses] == [(1.5, True)]
    quick = Bench()
    quick.e("list cell")
    assert quick.pauses == []


@pytest.mark.parametrize("argv", [("-m", "-e"), ("-e",)])
@pytest.mark.parametrize(
    "statement",
    [
        "drop flashcache",
        "alter cell comment=x",
        "create griddisk all harddisk prefix=a",
        "alter iormplan dbplan=''",
        "alter cell shutdown services all",
        "create key",
        "calibrate",
    ],
)
def test_monitors_may_only_read(bench: Bench, argv: tuple[str, ...], statement: str) -> None:
    """cellmonitor, and anybody with -m, is refused everything that changes a cell, each with the reason that is true."""
    login = "celladmin" if "-m" in argv else "cellmonitor"
    before = bench.rack.to_state()
    answer = bench.run(*argv, statement, login=login)
    assert answer == (
        "CELL-02914: CellCLI was started with -m (monitor mode), which takes only commands that read.\n"
        if "-m" in argv
        else "CELL-02913: User cellmonitor does not have the privilege to run this command.\n"
    )
    assert bench.rack.to_state() == before


def test_monitors_read(bench: Bench) -> None:
    """cellmonitor lists, describes and gets help."""
    assert bench.e("list cell", login="cellmonitor") == CELL
    assert "modifiable" in bench.e("describe griddisk", login="cellmonitor")
    assert "Available Topics:" in bench.e("help", login="cellmonitor")


def test_help(bench: Bench) -> None:
    """HELP lists topics, a topic shows its form, and an unknown one is a syntax error."""
    assert bench.e("help").startswith("\n HELP [topic]\n   Available Topics:\n\tALTER\n\tALTER ALERTHISTORY\n")
    assert "Usage: ALTER FLASHCACHE" in bench.e("help alter flashcache")
    assert "<object_type>:  {ALERTHISTORY | CELL | CELLDISK | FLASHCACHE | " in bench.e("help drop")
    assert bench.e("help coffee") == "     ^\nCELL-01504: Invalid command syntax.\n"


def test_services_stop_and_start(bench: Bench) -> None:
    """Without CELLSRV cache, plan and ASM attributes fail and disks are still listed; without MS all fails."""
    stub = bench.rack.asm = AsmStub(IN_DATA)
    bench.e("alter cell shutdown services cellsrv")
    assert {what for _cell, _disk, what in stub.told} == {"inactive"} and len(stub.told) == 24
    for statement in ("list flashcache", "list iormplan", "drop flashlog", "list griddisk attributes asmmodestatus"):
        assert bench.e(statement) == "CELL-02559: There is a communication error between MS and CELLSRV.\n"
    assert bench.one("list cell attributes cellsrvstatus") == "stopped"
    assert len(bench.values("list griddisk")) == 24
    bench.e("alter cell startup services cellsrv")
    assert stub.told[24:] == [(cell, disk, "active") for cell, disk, _ in stub.told[:24]]
    bench.e("alter cell shutdown services ms")
    assert bench.e("list cell").startswith("CELL-01514")
    bench.e("alter cell startup services ms")
    assert bench.e("list cell") == CELL
    bench.e("alter cell shutdown services rs")
    assert bench.e("alter cell shutdown services cellsrv; alter cell startup services cellsrv").endswith(
        "CELL-01509: Restart Server (RS) not responding.\n"
    )


def test_collections_stand_still_without_cellsrv(bench: Bench) -> None:
    """While CELLSRV is down collectionTime does not move; it goes on at the first whole minute after the start."""
    bench.e("alter cell shutdown services cellsrv")
    frozen = bench.one("list metriccurrent fc_by_used attributes collectionTime")
    bench.pass_time(600)
    assert bench.one("list metriccurrent fc_by_used attributes collectionTime") == frozen
    bench.e("alter cell startup services cellsrv")
    bench.pass_time(60)
    assert bench.one("list metriccurrent fc_by_used attributes collectionTime") > frozen


def test_redundancy_is_checked_unless_ignored(bench: Bench) -> None:
    """CELLSRV does not stop when a disk group would suffer, unless IGNORE REDUNDANCY is given."""
    bench.rack.asm = AsmStub(STUCK)
    assert "CELL-01548" in bench.e("alter cell restart services cellsrv")
    assert bench.one("list cell attributes cellsrvstatus") == "running"
    assert "was successful" in bench.e("alter cell shutdown services cellsrv ignore redundancy")
    assert "CELL-01548" not in bench.e("alter cell shutdown services ms")


def test_a_used_grid_disk_is_protected(bench: Bench) -> None:
    """INACTIVE is refused with ASM's reason, DROP while active is refused; FORCE overrides both."""
    bench.rack.asm = AsmStub(STUCK)
    answer = bench.e("alter griddisk DATA_CD_00_exa1cel01 inactive")
    assert answer == (
        "CELL-02915: Grid disk DATA_CD_00_exa1cel01 cannot be deactivated: "
        "Cannot de-activate due to other offline disks in the diskgroup\n"
    )
    assert bench.e("drop griddisk DATA_CD_00_exa1cel01").startswith("CELL-02548")
    assert "successfully altered" in bench.e("alter griddisk DATA_CD_00_exa1cel01 inactive force")
    assert bench.e("drop griddisk RECO_CD_00_exa1cel01 force") == "GridDisk RECO_CD_00_exa1cel01 successfully dropped\n"
    assert bench.e("drop griddisk NONE").startswith("CELL-02906: Grid disk does not exist: NONE")


def test_grid_disks_are_altered_by_filter_and_by_name(bench: Bench) -> None:
    """ALTER GRIDDISK ALL with WHERE touches what passes; names that do not exist are reported and the rest goes on."""
    lines = bench.e("alter griddisk all harddisk where name like 'RECO.*' inactive").splitlines()
    assert lines == [f"GridDisk RECO_CD_{n:02d}_exa1cel01 successfully altered" for n in range(12)]
    lines = bench.e("alter griddisk NONE,RECO_CD_00_exa1cel01 active").splitlines()
    assert lines == ["CELL-02906: Grid disk does not exist: NONE", "GridDisk RECO_CD_00_exa1cel01 successfully altered"]
    bench.e("alter griddisk RECO_CD_00_exa1cel01 availableTo='c1,c2', cachingPolicy=default")
    row = bench.values("list griddisk RECO_CD_00_exa1cel01 attributes availableTo,cachingPolicy,status")
    assert row == [["c1,c2", "default", "active"]]
    assert "erase is in progress" in bench.e("drop griddisk RECO_CD_01_exa1cel01 erase=1pass nowait")


def test_cell_disks_take_comments(bench: Bench) -> None:
    """ALTER CELLDISK sets comments by media; other attributes are refused."""
    lines = bench.e("alter celldisk all flashdisk comment='Flash Disk'").splitlines()
    assert lines == [f"CellDisk FD_{n:02d}_exa1cel01 successfully altered" for n in range(16)]
    assert bench.one("list celldisk FD_00_exa1cel01 attributes comment") == '"Flash Disk"'
    assert bench.e("alter celldisk all size=1g").startswith("CELL-02908")
    bench.e("alter celldisk CD_00_exa1cel01 flush")
    assert bench.one("list celldisk CD_00_exa1cel01 attributes flushstatus") == "complete"


@pytest.mark.parametrize(
    ("assignment", "code"),
    [
        ("cellVersion=x", "CELL-02908"),
        ("nonsense=x", "CELL-02907"),
        ("metricHistoryDays=many", "CELL-02917"),
        ("eighthRack=perhaps", "CELL-02917"),
    ],
)
def test_cell_attributes_are_checked(bench: Bench, assignment: str, code: str) -> None:
    """ALTER CELL refuses unknown, fixed and ill-typed attributes, and sets none of the others with them."""
    assert bench.e(f"alter cell comment=new, {assignment}").startswith(code)
    assert bench.one("list cell attributes comment") == ""


def test_every_code_is_written_down_once() -> None:
    """No two situations share a code, and codes of our own are from 2901 to 2999 where no published ones are."""
    codes = [code.value.code for code in Code]
    assert len(codes) == len(set(codes))
    for code in Code:
        assert (2900 < code.value.code < 3000) == (code.value.evidence is Evidence.EMULATED), code
