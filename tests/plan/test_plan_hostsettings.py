"""Which settings of a host may be named and set, and what the plan that sets them says."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import RefusedError, StatementError
from exacell.plan.hostsettings import (
    Found,
    companions,
    fold_devices,
    persistent,
    read_path,
    read_value,
    settings_plan,
    written_by,
)
from tests.support.every import every

SDA = "/sys/block/sda/queue/"


def file(path: str, text: str, mode: str = "-rw-r--r--", *, readable: bool = True) -> Found:
    return Found(path=path, text=text, mode=mode, readable=readable)


@pytest.mark.parametrize(
    "path",
    [
        "/sys/block/sd*/queue/scheduler",
        "/sys/block/sd[ab]/queue/iosched/read_expire",
        "/sys/block/dm-0/device/queue_depth",
        "/sys/block/cciss!c0d0/queue/nr_requests",
        "/sys/class/scsi_host/host*/cmd_per_lun",
        "/sys/module/vmw_pvscsi/parameters/ring_pages",
        "/proc/sys/vm/swappiness",
        "/proc/sys/net/ipv4/conf/eth0.100/rp_filter",
    ],
)
def test_paths_of_settings_are_read(path: str) -> None:
    """Each place that holds settings may be named, with patterns for names."""
    assert read_path(path) == path


@every(
    [
        "",
        "/etc/passwd",
        "/sys/block/sda/queue",
        "/sys/block/sda/queue/a/b",
        "/sys/block/../queue/x",
        "/proc/sys/vm/../../../etc/passwd",
        "/proc/sys/vm",
        "/proc/1/oom_score_adj",
        "/sys/block/sda/queue/a b",
        "/sys/block/$(x)/queue/y",
        "/sys/block/sda/queue/x\n/etc/passwd",
        "/sys/block/sda/queue/x\n",
        "/sys/block/sd{a,b}/queue/x",
        "/sys/block/~/queue/x;y",
        "/sys/kernel/debug/x",
        "/sys/class/scsi_host/host0/device/../x",
        "/sys/block/.hidden/queue/x",
    ]
)
def test_other_paths_are_refused(path: str) -> None:
    """What lies outside of those places, climbs out of them or holds a sign of the shell is not the path of a setting."""
    with pytest.raises(StatementError):
        read_path(path)


@given(st.text(max_size=40))
def test_a_value_is_plain_words_or_refused(text: str) -> None:
    """No value that is taken holds a line feed, a quote or any sign that a shell reads."""
    try:
        value = read_value(text)
    except StatementError:
        return
    assert not set(value) & set("\n\r'\"`$\\;&|<>(){}[]*?~#!=") and value.isascii() and value.isprintable()


def test_the_chosen_word_and_the_listed_ones_are_told_apart() -> None:
    """Where the kernel lists words, the one in brackets is the value."""
    found = file(SDA + "scheduler", "none [mq-deadline] kyber")
    assert found.value == "mq-deadline" and found.choices == ("none", "mq-deadline", "kyber")
    assert file("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456").value == "4096 131072 6291456"


def test_the_plan_says_before_and_after_and_how_it_goes_back() -> None:
    """A step writes what differs, needs the value that was read, proves the new one, and its inverse goes backwards."""
    depth, ahead = SDA + "nr_requests", SDA + "read_ahead_kb"
    files = {depth: [file(depth, "64")], ahead: [file(ahead, "128")]}
    plan = settings_plan("lab", "set setting …", [(depth, "128"), (ahead, "0512")], {"h1": files, "h2": files})
    assert [step.target for step in plan.steps] == ["h1", "h2"] and all(step.host for step in plan.steps)
    first = plan.steps[0]
    assert written_by(first) == ((depth, "128"), (ahead, "512"))
    assert [(check.where["name"], check.value) for check in first.needs] == [(depth, "64"), (ahead, "128")]
    assert plan.inverse["h1"] == (f"set setting {ahead}=128 {depth}=64",)


def test_a_scheduler_is_taken_back_with_its_depth() -> None:
    """The inverse of a scheduler restores nr_requests behind it, and a depth that is set with it is written in any case."""
    name, depth = SDA + "scheduler", SDA + "nr_requests"
    files = {name: [file(name, "[none] bfq")], depth: [file(depth, "64")]}
    plan = settings_plan("lab", "x", [(name, "bfq"), (depth, "64")], {"h1": files})
    assert written_by(plan.steps[0]) == ((name, "bfq"), (depth, "64"))
    assert plan.inverse["h1"] == (f"set setting {name}=none {depth}=64",)


def test_what_a_scheduler_was_tuned_to_comes_back_with_it() -> None:
    """The values of its own folder are a second statement of undo: they are there when it is back; text and read-only are not."""
    name, depth, expire = SDA + "scheduler", SDA + "nr_requests", SDA + "iosched/read_expire"
    own = [file(expire, "250"), file(SDA + "iosched/word", "a"), file(SDA + "iosched/shown", "1", "-r--r--r--")]
    files = {name: [file(name, "[mq-deadline] none")], depth: [file(depth, "64")], SDA + "iosched/*": own}
    assert set(companions(name)) == {depth, SDA + "iosched/*"}
    plan = settings_plan("lab", "x", [(name, "none")], {"h1": files})
    assert plan.inverse["h1"] == (f"set setting {name}=mq-deadline {depth}=64", f"set setting {expire}=250")
    assert len(settings_plan("lab", "x", [(depth, "32")], {"h1": {depth: files[depth]}}).inverse["h1"]) == 1


def test_a_depth_is_taken_back_with_what_it_sets_anew() -> None:
    """mq-deadline's async_depth follows nr_requests, and is restored behind it."""
    depth, own = SDA + "nr_requests", SDA + "iosched/async_depth"
    assert companions(depth) == (own,)
    plan = settings_plan("lab", "x", [(depth, "32")], {"h1": {depth: [file(depth, "64")], own: [file(own, "48")]}})
    assert plan.inverse["h1"] == (f"set setting {depth}=64 {own}=48",)


