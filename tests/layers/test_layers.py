"""The arrows between the layers, read from the imports; and what every registered command must have."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import house
from exacell.cellcli.schema import objects, objects_of
from exacell.core.errors import StatementError
from exacell.core.paths import at_home
from exacell.language.calls import VERBS
from exacell.language.line import parse_line
from exacell.language.registry import MODULES as REGISTERED, Command, Effect, Kind, commands, handler_of, wanted_by
from exacell.session.request import Request
from tests.support import sources
from tests.support.every import every
from tests.support.sessions import Session

ROOT = sources.ROOT
MODULES = sorted(ROOT.rglob("*.py"))

PURE = (
    *("core/errors", "core/units", "core/values", "core/cellset", "core/sqllexer"),
    *("cellcli", "measure", "plan", "care", "language", "opaque"),
)
"""Packages and modules that reach no socket, file, clock or terminal."""

IMPURE = frozenset(
    (
        "asyncio",
        "asyncssh",
        "concurrent",
        "curses",
        "fabric",
        "fcntl",
        "getpass",
        "glob",
        "http",
        "importlib.resources",
        "io",
        "multiprocessing",
        "os",
        "paramiko",
        "pathlib",
        "pexpect",
        "prompt_toolkit",
        "pty",
        "queue",
        "readline",
        "rich",
        "select",
        "selectors",
        "shutil",
        "signal",
        "socket",
        "socketserver",
        "sqlite3",
        "ssl",
        "subprocess",
        "sys",
        "syslog",
        "tempfile",
        "termios",
        "threading",
        "time",
        "tty",
        "urllib",
    )
)

EXCEPTIONS = {
    ("language/registry.py", "importlib"): "it imports the command modules that register themselves",
}

ORDER = (
    *("core", "cellcli", "measure", "plan", "care", "opaque", "language", "journal", "output", "transport", "recipes"),
    *(
        "session",
        "change",
        "live",
        "commands",
        "runner",
        "prompt",
        "batch",
        "commandline",
        "cli",
        "__main__",
    ),
)
"""The packages and the modules beside them, the lowest first: each imports only what stands before it, and itself."""


ROOMS = (
    *("basics", "sql", "cell", "grammar", "io", "metrics"),
    *("state", "faults", "storage", "work", "asm"),
    *("rack", "statements", "cellcli", "database", "plsql"),
    *("sqlplus", "programs", "hosts", "server", "copies"),
)
"""The emulator's rooms, the lowest first: each imports only what stands before it, and itself."""


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    """Return (dotted module, whether for type checkers only) for every import at any level of a module."""
    return tuple(_imports(sources.trees()[path], typing=False))


