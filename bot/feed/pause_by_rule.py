"""Pauses a queue by itself when pull requests in a row fail on one check, if a policy says so."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from bot.acts.errors import QueueBusy
from bot.acts.posting import post_act
from bot.acts.reason import signed_reason
from bot.acts.record import Action, ActResult, AuditRecord, Evidence
from bot.acts.rows import Audit
from bot.feed.poll import Poll
from bot.feed.poll_state import asked_to_wait
from bot.health.alert import AlertRules
from bot.kernel.actor import Caller, Origin
from bot.kernel.configured import Policy
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.log.classification import kinds
from bot.log.preceding import with_preceding_events
from bot.log.rows import Events
from bot.merge_queue.errors import answer_of
from bot.merge_queue.event_records import in_order
from bot.merge_queue.event_types import CHECKS_END, LEAVE, MERGED
from bot.pauses.by_rule import (
    AUTO_PAUSE,
    FAILURES_LOOKBACK,
    ONCE_IN,
    TOLD_AT,
    AutoPause,
    PauseRules,
    failures_count_from,
    failures_in_a_row,
    may_pause,
    wait_after,
)
from bot.pauses.history import pause_subscribers
from bot.pauses.pausing import PauseQueue
from bot.pauses.rows import Pauses
from bot.pauses.texts.card import reason_of_rule
from bot.removals.removed_here import preceding_events
from bot.store.coordination import Leases
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PauseByRule:
    """Decides after each poll that read a removal, and once when this process takes over.

    The decision and the beginning of the act are one transaction under the poll's lease. An act
    that is cut off is ended as a person's is. Only a pause that happened counts as the one of its
    hour: what was decided and not done is tried again.
    """

    pause_queue: PauseQueue

    def is_wanted(self, repository: RepositoryName) -> bool:
        return self._policy(repository).rules(PauseRules).auto_pause is not None

    async def run(self, poll: Poll) -> None:
        """Pause if the rule says so; a later poll tries again if it can't. Raises StoreError."""
        policy = self._policy(poll.repository)
        acts = self.pause_queue.acts
        state = poll.state.rule
        rule = policy.rules(PauseRules).auto_pause
        now = acts.clock.now()
        if rule is None or not state.is_due:
            return
        if state.waits_until is not None and now < state.waits_until:
            return
        found = await acts.store.read(partial(_decide, poll=poll, rule=rule, now=now))
        if found is not None:
            caller = Caller(AUTO_PAUSE, Origin.RULE)
            act = acts.record(caller, Action.PAUSE, poll.repository)
            begin = partial(_begin_pause, act=act, poll=poll, policy=policy, rule=rule)
            try:
                await self.pause_queue.by_rule(act, begin)
            except (MergeQueueError, QueueBusy) as error:
                await self._failed(poll, _with_evidence(act, found, policy, rule), error)
                return
        state.is_due = False
        state.is_told = False
        state.failures = 0
        state.waits_until = None

    async def _failed(
        self, poll: Poll, act: AuditRecord, error: MergeQueueError | QueueBusy
    ) -> None:
        """Try again, ever more slowly, and notify the channels while it doesn't work."""
        acts = self.pause_queue.acts
        state = poll.state.rule
        state.failures += 1
        fields = {"repository": poll.repository, "error": type(error).__name__}
        extra = {"action": "rule_failed", **fields, "failures": state.failures}
        logger.warning("queue couldn't be paused automatically", extra=extra)
        hint = timedelta(seconds=asked_to_wait(error) or 0)
        wait = max(wait_after(state.failures), hint)
        now = acts.clock.now()
        state.waits_until = now + wait
        if state.failures >= TOLD_AT and not state.is_told and not isinstance(error, QueueBusy):
            failed = replace(act, at=now, result=ActResult.FAILED).answered(answer_of(error))
            state.is_told = True
            if await acts.store.run(_post_failure, failed):
                acts.wake()

    def _policy(self, repository: RepositoryName) -> Policy:
        return self.pause_queue.acts.check.configured.policies.of(repository)


def _begin_pause(
    transaction: Transaction,
    service_at: datetime,
    *,
    act: AuditRecord,
    poll: Poll,
    policy: Policy,
    rule: AutoPause,
) -> AuditRecord | None:
    """Decide again, alone, and store the beginning of the act."""
    Leases(transaction).require(poll.lease, act.at)
    Pauses(transaction).lock(act.repository)
    found = _decide(transaction, poll=poll, rule=rule, now=act.at)
    if found is None:
        return None
    act = replace(_with_evidence(act, found, policy, rule), service_at=service_at)
    return replace(act, record_id=Audit(transaction).add(act))


def _with_evidence(
    act: AuditRecord, found: Evidence, policy: Policy, rule: AutoPause
) -> AuditRecord:
    """The act with what the rule says of it."""
    reason = reason_of_rule(found)
    return replace(
        act,
        reason=reason,
        stored_reason=signed_reason(reason, act.actor),
        resumes_at=act.at + rule.length,
        evidence=replace(found, mention=policy.rules(AlertRules).mention),
    )


def _post_failure(transaction: Transaction, failed: AuditRecord) -> bool:
    """Notify the channels that follow pauses, once for one row of failures."""
    acts = Audit(transaction).since(failed.repository, failed.at - ONCE_IN)
    is_posted = any(
        act.actor.user_id == AUTO_PAUSE.user_id
        and act.result is ActResult.FAILED
        and act.reason == failed.reason
        and not act.act_id
        for act in acts
    )
    if is_posted:
        return False
    record_id = Audit(transaction).add(failed)
    stored = replace(failed, record_id=record_id)
    post_act(transaction, stored, pause_subscribers(transaction, failed.repository))
    return True


def _decide(
    transaction: Transaction, *, poll: Poll, rule: AutoPause, now: datetime
) -> Evidence | None:
    """The failures to pause for now; None to leave the queue as it is."""
    name = poll.repository
    ahead = poll.state.reading.clock_ahead or timedelta()
    pauses = Pauses(transaction).recent(name, now - FAILURES_LOOKBACK)
    if not may_pause(pauses, Audit(transaction).since(name, now - ONCE_IN)):
        return None
    since = failures_count_from(pauses, now, ahead)
    leaves = Events(transaction).newest(name, LEAVE, since)
    merges = Events(transaction).newest(name, MERGED, since)
    ends = Events(transaction).newest(name, CHECKS_END, since)
    records = in_order([*leaves, *merges, *ends])
    around = preceding_events(transaction, name, records)
    judged = kinds(records, around)
    events = [
        (with_preceding_events(record, around), judged[record.event_id]) for record in records
    ]
    return failures_in_a_row(events, rule, now + ahead)
