"""Passwords and keys of statements, in memory alone."""

from __future__ import annotations

import re

import pytest

from exacell.cellcli.secrets import masked
from exacell.cellcli.statement import parse, render
from exacell.change.changing import refuse_plan
from exacell.core.errors import RefusedError
from exacell.plan.model import Plan, Stage, Step
from exacell.session import vault
from exacell.session.vault import hide, refuse_forgotten, reveal
from exacell.transport.base import Capabilities
from exacell.transport.capabilities import DCLI, EXACLI, SSH

STATEMENTS = (
    "alter user joe password='ge heim'",
    'ALTER USER joe PASSWORD="ge;heim"',
    "alter cell smtpPwd=geheim, smtpPort=25",
    "alter cell snmpSubscriber=((host=h,port=162,community=geheim,type=ASR))",
)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "_kept", {})


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_word_stands_for_the_secret_until_it_is_sent(statement: str) -> None:
    """The hidden statement should hold no secret, be CellCLI that is written anew as such, and become what was typed."""
    hidden = hide(render(parse(statement)))
    assert "heim" not in hidden and re.search("secret_[0-9a-f]{12}_not_kept", hidden)
    assert reveal(hidden) == render(parse(statement)) == reveal(render(parse(hidden)))
    assert hide(hidden) == hidden and hide(statement).count("secret_") == 1
    assert "***" in masked(hidden) and "secret_" not in masked(hidden)
    refuse_forgotten(hidden)


def test_one_secret_has_one_word() -> None:
    """The same secret should have the same word, so that cells that get the same statement are told together."""
    assert hide("alter user joe password=x") == hide("alter user joe password=x") != hide("alter user joe password=y")


@pytest.mark.parametrize(
    "left", ["alter user joe password=secret_0123456789ab_not_kept", "alter user joe password=***", 'a password="***"']
)
def test_what_another_process_was_given_is_not_known_here(left: str) -> None:
    """A statement that was kept without its secret should not be sent: whoever wants it gives the secret anew."""
    for deed in (reveal, refuse_forgotten):
        with pytest.raises(RefusedError, match=r"password=\S*\*\*\*\S* contains a password or a key") as caught:
            deed(left)
        assert "secret_" not in caught.value.message and "again" in caught.value.hint


def test_a_statement_without_secrets_is_itself() -> None:
    """Nothing should change in what holds none, and a password that CellCLI asks for is none."""
    for statement in ("list cell", "alter user joe password=*"):
        assert hide(statement) == reveal(statement) == statement


@pytest.mark.parametrize("capabilities", [DCLI, EXACLI], ids=lambda found: found.name)
def test_a_transport_that_would_show_it_is_refused_before_anybody_is_asked(capabilities: Capabilities) -> None:
    """A transport that has only arguments of programs should carry no plan with a secret; one with an input should."""
    step = Step(target="c1", what="w", statement=hide("ALTER IORMPLAN password='geheim'"))
    plan = Plan(statement="s", rack="r", stages=(Stage(title="t", steps=(step,)),))
    with pytest.raises(RefusedError, match="has a password or a key, and the transport"):
        refuse_plan(plan, capabilities)
    refuse_plan(plan, SSH)
    vault._kept.clear()
    with pytest.raises(RefusedError, match="which exacell does not keep"):
        refuse_plan(plan, SSH)
