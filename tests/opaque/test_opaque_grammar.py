"""The wider forms of shell text that are read: marks, here-documents, backslashes, ``$`` and ``=``, as six shells take them."""

from __future__ import annotations

import pytest

from exacell.opaque.findings import UnreadError
from exacell.opaque.lexing import patterns_quoted
from exacell.opaque.scan import command_findings, script_findings
from exacell.opaque.shell import Command, read_shell
from tests.support.judging.fuzzing import Judge
from tests.support.judging.sandbox import missing

BODY = "list cell\n"
MARKS = {
    # what stands behind << up to the line's end -> the mark
    **{
        mark: mark
        for mark in ("!", "EOF", "1", "a.b", "a,b", "a:b", "@", "%", "a+b", "a/b", "=", "a=b", "a!b", "E-F", "done")
    },
    " EOF": "EOF",
    "\t!": "!",
    " -EOF": "-EOF",
    "\\EOF": "EOF",
    "\\!": "!",
    "\\-EOF": "-EOF",
    "'EOF'": "EOF",
    '"EOF"': "EOF",
    "'E F'": "E F",
    '"a!b"': "a!b",
    "'*?[a]'": "*?[a]",
    "'}'": "}",
    "'#;|&'": "#;|&",
    " 'x'": "x",
    "-EOF": "EOF",
    "--EOF": "-EOF",
    "- EOF": "EOF",
    "-'EOF'": "EOF",
    "-\\EOF": "EOF",
    "EOF 2>&1": "EOF",
    "EOF;": "EOF",
    "EOF # x": "EOF",
}


def only(text: str, *, script: bool = False) -> Command:
    """Return the one command of a text."""
    ((command,),) = read_shell(text, script=script).pipelines
    return command


@pytest.mark.parametrize("mark", MARKS, ids=ascii)
def test_marks_of_here_documents(mark: str) -> None:
    """A here-document with each of these marks is read up to the line that is exactly the mark."""
    end = MARKS[mark]
    for program in ("cellcli <<", "cellcli<<", "cellcli -n<<"):
        found = only(f"{program}{mark}\n{BODY}{end}x\n{end} \n{end}\n")
        assert found.document == f"{BODY}{end}x\n{end} \n"


DOCUMENTS = {
    # lines, and what cellcli gets where the mark is plain
    "\\\\ \\$x \\`y\\` \\a \\' \\\"\n": "\\ $x `y` \\a \\' \\\"\n",
    "a$\n$ $\t$\"$%$'$)$,$.$/$:$;$|\n": "a$\n$ $\t$\"$%$'$)$,$.$/$:$;$|\n",
    "'a' \"b\" *?[c] {d} ~ ! # & ( <\n": "'a' \"b\" *?[c] {d} ~ ! # & ( <\n",
    "\t\tlist cell\n \tx\n": "\t\tlist cell\n \tx\n",
    "\n": "\n",
    "": "",
}


@pytest.mark.parametrize("lines", DOCUMENTS, ids=ascii)
def test_lines_of_here_documents(lines: str) -> None:
    """A quoted mark leaves the lines as they are, a plain one takes backslashes before \\, $ and ` away, and - the tabs first."""
    for mark in ("'E'", '"E"', "\\E"):
        assert read_body(f"<<{mark}", lines) == lines
        assert read_body(f"<<-{mark}", lines) == "".join(line.lstrip("\t") for line in lines.splitlines(keepends=True))
    assert read_body("<<E", lines) == DOCUMENTS[lines]
    assert read_body("<<-E", lines) == "".join(line.lstrip("\t") for line in DOCUMENTS[lines].splitlines(keepends=True))


def test_tabs_before_the_mark_end_a_document_of_its_own_kind_alone() -> None:
    """A line of tabs and the mark ends what begins with ``<<-``, and is a line like others of what begins with ``<<``."""
    assert read_body("<<E", "\tE\n") == "\tE\n"
    assert read_body("<<-E", "\tx\n\t\tE\nhostname\n") == "x\n"


def read_body(begin: str, lines: str) -> str:
    """Return what sqlplus would get, whatever CellCLI or SQL make of it."""
    from exacell.opaque.lexing import Document, lex

    tokens, wrong = lex(f"sqlplus {begin}\n{lines}E\n")
    assert wrong is None, wrong
    return next(token.body for token in tokens if isinstance(token, Document))


def test_several_documents_of_one_line_are_read_in_order() -> None:
    """Each command of a line gets its own document, in the order in which their marks stand."""
    found = read_shell("cellcli <<A; cellcli <<-'B' | cat; uptime\nlist cell\nA\n\tlist lun\n\tB\nhostname\n")
    commands = [command for pipeline in found.pipelines for command in pipeline]
    assert [command.document for command in commands] == ["list cell\n", "list lun\n", None, None, None]
    assert [command.row for command in commands] == ["cellcli", "cellcli", "cat", "uptime", "hostname"]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("cellcli <<!\nlist cell;\nlist lun;\n", "list cell;\nlist lun;\n"),
        ("#!/bin/sh\nhostname\ncellcli <<'E F' | cat\nlist cell\n", "list cell\n"),
        ("cellcli <<-EOF\n\tlist cell\n", "list cell\n"),
        ("cellcli <<EOF\nlist cell\nEOFx\n", "list cell\nEOFx\n"),
    ],
    ids=ascii,
)
def test_a_script_may_end_before_the_mark(text: str, body: str) -> None:
    """The last document of a script may lack its mark; the same text as a command is unread."""
    found = read_shell(text, script=True)
    assert not found.closed and found.pipelines[-1][0].document == body
    with pytest.raises(UnreadError, match="without a line"):
        read_shell(text)


