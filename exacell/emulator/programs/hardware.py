"""The hardware facts that an emulated host's firmware shows: maker, model, serial numbers, ambient temperature.

They agree with what CellCLI and DBMCLI list: ``makeModel``, ``id`` (the serial number of the chassis), ``cpuCount``,
``temperatureReading``. The rack's identifier (``Exadata Database Machine X2-2 AK…``) is made up in the published form.

Source: Oracle DBMMN, "Determining the Serial Numbers"; published outputs of ``show /SP system_identifier``.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from exacell.emulator.programs.dbmcli import server_row
from exacell.emulator.state.place import Place
from exacell.emulator.state.view import RackView
from exacell.emulator.statements.objects import cell_rows

MAKER = "Oracle Corporation"
_KINDS = (" High Performance", " High Capacity", " Extreme Flash")
"""Parts of CellCLI's makeModel after the model of the server itself."""
_SOCKETS = 2
_THREADS = 2


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """The hardware of one host.

    Attributes:
        model: the model of the server, without its maker.
        rack: the rack's own identifier, with its serial number.
        cores: the cores of each processor.
        temperature: of the air at the inlet, in degrees Celsius.
    """

    host: str
    model: str
    serial: str
    rack: str
    cores: int
    temperature: float

    @property
    def sockets(self) -> int:
        """Return the number of processors."""
        return _SOCKETS

    @property
    def threads(self) -> int:
        """Return the number of threads of each processor."""
        return self.cores * _THREADS


def hardware_of(rack: RackView, host: str) -> Hardware:
    """Return the hardware of a cell or a database node."""
    cell = rack.cells.get(host)
    row = server_row(rack, host) if cell is None else cell_rows(Place(rack, cell))[0]
    model = str(row["makeModel"]).removeprefix(f"{MAKER} ")
    for kind in _KINDS:
        model = model.partition(kind)[0]
    threads = int(str(row["cpuCount"]).partition("/")[0])
    return Hardware(
        host=host,
        model=model,
        serial=str(row["id"]),
        rack=f"Exadata Database Machine {_generation(rack.spec.model)}-2 AK{_number(rack):08d}",
        cores=threads // _SOCKETS // _THREADS,
        temperature=float(str(row["temperatureReading"])),
    )


def _generation(model: str) -> str:
    return model.removesuffix("ef").upper()


def _number(rack: RackView) -> int:
    return zlib.crc32(f"{rack.spec.seed}|rack".encode()) % 10**8
