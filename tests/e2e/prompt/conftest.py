"""The home and the program in a pty, as the prompt's own tests have them."""

from tests.prompt.conftest import home as home, start as start