VM = "/proc/sys/vm/"
UNITS = [("dirty_ratio", "dirty_bytes"), ("dirty_background_ratio", "dirty_background_bytes")]


@pytest.mark.parametrize(
    ("before", "write", "after", "back"),
    [
        (("20", "0"), (1, "268435456"), ("0", "268435456"), (0, "20")),
        (("0", "1048576"), (0, "10"), ("10", "0"), (1, "1048576")),
        (("20", "0"), (0, "30"), ("30", "0"), (0, "20")),
        (("0", "1048576"), (1, "2097152"), ("0", "2097152"), (1, "1048576")),
        (("0", "0"), (0, "30"), ("30", "0"), (0, "0")),
        (("20", "0"), (0, "0"), ("0", "0"), (0, "20")),
    ],
)
@pytest.mark.parametrize("pair", UNITS)
def test_two_units_of_one_setting_are_planned_read_back_and_undone_together(
    pair: tuple[str, str],
    before: tuple[str, str],
    write: tuple[int, str],
    after: tuple[str, str],
    back: tuple[int, str],
) -> None:
    """What one unit is given sets the other to 0: both are read before, proven behind, shown; the one that had a value brings it
    back. Only what was asked for is written."""
    paths = [VM + name for name in pair]
    path, value = paths[write[0]], write[1]
    assert companions(path) == (paths[1 - write[0]],)
    files = {p: [file(p, text)] for p, text in zip(paths, before, strict=True)}
    plan = settings_plan("lab", "x", [(path, value)], {"h1": files})
    (step,) = plan.steps
    assert written_by(step) == ((path, value),)
    assert {str(c.where["name"]): c.value for c in step.needs} == dict(zip(paths, before, strict=True))
    assert {str(c.where["name"]): c.value for c in step.proves} == dict(zip(paths, after, strict=True))
    changed = {c.name: (c.before, c.after) for c in step.changes}
    assert changed == {p: (b, a) for p, b, a in zip(paths, before, after, strict=True) if a != b}
    assert plan.inverse["h1"] == (f"set setting {paths[back[0]]}={back[1]}",)
    # And what undo sends is a statement that this planner takes.
    now = {p: [file(p, text)] for p, text in zip(paths, after, strict=True)}
    undone = settings_plan("lab", "x", [(paths[back[0]], back[1])], {"h1": now})
    assert {str(c.where["name"]): c.value for c in undone.steps[0].proves} == dict(zip(paths, before, strict=True))


