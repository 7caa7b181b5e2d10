"""The messages of deliveries, made at posting time from what they refer to."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.deliveries import Delivery, SubjectKind, is_person
from bot.domain.errors import BotError
from bot.domain.message import Message
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.reminders import is_newest, pause_of
from bot.messages import alerts, pause, pause_card, reminders, staleness, unrendered
from bot.messages.groups import group_acts
from bot.store.failures import as_store_errors
from bot.store.transactions import Transaction
from bot.usecases.pausing.group_pauses import group_act_of, still_paused
from bot.usecases.posting.render_cards import load_cards
from bot.usecases.posting.render_events import load_events, load_summary

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message for each delivery, by its id; none where what it refers to is gone or over.

    `revisions`: which state of its card a card's first post says. `roots`: the first message of the
    thread of each card that something is told in. `failed`: how many messages are plain text
    because a defect kept them from being rendered.
    """

    messages: Mapping[str, Message]
    revisions: Mapping[str, int]
    roots: Mapping[int, str]
    failed: int = 0


def load_messages(
    transaction: Transaction, deliveries: Sequence[Delivery], now: datetime
) -> Rendered:
    """What the deliveries say now. One that cannot be rendered becomes plain text.

    Raises StoreError only.
    """
    try:
        with as_store_errors():
            return _load(transaction, deliveries, now)
    except BotError:
        raise
    except Exception as error:
        if len(deliveries) == 1:
            logger.exception("message not rendered", extra=_fields(deliveries[0], error))
            return _plain(deliveries[0])
    alone = [load_messages(transaction, [one], now) for one in deliveries]
    return Rendered(
        {key: message for one in alone for key, message in one.messages.items()},
        {key: revision for one in alone for key, revision in one.revisions.items()},
        {key: ts for one in alone for key, ts in one.roots.items()},
        sum(one.failed for one in alone),
    )


def _plain(delivery: Delivery) -> Rendered:
    subject = delivery.subject
    message = unrendered.plain(subject.repository, delivery.kind, told=delivery.folded + 1)
    return Rendered({delivery.delivery_id: message}, {}, {}, failed=1)


def _fields(delivery: Delivery, error: Exception) -> dict[str, str]:
    return {
        "action": "not_rendered",
        "channel": delivery.channel_id,
        "delivery_id": delivery.delivery_id,
        "repository": delivery.subject.repository,
        "subject": f"{delivery.subject.kind} {delivery.subject.subject_id}",
        "error": type(error).__name__,
    }


def _load(transaction: Transaction, deliveries: Sequence[Delivery], now: datetime) -> Rendered:
    single = [one for one in deliveries if not one.folded]
    by_kind: dict[SubjectKind, list[Delivery]] = defaultdict(list)
    for one in single:
        by_kind[one.subject.kind].append(one)
    messages = load_events(transaction, by_kind[SubjectKind.EVENT])
    messages |= _act_messages(transaction, single)
    messages |= _group_messages(transaction, by_kind[SubjectKind.GROUP])
    messages |= _pause_messages(transaction, single)
    messages |= _stalenesses(transaction, single)
    messages |= _alerts(transaction, single)
    messages |= _reminders(transaction, by_kind[SubjectKind.REMINDER], now)
    cards = transaction.cards.get(_ids(by_kind[SubjectKind.CARD]))
    shown = load_cards(transaction, list(cards.values()))
    revisions: dict[str, int] = {}
    for one in by_kind[SubjectKind.CARD]:
        if one.subject.subject_id in shown:
            messages[one.delivery_id] = shown[one.subject.subject_id]
            revisions[one.delivery_id] = cards[one.subject.subject_id].wanted
    for one in deliveries:
        if one.folded:
            messages[one.delivery_id] = load_summary(transaction, one)
    return Rendered(messages, revisions, _roots(transaction, single))


def _roots(transaction: Transaction, deliveries: Sequence[Delivery]) -> Mapping[int, str]:
    """A card whose message was lost has its thread under the one that took its place."""
    wanted = {one.card_id for one in deliveries if one.card_id is not None}
    cards = transaction.cards.get(wanted) if wanted else {}
    roots: dict[int, str] = {}
    for card in cards.values():
        newest = card
        if card.is_lost:
            heirs = transaction.cards.of(card.name)
            newest = [one for one in heirs if one.channel_id == card.channel_id][-1]
        if newest.message_ts is not None:
            roots[card.card_id] = newest.message_ts
    return roots


def _ids(deliveries: Sequence[Delivery]) -> list[int]:
    return [one.subject.subject_id for one in deliveries]


_OF_ACTS = {SubjectKind.ACT: pause.act, SubjectKind.REPLACED: pause.replaced}
_OF_PAUSES = frozenset(
    {
        SubjectKind.PAUSE_END,
        SubjectKind.STILL_PAUSED,
        SubjectKind.RESUMED,
        SubjectKind.GROUP_RESUMED,
        SubjectKind.REPLACED_ELSEWHERE,
    }
)


