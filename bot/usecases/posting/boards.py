"""Boards: start, end, and mark them for an edit when their content has changed."""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.boards import Board, seen
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.live_messages import LiveMessage
from bot.domain.outages import Outage, OutageCause
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.store.transactions import Transaction
from bot.usecases.live_messages import first_post

ONE_AFTER_THE_OTHER = timedelta(seconds=2)


def put_up(transaction: Transaction, board: Board) -> bool:
    """Start a board; False if the channel has one."""
    board_id = transaction.boards.put_up(board)
    if board_id is None:
        return False
    identity = board.made_at.isoformat()
    post = first_post(board.subject, board_id, board.channel_id, board.made_at, identity)
    transaction.outbox.add([post])
    return True


def end_board(transaction: Transaction, board: Board, now: datetime, by: str | None = None) -> None:
    """End a board; its message will say so."""
    transaction.boards.end(board.board_id, now, by)
    transaction.live_messages.mark(board.subject, due_at=now, closed=True)


def message_of(transaction: Transaction, board: Board) -> LiveMessage | None:
    return transaction.live_messages.get([board.board_id]).get(board.board_id)


def is_uneditable(transaction: Transaction, board: Board) -> bool:
    """Whether neither its message nor the replacement can be edited any more.

    This includes messages never posted, because they failed or were dropped with their channel.
    """
    shown = message_of(transaction, board)
    if shown is None or shown.is_lost or shown.message_ts is not None:
        return shown is not None and shown.is_lost
    kind = SubjectKind.LIVE_MESSAGE_AGAIN if shown.is_second else SubjectKind.LIVE_MESSAGE
    subject = Subject(kind, board.repository, shown.message_id)
    post = transaction.outbox.get(board.channel_id, subject)
    return post is None or post.state.is_settled


def mark_boards(
    transaction: Transaction, snapshot: Snapshot, now: datetime, later: datetime
) -> bool:
    """Store a reading; return whether boards have to change.

    A pause and the end of an outage are shown immediately, other changes from `later` on.
    """
    repository = snapshot.repository
    before = transaction.boards.states([repository]).get(repository)
    after = seen(before, snapshot)
    outage = transaction.outages.of_queue(repository)
    if outage is not None:
        transaction.outages.save(replace(outage, ended_at=now))
    elif before is not None and before.picture == after.picture:
        return False
    transaction.boards.save_state(after)
    presses = outage or before is None or before.picture.pause != after.picture.pause
    touch_boards(transaction, repository, now, now if presses else later)
    return True


def mark_outage(
    transaction: Transaction,
    repository: RepositoryName,
    cause: OutageCause,
    read_at: datetime | None,
    now: datetime,
) -> bool:
    """Show on boards that the queue can't be read; return whether that is new.

    `read_at`: when the service last answered, if this process knows.
    """
    before = transaction.boards.states([repository]).get(repository)
    outage = transaction.outages.of_queue(repository)
    if before is None or (outage is not None and outage.cause is cause):
        return False
    if outage is None:
        since = max(before.read_at, read_at or before.read_at)
        transaction.outages.add(Outage((repository,), since, cause=cause))
    else:
        transaction.outages.save(replace(outage, cause=cause))
    touch_boards(transaction, repository, now, now)
    return True


def touch_boards(
    transaction: Transaction, repository: RepositoryName, now: datetime, due_at: datetime
) -> None:
    """Mark the repository's boards for an edit, and end those whose message is gone.

    Edits are spread out, so that other messages are edited in between.
    """
    for board in transaction.boards.kept([repository]):
        if is_uneditable(transaction, board):
            transaction.boards.end(board.board_id, now)
        else:
            transaction.live_messages.mark(board.subject, due_at=due_at)
            due_at += ONE_AFTER_THE_OTHER