@pytest.mark.parametrize("pair", UNITS)
@pytest.mark.parametrize(
    ("before", "wanted", "said"),
    [
        (
            ("20", "0"),
            {0: "10", 1: "4096000"},
            "are one setting in two units, and each sets the other to 0: give one",
        ),
        (("0", "1048576"), {1: "0"}, "can't be set to 0: a value of /proc/sys/vm/dirty"),
        (("0", "0"), {1: "1048576"}, "are both 0, which can't be restored: give /proc/sys/vm/dirty"),
        (("20", None), {0: "10"}, "can't be read, and /proc/sys/vm/dirty"),
    ],
)
def test_two_units_that_nobody_could_take_back_are_refused(
    pair: tuple[str, str], before: tuple[str, str | None], wanted: dict[int, str], said: str
) -> None:
    """Both in one statement, 0 bytes, bytes where both are 0, and one whose partner can't be read."""
    paths = [VM + name for name in pair]
    files = {p: [file(p, text or "denied", readable=text is not None)] for p, text in zip(paths, before, strict=True)}
    with pytest.raises(RefusedError) as caught:
        settings_plan("lab", "x", [(paths[n], value) for n, value in wanted.items()], {"h1": files})
    assert said in caught.value.message


def test_both_units_by_one_pattern_are_refused_too() -> None:
    """A pattern is what it stands for."""
    both = [file(VM + "dirty_ratio", "20"), file(VM + "dirty_bytes", "0")]
    with pytest.raises(RefusedError, match="give one of them"):
        settings_plan("lab", "x", [(VM + "dirty_*", "30")], {"h1": {VM + "dirty_*": both}})
    assert set(companions(VM + "dirty_*")) == {VM + name for pair in UNITS for name in pair}
    same = [(VM + "dirty_ratio", "20"), (VM + "dirty_bytes", "0")]
    assert not settings_plan("lab", "x", same, {"h1": {f.path: [f] for f in both}}).steps


@every(
    [
        (file(SDA + "x", "1", "-r--r--r--"), "2", "is read-only"),
        (file(SDA + "x", "Permission denied", readable=False), "2", "can't be read (Permission denied)"),
        (file(SDA + "scheduler", "[none] bfq"), "noop", "takes none, bfq, not noop"),
        (file(SDA + "rq_affinity", "write back"), "1", "holds text"),
        (file(SDA + "nr_requests", "5"), "bfq", "takes a number"),
        (file("/proc/sys/net/ipv4/tcp_rmem", "5 6 7"), "1 2", "takes 3 numbers"),
        (file("/sys/module/zswap/parameters/enabled", "Y"), "2", "takes Y or N"),
        # What loses data, locks a host up or lasts until its next boot lies beside what changes speed.
        (file(SDA + "stable_writes", "1"), "0", "not a setting that exacell changes"),
        (file(SDA + "write_cache", "write back"), "1", "not a setting that exacell changes"),
        (file(SDA + "iosched/x/y", "1"), "0", "not a setting that exacell changes"),
        (file("/sys/block/sda/device/timeout", "30"), "1", "not a setting that exacell changes"),
        (file("/sys/block/sda/device/delete", "0"), "1", "not a setting that exacell changes"),
        (file("/sys/class/scsi_host/host0/eh_deadline", "1"), "0", "not a setting that exacell changes"),
        (file("/sys/module/m/parameters/x", "Y"), "N", "not a setting that exacell changes"),
        (file("/proc/sys/kernel/modules_disabled", "0"), "1", "not a setting that exacell changes"),
        (file("/proc/sys/kernel/sysrq", "0"), "1", "not a setting that exacell changes"),
        (file("/proc/sys/vm/nr_hugepages", "0"), "9000000", "not a setting that exacell changes"),
        (file("/proc/sys/vm/drop_caches", "0"), "3", "not a setting that exacell changes"),
        (file("/proc/sys/fs/file-max", "100000"), "1", "not a setting that exacell changes"),
    ]
)
def test_what_a_file_does_not_take_is_refused(found: Found, value: str, said: str) -> None:
    """Files that are read-only, write-only or text, and values of another kind than the present one, are refused by name."""
    with pytest.raises(RefusedError) as error:
        settings_plan("lab", "x", [(found.path, value)], {"h1": {found.path: [found]}})
    assert said in error.value.message and "h1" in error.value.message


