"""What the firmware of emulated hosts says: dmidecode, ipmitool and the RAID controller agree with CellCLI and DBMCLI."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from cells_bench import Bench

from exacell.emulator.basics.program import Out, Program
from exacell.emulator.programs.dmidecode import dmidecode
from exacell.emulator.programs.ipmitool import ipmitool
from exacell.emulator.programs.raid_tools import raid_tool
from exacell.emulator.rack.rack import Rack

Tool = Callable[[Rack, str, str, list[str]], Program]
CELL, NODE = "exa1cel02", "exa1db01"
MODELS = {
    "x2": ("SUN FIRE X4270 M2 SERVER", "SUN FIRE X4170 M2 SERVER", "X2-2"),
    "x6": ("ORACLE SERVER X6-2L", "ORACLE SERVER X6-2", "X6-2"),
    "x6ef": ("ORACLE SERVER X6-2L", "ORACLE SERVER X6-2", "X6-2"),
    "x8m": ("ORACLE SERVER X8-2L", "ORACLE SERVER X8-2", "X8M-2"),
}


def shown(bench: Bench, tool: Tool, *argv: str, host: str = CELL, login: str = "root") -> tuple[int, str]:
    """Return the exit status and all that a tool prints."""
    program, texts = tool(bench.rack, host, login, list(argv)), []
    while True:
        try:
            event = next(program)
        except StopIteration as end:
            return int(end.value), "".join(texts)
        assert isinstance(event, Out)
        texts.append(event.text)


@pytest.mark.parametrize("model", MODELS)
def test_model_and_serial_number_are_those_that_cellcli_lists(model: str) -> None:
    """dmidecode and the service processor name the server as makeModel does, and the serial number that id shows."""
    bench = Bench(model=model)
    cell, node, rack = MODELS[model]
    assert shown(bench, dmidecode, "-s", "system-product-name") == (0, f"{cell}\n")
    assert shown(bench, dmidecode, "-s", "system-product-name", host=NODE) == (0, f"{node}\n")
    serial = bench.e("list cell attributes id", cell=CELL).strip()
    assert shown(bench, dmidecode, "-schassis-serial-number") == (0, f"{serial}\n")
    text = shown(bench, ipmitool, "sunoem", "cli", "show /SP system_identifier")[1]
    assert re.search(rf"^        system_identifier = Exadata Database Machine {rack} AK\d{{8}}$", text, re.MULTILINE)
    assert text == shown(bench, ipmitool, "sunoem", "cli", "force", "show /SP system_identifier", host=NODE)[1]


def test_dmidecode_shows_structures_by_type(bench: Bench) -> None:
    """-t takes numbers and names of groups, prints each structure as a block, and -q leaves out handles."""
    status, text = shown(bench, dmidecode, "-t1")
    assert (status, text.count("Handle 0x"), text.count("\tManufacturer: Oracle Corporation\n")) == (0, 1, 1)
    assert "Handle 0x0001, DMI type 1, 27 bytes\nSystem Information\n" in text
    assert shown(bench, dmidecode, "--type", "4", "-q")[1].count("Processor Information\n") == 2
    whole = shown(bench, dmidecode)[1]
    assert [int(number) for number in re.findall(r"DMI type (\d+),", whole)] == [0, 1, 2, 3, 4, 4]
    for wrong in (["-s", "nonsense"], ["-t", "nonsense"], ["--nonsense"], ["-s"]):
        assert shown(bench, dmidecode, *wrong)[0] == 2


@pytest.mark.parametrize("tool", [dmidecode, ipmitool, raid_tool])
def test_only_root_reaches_the_hardware(bench: Bench, tool: Tool) -> None:
    """Every other login is refused with status 1."""
    status, text = shown(bench, tool, login="celladmin")
    assert status == 1 and text


def test_a_session_with_the_service_processor(bench: Bench) -> None:
    """Each command is echoed behind the prompt, between the lines that ipmitool says before and after."""
    status, text = shown(bench, ipmitool, "sunoem", "cli", "show faulty")
    lines = text.splitlines()
    assert (status, lines[:2], lines[-2:]) == (
        0,
        ["Connected. Use ^D to exit.", "-> show faulty"],
        ["-> Session closed", "Disconnected"],
    )
    assert [line.split("|")[0].strip() for line in lines if "|" in line] == ["Target"]
    warm = bench.e("list cell attributes temperatureReading").strip()
    assert (
        f"        value = {float(warm):.3f} degree C\n" in shown(bench, ipmitool, "sunoem", "cli", "show /sys/t_amb")[1]
    )
    words = ["start /SP/faultmgmt/shell", "y", "fmadm faulty"]
    assert "faultmgmtsp> fmadm faulty\nNo faults found\n" in shown(bench, ipmitool, "sunoem", "cli", *words)[1]


ASKED = [
    ("show -l all /SYS fault_state==Faulted", "show: No matching properties found."),
    ("show -l all /SYS fault_state==OK", " /SYS/MB"),
    ("show /nowhere", "show: Invalid target /nowhere"),
    ("show -d properties /System health", "        health = OK"),
    ("show /System/Open_Problems", "Open Problems (0)"),
    ("set /SP hostname=x", "set: Invalid command"),
    ("version", "SP firmware 4.0.4.52"),
]


@pytest.mark.parametrize(("command", "line"), ASKED)
def test_targets_and_properties(bench: Bench, command: str, line: str) -> None:
    """SHOW finds targets and properties whatever their case, filters by value, and nothing can be set."""
    assert line in shown(bench, ipmitool, "sunoem", "cli", command)[1].splitlines()


def test_what_ipmitool_is_not_is_refused(bench: Bench) -> None:
    """Subcommands that are not emulated end with status 1, those that health checks read with 0."""
    assert shown(bench, ipmitool, "sel", "list") == (0, "SEL has no entries\n")
    assert shown(bench, ipmitool, "chassis", "power", "off")[0] == 1
    assert shown(bench, ipmitool)[0] == 1


def test_the_controller_has_the_disks_of_the_cell(bench: Bench) -> None:
    """-PDList has a drive for each hard disk, with its serial number; one that may fail is counted as such."""
    serials = bench.e("list physicaldisk attributes physicalSerial where diskType=HardDisk", cell=CELL).split()
    status, text = shown(bench, raid_tool, "-PDList", "-aAll")
    assert (status, text.count("Firmware state: Online, Spun Up\n"), text.endswith("\nExit Code: 0x00\n")) == (
        0,
        12,
        True,
    )
    assert all(f" {serial}\n" in text for serial in serials)
    bench.rack.cells[CELL].physical_disks["20:3"].status = "warning - predictive failure"
    bench.rack.cells[CELL].physical_disks["20:4"].status = "failed"
    text = shown(bench, raid_tool, "pdlist", "-aall")[1]
    assert (text.count("Predictive Failure Count: 1\n"), text.count("Firmware state: Failed\n")) == (1, 1)
    assert shown(bench, raid_tool, "-LDInfo", "-Lall", "-aALL")[1].count("State               : Optimal\n") == 11
    counts = shown(bench, raid_tool, "-AdpAllInfo", "-aALL")[1]
    assert re.search(r"Critical Disks  : 1 \n +Failed Disks    : 1 \n", counts)
    summary = shown(bench, raid_tool, "-ShowSummary -aALL")[1]
    assert (summary.count("Connector"), summary.count("Virtual drive"), summary.count(": Offline")) == (12, 12, 1)


def test_the_battery_and_what_the_controller_refuses(bench: Bench) -> None:
    """The battery's status and capacity can be asked for apart; what would change something is refused."""
    whole = shown(bench, raid_tool, "-AdpBbuCmd", "-aALL")[1]
    assert "Battery Replacement required: No\n" in whole and "Full Charge Capacity: 1335 mAh\n" in whole
    assert "Cycle Count" not in shown(bench, raid_tool, "-AdpBbuCmd", "-GetBbuStatus", "-a0")[1]
    assert "State       Optimal\n" in shown(bench, raid_tool, "/c0/cv", "show", "all")[1]
    assert shown(bench, raid_tool, "-PDOffline", "-PhysDrv", "[20:3]", "-a0")[0] == 1
    assert shown(bench, raid_tool, "-PDList", "-aALL", host=NODE)[1].count("Slot Number") == 4
