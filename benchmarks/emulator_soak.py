"""Let many clients ask emulated racks of every release for a long time, and see that nothing breaks, leaks or stays.

Run: python benchmarks/emulator_soak.py [seconds] [clients of each rack] [seed]. Each client is asyncssh with a connection of
its own, which it sometimes breaks in the middle; its statements are LIST, DESCRIBE and HELP of everything, changes of
space, caches, plans, thresholds and services, SQL, asmcmd and crsctl, and damaged forms of all of these. A rack fails
when its log holds a traceback, its process ends or hangs, descriptors or memory go on growing, or it does not stop cleanly.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh
from emulator_scale import memory_mb

from exacell.cellcli.schema import objects
from exacell.core.errors import EmulatorError
from exacell.emulator import control

RACKS: dict[str, dict[str, control.Option]] = {
    "s11224": {"model": "x2", "release": "11.2.2.4"},
    "s11232": {"model": "x2", "release": "11.2.3.2.1"},
    "s11233": {"model": "x2", "release": "11.2.3.3.1"},
    "s1212": {"model": "x6", "release": "12.1.2"},
    "s193": {"model": "x6", "release": "19.3", "clusters": 2, "dbnodes": 4},
    "s221": {"model": "x8m", "release": "22.1", "pdb": "SPOT.SALES,SPOT.HR"},
    "s241": {"model": "x10m", "release": "24.1", "vault": "V1"},
    "s261": {"model": "x10m", "release": "26.1"},
}
MEDIA = ("harddisk", "flashdisk")
CHANGES = (
    "create griddisk all {medium} prefix=S{n}, size={n}G",
    "create griddisk S{n}_CD_0{d}_{host} celldisk=CD_0{d}_{host}, size=160M",
    "drop griddisk all prefix=S{n}",
    "drop griddisk all prefix=S{n} force",
    "alter griddisk all {medium} comment='soak {n}'",
    "alter griddisk all prefix=S{n} inactive",
    "alter griddisk all active",
    "alter flashcache all size={n}G",
    "alter flashcache all flush nowait",
    "alter flashcache all cancel flush",
    "drop flashcache",
    "create flashcache all",
    "create flashcache all size={n}G",
    "drop flashlog",
    "drop flashlog force",
    "create flashlog all size=512M",
    "create pmemcache all",
    "drop pmemcache",
    "create xrmemcache all",
    "alter cell flashCacheMode=writethrough",
    "alter cell flashCacheMode=writeback",
    "alter cell comment='soak {n}', location='row {d}'",
    "alter cell restart services ms",
    "alter cell restart services cellsrv",
    "alter cell shutdown services cellsrv",
    "alter cell startup services all",
    "alter cell metricHistoryDays={n}",
    "alter iormplan objective=auto",
    "alter iormplan dbplan=((name=SPOT, share={n}), (name=other, share=1))",
    "alter iormplan dbplan=''",
    "create threshold CD_IO_BY_R_LG_SEC.T{n} comparison='>', warning={n}, critical=9{n}",
    "drop threshold all",
    "create threshold CL_FANS comparison='<', critical=13",
    "alter alerthistory all examinedBy='soak'",
    "drop alerthistory all",
    "alter physicaldisk all serviceled off",
    "alter lun all reenable force",
    "drop celldisk all {medium} force",
    "create celldisk all",
    "create key",
    "create role r{n}",
    "drop role all",
    "create quarantine quarantineType='SQLID', sqlid='5xnjp4cutc1s8'",
    "drop quarantine all",
    "calibrate",
    "list metrichistory where ageInMinutes < {n} and name like '{prefix}_.*'",
    "list metriccurrent attributes all where name like '{prefix}_.*' and alertState=normal",
    "list metriccurrent where metricType=Rate order by metricValue desc limit {n}",
)
SQL = (
    "select * from v$asm_diskgroup;",
    "select d.name, g.name, d.header_status from v$asm_disk d join v$asm_diskgroup g using (group_number) order by 1;",
    "select * from v$asm_operation;",
    "alter diskgroup DATA rebalance power {n};",
    "alter diskgroup RECO offline disks in failgroup EXA1CEL0{c};",
    "alter diskgroup RECO online all;",
    "create diskgroup S{n} normal redundancy disk 'o/*/S{n}_*' attribute 'compatible.asm'='19.0';",
    "drop diskgroup S{n} force including contents;",
    "select name, value from v$sysstat where name like '%flash%';",
    "select table_name from dict where rownum < {n};",
    "begin for i in 1..{n} loop dbms_output.put_line(i); end loop; end;\n/",
    "select listagg(name, ',') within group (order by name) from v$asm_disk group by group_number;",
    "select level, connect_by_root(level) from dual connect by level <= {n};",
    "show all",
    "describe v$asm_disk",
)
NODE_PROGRAMS = (
    "asmcmd lsdg",
    "asmcmd lsdsk -k",
    "asmcmd lsop",
    "asmcmd find + '*'",
    "asmcmd du +DATA",
    "asmcmd lsattr -l -G DATA",
    "crsctl stat res -t",
    "srvctl status diskgroup -diskgroup DATA",
    "srvctl stop diskgroup -diskgroup RECO",
    "srvctl start diskgroup -diskgroup RECO",
    "kfod disks=all",
    "dbmcli -e list dbserver detail",
    "imageinfo",
    "cat /etc/oratab; ps -ef | grep pmon; hostname",
)
KINDS = ("error", "slow", "drop", "garbage", "restart", "flash-disk", "cellsrv-down", "ms-down", "refuse", "disk-full")
_HUNG_S = 60.0
"""A week of metrics takes some seconds; nothing takes so long."""
PREFIXES = ("CL", "CD", "GD", "FC", "FL", "DB", "CG", "N", "SIO", "IORM_MODE")


@dataclass
class Soak:
    """One rack under work: what was asked, and what was answered.

    Attributes:
        done: how many statements were answered, by kind.
        codes: how often each CELL- or ORA- code was seen.
        hung: statements without an answer for a long time.
    """

    name: str
    info: control.RackInfo
    chance: random.Random
    done: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    hung: list[str] = field(default_factory=list)

    def statement(self) -> tuple[str, str]:
        """Return the kind of a program of the rack, and the statement or command line for it."""
        if self.chance.random() < 0.2:
            return "node", self.chance.choice(NODE_PROGRAMS)
        if self.chance.random() < 0.25:
            return "sql", self._filled(self.chance.choice(SQL))
        if self.chance.random() < 0.5:
            return "change", self._filled(self.chance.choice(CHANGES))
        kind = self.chance.choice(list(objects().values()))
        names = [attribute.name for attribute in kind.attributes.values()]
        chosen = ", ".join(self.chance.sample(names, min(len(names), 3))) or "name"
        if kind.name == "METRICHISTORY":  # all of it is a week of all metrics, for minutes
            return "list", self._filled("list metrichistory where ageInMinutes < {n} attributes ") + chosen
        forms = (
            f"list {kind.name}",
            f"list {kind.name} detail",
            f"list {kind.name} attributes all",
            f"list {kind.name} attributes {chosen}",
            f"list {kind.name} attributes {chosen} where {chosen.split(',')[0]} like '.*' order by name limit 3",
            f"describe {kind.name}",
            f"help list {kind.name}",
        )
        return "list", self.chance.choice(forms)

    def _filled(self, text: str) -> str:
        host = self.chance.choice(self.info.cells)
        number, digit = self.chance.randint(1, 9), self.chance.randint(0, 9)
        medium, prefix = self.chance.choice(MEDIA), self.chance.choice(PREFIXES)
        for word, value in (
            ("n", number),
            ("d", digit),
            ("c", host[-1]),
            ("host", host),
            ("medium", medium),
            ("prefix", prefix),
        ):
            text = text.replace("{" + word + "}", str(value))
        return text

    def damaged(self, text: str) -> str:
        """Return the text with a few characters lost, doubled or replaced."""
        for _ in range(self.chance.randint(1, 4)):
            at = self.chance.randrange(len(text) + 1)
            text = (
                text[:at]
                + self.chance.choice(("", "'", "(", ",", "é", "\t", "=", text[at : at + 4]))
                + text[at + self.chance.randint(0, 3) :]
            )
        return text.replace("\x00", "")

    async def client(self, end: float, pause: float) -> None:
        """Ask until ``end`` on connections of our own, a new one now and then."""
        while time.monotonic() < end:
            host = self.chance.choice((*self.info.cells, *self.info.dbnodes))
            user = "grid" if host in self.info.dbnodes else self.chance.choice(("root", "celladmin", "cellmonitor"))
            try:
                async with asyncssh.connect(
                    host, username=user, config=[str(self.info.ssh_config)], agent_path=None, login_timeout=60
                ) as link:
                    for _ in range(self.chance.randint(1, 12)):
                        if time.monotonic() >= end:
                            return
                        await self._ask(link, host)
                        await asyncio.sleep(self.chance.random() * 2 * pause)
            except (OSError, asyncssh.Error) as error:
                self.done[f"broken: {type(error).__name__}"] += 1
                await asyncio.sleep(pause)

    async def _ask(self, link: asyncssh.SSHClientConnection, host: str) -> None:
        while True:
            kind, text = self.statement()
            if (kind in ("node", "sql")) == (host in self.info.dbnodes):
                break
        if self.chance.random() < 0.15:
            kind, text = "damaged", self.damaged(text)
        on_node = host in self.info.dbnodes
        program, tail = (". ~/.bash_profile; sqlplus -S / as sysasm", "\nexit\n") if on_node else ("cellcli", "\n")
        line = (
            text
            if on_node and kind == "node"
            else f"{program}{self.chance.choice(('', '', ' -n', ' -x')) if not on_node else ''}"
        )
        given = "" if line == text else text + tail
        terminal: dict[str, Any] = (
            {"term_type": "xterm"} if self.chance.random() < 0.05 and given and kind != "damaged" else {}
        )
        if terminal:
            given += "exit\n"
        source: dict[str, Any] = {"input": given} if given else {"stdin": asyncssh.DEVNULL}
        running = link.run(line, **source, check=False, errors="replace", **terminal)
        if self.chance.random() < 0.04:
            try:
                await asyncio.wait_for(running, self.chance.random())
            except TimeoutError:
                self.done["cut off"] += 1
                link.abort()
                raise asyncssh.ConnectionLost("cut off by us") from None
            return
        try:
            answer = str((await asyncio.wait_for(running, _HUNG_S)).stdout)
        except TimeoutError:
            self.hung.append(f"{host} {'on a terminal ' if terminal else ''}{line!r} {given!r}")
            link.abort()
            raise asyncssh.ConnectionLost("gave no answer") from None
        except BrokenPipeError:
            self.done["would not read"] += 1
            return
        self.done[kind] += 1
        for word in answer.replace(":", " ").split():
            if word.startswith(("CELL-", "ORA-", "SP2-", "PLS-")) and word[-1].isdigit():
                self.codes[word] += 1

    async def disturb(self, home: Path, end: float) -> None:
        """Inject faults that end by themselves, and loads."""
        while time.monotonic() < end:
            await asyncio.sleep(min(20.0, max(0.0, end - time.monotonic())))
            options: dict[str, control.Option] = {"for": 60.0}
            kind = self.chance.choice(KINDS)
            if kind == "error":
                options |= {"code": "CELL-02559", "nth": 2}
            elif kind == "restart":
                options = {"down": 20.0}
            try:
                if self.chance.random() < 0.5:
                    hosts = [self.chance.choice(self.info.cells)]
                    await asyncio.to_thread(control.fault, home, self.name, hosts, kind, **options)
                else:
                    profile = self.chance.choice(("oltp", "dw", "batch", "mixed"))
                    await asyncio.to_thread(control.load, home, self.name, seconds=120.0, profile=profile)
            except EmulatorError as error:
                self.done[f"refused: {error.message[:50]}"] += 1


def descriptors(pid: int) -> int:
    """Return how many files and sockets a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


