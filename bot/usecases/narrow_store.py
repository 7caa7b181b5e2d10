"""Transactions of many tasks that leave connections to the database for others."""

import asyncio
from contextlib import AbstractAsyncContextManager
from types import TracebackType

from typing_extensions import override

from bot.domain.errors import StoreUnavailable
from bot.ports import Store, Transaction

POLLS_AT_ONCE = 6
"""Of the 15 connections of a process, those that polls and looks at queues may have."""

OUTCOMES_AT_ONCE = 3
"""Of the same connections, those in which it is stored what became of posts."""

EDITS_AT_ONCE = 1
"""Of the same connections, those in which it is stored what became of edits.

What is left, 5, is for people and for the jobs that run one at a time, presence and leases among
them: whoever waits for a row that is locked keeps a connection, and may do so for seconds.
"""

LAST_WAIT_SECONDS = 5.0


class NarrowStore(Store):
    """The same store, of whose transactions `width` at most are open here at once.

    The others wait in the order in which they came, without a connection and without a limit of
    time: of hundreds that a slow machine has to store at once, the last would be given up.
    """

    def __init__(self, store: Store, width: int) -> None:
        self._store = store
        self._places = asyncio.Semaphore(width)
        self._limits: set[asyncio.Timeout] = set()
        self._is_ending = False

    @property
    @override
    def one_at_a_time(self) -> bool:
        return self._store.one_at_a_time

    @override
    def begin(self) -> AbstractAsyncContextManager[Transaction]:
        return _Begun(self._store, self)

    def begin_no_more(self) -> None:
        """The process is about to end: from now on nobody waits for more than LAST_WAIT_SECONDS.

        A database that does not answer would else have each of those that wait ask it in turn.
        """
        self._is_ending = True
        for limit in self._limits:
            limit.reschedule(self._end_of_wait())

    async def enter(self) -> None:
        """Raises StoreUnavailable, at the end of the process."""
        if not self._places.locked():
            await self._places.acquire()
            return
        limit = asyncio.timeout_at(self._end_of_wait())
        self._limits.add(limit)
        try:
            async with limit:
                await self._places.acquire()
        except TimeoutError:
            raise StoreUnavailable("the transactions before this one did not end") from None
        finally:
            self._limits.discard(limit)

    def leave(self) -> None:
        self._places.release()

    def _end_of_wait(self) -> float | None:
        now = asyncio.get_running_loop().time()
        return now + LAST_WAIT_SECONDS if self._is_ending else None


class _Begun(AbstractAsyncContextManager[Transaction]):
    """Not of `asynccontextmanager`, which takes as long as a statement on SQLite."""

    __slots__ = ("_inner", "_narrow")

    def __init__(self, store: Store, narrow: NarrowStore) -> None:
        self._inner = store.begin()
        self._narrow = narrow

    @override
    async def __aenter__(self) -> Transaction:
        await self._narrow.enter()
        try:
            return await self._inner.__aenter__()
        except BaseException:
            self._narrow.leave()
            raise

    @override
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        try:
            return await self._inner.__aexit__(exc_type, exc_value, traceback)
        finally:
            self._narrow.leave()
