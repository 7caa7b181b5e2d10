"""How much of a disk the database takes grows with it, on each kind of database."""

import shutil

from bot.posts.outbox import Outbox
from bot.store.engines import sqlite_path
from bot.store.space import space_of
from tests.support.databases import TestDatabase
from tests.support.stored import make_new

MANY = 2000
LEAST_BYTES = 100
"""Of a delivery, with its indexes."""


async def test_a_database_says_its_size_and_sqlite_what_is_left(database: TestDatabase) -> None:
    store = database.open_store()
    before = await store.read(lambda transaction: space_of(transaction.connection))
    new = [make_new(number) for number in range(MANY)]
    await store.run(lambda transaction: Outbox(transaction).add(new))

    after = await store.read(lambda transaction: space_of(transaction.connection))

    assert before.database > 0
    assert after.database > before.database + LEAST_BYTES * MANY
    if database.kind == "postgres":
        assert after.free is None
        return
    path = sqlite_path(database.url)
    files = [path.with_name(path.name + side) for side in ("", "-wal", "-shm")]
    assert after.database == sum(file.stat().st_size for file in files)
    left = shutil.disk_usage(path.parent).free
    assert after.free is not None
    assert abs(after.free - left) < left / 2
