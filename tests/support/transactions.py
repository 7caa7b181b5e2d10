"""A transaction in the calling thread, for tests that look at each of its steps."""

from collections.abc import Iterator
from contextlib import contextmanager

from bot.store.engines import as_store_errors
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.store import InlineStore


@contextmanager
def begin(store: Store) -> Iterator[Transaction]:
    """Committed at the end of the block, rolled back when it raises."""
    if isinstance(store, InlineStore):
        store.require_available()
    with as_store_errors(), store.engine.begin() as connection:
        yield Transaction(connection)
    if isinstance(store, InlineStore):
        store.committed()
