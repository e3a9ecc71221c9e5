"""The one file for Linux on x86-64 that needs no Python and no libc of the host: launcher.c, and behind it what it unpacks.

The interpreter and its libraries are Debian's packages, as apt of the building machine has and checks them; exacell and its
libraries are the wheels. Nothing is taken that is under the GPL (readline, gdbm), that another library brings already (OpenSSL),
or that nothing here uses.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ZSTD = "/usr/lib/x86_64-linux-gnu/libzstd.a"
MAGIC = b"exacell1"
_LEVEL = 12
"""Of zstd; 19 makes the file a tenth smaller, and takes ten times as long."""
_SHARED = "libc6 libexpat1 zlib1g libsqlite3-0 libffi8 liblzma5 libbz2-1.0 libgcc-s1 libstdc++6"
_BUILT_IN = "musl-dev libzstd-dev"
"""What the launcher is linked with."""
_LIBRARIES = (
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libresolv.so.2",
    "libexpat.so.1", "libz.so.1", "libsqlite3.so.0", "libffi.so.8", "liblzma.so.5", "libbz2.so.1.0", "libgcc_s.so.1",
    "libstdc++.so.6",
)  # fmt: skip
_LEFT_OUT = [
    "_crypt",
    "_ctypes_test",
    "_curses",
    "_curses_panel",
    "_dbm",
    "_gdbm",
    "_hashlib",
    "_ssl",
    "_test*",
    "_tkinter",
    "_uuid",
    "_xx*",
    "_codecs_*",
    "audioop",
    "nis",
    "ossaudiodev",
    "readline",
    "xxlimited*",
]
"""Modules of the interpreter in C that are not taken."""
_NOT_NEEDED = [
    "test",
    "idlelib",
    "lib2to3",
    "tkinter",
    "turtledemo",
    "turtle.py",
    "ensurepip",
    "distutils",
    "pydoc_data",
    "venv",
    "unittest/test",
    "EXTERNALLY-MANAGED",
    "sitecustomize.py",
    "curses",
    "dbm",
    "_distutils_system_mod.py",
]
_OF_LIBRARIES = (
    "tests",
    "test",
    "testing/tests",
    "include",
    "conftest.py",
    "*.pyi",
    "*.a",
    "*.pxd",
    "*.h",
    "direct_url.json",
    "RECORD",
)
_OWN = "zstandard==0.25.0"
"""What the tools' environment has for this module."""
tools = (_OWN,)


@dataclass(frozen=True)
class Package:
    """A package of Debian that the file has parts of."""

    name: str
    version: str
    source: str
    licence: bytes


def missing() -> list[str]:
    """Return the programs and files without which it is not built."""
    programs = [name for name in ("apt-get", "dpkg-deb", "musl-gcc", "gcc", "readelf") if shutil.which(name) is None]
    return programs + [path for path in (ZSTD, "/usr/include/zstd.h") if not Path(path).exists()]


def tree(work: Path, python: Path, wheels: Path, version: str) -> tuple[Path, list[Package]]:
    """Return a folder with all that is unpacked, and the packages of Debian in it.

    Args:
        work: a folder of its own.
        python: of the tools' environment.
        wheels: holds exacell's wheel and its libraries'.
        version: exacell's.
    """
    root, debian = work / "root", work / "debian"
    number = _python_of_debian()
    packages = _debian(debian, number)
    (root / "bin").mkdir(parents=True)
    (root / "lib").mkdir()
    shutil.copy(debian / f"usr/bin/python{number}", root / "bin/python3")
    _launcher(root / "bin/python")
    _interpreter(debian, root, number)
    library = root / f"lib/python{number}"
    _wheels(work, python, wheels, library, number, f"exacell[analysis]=={version}")
    shutil.copy(HERE / "exacell_start.py", library)
    _strip(root)
    _closed(root)
    _compile(root, number)
    _licences(root, packages, version, library)
    return root, packages


