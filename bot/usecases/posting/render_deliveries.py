"""Renders deliveries when they are posted: one function for each kind of subject."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from bot.domain.audit import Action
from bot.domain.deliveries import POSTS_OF_LIVE_MESSAGES, Delivery, SubjectKind
from bot.domain.errors import PostError
from bot.domain.freezes import Stage
from bot.domain.leases import Lease
from bot.domain.live_messages import LiveKind, LiveMessage
from bot.domain.message import Message
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.statistics import weekly_at, zone_of
from bot.domain.subscriptions import Topic
from bot.messages import (
    alerts,
    errors,
    freezes,
    group_acts,
    pause,
    pause_card,
    reminders,
    removals,
    statistics,
)
from bot.messages.blocks import without_controls
from bot.store.transactions import Transaction
from bot.usecases.freezes import POSTS
from bot.usecases.pausing.group_pauses import group_act_of, still_paused
from bot.usecases.posting.render_events import event_post, summary_post
from bot.usecases.posting.render_live_messages import RENDERERS, guarded
from bot.usecases.weekly_statistics import weekly_statistics

LAST_SEND = timedelta(seconds=8)
"""Nothing starts later than this after the claim.

Reading the address takes seven seconds at most, a request ten. So it is over before another
process may consider the claim abandoned and look up the message.
"""


@dataclass(slots=True)
class Claim:
    """Deliveries claimed together: when, under which lease, and a message for each, by its id.

    There is no message if its subject is gone or over.
    `live`: the live messages that the deliveries post, or to whose threads they go, by id.
    `failed`: the deliveries whose message is plain text because of a defect.
    """

    claimed: Sequence[Delivery]
    at: datetime
    lease: Lease
    live: dict[int, LiveMessage]
    messages: dict[str, Message] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    @property
    def send_until(self) -> datetime:
        return self.at + LAST_SEND

    def root_of(self, delivery: Delivery) -> LiveMessage | None:
        """The first message of its thread; a summary that replaced a reply goes to the channel."""
        is_reply = delivery.root_id is not None and not delivery.summarizes
        return self.live.get(delivery.root_id or 0) if is_reply else None

    def thread_of(self, delivery: Delivery) -> str | None:
        """The `ts` of that first message, once it is posted."""
        root = self.root_of(delivery)
        return root.message_ts if root is not None else None

    def posted_by(self, delivery: Delivery) -> LiveMessage | None:
        """The live message whose first post it is."""
        return self.live.get(delivery.subject.subject_id) if is_first_post(delivery) else None


def render_claim(
    transaction: Transaction, claimed: Sequence[Delivery], now: datetime, lease: Lease
) -> Claim:
    """Render the deliveries as of now; one that can't be rendered becomes plain text.

    Raises StoreError only.
    """
    live = {one.subject.subject_id for one in claimed if is_first_post(one)}
    live |= {one.root_id for one in claimed if one.root_id is not None}
    claim = Claim(claimed, now, lease, dict(transaction.live_messages.get(live)))
    for one in claimed:
        message: Message | None = None
        with guarded(claim.failed, one.delivery_id, log_fields("not_rendered", one)):
            if one.summarizes:
                message = summary_post(transaction, one)
            else:
                message = _RENDERERS[one.subject.kind](transaction, one, claim)
        if one.delivery_id in claim.failed:
            name, updates = one.subject.repository, one.summarizes + 1
            message = errors.unrendered(name, one.kind, updates=updates)
        if message is not None:
            claim.messages[one.delivery_id] = message
    return claim


def is_first_post(delivery: Delivery) -> bool:
    """Whether it posts a live message; a summary may have replaced such a post."""
    return delivery.subject.kind in POSTS_OF_LIVE_MESSAGES and not delivery.summarizes


def log_fields(
    action: str, delivery: Delivery, error: Exception | None = None
) -> dict[str, str | None]:
    name = type(error).__name__ if error is not None else None
    return {
        "action": action,
        "channel": delivery.channel_id,
        "delivery_id": delivery.delivery_id,
        "repository": delivery.subject.repository,
        "subject": f"{delivery.subject.kind} {delivery.subject.subject_id}",
        "error": error.code if isinstance(error, PostError) else name,
    }


def _event(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    root = claim.root_of(delivery)
    return event_post(transaction, delivery, is_reply=root is not None and not root.is_lost)


def _live_message(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    live = claim.live.get(delivery.subject.subject_id)
    if live is None or (live.closed and live.subject.kind is LiveKind.REMINDER):
        return None
    return RENDERERS[live.subject.kind](transaction, live.subject)


def _act(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    act = transaction.audit.one(delivery.subject.subject_id)
    if act is None:
        return None
    if delivery.subject.kind is not SubjectKind.ACT:
        message = pause.replaced(act)
    elif act.action in _PLANS:
        message = _PLANS[act.action](act)
    elif act.pull_request is None:
        message = pause.act(act)
    else:
        linked = transaction.pull_requests.linked(act.repository, [act.pull_request])
        message = removals.done(act, linked.get(act.pull_request))
    if not (act.waits_for_second or act.action is Action.PLAN):
        # In the thread of a card, which has the buttons.
        message = without_controls(message)
    return replace(message, happened_at=act.at)


_PLANS = {Action.PLAN: freezes.planned_pause, Action.SKIP: freezes.skipped_pause}


def _group(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    act = transaction.group_acts.one(delivery.subject.subject_id)
    if act is None:
        return None
    return replace(group_acts.answer(act, posted_here=False), happened_at=act.at)


def _of_pause(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    record = transaction.pauses.one(delivery.subject.subject_id)
    if record is None:
        return None
    match delivery.subject.kind:
        case SubjectKind.REPLACED_ELSEWHERE:
            message = pause_card.replaced_elsewhere(record)
        case SubjectKind.STILL_PAUSED:
            message = pause_card.still_paused(record)
        case SubjectKind.RESUMED:
            again = transaction.pauses.open([record.repository])
            is_theirs = _is_pausers(delivery, record)
            say = pause_card.resumed_for_you if is_theirs else pause_card.resumed
            message = say(record, is_paused_again=bool(again))
        case SubjectKind.GROUP_RESUMED if act := group_act_of(transaction, record):
            message = group_acts.resumed(act, record, is_yours=_is_pausers(delivery, record))
        case SubjectKind.GROUP_RESUMED:
            message = pause_card.resumed(record)
        case _:
            message = pause_card.ended(record)
    return replace(message, happened_at=record.ended_at or record.paused_at)


def _is_pausers(delivery: Delivery, record: PauseRecord) -> bool:
    """Whether it goes to the person who paused, and somebody else resumed the queue."""
    person = delivery.channel_id
    has_resumed = record.ended_by is not None and record.ended_by.user_id == person
    return record.pauser == person and not has_resumed and record.ending is not PauseEnding.TIMER


def _outage(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """None for an outage that ended before it was posted: its end says how long it lasted."""
    outage = transaction.outages.one(delivery.subject.subject_id)
    if outage is None:
        return None
    if delivery.subject.kind is SubjectKind.OUTAGE_OVER:
        return alerts.outage_over(outage)
    return alerts.outage(outage) if outage.ended_at is None else None


def _alert(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """None for an alert that ended before it was posted: its end says what it was about."""
    alert = transaction.alerts.one(delivery.subject.subject_id)
    if alert is None:
        return None
    if delivery.subject.kind is SubjectKind.ALERT_OVER:
        return alerts.over(alert)
    number = alert.pull_request or 0
    seen = transaction.pull_requests.get(alert.repository, [number] if number else [])
    return alerts.alert(alert, seen.get(number)) if alert.ended_at is None else None


def _weekly(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    """None where nothing left the queue and nothing held it, and after unsubscribing."""
    name, day = delivery.subject.repository, date.fromordinal(delivery.subject.subject_id)
    subscriptions = transaction.subscriptions.of_channel(delivery.channel_id)
    own = (one for one in subscriptions if one.repository == name and Topic.WEEKLY in one.topics)
    subscription = next(own, None)
    if subscription is None:
        return None
    end = min(weekly_at(day, zone_of(subscription)), claim.at)
    found = weekly_statistics(transaction, name, end)
    return None if found.is_none else statistics.weekly(found)


def _reminder(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    """To the person who paused; None if the pause is over."""
    record = transaction.pauses.one(delivery.subject.subject_id)
    if record is None or not record.is_open:
        return None
    act = group_act_of(transaction, record)
    left = still_paused(transaction, act) if act is not None else []
    if act is not None and len(left) > 1:
        return reminders.of_group(act, left, claim.at, is_direct=True)
    return reminders.reminder(record, claim.at, is_direct=True)


def _freeze(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """None if the freeze was changed since, or is in a later stage that has a post of its own."""
    about = delivery.subject
    freeze = transaction.freezes.set_by(about.repository, about.subject_id)
    if freeze is None or POSTS.get(freeze.stage) is not about.kind:
        return None
    say = _FREEZE_POSTS[freeze.stage]
    return replace(say(freeze), happened_at=freeze.set_at)


_FREEZE_POSTS = {
    Stage.ANNOUNCED: freezes.announced,
    Stage.IN_FORCE: freezes.begun,
    Stage.OVER: freezes.over,
}

_RENDERERS: Mapping[SubjectKind, Callable[[Transaction, Delivery, Claim], Message | None]] = {
    SubjectKind.EVENT: _event,
    SubjectKind.LIVE_MESSAGE: _live_message,
    SubjectKind.LIVE_MESSAGE_AGAIN: _live_message,
    SubjectKind.ACT: _act,
    SubjectKind.REPLACED: _act,
    SubjectKind.GROUP: _group,
    SubjectKind.PAUSE_END: _of_pause,
    SubjectKind.STILL_PAUSED: _of_pause,
    SubjectKind.RESUMED: _of_pause,
    SubjectKind.GROUP_RESUMED: _of_pause,
    SubjectKind.REPLACED_ELSEWHERE: _of_pause,
    SubjectKind.OUTAGE: _outage,
    SubjectKind.OUTAGE_OVER: _outage,
    SubjectKind.ALERT: _alert,
    SubjectKind.ALERT_OVER: _alert,
    SubjectKind.REMINDER: _reminder,
    SubjectKind.WEEKLY: _weekly,
    SubjectKind.FREEZE_ANNOUNCED: _freeze,
    SubjectKind.FREEZE_BEGUN: _freeze,
    SubjectKind.FREEZE_OVER: _freeze,
}
