"""What the one file starts: exacell, with the environment that its user has."""

import os
import sys

if (kept := os.environ.pop("EXACELL_KEPT_LD_PRELOAD", None)) is not None:
    os.environ["LD_PRELOAD"] = kept  # For ssh and other programs of the host. Our own loader has not seen it.

from exacell.cli import entry

sys.argv[0] = "exacell"
entry()
