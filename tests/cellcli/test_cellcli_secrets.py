"""Where passwords and keys stand in a text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from exacell.cellcli.schema import secrets
from exacell.cellcli.secrets import MASK, holds_secret, is_secret_name, masked, masked_data, may_hold
from tests.support.every import every

HELD = {
    "alter cell smtpPwd=geheim": "alter cell smtpPwd=***",
    "alter cell smtpPwd = 'ge heim', smtpPort=25": "alter cell smtpPwd = ***, smtpPort=25",
    'CREATE USER joe PASSWORD="ge;heim"': "CREATE USER joe PASSWORD=***",
    "alter user joe password=geheim": "alter user joe password=***",
    "alter user joe password={geheim}": "alter user joe password=***",
    "run r pw=geheim size=1g": "run r pw=*** size=1g",
    "alter user joe passwordd='geheim'": "alter user joe passwordd=***",
    "alter user joe password 'geheim'": "alter user joe password ***",
    'alter user joe password="geheim': "alter user joe password=***",
    "alter cell snmpUser=((name=u, authProtocol=SHA, authPassword=geheim, privProtocol=AES, privPassword='geheim'))": (
        "alter cell snmpUser=((name=u, authProtocol=SHA, authPassword=***, privProtocol=AES, privPassword=***))"
    ),
    "alter cell snmpSubscriber=((host=h,port=162,community=geheim,type=ASR))": (
        "alter cell snmpSubscriber=((host=h,port=162,community=***,type=ASR))"
    ),
    "alter cell securityPrivKeyPW=geheim": "alter cell securityPrivKeyPW=***",
    "alter cell metricStreamEndPoint=((host='h', token='geheim'))": (
        "alter cell metricStreamEndPoint=((host='h', token=***))"
    ),
    "assign key for cell c1='geheim', db2=geheim": "assign key for cell c1=***, db2=***",
    "assign key for asmcluster a=geheim; list cell": "assign key for asmcluster a=***; list cell",
    "alter cell newerMailPassword=geheim": "alter cell newerMailPassword=***",
    r'''dcli -c a "cellcli -e alter user joe password=\"ge heim\""''': (
        '''dcli -c a "cellcli -e alter user joe password=***"'''
    ),
    """sh "cellcli -e 'alter cell smtpPwd=\\"geheim\\", smtpPort=1'" """: (
        """sh "cellcli -e 'alter cell smtpPwd=***, smtpPort=1'" """
    ),
    'sql asm "alter user u identified by geheim account unlock"': (
        'sql asm "alter user u identified by *** account unlock"'
    ),
    "create user u identified by values 'geheim'": "create user u identified by values ***",
    "line one\nalter user a password='geheim'\nlist cell": "line one\nalter user a password=***\nlist cell",
}

NONE = (
    "list cell attributes snmpUser, smtpPwd",
    "alter user joe password=*",
    'create user joe password="*"',
    "alter cell remotePwdChangeAllowed=true, pwdExpInDays=90",
    "cd /tmp; pwd; PWD=/x ls",
    "list key",
    "resize flashcache size=288g",
    "an alert says: password authentication is off",
)


@every(HELD)
def test_secrets_are_masked_and_nothing_else(text: str) -> None:
    """Of a statement, or of a text that carries some, everything should be left but the secrets."""
    assert masked(text) == HELD[text] and "heim" not in masked(text)
    assert holds_secret(text) and may_hold(text) and not holds_secret(masked(text))
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize("text", NONE)
def test_what_holds_no_secret_stays(text: str) -> None:
    """A name without a value, a password that CellCLI is to ask for, and other words should stay."""
    assert masked(text) == text and not holds_secret(text)


@pytest.mark.parametrize("name", [secret.name for secret in secrets() if secret.place != "clause"])
def test_every_name_of_the_table_is_secret(name: str) -> None:
    """Each name that the schema calls secret should be masked in any case of letters, with and without quotes."""
    for said in (name, name.lower(), name.upper()):
        assert is_secret_name(said)
        for value in ("geheim", "'ge heim'", '"ge""heim"', r"'ge\'heim'"):
            assert masked(f"alter x {said}={value}, more=1") == f"alter x {said}=***, more=1"


DATA: tuple[tuple[Any, Any], ...] = (
    ({"statement": "alter user a password=x"}, {"statement": "alter user a password=***"}),
    ({"flags": {"password": "x", "size": "1g"}}, {"flags": {"password": MASK, "size": "1g"}}),
    (
        {"changes": [{"attribute": "smtpPwd", "before": "", "after": "x"}]},
        {"changes": [{"attribute": "smtpPwd", "before": "", "after": MASK}]},
    ),
    ({"rows": [["smtpPwd", "x"], ["size", "1"]]}, {"rows": [["smtpPwd", MASK], ["size", "1"]]}),
    ({"reply": "key: " + "0af5" * 8}, {"reply": "key: ***"}),
    ({"digest": "0af5" * 8, "number": 5, "none": None}, {"digest": "0af5" * 8, "number": 5, "none": None}),
)


@pytest.mark.parametrize(("data", "wanted"), DATA, ids=lambda value: json.dumps(value)[:40])
def test_data_are_masked_by_text_and_by_name(data: Any, wanted: Any) -> None:
    """Texts within data, values beside a secret attribute's name, and keys in what a cell says should be masked."""
    assert masked_data(data) == wanted
