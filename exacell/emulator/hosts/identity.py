"""The identity of emulated hosts over SSH: keys, ports, and the files with which other programs know them."""

from __future__ import annotations

import errno
import secrets
import socket
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from asyncssh import SSHKey, generate_private_key, read_private_key

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.store import RackFiles, read_json, write_json, write_text
from exacell.emulator.hosts.fence import SSH
from exacell.emulator.hosts.kinds import HostKind

LOOPBACK = "127.0.0.1"
SSH_PORT = 22
_BLOCK, _BLOCKS, _LAST = 600, 99, 250
"""Addresses for the hosts of a rack, number of racks with different addresses, and hosts in one of their networks."""

_FIRST_PORT = 10000
_DRAWS = 20
"""Ports that are tried before the system chooses one."""
_LENT_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST_LENT_PORT = 32768


def client_keys(files: RackFiles) -> str:
    """Return the public keys that may log in on all hosts, one a line: the operator's, and the database nodes'."""
    files.nodes.mkdir(mode=0o700, exist_ok=True)
    return _client_key(files, files.identity) + _client_key(files, files.nodes / files.identity.name)


def _client_key(files: RackFiles, path: Path) -> str:
    if not path.exists():
        key = generate_private_key("ssh-ed25519", comment=f"exacell emulator {files.name}")
        write_text(path.with_suffix(".pub"), key.export_public_key().decode("ascii"), mode=0o644)
        write_text(path, key.export_private_key().decode("ascii"))
    return read_private_key(path).export_public_key().decode("ascii")


def host_key(files: RackFiles, host: str, *, other: bool = False) -> SSHKey:
    """Return the host's private key; it is made on first use and never changes.

    Args:
        other: return another key, which no client knows, as if the machine had been replaced.
    """
    path = files.host_key(host)
    if other:
        path = path.with_name(f"{path.name}.other")
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_text(path, generate_private_key("ssh-ed25519", comment=host).export_private_key().decode("ascii"))
    return read_private_key(path)


def bind_all(files: RackFiles, hosts: Iterable[str]) -> dict[str, socket.socket]:
    """Return a bound loopback socket for every host, on its last port if that is free."""
    last = read_json(files.ports) or {}
    sockets: dict[str, socket.socket] = {}
    # Old ports first: a host that needs a new port must not be given one that another host had.
    for host in sorted(hosts, key=lambda host: host not in last):
        sockets[host] = _bind(last.get(host))
    write_json(files.ports, {host: bound.getsockname()[1] for host, bound in sockets.items()})
    return sockets


def bind_port_22(files: RackFiles, hosts: Sequence[str]) -> dict[str, socket.socket]:
    """Return a socket for every host, bound to port 22 of its own loopback address; hosts keep their last addresses.

    Raises:
        EmulatorError: this user may not bind that port, or another process has it.
    """
    known = (
        [line.split() for line in files.addresses.read_text(encoding="ascii").splitlines()]
        if files.addresses.exists()
        else []
    )
    last = {name: address for address, name in known}
    first = zlib.crc32(files.name.encode()) % _BLOCKS
    drawn = [_block((first + draw) % _BLOCKS, hosts) for draw in range(_DRAWS)]
    for addresses in [last] if set(last) == set(hosts) else drawn:
        sockets: dict[str, socket.socket] = {}
        try:
            for host in hosts:
                sockets[host] = socket.socket()
                sockets[host].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sockets[host].bind((addresses[host], SSH_PORT))
                # With that option two processes may bind the port until one of them listens.
                sockets[host].listen()
        except OSError as error:
            for bound in sockets.values():
                bound.close()
            if error.errno != errno.EADDRINUSE:
                raise EmulatorError(
                    f"port22=yes: no port {SSH_PORT} for host {host}: {error.strerror}",
                    hint="run it as root, allow it (sysctl net.ipv4.ip_unprivileged_port_start=22), or start with port22=no",
                ) from error
            continue
        write_text(files.addresses, "".join(f"{addresses[host]}\t{host}\n" for host in hosts), mode=0o644)
        return sockets
    raise EmulatorError(
        f"port22=yes: somebody has port {SSH_PORT} of all addresses, or of those that this rack had",
        hint="an sshd of this machine: let it listen on its own addresses only (ListenAddress); or start with port22=no",
    )