def _imports(node: ast.AST, *, typing: bool) -> Iterator[tuple[str, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, typing) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "relative imports hide the arrows"
            module = child.module or ""
            yield module, typing
            if module in ("exacell", "exacell.emulator", "importlib"):
                yield from ((f"{module}.{alias.name}", typing) for alias in child.names)
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for inner in child.body:
                yield from _imports(ast.Module(body=[inner], type_ignores=[]), typing=True)
            for inner in child.orelse:
                yield from _imports(ast.Module(body=[inner], type_ignores=[]), typing=typing)
        else:
            yield from _imports(child, typing=typing)


def own_imports(path: Path) -> set[str]:
    """Return the parts of exacell that a module imports when it runs: ``plan``, ``errors`` …"""
    return {module.split(".")[1] for module, typing in imports(path) if module.startswith("exacell.") and not typing}


def inside(*parts: str) -> list[Path]:
    """Return the modules of these packages and these modules: ``plan``, ``errors``, ``change/engine``."""
    found = [
        path
        for path in MODULES
        if {_name(path).split("/")[0].removesuffix(".py"), _name(path)[:-3], _name(path.parent)} & {*parts}
    ]
    assert all(any(_name(path).startswith((f"{part}/", f"{part}.py")) for path in found) for part in parts), parts
    return found


@cache
def called_pure() -> list[Path]:
    """Return the modules of PURE, and those elsewhere whose docstring says that they are pure."""
    said = [path for path in MODULES if re.search(r"\b(Pure[.:;]|No I/O\.)", _docstring(path))]
    return sorted({*inside(*PURE), *said})


def _docstring(path: Path) -> str:
    return ast.get_docstring(sources.trees()[path]) or ""


@every(called_pure, name=_name)
def test_pure_modules_reach_nothing(path: Path) -> None:
    """Errors, units, cell sets, CellCLI, plans, measures and the language import no socket, file, clock or terminal; nor
    does any other module that says so of itself."""
    reached = {
        module
        for module, typing in imports(path)
        if not typing and (module in IMPURE or module.split(".")[0] in IMPURE)
    }
    allowed = {module for name, module in EXCEPTIONS if name == _name(path)}
    assert reached <= allowed


@every(called_pure, name=_name)
def test_pure_modules_open_no_file_and_ask_no_clock(path: Path) -> None:
    """No pure module calls open, input, print or now."""
    names = {
        node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        for node in sources.calls(path)
    }
    assert not names & {"open", "input", "print", "now", "utcnow", "today", "read_text", "write_text"}


@cache
def arrows() -> dict[str, set[str]]:
    """Return what each module of the product imports of it: in functions and for type checkers, too."""
    return house.arrows({name: module for name, module in sources.modules().items() if module.product})


def test_no_import_goes_up() -> None:
    """Each package imports only those below it, wherever the import stands."""
    rank = {part: place for place, part in enumerate(ORDER)}
    pairs = [
        (name, target)
        for name, targets in arrows().items()
        for target in targets
        if name.count(".") and target.count(".") and rank[name.split(".")[1]] < rank[target.split(".")[1]]
    ]
    assert pairs == []


def test_each_package_has_its_place() -> None:
    """The order names every package and every module beside them, and no others."""
    there = {name.split(".")[1] for name in arrows() if name.count(".")}
    assert there == set(ORDER)


def test_the_emulator_leans_on_data_alone() -> None:
    """The emulator imports of the product only CellCLI's tables, units and errors: it judges the client by itself."""
    for path in inside("emulator"):
        found = {module for module, typing in imports(path) if module.startswith("exacell.") and not typing}
        own = {module for module in found if not module.startswith("exacell.emulator")}
        assert own <= {"exacell.core.errors", "exacell.core.units"}, _name(path)


def test_there_is_no_circle() -> None:
    """No module of the product reaches itself by imports, wherever they stand: at the top, in a function, for type checkers."""
    knots = house.circles(arrows())
    assert knots == [], "\n".join(" ".join(knot) for knot in knots)


@cache
def inner_arrows() -> dict[str, set[str]]:
    """Return what each module of the emulator imports of it: in functions and for type checkers, too."""
    return house.arrows({name: module for name, module in sources.modules().items() if not module.product})


def test_there_is_no_circle_in_the_emulator() -> None:
    """No module of the emulator reaches itself by imports, wherever they stand: at the top, in a function, for type checkers."""
    knots = house.circles(inner_arrows())
    assert knots == [], "\n".join(" ".join(knot) for knot in knots)


def test_no_import_of_the_emulator_goes_up() -> None:
    """Each room of the emulator imports only those below it, wherever the import stands; none knows its control."""
    rank = {room: place for place, room in enumerate((*ROOMS, "control"))}
    pairs = [
        (name, target)
        for name, targets in inner_arrows().items()
        for target in targets
        if rank[name.split(".")[2]] < rank[target.split(".")[2]]
    ]
    assert pairs == []


def test_each_room_of_the_emulator_has_its_place() -> None:
    """The order names every room of the emulator and no others; beside the rooms stands its control alone."""
    inside_it = [name.split(".") for name in inner_arrows() if name != "exacell.emulator"]
    assert {parts[2] for parts in inside_it} == {*ROOMS, "control"}
    assert [parts[2] for parts in inside_it if len(parts) == 3 and parts[2] not in ROOMS] == ["control"]


def test_a_circle_is_seen() -> None:
    """Two modules that import each other, one of them by way of a third, are one circle with it; who only looks on is none."""
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set[str]()}
    assert house.circles(graph) == [["a", "b", "c"]]


@every(lambda: inside("session/state", "session/services"), name=_name)
def test_what_a_session_is_knows_nothing_of_what_is_done_in_it(path: Path) -> None:
    """A session's state and services know no request, not even for type checkers."""
    assert "exacell.session.request" not in {module for module, _ in imports(path)}


def test_a_request_can_not_be_written_to() -> None:
    """What a statement is carried out for stays what it was; another one is made of it."""
    request = Request()
    with pytest.raises(AttributeError):
        request.origin = "undo 1"  # type: ignore[misc]


