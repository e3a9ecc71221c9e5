"""Linux guests with real SCSI limits: Debian's kernel in QEMU without KVM, an sshd on a loopback port, no way out.

A guest has a PVSCSI disk (sda), one of scsi_debug that reports an optimal transfer length of 8192 blocks (sdb), nullb0 and loop
devices. The first one has two processors in two NUMA nodes, a virtio disk (vda) and a vmxnet3 card with two queues each. A
guest is an initramfs of the kernel's modules and of programs of this machine with the libraries that they load: nothing is
installed in it, and it forgets everything when it ends. Where open-iscsi can be had a guest has it, too, and reaches one other
guest, ``STORAGE``, at its own address. Its packages are unpacked beside the kernel's and never installed, so that no iscsid is
started on this machine.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.support.patience import until
from tests.support.sshd import free_port

SEARCHED = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INSIDE = ("busybox", "dropbear", "tee", "sg_vpd", "fio", "iostat", "ethtool", "dmsetup")
INITIATOR = ("iscsid", "iscsiadm")
HERE = ("qemu-system-x86_64", "dropbearkey", "ssh-keygen", "modprobe", "depmod", "ldd")
MODULES = (
    *("sd_mod", "sg", "vmw_pvscsi", "e1000", "vmxnet3", "virtio_pci", "virtio_blk", "loop", "null_blk", "scsi_debug"),
    # The initiator, paths and the kernel's own target (LIO). A guest has no modprobe, so what they ask for later is there before.
    *("crc32c_generic", "iscsi_tcp", "dm_multipath", "dm_round_robin", "target_core_mod", "iscsi_target_mod"),
)
OPTIONS = {"scsi_debug": "dev_size_mb=64 opt_blks=8192 opt_xferlen_exp=3", "null_blk": "nr_devices=1 gb=1"}

STORAGE = "san"
PORTAL = "10.0.2.100"
"""The guest with the targets, and its address, as it and the others know it."""

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run/lock /var/log /root /usr/bin
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev; mkdir -p /dev/pts; mount -t devpts pts /dev/pts
chmod 700 /root /root/.ssh; chmod 1777 /tmp
while read -r module options; do
  # Disks are named in the order in which they are found: the PVSCSI one is sda only if it is there first.
  case $module in scsi_debug*) while [ ! -e /sys/block/sda/queue ]; do usleep 100000; done;; esac
  insmod /modules/$module $options
done < /modules/order
asked() { sed -n "s/.*$1=\\([^ ]*\\).*/\\1/p" /proc/cmdline; }
hostname "$(asked guest)"
ifconfig lo 127.0.0.1 up; ifconfig eth0 "$(asked address)" netmask 255.255.255.0 up
echo "guest is ready" > /dev/console
exec dropbear -F -E -s -r /etc/dropbear_host_key
"""


def program(name: str) -> str:
    """Return where a program of this machine is; empty where there is none."""
    return shutil.which(name, path=SEARCHED) or ""


def missing() -> list[str]:
    """Return the programs that guests need and this machine lacks."""
    return [name for name in (*INSIDE, *HERE) if not program(name)]


def kernel(place: Path) -> Path:
    """Return the folder of Debian's kernel with its modules, which is downloaded into ``place`` if it is not there yet.

    Raises:
        OSError: it can't be had; the message says what apt-get or dpkg-deb said.
    """
    if not list(place.glob("boot/vmlinuz-*")):
        _unpack(place, *_needed_by("linux-image-amd64", "linux-image-"))
    return place


def initiator(place: Path) -> Path:
    """Return the folder of Debian's open-iscsi with the libraries of its own, as ``kernel`` does."""
    if not all(_unpacked(place, name) for name in INITIATOR):
        _unpack(place, "open-iscsi", *_needed_by("open-iscsi", "libopeniscsiusr"), *_needed_by("open-iscsi", "libisns"))
    return place


def _needed_by(package: str, start: str) -> list[str]:
    """Return the packages whose names begin so, and that a package depends on."""
    found = re.findall(rf"Depends: ({start}\S*)", _ran("apt-cache", "depends", package))
    if not found:
        raise OSError(f"apt-cache knows no {package}, or nothing like {start} that it needs")
    return found


def _unpack(place: Path, *packages: str) -> None:
    _ran("apt-get", "download", *packages, cwd=place)
    for package in place.glob("*.deb"):
        _ran("dpkg-deb", "-x", str(package), str(place))
        package.unlink()


def _unpacked(place: Path, name: str) -> str:
    return shutil.which(name, path=f"{place}/usr/sbin:{place}/sbin") or ""


