"""Completion for bash, zsh and fish: ``exacell --complete <shell> <index> <word>…`` and the files that call it.

The files in ``completions/`` are small and static; everything that they offer comes from the registry, the schema and
names on disk through that hidden option, which never connects to anything and imports nothing heavy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TextIO

from exacell.core.errors import ExacellError, ExitCode
from exacell.core.formats import FORMATS
from exacell.core.paths import Home
from exacell.language.options import OPTIONS, Option, is_option
from exacell.language.registry import Kind
from exacell.language.suggestion import Known
from exacell.language.words import takes_all_words

SHELLS = ("bash", "zsh", "fish")


def complete(args: Sequence[str], out: TextIO) -> int:
    """Print the candidates for one word, one a line, with a description behind a tab for zsh and fish.

    Args:
        args: the shell, the index of the word at the cursor, and the words, the program's own first. The word at the
            cursor may be missing when it is empty.

    A candidate replaces the whole word. When nothing is known the answer is empty, never an error: a shell's prompt is
    no place for messages.
    """
    if len(args) < 2 or args[0] not in SHELLS or not args[1].isdigit():
        print(f"usage: exacell --complete {{{'|'.join(SHELLS)}}} INDEX WORD...", file=sys.stderr)
        return ExitCode.NOT_EXECUTED
    shell, index = args[0], int(args[1])
    words = list(args[2:])[: index + 1]
    words += [""] * (index + 1 - len(words))
    try:
        found = list(candidates(words[1:], os.environ))
    except ExacellError:
        # A broken configuration is reported by the statement itself, not while it is being typed.
        found = []
    lines = []
    for text, meta in dict(found).items():
        # A description is one line of text, whatever the registry holds.
        note = " ".join(meta.split())
        lines.append(f"{text}\t{note}\n" if note and shell != "bash" else f"{text}\n")
    out.write("".join(lines))
    return ExitCode.DONE


def candidates(words: Sequence[str], env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (whole word, description) for the last of ``words``, which are those behind the program's name."""
    *rest, typed = words or [""]
    values: dict[str, str] = {}
    known = _known(values, env)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        if rest[0] == "--":
            yield from _statement(rest[1:], typed, known)
            return
        open_option = _take(rest, values)
        if open_option is not None:
            yield from _option_values(open_option, typed, known)
            return
    if rest and not takes_all_words(" ".join(rest)):
        kept: list[str] = []
        while rest:
            if not is_option(rest[0]):
                kept.append(rest.pop(0))
                continue
            open_option = _take(rest, values)
            if open_option is not None:
                yield from _option_values(open_option, typed, known)
                return
        rest = kept
        if typed.startswith("-"):
            yield from _statement(rest, typed, known)
            # Behind a statement there is no room for another one.
            ours = (pair for pair in _options(typed, known) if is_option(pair[0]))
            yield from (pair for pair in ours if pair[0] not in ("-e", "--execute", "-f", "--file"))
            return
    if not rest and typed.startswith("-"):
        yield from _options(typed, known)
    elif "execute" not in values:
        yield from _statement(rest, typed, known)


def _take(rest: list[str], values: dict[str, str]) -> Option | None:
    """Take the option in front of ``rest`` and its value; return it where its value is what is being typed."""
    option, value = _option(rest.pop(0))
    if option is None or not option.value:
        return None
    if not value and not rest:
        return option
    values[option.name] = value or rest.pop(0)
    return None


def _option(word: str) -> tuple[Option | None, str]:
    """Return the option that ``word`` is, and the value that hangs on it."""
    if word.startswith("--"):
        name, _, value = word[2:].partition("=")
        return next((option for option in OPTIONS if option.name == name), None), value
    for place, letter in enumerate(word[1:], start=1):
        option = next((option for option in OPTIONS if option.short == letter), None)
        if option is None or option.value:
            return option, word[place + 1 :].removeprefix("=")
    return None, ""


def _options(typed: str, known: Known) -> Iterator[tuple[str, str]]:
    name, equals, value = typed.partition("=")
    if equals and typed.startswith("--"):
        option, _ = _option(name)
        if option is not None:
            for text, meta in _option_values(option, value, known):
                yield f"{name}={text}", meta
        return
    for option in OPTIONS:
        for text in (f"--{option.name}", f"-{option.short}" if option.short else ""):
            if text and text.startswith(typed):
                yield text, option.help


def _option_values(option: Option, typed: str, known: Known) -> Iterator[tuple[str, str]]:
    if option.name == "rack":
        yield from _beginning(known.names(Kind.RACK), typed, "rack")
    elif option.name == "format":
        yield from ((name, "") for name in FORMATS if name.startswith(typed.lower()))
    elif option.name == "cells":
        cut = max(typed.rfind(mark) for mark in ",!&^") + 1
        found = _beginning(known.names(Kind.CELL), typed[cut:], "cell")
        yield from ((typed[:cut] + name, meta) for name, meta in found)


def _beginning(names: Sequence[str | tuple[str, str]], typed: str, meta: str) -> Iterator[tuple[str, str]]:
    for entry in names:
        name = entry if isinstance(entry, str) else entry[0]
        if name.startswith(typed):
            yield name, meta


def _statement(before: Sequence[str], typed: str, known: Known) -> Iterator[tuple[str, str]]:
    """Yield each suggestion as the whole word of the command line: with what stands in it before the suggestion."""
    from exacell.language.suggest import suggest

    line = "".join(word + " " for word in before) + typed
    begin = len(line) - len(typed)
    for found in suggest(line, known):
        yield line[begin : found.start] + found.text, found.meta