def _act_messages(transaction: Transaction, deliveries: Sequence[Delivery]) -> dict[str, Message]:
    telling = [one for one in deliveries if one.subject.kind in _OF_ACTS]
    acts = transaction.audit.get(_ids(telling)) if telling else {}
    return {
        one.delivery_id: replace(
            _OF_ACTS[one.subject.kind](acts[one.subject.subject_id]),
            happened_at=acts[one.subject.subject_id].at,
        )
        for one in telling
        if one.subject.subject_id in acts
    }


def _group_messages(transaction: Transaction, deliveries: Sequence[Delivery]) -> dict[str, Message]:
    acts = transaction.group_acts.get(_ids(deliveries))
    return {
        one.delivery_id: replace(
            group_acts.answer(acts[one.subject.subject_id], posted_here=False),
            happened_at=acts[one.subject.subject_id].at,
        )
        for one in deliveries
        if one.subject.subject_id in acts
    }


def _pause_messages(transaction: Transaction, deliveries: Sequence[Delivery]) -> dict[str, Message]:
    telling = [one for one in deliveries if one.subject.kind in _OF_PAUSES]
    pauses = transaction.pauses.get(_ids(telling)) if telling else {}
    return {
        one.delivery_id: replace(
            _pause_message(transaction, one, record),
            happened_at=record.ended_at or record.paused_at,
        )
        for one in telling
        if (record := pauses.get(one.subject.subject_id)) is not None
    }


def _pause_message(transaction: Transaction, delivery: Delivery, record: PauseRecord) -> Message:
    match delivery.subject.kind:
        case SubjectKind.REPLACED_ELSEWHERE:
            return pause_card.replaced_elsewhere(record)
        case SubjectKind.STILL_PAUSED:
            return pause_card.still_paused(record)
        case SubjectKind.RESUMED:
            again = transaction.pauses.open([record.repository])
            is_theirs = _is_pausers(delivery, record)
            say = pause_card.resumed_for_you if is_theirs else pause_card.resumed
            return say(record, is_paused_again=bool(again))
        case SubjectKind.GROUP_RESUMED:
            act = group_act_of(transaction, record)
            if act is None:
                return pause_card.resumed(record)
            return group_acts.resumed(act, record, is_yours=_is_pausers(delivery, record))
        case _:
            return pause_card.ended(record)


def _is_pausers(delivery: Delivery, record: PauseRecord) -> bool:
    """Whether it goes to the person who paused, and somebody else resumed the queue."""
    person = delivery.channel_id
    has_resumed = record.ended_by is not None and record.ended_by.user_id == person
    is_theirs = record.by is not None and record.by.user_id == person
    return is_theirs and not has_resumed and record.ending is not PauseEnding.TIMER


_OF_STALENESS = {
    SubjectKind.STALE: staleness.stale,
    SubjectKind.READ_AGAIN: staleness.read_again,
}


def _stalenesses(transaction: Transaction, deliveries: Sequence[Delivery]) -> dict[str, Message]:
    """None for an outage that ended before it could be told: its end says how long it lasted."""
    telling = [one for one in deliveries if one.subject.kind in _OF_STALENESS]
    known = transaction.stalenesses.get(_ids(telling)) if telling else {}
    messages: dict[str, Message] = {}
    for one in telling:
        told = known.get(one.subject.subject_id)
        if told is None or (one.subject.kind is SubjectKind.STALE and told.ended_at is not None):
            continue
        messages[one.delivery_id] = _OF_STALENESS[one.subject.kind](told)
    return messages


_OF_ALERTS = frozenset({SubjectKind.ALERT, SubjectKind.ALERT_OVER})


def _alerts(transaction: Transaction, deliveries: Sequence[Delivery]) -> dict[str, Message]:
    """None for an alert that was over before it could be told: its end says what it was about."""
    telling = [one for one in deliveries if one.subject.kind in _OF_ALERTS]
    known = transaction.queue_condition.get(_ids(telling)) if telling else {}
    messages: dict[str, Message] = {}
    for one in telling:
        alert = known.get(one.subject.subject_id)
        if alert is None:
            continue
        if one.subject.kind is SubjectKind.ALERT_OVER:
            messages[one.delivery_id] = alerts.over(alert)
            continue
        if alert.ended_at is not None:
            continue
        number = alert.pull_request
        wanted = {number} if number is not None else set()
        seen = transaction.pull_requests.get(alert.repository, wanted)
        found = seen.get(number) if number is not None else None
        messages[one.delivery_id] = alerts.alert(alert, found)
    return messages


def _reminders(
    transaction: Transaction, deliveries: Sequence[Delivery], now: datetime
) -> dict[str, Message]:
    """None for a pause that is over by now, and where a later one waits behind it in a channel.

    The first goes to the pauser alone: what channels are told later is no reason to keep it back.
    """
    pauses = transaction.pauses.get([pause_of(each) for each in _ids(deliveries)])
    messages: dict[str, Message] = {}
    for one in deliveries:
        reminder_id = one.subject.subject_id
        record = pauses.get(pause_of(reminder_id))
        if record is None or not record.is_open:
            continue
        if is_person(one.channel_id) or is_newest(reminder_id, record.reminders):
            act = group_act_of(transaction, record)
            left = still_paused(transaction, act) if act is not None else []
            messages[one.delivery_id] = (
                reminders.of_group(act, left, now)
                if act is not None and len(left) > 1
                else reminders.reminder(record, now)
            )
    return messages
