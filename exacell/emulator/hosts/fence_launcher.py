"""Puts each emulated host behind a fence, and starts the processes of its sessions there.

The rack's process (:mod:`exacell.emulator.hosts.fence`) runs it by path with ``python -I -S`` as ``fence_launcher.py
<descriptor>`` and without an environment. Over that socket come the hosts, a JSON object and a socket each. For a host it
forks a process that gets its own namespaces (users, mounts, processes, network, host name, IPC), builds a root directory, and
continues as process 1 there: it starts the processes that are asked for over the host's socket, and reports how they ended.
It ends when that socket is closed, and with it the kernel ends everything behind the fence.

Behind the fence are: this machine's programs (/usr and what belongs to it, some files of /etc), read-only; the
host's own /etc, /home, /opt, /root, /tmp, /u01 and /var; its own /proc and /sys, read-only, with its processes and the emulated
host's machine, and nothing about this machine; a handful of devices without hardware; the loopback device of its own network.
Processes there have no capability over this machine and can't get one, nor a further user namespace.

Messages over a host's socket: ``marshal`` of (number, argv, directory, environment, size of a terminal or None) with three
descriptors, of (number, signal), or of (0, texts of /proc by path); back come ``R`` (ready, with the listening socket for
programs), ``E text`` (there can be no fence), ``S number`` (started, with a terminal's master), ``F number text``,
``X number status``, and ``C port`` with a connection to one of the rack's ports.

Source: user_namespaces(7), mount_namespaces(7), pid_namespaces(7), capabilities(7), pivot_root(2); overlayfs of the kernel's
documentation.
"""

import ctypes
import errno
import fcntl
import json
import marshal
import os
import resource
import select
import signal
import socket
import stat
import struct
import sys
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
NEW = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x04000000 | 0x08000000  # users mounts processes net uts ipc
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
DETACH = 2
OWN = ("etc", "home", "opt", "root", "tmp", "u01", "var")
PROGRAMS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
EMPTY = ("media", "mnt", "run", "srv", "sys", "proc", "dev", "usr")
SETTINGS: tuple[str, ...] = (
    "alternatives",
    "crypto-policies",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
)
SETTINGS += ("magic", "mime.types", "perl", "pki", "protocols", "services", "terminfo")
"""Files of this machine's /etc that its programs need; none of them has a secret."""
SAME = ("/proc/sys/kernel/random/uuid",)
"""Files of /proc that show nothing about a machine, and differ on each read."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
KEPT = (0, 1, 3, 4, 5, 6, 7, 10)
"""Capabilities over the host's own files, logins and ports: chown, dac_override, fowner, fsetid, kill, setgid, setuid,
net_bind_service."""
FIRST_ID, IDS = 1_600_000_000, 65535
"""Number of the first login other than root on this machine. Such numbers belong to nobody: only root can use them."""
KEYCTL = {"x86_64": 250, "aarch64": 219, "ppc64le": 271, "s390x": 280, "riscv64": 219}
LONGEST = 1 << 20
"""The most bytes in a message."""
ADDRESS = "\0exacell"
"""Where programs behind the fence connect to the rack: a name in the host's own network, which no other host can use."""


def check(result: int, what: str) -> None:
    """Raise OSError if ``result`` is that of a failed system call.

    Raises:
        OSError: it failed.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount ``source`` on ``target``.

    Raises:
        OSError: the kernel refuses.
    """
    words = [os.fsencode(word) for word in (source, target, kind)]
    check(LIBC.mount(*words, ctypes.c_ulong(flags), os.fsencode(data)), target)


def leave() -> None:
    """Give this process its own namespaces; as root, with all ids of a system, otherwise only with our own.

    Raises:
        OSError: this system allows no namespaces.
    """
    uid, gid, own = os.getuid(), os.getgid(), os.getpid()
    waits, goes = os.pipe()
    writer = os.fork()
    if writer == 0:  # the ids are set from outside, by a process that still has its rights there
        os.close(goes)
        os.read(waits, 1)
        os._exit(0 if set_ids(own, uid, gid) else 1)
    failed = LIBC.unshare(NEW) and ctypes.get_errno()
    os.close(waits)
    os.close(goes)
    _, status = os.waitpid(writer, 0)
    if failed or status:
        raise OSError(failed or 1, os.strerror(failed or 1), "user namespace")
    LIBC.unshare(
        0x02000000
    )  # cgroups: their names are this machine's; a kernel without such namespaces has no such names
    mount("none", "/", flags=RECURSIVE | PRIVATE)


