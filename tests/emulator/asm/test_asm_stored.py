"""Procedures and functions that a database keeps."""

from __future__ import annotations

import pytest

from exacell.emulator.storage.databases import database_from_state, database_to_state

MB = """create or replace function mb(bytes in number) return number deterministic is
begin
  return round(bytes / 1048576);
end;
/
"""
GREET = """CREATE OR REPLACE PROCEDURE app.greet (who VARCHAR2 DEFAULT 'all', n IN OUT NUMBER) AUTHID CURRENT_USER AS
  text VARCHAR2(20) := 'hello ';
BEGIN
  n := n + mb(2097152);
  dbms_output.put_line(text || who || ' ' || n);
END greet;
/
"""
ON = "set serveroutput on feedback off heading off\n"


def test_functions_in_queries_and_blocks(lab):
    """A stored function is called in queries, with their columns, and in blocks; it outlives its session."""
    assert lab.db(MB).lines == ["Function created."]
    assert lab.db(f"{ON}select mb(3145728) from dual;\n").lines == ["\t  3"]
    assert lab.db(f"{ON}select count(*) from v$log where mb(bytes) = 4096;\n", node=2).lines[0].split() == ["8"]
    assert lab.db(f"{ON}begin dbms_output.put_line(mb(1e9)); end;\n/\n").lines == ["954"]
    assert lab.db("select mb(1) from dual;\n", database="ERP").codes == [904]
    kept = database_from_state(database_to_state(lab.asm.databases["SPOT"]))
    assert kept.routines == lab.asm.databases["SPOT"].routines


def test_procedures(lab):
    """EXECUTE, CALL and blocks run a stored procedure, which calls a function and gives values back."""
    assert lab.db(MB + GREET).lines == ["Function created.", "Procedure created."]
    assert lab.db(f"{ON}var k number\nexec :k := 1\nexec greet('you', :k)\nprint k\n").lines == ["hello you 3", "\t 3"]
    block = "declare a number := 5; begin greet(n => a); end;\n/\n"
    assert lab.db(ON + block).lines == ["hello all 7"]
    assert (
        lab.db("set serveroutput on\nvar k number\nexec :k := 1\ncall greet('me', :k);\n").lines[-1]
        == "Call completed."
    )
    assert lab.db("drop procedure greet;\n").lines == ["Procedure dropped."]
    assert "PLS-00201" in lab.db("exec greet('x', 1)\n").out
    assert lab.db("drop procedure greet;\n").codes == [4043]


def test_what_does_not_compile_is_kept_with_its_errors(lab):
    """A wrong routine is created with a warning; SHOW ERRORS tells where, and only what calls it fails."""
    wrong = "create procedure bad is\nbegin\n  x := 1;\nend;\n/\nshow errors\n"
    ran = lab.db(wrong)
    assert ran.lines[0] == "Warning: Procedure created with compilation errors."
    assert ran.lines[1] == "Errors for PROCEDURE BAD:"
    assert any(line.startswith("3/3") and "PLS-00201" in line for line in ran.lines)
    assert lab.db("begin null; end;\n/\n").lines == ["PL/SQL procedure successfully completed."]
    assert "PLS-00201" in lab.db("exec bad\n").out
    assert lab.db("create procedure bad is begin null; end;\n/\n").codes == [955]
    assert lab.db("create or replace procedure bad is begin null; end;\n/\nexec bad\n").lines[-1].startswith("PL/SQL")
    assert lab.db("show errors\n").lines == ["No errors."]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("create package p is end;\n/\n", 439),
        ("create or replace type t as object (n number);\n/\n", 439),
    ],
)
def test_what_is_not_kept(lab, text, code):
    """Packages and types are refused, up to their slash."""
    assert lab.db(text).codes == [code]


def test_asm_keeps_none(lab):
    """An ASM instance keeps no code."""
    assert lab.sql(MB).codes == [1109]
