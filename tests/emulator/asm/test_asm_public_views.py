"""What public scripts ask of emulated instances besides ASM's own views: cells, sessions, parameters, files; XML."""

from __future__ import annotations

import pytest

_CELL_XML = (
    "select cellname, extractvalue(value(v), '/griddisk/name/text()') disk,"
    " cast(extractvalue(value(v), '/griddisk/size') as number) / 1048576 mb"
    " from v$cell_config c, table(xmlsequence(extract(xmltype(c.confval), '/cli-output/griddisk'))) v"
)

DB_ROWS = {
    "select cell_path from v$cell order by 1": ["192.168.10.11", "192.168.10.12", "192.168.10.13"],
    "select distinct conftype from v$cell_config order by 1": [
        "CELL",
        "CELLDISKS",
        "GRIDDISKS",
        "IORM",
        "LUNS",
        "PHYSICALDISKS",
    ],
    "select extract(xmltype(confval), '/cli-output/cell/flashCacheMode/text()') from v$cell_config"
    " where conftype = 'CELL' and cellname = '192.168.10.12'": ["WriteBack"],
    "select extractvalue(xmltype(confval), '/cli-output/interdatabaseplan/objective') from v$cell_config"
    " where conftype = 'IORM' and cellname like '%.11'": ["auto"],
    f"select count(*) || ' ' || count(distinct disk) from ({_CELL_XML} where c.conftype = 'GRIDDISKS')": ["72 72"],
    f"select count(*) from ({_CELL_XML} where c.conftype = 'GRIDDISKS') x, v$asm_disk d"
    " where x.disk = substr(d.path, instr(d.path, '/', -1) + 1) and d.os_mb = x.mb": ["72"],
    "select x.n || x.s from v$cell_config c, xmltable('/cli-output/celldisk[diskType=\"FlashDisk\"]' passing"
    " xmltype(c.confval) columns n varchar2(5) path 'name', s number path 'errorCount') x"
    " where conftype = 'CELLDISKS' and rownum = 1": ["FD_000"],
    "select count(*) from v$cell_config c, table(xmlsequence(extract(xmltype(c.confval), '//physicaldisk'))) p,"
    " v$cell_config d, table(xmlsequence(extract(xmltype(d.confval), '//celldisk'))) q where c.conftype ="
    " 'PHYSICALDISKS' and d.conftype = 'CELLDISKS' and extractvalue(value(p), '/physicaldisk/id') ="
    " extractvalue(value(q), '/celldisk/physicalDisk') and c.cellname = d.cellname and c.cellname like '%11'": ["28"],
    "select program from v$session where program like '%SMON%'": ["oracle@exa1db01 (SMON)"],
    "select count(*) from gv$session where sid = (select distinct sid from v$mystat)": ["2"],
    "select s.username from v$session s join v$process p on p.addr = s.paddr where s.type = 'USER'": ["SYS"],
    "select p.ksppinm from x$ksppi p, x$ksppcv v where p.indx = v.indx and v.ksppstvl = 'SPOT'"
    " and p.ksppinm like 'db\\_n%' escape '\\'": ["db_name"],
    "select ksppstvl from x$ksppi p, x$ksppcv v where p.indx = v.indx and ksppinm like '\\_disk%' escape '\\'": [
        "FALSE"
    ],
    "select count(*) from v$datafile d, dba_data_files f where d.name = f.file_name and d.bytes = f.bytes"
    " and f.tablespace_name = (select name from v$tablespace t where t.ts# = d.ts#) having count(*) > 3": ["7"],
    "select substr(name, 1, 5) from v$controlfile where rownum = 1": ["+DATA"],
    "select count(*) from dba_temp_files t, v$tempfile f where t.file_name = f.name and t.status = 'ONLINE'": ["1"],
    "select count(io_cell_offload_eligible_bytes) from v$sql where sql_text like '%x%'": ["0"],
    "select cast('12.5' as number) + 1 || cast('abc' as varchar2(2)) from dual": ["13.5ab"],
    "select b.n || c.n from (select 1 n from dual) a, (select 2 n, 1 k from dual) b, (select 3 n, 2 k from dual) c"
    " where b.n = c.k (+) and a.n = b.k (+)": ["23"],
    "select 1 offset from dual order by offset offset 0 rows": ["1"],
    "select d.dummy from dual d, dual e order by dummy": ["X"],
}


@pytest.mark.parametrize("query", DB_ROWS)
def test_what_queries_of_public_scripts_find(lab, query):
    """An instance of a database answers what published Exadata scripts ask it."""
    bare = "set feedback off heading off pagesize 0 linesize 200 tab off\n"
    found = [line.strip() for line in lab.db(f"{bare}{query};\n").lines]
    if "v$datafile" in query:
        assert len(found) == 1 and found[0].isdigit()
    else:
        assert found == DB_ROWS[query]


WRONG = {
    "select extract(xmltype('<a>'), '/a') from dual": 31011,
    "select extractvalue('<a><b/><b/></a>', '/a/b') from dual": 19025,
    "select extractvalue('<a><b/></a>', '/a') from dual": 19026,
    "select value(d) from dual d": 904,
    "select cast(1 as nosuch) from dual": 902,
    "select * from table(nosuch)": 22905,
    "select * from v$cell_state_of_mine": 942,
    "create or replace package f is\n  x number := 1;\nend;\n/\nselect 1 from nosuch": 439,
}


@pytest.mark.parametrize("query", WRONG)
def test_what_they_are_refused(lab, query):
    """What is no XML, no type and no view is refused with its code, and stored code up to its slash."""
    codes = lab.db(f"{query};\n").codes
    assert codes[0] == WRONG[query] and len(codes) == (2 if "create" in query else 1)


def test_show_sga(lab):
    """SHOW SGA lists the parts of an instance's memory under their sum, and nothing when not connected."""
    lines = lab.sql("show sga\n").lines
    assert [line.split()[0] for line in lines] == ["Total", "Fixed", "Variable", "ASM"]
    assert {len(line) for line in lines} == {41}
    total, *parts = (int(line.split()[-2]) for line in lines)
    assert total == sum(parts) == sum(map(int, lab.rows("select value from v$sga")))
    assert lab.sql("show sga\n", "-S", "/nolog").lines == ["SP2-0640: Not connected"]
    assert lab.sql("show errors\n").lines == ["No errors."]


@pytest.mark.parametrize(
    "option", ["jus left", "new_val x", "word_wrap", "trunc", "wrap", "old_v y", "fold_after", "nul -"]
)
def test_more_options_of_column(lab, option):
    """COLUMN takes all of its options in their short forms."""
    assert lab.sql(f"column dummy {option} format a5\nselect dummy from dual;\n").out.count("SP2-") == 0
    assert "SP2-0158" in lab.sql("column dummy break x\n").out
