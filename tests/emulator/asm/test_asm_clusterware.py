"""crsctl, olsnodes and srvctl: what the clusterware says of disk groups, databases and nodes."""

from __future__ import annotations

import pytest

SPOT = "Instance SPOT1 is running on node exa1db01\nInstance SPOT2 is running on node exa1db02\n"
ON_2 = "Disk Group DATA is running on exa1db02"
HOME = "/u01/app/oracle/product/19.0.0.0/dbhome_1"


def test_the_table_of_resources(lab):
    """``stat res -t`` has local and cluster resources; long details go on in the next line at the same place."""
    lab.sql("alter diskgroup reco dismount force;\n", node=2)
    out = lab.run("crsctl", "stat", "res", "-t").out
    assert "Local Resources\n" in out and "Cluster Resources\n" in out
    assert (
        "ora.RECO.dg\n"
        "               ONLINE  ONLINE       exa1db01                 STABLE              \n"
        "               OFFLINE OFFLINE      exa1db02                 STABLE              \n"
    ) in out
    assert (
        "ora.spot.db\n"
        "      1        ONLINE  ONLINE       exa1db01                 Open,HOME=/u01/app/o\n"
        "                                                             racle/product/19.0.0\n"
        "                                                             .0/dbhome_1,STABLE  \n"
    ) in out


def test_the_table_of_old_releases(new_lab):
    """Before 12.1 its titles are in capitals and details do not say STABLE."""
    out = new_lab(release="11.2.3.3.1").run("crsctl", "status", "resource", "-t").out
    assert out.splitlines()[1] == "NAME           TARGET  STATE        SERVER                   STATE_DETAILS       "
    assert "STABLE" not in out


def test_one_resource(lab):
    """A named resource is shown in four lines, the targets over the states."""
    assert lab.run("crsctl", "stat", "res", "ora.DATA.dg").out == (
        "NAME=ora.DATA.dg\nTYPE=ora.diskgroup.type\nTARGET=ONLINE           , ONLINE\n"
        "STATE=ONLINE on exa1db01, ONLINE on exa1db02\n\n"
    )


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("TYPE = ora.database.type", ["ora.erp.db", "ora.spot.db"]),
        ("((TYPE = ora.database.type) AND (NAME = ora.spot.db))", ["ora.spot.db"]),
        ("NAME st ora.R OR NAME en .db", ["ora.RECO.dg", "ora.erp.db", "ora.spot.db"]),
        ("(NAME co dg) AND NOT (NAME nc RECO)", ["ora.RECO.dg"]),
        ("NAME = 'ora.asm' OR TYPE = ora.diskgroup.type AND STATE = OFFLINE", ["ora.asm"]),
        ("TYPE != ora.vip.type AND ORACLE_HOME co dbhome", ["ora.erp.db", "ora.spot.db"]),
    ],
)
def test_filters(lab, where, names):
    """-w takes comparisons with AND, OR, NOT and parentheses over the attributes of resources."""
    assert lab.run("crsctl", "stat", "res", "-p", "-w", where, "-attr", "NAME").lines == [
        f"NAME={name}" for name in names
    ]


def test_chosen_attributes_of_each_instance(lab):
    """-v prints the attributes of -attr for each instance, the name once, in an order of its own."""
    ran = lab.run(
        "crsctl", "stat", "res", "-v", "-w", "NAME = ora.spot.db", "-attr", "STATE_DETAILS,STATE,LAST_SERVER,NAME"
    )
    assert (
        ran.out
        == "NAME=ora.spot.db\n"
        + "\n".join(
            f"LAST_SERVER={node}\nSTATE=ONLINE on {node}\nSTATE_DETAILS=Open,HOME={HOME}\n"
            for node in ("exa1db01", "exa1db02")
        )
        + "\n"
    )


@pytest.mark.parametrize(
    ("program", "argv", "out"),
    [
        ("crsctl", "query crs activeversion", "Oracle Clusterware active version on the cluster is [19.0.0.0.0]\n"),
        ("srvctl", "status database -d SPOT", SPOT),
        ("olsnodes", "", "exa1db01\nexa1db02\n"),
        ("olsnodes", "-n -s", "exa1db01\t1\tActive\nexa1db02\t2\tActive\n"),
        ("olsnodes", "-l", "exa1db01\n"),
        ("olsnodes", "-c", "t1-cluster\n"),
        ("srvctl", "status asm -detail", "ASM is running on exa1db01,exa1db02\nASM is enabled.\n"),
        ("srvctl", "status diskgroup -g DATA -a -n exa1db02", f"{ON_2}\nDisk Group DATA is enabled\n"),
    ],
)  # fmt: skip
def test_what_programs_say(lab, program, argv, out):
    """Short questions have Oracle's answers and the exit status 0."""
    ran = lab.run(program, *argv.split())
    assert (ran.out, ran.status) == (out, 0)