def _block(number: int, hosts: Sequence[str]) -> dict[str, str]:
    """Return an address of 127.0.0.0/16 for each host; addresses below 127.0.16.0 are left to the system."""
    places = [number * _BLOCK + place for place in range(len(hosts))]
    return {host: f"127.0.{16 + place // _LAST}.{1 + place % _LAST}" for host, place in zip(hosts, places, strict=True)}


def _bind(port: object) -> socket.socket:
    first = _first_lent_port()
    draw = secrets.SystemRandom()
    fresh = [draw.randrange(_FIRST_PORT, first) for _ in range(_DRAWS)] if first > _FIRST_PORT else []
    for wanted in (*([port] if isinstance(port, int) else []), *fresh, 0):
        bound = socket.socket()
        if wanted == port:
            # Connections of the rack's last run keep the port for a minute. A new port must belong to nobody: with this option,
            # two processes that bind it at the same time both get it, and one of them can't listen.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((LOOPBACK, wanted))
        except OSError:
            bound.close()
        else:
            return bound
    raise EmulatorError(f"no free port on {LOOPBACK}", hint="end what holds them: ss -ltn lists it")


def _first_lent_port() -> int:
    """Return the first of the ports that the system gives to outgoing connections: one of those may be in use when a rack is
    started again. Source: ip(7), ip_local_port_range; its default if it can't be read.
    """
    try:
        return int(_LENT_PORTS.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return _FIRST_LENT_PORT


def write_client_files(
    files: RackFiles, kinds: Mapping[str, HostKind], ports: Mapping[str, int], addresses: Mapping[str, str]
) -> None:
    """Write known_hosts and ssh_config for the hosts in ``kinds``, in that order: one set for this machine, one for the nodes.

    Args:
        addresses: the hosts' addresses on the storage network, which scripts read from cellip.ora.

    Raises:
        EmulatorError: the rack's path has a character that can't be written in an ssh_config.
    """
    public = {host: host_key(files, host).export_public_key().decode("ascii").split() for host in kinds}
    own = dict.fromkeys(kinds, "")
    if files.addresses.exists():
        own |= {
            name: f",{address}" for address, name in map(str.split, files.addresses.read_text("ascii").splitlines())
        }
    known = "".join(f"{host}{own[host]} {algorithm} {key}\n" for host, (algorithm, key, *_) in public.items())
    head = f"# The emulated rack {files.name}; written at every start.\n"
    for directory, seen in ((files.root, str(files.root)), (files.nodes, SSH)):
        write_text(directory / files.known_hosts.name, known, mode=0o644)
        blocks = [f"Host {host}\n{_reach(seen, host, kind, ports[host])}" for host, kind in kinds.items()]
        # Match instead of a second pattern of Host, so that programs that list the file's hosts find each host once, by its name.
        blocks += [
            f"Match originalhost {address}\n{_reach(seen, host, kinds[host], ports[host])}"
            for host, address in addresses.items()
        ]
        write_text(directory / files.ssh_config.name, head + "\n".join(blocks), mode=0o644)


def _reach(directory: str, host: str, kind: HostKind, port: int) -> str:
    # GlobalKnownHostsFile: a machine that knows a real cell of the same name must not reject the emulated one.
    return f"""\
    HostName {LOOPBACK}
    Port {port}
    User {kind.login}
    HostKeyAlias {host}
    UserKnownHostsFile {_quoted(directory + "/known_hosts")}
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    IdentityFile {_quoted(directory + "/id_ed25519")}
    IdentitiesOnly yes
    PasswordAuthentication no
"""


def _quoted(path: str) -> str:
    """Return a path as an ssh_config value: quoted because of blanks, and with % doubled because % begins a token there.

    Source: ssh_config(5), "arguments may optionally be enclosed in double quotes" and TOKENS.
    """
    if '"' in path or "${" in path or "\n" in path:
        raise EmulatorError(
            f"ssh_config can't name {path}: it holds \", ${{ or a line end; choose another EXACELL_HOME"
        )
    return '"' + path.replace("%", "%%") + '"'
