"""Starts a command of an emulated host in a view of the machine in which the host's own files are in their places.

Run by path with ``python -I -S`` as ``view_launcher.py <tree> <mount point> <root's home> <rack> <command> <argument>…``. In a
mount namespace of its own it puts together a root directory: everything that the machine has, and over it the files below
``tree``, such as ``/etc/oratab`` and ``/u01``. Nothing outside of the emulator's folder is written: what the machine has in
/etc, /opt and /usr can only be read there. /opt is the host's own besides, in which root may install something. Where the
system allows no namespace, the command runs without the view.

It starts with every shell, so it imports nothing that takes time.
Source: mount_namespaces(7), user_namespaces(7), overlayfs of the Linux kernel's documentation.
"""

import ctypes
import os
import sys

NEW_MOUNTS, NEW_USERS = 0x00020000, 0x10000000
BIND, RECURSIVE, PRIVATE = 4096, 16384, 1 << 18
REMOUNT, READ_ONLY = 32, 1
WRITABLE = ("opt",)
"""Directories at the top and below /etc in which root may install something: agents live in /opt, their settings in /etc/opt."""
LIBC = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Turn the failure of a system call into an exception.

    Raises:
        OSError: it failed.
    """
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount ``source`` on ``target``; relative names of an overlay's layers start at the current directory.

    Raises:
        OSError: the kernel refuses.
    """
    words = [os.fsencode(word) for word in (source, target, kind)]
    check(LIBC.mount(*words, ctypes.c_ulong(flags), os.fsencode(data)), target)


def leave_namespaces() -> None:
    """Get a mount namespace of our own, with the help of a user namespace for those who may not have it otherwise.

    Raises:
        OSError: this system allows neither.
    """
    uid, gid = os.getuid(), os.getgid()
    if LIBC.unshare(NEW_MOUNTS) != 0:
        check(LIBC.unshare(NEW_MOUNTS | NEW_USERS), "unshare")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    mount("none", "/", flags=RECURSIVE | PRIVATE)


def mount_points(directory: str) -> list[str]:
    """Return what is mounted below a directory, outermost first."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        points = [line.split(" ")[4] for line in file]
    return [point for point in points if point.startswith(directory + "/") and "\\" not in point]


def lay_over(tree: str, name: str, target: str) -> None:
    """Show the machine's directory ``/name`` at ``target`` with what ``tree`` has of that name in its places.

    Raises:
        OSError: the kernel refuses.
    """
    os.chdir(tree)
    mount("overlay", target, "overlay", data=f"lowerdir={name}:/{name}")
    for point in mount_points(f"/{name}"):  # an overlay does not show what is mounted inside of its layers
        if os.path.lexists(target + point[len(name) + 1 :]):
            mount(point, target + point[len(name) + 1 :], flags=BIND | RECURSIVE)
    for child in os.listdir(name):
        if child in WRITABLE or not os.path.isdir(
            f"/{name}/{child}"
        ):  # what both have, the overlay merges; the host's own can be written
            mount(f"{tree}/{name}/{child}", f"{target}/{child}", flags=BIND)


def lay_beside(tree: str, name: str, target: str) -> None:
    """Show the host's own directory ``name`` at ``target``, to be written to, with what the machine's has besides, to be read.

    Raises:
        OSError: the kernel refuses.
    """
    own = f"{tree}/{name}"
    mount(own, target, flags=BIND)
    for entry in os.scandir(f"/{name}"):
        place = f"{target}/{entry.name}"
        if entry.is_symlink():
            if not os.path.lexists(place):
                os.symlink(os.readlink(entry.path), place)
        elif entry.is_dir():
            if not os.path.lexists(place):
                os.mkdir(place)
            if not os.listdir(f"{own}/{entry.name}"):  # what the host has of its own hides the machine's
                mount(entry.path, place, flags=BIND | RECURSIVE)
                mount(entry.path, place, flags=BIND | REMOUNT | READ_ONLY)


def show_home(home: str, target: str, rack: str) -> None:
    """Show the emulated root's home directory at ``target``, the place of /root.

    Args:
        rack: the rack's folder when something that shells need is below the machine's /root, which then shines through.

    Raises:
        OSError: the kernel refuses.
    """
    if not rack:
        mount(home, target, flags=BIND)
        return
    os.chdir(os.path.dirname(home))
    mount("overlay", target, "overlay", data=f"lowerdir={os.path.basename(home)}:/root")
    if rack.startswith("/root/"):
        mount(rack, target + rack.removeprefix("/root"), flags=BIND | RECURSIVE)


def build(tree: str, root: str, home: str, rack: str) -> None:
    """Put the root directory together at ``root``.

    Raises:
        OSError: the kernel refuses.
    """
    mount("view", root, "tmpfs", data="mode=755")
    own = set(os.listdir(tree))
    for entry in os.scandir("/"):
        target = f"{root}/{entry.name}"
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), target)
        elif entry.is_dir():
            os.mkdir(target)
            if entry.name == "root" and home:
                show_home(home, target, rack)
            elif entry.name in own and entry.name in WRITABLE:
                lay_beside(tree, entry.name, target)
            elif entry.name in own:
                lay_over(tree, entry.name, target)
            else:
                mount(entry.path, target, flags=BIND | RECURSIVE)
    for name in own:
        if not os.path.lexists(f"{root}/{name}"):
            os.mkdir(f"{root}/{name}")
            mount(f"{tree}/{name}", f"{root}/{name}", flags=BIND)


def main() -> None:
    """Run the command, in the view where that is possible."""
    tree, root, home, rack, *command = sys.argv[1:]
    directory = os.getcwd()
    try:
        leave_namespaces()
        build(tree, root, home, rack)
        os.chroot(root)
    except OSError as error:
        if command == ["--probe"]:
            sys.exit(f"{error.strerror}: {error.filename}")
    if command == ["--probe"]:
        return
    try:
        os.chdir(directory)
    except OSError:
        os.chdir("/")
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
