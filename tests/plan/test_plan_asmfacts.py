"""What an ASM instance answers: read whole or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import ReplyError
from exacell.plan.asmfacts import END, AsmFacts, change_script, check_sql, facts_script, read_facts, sql_errors

GROUP_1 = "1|1|DATA|MOUNTED|NORMAL|4194304|1000|500|100|200|0|19.0.0.0.0|11.2.0.4.0|Y"
ANSWER = f"""\
__EXACELL_INSTANCE__
1|+ASM1|exa1db01|19.0.0.0.0
2|+ASM2|exa1db02.example.com|19.0.0.0.0
__EXACELL_GROUP__
{GROUP_1}
2|3|DATA|MOUNTED|NORMAL|4194304|1000|500|100|200|0|19.0.0.0.0|11.2.0.4.0|Y
1|2|RECO|MOUNTED|HIGH|4194304|90|60|0|20|1|19.0.0.0.0|11.2.0.4.0|N
2|0|RECO|DISMOUNTED||0|0|0|0|0|0|0.0.0.0.0|0.0.0.0.0|N
1|0|OLD|DISMOUNTED||0|0|0|0|0|0|0.0.0.0.0|0.0.0.0.0|N
2|4|OLD|MOUNTED|EXTERN|1048576|10|10|0|10|0|19.0.0.0.0|10.1.0.0.0|N
__EXACELL_DISK__
1|o/192.168.10.5/DATA_CD_00_exa1cel01|MEMBER|CACHED|ONLINE|512|DATA_CD_00_EXA1CEL01|EXA1CEL01|0|NORMAL|508|Y
1||UNKNOWN|MISSING|OFFLINE|0|DATA_CD_01_EXA1CEL01|EXA1CEL01|11520|NORMAL|508|N
0|o/192.168.10.5;192.168.10.6/ssd_FD_00_exa1cel01|Former|CLOSED|ONLINE|512|||0|NORMAL|0|N
0|/dev/exadata_quorum/QD_1|MEMBER|CLOSED|ONLINE|128|||0|NORMAL|0|N
__EXACELL_ATTRIBUTE__
1|disk_repair_time|12h
2|disk_repair_time|3.6h
__EXACELL_FILE__
1|42
__EXACELL_CLIENT__
1|1|SPOT1|SPOT|CONNECTED|19.0.0.0.0
2|3|SPOT2|SPOT|CONNECTED|19.0.0.0.0
1|1|+ASM1||CONNECTED|19.0.0.0.0
2|1|ERP2|ERP|CONNECTED|12.2.0.0.0
__EXACELL_OPERATION__
1|1|REBAL|RUN|12|4|10|100
1|1|REBAL|DONE|0|4|0|0
{END}
"""


def read(text: str = ANSWER, node: str = "exa1db01") -> AsmFacts:
    return read_facts("main", node, text)


def test_groups() -> None:
    """A disk group is one over all instances, with its state on each and its number where we asked."""
    facts = read()
    data = facts.group("data")
    assert data is not None
    assert (data.number, data.state, data.type, data.au_size, data.files) == (1, "MOUNTED", "NORMAL", 4194304, 42)
    assert data.states == {"1": "MOUNTED", "2": "MOUNTED"}
    assert data.voting_files
    assert facts.group("NIX") is None
    assert len(facts.members(data)) == 2


def test_clients_are_matched_on_their_own_instance() -> None:
    """Group numbers differ between instances, so that clients are matched with their own; ASM itself is none."""
    facts = read()
    found = {g.name: g.clients for g in facts.groups}
    assert found == {"DATA": ("SPOT",), "RECO": (), "OLD": ()}


def test_files_of_a_group_not_mounted_here_are_unknown() -> None:
    """Files are counted only where we asked: a group that is mounted elsewhere alone has an unknown number."""
    facts = read()
    old, reco = facts.group("OLD"), facts.group("RECO")
    assert old is not None
    assert reco is not None
    assert (old.number, old.files, old.state, old.type) == (0, None, "MOUNTED", "EXTERN")
    assert reco.files == 0
    assert facts.members(old) == ()
    elsewhere = read(node="exa1db02")
    again = elsewhere.group("RECO")
    assert again is not None
    assert again.files is None


def test_disks_and_headers() -> None:
    """Grid disks are found by their path, with their header in capitals; other disks are no grid disks."""
    facts = read()
    assert [d.grid_disk for d in facts.disks] == ["DATA_CD_00_exa1cel01", "", "ssd_FD_00_exa1cel01", ""]
    assert facts.disks[2].cell_address == "192.168.10.5;192.168.10.6"
    assert facts.disks[3].cell_address == ""
    assert facts.headers() == {"data_cd_00_exa1cel01": "MEMBER", "ssd_fd_00_exa1cel01": "FORMER"}


def test_an_offline_disk_is_counted_down() -> None:
    """A disk that ASM will drop has the seconds that are left, every other disk 0."""
    assert [d.repair_s for d in read().disks] == [0, 11520, 0, 0]


def test_operations_count_what_still_runs() -> None:
    """An operation that is done does not count as busy."""
    assert read().operations == 1


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("ORA-15032: not all alterations performed", "ORA-15032: not all alterations performed"),
        ("  ORA-00942: table or view does not exist", "ORA-00942"),
        ("SP2-0734: unknown command beginning", "SP2-0734"),
        ("ASMCMD-8102: no connection", "ASMCMD-8102"),
        ("1|+ASM1", "has 2 fields, not 4: 1|+ASM1"),
        ("1|+ASM1|h|19|x", "has 5 fields, not 4"),
    ],
)
def test_errors_anywhere(extra: str, said: str) -> None:
    """An error line or a row of another shape makes the whole answer an error that quotes it."""
    text = ANSWER.replace("2|+ASM2", f"{extra}\n2|+ASM2", 1)
    with pytest.raises(ReplyError) as caught:
        read(text)
    assert said in caught.value.message


def test_first_errors_are_quoted_in_order() -> None:
    """The generic error comes first and its causes follow, four at most."""
    text = "\n".join(f"ORA-1500{n}: cause {n}" for n in range(6))
    with pytest.raises(ReplyError, match=r"^ORA-15000: cause 0 / .* / ORA-15003: cause 3$"):
        check_sql(text)
    assert len(sql_errors(text)) == 6


def test_mentioning_an_error_is_none() -> None:
    """An ORA- number in the middle of a line is no error."""
    assert sql_errors("see ORA-00942 in the manual\nORA-12: short\n") == ()


@given(st.integers(min_value=0, max_value=len(ANSWER) - 2))
def test_a_cut_answer_is_never_read(length: int) -> None:
    """An answer that was cut anywhere before its end marker is an error, never a smaller rack."""
    with pytest.raises(ReplyError):
        read(ANSWER[:length])


@pytest.mark.parametrize(("text", "last"), [("", "nothing"), ("Connected.\n\n", "Connected.")])
def test_an_early_end_quotes_the_last_words(text: str, last: str) -> None:
    """Output without the end marker is an error that quotes the last line there was."""
    with pytest.raises(ReplyError, match=f"last output: {last}"):
        check_sql(text)


def test_text_where_a_number_belongs() -> None:
    """A text in a number's column is an error that quotes it."""
    with pytest.raises(ReplyError, match="ASM must give a number, not 'many'"):
        read(ANSWER.replace("1|42", "1|many"))


def test_no_instance_is_an_error() -> None:
    """An answer without any instance tells nothing of the cluster."""
    text = "\n".join(line for line in ANSWER.splitlines() if "+ASM1|" not in line and "+ASM2|" not in line)
    with pytest.raises(ReplyError, match=r"gv\$instance has no row"):
        read(text)


def test_windows_line_ends_and_empty_lines() -> None:
    """Carriage returns and empty lines change nothing."""
    assert read(ANSWER.replace("\n", "\r\n\r\n")) == read()


def test_scripts_prove_their_end() -> None:
    """Every script stops at the first SQL error and ends with the marker, then exit."""
    for script in (facts_script(), change_script(["DROP DISKGROUP X;", "ALTER DISKGROUP Y MOUNT"])):
        assert script.startswith("whenever oserror exit failure\nwhenever sqlerror exit failure\n")
        assert script.endswith(f"prompt {END}\nexit\n")
    assert "DROP DISKGROUP X;\nALTER DISKGROUP Y MOUNT;\n" in change_script(
        ["DROP DISKGROUP X;", "ALTER DISKGROUP Y MOUNT"]
    )
