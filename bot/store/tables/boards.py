"""Boards."""

from sqlalchemy import Column, Table, Text

from bot.store.column_types import OutsideText, Repository, UtcTime
from bot.store.tables.schema import RowNumber, metadata, partial_index

boards = Table(
    "boards",
    metadata,
    Column("board_id", RowNumber, primary_key=True),
    Column("channel_id", Text, nullable=False),
    Column("repository", Repository, nullable=False),
    Column("made_by", OutsideText, nullable=False),
    Column("made_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("ended_by", OutsideText),
    sqlite_autoincrement=True,
    comment="One board in one channel, kept up to date or ended.",
)
KEPT = boards.c.ended_at.is_(None)
partial_index(
    "uq_boards_kept",
    boards.c.repository,
    boards.c.channel_id,
    unique=True,
    where=KEPT,
)
"""The repository comes first: each look asks for the boards of a repository."""

_ENDED = boards.c.ended_at.is_not(None)
partial_index("ix_boards_ended_at", boards.c.ended_at, where=_ENDED)
