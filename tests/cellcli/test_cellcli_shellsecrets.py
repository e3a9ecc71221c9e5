"""Secrets in what shells run, in addresses and in wrong statements about keys."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from exacell.cellcli.secrets import holds_secret, masked, masked_data, may_hold, without
from exacell.core.errors import RefusedError
from exacell.session.history import is_secret
from exacell.session.vault import refuse_forgotten

DATA = tomllib.loads((Path(__file__).parents[1] / "data" / "secret_texts.toml").read_text(encoding="utf-8"))
SECRET = "S3cret9x"


@pytest.mark.parametrize("text", DATA["secret"])
def test_a_secret_is_shown_and_kept_nowhere(text: str) -> None:
    """A password, a key or a token leaves neither a message, nor the journal, nor the history; its mask stays as it is."""
    assert SECRET not in masked(text) and "***" in masked(text) and masked(masked(text)) == masked(text)
    assert holds_secret(text) and may_hold(text) and is_secret(text)
    assert SECRET not in str(masked_data({"statement": text, "opaque": [text]}))
    assert SECRET not in without(text, f"'{SECRET}' is one word too many")
    with pytest.raises(RefusedError, match="does not keep"):
        refuse_forgotten(masked(text))


@pytest.mark.parametrize("text", DATA["plain"])
def test_what_is_no_secret_stays(text: str) -> None:
    """Options, addresses and sentences without a secret are shown as they are."""
    assert masked(text) == text and not holds_secret(text)
