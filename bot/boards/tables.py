"""Tables of boards, and what they show."""

import sqlalchemy as sa

from bot.boards.board import UnreadQueue
from bot.queues.picture import Picture
from bot.store.schema import (
    OutsideText,
    Repository,
    UtcTime,
    as_json,
    key,
    optional,
    partial_index,
    required,
    row_number,
    table,
)

board_states = table(
    "board_states",
    "What the boards of one repository show.",
    *key(Repository, "repository"),
    *required(as_json(Picture), "picture"),
    *required(UtcTime, "read_at"),
    *optional(as_json(UnreadQueue), "unread"),
)
"""As for `repositories`, a transaction writes here before it locks live messages."""


boards = table(
    "boards",
    "One message in a channel that shows one repository's live queue until it ends.",
    row_number("board_id"),
    *required(Repository, "repository"),
    *required(sa.Text, "channel_id"),
    *required(OutsideText, "made_by"),
    *required(UtcTime, "made_at"),
    *optional(UtcTime, "ended_at"),
    *optional(OutsideText, "ended_by"),
)


IS_OPEN_BOARD = boards.c.ended_at.is_(None)
# The repository comes first, because boards are read by repository.
partial_index(boards.c.repository, boards.c.channel_id, unique=True, where=IS_OPEN_BOARD)
sa.Index(None, boards.c.ended_at)
