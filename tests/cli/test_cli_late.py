"""Modules that are put off are there, whole, for whoever needs them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from exacell.core.lazyimport import _PUT_OFF

MODULES = sorted(_PUT_OFF)
PUT_OFF = "from exacell.core.lazyimport import put_off, without; put_off(); import sys; "


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def whole() -> dict[str, str]:
    """What each module shows when it is imported as usual."""
    code = "".join(f"import {name}; print('{name}', {name}.__name__, len(dir({name})))\n" for name in MODULES)
    return {line.split()[0]: line for line in python(code).splitlines()}


@pytest.mark.parametrize("name", MODULES)
def test_an_import_loads_nothing_until_something_is_asked(name: str, whole: dict[str, str]) -> None:
    """An import finds a stand-in; what is asked of that is the real module's, and the real one has its place then."""
    asked = (
        f"import {name} as late\nprint(type(late).__name__, sys.modules['{name}'] is late, hasattr(late, '__file__'))\n"
        f"late.__all__ if hasattr(late, 'nothing') else None\n"
        f"import {name} as real; print('{name}', real.__name__, len(dir(real))); print(late.__builtins__ is not None)"
    )
    assert python(PUT_OFF + asked).splitlines() == ["Later True False", whole[name], "True"]


def test_names_are_imported_from_them() -> None:
    """Classes and functions imported by name are the real ones, constants and exceptions too; packages have modules."""
    code = (
        "from inspect import Signature, isclass; from json import JSONDecodeError; from tempfile import TMP_MAX\n"
        "import json.encoder; from random import Random as R; import inspect, json, tempfile, random\n"
        "print(Signature is inspect.Signature, JSONDecodeError is json.JSONDecodeError, TMP_MAX == tempfile.TMP_MAX,\n"
        "    R is random.Random, isclass(R), isclass(1), json.encoder.JSONEncoder is json.JSONEncoder)"
    )
    assert python(PUT_OFF + code) == "True True True True True False True"


def test_functions_at_hand_do_what_the_real_ones_do() -> None:
    """A function that is given at once, or that loads its module when it is called, answers as the real one."""
    code = (
        "import inspect; from pprint import pformat; from traceback import format_exception\n"
        "print(inspect.isclass(int), inspect.isclass(3), type(sys.modules['inspect']).__name__)\n"
        "print(type(sys.modules['pprint']).__name__, pformat({'b': 1, 'a': [2]}), format_exception(ValueError('x')))"
    )
    assert python(PUT_OFF + code).splitlines() == [
        "True False Later",
        "Later {'a': [2], 'b': 1} ['ValueError: x\\n']",
    ]


def test_loaded_modules_stay() -> None:
    """A module that is loaded already is not put off."""
    assert (
        python("import json; " + PUT_OFF + "print(sys.modules['json'] is json, type(json).__name__)") == "True module"
    )


def test_a_stand_in_for_one_import_is_taken_away() -> None:
    """Paths are imported without URLs; afterwards URLs are there as ever, and paths make them."""
    code = (
        "\nwith without('urllib.parse', 'quote_from_bytes'):\n import pathlib\nprint('urllib.parse' in sys.modules)\n"
        "print(pathlib.Path('/a b').as_uri())\nimport urllib.parse\nprint(urllib.parse.quote('a b'))"
    )
    assert python(PUT_OFF + code).splitlines() == ["False", "file:///a%20b", "a%20b"]


def test_threads_load_a_module_once() -> None:
    """However many threads ask at the same time, each gets the real, complete module's function."""
    code = (
        "import threading, json; found = []\n"
        "threads = [threading.Thread(target=lambda: found.append(json.dumps([1]))) for _ in range(16)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print(set(found), len(found))"
    )
    assert python(PUT_OFF + code) == "{'[1]'} 16"


def test_a_missing_name_is_said_as_usual() -> None:
    """A name that the module does not have raises what the real module raises."""
    code = (
        "import json\ntry:\n json.nothing\nexcept AttributeError as error:\n print(error)\n"
        "try:\n from textwrap import nothing\nexcept ImportError as error:\n print(error.name)"
    )
    assert python(PUT_OFF + code).splitlines() == ["module 'json' has no attribute 'nothing'", "textwrap"]
