"""One act on every repository of a group: some at a time, with progress, and one post."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, Caller
from bot.domain.errors import MergeQueueError, StoreError, UserError, answer_of
from bot.domain.group_acts import (
    CHANGES,
    FREEZES,
    GroupAct,
    GroupOutcome,
    RepositoryResult,
    in_order,
)
from bot.domain.groups import Group
from bot.domain.pause_records import PauseRecord
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Topic, subscribed_channels
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.group_pauses import as_known, notify_together

logger = logging.getLogger(__name__)

CONCURRENCY = 8
"""Repositories acted upon at a time: as many requests as the service's client lets be in flight,
so that other people's requests wait for no more than these."""

PROGRESS_SECONDS = 3.0
"""The time between two checks of a group act's progress."""

Report = Callable[["Progress"], Awaitable[None]]
Work = Callable[[RepositoryName], Awaitable[RepositoryResult]]


@dataclass(frozen=True, slots=True)
class GroupRequest:
    """A request about a group. `asked` is the text typed after its name.

    `again`: the id of the act whose rest to retry.
    """

    group: Group
    caller: Caller
    asked: str = ""
    again: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an act on a group."""

    group: Group
    action: Action
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SinceThen:
    """Nothing was retried, because of `latest`, a newer act on the group, if it is known."""

    latest: GroupAct | None


@dataclass(frozen=True, slots=True)
class GroupWork:
    """The common part of all acts on a group."""

    acts: ActLog

    async def permit(self, request: GroupRequest, action: Action) -> None:
        """Check the permission; raises PermissionDenied, recorded for every repository."""
        first, *others = request.group.repositories
        act = self.acts.record(request.caller, action, first)
        act = replace(act, reason=request.asked or None, group=request.group.name)
        await self.acts.permit(act, others)

    async def rest(self, request: GroupRequest) -> Sequence[RepositoryName] | SinceThen:
        """The repositories that an act left over, unless the group has a newer act.

        Somebody may have resumed the group after a pause that half failed. Pausing the other half
        then would be the opposite of what people want.
        """
        act = await self.act_to_go_on_with(request, CHANGES)
        return act if isinstance(act, SinceThen) else act.left_to_try

    async def act_to_go_on_with(
        self, request: GroupRequest, actions: Collection[Action]
    ) -> GroupAct | SinceThen:
        """The act whose rest was requested, unless the group has a newer one of `actions`."""
        latest = await self.acts.store.run(
            lambda transaction: transaction.group_acts.latest(request.group.name, actions)
        )
        if latest is None or latest.group_act_id != request.again or not latest.left_to_try:
            return SinceThen(latest)
        return latest

    async def paused_for(self, group: str) -> Sequence[PauseRecord]:
        """The pauses made for the group that are in force, as far as the bot knows."""
        return await self.acts.store.run(lambda transaction: transaction.pauses.of_group(group))

    async def begin(
        self,
        request: GroupRequest,
        action: Action,
        repositories: Sequence[RepositoryName],
        resumes_at: datetime | None = None,
    ) -> GroupAct:
        """Store the beginning, and the channels that will get one post.

        `resumes_at`: the due time of the timers that act, or the one end of all pauses.
        """
        caller = request.caller
        here = await self.acts.here(caller.channel_id)
        act = GroupAct(
            group=request.group.name,
            action=action,
            at=self.acts.clock.now(),
            actor=caller.actor,
            origin=caller.origin,
            repositories=tuple(repositories),
            channel_id=caller.channel_id,
            asked=request.asked,
            notified_together=frozenset(here),
            resumes_at=resumes_at,
        )
        return await self.acts.store.run(_begin, act, request.again)

    async def run(self, act: GroupAct, work: Work, report: Report) -> GroupAct:
        """Act on each repository without a result, and end the act.

        The whole has no time limit; each repository has those of its requests. Does nothing while
        another process carries it out.
        """
        async with self.acts.locks.alone(lock_name(act)) as is_ours:
            if not is_ours:
                return act
            done = list(act.results)
            is_over = asyncio.Event()
            telling = asyncio.create_task(self._report_progress(act, done, is_over))
            try:
                await self._all(act, work, report, done)
            finally:
                is_over.set()
                await telling
            return await self.end(replace(act, results=tuple(done)))

    async def _all(
        self, act: GroupAct, work: Work, report: Report, done: list[RepositoryResult]
    ) -> None:
        concurrency = asyncio.Semaphore(CONCURRENCY)
        group, total = Group(act.group, act.repositories), len(act.repositories)
        before = {one.repository for one in done}

        async def one(repository: RepositoryName) -> None:
            async with concurrency:
                done.append(await _guarded(work, repository))
            await report(Progress(group, act.action, len(done), total))

        async with asyncio.TaskGroup() as tasks:
            for repository in act.repositories:
                if repository not in before:
                    tasks.create_task(one(repository))

    async def _report_progress(
        self, act: GroupAct, done: Sequence[RepositoryResult], is_over: asyncio.Event
    ) -> None:
        """Store the progress every few seconds, and show it in the channels' message."""
        stored = len(done)
        while not is_over.is_set():
            try:
                async with asyncio.timeout(PROGRESS_SECONDS):
                    await is_over.wait()
            except TimeoutError:
                if len(done) > stored:
                    stored = len(done)
                    await self._store_so_far(replace(act, results=tuple(done)))

    async def _store_so_far(self, so_far: GroupAct) -> None:
        try:
            await self.acts.store.run(_store_progress, so_far, self.acts.clock.now())
        except StoreError:
            # The act continues; its next progress or its end shows more.
            logger.warning("progress not stored", extra={"action": "progress_not_stored"})
        self.acts.wake()

    async def end(self, act: GroupAct) -> GroupAct:
        """Store its end once, with the message about it."""
        ended = await self.acts.store.run(_end, act, self.acts.clock.now())
        self.acts.wake()
        return ended