def write(root: Path, to: Path, epoch: int, python: Path) -> None:
    """Write the file: the launcher, the compressed files below ``root``, their index, the trailer."""
    _launcher(to)
    begins = to.read_bytes()
    lines, contents = [], []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_dir():
            lines.append(f"d {name}")
        else:
            contents.append(path.read_bytes())
            lines.append(f"{'x' if path.stat().st_mode & 0o100 else 'f'} {len(contents[-1])} {name}")
    index = "".join(f"{line}\n" for line in lines).encode()
    packed = _compressed(b"".join(contents), python)
    digest = hashlib.sha256(index + packed).hexdigest()[:16].encode()
    at, total = len(begins), sum(map(len, contents))
    tail = struct.pack("<6Q16s8s", at, len(packed), at + len(packed), len(index), total, epoch, digest, MAGIC)
    to.write_bytes(begins + packed + index + tail)
    to.chmod(0o755)


def bom(text: str, packages: Iterable[Package]) -> str:
    """Return a bill of materials with the packages of Debian added."""
    document = json.loads(text)
    for package in packages:
        url = f"pkg:deb/debian/{package.name}@{package.version}?arch=amd64"
        document["components"].append(
            {"type": "library", "bom-ref": url, "name": package.name, "version": package.version, "purl": url}
        )
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _said(*words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env, check=True, text=True, stdout=subprocess.PIPE
    )
    return done.stdout


def _python_of_debian() -> str:
    """Return the version of Debian's Python, as 3.11."""
    found = re.search(r"^Version: (\d+\.\d+)", _said("apt-cache", "show", "--no-all-versions", "python3"), re.MULTILINE)
    if found is None:
        raise SystemExit("dist: apt does not know python3: apt-get update")
    return found[1]


def _debian(to: Path, number: str) -> list[Package]:
    """Unpack the interpreter's packages, and what the launcher is linked with for its licences; return what they are."""
    to.mkdir(parents=True, exist_ok=True)
    wanted = [f"python{number}-minimal", f"libpython{number}-minimal", f"libpython{number}-stdlib", *_SHARED.split()]
    _download(to, wanted + _BUILT_IN.split())
    for name in sorted(
        {link.readlink().name for link in (to / "usr/share/doc").iterdir() if link.is_symlink() and not link.exists()}
    ):
        _download(to, [name])  # Some packages have their licence in another one.
    packages = []
    for file in sorted(to.glob("*.deb")):
        name, version, source = (
            _said("dpkg-deb", "-f", file, field).strip() for field in ("Package", "Version", "Source")
        )
        licence = (to / "usr/share/doc" / name / "copyright").read_bytes()
        packages.append(Package(name, version, (source or name).split()[0], licence))
    return packages