def set_ids(process: int, uid: int, gid: int) -> bool:
    """Set the ids of a process's new user namespace; return whether the kernel accepted them."""
    many = f"0 0 1\n1 {FIRST_ID} {IDS}\n"
    for users, groups, rule in (
        *([(many, many, "allow")] if uid == 0 else []),
        (f"{uid} {uid} 1", f"{gid} {gid} 1", "deny"),
    ):
        try:
            for name, text in (("setgroups", rule), ("gid_map", groups), ("uid_map", users)):
                with open(f"/proc/{process}/{name}", "w", encoding="ascii") as file:
                    file.write(text)
        except OSError:
            continue
        return True
    return False


def mount_points(directory: str) -> list[str]:
    """Return the mount points at and below a directory, outermost first."""
    with open("/proc/self/mountinfo", "rb") as file:
        points = [os.fsdecode(line.split(b" ")[4].decode("unicode_escape").encode("latin-1")) for line in file]
    return [point for point in points if point == directory or point.startswith(directory + "/")]


def limit(point: str, flags: int) -> None:
    """Add restrictions to a mount point; those that it has are kept.

    Raises:
        OSError: the kernel refuses.
    """
    kept = os.statvfs(point).f_flag & (READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC)
    mount("none", point, flags=BIND | REMOUNT | kept | flags)


def seal(target: str) -> None:
    """Make all mount points at and below ``target`` read-only.

    Raises:
        OSError: the kernel refuses.
    """
    for point in mount_points(target):
        limit(point, READ_ONLY | NO_SUID)


def show(source: str, target: str) -> None:
    """Show a directory or file of this machine at ``target``, read-only.

    Raises:
        OSError: the kernel refuses.
    """
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644))
    mount(source, target, flags=BIND | RECURSIVE)
    seal(target)


def show_programs(root: str, layer: str) -> None:
    """Show this machine's programs, with the emulated ones in ``layer`` over those in /usr.

    Raises:
        OSError: the kernel refuses.
    """
    for name in PROGRAMS:
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{root}/{name}")
        elif os.path.isdir(f"/{name}"):
            show(f"/{name}", f"{root}/{name}")
    os.chdir(os.path.dirname(layer))
    mount(
        "overlay",
        f"{root}/usr",
        "overlay",
        READ_ONLY | NO_SUID | NO_DEVICES,
        f"lowerdir={os.path.basename(layer)}:/usr",
    )
    for point in mount_points("/usr"):  # an overlay does not show file systems that are mounted inside its layers
        if point != "/usr" and os.path.lexists(root + point):
            show(point, root + point)


def show_settings(root: str) -> None:
    """Show the files of this machine's /etc that programs need. Shells may write in the host's /etc, so no link there is
    followed.

    Raises:
        OSError: the kernel refuses.
    """
    for name in SETTINGS:
        source, target = f"/etc/{name}", f"{root}/etc/{name}"
        if not os.path.lexists(source):
            continue
        there = os.lstat(target).st_mode if os.path.lexists(target) else 0
        if os.path.islink(source):
            if not there:
                os.symlink(os.readlink(source), target)
            continue
        if stat.S_ISLNK(there):
            os.unlink(target)
            there = 0
        if not there and os.path.isdir(source):
            os.mkdir(target)
        elif not there:
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644))
        if stat.S_ISDIR(os.lstat(target).st_mode) == os.path.isdir(source):
            mount(source, target, flags=BIND | RECURSIVE)
            seal(target)


