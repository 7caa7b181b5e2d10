"""Moves clocks while nothing is being posted."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

from bot.posts.delivery import DeliveryState

SQLITE = "sqlite:///"
_UNDER_WAY = (DeliveryState.SENDING, DeliveryState.IN_DOUBT)


def moved_at_rest(move: Callable[[], None], database_url: str) -> bool:
    """Move the clocks unless something is being posted or looked for; say whether they were.

    No machine is so slow that a claim ends while its request is under way, as it would for the bot
    if its clock were moved then. The lock for writing is held meanwhile: nothing is claimed between
    the look and the move. Only for databases of SQLite.
    """
    path = database_url.removeprefix(SQLITE)
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return False
        found = connection.execute(
            "SELECT 1 FROM deliveries WHERE settled_at IS NULL AND state IN (?, ?)", _UNDER_WAY
        )
        if found.fetchone() is not None:
            return False
        move()
        return True