def _ran(*words: str, cwd: Path | None = None) -> str:
    path = program(words[0])
    if not path:
        raise OSError(f"there is no {words[0]} here")
    done = subprocess.run([path, *words[1:]], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise OSError(f"{words[0]}: {done.stderr.strip()}")
    return done.stdout


def _modules(image: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the modules that a guest loads, in this order, with their options."""
    root = image if (image / "lib/modules").is_dir() else image / "usr"
    (release,) = (each.name for each in (root / "lib/modules").iterdir())
    if not (root / "lib/modules" / release / "modules.dep.bin").exists():
        _ran("depmod", "-b", str(root), release)
    seen: dict[str, Path] = {}
    for module in MODULES:
        shown = _ran("modprobe", "-d", str(root), "-S", release, "--show-depends", module)
        for path in re.findall(r"^insmod (\S+)", shown, re.MULTILINE):
            seen.setdefault(Path(path).name, Path(path))
    order = []
    for name, path in seen.items():
        plain, content = name, path.read_bytes()
        if name.endswith(".xz"):
            plain, content = name[:-3], lzma.decompress(content)
        yield f"modules/{plain}", content
        order.append(f"{plain} {OPTIONS.get(plain.removesuffix('.ko'), '')}\n")
    yield "modules/order", "".join(order).encode()


def _programs(unpacked: Path | None) -> Iterator[tuple[str, bytes]]:
    """Yield the programs of a guest and the libraries that they load.

    Args:
        unpacked: where open-iscsi is, if it is.
    """
    libraries = set()
    paths = {name: program(name) for name in INSIDE}
    environment = dict(os.environ)
    if unpacked is not None:
        paths |= {name: _unpacked(unpacked, name) for name in INITIATOR}
        environment["LD_LIBRARY_PATH"] = ":".join(str(path) for path in unpacked.glob("usr/lib/*-linux-gnu"))
        yield "etc/iscsi/iscsid.conf", (unpacked / "etc/iscsi/iscsid.conf").read_bytes()
    for name, path in paths.items():
        yield f"bin/{name}", Path(path).read_bytes()
        # ldd ends with 1 for a program that needs no library.
        shown = subprocess.run([program("ldd"), path], env=environment, capture_output=True, text=True, check=False)
        libraries |= set(re.findall(r"(/\S+) \(0x", shown.stdout))
    for path in sorted(libraries):
        yield path.removeprefix(str(unpacked))[1:], Path(path).read_bytes()


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return an initramfs: folders and files of root, files executable. Source: the kernel's initramfs buffer format."""
    folders = {str(parent) for name in files for parent in Path(name).parents} - {"."}
    entries = [(name, stat.S_IFDIR | 0o755, b"") for name in sorted(folders)]
    entries += [(name, stat.S_IFREG | 0o700, content) for name, content in files.items()]
    found = bytearray()
    for number, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        for part in (b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0", content):
            found += part
            found += b"\0" * (-len(found) % 4)
    return bytes(found)


class Guests:
    """Guests that run; use as a context manager. ``rack`` is a rack of them alone, as the host group ``initiators``."""

    def __init__(self, folder: Path, image: Path, names: tuple[str, ...], unpacked: Path | None = None) -> None:
        self.folder, self.names = folder, names
        self._image, self._unpacked = image, unpacked
        self.without_initiator = ""
        """Why they have no open-iscsi; empty where they have it."""
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._open = ExitStack()
        self.ports = {name: free_port() for name in (*names, STORAGE)}
        self._portal = free_port()

    def __enter__(self) -> Guests:
        _ran("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / "login"))
        _ran("dropbearkey", "-t", "ed25519", "-f", str(self.folder / "host"))
        shown = _ran("dropbearkey", "-y", "-f", str(self.folder / "host"))
        (key,) = re.findall(r"^ssh-ed25519 \S+", shown, re.MULTILINE)
        files = {
            "init": INIT.encode(),
            "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\n",
            "etc/group": b"root:x:0:\n",
            "etc/shells": b"/bin/sh\n",
            "etc/dropbear_host_key": (self.folder / "host").read_bytes(),
            "root/.ssh/authorized_keys": (self.folder / "login.pub").read_bytes(),
            **dict(_programs(self._unpacked)),
            **dict(_modules(self._image)),
        }
        (self.folder / "initrd").write_bytes(gzip.compress(archive(files), 1))
        try:
            for name in self.names:
                self.boot(name)
            self._known(key)
            for name in self.names:
                self.ready(name)
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def boot(self, name: str) -> None:
        """Start a guest, on its port; it is not yet ready."""
        address, ways = "10.0.2.15", f"guestfwd=tcp:{PORTAL}:3260-cmd:{program('busybox')} nc 127.0.0.1 {self._portal}"
        if name == STORAGE:
            address, ways = PORTAL, f"hostfwd=tcp:127.0.0.1:{self._portal}-{PORTAL}:3260"
        disk = self.folder / f"{name}.img"
        with disk.open("ab") as file:
            file.truncate(128 << 20)
        (linux,) = self._image.glob("boot/vmlinuz-*")
        console = self._open.enter_context((self.folder / f"{name}.console").open("wb"))
        self._processes[name] = subprocess.Popen(
            (
                *(program("qemu-system-x86_64"), "-accel", "tcg,thread=multi", "-m", "512"),
                *(self._several_queues(name) if name == self.names[0] else ("-smp", "1")),
                *("-nographic", "-no-reboot", "-monitor", "none", "-kernel", linux, "-initrd", self.folder / "initrd"),
                *(
                    "-append",
                    f"console=ttyS0 quiet no_timer_check panic=1 guest={name} address={address}",
                    "-device",
                    "pvscsi",
                ),
                *("-drive", f"file={disk},format=raw,if=none,id=disk", "-device", "scsi-hd,drive=disk"),
                *("-nic", f"user,model=e1000,restrict=on,hostfwd=tcp:127.0.0.1:{self.ports[name]}-{address}:22,{ways}"),
            ),
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
        )

    def _several_queues(self, name: str) -> Iterator[str]:
        """Yield what gives a guest two processors and NUMA nodes, a disk and a card with two queues. The card reaches nothing."""
        disk = self.folder / f"{name}.vda"
        with disk.open("ab") as file:
            file.truncate(64 << 20)
        yield from ("-smp", "2,sockets=2,cores=1")
        for node in (0, 1):
            yield from ("-object", f"memory-backend-ram,id=ram{node},size=256M")
            yield from ("-numa", f"node,nodeid={node},cpus={node},memdev=ram{node}")
        yield from ("-drive", f"file={disk},format=raw,if=none,id=queues")
        yield from ("-device", "virtio-blk-pci,drive=queues,num-queues=2")
        yield from ("-netdev", "hubport,id=nowhere,hubid=1", "-device", "vmxnet3,netdev=nowhere")

    def ready(self, name: str) -> None:
        """Wait until a guest answers by ssh.

        Raises:
            AssertionError: it does not, or has ended; the message is the end of its console.
        """
        process = self._processes[name]
        until(lambda: process.poll() is not None or self.said(name, "echo here") == "here\n")
        console = (self.folder / f"{name}.console").read_text(errors="replace")
        assert self.said(name, "echo here") == "here\n", console[-2000:]

    def end(self, *names: str) -> None:
        """End guests, or all, as a loss of power does."""
        for name in names or tuple(self._processes):
            process = self._processes.pop(name)
            process.kill()
            process.wait()
        if not self._processes:
            self._open.close()

    def said(self, name: str, command: str, given: str = "") -> str:
        """Return what a command says on a guest, asked by OpenSSH; nothing where it can't be reached.

        Args:
            given: its standard input.
        """
        words = ["ssh", "-F", str(self.folder / "ssh_config"), "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", name]
        done = subprocess.run([*words, command], input=given, capture_output=True, text=True, timeout=300, check=False)
        return done.stdout

    def rack(self, home: Path) -> None:
        """Write a rack ``lab`` of the guests into a home of exacell."""
        (home / "racks.d").mkdir(parents=True)
        (home / "racks.d" / "lab.toml").write_text(
            f'ssh_config = "{self.folder}/ssh_config"\nlock = "{home}/lock"\nopaque = "allow"\n'
            'connect_timeout = "30s"\ncommand_timeout = "4m"\n'
            f'[hosts.initiators]\nnodes = "{",".join(self.names)}"\nuser = "root"\n'
        )

    def _known(self, key: str) -> None:
        """Write ssh_config and known_hosts: guests by name, checked by their host key."""
        lines = [f"Host {name}\n Port {port}\n" for name, port in self.ports.items()]
        lines.append(
            f"Host *\n HostName 127.0.0.1\n User root\n IdentityFile {self.folder}/login\n IdentitiesOnly yes\n"
            f" IdentityAgent none\n UserKnownHostsFile {self.folder}/known_hosts\n GlobalKnownHostsFile none\n"
        )
        (self.folder / "ssh_config").write_text("".join(lines))
        known = "".join(f"[127.0.0.1]:{port} {key}\n" for port in self.ports.values())
        (self.folder / "known_hosts").write_text(known)
