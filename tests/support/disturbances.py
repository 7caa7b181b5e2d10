"""Ports that can be disturbed before and after every call: a crash, a freeze, a failing store."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from inspect import ismethod
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from typing_extensions import override

from bot.domain.errors import StoreUnavailable
from bot.domain.event_log import LARGEST_PAGE, Window
from bot.domain.event_records import EventPage
from bot.domain.freezing import FreezeTerms, ScheduledFreeze
from bot.domain.message import Message, Thread
from bot.domain.queue import Pause, QueueStatus
from bot.domain.repository import RepositoryName
from bot.ports import ChannelPoster, OnAnswer, ignore
from bot.store.transactions import Store, Transaction
from tests.support.merge_queue import FakeMergeQueue

P = ParamSpec("P")
T = TypeVar("T")
Kind = Literal["crash", "freeze", "store fails"]
_STORE_PLACES = ("begin", "inside", "committed")


class Crash(BaseException):
    """The process is dead; no `except Exception` of it does anything any more."""


@dataclass(slots=True)
class Disturbance:
    """What happens at step `at`, counted from the moment it is armed, or at the next it fits.

    With a `place` it fits only there: "post", "posted", "find", "found", "edit", "edited", "ask",
    "answered", and, in the transactions of a store named so, "NAME begin", "NAME inside",
    "NAME committed".
    A freeze does `meanwhile` before the process goes on. `short` ones fit everywhere outside a
    transaction; others not between the decision to send a post and the sending: that moment is
    the one that no lease can guard.
    """

    kind: Kind
    at: int
    meanwhile: Callable[[], Awaitable[None]] | None = None
    short: bool = False
    place: str | None = None

    def fits(self, place: str, open_transactions: int) -> bool:
        if self.place not in {None, place}:
            return False
        match self.kind:
            case "crash":
                return True
            case "freeze":
                return not open_transactions and (self.short or place != "post")
            case "store fails":
                return place.endswith(_STORE_PLACES)


@dataclass
class Steps:
    """The steps of one process, each a place between two awaits."""

    disturbance: Disturbance | None = None
    taken: int = 0
    open_transactions: int = 0
    is_dead: bool = False
    _awake: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._awake.set()

    def arm(self, disturbance: Disturbance | None) -> None:
        self.disturbance = disturbance
        self.taken = 0

    async def step(self, place: str) -> None:
        """Raises Crash or StoreUnavailable, or takes its time."""
        await asyncio.sleep(0)
        await self._awake.wait()
        armed = self.strike(place)
        if armed is None:
            return
        assert armed.meanwhile is not None
        self._awake.clear()
        try:
            await armed.meanwhile()
        finally:
            self._awake.set()

    def strike(self, place: str) -> Disturbance | None:
        """Take the step; raise Crash or StoreUnavailable, or return the freeze to go through."""
        if self.is_dead:
            raise Crash
        self.taken += 1
        armed = self.disturbance
        if armed is None or self.taken < armed.at or not armed.fits(place, self.open_transactions):
            return None
        self.disturbance = None
        if armed.kind == "crash":
            self.is_dead = True
            raise Crash
        if armed.kind == "store fails":
            raise StoreUnavailable("a disturbance")
        return armed


class _Part:
    """A part of a transaction whose every call is a step."""

    def __init__(self, part: object, steps: Steps, place: str) -> None:
        self._part = part
        self._steps = steps
        self._place = place

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if not ismethod(found):
            return _Part(found, self._steps, self._place)

        def call(*given: Any, **named: Any) -> Any:
            self._steps.strike(self._place)
            return found(*given, **named)

        return call


class DisturbedStore(Store):
    """A store whose commits may go unheard."""

    def __init__(self, store: Store, steps: Steps, name: str) -> None:
        self._store = store
        self._steps = steps
        self._name = name

    @override
    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        await self._steps.step(f"{self._name} begin")
        inside = f"{self._name} inside"

        def disturbed(transaction: Transaction) -> T:
            seen = cast("Transaction", _Part(transaction, self._steps, inside))
            result = body(seen, *args, **kwargs)
            self._steps.strike(inside)
            return result

        self._steps.open_transactions += 1
        try:
            result = await self._store.run(disturbed)
        finally:
            self._steps.open_transactions -= 1
        await self._steps.step(f"{self._name} committed")
        return result

    @override
    async def read(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self.run(body, *args, **kwargs)


class DisturbedPoster(ChannelPoster):
    """A poster that may be left before the request, or before the answer is heard."""

    def __init__(self, poster: ChannelPoster, steps: Steps) -> None:
        self._poster = poster
        self._steps = steps

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> str:
        await self._steps.step("post")
        ts = await self._poster.post(channel_id, message, delivery_id, thread)
        await self._steps.step("posted")
        return ts

    @override
    async def find(
        self,
        channel_id: str,
        delivery_id: str,
        since: datetime,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> str | None:
        await self._steps.step("find")
        found = await self._poster.find(channel_id, delivery_id, since, thread_ts, until)
        await self._steps.step("found")
        return found

    @override
    def lacks_buttons(self, channel_id: str, message_ts: str) -> bool:
        return self._poster.lacks_buttons(channel_id, message_ts)

    @override
    async def update(self, channel_id: str, message_ts: str, message: Message) -> None:
        await self._steps.step("edit")
        await self._poster.update(channel_id, message_ts, message)
        await self._steps.step("edited")


class DisturbedMergeQueue(FakeMergeQueue):
    """What one of several processes asks of a service."""

    def __init__(self, service: FakeMergeQueue, steps: Steps) -> None:
        super().__init__(service.repositories)
        self._service = service
        self._steps = steps

    @override
    async def event_page(
        self,
        repository: RepositoryName,
        window: Window,
        *,
        types: Collection[str] = (),
        cursor: str | None = None,
        pull_request: int | None = None,
        base_ref: str | None = None,
        per_page: int = LARGEST_PAGE,
    ) -> EventPage:
        await self._steps.step("ask")
        page = await self._service.event_page(
            repository,
            window,
            types=types,
            cursor=cursor,
            pull_request=pull_request,
            base_ref=base_ref,
            per_page=per_page,
        )
        await self._steps.step("answered")
        return page

    @override
    async def status(self, repository: RepositoryName, branch: str | None = None) -> QueueStatus:
        await self._steps.step("ask")
        return await self._service.status(repository, branch)

    @override
    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        await self._steps.step("ask")
        pause = await self._service.current_pause(repository)
        await self._steps.step("answered")
        return pause

    @override
    async def pause(
        self, repository: RepositoryName, reason: str, *, on_answer: OnAnswer = ignore
    ) -> Pause:
        await self._steps.step("ask")
        pause = await self._service.pause(repository, reason, on_answer=on_answer)
        await self._steps.step("answered")
        return pause

    @override
    async def resume(
        self,
        repository: RepositoryName,
        *,
        on_answer: OnAnswer = ignore,
        may_send: Callable[[], bool] | None = None,
    ) -> bool:
        await self._steps.step("ask")
        resumed = await self._service.resume(repository, on_answer=on_answer, may_send=may_send)
        await self._steps.step("answered")
        return resumed

    @override
    async def freezes(self, repository: RepositoryName) -> tuple[ScheduledFreeze, ...]:
        await self._steps.step("ask")
        return await self._service.freezes(repository)

    @override
    async def create_freeze(
        self,
        repository: RepositoryName,
        wanted: FreezeTerms,
        *,
        on_answer: OnAnswer = ignore,
    ) -> ScheduledFreeze:
        await self._steps.step("ask")
        freeze = await self._service.create_freeze(repository, wanted, on_answer=on_answer)
        await self._steps.step("answered")
        return freeze
