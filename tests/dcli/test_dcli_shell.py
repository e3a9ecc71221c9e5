"""The grammar of shell text: what stands in it, what is refused and with which words, and that nothing makes it fall over."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exacell.dcli.scan import scan_command, scan_script
from exacell.dcli.shell import Script, read_shell
from exacell.dcli.shellwords import UnreadableError, cut_off

COMMANDS: dict[str, list[str]] = {
    "": [],
    "\n\n;": [],
    "a; b\nc & d": ["a", "b", "c", "d"],
    "x=1 a b": ["a b"],
    "x=1": [""],
    "a | b |& c": ["a", "b", "c"],
    "if a; then b; elif c; then d; else e; fi; f": ["a", "b", "c", "d", "e", "f"],
    "while a; do b; done; until c; do d; done": ["a", "b", "c", "d"],
    "for x in 1 2; do a; done": ["", "a"],
    "for x\nin 1 2\ndo a; done": ["", "a"],
    "for x do a; done": ["", "a"],
    "for x\ndo a; done": ["", "a"],
    "for x in; do a; done": ["a"],
    "for x in do; do a; done": ["", "a"],
    "select x in 1; do a; done": ["", "a"],
    "for ((i = 0; i < 3; i++)); do a; done": ["a"],
    "for ((i = 0; i < 3; i++)) do a; done": ["a"],
    "case x in a|b) c;; (d) e;& f) g;;& *) h; esac; i": [": x", "c", "e", "g", "h", "i"],
    "case x\nin\na) b\n;;\nesac": [": x", "b"],
    "case x in a) b;; c) esac; d": [": x", "b", "d"],
    "case x in esac; a": [": x", "a"],
    "case x in 'esac') a;; esac": [": x", "a"],
    "case x in a) if b; then c; fi;; esac": [": x", "b", "c"],
    "f() { a; }; f": ["a", "f"],
    "f()\n\n{ a; }\nf": ["a", "f"],
    "function f { a; }; f": ["a", "f"],
    "function f() { a; }; f": ["a", "f"],
    "function f ( a ); f": ["a", "f"],
    "f() ( a ); f": ["a", "f"],
    "f() if a; then b; fi; f": ["a", "b", "f"],
    "( a; (b); { c; } )": ["a", "b", "c"],
    "{ a; } > /tmp/x; b": ["a", "", "b"],
    "! a; time b; time -p c; ! time d": ["a", "b", "c", "d"],
    "time; a": ["a"],
    "'{' a; \\if b; \"case\" c": ["{ a", "if b", "case c"],
    "x=1 if; x=1 {": ["if", "{"],
    "a if then fi { } do done": ["a if then fi { } do done"],
    "a { b": ["a { b"],
    "[[ a && ( b || c ) ]] && d": [": a b c", "d"],
    "[[ ']]' ]]; a": [": ]]", "a"],
    "(( i = (1 + 2) * 3 )); a": ["a"],
    "((i)) && a": ["a"],
    "( (a) ); b": ["a", "b"],
    "x=(1 2\n3) a": ["a"],
    "x= a": ["a"],
    "x=y a": ["a"],
    "x[1]=y a; x+=z b": ["a", "b"],
    "a <<E; b\nc\nE\nd": ["a", "b", "d"],
    "a 2>&1 > /tmp/x < y b": ["a b"],
    "a # b; c\nd": ["a", "d"],
    "a; ": ["a"],
    "a &": ["a"],
}
"""Text → its simple commands, as their words."""

MALFORMED: dict[str, str] = {
    "if a; then b": "'fi' is missing",
    "while a; do b": "'done' is missing",
    "{ a": "'}' is missing",
    "( a": "')' is missing",
    "case x in a) b": "'esac' is missing",
    "case x in a) b;;": "'esac' is missing",
    "case x in": "'esac' is missing",
    "case x": "a case that can't be followed",
    "case": "a case that can't be followed",
    "case x; in a) b;; esac": "a case that can't be followed",
    "case x on a) b;; esac": "a case that can't be followed",
    "case ; in a) b;; esac": "a case that can't be followed",
    "case x in $(a)) b;; esac": "a command in a pattern of case",
    "fi": "'fi' closes nothing",
    "if a; then b; done": "'done' closes nothing",
    "{ a; )": "')' closes nothing",
    "a )": "')' closes nothing",
    "( a; }": "'}' closes nothing",
    "then a": "'then' outside of what it belongs to",
    "while a; then b; done": "'then' outside of what it belongs to",
    "do a": "'do' outside of what it belongs to",
    "a;; b": ";; outside of a case",
    "case x in a) { b;; }; esac": ";; outside of a case",
    "for": "a for that can't be followed",
    "for ; do a; done": "a for that can't be followed",
    "for ( a ); do b; done": "a for that can't be followed",
    "for < a; do b; done": "a for that can't be followed",
    "for $x in a; do b; done": "a for that can't be followed",
    "for ((a; do b; done": "(( that never ends",
    "function": "a function without a name",
    "function ; a": "a function without a name",
    "function f": "a function without a body",
    "f()": "a function without a body",
    "f() a": "a function without a body",
    "f() x=1": "a function without a body",
    "f() x=1; { a; }": "a function without a body",
    "$x() { a; }": "a function whose name can't be told",
    "a b() { c; }": "a function whose name can't be told",
    "x=1 b() { c; }": "a function whose name can't be told",
    "a ( ')' ) b": "a ( inside a command",
    "() { a; }": "'{' behind a compound command",
    "for )) ; do a; done": "a for that can't be followed",
    "( function f { ) }": "')' closes nothing",
    "echo $((a) )": "arithmetic that can't be followed",
    "a ( b )": "a ( inside a command",
    "a b ( c )": "a ( inside a command",
    "x=1 ( b )": "a ( inside a command",
    "{ a; } ( b )": "a ( inside a command",
    "( a ) ( b )": "a ( inside a command",
    "( a ) b": "'b' behind a compound command",
    "[[ a ]] b": "'b' behind a compound command",
    "[[ a": "[[ that never ends",
    "((a": "(( that never ends",
    "(((a)": "(( that never ends",
    "((a) )": "(( that is no arithmetic",
    "(( 'a' ))": "arithmetic that can't be followed",
    "(( $(a) ))": "arithmetic that can't be followed",
    "x=(1 2": "an array that never ends",
    "x=(1; 2)": "an array that never ends",
    "x=(1 <(2))": "an array that never ends",
    "a >": "nothing behind >",
    "a > ; b": "nothing behind >",
    "a <(b)": "nothing behind <",
    "coproc a": "coproc",
    "x[$(a)]=1": "arithmetic that can't be followed",
    "[[ '$(a)' ]]": "a command that [[ evaluates",
}
"""Text that is no shell text, or none that is understood → why."""

REPEATED = {
    "while a; do b; done; c": "ab",
    "until a; do b; done; c": "ab",
    "for x in 1; do b; { d; }; done; c": " bd",
    "f() { a; }; b": "a",
    "f() { if a; then b; fi; c; }; d": "abc",
    "{ a; }; ( b ); if c; then d; fi": "",
    "while a; do b; done; { c; }; ( d )": "ab",
    "function f { a; }; b": "a",
}
"""Text → the names of the commands in it that may run more than once."""

OWN: dict[str, str] = {
    "f() { a; }; f": "f",
    "f() { a; }\nf": "f",
    "a & f() { a; }; f": "f",
    "a && b\nf() { a; }; f": "f",
    "a && (b)\nf() { a; }; f": "f",
    "f() { a; } && f": "f",
    "f() { a; } || f": "f",
    "f() { a; } > /tmp/x; f": "f",
    "f; f() { a; }": "",
    "f() { a; }; command f": "",
    # Where its definition may not happen, or not here.
    "a && f() { a; }; f": "",
    "a || f() { a; }; f": "",
    "a &&\nf() { a; }; f": "",
    "a &&\n\nf() { a; }; f": "",
    "a | f() { a; }; f": "",
    "f() { a; } | a; f": "",
    "f() { a; } |& a; f": "",
    "f() { a; } & f": "",
    "( f() { a; } ); f": "",
    "( f() { a; }; f )": "",
    "if a; then f() { a; }; fi; f": "",
    "while a; do f() { a; }; done; f": "",
    "case a in b) f() { a; };; esac; f": "",
    "g() { f() { a; }; }; f": "",
    # Where its name may have been taken away.
    "f() { a; }; unset f; f": "",
    "f() { a; }; unset -f f; f": "",
    "f() { a; }; unset $x; f": "",
    "f() { a; }; unset {f,g}; f": "",
    "f() { a; }; f; command unset f; f": "",
    "f() { a; }; unset g; f": "f",
    "f() { a; }; echo $x; f": "f",
    # In a function it is one when that is called.
    "g() { f; }; f() { a; }; g": "fg",
    "g() { f; }; g; f() { a; }; g": "gg",
    "h() { g; }; g() { f; }; h; f() { a; }": "gh",
    "h() { h; g; }; g() { f; }; f() { a; }; h": "hgfh",
    "g() { f; }; f() { a; }": "",
    "g() { f; }": "",
}
"""Text → the names of the commands in it that are functions for certain, in their order."""


def _shown(script: Script) -> list[str]:
    return [" ".join(word.text for word in command.words) for command in script.commands]


@pytest.mark.parametrize("text", COMMANDS)
def test_every_command_is_found(text: str) -> None:
    """Each simple command should come out with its words, in order, and nothing else."""
    assert _shown(read_shell(text)) == COMMANDS[text]


@pytest.mark.parametrize("text", MALFORMED)
def test_what_is_not_understood_is_refused_with_its_reason(text: str) -> None:
    """Text that is no shell text should be refused in words that say where it breaks."""
    with pytest.raises(UnreadableError) as refused:
        read_shell(text)
    assert str(refused.value) == MALFORMED[text]
    assert scan_command(text).unread == [f"shell text that can't be followed: {MALFORMED[text]}"]


@pytest.mark.parametrize("text", REPEATED)
def test_what_may_run_more_than_once_is_marked(text: str) -> None:
    """Commands in loops and functions should be known to repeat, and no others."""
    repeated = [name for command, name in _named(read_shell(text)) if command]
    assert "".join(name or " " for name in repeated) == REPEATED[text]


def _named(script: Script) -> list[tuple[bool, str]]:
    return [(command.repeats, "".join(word.text for word in command.words[:1])) for command in script.commands]


@pytest.mark.parametrize("text", OWN)
def test_a_name_is_a_function_where_it_is_one_for_certain(text: str) -> None:
    """A command should pass for a function of the text only where that is defined whenever it runs."""
    assert "".join(c.words[0].text for c in read_shell(text).commands if c.own) == OWN[text]


def test_values_are_kept_with_the_names_that_get_them() -> None:
    """Arrays, loops and assignments should give every value to its name, and a loop split what is not quoted."""
    script = read_shell("x=(1 '2'); for y in a \"b\"; do :; done; z=3 c; for v; do :; done")
    assert [[(w.text, w.listed) for w in c.assigned] for c in script.commands if c.assigned] == [
        [("x=", False), ("x=1", False), ("x=2", False)],
        [("y=a", True), ("y=b", False)],
        [("z=3", False)],
        [("v=$@", False)],
    ]


def test_pipes_and_redirections_lead_to_the_commands_they_feed() -> None:
    """A command should know what it reads: the one before it in the pipe, or a redirection around it."""
    one, two, three, four = read_shell("a | b | { c; d; }").commands
    assert (one.source, two.source, three.source, four.source) == (None, one, two, None)
    assert [c.source for c in read_shell("a |\n\nb; c").commands] == [None, one, None]
    assert [c.source for c in read_shell("a | ((1)); b").commands] == [None, None]
    assert [c.fed for c in read_shell("a; { b; } < x; c").commands] == [True, True, False, False]
    assert not any(c.fed for c in read_shell("{ a; } > x; b < y; { c < y; }").commands)
    assert [c.source for c in read_shell("{ a; } | b; a; b").commands] == [None] * 4
    assert [c.source for c in read_shell("(a) | b").commands] == [None, None]
    body = read_shell("a <<E\nb\nE\n").commands[0].redirections[0]
    assert (body.operator, body.target.text, body.body and body.body.text) == ("<<", "E", "b\n")
    assert [r.body and r.body.text for r in read_shell("a <<< b < c").commands[0].redirections] == ["b", None]


def test_names_that_arithmetic_evaluates_are_told() -> None:
    """Every name whose value is evaluated once more should be known, wherever the arithmetic stands."""
    script = read_shell(
        '((a + $b)); echo $((c)) "$((d))" ${e[f]} ${g:h}; x[i]=1; x=${#j[k]}; cat <<E\n$((l))\nE\nfor ((m;;)); do :; done'
    )
    assert script.counts == frozenset("abcdfhiklm")
    assert read_shell("echo ${a:-b} ${c#d} ${e[@]} ${f/g/h} $((1 + 2)) 0x1f").counts == frozenset()
    evaluated = read_shell("[[ $a -eq b ]]; [[ $c == d ]]; [[ -v e ]]").evaluated
    assert [word.text for word in evaluated] == ["$a", "-eq", "b", "-v", "e"]


WORDS = (
    "if then fi for in do done case esac ;; <<E E function f() [[ ]] (( )) $(( ${ $( x=( x=1 echo cellcli -e time while unset "
    "bash -c printf %s \\n sed -n awk date +%s é && read x drop flashcache all"
)
PIECES = st.sampled_from([*" \n\t;&|()<>{}'\"\\$`#=!*?[]-~%@:,.0\0", *WORDS.split()])
SCRIPTS = [
    *COMMANDS,
    *MALFORMED,
    "for d in $(cellcli -e list griddisk attributes name | awk '{print $1}'); do cellcli -e \"list griddisk $d detail\"; done",
    """\