def _known(values: Mapping[str, str], env: Mapping[str, str]) -> Known:
    """Return where names come from: files only, read when the first name is asked for."""

    @cache
    def ready() -> Known:
        from exacell.session.completion.kept import kept_racks
        from exacell.session.completion.knowledge import knowledge, name_cache

        home = Home.from_env(env)
        kept = kept_racks(home, env)
        rack = kept.chosen(values.get("rack", ""))
        return knowledge(home, lambda: kept.racks, rack, name_cache(home, rack))

    def names(kind: Kind) -> Sequence[str | tuple[str, str]]:
        return () if kind is Kind.ALIAS else ready().names(kind)  # Aliases are for the prompt.

    return Known(
        names=names,
        recipe_params=lambda recipe: ready().recipe_params(recipe),
        seen=lambda subject, attribute: ready().seen(subject, attribute),
        files=lambda typed: ready().files(typed),
        hosts_of=lambda rack: ready().hosts_of(rack),
        pages=lambda: ready().pages(),
    )


_BASH = r"""# Completion of exacell for bash; generated, see exacell/prompt/shells.py.
# Install: source it from ~/.bashrc, or put it into /etc/bash_completion.d/.

_exacell() {
    # bash cuts words at = @ and :, exacell does not: put them together again from the line itself.
    local line=${COMP_LINE:0:COMP_POINT} word="" char quote="" i
    local -a words=()
    local started=""
    for ((i = 0; i < ${#line}; i++)); do
        char=${line:i:1}
        if [[ -n $quote ]]; then
            [[ $char == "$quote" ]] && quote="" || word+=$char
        elif [[ $char == [\"\'] ]]; then
            quote=$char started=1
        elif [[ $char == [[:space:]] ]]; then
            [[ -n $started ]] && words+=("$word")
            word="" started=""
        else
            [[ $char == \\ ]] && { ((i++)); char=${line:i:1}; }
            word+=$char started=1
        fi
    done
    words+=("$word")
    local index=$((${#words[@]} - 1))

    local previous=${words[index - 1]}
    case $previous in
        -g | --group-file | -f | --file | --ssh-config)
            COMPREPLY=()
            compopt -o default 2>/dev/null
            return
            ;;
    esac

    # readline replaces only what stands behind the last = or : in the word, or what begins with its last @.
    local cut=""
    for ((i = ${#word}; i > 0; i--)); do
        char=${word:i-1:1}
        if [[ $char == [=:@] && $COMP_WORDBREAKS == *"$char"* ]]; then
            [[ $char == @ ]] && cut=${word:0:i-1} || cut=${word:0:i}
            break
        fi
    done

    COMPREPLY=()
    local candidate
    while IFS= read -r candidate; do
        [[ -n $candidate ]] || continue
        [[ $candidate == *[=,] ]] && compopt -o nospace 2>/dev/null
        candidate=${candidate#"$cut"}
        [[ $candidate == *" "* ]] && candidate=${candidate// /\\ }
        COMPREPLY+=("$candidate")
    done < <("${words[0]}" --complete bash "$index" "${words[@]}" 2>/dev/null)
}

complete -F _exacell exacell
"""

_ZSH = r"""#compdef exacell
# Completion of exacell for zsh; generated, see exacell/prompt/shells.py.
# Install: put it into a directory of $fpath, under the name _exacell.

_exacell() {
    local -a lines open_words open_notes words_done notes
    local line text note

    case ${words[CURRENT-1]} in
        -g|--group-file|-f|--file|--ssh-config)
            _files
            return
            ;;
    esac

    lines=("${(@f)$(${(Q)words[1]} --complete zsh $((CURRENT - 1)) "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    for line in $lines; do
        [[ -n $line ]] || continue
        text=${line%%$'\t'*}
        note=""
        [[ $line == *$'\t'* ]] && note=${line#*$'\t'}
        [[ -n $note ]] && note="$text  -- $note" || note=$text
        if [[ $text == *[=,] ]]; then
            open_words+=("$text") open_notes+=("$note")
        else
            words_done+=("$text") notes+=("$note")
        fi
    done
    local found=1
    (( $#words_done )) && compadd -U -l -d notes -a -- words_done && found=0
    (( $#open_words )) && compadd -U -l -S '' -d open_notes -a -- open_words && found=0
    return found
}

if [[ $funcstack[1] == _exacell ]]; then
    _exacell "$@"
else
    compdef _exacell exacell
fi
"""

_FISH = r"""# Completion of exacell for fish; generated, see exacell/prompt/shells.py.
# Install: put it into ~/.config/fish/completions/.

function __exacell_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    $words[1] --complete fish (count $words) $words "$current" 2>/dev/null
end

function __exacell_wants_file
    set -l words (commandline -opc)
    contains -- $words[-1] -g --group-file -f --file --ssh-config
end

complete -c exacell -f
complete -c exacell -n __exacell_wants_file -F
complete -c exacell -n 'not __exacell_wants_file' -f -k -a '(__exacell_complete)'
"""


def completion_files() -> dict[str, str]:
    """Return the text of each file in ``completions/`` by its name."""
    return {"exacell.bash": _BASH, "_exacell": _ZSH, "exacell.fish": _FISH}


def write(directory: Path, *, say: Callable[[str], None] = print) -> None:
    """Write the completion files into ``directory`` and say which."""
    for name, text in completion_files().items():
        (directory / name).write_text(text, encoding="utf-8")
        say(str(directory / name))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] != "write":
        sys.exit("usage: python -m exacell.prompt.shells write [DIRECTORY]")
    write(Path(sys.argv[2] if len(sys.argv) > 2 else "completions"))
