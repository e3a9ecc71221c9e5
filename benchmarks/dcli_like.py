"""Does what dcli does, for comparison where dcli is not installed: an ssh process a cell, answers shown at the end.

Run: python3 dcli_like.py -g HOSTFILE -l USER -s "SSH OPTIONS" COMMAND. Source of the behaviour: reference dcli.md; one
thread a cell reads ``ssh -l USER HOST ( COMMAND ) 2>&1``; nothing is printed before the last cell is done.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import threading


def main() -> None:
    """Run one command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-g", dest="group", required=True)
    parser.add_argument("-l", dest="user", default="celladmin")
    parser.add_argument("-s", dest="options", default="")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    with open(options.group) as file:
        cells = file.read().split()
    found: dict[str, tuple[int, str]] = {}

    def ask(cell: str) -> None:
        line = f"( {' '.join(options.command)} ) 2>&1"
        words = ["ssh", *shlex.split(options.options), "-l", options.user, cell, line]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        found[cell] = (done.returncode, done.stdout)

    threads = [threading.Thread(target=ask, args=(cell,)) for cell in cells]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for cell in cells:
        for text in found[cell][1].splitlines():
            print(f"{cell}: {text.strip()}")
    sys.exit(max(status for status, _ in found.values()))


if __name__ == "__main__":
    main()