@pytest.mark.parametrize(
    ("program", "argv", "said"),
    [
        ("crsctl", "stat res ora.NONE.dg", "CRS-2613: Could not find resource 'ora.NONE.dg'."),
        ("crsctl", "stat res -w NAME", "CRS-2545: "),
        ("crsctl", "start cluster", "Usage: crsctl"),
        ("crsctl", "check crs", "Usage: crsctl"),
        ("srvctl", "status database -d NONE", "PRCD-1120 : "),
        ("srvctl", "config database -d SPOT", "PRKO-2000 : "),
        ("crsctl", "", "Usage: crsctl"),
    ],
)
def test_what_is_wrong(lab, program, argv, said):
    """What there is not, or a line that is not known, is an error with a status."""
    ran = lab.run(program, *argv.split())
    assert ran.out.startswith(said) and ran.status == 1


def test_voting_disks(lab):
    """Each failure group of the group with the voting files has one."""
    lines = lab.run("crsctl", "query", "css", "votedisk").lines
    assert [line[-6:] for line in lines[2:5]] == ["[DATA]"] * 3
    assert lines[-1] == "Located 3 voting disk(s)."


def test_voting_files_move_to_another_disk_group(lab):
    """``replace votedisk`` brings them to a mounted group with enough failure groups; then their old group can be dropped."""
    ran = lab.run("crsctl", "replace", "votedisk", "+reco")
    assert [line.rpartition(" ")[0] for line in ran.lines] == [
        *["Successful addition of voting disk"] * 3,
        *["Successful deletion of voting disk"] * 3,
        "Successfully replaced voting disk group with",
        "CRS-4266: Voting file(s) successfully",
    ]
    assert ran.status == 0 and ran.lines[-2].endswith(" +RECO.")
    assert [line[-6:] for line in lab.run("crsctl", "query", "css", "votedisk").lines[2:5]] == ["[RECO]"] * 3
    assert lab.rows("select name from v$asm_diskgroup where voting_files = 'Y'") == ["RECO"]


@pytest.mark.parametrize("name", ["NOSUCH", "RECO", "DATA"])
def test_voting_files_stay_where_the_other_group_can_not_take_them(lab, name):
    """A group that is not there, is not mounted here or has them takes none, and nothing has changed."""
    lab.sql("alter diskgroup reco dismount force;\n")
    ran = lab.run("crsctl", "replace", "votedisk", f"+{name}")
    assert ran.status == 1 and ran.lines[-1].startswith("CRS-4000: Command Replace failed")
    assert [line[-6:] for line in lab.run("crsctl", "query", "css", "votedisk").lines[2:5]] == ["[DATA]"] * 3


def test_voting_files_need_failure_groups(new_lab):
    """A group of normal redundancy on two cells has no third failure group for a voting file."""
    lab = new_lab(cells=2)
    assert lab.run("crsctl", "replace", "votedisk", "+RECO").status == 1


def test_disks_with_statistics_and_instances(lab):
    """``lsdsk --statistics`` shows counters, ``-g`` a line for each instance."""
    titles = "Reads Write Read_Errs Write_Errs Read_time Write_Time Bytes_Read Bytes_Written Voting_File Path"
    assert " ".join(lab.run("asmcmd", "lsdsk", "--statistics", "-G", "DATA").lines[0].split()) == titles
    lines = lab.run("asmcmd", "lsdsk", "-g", "-G", "RECO").lines
    assert lines[0].split() == ["Inst_ID", "Path"] and len(lines) == 1 + 2 * 36


def test_io_of_clients_adds_up(lab):
    """V$ASM_DISK_IOSTAT has what each database instance did; over all of them it gains what V$ASM_DISK gains."""

    def counted(view):
        total = f"select sum(reads)||' '||sum(writes)||' '||sum(bytes_read) from {view} where group_number = 1"
        return [int(part) for part in lab.rows(total)[0].split()]

    before = [counted(view) for view in ("v$asm_disk", "gv$asm_disk_iostat")]
    lab.rack.start_load(db="SPOT", redo=100, seconds=120, profile="oltp")
    lab.pass_time(240)
    disks, clients = (
        [new - old for new, old in zip(counted(view), amounts, strict=True)]
        for view, amounts in zip(("v$asm_disk", "gv$asm_disk_iostat"), before, strict=True)
    )
    assert disks == clients and min(clients) > 0
    assert lab.rows("select distinct instname from v$asm_disk_iostat order by 1") == ["ERP1", "SPOT1"]
    rows = lab.db("set pages 0 feedback off\nselect dbname from v$asm_disk_iostat;\n").lines
    assert {line.strip() for line in rows} == {"SPOT"}