async def work(home: Path, soaks: list[Soak], seconds: float, clients: int) -> dict[str, list[tuple[int, int]]]:
    """Let all clients work; return memory in MB and open descriptors of each rack ten times in that time."""
    end = time.monotonic() + seconds
    seen: dict[str, list[tuple[int, int]]] = {soak.name: [] for soak in soaks}

    async def watch() -> None:
        while time.monotonic() < end:
            await asyncio.sleep(min(seconds / 10, max(0.0, end - time.monotonic())))
            for soak in soaks:
                assert soak.info.pid is not None
                seen[soak.name].append((memory_mb(soak.info.pid)[0], descriptors(soak.info.pid)))
            print(
                f"{time.strftime('%H:%M:%S')} {sum(sum(soak.done.values()) for soak in soaks)} statements", flush=True
            )

    tasks = [soak.client(end, 1.0) for soak in soaks for _ in range(clients)]
    await asyncio.gather(watch(), *tasks, *(soak.disturb(home, end) for soak in soaks))
    await asyncio.sleep(5)
    for soak in soaks:
        assert soak.info.pid is not None
        seen[soak.name].append((memory_mb(soak.info.pid)[0], descriptors(soak.info.pid)))
    return seen


def main() -> int:
    """Soak and print; the exit status is 1 when a rack failed."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1800.0
    clients = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    bad = 0
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        soaks = []
        for number, (name, options) in enumerate(RACKS.items()):
            info, _ = control.start(home, name, options={"seed": seed, **options}, timeout=120)
            soaks.append(Soak(name=name, info=info, chance=random.Random(seed * 100 + number)))
        seen = asyncio.run(work(home, soaks, seconds, clients))
        for soak in soaks:
            log = (home / "emulator" / soak.name / "log").read_text(encoding="utf-8", errors="replace")
            tracebacks = log.count("Traceback (most recent call last)")
            running = control.status(home, soak.name)[0].running
            began = time.monotonic()
            control.stop(home, soak.name)
            stopped = time.monotonic() - began
            print(f"{soak.name}: {dict(soak.done)}")
            print(f"  codes: {dict(soak.codes.most_common(12))}")
            print(f"  MB and descriptors: {seen[soak.name]}; stopped in {stopped:.1f} s; tracebacks: {tracebacks}")
            print("".join(f"  hung: {text}\n" for text in soak.hung), end="")
            if tracebacks or not running or soak.hung:
                bad += 1
                print(log[-20000:])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
