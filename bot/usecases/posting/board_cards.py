"""The messages of boards: opened, touched when what they say has changed, and what they say."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from bot.domain.boards import Board, Outage, Sight, seen, unseen
from bot.domain.cards import Card, CardKind, CardName
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import board as messages
from bot.store.transactions import Transaction
from bot.usecases.open_card import open_cards

ONE_AFTER_THE_OTHER = timedelta(seconds=2)


def card_of(board: Board) -> CardName:
    """The name of a board's card."""
    return CardName(CardKind.BOARD, board.repository, str(board.board_id))


def open_board(transaction: Transaction, board: Board) -> None:
    made_at = board.made_at
    open_cards(
        transaction, card_of(board), [board.channel_id], made_at, identity=made_at.isoformat()
    )


def close_board(transaction: Transaction, board: Board, now: datetime) -> None:
    """Have its message say that it has ended."""
    transaction.cards.touch(card_of(board), due_at=now, closed=True)


def newest_card(transaction: Transaction, board: Board) -> Card | None:
    """The one whose message people see, if they see any."""
    return next(reversed(transaction.cards.of(card_of(board))), None)


def is_out_of_sight(transaction: Transaction, board: Board) -> bool:
    """Whether its message, and the one that took its place, can be edited no more.

    Or was never posted and never will be: it was given up, or dropped with its channel.
    """
    newest = newest_card(transaction, board)
    if newest is None or newest.is_lost or newest.message_ts is not None:
        return newest is not None and newest.is_lost
    subject = Subject(SubjectKind.CARD, board.repository, newest.card_id)
    first_post = transaction.outbox.get(board.channel_id, subject)
    return first_post is None or first_post.state.is_settled


def tell_boards(
    transaction: Transaction, snapshot: Snapshot, now: datetime, later: datetime
) -> bool:
    """Keep what was read; whether boards have to say something else now.

    A pause and the end of an outage are told at once, all else from `later` on.
    """
    before = (transaction.boards.sights([snapshot.repository])).get(snapshot.repository)
    after = seen(before, snapshot)
    if before is not None and before.says_the_same(after):
        return False
    transaction.boards.save_sight(after)
    presses = before is None or (before.picture.pause, before.outage) != (
        after.picture.pause,
        after.outage,
    )
    touch_boards(transaction, after, now, now if presses else later)
    return True


def tell_outage(
    transaction: Transaction,
    repository: RepositoryName,
    outage: Outage,
    since: datetime,
    read_at: datetime | None,
    now: datetime,
) -> bool:
    """Have boards say that the queue cannot be read; whether that is new to them.

    `read_at`: when the service last answered.
    """
    before = transaction.boards.sights([repository]).get(repository)
    if before is None:
        return False
    after = unseen(before, outage, since, read_at)
    if before.says_the_same(after):
        return False
    transaction.boards.save_sight(after)
    touch_boards(transaction, after, now, now)
    return True


def touch_boards(transaction: Transaction, sight: Sight, now: datetime, due_at: datetime) -> None:
    """Have the boards of the repository edited; those that nobody can see any more end.

    Many are edited one after the other, so that other cards get their turn among them.
    """
    for board in transaction.boards.kept([sight.repository]):
        if is_out_of_sight(transaction, board):
            transaction.boards.end(board.board_id, now)
        else:
            transaction.cards.touch(card_of(board), due_at=due_at)
            due_at += ONE_AFTER_THE_OTHER


def load_board_cards(transaction: Transaction, cards: Sequence[Card]) -> Mapping[int, Message]:
    """A message for each card, by its id; none where the board is gone."""
    if not cards:
        return {}
    boards = transaction.boards.get({int(card.name.key) for card in cards})
    sights = transaction.boards.sights({card.name.repository for card in cards})
    messages_by_card: dict[int, Message] = {}
    for card in cards:
        board, sight = boards.get(int(card.name.key)), sights.get(card.name.repository)
        if board is not None and board.ended_at is not None:
            messages_by_card[card.card_id] = messages.ended(board)
        elif board is not None and sight is not None:
            messages_by_card[card.card_id] = messages.board(board, sight)
    return messages_by_card
