"""Messages that stay true: posted once, then edited whenever what they say changes."""

from datetime import datetime
from enum import StrEnum

from bot.domain.repository import RepositoryName
from bot.domain.values import value

GENERATIONS = 2
"""A card whose message can be edited no more is posted anew once, and then left alone."""


class CardKind(StrEnum):
    """What a card shows.

    Its `key` names the one it shows: for a pause its `pause_id`, for a group of repositories the
    act that paused it, under the name of its first repository, for a stay in the queue and for a
    bisection its key, for a board its `board_id`.
    """

    PAUSE = "pause"
    GROUP = "group"
    STAY = "stay"
    BISECTION = "bisection"
    BOARD = "board"


POSTED_FIRST = frozenset({CardKind.PAUSE, CardKind.GROUP, CardKind.BOARD})
"""Their first posts go into a channel's urgent line: somebody asked for them."""

EDITED_FIRST = (CardKind.GROUP, CardKind.PAUSE)
"""Slack grants few edits: those that say whether a queue is paused go before all others."""


@value(frozen=True, slots=True)
class CardName:
    """What is shown, in whatever channels."""

    kind: CardKind
    repository: RepositoryName
    key: str


@value(frozen=True, slots=True)
class Card:
    """One message about one thing in one channel.

    `message_ts` is None until its first post, an ordinary delivery, is delivered. `wanted` counts
    the changes of what it says; `shown` is the count its message was last seen to say. It is
    edited while `wanted` is ahead, from `due_at` on. `closed`: nothing changes any more. `is_lost`:
    Slack refuses its edits for good. Generation 2 takes the place of a lost generation 1.
    """

    card_id: int
    name: CardName
    channel_id: str
    generation: int
    message_ts: str | None
    wanted: int
    shown: int
    due_at: datetime
    failures: int
    closed: bool
    is_lost: bool
    created_at: datetime
