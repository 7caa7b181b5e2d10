"""Group actions on fakes: many repositories, and a service that counts concurrent requests."""

import asyncio
from dataclasses import dataclass, field

from typing_extensions import override

from bot.acts.group_act import GroupAct
from bot.acts.record import Action, AuditRecord, AuditSelection
from bot.acts.rows import Audit
from bot.desk.readers.acts import read_asked
from bot.freezes.freezing import FreezeQueue
from bot.groups.acting import ActOnGroups
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.groups import Group
from bot.kernel.repository import RepositoryName
from bot.pauses.group_work import GroupWork
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from tests.support.acting import Acting
from tests.support.make import ALICE, CHANNEL
from tests.support.merge_queue import Call, FakeMergeQueue
from tests.support.transactions import begin


@dataclass
class BusyMergeQueue(FakeMergeQueue):
    """Each request takes one round: those in flight together end together.

    `most` is how many were in flight at once, `rounds` how many rounds there were.
    """

    in_flight: int = 0
    most: int = 0
    rounds: int = 0
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        self.before_answer = self._round

    async def _round(self, call: Call) -> None:
        if call.method not in {"current_pause", "pause", "resume"}:
            return
        loop = asyncio.get_running_loop()
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        ended: asyncio.Future[None] = loop.create_future()
        if not self._waiting:
            self._end_soon(loop, patience=50)
        self._waiting.append(ended)
        await ended
        self.in_flight -= 1

    def _end_soon(self, loop: asyncio.AbstractEventLoop, patience: int) -> None:
        """After enough turns of the loop for everybody who is about to ask to have asked."""
        if patience:
            loop.call_soon(self._end_soon, loop, patience - 1)
            return
        self.rounds += 1
        waiting = self._waiting
        self._waiting = []
        for each in waiting:
            each.set_result(None)


@dataclass
class ActingOnGroups(Acting):
    """`Acting` on as many repositories as are asked for, all of them in the group `release`."""

    count: int = 3
    is_busy: bool = False
    reports: list[int] = field(default_factory=list)
    """How many repositories were done at each report."""

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        self.names = tuple(RepositoryName(f"acme/repo-{n:02}") for n in range(self.count))
        kind = BusyMergeQueue if self.is_busy else FakeMergeQueue
        self.use(kind(repositories=self.names, clock=self.clock))
        self.group = Group("release", self.names)

    def use(self, merge_queue: FakeMergeQueue) -> None:
        self.merge_queue = merge_queue
        self.wire()
        self.work = GroupWork(self.acts)
        freezing = FreezeQueue(self.merge_queue, self.acts)
        self.groups = ActOnGroups(self.pausing, self.resuming, freezing, self.work)

    async def report(self, _act: GroupAct, done: int) -> None:
        self.reports.append(done)

    def request(
        self, asked: str = "", actor: Actor = ALICE, *, action: Action = Action.PAUSE
    ) -> GroupAct:
        self.clock.advance(1)
        caller = Caller(actor, Origin.COMMAND, CHANNEL)
        return GroupAct.by(caller, self.clock.now(), action, self.group, read_asked(asked))

    async def do(self, request: GroupAct, *, again: int | None = None) -> GroupAct:
        """What comes of a request that nothing since then has overtaken."""
        ended = await self.groups.act(request, self.report, again=again)
        assert isinstance(ended, GroupAct)
        return ended

    async def pause_group(
        self, asked: str = "freeze", actor: Actor = ALICE, *, again: int | None = None
    ) -> GroupAct:
        return await self.do(self.request(asked, actor), again=again)

    async def resume_group(self, actor: Actor = ALICE, *, again: int | None = None) -> GroupAct:
        return await self.do(self.request("", actor, action=Action.RESUME), again=again)

    async def held(self) -> list[PauseRecord]:
        with begin(self.store) as transaction:
            return list(Pauses(transaction).of_group("release"))

    async def whole_audit(self) -> list[AuditRecord]:
        with begin(self.store) as transaction:
            return list(Audit(transaction).oldest(AuditSelection(), 10_000))
