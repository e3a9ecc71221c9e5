"""Hosts that are not cells: small files of their kernels, read and written."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial

from exacell.change.running import Outcome, StepResult
from exacell.change.targets.base import NO_ANSWER, NOT_YET, DirectWay, Failed, Going, Wanted, failures
from exacell.core.background import unless_interrupted
from exacell.plan.hostsettings import SETTING, written_by
from exacell.plan.model import Check, Step
from exacell.session.answers import problem_of
from exacell.session.hostfiles import read_files, setting_rows, write_files
from exacell.transport.base import Reply, State

_NO_LONGER = "it was sent to DBMCLI, whose changes exacell neither makes nor takes back any more"
"""The reason for checks that an earlier version journalled."""


class Hosts(DirectWay):
    """The way to hosts that are not cells."""

    def failed(self, wanted: Wanted, cancel: threading.Event | None) -> Failed:
        """Return the checks of settings that fail, asked in one round trip."""
        checks = {host: items for host, (_, items) in wanted.items()}
        old = [host for host, items in checks.items() if any(check.object != SETTING for check in items)]
        asked = {host: items for host, items in checks.items() if items and host not in old}
        return {
            **{host: {} for host, items in checks.items() if not items},
            **(self._looked(asked, cancel) if asked else {}),
            **{host: {NO_ANSWER: _NO_LONGER} for host in old},
        }

    def _looked(self, checks: Mapping[str, Sequence[Check]], cancel: threading.Event | None) -> Failed:
        paths = {host: [str(check.where["name"]) for check in items] for host, items in checks.items()}
        look = partial(read_files, self.fleet, paths)
        found = look() if cancel is None else unless_interrupted(look, cancel)
        if found is None:
            return {host: {NO_ANSWER: NOT_YET} for host in checks}
        return {
            host: {NO_ANSWER: files.problem}
            if files.problem
            else failures(checks[host], {SETTING: setting_rows(files)})
            for host, files in found.items()
        }

    def send(self, steps: Sequence[Step], going: Going) -> list[StepResult]:
        """Write each host's values into its files."""
        by_host = {step.target: step for step in steps}
        going.waiting(by_host)
        writes = {host: written_by(step) for host, step in by_host.items()}
        sent = write_files(self.fleet, writes, timeout=going.timeout, ours=going.ours, on_reply=going.answered)
        return [judge(by_host[reply.target], reply) for reply in sent.replies.values()]


def judge(step: Step, reply: Reply) -> StepResult:
    """Return a step's result, judged by the exit status and the host's own words."""
    who, said = reply.fingerprint, reply.stdout + reply.stderr
    if reply.state in (State.UNREACHABLE, State.NOT_ATTEMPTED):
        return StepResult(step=step, outcome=Outcome.REFUSED, reason=problem_of(reply))
    if reply.state is State.OK:
        return StepResult(step=step, outcome=Outcome.DONE, said=said, fingerprint=who)
    told = reply.exit_status is not None and said.strip()
    reason = said.strip().splitlines()[-1] if told else problem_of(reply)
    outcome = Outcome.FAILED if told else Outcome.UNKNOWN
    return StepResult(step=step, outcome=outcome, reason=reason, said=said, fingerprint=who)
