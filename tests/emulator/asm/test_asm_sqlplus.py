"""SQL*Plus as scripts see it: what is printed, which statements react to WHENEVER, exit statuses."""

from __future__ import annotations

import pytest

PREAMBLE = """whenever oserror exit 9
whenever sqlerror exit failure
set define off echo off feedback off verify off heading off pagesize 0
set linesize 32767 trimout on trimspool on tab off wrap off newpage none
set numwidth 20 long 1000000 longchunksize 1000000 sqlblanklines on serveroutput on
alter session set nls_numeric_characters='.,' nls_date_format='YYYY-MM-DD"T"HH24:MI:SS';
"""


def test_machine_readable_preamble(lab):
    """After the preamble a script gets bare rows and its own end marker, nothing else."""
    script = PREAMBLE + "select name||'|'||state\n\nfrom v$asm_diskgroup\norder by name;\nprompt __END__\nexit\n"
    ran = lab.sql(script)
    assert (ran.out, ran.err, ran.status) == ("DATA|MOUNTED\nRECO|MOUNTED\n__END__\n", "", 0)


def test_preamble_stops_at_an_error(lab):
    """With WHENEVER SQLERROR EXIT FAILURE nothing after the error runs, and the status is 1."""
    ran = lab.sql(PREAMBLE + "drop diskgroup nosuch;\nprompt __END__\n")
    assert ran.status == 1
    assert ran.out == (
        "drop diskgroup nosuch\n*\nERROR at line 1:\nORA-15039: diskgroup not dropped\n"
        'ORA-15001: diskgroup "NOSUCH" does not exist or is not mounted\n\n\n'
    )


def test_dates_in_the_session_format(lab):
    """ALTER SESSION SET NLS_DATE_FORMAT decides how dates are printed and how wide their column is."""
    ran = lab.sql(PREAMBLE + "select startup_time from v$instance;\nselect sysdate||'' from dual;\n")
    assert ran.lines == ["2023-11-05T22:13:20", "2023-11-14T22:13:20"]


@pytest.mark.parametrize(
    ("reaction", "status"),
    [
        ("exit sql.sqlcode", 15039 % 256),
        ("exit failure", 1),
        ("exit warning", 2),
        ("exit 300", 44),
        ("exit", 0),
        ("exit success rollback", 0),
        ("continue", 7),
    ],
)
def test_whenever_sqlerror(lab, reaction, status):
    """The status is what WHENEVER says, modulo 256; CONTINUE goes on."""
    assert lab.sql(f"whenever sqlerror {reaction}\ndrop diskgroup nosuch;\nexit 7\n").status == status


def test_exit_sqlcode_of_last_statement(lab):
    """EXIT SQL.SQLCODE tells the outermost code of the last statement: 15018 gives 170, success gives 0."""
    create = "create diskgroup x disk 'o/*/none*';\n"
    assert lab.sql(create + "exit sql.sqlcode\n").status == 170
    assert lab.sql(create + "select 1 from dual;\nexit sql.sqlcode\n").status == 0
    assert lab.sql(create).status == 0


def test_own_errors_set_no_status(lab):
    """SP2 messages neither trigger WHENEVER SQLERROR nor set a status."""
    ran = lab.sql("whenever sqlerror exit 5\nset sqlformat csv\nfrob x\nset linesize 0\nset heading maybe\n")
    assert ran.status == 0
    assert [line[:8] for line in ran.lines] == ["SP2-0158", "SP2-0042", "SP2-0267", "SP2-0265"]
    assert 'unknown SET option "sqlformat"' in ran.out


def test_missing_script_is_an_os_error(lab):
    """A script that can't be opened triggers WHENEVER OSERROR."""
    ran = lab.sql("whenever oserror exit 9\n@missing\nprompt not reached\n")
    assert (ran.lines, ran.status) == (['SP2-0310: unable to open file "missing.sql"'], 9)


def test_default_layout(lab):
    """Without settings there is a page: a blank line, headings, dashes, rows, and the blank line of feedback."""
    assert lab.sql("set tab off\nselect name, state, total_mb from v$asm_diskgroup;\n").out == (
        "\n"
        "NAME                           STATE         TOTAL_MB\n"
        "------------------------------ ----------- ----------\n"
        "DATA                           MOUNTED       15593472\n"
        "RECO                           MOUNTED        3896064\n"
        "\n"
    )


def test_tabs(lab):
    """TAB ON, the default, puts tabs where blanks reach a tab stop."""
    assert lab.sql("select 1 from dual;\n").out == "\n\t 1\n----------\n\t 1\n\n"


