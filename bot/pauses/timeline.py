"""The entries in the thread of a pause's card: what one person changes within two minutes is one.

An entry is a live message, posted with the first change and edited with each that follows.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.acts.record import Action, ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.posts.enqueueing import open_live_messages
from bot.posts.live_message import LiveKind, LiveMessage, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction

ONE_ENTRY = timedelta(minutes=2)
"""How long after the first change another one of the same person joins its entry."""

LOOKBACK = 10 * ONE_ENTRY
"""How far back the beginning of an entry is searched, so that one change is in one entry only."""

TOLD_IN_THREADS = frozenset({Action.PAUSE, Action.EXTEND, Action.KEEP, Action.TAKE_OVER})


def add_to_timeline(
    transaction: Transaction, act: AuditRecord, cards: Sequence[LiveMessage], now: datetime
) -> None:
    """Tell of a stored act in the threads of the cards; one that begins now shows it itself."""
    first = _first_of_entry(transaction, act)
    subject = LiveSubject(LiveKind.CHANGES, act.repository, str(first.record_id))
    roots = {card.channel_id: card.message_id for card in cards if card.created_at != now}
    open_live_messages(transaction, subject, roots, now, identity=first.identity, roots=roots)
    LiveMessages(transaction).mark(subject, due_at=now)


def changes_of_entry(transaction: Transaction, record_id: int) -> Sequence[AuditRecord]:
    """The changes that the entry of this first one tells of, oldest first."""
    first = Audit(transaction).one(record_id)
    if first is None:
        return ()
    entry = [first]
    for act in Audit(transaction).since(first.repository, first.at):
        if not _is_change(act) or act.record_id <= first.record_id:
            continue
        if not _is_told_with(act, first):
            break
        entry.append(act)
    return entry


def _first_of_entry(transaction: Transaction, act: AuditRecord) -> AuditRecord:
    """The first change of the entry that the act belongs to; itself if it begins one."""
    acts = Audit(transaction).since(act.repository, act.at - LOOKBACK)
    first = None
    for other in acts:
        if not _is_change(other) or other.record_id > act.record_id:
            continue
        if first is None or not _is_told_with(other, first):
            first = other
    return first or act


def _is_change(act: AuditRecord) -> bool:
    return act.result is ActResult.DONE and act.action in TOLD_IN_THREADS


def _is_told_with(act: AuditRecord, first: AuditRecord) -> bool:
    """Whether it is the same person's, soon after, and neither makes another pause.

    The card says what a pause begins with.
    """
    begins = act.action is Action.PAUSE and act.previous.paused_at is None
    began = first.action is Action.PAUSE and first.previous.paused_at is None
    is_same_person = act.actor.user_id == first.actor.user_id
    is_alone = not (act.group.act_id or first.group.act_id)
    return not (begins or began) and is_same_person and is_alone and act.at - first.at < ONE_ENTRY
