"""Pauses a queue by itself when pull requests in a row fail on one check, if a policy says so."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from bot.domain.audit import Action, AuditRecord, Caller, Evidence, Origin
from bot.domain.auto_pause import (
    AUTO_PAUSE,
    LOOKBACK,
    ONCE_IN,
    AutoPause,
    counted_from,
    failures_in_a_row,
    may_pause,
)
from bot.domain.classification import kinds
from bot.domain.configured import Policy
from bot.domain.errors import MergeQueueError, QueueBusy
from bot.domain.event_records import in_order
from bot.domain.event_types import LEAVE, MERGED
from bot.domain.pauses import signed_reason
from bot.domain.preceding_events import with_preceding_events
from bot.domain.repository import RepositoryName
from bot.messages.pause_card import reason_of
from bot.store.transactions import Transaction
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.polling.poll import Poll
from bot.usecases.preceding_events import preceding_events

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PauseByRule:
    """Decides after each poll that read a removal, and once when this process takes over.

    The decision and the beginning of the act are one transaction under the poll's lease. An act
    that is cut off is ended as a person's is, and counts as the one pause of its hour.
    """

    pause_queue: PauseQueue

    def is_wanted(self, repository: RepositoryName) -> bool:
        return self._policy(repository).auto_pause is not None

    async def run(self, poll: Poll) -> None:
        """Pause if the rule says so; the next poll tries again if it can't. Raises StoreError."""
        policy, acts = self._policy(poll.repository), self.pause_queue.acts
        rule = policy.auto_pause
        if rule is None or not poll.state.removals_new:
            return
        decide = partial(_decide, poll=poll, rule=rule, now=acts.clock.now())
        if await acts.store.read(decide) is not None:
            caller = Caller(AUTO_PAUSE, Origin.RULE)
            act = acts.record(caller, Action.PAUSE, poll.repository)
            begin = partial(_begin, act=act, poll=poll, policy=policy, rule=rule)
            try:
                await self.pause_queue.by_rule(act, begin)
            except (MergeQueueError, QueueBusy) as error:
                fields = {"repository": poll.repository, "error": type(error).__name__}
                logger.warning(
                    "queue not paused by rule", extra={"action": "rule_failed", **fields}
                )
                return
        poll.state.removals_new = False

    def _policy(self, repository: RepositoryName) -> Policy:
        return self.pause_queue.acts.check.configured.policies.of(repository)


def _begin(
    transaction: Transaction, *, act: AuditRecord, poll: Poll, policy: Policy, rule: AutoPause
) -> AuditRecord | None:
    """Decide again, alone, and store the beginning of the act."""
    transaction.leases.require(poll.lease, act.at)
    transaction.pauses.of(act.repository, act.at)
    found = _decide(transaction, poll=poll, rule=rule, now=act.at)
    if found is None:
        return None
    reason = reason_of(found)
    act = replace(
        act,
        reason=reason,
        stored_reason=signed_reason(reason, act.actor),
        resumes_at=act.at + rule.length,
        evidence=replace(found, mention=policy.alert_mention),
    )
    return replace(act, record_id=transaction.audit.add(act))


def _decide(
    transaction: Transaction, *, poll: Poll, rule: AutoPause, now: datetime
) -> Evidence | None:
    """The failures to pause for now; None to leave the queue as it is."""
    name, ahead = poll.repository, poll.state.clock_ahead or timedelta()
    pauses = transaction.pauses.recent(name, now - LOOKBACK)
    if not may_pause(pauses, transaction.audit.since(name, now - ONCE_IN)):
        return None
    since = counted_from(pauses, now, ahead)
    found = [transaction.events.newest(name, one, since) for one in (LEAVE, MERGED)]
    records = in_order([*found[0], *found[1]])
    around = preceding_events(transaction, name, records)
    judged = kinds(records, around)
    events = [(with_preceding_events(one, around), judged[one.event_id]) for one in records]
    return failures_in_a_row(events, rule, now + ahead)
