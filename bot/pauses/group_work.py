"""One act on every repository of a group: some at a time, with progress, and one post.

A crash or a restart may cut it off. Another process finishes it, or ends it and notifies the actor.
"""

import asyncio
import logging
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from bot.acts.errors import SecondPersonNeeded
from bot.acts.group_act import (
    FREEZE_ACTIONS,
    GO_ON_WITHIN,
    GroupAct,
    GroupOutcome,
    RepositoryResult,
    acts_like,
    in_order,
)
from bot.acts.group_acts import GroupActs
from bot.acts.record import Action
from bot.acts.recording import ActLog
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic, subscribed_channels
from bot.kernel.actor import Origin
from bot.kernel.errors import BotError, MergeQueueError, UserError, is_uncertain
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import Tasks, repeated
from bot.merge_queue.errors import answer_of
from bot.pauses.group_pauses import as_known, notify_together, subject_of
from bot.pauses.rows import Pauses
from bot.pauses.second_person import ask_for_group
from bot.posts.enqueueing import enqueue_urgent
from bot.store.errors import StoreError
from bot.store.job_lease import JOB_LEASE
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

GROUP_ACTS_AT_ONCE = 8
"""Repositories acted upon at a time: as many requests as the service's client lets be in flight,
so that other people's requests wait for no more than these."""

PROGRESS_SECONDS = 3.0
"""The time between two checks of a group act's progress."""

NEW_RESUME = timedelta(days=1)
"""The actor of an older one, before a long outage, knows the outcome by now."""

Report = Callable[[GroupAct, int], Awaitable[None]]
"""Told after each repository how many of the act's are done."""

Work = Callable[[GroupAct, RepositoryName], Awaitable[RepositoryResult]]
CarryOut = Callable[[GroupAct, Report], Awaitable[GroupAct]]


@dataclass(frozen=True, slots=True)
class SinceThen:
    """Nothing was retried, because of `latest`, a newer act on the group, if it is known."""

    latest: GroupAct | None


@dataclass(frozen=True, slots=True)
class GroupWork:
    """The common part of all acts on a group."""

    acts: ActLog
    progress_seconds: float = PROGRESS_SECONDS

    async def begin(self, act: GroupAct, again: int | None = None) -> GroupAct:
        """Store the act that begins now, and the channels that will get one post.

        `again`: the id of the act whose rest it retries.
        """
        here = frozenset(await self.acts.here(act.channel_id))
        begun = replace(act, at=self.acts.clock.now(), notified_together=here)
        return await self.acts.store.run(_begin, begun, again)

    async def run(self, act: GroupAct, work: Work, report: Report) -> GroupAct:
        """Act on each repository without a result, and end the act.

        The whole has no time limit; each repository has those of its requests. Does nothing while
        another process carries it out.
        """
        async with self.acts.locks.alone(lock_name(act)) as is_ours:
            if not is_ours:
                return act
            done = list(act.results)
            before = {result.repository for result in done}
            concurrency = asyncio.Semaphore(GROUP_ACTS_AT_ONCE)

            async def one(repository: RepositoryName) -> None:
                async with concurrency:
                    done.append(await _guarded(work, act, repository))
                await _show(report, act, len(done))

            async with (
                repeated(self.progress_seconds, partial(self._store_progress, act, done)),
                asyncio.TaskGroup() as tasks,
            ):
                for repository in act.repositories:
                    if repository not in before:
                        tasks.create_task(one(repository))
            return await self.end(replace(act, results=tuple(done)))

    async def _store_progress(self, act: GroupAct, done: Sequence[RepositoryResult]) -> None:
        """Store the progress, and show it in the channels' message."""
        so_far = replace(act, results=tuple(done))
        try:
            if await self.acts.store.run(_store_progress, so_far, self.acts.clock.now()):
                self.acts.wake()
        except StoreError:
            # The act continues; its next progress or its end shows more.
            logger.warning("progress not stored", extra={"action": "progress_not_stored"})
        except Exception:
            logger.exception("progress not stored", extra={"action": "progress_not_stored"})

    async def end(self, act: GroupAct) -> GroupAct:
        """Store its end once, with the message about it."""
        ended = await self.acts.store.run(_end, act, self.acts.clock.now())
        self.acts.wake()
        return ended


async def ignore_progress(_act: GroupAct, _done: int) -> None:
    """Ignore progress that nobody waits for."""


def lock_name(act: GroupAct) -> str:
    return f"group {act.group_act_id}"


def _begin(transaction: Transaction, act: GroupAct, again: int | None) -> GroupAct:
    """Store an act and the channels that get one post: those subscribed to several of its queues.

    `again` is the act whose rest it retries.
    """
    topic = Topic.FREEZE if act.action in FREEZE_ACTIONS else Topic.PAUSE
    times: Counter[str] = Counter()
    for subscriptions in Subscriptions(transaction).of_repositories(act.repositories).values():
        times.update(subscribed_channels(subscriptions, topic))
    together = {
        *act.notified_together,
        *(channel_id for channel_id, count in times.items() if count > 1),
    }
    before = {again} if again is not None else set()
    if act.action in {Action.RESUME, Action.EXTEND}:
        # The channels with a live message of the group's pause.
        before |= {pause.group_act_id for pause in Pauses(transaction).of_group(act.group)}
    for earlier in GroupActs(transaction).get(before).values():
        together |= earlier.notified_together
    begun = replace(act, notified_together=frozenset(together))
    return replace(begun, group_act_id=GroupActs(transaction).save(begun))