def test_what_is_changed_beside_a_session_stays_there(tmp_path: Path) -> None:
    """A statement that runs beside a session has a selection and an end of its own, unless it is to end with it."""
    desk = Session(tmp_path)
    beside, _ = desk.services.aside(desk.services.fleet)
    beside.selection.use("c1")
    beside.interrupted.set()
    assert (desk.session.cells(), desk.session.interrupted.is_set()) == (("c1", "c2"), False)
    with_it, _ = desk.services.aside(desk.services.fleet, same_interruption=True)
    assert with_it.interrupted is desk.session.interrupted


DECLARED = ("core", "cellcli", "language", "commands.declared", "change.dcli.offered")
"""What declarations of commands are made of."""


@every(lambda: inside("commands/declared"), name=_name)
def test_declarations_know_no_work(path: Path) -> None:
    """What declares commands imports what declarations are made of, and none of the work, not even for type checkers."""
    known = [module.removeprefix("exacell.") for module, _ in imports(path) if module.startswith("exacell.")]
    assert not [module for module in known if not f"{module}.".startswith(tuple(f"{part}." for part in DECLARED))]


def test_each_noun_is_declared_in_one_module_and_carried_out_in_the_other() -> None:
    """A command that commands/declared/<noun>.py declares is carried out by commands/<noun>.py, and every noun has both."""
    nouns = {path.stem for path in inside("commands/declared")} - {"__init__"}
    work = {path.stem for path in inside("commands") if path.parent.name == "commands"} - {"__init__"}
    assert work == nouns == set(REGISTERED)
    for noun in nouns:
        declared = import_module(f"exacell.commands.declared.{noun}").COMMANDS
        assert {found.handler.partition(":")[0] for found in declared} == {f"exacell.commands.{noun}"}


@every(lambda: inside("commands"), name=_name)
def test_commands_import_at_the_top(path: Path) -> None:
    """No module of commands imports inside a function: it is itself imported only when one of its commands is carried out."""
    functions = [node for node in sources.nodes(path) if isinstance(node, ast.FunctionDef)]
    assert not [n.lineno for f in functions for n in ast.walk(f) if isinstance(n, (ast.Import, ast.ImportFrom))]


