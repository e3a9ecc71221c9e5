"""PL/SQL blocks of the emulated database nodes: what they print, and how they fail."""

from __future__ import annotations

import pytest

_GROUPS = "v$asm_diskgroup"

PRINTS = {
    "variables and constants": (
        "declare n number := 2; c constant varchar2(9) := 'x' || n; b boolean := true;\n"
        "begin n := n * 3; if b and n > 5 then dbms_output.put_line(c || ' ' || n); end if; end;",
        ["x2 6"],
    ),
    "a cursor loop": (
        f"declare cursor g is select name, group_number n from {_GROUPS} order by name;\n"
        "begin for r in g loop dbms_output.put_line(r.n || r.name); end loop; end;",
        ["1DATA", "2RECO"],
    ),
    "open, fetch, close": (
        f"declare cursor g(low number default 0) is select name from {_GROUPS} where group_number > low order by 1;\n"
        "  v v$asm_diskgroup.name%type;\nbegin open g(1); loop fetch g into v; exit when g%notfound;\n"
        "  dbms_output.put_line(g%rowcount || v); end loop; close g;\n"
        "  open g; fetch g into v; dbms_output.put_line(v);\n"
        "  if g%isopen then close g; end if; end;",
        ["1RECO", "DATA"],
    ),
    "a row of a cursor": (
        f"declare cursor g is select name, type from {_GROUPS} order by 1; r g%rowtype; d {_GROUPS}%rowtype;\n"
        "begin open g; fetch g into r; dbms_output.put_line(r.name || r.type);\n"
        f"  select * into d from {_GROUPS} where name = 'RECO'; dbms_output.put_line(d.group_number); end;",
        ["DATANORMAL", "2"],
    ),
    "if, elsif, else": (
        "begin for i in 1..3 loop if i = 1 then dbms_output.put('a'); elsif i = 2 then dbms_output.put('b');\n"
        " else dbms_output.put('c'); end if; end loop; dbms_output.new_line; end;",
        ["abc"],
    ),
    "loops": (
        "declare i pls_integer := 0; s varchar2(80);\nbegin\n for k in reverse 1..3 loop s := s || k; end loop;\n"
        " while i < 3 loop i := i + 1; continue when i = 2; s := s || i; end loop;\n"
        " <<outer>> loop loop s := s || 'x'; exit outer when length(s) > 6; end loop; end loop outer;\n"
        " dbms_output.put_line(s); end;",
        ["32113xx"],
    ),
    "case": (
        "declare n number := 2;\nbegin case n when 1 then dbms_output.put_line('one'); when 2 then\n"
        " dbms_output.put_line(case when n > 1 then 'two' else '?' end); else null; end case; end;",
        ["two"],
    ),
    "no rows and too many": (
        f"declare v varchar2(30);\nbegin\n begin select name into v from {_GROUPS} where name = 'X';\n"
        " exception when no_data_found then dbms_output.put_line(sqlcode || ' ' || sqlerrm); end;\n"
        f" select name into v from {_GROUPS};\nexception when too_many_rows then dbms_output.put_line('many'); end;",
        ["100 ORA-01403: no data found", "many"],
    ),
    "own exceptions": (
        "declare e exception; gone exception; pragma exception_init(gone, -942); n number;\nbegin\n"
        " begin raise e; exception when gone then null; when e then dbms_output.put_line('e'); end;\n"
        " begin execute immediate 'select 1 from nosuch' into n;\n"
        " exception when gone then dbms_output.put_line(sqlcode); end;\n"
        " raise_application_error(-20001, 'mine');\nexception when others then dbms_output.put_line(sqlerrm); end;",
        ["e", "-942", "ORA-20001: mine"],
    ),
    "dynamic SQL": (
        "declare n number; g varchar2(30);\nbegin\n"
        f" execute immediate 'select count(*), max(name) from {_GROUPS} where group_number >= :1' into n, g using 2;\n"
        " dbms_output.put_line(n || g); end;",
        ["1RECO"],
    ),
    "local routines": (
        "declare function twice(n number) return number is begin return n * 2; end;\n"
        " procedure say(t varchar2, n in out number) is begin dbms_output.put_line(t || n); n := twice(n); end say;\n"
        " k number := 4;\nbegin say('n', k); say(n => k, t => 'm'); dbms_output.put_line(twice(k)); end;",
        ["n4", "m8", "32"],
    ),
    "collections": (
        "declare type t is table of varchar2(30) index by pls_integer; v t;\n"
        f"begin select name bulk collect into v from {_GROUPS} order by name; v(7) := 'z';\n"
        " for i in v.first..v.last loop if v.exists(i) then dbms_output.put_line(i || v(i)); end if; end loop;\n"
        " dbms_output.put_line(v.count); end;",
        ["1DATA", "2RECO", "7z", "3"],
    ),
    "records in collections": (
        f"declare type t is table of {_GROUPS}%rowtype; v t := t(); cursor g is select * from {_GROUPS} order by 1;\n"
        "begin open g; fetch g bulk collect into v limit 1; dbms_output.put_line(v(1).name || v.count); close g; end;",
        ["DATA1"],
    ),
    "cursor variables": (
        "declare c sys_refcursor; v varchar2(30);\n"
        f"begin open c for 'select name from {_GROUPS} where name like :p' using 'R%';\n"
        " fetch c into v; dbms_output.put_line(v); close c; end;",
        ["RECO"],
    ),
    "names of a block in queries": (
        f"declare n number := 2; v varchar2(30);\nbegin select g.name into v from (select * from {_GROUPS}) g\n"
        " where g.group_number in (select n from dual); dbms_output.put_line(v); end;",
        ["RECO"],
    ),
    "layout": (
        "begin dbms_output.put_line('   left'); dbms_output.put_line('a' || chr(10) || 'b'); dbms_output.put_line(''); end;",
        ["left", "a", "b"],
    ),
}