def _download(to: Path, names: Sequence[str]) -> None:
    """Have apt bring packages of Debian, and unpack them."""
    before = set(to.glob("*.deb"))
    _said("apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *names, cwd=to)
    for file in set(to.glob("*.deb")) - before:
        _said("dpkg-deb", "-x", file, to)


def _launcher(to: Path) -> None:
    """Build launcher.c: static, of musl and zstd."""
    words = [
        "-static",
        "-Os",
        "-s",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wl,--build-id=none",
        "-idirafter",
        "/usr/include",
        "-o",
    ]
    _said("musl-gcc", *words, to, "launcher.c", ZSTD, cwd=HERE)


def _interpreter(debian: Path, root: Path, number: str) -> None:
    """Copy the interpreter's modules and the shared libraries that they need."""
    library = root / f"lib/python{number}"
    shutil.copytree(debian / f"usr/lib/python{number}", library, ignore=_dropped, ignore_dangling_symlinks=True)
    for name in _NOT_NEEDED:
        path = library / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for pattern in _LEFT_OUT:
        for path in (library / "lib-dynload").glob(f"{pattern}.cpython-*"):
            path.unlink()
    for path in library.glob(
        "_sysconfigdata*.py"
    ):  # The interpreter is static; what it would be built with is nobody's business here.
        path.write_text(path.read_text().replace("'Py_ENABLE_SHARED': 1", "'Py_ENABLE_SHARED': 0"))
    for name in _LIBRARIES:
        found = [debian / folder / name for folder in ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")]
        shutil.copy(next(path for path in found if path.exists()).resolve(), root / "lib" / name)
    shutil.copy((debian / "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2").resolve(), root / "lib/ld.so")
    (root / "lib/ld.so").chmod(0o755)
    shutil.copy(root / "lib/ld.so", root / "lib/ld-linux-x86-64.so.2")


def _dropped(folder: str, names: Sequence[str]) -> set[str]:
    return {name for name in names if name == "__pycache__" or name.startswith("config-")}


def _wheels(work: Path, python: Path, wheels: Path, library: Path, number: str, wanted: str) -> None:
    """Lay exacell and its libraries beside the interpreter's modules."""
    into = work / "packages"
    _said(
        python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--find-links", wheels,
        "--no-compile",
        "--target", into, "--only-binary=:all:", "--python-version", number, "--implementation", "cp",
        "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_27_x86_64", "--platform", "manylinux_2_17_x86_64",
        "--platform", "manylinux2014_x86_64", wanted,
    )  # fmt: skip
    shutil.rmtree(into / "bin", ignore_errors=True)
    shutil.rmtree(into / "share", ignore_errors=True)
    for path in sorted(into.iterdir()):
        if (library / path.name).exists():
            raise SystemExit(f"dist: {path.name} is a module of the interpreter and of a library")
        shutil.move(path, library / path.name)


def _strip(root: Path) -> None:
    """Take away tests, headers and what tells of the building machine."""
    for package in (path for path in root.glob("lib/python*/*/") if path.name != "exacell"):
        for pattern in _OF_LIBRARIES:
            for path in sorted(package.rglob(pattern)):
                if path.is_dir():
                    shutil.rmtree(path)
                elif path.exists():
                    path.unlink()


def _closed(root: Path) -> None:
    """Raise SystemExit where a file needs a shared library that is not there, or one that must not be handed out."""
    there = {path.name for path in root.rglob("*.so*")}
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            needed = re.findall(r"\(NEEDED\).*\[(.+)\]", _said("readelf", "-d", path))
            if lacking := [name for name in needed if name not in there]:
                raise SystemExit(f"dist: {path.relative_to(root)} needs {', '.join(lacking)}")


def _compile(root: Path, number: str) -> None:
    """Compile all modules once and for all: nothing is written into the unpacked folder afterwards."""
    loader = [root / "lib/ld.so", "--library-path", root / "lib", "--argv0", root / "bin/python", root / "bin/python3"]
    words = f"-B -S -m compileall -q -f -j 1 --invalidation-mode unchecked-hash -p exacell-program -s {root}".split()
    words.append(f"lib/python{number}")
    _said(*loader, *words, cwd=root, env={**os.environ, "PYTHONHASHSEED": "0"})


def _compressed(data: bytes, python: Path) -> bytes:
    code = (
        "import sys, zstandard; packer = zstandard.ZstdCompressor(level=int(sys.argv[1]), write_checksum=True); "
        "sys.stdout.buffer.write(packer.compress(sys.stdin.buffer.read()))"
    )
    return subprocess.run([python, "-c", code, str(_LEVEL)], input=data, check=True, stdout=subprocess.PIPE).stdout


def _licences(root: Path, packages: Iterable[Package], version: str, library: Path) -> None:
    """Write licences/: the text of each part, and CONTENTS, which says what the parts are and where their source is."""
    to = root / "licences"
    to.mkdir(parents=True, exist_ok=True)
    lines = [
        f"exacell {version}, as one file. Its parts, their licences (in this folder) and where their source is:",
        "",
    ]
    for package in packages:
        (to / f"debian-{package.name}").write_bytes(package.licence)
        lines.append(
            f"debian-{package.name}: version {package.version}; source: Debian, apt-get source {package.source}"
        )
    for path in sorted(library.glob("*.dist-info")):
        name = path.name.removesuffix(".dist-info")
        lines.append(f"{name}: source: PyPI, of that name and version")
        for text in sorted(path.rglob("*")):
            if text.is_file() and text.name.upper().startswith(("LICEN", "COPYING", "NOTICE", "AUTHORS")):
                shutil.copy(text, to / f"{name}-{text.name}")
    lines += [
        "",
        "Debian's glibc (LGPL-2.1 or later) is in lib/ as shared libraries, unchanged: lay others there to use them instead.",
    ]
    (to / "CONTENTS").write_text("\n".join([*lines, ""]))