def test_a_line_is_parsed_without_the_work() -> None:
    """Whoever parses, completes or explains a command imports none of the modules that carry commands out."""
    code = (
        "import sys; from exacell.language.line import parse_line; parse_line('resize flashcache size=288g');"
        "print([name for name in sys.modules if name.startswith('exacell.commands.') and '.declared' not in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_one_command_module_knows_the_emulator() -> None:
    """Nothing outside the emulator imports it but its own command module, and that only through its control."""
    for path in MODULES:
        if _name(path).startswith("emulator/"):
            continue
        found = {module for module, _ in imports(path) if module.startswith("exacell.emulator")}
        if _name(path) == "commands/emulator.py":
            assert found <= {"exacell.emulator", "exacell.emulator.control"}
        else:
            assert not found, _name(path)


@every(
    lambda: inside("commands", "plan", "cellcli", "measure", "journal", "change/engine", "change/undoing", "session"),
    name=_name,
)
def test_commands_and_core_never_print(path: Path) -> None:
    """Commands return results; only surfaces print."""
    names = {node.func.id for node in sources.calls(path) if isinstance(node.func, ast.Name)}
    assert "print" not in names
    assert "input" not in names
    attributes = [node for node in sources.nodes(path) if isinstance(node, ast.Attribute)]
    assert not {"sys.stdout", "sys.stderr", "sys.stdin"} & {ast.unparse(node) for node in attributes}


def test_a_home_that_nobody_has_is_no_crash() -> None:
    """Only core/paths replaces ``~``, since pathlib raises for ``~nosuch/x`` where a shell leaves it as it is."""
    assert str(at_home("~nosuch/x")) == "~nosuch/x" and at_home("~/x") == Path.home() / "x"
    asked = {
        str(path.relative_to(sources.ROOT))
        for path in sources.trees()
        for call in sources.calls(path)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "expanduser"
        if ast.unparse(call.func) != "os.path.expanduser"
    }
    assert asked == set()


def test_importing_has_no_effect(tmp_path: Path) -> None:
    """Importing every module writes nothing below the home, opens no socket and starts no thread or process."""
    names = [
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        for path in MODULES
        if path.name not in ("__main__.py",)
    ]
    script = (
        "import sys\n"
        "bad = []\n"
        "def hook(event, args):\n"
        "    writes = event == 'open' and isinstance(args[1], str) and set(args[1]) & set('wax+')\n"
        "    if writes and '__pycache__' not in str(args[0]) or event in (\n"
        "        'os.mkdir', 'os.remove', 'os.rename', 'socket.connect', 'socket.bind', 'subprocess.Popen',\n"
        "        'os.system', '_thread.start_new_thread', 'sqlite3.connect'):\n"
        "        bad.append((event, str(args)[:200]))\n"
        "sys.addaudithook(hook)\n"
        "import importlib, threading\n"
        f"for name in {names!r}:\n"
        "    before = len(bad)\n"
        "    importlib.import_module(name)\n"
        "    for event in bad[before:]: print(name, *event)\n"
        "print('threads', [t.name for t in threading.enumerate()][1:])\n"
    )
    home = tmp_path / "home"
    done = subprocess.run(
        [sys.executable, "-B", "-c", script],
        capture_output=True,
        text=True,
        timeout=600,
        env={"HOME": str(home), "EXACELL_HOME": str(home / "x"), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        check=False,
    )
    assert done.stderr == ""
    own = [line for line in done.stdout.splitlines() if "exacell" in line.split(" ", 1)[1]]
    assert own == []
    assert done.stdout.splitlines()[-1] == "threads []"
    assert not home.exists()
    assert list(tmp_path.iterdir()) == []


# -- the registry ----------------------------------------------------------------------------------------------------

COMMANDS = sorted(commands().values(), key=lambda found: found.words)


@every(COMMANDS, name=lambda found: found.name)
def test_command_is_declared_whole(found: Command) -> None:
    """Every command has a summary, a group, help for each parameter and flag, and an example of its own that parses."""
    assert found.summary
    assert not found.summary.endswith(".")
    assert found.group
    assert all(param.help for param in found.params)
    assert all(flag.help for flag in found.flags)
    line = parse_line(found.example)
    assert line is not None
    assert line.call is not None
    assert line.call.command.words == found.words


HANDED_OVER = ("session", "services", "request", "call")


@every(COMMANDS, name=lambda found: found.name)
def test_the_function_of_a_command_is_there(found: Command) -> None:
    """Every command's handler is text that names a function below exacell.commands, which takes of what is handed over what
    it works with, in one order, and says what it returns or changes."""
    assert re.fullmatch(r"exacell\.commands\.[\w.]+:[a-z]\w*", found.handler)
    handler = handler_of(found)
    wanted = wanted_by(handler)
    assert tuple(inspect.signature(handler).parameters) == wanted
    assert wanted == tuple(name for name in HANDED_OVER if name in wanted)
    assert inspect.get_annotations(handler)["return"] in ("Result", "Planned", "Result | Planned")
    assert handler.__doc__


@every(COMMANDS, name=lambda found: found.name)
def test_parameters_make_sense(found: Command) -> None:
    """Names are unique, rest is last, required positionals come first, choices and defaults fit."""
    names = [param.name.lower() for param in found.params]
    assert len(set(names)) == len(names)
    assert all(not param.rest for param in found.params[:-1])
    positionals = [param.required for param in found.positionals]
    assert positionals == sorted(positionals, reverse=True)
    for param in found.params:
        assert bool(param.choices) is (param.kind is Kind.CHOICE) or param.kind is Kind.NAMES, param.name
        if param.kind is Kind.CHOICE and param.default is not None:
            assert param.default in (*param.choices, *param.words)
        assert not (param.required and param.default is not None)


@every(COMMANDS, name=lambda found: found.name)
def test_no_pair_that_cellcli_owns(found: Command) -> None:
    """No command reuses a verb and object that CellCLI owns; a verb alone leaves all of its objects to CellCLI."""
    if len(found.words) > 1 and found.words[0].upper() in VERBS:
        kind = objects().get(found.words[1].upper())
        assert kind is None or found.words[0].upper() not in kind.verbs
    if len(found.words) == 1 and found.words[0].upper() in VERBS:
        for kind in objects_of(found.words[0]):
            line = parse_line(f"{found.words[0]} {kind.name.lower()} all")
            assert line is not None and line.cellcli is not None


@every([c for c in COMMANDS if c.effect is Effect.WRITE], name=lambda found: found.name)
def test_missing_parameters_are_asked_for(found: Command) -> None:
    """A changing command without its required parameters is an error that names the first one."""
    required = [param for param in found.params if param.required]
    if not required:
        return
    with pytest.raises(StatementError, match="needs"):
        parse_line(found.name)