def test_narrow_lines_fold_columns(lab):
    """Columns that do not fit into LINESIZE go to the next line, headings too."""
    ran = lab.sql("set linesize 40 tab off feedback off\nselect name, type, usable_file_mb from v$asm_diskgroup;\n")
    assert ran.lines == [
        "NAME                           TYPE",
        "------------------------------ ------",
        "USABLE_FILE_MB",
        "--------------",
        "DATA                           NORMAL",
        "       3420650",
        "RECO                           NORMAL",
        "       1352594",
    ]


def test_long_values_wrap(lab):
    """A value wider than its column wraps, or is cut with WRAP OFF."""
    query = "column x format a4\nselect 'abcdefghij' x from dual;\n"
    assert lab.sql("set heading off feedback off\n" + query).lines == ["abcd", "efgh", "ij"]
    assert lab.sql("set heading off feedback off wrap off\n" + query).lines == ["abcd"]


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("391647330304", "3.9165E+11"),
        ("1234567890", "1234567890"),
        ("1/3", ".333333333"),
        ("-1234567890", "-1.235E+09"),
        ("100*3.5", "350"),
        ("0", "0"),
    ],
)
def test_numbers_fit_their_width(lab, expression, printed):
    """A number that is wider than NUMWIDTH is rounded or printed in scientific notation."""
    assert lab.sql(f"set heading off feedback off\nselect {expression} from dual;\n").out.split() == [printed]


def test_numwidth_20_prints_bytes(lab):
    """With NUMWIDTH 20 byte counts are printed whole."""
    assert lab.rows("select 391647330304 from dual") == ["391647330304".rjust(20)]


def test_csv(lab):
    """MARKUP CSV ON quotes names and texts, doubles quotes, leaves numbers bare."""
    query = "select name, total_mb, null n, 'a\"b' q from v$asm_diskgroup where name='RECO';\n"
    expected = '\n"NAME","TOTAL_MB","N","Q"\n"RECO",3896064,,"a""b"\n\n'
    assert lab.sql("set markup csv on\n" + query).out == expected
    assert lab.sql(query, "-S", "-L", "-M", "CSV ON", "/ as sysasm").out == expected
    semicolons = lab.sql("set markup csv on delimiter ; quote off heading off feedback off\n" + query).out
    assert semicolons == '\nRECO;3896064;;a"b\n'


def test_feedback(lab):
    """From six rows on the rows are counted, none are told, and FEEDBACK OFF hides that and success messages."""
    assert lab.sql("select name from v$asm_disk where rownum < 8;\n").lines[-1] == "7 rows selected."
    assert lab.sql("select name from v$asm_disk where rownum < 5;\n").lines[-1].startswith("DATA_CD_03")
    assert lab.sql("select name from v$asm_disk where 1=2;\n").out == "\nno rows selected\n\n"
    quiet = lab.sql("set feedback off\nselect name from v$asm_disk where 1=2;\nalter session set x=1;\n")
    assert quiet.out == ""
    assert lab.sql("set feedback 1\nselect dummy from dual;\n").lines[-1] == "1 row selected."


def test_error_marker(lab):
    """The block repeats the line at fault, marks the place, and names the line."""
    assert lab.sql("select name,\n       nonsense\nfrom v$asm_diskgroup;\n").out == (
        '       nonsense\n       *\nERROR at line 2:\nORA-00904: "NONSENSE": invalid identifier\n\n\n'
    )


def test_slash_runs_again(lab):
    """A line with only a slash runs the buffer; a blank line ends a statement without running it."""
    ran = lab.sql("set heading off feedback off\nselect 'x'\nfrom dual\n/\n/\nselect 'y'\n\nprompt done\n")
    assert ran.lines == ["x", "x", "done"]


def test_a_row_of_dashes_continues_once(lab):
    """A line that ends with dashes goes on with the next line only, however many dashes it ends with."""
    bare = "set heading off feedback off pagesize 0\n"
    assert lab.sql(f"{bare}prompt ------\n\nselect 'x' from dual;\n").lines[-1] == "x"
    assert lab.sql(f"{bare}prompt a-\nb-\nc\nprompt d\n").lines == ["a b c", "d"]


@pytest.mark.parametrize("word", ["hea", "head", "headi", "heading"])
def test_column_options_are_abbreviated(lab, word):
    """COLUMN takes HEADING and FORMAT from their first three letters on."""
    ran = lab.sql(f"col dummy forma a9 {word} Nothing\nselect dummy from dual;\n")
    assert "SP2-" not in ran.out and "Nothing" in ran.out


