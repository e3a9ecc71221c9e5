"""The ``dmidecode`` program of emulated hosts: BIOS, system, board, chassis and processors, all, by type or by keyword.

Its values agree with LIST CELL and LIST DBSERVER. Memory modules, slots and other structures are left out.
Source: dmidecode(8), KEYWORDS and TYPES; the published outputs of ``dmidecode -s`` and ``-t1`` on Exadata servers; versions and
dates of the firmware are made up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.emulator.basics.program import Out, Program
from exacell.emulator.programs.hardware import MAKER, Hardware, hardware_of
from exacell.emulator.state.build import guid
from exacell.emulator.state.view import RackView

_UNKNOWN = "Not Specified"
_GROUPS = {"bios": (0,), "system": (1,), "baseboard": (2,), "chassis": (3,), "processor": (4,)}
_TITLES = {
    0: ("BIOS Information", 24),
    1: ("System Information", 27),
    2: ("Base Board Information", 15),
    3: ("Chassis Information", 22),
    4: ("Processor Information", 42),
}
"""Title and length in bytes of the structure of each type."""
_FIELDS = {
    "manufacturer": "Manufacturer",
    "product-name": "Product Name",
    "version": "Version",
    "serial-number": "Serial Number",
    "uuid": "UUID",
    "sku-number": "SKU Number",
    "family": "Family",
    "asset-tag": "Asset Tag",
    "type": "Type",
    "vendor": "Vendor",
    "release-date": "Release Date",
    "frequency": "Current Speed",
}
"""The field for the second part of a keyword."""
_KEYWORDS = (
    *(f"bios-{part}" for part in ("vendor", "version", "release-date")),
    *(f"system-{part}" for part in ("manufacturer", "product-name", "version", "serial-number", "uuid")),
    *(f"system-{part}" for part in ("sku-number", "family")),
    *(f"baseboard-{part}" for part in ("manufacturer", "product-name", "version", "serial-number", "asset-tag")),
    *(f"chassis-{part}" for part in ("manufacturer", "type", "version", "serial-number", "asset-tag")),
    *(f"processor-{part}" for part in ("family", "manufacturer", "version", "frequency")),
)
_NOT_ROOT = (
    "/sys/firmware/dmi/tables/smbios_entry_point: Permission denied\n"
    "Scanning /dev/mem for entry point.\n/dev/mem: Permission denied\n"
)


class _WrongError(Exception):
    """The command line is wrong; the text is dmidecode's output on standard error."""


def dmidecode(rack: RackView, host: str, login: str, argv: Sequence[str]) -> Program:
    """Run ``dmidecode`` on a host.

    Returns:
        A program; its exit status is 1 for logins other than root, and 2 if the command line is wrong.
    """
    try:
        keyword, types, quiet = _asked(argv)
    except _WrongError as error:
        yield Out(f"{error}\n", err=True)
        return 2
    if login != "root":
        yield Out(_NOT_ROOT, err=True)
        return 1
    structures = _structures(hardware_of(rack, host))
    if keyword:
        kind, _, part = keyword.partition("-")
        found = structures[_GROUPS[kind][0]]
        lines = [fields.get(_FIELDS[part], _UNKNOWN) for fields in (found if kind == "processor" else found[:1])]
        yield Out("".join(f"{line}\n" for line in lines))
        return 0
    if not quiet:
        yield Out("# dmidecode 3.2\nGetting SMBIOS data from sysfs.\nSMBIOS 2.8 present.\n\n")
    handle = 0
    for kind_number, found in structures.items():
        for fields in found:
            if not types or kind_number in types:
                yield Out(_block(handle, kind_number, fields, quiet=quiet))
            handle += 1
    return 0


def _asked(argv: Sequence[str]) -> tuple[str, tuple[int, ...], bool]:
    """Return the keyword, the types, and whether ``-q`` was given.

    Raises:
        _WrongError: dmidecode has no such option, keyword or type.
    """
    keyword, quiet = "", False
    types: tuple[int, ...] = ()
    words = list(argv)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word[:2] in ("-s", "-t") and word[2:]:
            name, equals, value = word[:2], "=", word[2:]
        if name in ("-s", "--string", "-t", "--type"):
            if not equals:
                if not words:
                    raise _WrongError(f"dmidecode: option requires an argument -- '{name.strip('-')}'")
                value = words.pop(0)
            if name in ("-s", "--string"):
                keyword = _keyword(value)
            else:
                types += _types(value)
        elif word in ("-q", "--quiet"):
            quiet = True
        else:
            raise _WrongError(f"dmidecode: unrecognized option '{word}'")
    return keyword, types, quiet


def _keyword(value: str) -> str:
    if value not in _KEYWORDS:
        known = "".join(f"\n  {keyword}" for keyword in _KEYWORDS)
        raise _WrongError(f"Invalid string keyword: {value}\nValid string keywords are:{known}")
    return value


def _types(value: str) -> tuple[int, ...]:
    if value in _GROUPS:
        return _GROUPS[value]
    numbers = value.split(",")
    if not all(number.isdecimal() for number in numbers):
        raise _WrongError(f"Invalid type keyword: {value}\nValid type keywords are:\n  " + "\n  ".join(_GROUPS))
    return tuple(map(int, numbers))


def _block(handle: int, kind: int, fields: Mapping[str, str], *, quiet: bool) -> str:
    title, size = _TITLES[kind]
    head = "" if quiet else f"Handle 0x{handle:04X}, DMI type {kind}, {size} bytes\n"
    return f"{head}{title}\n" + "".join(f"\t{name}: {value}\n" for name, value in fields.items()) + "\n"


def _structures(hardware: Hardware) -> dict[int, list[dict[str, str]]]:
    """Return the structures by type, each as its fields."""
    processor = {
        "Type": "Central Processor",
        "Family": "Xeon" if "E5-2L" not in hardware.model else "Zen",
        "Manufacturer": "Intel" if "E5-2L" not in hardware.model else "Advanced Micro Devices, Inc.",
        "Version": _UNKNOWN,
        "Current Speed": "2200 MHz",
        "Status": "Populated, Enabled",
        "Core Count": str(hardware.cores),
        "Core Enabled": str(hardware.cores),
        "Thread Count": str(hardware.threads),
    }
    return {
        0: [{"Vendor": "American Megatrends Inc.", "Version": "08050100", "Release Date": "06/02/2016"}],
        1: [
            {
                "Manufacturer": MAKER,
                "Product Name": hardware.model,
                "Version": _UNKNOWN,
                "Serial Number": hardware.serial,
                "UUID": guid(f"{hardware.host}|{hardware.serial}").upper(),
                "Wake-up Type": "Power Switch",
                "SKU Number": _UNKNOWN,
                "Family": _UNKNOWN,
            }
        ],
        2: [
            {
                "Manufacturer": MAKER,
                "Product Name": "ASSY,MOTHERBOARD",
                "Version": _UNKNOWN,
                "Serial Number": f"{hardware.serial[::-1]}",
                "Asset Tag": _UNKNOWN,
            }
        ],
        3: [
            {
                "Manufacturer": MAKER,
                "Type": "Rack Mount Chassis",
                "Version": _UNKNOWN,
                "Serial Number": hardware.serial,
                "Asset Tag": _UNKNOWN,
            }
        ],
        4: [{"Socket Designation": f"P{number}", **processor} for number in range(hardware.sockets)],
    }
