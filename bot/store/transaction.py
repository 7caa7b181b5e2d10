"""An open transaction."""

from dataclasses import dataclass

from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open transaction; `Pauses(transaction)` and its like work in it."""

    connection: Connection