def test_switches_and_limits() -> None:
    """1 means Y where the kernel says Y and N; max_sectors_kb is bounded by what the hardware takes."""
    switch = file("/sys/module/zswap/parameters/enabled", "N")
    plan = settings_plan("lab", "x", [(switch.path, "1")], {"h1": {switch.path: [switch]}})
    assert written_by(plan.steps[0]) == ((switch.path, "Y"),)
    most, limit = file(SDA + "max_sectors_kb", "512"), file(SDA + "max_hw_sectors_kb", "1280", "-r--r--r--")
    files = {most.path: [most], limit.path: [limit]}
    assert settings_plan("lab", "x", [(most.path, "1280")], {"h1": files}).steps
    with pytest.raises(RefusedError, match="1280 at most"):
        settings_plan("lab", "x", [(most.path, "1281")], {"h1": files})


def test_a_host_without_the_device_is_skipped_and_one_that_has_the_value_is_done() -> None:
    """A pattern that matches nothing on a host is not applicable there; a path by its name must be there."""
    pattern, sda = "/sys/block/sd*/queue/nr_requests", file(SDA + "nr_requests", "64")
    plan = settings_plan("lab", "x", [(pattern, "64")], {"h1": {pattern: []}, "h2": {pattern: [sda]}})
    assert not plan.steps and "h1" in plan.skipped and "h2" in plan.done
    with pytest.raises(RefusedError, match="there is no"):
        settings_plan("lab", "x", [(sda.path, "64")], {"h1": {sda.path: []}, "h2": {sda.path: [sda]}})


def test_what_keeps_each_of_two_values_is_told() -> None:
    """A device that gets another value than its pattern keeps its own over a boot, and no line stands twice."""
    every, one, other = "/sys/block/sd*/queue/nr_requests", SDA + "nr_requests", "/sys/block/sdb/queue/nr_requests"
    files = {every: [file(one, "5"), file(other, "5")], other: [file(other, "5")]}
    plan = settings_plan("lab", "x", [(every, "064"), (other, "16"), (other, "32")], {"h1": files})
    assert [(note.partition("KERNEL==")[2], note.count("ATTR")) for note in plan.notes] == [
        ('"sd*", ATTR{queue/nr_requests}="64"   (/etc/udev/rules.d/60-local.rules)', 1),
        ('"sdb", ATTR{queue/nr_requests}="32"   (/etc/udev/rules.d/60-local.rules)', 1),
    ]


@pytest.mark.parametrize(
    ("devices", "shown"),
    [
        (("loop0", "loop1", "loop3"), "loop[0-1,3]"),
        (("sda",), "sda"),
        (("cciss!c0d0", "cciss!c0d1"), "cciss!c0d0,cciss!c0d1"),
        (("",), ""),
    ],
)
def test_devices_are_folded_where_that_loses_none(devices: tuple[str, ...], shown: str) -> None:
    """Names of devices share a row; those with a sign of cell sets in them are all written."""
    assert fold_devices(devices) == shown


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (
            "/sys/block/sd*/queue/scheduler",
            'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="sd*", ATTR{queue/scheduler}="9"   '
            "(/etc/udev/rules.d/60-local.rules)",
        ),
        ("/proc/sys/vm/swappiness", "vm.swappiness = 9   (/etc/sysctl.d/60-local.conf)"),
        ("/proc/sys/net/ipv4/conf/eth0.1/x", "net/ipv4/conf/eth0.1/x = 9   (/etc/sysctl.d/60-local.conf)"),
        (
            "/sys/module/vmw_pvscsi/parameters/ring_pages",
            "options vmw_pvscsi ring_pages=9   (/etc/modprobe.d/local.conf)",
        ),
    ],
)
def test_what_keeps_a_setting_over_a_boot_is_shown(path: str, line: str) -> None:
    """Each place has its own file for what is to hold after a boot."""
    assert list(persistent({path: "9"})) == [line]
