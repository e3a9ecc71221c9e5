"""10,000 recipes made by chance, whole and broken: checker and layout take each, and a layout changes no meaning.

    python benchmarks/recipes.py [HOW MANY] [FIRST SEED]

Exit status 1 when one is not so; its seed is printed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.recipes.test_recipes_made import judged
from tests.support.maderecipes import made_recipe


def main(many: int, first: int) -> int:
    """Judge so many recipes and return the exit status."""
    began, whole, wrong = monotonic(), 0, 0
    for seed in range(first, first + many):
        good, broken = judged(made_recipe(Random(seed)))
        whole += good
        if broken:
            wrong += 1
            print(f"seed {seed}: {broken}")
    print(f"{many:,} recipes, {whole:,} of them whole: {wrong:,} wrong, {monotonic() - began:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [10_000, 0][len(given) :])))
