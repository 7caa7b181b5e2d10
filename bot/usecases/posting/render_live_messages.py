"""Renders live messages from the store: one function for each kind."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from bot.domain.audit import Action
from bot.domain.classification import EventKind, is_merge, kinds
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import BotError
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.message import Message
from bot.domain.pause_records import PauseRecord
from bot.domain.preceding_events import with_preceding_events
from bot.domain.threads import events_of, state_of
from bot.messages import board as boards, freezes, freezing, group_acts, pause_card, reminders
from bot.messages.events import event_posts
from bot.store.engines import as_store_errors
from bot.store.transactions import Transaction
from bot.usecases.pausing.group_pauses import paused_again, still_paused
from bot.usecases.pausing.reports import evidence_of
from bot.usecases.preceding_events import with_removals_here

logger = logging.getLogger(__name__)

Key = TypeVar("Key")

SAME_MOMENT = timedelta(seconds=10)
"""Checks that a pause stops may end a little before it."""


def render(
    transaction: Transaction, subjects: Collection[LiveSubject]
) -> tuple[Mapping[LiveSubject, Message], int]:
    """The message for each subject, and how many could not be rendered.

    Subjects that are gone from the store have none. Raises StoreError.
    """
    messages: dict[LiveSubject, Message] = {}
    failed: set[LiveSubject] = set()
    for subject in dict.fromkeys(subjects):
        fields = {"kind": subject.kind, "repository": subject.repository, "key": subject.key}
        with guarded(failed, subject, fields):
            message = RENDERERS[subject.kind](transaction, subject)
            if message is not None:
                messages[subject] = message
    return messages, len(failed)


@contextmanager
def guarded(failed: set[Key], key: Key, fields: Mapping[str, str | None]) -> Iterator[None]:
    """Log a defect and add the key to those that failed, so that the others go on.

    Raises StoreError.
    """
    try:
        with as_store_errors():
            yield
    except BotError:
        raise
    except Exception:
        logger.exception("message not rendered", extra={"action": "not_rendered", **fields})
        failed.add(key)


def _pause(transaction: Transaction, subject: LiveSubject) -> Message | None:
    pause = transaction.pauses.one(int(subject.key))
    if pause is None:
        return None
    evidence = evidence_of(transaction, pause)
    numbers = evidence.pull_requests if evidence is not None else ()
    seen = transaction.pull_requests.linked(pause.repository, numbers) if numbers else {}
    return replace(pause_card.card(pause, evidence, seen), happened_at=pause.paused_at)


def _group(transaction: Transaction, subject: LiveSubject) -> Message | None:
    act = transaction.group_acts.one(int(subject.key))
    if act is None:
        return None
    if act.ended_at is None or act.action is not Action.PAUSE:
        message = group_acts.act(act)
    else:
        left = still_paused(transaction, act)
        names = [one.repository for one in left]
        since = paused_again(transaction, act) if len(left) < len(act.repositories) else ()
        message = group_acts.card(act, names, group_acts.ends_of(left), since)
    return replace(message, happened_at=act.at)


def _queue_entry(transaction: Transaction, subject: LiveSubject) -> Message | None:
    """Its latest state, from its stored events."""
    repository = subject.repository
    entry = transaction.queue_entries.one(repository, subject.key)
    if entry is None:
        return None
    numbers = {entry.pull_request}
    records = transaction.events.of_pull_requests(repository, numbers, since=entry.began_at)
    found = events_of(entry, records)
    kind_of = kinds(found)
    state = state_of(found, kind_of)
    if state is None:
        return None
    around = with_removals_here(transaction, repository, [state], found)
    complete = with_preceding_events(state, around)
    kind = EventKind.MERGE if is_merge(state) else kind_of[state.event_id]
    pauses = transaction.pauses.recent(repository, entry.began_at)
    seen = transaction.pull_requests.linked(repository, numbers).get(entry.pull_request)
    was_paused = any(
        one.paused_at <= state.received_at + SAME_MOMENT
        and (one.ended_at is None or one.ended_at >= state.received_at)
        for one in pauses
    )
    paused = any(one.is_open for one in pauses) if was_paused else None
    message = event_posts.event(complete, seen, kind, paused=paused)
    return replace(message, since=state.received_at, happened_at=entry.began_at)


def _bisection(transaction: Transaction, subject: LiveSubject) -> Message | None:
    """The state of the search for the pull request that broke a batch."""
    repository = subject.repository
    found = transaction.bisections.one(repository, subject.key)
    if found is None:
        return None
    latest = Subject(SubjectKind.EVENT, repository, found.latest_event_id)
    # The event that gave the bisection its key.
    first = Subject(SubjectKind.EVENT, repository, int(subject.key))
    records = transaction.events.get([latest, first])
    record = records.get(latest)
    if record is None:
        return None
    message = event_posts.event(record, None)
    happened_at = records.get(first, record).received_at
    return replace(message, since=record.received_at, happened_at=happened_at)


def _board(transaction: Transaction, subject: LiveSubject) -> Message | None:
    board = transaction.boards.shown_by(subject)
    if board is None:
        return None
    if board.ended_at is not None:
        return boards.ended(board)
    state = transaction.boards.state(board.repository)
    if state is None:
        return None
    return boards.board(board, state)


def _reminder(transaction: Transaction, subject: LiveSubject) -> Message | None:
    kind, _, key = subject.key.partition(" ")
    if kind == "group":
        act = transaction.group_acts.one(int(key))
        left = still_paused(transaction, act) if act is not None else []
        if act is None or not left:
            return reminders.group_over(act) if act is not None else None
        if len(left) > 1:
            return reminders.of_group(act, left, _reminded_at(left[0]))
        return reminders.reminder(left[0], _reminded_at(left[0]))
    pause = transaction.pauses.one(int(key))
    if pause is None or not pause.is_open:
        return reminders.over(pause) if pause is not None else None
    return reminders.reminder(pause, _reminded_at(pause))


def _reminded_at(pause: PauseRecord) -> datetime:
    """The time of its last reminder: edits for other reasons say no other length."""
    plan = pause.reminders
    return plan.last_at if plan is not None and plan.last_at is not None else pause.paused_at


def _freeze(transaction: Transaction, subject: LiveSubject) -> Message | None:
    freeze = transaction.freezes.get(subject.repository, int(subject.key))
    if freeze is None:
        return None
    is_offered = transaction.expiring_keys.has_freezes()
    buttons = freezing.card_controls(freeze) if is_offered else ()
    return replace(freezes.card(freeze, buttons), happened_at=freeze.set_at)


RENDERERS: Mapping[LiveKind, Callable[[Transaction, LiveSubject], Message | None]] = {
    LiveKind.PAUSE: _pause,
    LiveKind.GROUP: _group,
    LiveKind.ENTRY: _queue_entry,
    LiveKind.BISECTION: _bisection,
    LiveKind.BOARD: _board,
    LiveKind.REMINDER: _reminder,
    LiveKind.FREEZE: _freeze,
}