def test_a_loop_over_a_query(lab):
    """FOR r IN (query) LOOP runs its body once a row with the row's columns in it, loops inside loops too."""
    ran = lab.sql(
        "set serveroutput on feedback off\nbegin\n"
        "  for g in (select group_number n, name from v$asm_diskgroup order by name) loop\n"
        "    dbms_output.put_line(g.name || ' is ' || g.n);\n"
        "    for d in (select count(*) c from v$asm_disk where group_number = g.n) loop\n"
        "      dbms_output.put_line(d.c || ' disks');\n    end loop;\n  end loop;\nend;\n/\n"
    )
    assert ran.lines == ["DATA is 1", "36 disks", "RECO is 2", "36 disks"]


def test_sqlblanklines(lab):
    """SQLBLANKLINES ON lets a statement hold blank lines."""
    ran = lab.sql("set heading off feedback off sqlblanklines on\nselect 'y'\n\nfrom dual;\n")
    assert ran.lines == ["y"]


def test_unfinished_statement_is_not_run(lab):
    """What has no terminator at the end of the input never runs."""
    assert lab.sql("drop diskgroup reco").out == ""
    assert "RECO" in lab.asm.groups


def test_substitution(lab):
    """DEFINE and & substitute; undefined names are asked for on the input; DEFINE OFF leaves & alone."""
    bare = "set heading off feedback off pagesize 0\n"
    asked = "select '&h' from dual;\nDATA\n"
    ran = lab.sql(f"{bare}set verify off\ndefine g=RECO\nselect '&g' from dual;\n{asked}")
    assert ran.lines == ["RECO", "Enter value for h: DATA"]
    assert lab.sql(f"{bare}set define off\nselect 'a&b' from dual;\n").lines == ["a&b"]


def test_verify_shows_both_texts(lab):
    """VERIFY ON, the default, shows a line before and after substitution."""
    ran = lab.sql("set heading off feedback off pagesize 0\ndefine g=RECO\nselect '&g' from dual;\n")
    assert ran.lines == ["old   1: select '&g' from dual", "new   1: select 'RECO' from dual", "RECO"]


def test_new_value(lab):
    """COLUMN … NEW_VALUE keeps the last value for later statements."""
    script = "set heading off feedback off\ncolumn n new_value kept\nselect 'RECO' n from dual;\nprompt [&kept]\n"
    assert lab.sql(script).lines == ["RECO", "[RECO]"]


def test_comments_and_continuation(lab):
    """Comments are skipped, and a trailing dash continues a SQL*Plus command."""
    script = "-- one\nrem two\n/* three\nfour */\nset heading off -\n feedback off\nselect 'z' /* in */ from dual; \n"
    assert lab.sql(script).lines == ["z"]


def test_show_parameter(lab):
    """SHOW PARAMETER lists matching parameters with their types."""
    lines = lab.sql("set tab off\nshow parameter asm_diskstring\n").lines
    assert lines[-1].split() == ["asm_diskstring", "string", "o/*/*"]


def test_describe(lab):
    """DESCRIBE gives a view's columns with their types."""
    text = lab.sql("describe v$asm_diskgroup\n").out
    assert " NAME " in text and "VARCHAR2(30)" in text and "TOTAL_MB" in text
    assert "ORA-04043" in lab.sql("describe nosuch\n").out


def test_banner_prompts_and_goodbye(lab):
    """Without -S there are a banner, prompts and a goodbye even when the input is a script."""
    out = lab.sql("select dummy\nfrom dual;\nexit\n", "/ as sysasm").out
    assert "SQL*Plus: Release 19.0.0.0.0 - Production on Tue Nov 14 22:13:20 2023" in out
    assert "Connected to:\n" in out
    assert "SQL>   2  " in out
    assert out.endswith("Version 19.0.0.0.0\n") and "Disconnected from" in out


def test_version_and_wrong_option(lab):
    """-V prints the release; a wrong option prints the usage and fails."""
    assert "SQL*Plus: Release 19.0.0.0.0" in lab.sql("", "-V").out
    assert lab.sql("", "--nonsense").status == 1


def test_diskstring_and_power(lab):
    """ALTER SYSTEM changes what is discovered and the default power."""
    lab.sql("alter system set asm_diskstring='o/*/DATA_*' scope=both sid='*';\n")
    assert lab.rows("select value from v$parameter where name='asm_diskstring'") == ["o/*/DATA_*"]
    assert lab.sql("create diskgroup x disk 'o/192.168.10.11/RECO_CD_00_exa1cel01';\n").codes == [15018, 15014, 15031]
    assert lab.sql("alter system set asm_power_limit=2000;\n").codes == [2097, 15238]
    assert lab.sql("alter system set asm_power_limit=8 scope=memory;\n").codes == []


def test_document_is_skipped(lab):
    """DOCUMENT skips lines up to one that begins with #."""
    assert lab.sql("doc\nselect 1 from nosuch;\n/*\n#\nprompt on\n").lines == ["on"]