def make_devices(place: str) -> None:
    """Make /dev: devices without hardware, and separate terminals.

    Raises:
        OSError: the kernel refuses.
    """
    mount("dev", place, "tmpfs", NO_SUID | NO_EXEC, "mode=755,size=1m")
    for name in DEVICES:
        os.close(os.open(f"{place}/{name}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        mount(f"/dev/{name}", f"{place}/{name}", flags=BIND)
        limit(
            f"{place}/{name}", READ_ONLY | NO_SUID | NO_EXEC
        )  # the mount keeps its mode and owner; writing to the device still works
    for name in ("pts", "shm"):
        os.mkdir(f"{place}/{name}")
    mount("devpts", f"{place}/pts", "devpts", NO_SUID | NO_EXEC, "newinstance,ptmxmode=0666,mode=620")
    mount("shm", f"{place}/shm", "tmpfs", NO_SUID | NO_DEVICES, "mode=1777,size=256m")
    os.symlink("pts/ptmx", f"{place}/ptmx")
    os.symlink("/proc/self/fd", f"{place}/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{place}/{name}")
    limit(place, READ_ONLY)


def write_under(base: str, path: str, text: str) -> None:
    """Write a file below a directory that belongs to us, and make the directories that lead to it."""
    place = base + path
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as file:
        file.write(text)


def link_device(root: str, path: str, text: str) -> None:
    """Link a disk by its device numbers, where lsblk looks for it.

    Args:
        path: the file with the device numbers, ``/sys/block/sda/dev``.
        text: the content of that file, ``8:0``.
    """
    os.makedirs(f"{root}/sys/dev/block", exist_ok=True)
    os.symlink(f"../../block/{path.split('/')[3]}", f"{root}/sys/dev/block/{text.strip()}")


def show_machine(root: str, path: str) -> int:
    """Let /proc and /sys show the emulated host's machine and nothing about this machine.

    Each file of /proc that does not belong to a process is covered: by the text of the host's machine, or by an empty file.
    Directories are covered too; only the files of :data:`SAME` are still those of this machine's kernel.

    Args:
        path: the JSON file with the texts by path; empty for none.

    Returns:
        A descriptor of the directory that covers /proc, in which the texts can be changed.

    Raises:
        OSError: the kernel refuses.
    """
    texts: dict[str, str] = {}
    if path:
        with open(path, encoding="utf-8") as file:
            texts = json.load(file)
    base = f"{root}/mnt"
    mount("machine", base, "tmpfs", NO_SUID | NO_DEVICES | NO_EXEC, "mode=755,size=4m")
    os.mkdir(f"{base}/proc")
    for name, text in texts.items():
        write_under(base if name.startswith("/proc/") else root, name, text)
        if name.startswith("/sys/block/") and name.endswith("/dev"):
            link_device(root, name, text)
    for name in SAME:
        write_under(base, name, "")
        mount(root + name, base + name, flags=BIND)
        limit(base + name, READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC)
    for entry in list(os.scandir(f"{root}/proc")):
        if entry.name.isdigit() or entry.is_symlink():
            continue
        cover = f"{base}/proc/{entry.name}"
        if entry.is_dir():
            os.makedirs(cover, exist_ok=True)
        elif not os.path.exists(cover):
            write_under(base, f"/proc/{entry.name}", "")
        mount(cover, f"{root}/proc/{entry.name}", flags=BIND | RECURSIVE)
        limit(f"{root}/proc/{entry.name}", READ_ONLY)
    if "/proc/mounts" in texts:
        cover_link(f"{base}/proc/mounts", f"{root}/proc/mounts")
    told = os.open(f"{base}/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    check(LIBC.umount2(os.fsencode(base), DETACH), "umount")
    return told


def cover_link(source: str, link: str) -> None:
    """Mount a file over a link itself if the kernel can do so (5.2 and later); else the link stays as it is.

    Source: open_tree(2), move_mount(2); their numbers are the same on every kind of machine.

    Raises:
        OSError: the kernel refuses.
    """
    mount(source, source, flags=BIND)
    limit(source, READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC)
    tree = LIBC.syscall(428, -100, os.fsencode(source), 1 | os.O_CLOEXEC)  # OPEN_TREE_CLONE
    if tree >= 0:
        moved = LIBC.syscall(429, tree, b"", -100, os.fsencode(link), 4)  # MOVE_MOUNT_F_EMPTY_PATH
        os.close(tree)
        check(moved, link)


def tell(told: int, texts: dict[str, str]) -> None:
    """Change texts that cover /proc. A reader meanwhile sees old and new text, but never an empty file."""
    for name, text in texts.items():
        data = text.encode()
        place = os.open(name.removeprefix("/proc/"), os.O_WRONLY | os.O_CLOEXEC, dir_fd=told)
        try:
            os.pwrite(place, data, 0)
            os.ftruncate(place, len(data))
        finally:
            os.close(place)


def build(host: dict[str, Any]) -> int:
    """Build the host's root directory, make it our root, and return the descriptor of the directory that covers /proc.

    Raises:
        OSError: the kernel refuses.
    """
    root, tree = host["view"], host["tree"]
    # Each small file of /sys takes a page of 4 KiB, and a host of 64 disks has over 600 of them.
    mount("host", root, "tmpfs", NO_SUID | NO_DEVICES, "mode=755,size=16m")
    for name in (*OWN, *EMPTY):
        os.mkdir(f"{root}/{name}")
    for name in OWN:
        mount(f"{tree}/{name}", f"{root}/{name}", flags=BIND)
        limit(f"{root}/{name}", NO_SUID | NO_DEVICES)
    show_programs(root, host["layer"])
    show_settings(root)
    mount("run", f"{root}/run", "tmpfs", NO_SUID | NO_DEVICES, "mode=755,size=256m")
    for target, source in host["shown"].items():
        show(source, root + target)
    make_devices(f"{root}/dev")
    mount("proc", f"{root}/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC)
    with open(f"{root}/proc/sys/user/max_user_namespaces", "w", encoding="ascii") as file:
        file.write("0")
    told = show_machine(root, host["machine"])
    limit(f"{root}/proc", READ_ONLY)
    limit(root, READ_ONLY)
    os.chdir(root)
    check(LIBC.pivot_root(b".", b"."), "pivot_root")
    check(LIBC.umount2(b".", DETACH), "umount")
    os.chdir("/")
    return told


def raise_loopback() -> None:
    """Switch on the loopback device of our network.

    Raises:
        OSError: the kernel refuses.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


def listen(ports: list[int]) -> tuple[socket.socket, dict[int, socket.socket]]:
    """Return the socket at which programs reach the rack, and by descriptor the listeners for the rack's hosts.

    Raises:
        OSError: the kernel refuses.
    """
    programs = socket.socket(socket.AF_UNIX)
    programs.bind(ADDRESS)
    programs.listen(128)
    listeners = {}
    for port in ports:
        listener = socket.create_server(("127.0.0.1", port), backlog=128)
        listeners[listener.fileno()] = listener
    return programs, listeners


def receive(link: socket.socket) -> tuple[bytes, list[int]]:
    """Return a message and its descriptors, which programs do not inherit; empty when the other end is closed.

    Raises:
        OSError: nothing can be received.
    """
    # socket.recv_fds of CPython 3.11 forgets its flags.
    data, ancillary, *_ = link.recvmsg(LONGEST, socket.CMSG_LEN(3 * 4), socket.MSG_CMSG_CLOEXEC)
    packed = b"".join(
        item for level, kind, item in ancillary if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
    )
    return data, list(struct.unpack(f"{len(packed) // 4}i", packed[: len(packed) // 4 * 4]))


class Init:
    """Process 1 of a host.

    Args:
        link: the socket to the rack's process.
        listeners: the sockets at which connections to the rack's hosts arrive.
        told: descriptor of the directory that covers /proc.
    """

    def __init__(self, link: socket.socket, listeners: dict[int, socket.socket], told: int) -> None:
        self._link, self._listeners, self._told = link, listeners, told
        self._numbers: dict[int, int] = {}

    def serve(self) -> None:
        """Start and signal processes until the rack's process is gone."""
        wakes, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        poll = select.poll()
        for descriptor in (self._link.fileno(), wakes, *self._listeners):
            poll.register(descriptor, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wakes:
                    os.read(wakes, 4096)
                    self._reap()
                elif descriptor in self._listeners:
                    self._pass_on(self._listeners[descriptor])
                elif not self._receive():
                    return

    def say(self, text: str, *descriptors: int) -> None:
        """Send a message to the rack's process."""
        socket.send_fds(self._link, [text.encode("utf-8", "replace")], descriptors)

    def _reap(self) -> None:
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if process in self._numbers:
                self.say(f"X {self._numbers.pop(process)} {os.waitstatus_to_exitcode(status)}")

    def _pass_on(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            self.say(f"C {listener.getsockname()[1]}", connection.fileno())

    def _receive(self) -> bool:
        """Carry out one message; return False when there will be no more."""
        data, descriptors = receive(self._link)
        if not data:
            return False
        number, *words = marshal.loads(data)
        if number == 0:
            tell(self._told, words[0])
            return True
        if len(words) == 1:
            for process in (process for process, known in self._numbers.items() if known == number):
                try:
                    os.killpg(process, words[0])
                except ProcessLookupError:
                    break  # it has ended, and this is reported in a moment
            return True
        master = -1
        try:
            if words[3]:
                master, slave = os.openpty()
                fcntl.ioctl(
                    slave, 0x5414, struct.pack("HHHH", *(number & 0xFFFF for number in words[3]), 0, 0)
                )  # TIOCSWINSZ
                descriptors = [slave]
            process = os.fork()
            if process == 0:
                become(descriptors, *words)
            self._numbers[process] = number
            self.say(f"S {number}", *([master] if master >= 0 else []))
        except OSError as error:
            self.say(f"F {number} {error.strerror}")
        for descriptor in (*descriptors, *([master] if master >= 0 else [])):
            os.close(descriptor)
        return True


def become(
    streams: list[int], argv: list[str], directory: str, environment: dict[str, str], terminal: tuple[int, int] | None
) -> None:
    """Become the process that was asked for; does not return."""
    try:
        os.setsid()
        if terminal:
            fcntl.ioctl(streams[0], 0x540E, 0)  # TIOCSCTTY
        for target in range(3):
            os.dup2(streams[target % len(streams)], target)
        os.closerange(3, 4096)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for capability in range(64):
            if capability not in KEPT and LIBC.prctl(24, capability, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
                break  # the kernel knows no further capabilities
        check(LIBC.prctl(38, 1, 0, 0, 0), "no_new_privs")
        os.chdir(directory if os.path.isdir(directory) else "/")
        os.execve(argv[0], argv, environment)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def be_called(name: str) -> None:
    """Change this process's name in ps to that of a host's first process, so that no path of this machine is shown."""
    LIBC.prctl(15, os.path.basename(name).encode(), 0, 0, 0)  # PR_SET_NAME
    with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
        begin, end = map(int, file.read().rpartition(")")[2].split()[45:47])  # arg_start, arg_end of proc(5)
    ctypes.memset(begin, 0, end - begin)
    ctypes.memmove(begin, name.encode()[: end - begin - 1], min(len(name), end - begin - 1))


def be_host(host: dict[str, Any], link: socket.socket) -> None:
    """Become the first process of a host; ends with the host."""
    try:
        leave()
        if os.fork():
            os._exit(0)
        for number in (signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        with open("/proc/self/setgroups", encoding="ascii") as file:
            if file.read().strip() == "allow":
                os.setgroups([])
        if LIBC.syscall(KEYCTL[os.uname().machine], 1, None) < 0 and ctypes.get_errno() != errno.ENOSYS:
            raise OSError(errno.EPERM, "no keyring of its own")
        be_called("/sbin/init")
        name = host["name"].encode()
        check(LIBC.sethostname(name, len(name)), "host name")
        told = build(host)
        check(LIBC.prctl(4, 0, 0, 0, 0), "dumpable")
        raise_loopback()
        programs, listeners = listen(host["ports"])
        init = Init(link, listeners, told)
        os.umask(0o022)
        init.say("R", programs.fileno())
        programs.close()
    except (OSError, KeyError) as error:
        what = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) else "unknown kind of machine"
        socket.send_fds(link, [f"E {what}".encode("utf-8", "replace")], [])
        os._exit(1)
    init.serve()
    os._exit(0)


def main() -> None:
    """Fork a first process for each host that the rack asks for, until the rack's process is gone."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    asked.set_inheritable(False)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        data, descriptors = receive(asked)
        if not data:
            return
        link = socket.socket(fileno=descriptors[0])
        if os.fork() == 0:
            asked.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            be_host(json.loads(data), link)
        link.close()


if __name__ == "__main__":
    main()