def _store_progress(transaction: Transaction, so_far: GroupAct, now: datetime) -> bool:
    """Whether there is progress since it was stored last."""
    stored = GroupActs(transaction).locked(so_far.group_act_id)
    if stored is None or len(stored.results) == len(so_far.results):
        return False
    GroupActs(transaction).save(replace(stored, results=so_far.results))
    if so_far.has_changed:
        notify_together(transaction, so_far, now)
    return True


def _end(transaction: Transaction, act: GroupAct, now: datetime) -> GroupAct:
    found = GroupActs(transaction).locked(act.group_act_id)
    if found is not None and found.ended_at is not None:
        return found
    known = as_known(transaction, act)
    resumes_at = found.resumes_at if found is not None else act.resumes_at
    results = in_order(act.repositories, known.results)
    ended = replace(known, results=results, ended_at=now, resumes_at=resumes_at)
    GroupActs(transaction).save(ended)
    if ended.has_changed:
        notify_together(transaction, ended, now)
    if ended.of(GroupOutcome.ASKED):
        ask_for_group(transaction, ended, now)
    return ended


async def _guarded(work: Work, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
    """One repository that fails does not stop the others."""
    try:
        return await work(act, repository)
    except MergeQueueError as error:
        why = answer_of(error)
        if act.request is not None and is_uncertain(error):
            return RepositoryResult(repository, GroupOutcome.UNCERTAIN, detail=why)
    except StoreError as error:
        why = f"the bot's database: {error}"
    except SecondPersonNeeded as error:
        if error.is_asked:
            return RepositoryResult(repository, GroupOutcome.ASKED, error.by)
        why = str(error)
    except UserError as error:
        why = str(error)
    except Exception:
        reference = uuid.uuid4().hex[:8]
        extra = {"action": "group_part_defect", "repository": repository, "reference": reference}
        logger.exception("a part of an act on a group has a defect", extra=extra)
        why = f"something went wrong on my side (reference {reference})"
        return RepositoryResult(repository, GroupOutcome.FAILED, detail=why)
    logger.warning(
        "a part of an act on a group failed",
        extra={"action": "group_part_failed", "repository": repository, "detail": why},
    )
    return RepositoryResult(repository, GroupOutcome.FAILED, detail=why)


async def _show(report: Report, act: GroupAct, done: int) -> None:
    """Report the progress; that nobody can be shown it doesn't stop the act."""
    try:
        await report(act, done)
    except Exception:
        logger.exception("progress not shown", extra={"action": "progress_not_shown"})


@dataclass(frozen=True, slots=True)
class EndCutShort:
    """Finishes each act once, in the first process to find it. With none it costs one query."""

    work: GroupWork
    carry_out: CarryOut  #: does the rest of an act
    #: the ids of acts whose continuation has a defect
    given_up: set[int] = field(default_factory=set)
    tasks: Tasks = field(
        default_factory=lambda: Tasks(
            "continuing an act on a group has a defect", "continue_defect"
        )
    )

    async def run(self) -> None:
        """Start on acts that were cut off, without waiting for them. Raises StoreError."""
        acts = self.work.acts
        # An act that has just begun may not have its lock yet.
        before = acts.clock.now() - JOB_LEASE
        found = await acts.store.read(lambda transaction: GroupActs(transaction).unended(before))
        self.given_up.intersection_update(act.group_act_id for act in found)
        for act in found:
            is_ours = lock_name(act) in acts.locks.taken
            if not is_ours and act.group_act_id not in self.given_up:
                self.tasks.start(self._guarded(act), lock_name(act))

    async def drain(self) -> None:
        """Leave unfinished acts to the next process."""
        under_way = list(self.tasks)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def _guarded(self, act: GroupAct) -> None:
        try:
            await self._go_on(act)
        except BotError as error:
            logger.warning(
                "an act on a group that was cut off does not go on",
                extra={"action": "group_not_gone_on", "error": type(error).__name__},
            )
        except Exception:
            extra = {"action": "group_go_on_defect", "group": act.group}
            logger.exception("an act on a group that was cut off can't go on", extra=extra)
            await self._give_up(act)

    async def _give_up(self, act: GroupAct) -> None:
        """End an act whose continuation has a defect, which would only be repeated."""
        self.given_up.add(act.group_act_id)
        async with self.work.acts.locks.alone(lock_name(act)) as is_ours:
            if is_ours:
                await self._tell(await self.work.end(act))

    async def _go_on(self, act: GroupAct) -> None:
        acts = self.work.acts
        known, latest = await acts.store.run(
            lambda transaction: (
                as_known(transaction, act),
                GroupActs(transaction).latest(act.group, acts_like(act.action)),
            )
        )
        is_latest = latest is not None and latest.group_act_id == act.group_act_id
        is_recent = acts.clock.now() - act.at < GO_ON_WITHIN
        # Timers resume the rest by themselves.
        if is_latest and is_recent and act.origin is not Origin.TIMER:
            ended = await self.carry_out(known, ignore_progress)
        else:
            async with acts.locks.alone(lock_name(act)) as is_ours:
                ended = await self.work.end(known) if is_ours else act
        await self._tell(ended)

    async def _tell(self, ended: GroupAct) -> None:
        """Send the actor the outcome: their private reply may still show the act as running."""
        acts = self.work.acts
        now = acts.clock.now()
        nobody_waits = (
            ended.origin in {Origin.TIMER, Origin.MACHINE} or now - ended.at >= NEW_RESUME
        )
        is_posted_here = ended.has_changed and ended.channel_id in ended.notified_together
        if ended.ended_at is None or nobody_waits or (is_posted_here and not ended.left_to_try):
            return
        people = [ended.actor.user_id]
        identity = ended.identity
        await acts.store.run(enqueue_urgent, subject_of(ended), people, now, identity=identity)
        acts.wake()