@pytest.mark.parametrize("name", PRINTS)
def test_what_blocks_print(lab, name):
    """A block prints through DBMS_OUTPUT what its statements come to."""
    block, lines = PRINTS[name]
    ran = lab.sql(f"set serveroutput on feedback off\n{block}\n/\n")
    assert ran.lines == lines


FAILS = {
    "declare v number;\nbegin\n  v := 'x';\nend;": ("ORA-06502", "ORA-06512: at line 3"),
    "declare v number(2);\nbegin v := 100; end;": ("number precision too large", "at line 2"),
    "declare v varchar2(2);\nbegin v := 'abc'; end;": ("character string buffer too small",),
    "declare e exception; begin raise e; end;": ("ORA-06510: PL/SQL: unhandled user-defined exception",),
    "begin raise_application_error(-20100, 'no'); end;": ("ORA-20100: no\nORA-06512: at line 1",),
    "begin\n  nosuch(1);\nend;": (
        "ORA-06550: line 2, column 3:\nPLS-00201: identifier 'NOSUCH' must be declared\n"
        "ORA-06550: line 2, column 3:\nPL/SQL: Statement ignored",
    ),
    "begin\n  dbms_output.put_line(v);\nend;": ("line 2, column 24:\nPLS-00201: identifier 'V' must be declared",),
    "declare n number;\nbegin\n  select 1 into n from nosuch;\nend;": (
        "ORA-06550: line 3, column 24:\nPL/SQL: ORA-00942: table or view does not exist\n"
        "ORA-06550: line 3, column 3:\nPL/SQL: SQL Statement ignored",
    ),
    "declare n number;\nbegin select nosuch into n from dual; end;": (
        'PL/SQL: ORA-00904: "NOSUCH": invalid identifier',
    ),
    "begin if 1 = 1 then null; end;": ("PLS-00103: Encountered the symbol",),
    "declare c constant number := 1;\nbegin c := 2; end;": ("PLS-00363",),
    "declare cursor c is select 1 n from dual; v number;\nbegin fetch c into v; end;": ("ORA-01001: invalid cursor",),
    "declare n number := 5; begin case n when 1 then null; end case; end;": ("ORA-06592",),
    "declare procedure p is begin p; end; begin p; end;": ("ORA-00036",),
}


@pytest.mark.parametrize("block", FAILS)
def test_how_blocks_fail(lab, block):
    """A block that cannot be compiled says where and does nothing; one that fails says in which line."""
    ran = lab.sql(f"set serveroutput on\n{block}\n/\n")
    assert [text for text in FAILS[block] if text not in ran.out] == []
    assert "successfully" not in ran.out


def test_nothing_is_done_by_a_block_that_does_not_compile(lab):
    """A column that does not exist keeps the whole block from running: nothing is printed before the error."""
    cursor = "declare cursor g is select name from v$asm_diskgroup;"
    body = "begin dbms_output.put_line('first'); for c in g loop dbms_output.put_line(c.auts); end loop; end;"
    ran = lab.sql(f"set serveroutput on\n{cursor}\n{body}\n/\n")
    assert "PLS-00302: component 'AUTS' must be declared" in ran.out
    assert "first" not in ran.lines


def test_output_before_an_error_is_shown(lab):
    """What a block printed before it failed stands above the error."""
    ran = lab.sql("set serveroutput on\nbegin dbms_output.put_line('before'); raise no_data_found; end;\n/\n")
    assert ran.lines[0] == "before" and ran.codes == [1403, 6512]


def test_formats_of_the_output(lab):
    """FORMAT WRAPPED keeps leading blanks and cuts at LINESIZE, TRUNCATED drops what is longer, the default wraps words."""
    block = "begin dbms_output.put_line('  aaa bbb ccc'); end;\n/\n"
    shown = {how: lab.sql(f"set linesize 9 feedback off serveroutput on {how}\n{block}").out.splitlines() for how in
             ("", "format wrapped", "size unlimited for tru")}  # fmt: skip
    assert shown == {
        "": ["aaa bbb", "ccc"],
        "format wrapped": ["  aaa bbb", " ccc"],
        "size unlimited for tru": ["  aaa bbb"],
    }


def test_a_block_sleeps_on_the_rack_s_clock(lab):
    """DBMS_LOCK.SLEEP lets the rack's time pass, so that a block sees counters move."""
    before = lab.asm.now()
    lab.sql("begin dbms_lock.sleep(120); end;\n/\nselect * from dual;\n")
    assert lab.asm.now() - before >= 120


def test_an_endless_block_ends(lab, monkeypatch):
    """A block that would never end is ended with ORA-00040, and others get their turn while it runs."""
    monkeypatch.setattr("exacell.emulator.plsql.run._MOST_STEPS", 3000)
    body = "begin null; exception when others then null; end;"
    assert lab.sql(f"begin loop {body} end loop; end;\n/\n").codes[0] == 40


def test_bind_variables_in_blocks(lab):
    """Blocks read and write bind variables in expressions, queries and INTO."""
    ran = lab.sql(
        "set feedback off pagesize 0 serveroutput on\nvar g number\nvar n varchar2(30)\n"
        "declare k number := 1;\nbegin :g := k + 1; select name into :n from v$asm_diskgroup where group_number = :g;\n"
        " if :n like 'R%' then dbms_output.put_line(:n || :g); end if; end;\n/\nprint n\n"
    )
    assert [line.strip() for line in ran.lines] == ["RECO2", "RECO"]
    assert "SP2-0552" in lab.sql("begin :nosuch := 1; end;\n/\n").out
