"""Two guests with kernels of their own, for the tests that change one, and what make dist writes; skipped where they can't be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.guests import Guests, initiator, kernel, missing
from tests.support.program import Program

NAMES = ("ini1", "ini2")
ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("git", "bwrap", "unshare", "apt-get", "musl-gcc", "rpmbuild", "rpm2cpio", "cpio", "rpm", "man")


def build(folder: Path) -> Path:
    """Return the folder, with what make dist writes into it."""
    subprocess.run([sys.executable, ROOT / ".ci" / "dist", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what make dist writes; TEST_DIST names one that it has written."""
    if given := os.environ.get("TEST_DIST"):
        return Path(given)
    if not os.environ.get("TEST_REAL"):
        pytest.skip("what is handed out is built by make test-real alone (TEST_REAL=1)")
    if missing_programs := [program for program in NEEDED if shutil.which(program) is None]:
        pytest.skip(f"there is no {' and no '.join(missing_programs)}")
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def guests(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Guests]:
    """The two guests, running."""
    if not os.environ.get("TEST_REAL"):
        pytest.skip("guests are booted by make test-real alone (TEST_REAL=1)")
    if lacking := missing():
        pytest.skip(f"guests need {', '.join(lacking)}")
    try:
        image = kernel(pytestconfig.cache.mkdir("linux-image"))
    except OSError as error:
        pytest.skip(f"guests need Debian's kernel: {error}")
    try:
        unpacked, lacking = initiator(pytestconfig.cache.mkdir("open-iscsi")), ""
    except OSError as error:
        unpacked, lacking = None, str(error)
    with Guests(tmp_path_factory.mktemp("guests"), image, NAMES, unpacked) as found:
        found.without_initiator = lacking
        yield found


@pytest.fixture
def lab(guests: Guests, tmp_path: Path) -> Iterator[Program]:
    """The program with the guests as the rack ``lab`` and a home of its own; their disk is afterwards as it was."""
    home = tmp_path / "home"
    guests.rack(home)
    yield Program(home)
    for name in guests.names:
        guests.said(
            name,
            "cd /sys/block/sda/queue; echo mq-deadline > scheduler; echo 256 > nr_requests; echo 1280 > max_sectors_kb",
        )
