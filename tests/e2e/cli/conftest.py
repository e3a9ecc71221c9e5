"""The home and the rack of tables, as the command line's own tests have them."""

from tests.cli.conftest import home as home, rack as rack
