"""Ports that can be disturbed before and after every call: a crash, a freeze, a failing store."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from sqlalchemy import Connection
from typing_extensions import override

from bot.merge_queue.port import MergeQueue
from bot.slack.ports import ChannelPoster
from bot.store.errors import StoreUnavailable
from bot.store.transaction import Transaction
from bot.store.transactions import Store

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
    "answered", "METHOD answered" of a method that changes freezes, and, in the transactions of a
    store named so, "NAME begin", "NAME inside", "NAME committed".
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


class _DisturbedConnection:
    """A connection whose every statement is a step."""

    def __init__(self, connection: Connection, steps: Steps, place: str) -> None:
        self._connection = connection
        self._steps = steps
        self._place = place

    def execute(self, *given: Any, **named: Any) -> Any:
        self._steps.strike(self._place)
        return self._connection.execute(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


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
            connection = _DisturbedConnection(transaction.connection, self._steps, inside)
            seen = Transaction(cast("Connection", connection))
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


class _DisturbedPort:
    """A port with a step before and after each call, at the places given for its method."""

    def __init__(
        self, port: object, steps: Steps, places: Mapping[str, tuple[str, str | None]]
    ) -> None:
        self._port = port
        self._steps = steps
        self._places = places

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if name not in self._places:
            return found
        before, after = self._places[name]

        async def call(*given: Any, **named: Any) -> Any:
            await self._steps.step(before)
            result = await found(*given, **named)
            if after is not None:
                await self._steps.step(after)
            return result

        return call


def disturbed_poster(poster: ChannelPoster, steps: Steps) -> ChannelPoster:
    """A poster that may be left before the request, or before the answer is heard."""
    places = {"post": ("post", "posted"), "find": ("find", "found"), "update": ("edit", "edited")}
    return cast("ChannelPoster", _DisturbedPort(poster, steps, places))


def disturbed_merge_queue(service: MergeQueue, steps: Steps) -> MergeQueue:
    """What one of several processes asks of a service."""
    asked = ("event_page", "current_pause", "pause", "resume")
    changing = ("create_freeze", "change_freeze", "delete_freeze")
    places: dict[str, tuple[str, str | None]] = {
        **dict.fromkeys(asked, ("ask", "answered")),
        **dict.fromkeys(("status", "freezes"), ("ask", None)),
        **{method: ("ask", f"{method} answered") for method in changing},
    }
    return cast("MergeQueue", _DisturbedPort(service, steps, places))