@pytest.mark.parametrize(
    "text",
    [
        "cellcli <<!\nlist cell",
        "cellcli <<!\n",
        "cellcli <<-E\n",
        "cellcli <<!",
        "cellcli <<A; cellcli <<B\nlist cell\nA\nx\n",
    ],
    ids=ascii,
)
def test_a_script_that_ends_otherwise_is_unread(text: str) -> None:
    """Without a last line feed, without a line, or with two documents on its line, a document without its mark is unread."""
    with pytest.raises(UnreadError, match="without a line"):
        read_shell(text, script=True)


WORDS = {
    "grep \\a\\ \\;\\$\\`\\\\\\'\\\"\\#\\~\\!\\*\\[\\{\\(\\<\\>\\&\\|\\\tb /etc/hosts": "a ;$`\\'\"#~!*[{(<>&|\tb",
    "grep \\=x /etc/hosts": "=x",
    'grep "a\\"b\\\\c\\$d\\`e\\f" /etc/hosts': 'a"b\\c$d`e\\f',
    'grep "$ $%$\'$)$,$.$/$:$;$|$" /etc/hosts': "$ $%$'$)$,$.$/$:$;$|$",
    "grep a$ /etc/hosts": "a$",
    "grep $ /etc/hosts": "$",
    "grep = /etc/hosts": "=",
    'grep "a\\\nb" /etc/hosts': "ab",
    "grep \\\n  a \\\n\t/etc/hosts": "a",
    "grep 'a'\\''b' /etc/hosts": "a'b",
}


@pytest.mark.parametrize("text", WORDS, ids=ascii)
def test_words_with_backslashes_and_signs(text: str) -> None:
    """Backslashes, a ``$`` that begins nothing, a ``=`` alone and lines that go on are read as the six shells take them."""
    assert only(text).words == ("grep", WORDS[text], "/etc/hosts")


SENT = {
    "cellcli -e list metriccurrent where name like \\'FC_BY_DIRTY.*\\'": "FC_BY_DIRTY.\\*\\'",
    "cellcli -e list griddisk where name=a*; cellcli -e list lun where name = [ab]?": "name = \\[ab\\]\\?",
    "/usr/local/bin/cellcli -n -e list griddisk where name = 'a'*": "'a'\\*",
}


@pytest.mark.parametrize("text", SENT, ids=ascii)
def test_pattern_signs_in_a_statement_are_sent_quoted(text: str) -> None:
    """A pattern sign outside of quotes is sent behind a backslash, so that no file takes its place, and then it is read."""
    sent = patterns_quoted(text)
    assert sent.endswith(SENT[text]) and patterns_quoted(sent) == sent
    with pytest.raises(UnreadError, match="a pattern in a statement"):
        read_shell(text)
    for pipeline in read_shell(sent).pipelines:
        assert not any(command.globs for command in pipeline)


@pytest.mark.parametrize(
    "text",
    [
        "ls /etc/*",
        "cellcli -e 'list cell'; ls /var/*",
        "cellcli -e list cell where name like a* $x",
        "grep a* /etc/hosts",
        "frob -e *",
    ],
)
def test_other_texts_are_sent_as_they_are(text: str) -> None:
    """Patterns of other commands, and texts that are not read, are left alone."""
    assert patterns_quoted(text) == text


def test_the_script_that_exacell_comes_from_is_read() -> None:
    """The blog post's script, printed without a first line and without a closing mark, is two changes and nothing unread."""
    printed = b"cellcli <<!\ndrop flashcache;\ncreate flashcache all;\n"
    found = script_findings(printed, "flushcache.sh")
    assert found.unread == []
    assert [change.text for change in found.changes] == ["drop flashcache", "create flashcache all"]


@pytest.mark.skipif(bool(missing()), reason=missing() or "a sandbox is there")
def test_six_shells_take_these_forms_as_they_were_read() -> None:
    """Of every text here, each shell starts what was read, with the very lines of its documents."""
    texts = [*WORDS, *map(patterns_quoted, SENT)]
    texts += [f"cellcli <<{mark}\n{BODY}{end}x\n{end}\nuptime\n" for mark, end in MARKS.items()]
    texts.append("cellcli <<A; cellcli <<-'B' | cat; uptime\nlist cell\nA\n\tlist lun\n\tB\nhostname\n")
    with Judge() as judge:
        differences = [found for text in texts for found in judge.differences(text, read_shell(text))]
    assert not differences, "\n".join(map(str, differences))


def test_a_condition_with_its_signs_quoted_is_a_read() -> None:
    """Oracle's own way to quote a condition is read."""
    text = "cellcli -e LIST METRICCURRENT ATTRIBUTES name,metricvalue WHERE name LIKE \\'FC_BY_DIRTY.*\\'"
    assert command_findings(patterns_quoted(text)).harmless