set -e
log() { echo "$(date +%T) $*"; }
if [ $# -lt 1 ]; then log usage; exit 1; fi
case $1 in
  on) x=1;;
  *) x=0;;
esac
cellcli <<EOF
list flashcache detail
EOF
[[ $x -eq 1 ]] && log done
i=0; while read -r name size; do (( i += 1 )); printf '%s %s\\n' "$name" "${size%G}"; done < <(cellcli -e list lun)
""",
]
MUTATED = st.builds(
    lambda text, at, cut, piece: text[: at % (len(text) + 1)] + piece + text[at % (len(text) + 1) + cut :],
    st.sampled_from(SCRIPTS),
    st.integers(0, 400),
    st.integers(0, 8),
    st.lists(PIECES, max_size=3).map("".join),
)


@given(
    st.one_of(
        st.lists(PIECES, max_size=25).map("".join),
        st.lists(PIECES, max_size=15).map(" ".join),
        MUTATED,
        st.text(max_size=60),
    )
)
@settings(max_examples=120, deadline=None)
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    """No text whatever should make the reader fall over, and what it refuses it should refuse in one line."""
    for found in (scan_command(text), scan_script(text.encode(), "x.sh"), scan_script(text.encode(), "x.scl")):
        assert all(phrase.strip() for phrase in found.unread)
        assert not any("Error" in phrase for phrase in found.unread)
    try:
        read_shell(text)
    except UnreadableError as refused:
        assert "\n" not in str(refused)


def test_the_scripts_of_this_project_are_read() -> None:
    """Real shell scripts should be read or refused for a reason, however they are cut off."""
    root = Path(__file__).resolve().parents[2]
    texts = [path.read_text(encoding="utf-8") for path in sorted((root / "completions").glob("*.bash"))]
    for text in (*texts, *SCRIPTS[-2:]):
        for end in range(0, len(text), max(1, len(text) // 20)):
            scan_script(text[:end].encode(), "x.sh")


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("cat >f <<EOF", "EOF"),
        ("cat >f <<EOF\nx", "EOF"),
        ("cat >f <<EOF\nx\nEOF", ""),
        ("cat >f <<EOF\nx\nEOF\ndate", ""),
        ("cat >f <<-'EOF'\n\tx\n\tEOF", ""),
        ("cat <<A 3<<B\nx\nA\ny", "B"),
        ("cat <<A 3<<B\nx", "A"),
        ("cat <<<EOF", ""),
        ("cat <<EOF 'never closed", ""),
        ("date", ""),
    ],
)
def test_a_here_document_that_is_cut_off_is_told(text: str, mark: str) -> None:
    """The first here-document whose end is not there is named by its mark; text that is no shell text is judged elsewhere."""
    assert cut_off(text) == mark
