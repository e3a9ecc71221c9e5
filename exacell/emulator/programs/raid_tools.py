"""``MegaCli64`` and ``storcli64`` of emulated hosts: the RAID controller of the hard disks, read-only.

Health checks of cells and database servers read the physical and virtual drives and the battery to find faults. A cell's
drives are those of LIST PHYSICALDISK and LIST LUN, with their states; a database server has four healthy drives. Nothing can
be changed, and commands that are not emulated are refused.

Source: published outputs of ``MegaCli64 -PDList``, ``-LDInfo``, ``-AdpBbuCmd``, ``-AdpAllInfo`` and of
``storcli64 -ShowSummary`` (the comments of patvdv/check_health's plugins); the figures of the battery are made up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from exacell.core.units import GIB, TIB
from exacell.emulator.basics.program import Out, Program
from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.state.view import RackView

_NODE_DRIVES = 4
_NODE_DRIVE_BYTES = 600_127_266_816
_SECTOR = 512
_POLICY = "WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU"
_CONTROLLER = "LSI MegaRAID SAS 9261-8i"
_DONE = "\nExit Code: 0x00\n"


@dataclass(frozen=True, kw_only=True)
class Drive:
    """A physical drive of the controller; its virtual drive has the number of its slot."""

    enclosure: int
    slot: int
    device: str
    maker: str
    serial: str
    size_bytes: int
    failed: bool = False
    predicted: bool = False

    @property
    def state(self) -> str:
        """Return the drive's state as the controller's firmware reports it."""
        return "Failed" if self.failed else "Online, Spun Up"

    @property
    def size(self) -> str:
        """Return its size as the controller prints it, in powers of 1024."""
        if self.size_bytes >= TIB:
            return f"{self.size_bytes / TIB:.3f} TB"
        return f"{self.size_bytes / GIB:.3f} GB"


def raid_tool(rack: RackView, host: str, login: str, argv: Sequence[str]) -> Program:
    """Run ``MegaCli64`` or ``storcli64``, which share the options of the old form.

    Returns:
        A program; its exit status is 1 for logins other than root, and for commands that are not emulated.
    """
    if login != "root":
        yield Out("Failed to get controller count: only root may talk to the controller.\n", err=True)
        return 1
    # Several options in one argument are split, because patvdv/check_health passes them so.
    words = [word.lower().lstrip("-") for word in " ".join(argv).split()]
    drives = drives_of(rack, host)
    if words[:1] and (show := _OPTIONS.get(words[0])) is not None:
        yield Out(show(drives, words[1:]))
        return 0
    if words[:2] == ["/c0/cv", "show"]:
        yield Out(_SUPERCAP)
        return 0
    yield Out(f"Invalid input at or near token {argv[0]}\n\nExit Code: 0x01\n" if argv else "\nExit Code: 0x01\n")
    return 1


def drives_of(rack: RackView, host: str) -> list[Drive]:
    """Return the hard disks of a cell or a database node."""
    cell = rack.cells.get(host)
    if cell is None:
        return [
            Drive(
                enclosure=252,
                slot=number,
                device=str(8 + number),
                maker="SEAGATE ST960057SSUN600G",
                serial=f"00{number}{host[-2:]}",
                size_bytes=_NODE_DRIVE_BYTES,
            )
            for number in range(_NODE_DRIVES)
        ]
    return [
        Drive(
            enclosure=int(disk.name.partition(":")[0]),
            slot=int(disk.slot),
            device=disk.device_id,
            maker=disk.make_model,
            serial=disk.serial,
            size_bytes=disk.size_bytes,
            failed=disk.status.startswith("failed"),
            predicted="predictive" in disk.status,
        )
        for disk in cell.physical_disks.values()
        if disk.disk_type is DiskType.HARD
    ]


def _physical(drives: Sequence[Drive], words: Sequence[str]) -> str:
    return "\nAdapter #0\n\n" + "".join(map(_drive, drives)) + _DONE


def _drive(drive: Drive) -> str:
    sectors = f"{drive.size} [0x{drive.size_bytes // _SECTOR:x} Sectors]"
    facts = {
        "Enclosure Device ID": drive.enclosure,
        "Slot Number": drive.slot,
        "Drive's position": f"DiskGroup: {drive.slot}, Span: 0, Arm: 0",
        "Enclosure position": 0,
        "Device Id": drive.device,
        "WWN": f"5000C500{int.from_bytes(drive.serial.encode()[-4:]):08X}",
        "Sequence Number": 2,
        "Media Error Count": 0,
        "Other Error Count": 0,
        "Predictive Failure Count": int(drive.predicted),
        "Last Predictive Failure Event Seq Number": 0,
        "PD Type": "SAS",
        "Raw Size": sectors,
        "Non Coerced Size": sectors,
        "Coerced Size": sectors,
        "Firmware state": drive.state,
        "Device Firmware Level": "0B25",
        "Inquiry Data": f"{drive.maker} {drive.serial}",
        "Foreign State": "None",
        "Media Type": "Hard Disk Device",
        "Drive Temperature": "31C (87.80 F)",
        "Drive has flagged a S.M.A.R.T alert": "Yes" if drive.predicted else "No",
    }
    return "".join(f"{name}: {value}\n" for name, value in facts.items()) + "\n\n"


def _virtual(drives: Sequence[Drive], words: Sequence[str]) -> str:
    return "\n\nAdapter 0 -- Virtual Drive Information:\n" + "".join(map(_volume, drives)) + _DONE


def _volume(drive: Drive) -> str:
    facts = {
        "Name": "",
        "RAID Level": "Primary-0, Secondary-0, RAID Level Qualifier-0",
        "Size": drive.size,
        "State": "Offline" if drive.failed else "Optimal",
        "Strip Size": "1.0 MB",
        "Number Of Drives": 1,
        "Span Depth": 1,
        "Default Cache Policy": _POLICY,
        "Current Cache Policy": _POLICY,
        "Access Policy": "Read/Write",
        "Disk Cache Policy": "Disabled",
        "Encryption Type": "None",
    }
    head = f"Virtual Drive: {drive.slot} (Target Id: {drive.slot})\n"
    return head + "".join(f"{name:<20}: {value}\n" for name, value in facts.items()) + "\n\n"


def _battery(drives: Sequence[Drive], words: Sequence[str]) -> str:
    status = {
        "BatteryType": "iBBU08",
        "Voltage": "4061 mV",
        "Current": "0 mA",
        "Temperature": "38 C",
        "Battery State": "Optimal",
        "  Charging Status": "None",
        "  Battery Replacement required": "No",
        "  Remaining Capacity Low": "No",
        "Relative State of Charge": "92 %",
        "Remaining Capacity": "1229 mAh",
        "Full Charge Capacity": "1335 mAh",
        "isSOHGood": "Yes",
    }
    capacity = {
        "Relative State of Charge": "92 %",
        "Absolute State of charge": "85 %",
        "Remaining Capacity": "1229 mAh",
        "Full Charge Capacity": "1335 mAh",
        "Cycle Count": "12",
        "Max Error": "0 %",
        "Remaining Capacity Alarm": "0 mAh",
    }
    status["Max Error"] = "0 %"
    parts = {
        "getbbustatus": ("BBU status for Adapter: 0", status),
        "getbbucapacityinfo": ("BBU Capacity Info for Adapter: 0", capacity),
    }
    wanted = [word for word in words if word in parts] or list(parts)
    return "".join(_section(*parts[word]) for word in wanted) + _DONE


def _section(title: str, facts: Mapping[str, str]) -> str:
    return f"\n{title}\n\n" + "".join(f"{name}: {value}\n" for name, value in facts.items())


def _adapter(drives: Sequence[Drive], words: Sequence[str]) -> str:
    failed = sum(drive.failed for drive in drives)
    counts = {
        "Virtual Drives    ": len(drives),
        "  Degraded        ": 0,
        "  Offline         ": failed,
        "Physical Devices  ": len(drives) + 1,
        "  Disks           ": len(drives),
        "  Critical Disks  ": sum(drive.predicted for drive in drives),
        "  Failed Disks    ": failed,
    }
    rule = " " * 16
    line = f"{rule}{'=' * 16}\n"
    versions = f"{'=' * 78}\n{rule}Versions\n{line}Product Name    : {_CONTROLLER}\n\n"
    present = f"{rule}Device Present\n{line}" + "".join(f"{name}: {count} \n" for name, count in counts.items())
    return f"\nAdapter #0\n\n{versions}{present}{_DONE}"


def _summary(drives: Sequence[Drive], words: Sequence[str]) -> str:
    text = "System\n\tOperating System:  Linux\nHardware\n        Controller\n"
    text += f"                 ProductName       : {_CONTROLLER}(Bus 0, Dev 0)\n"
    text += "                 Status            : Optimal\n"
    text += "        BBU\n                 BBU Type          : iBBU08\n                 Status            : Healthy\n"
    text += "        PD\n"
    for drive in drives:
        text += f"                Connector          : 0<Internal><Encl Pos 0 >: Slot {drive.slot}\n"
        text += f"                State              : {'Failed' if drive.failed else 'Online'}\n"
        text += f"                Capacity           : {drive.size}\n                Power State        : Active\n\n"
    text += "Storage\n\n       Virtual Drives\n"
    for drive in drives:
        text += f"                Virtual drive      : Target Id {drive.slot} ,VD name \n"
        text += f"                Size               : {drive.size}\n"
        text += f"                State              : {'Offline' if drive.failed else 'Optimal'}\n"
        text += "                RAID Level         : 0\n\n"
    return text + _DONE


_SUPERCAP = (
    "CLI Version = 007.0530.0000.0000\nController = 0\nStatus = Success\nDescription = None\n\n\n"
    "Cachevault_Info :\n===============\n\n--------------------\nProperty    Value\n--------------------\n"
    "Type        CVPM02\nTemperature 29 C\nState       Optimal\n--------------------\n"
)
_OPTIONS: Mapping[str, Callable[[Sequence[Drive], Sequence[str]], str]] = {
    "pdlist": _physical,
    "ldinfo": _virtual,
    "ldpdinfo": lambda drives, words: _virtual(drives, words) + _physical(drives, words),
    "adpbbucmd": _battery,
    "adpallinfo": _adapter,
    "showsummary": _summary,
    "v": lambda drives, words: "\n\n      MegaCLI SAS RAID Management Tool  Ver 8.02.21\n" + _DONE,
}