async def ignore_progress(_progress: Progress) -> None:
    """Ignore progress that nobody waits for."""


def lock_name(act: GroupAct) -> str:
    """The lock held by the process that carries the act out."""
    return f"group {act.group_act_id}"


def _begin(transaction: Transaction, act: GroupAct, again: int | None) -> GroupAct:
    """Store an act; `again` is the act whose rest it retries."""
    topic = Topic.FREEZE if act.action in FREEZES else Topic.PAUSE
    subscribed = act.notified_together
    subscribed |= _subscribed_to_several(transaction, act.repositories, topic)
    if act.action in {Action.RESUME, Action.EXTEND}:
        subscribed |= _channels_of_group_pause(transaction, act.group)
    if again is not None:
        subscribed |= transaction.group_acts.get([again])[again].notified_together
    begun = replace(act, notified_together=subscribed)
    return replace(begun, group_act_id=transaction.group_acts.add(begun))


def _store_progress(transaction: Transaction, so_far: GroupAct, now: datetime) -> None:
    transaction.group_acts.progress(so_far.group_act_id, so_far.results)
    if so_far.has_changed:
        notify_together(transaction, so_far, now)


def _end(transaction: Transaction, act: GroupAct, now: datetime) -> GroupAct:
    found = transaction.group_acts.locked(act.group_act_id)
    if found is not None and found.ended_at is not None:
        return found
    known = as_known(transaction, act)
    ended = replace(known, results=in_order(act.repositories, known.results), ended_at=now)
    transaction.group_acts.end(act.group_act_id, ended.results, now)
    if ended.has_changed:
        notify_together(transaction, ended, now)
    return ended


def _subscribed_to_several(
    transaction: Transaction, repositories: Collection[RepositoryName], topic: Topic
) -> frozenset[str]:
    """The channels subscribed to the topic for more than one of these."""
    times_found: Counter[str] = Counter()
    subscribed = transaction.subscriptions.of_repositories(repositories)
    for subscriptions in subscribed.values():
        times_found.update(subscribed_channels(subscriptions, topic))
    return frozenset(channel_id for channel_id, times in times_found.items() if times > 1)


def _channels_of_group_pause(transaction: Transaction, group: str) -> frozenset[str]:
    """The channels with a live message of the group's pause."""
    paused = transaction.pauses.of_group(group)
    acts = transaction.group_acts.get({one.group_act_id for one in paused})
    return frozenset(channel_id for act in acts.values() for channel_id in act.notified_together)


async def _guarded(work: Work, repository: RepositoryName) -> RepositoryResult:
    """One repository that fails does not stop the others."""
    try:
        return await work(repository)
    except MergeQueueError as error:
        why = answer_of(error)
    except StoreError as error:
        why = f"the bot's database: {error}"
    except UserError as error:
        why = str(error)
    logger.warning(
        "a part of an act on a group failed",
        extra={"action": "group_part_failed", "repository": repository, "detail": why},
    )
    return RepositoryResult(repository, GroupOutcome.FAILED, detail=why)
