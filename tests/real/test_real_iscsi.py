"""Sessions of open-iscsi with a real target: the kernel's own (LIO), in a third guest that two initiators reach."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.real.guests import PORTAL, STORAGE, Guests
from tests.support.patience import until
from tests.support.program import Program

TARGETS = ("iqn.2014-03.local.lab:t01", "iqn.2014-03.local.lab:t02")

NUMBERS = re.compile(r"^tcp: \[(\d+)\]", re.MULTILINE)

# Two targets with three LUNs of memory each, for whoever asks. Source: Linux, Documentation/target and what lies in its configfs.
TWO_TARGETS = f"""set -e
mount -t configfs config /sys/kernel/config
cd /sys/kernel/config/target
for number in 1 2; do
  group=iscsi/{TARGETS[0][:-1]}$number/tpgt_1
  mkdir -p $group/np/{PORTAL}:3260
  for setting in authentication=0 generate_node_acls=1 demo_mode_write_protect=0; do
    echo ${{setting#*=}} > $group/attrib/${{setting%=*}}
  done
  for lun in 0 1 2; do
    disk=core/rd_mcp_$number/L$number$lun
    mkdir -p $disk $group/lun/lun_$lun
    echo rd_pages=256 > $disk/control
    echo 1 > $disk/enable
    ln -s $PWD/$disk $group/lun/lun_$lun/disk
  done
  echo 1 > $group/enable
done
echo both are there
"""

INITIATOR = f"""mkdir -p /run/lock/iscsi
echo "InitiatorName=iqn.2014-03.local.lab:$(hostname)" > /etc/iscsi/initiatorname.iscsi
iscsid
iscsiadm -m discovery -t sendtargets -p {PORTAL}:3260
"""

AS_BEFORE = """dmsetup remove_all
iscsiadm -m node --logoutall=all
iscsiadm -m node -o update -n node.session.nr_sessions -v 1
"""


@pytest.fixture(scope="module")
def targets(guests: Guests) -> Iterator[Guests]:
    """The guests, of which the initiators know the targets."""
    if guests.without_initiator:
        pytest.skip(f"guests have no open-iscsi: {guests.without_initiator}")
    guests.boot(STORAGE)
    guests.ready(STORAGE)
    assert guests.said(STORAGE, "sh -s", TWO_TARGETS) == "both are there\n"
    for name in guests.names:
        assert guests.said(name, INITIATOR).split() == [f"{PORTAL}:3260,1", TARGETS[0], f"{PORTAL}:3260,1", TARGETS[1]]
    yield guests
    for name in guests.names:
        guests.said(name, "kill $(pidof iscsid)")
    guests.end(STORAGE)


@pytest.fixture
def initiators(targets: Guests) -> Iterator[Guests]:
    """The guests; afterwards none has a session."""
    yield targets
    for name in targets.names:
        targets.said(name, AS_BEFORE)
        assert numbers(targets, name) == []


def numbers(guests: Guests, name: str) -> list[str]:
    """Return the numbers of an initiator's sessions, as iscsiadm tells them."""
    return NUMBERS.findall(guests.said(name, "iscsiadm -m session"))


def disks(guests: Guests, name: str) -> list[str]:
    """Return the disks that an initiator's sessions show, as the kernel has them."""
    return guests.said(name, "ls /sys/class/iscsi_session/*/device/target*/*/block").split()[1::2]


def run(lab: Program, given: str, target: str = TARGETS[0]) -> list[dict[str, object]]:
    """Return what iscsi_sessions answers."""
    told = f"target={target} portal={PORTAL}:3260 {given}"
    return lab.ok("-r", "lab", "-o", "json", f"run iscsi_sessions {told} -y --accept-opaque").records


def told(records: list[dict[str, object]]) -> dict[tuple[object, object], tuple[object, ...]]:
    """Return sessions, LUNs and state by host and target, as the last facts of some records have them."""
    return {
        (row["cell"], row["name"]): (row["sessions"], row["luns"], row["state"]) for row in records if "sessions" in row
    }


def test_more_sessions_are_made_once_and_one_is_taken_back(lab: Program, initiators: Guests) -> None:
    """iscsi_sessions makes the sessions that are missing, each shows the LUNs once more, and run again it makes none; the
    way back that it names takes one away with its disks, and a login makes it no more."""
    name = initiators.names[0]
    run(lab, f"hosts={name} sessions=1")
    assert len(numbers(initiators, name)) == 1 and until(lambda: len(disks(initiators, name)) == 3)
    before = disks(initiators, name)
    for _ in range(2):
        records = run(lab, f"hosts={name} sessions=2")
        there = numbers(initiators, name)
        assert len(there) == 2 and until(lambda: len(disks(initiators, name)) == 6)
        assert told(records) == {(name, f"{TARGETS[0]}@{PORTAL}:3260"): (2, 3, "LOGGED_IN")}
        assert NUMBERS.findall(str(records[-1]["text"])) == there
    assert "successful" in initiators.said(name, f"iscsiadm -m session -r {there[-1]} --logout")
    assert told(run(lab, f"hosts={name} sessions=1")) == {(name, f"{TARGETS[0]}@{PORTAL}:3260"): (1, 3, "LOGGED_IN")}
    assert numbers(initiators, name) == there[:1] and disks(initiators, name) == before


def test_two_initiators_are_compared_and_luns_are_told_for_each_target(lab: Program, initiators: Guests) -> None:
    """Of two hosts with one session and two, --diff and drift tell the sessions of each; LUNs that are spread over two targets
    are told for each."""
    one, two = initiators.names
    run(lab, "hosts=@initiators sessions=1")
    run(lab, f"hosts={two} sessions=2")
    rows = lab.ok("-r", "lab", "-o", "json", "on @initiators facts iscsi --diff").records
    assert {row["cell"]: row["value"] for row in rows if row["attribute"] == "sessions"} == {one: 1, two: 2}
    rows = lab("-r", "lab", "-o", "json", "on @initiators drift").records
    found = [row for row in rows if row["attribute"] == "sessions"]
    assert {row["cell"]: row["value"] for row in found} == {one: "1", two: "2"} and not any(
        row["expected"] for row in found
    )
    run(lab, f"hosts={one} sessions=1", TARGETS[1])
    assert until(lambda: len(disks(initiators, one)) == 6)
    rows = lab.ok("-r", "lab", "-o", "json", f"on {one} facts iscsi").records
    assert told(rows) == {(one, f"{target}@{PORTAL}:3260"): (1, 3, "LOGGED_IN") for target in TARGETS}


def test_paths_over_both_sessions_are_told(lab: Program, initiators: Guests) -> None:
    """A map of dm-multipath over what two sessions show of one LUN is told with its two paths and its policy."""
    name = initiators.names[0]
    run(lab, f"hosts={name} sessions=2")
    assert until(lambda: len(disks(initiators, name)) == 6)
    paths = " 1 ".join(
        initiators.said(name, f"cat /sys/block/{disks(initiators, name)[n]}/dev").strip() for n in (0, 3)
    )
    table = f"0 2048 multipath 0 0 1 1 round-robin 0 2 1 {paths} 1"
    initiators.said(name, "dmsetup create disk1 --uuid mpath-36001405", table)
    (row,) = lab.ok("-r", "lab", "-o", "json", f"on {name} facts multipath").records
    assert (row["name"], row["paths"]) == ("disk1", 2) and "round-robin" in row["table"]


def test_a_target_that_nobody_knows_ends_the_recipe(lab: Program, initiators: Guests) -> None:
    """What iscsiadm refuses is told in its words, and no session is made."""
    name = initiators.names[0]
    given = f"hosts={name} target=iqn.2014-03.local.lab:t09 portal={PORTAL}:3260 sessions=2"
    done = lab("-r", "lab", f"run iscsi_sessions {given} -y --accept-opaque")
    assert done.code == 1 and "No records found" in done.out and numbers(initiators, name) == []
