"""Moves clocks while nothing is being posted, and nobody is being answered."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

from bot.posts.delivery import DeliveryState

SQLITE = "sqlite:///"
_UNDER_WAY = (DeliveryState.SENDING, DeliveryState.IN_DOUBT)
_AT_WORK = (
    "SELECT 1 FROM deliveries WHERE settled_at IS NULL AND state IN (?, ?)"
    " UNION ALL SELECT 1 FROM unanswered WHERE NOT was_left"
)
"""Posts, and requests whose outcome isn't to follow later."""


def moved_at_rest(move: Callable[[], None], database_url: str) -> bool:
    """Move the clocks unless something is being posted or answered; say whether they were.

    No machine is so slow that a claim ends while its request is under way, as it would for the bot
    if its clock were moved then: it would look for its own post, or answer a person again. The lock
    for writing is held meanwhile: nothing is claimed between the look and the move. Only for
    databases of SQLite.
    """
    path = database_url.removeprefix(SQLITE)
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return False
        found = connection.execute(_AT_WORK, _UNDER_WAY)
        if found.fetchone() is not None:
            return False
        move()
        return True


def is_at_rest(database_url: str) -> bool:
    """Whether nothing is being posted, and nobody is being answered."""
    return moved_at_rest(lambda: None, database_url)
