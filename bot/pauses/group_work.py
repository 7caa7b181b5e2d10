"""One act on every repository of a group: some at a time, with progress, and one post.

A crash or a restart may cut it off. Then another process ends it, and the actor can retry the rest.
"""

import asyncio
import logging
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from bot.acts.errors import SecondPersonNeeded
from bot.acts.group_act import (
    FREEZE_ACTIONS,
    GroupAct,
    GroupOutcome,
    RepositoryResult,
    in_group_order,
)
from bot.acts.group_acts import GroupActs
from bot.acts.record import Action
from bot.acts.recording import RecordActs
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic, subscribed_channels
from bot.kernel.errors import (
    ActState,
    FailedAct,
    MergeQueueError,
    UserError,
    failing,
    may_have_changed,
)
from bot.kernel.groups import mention_of
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import repeated
from bot.merge_queue.errors import answer_of
from bot.pauses.group_pauses import (
    channels_of_frozen,
    cut_off,
    notify_together,
    with_recorded,
)
from bot.pauses.requests import touch_proposal
from bot.pauses.rows import Pauses
from bot.pauses.second_person import ask_for_group
from bot.store.errors import StoreError
from bot.store.job_lease import JOB_LEASE
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

GROUP_ACTS_AT_ONCE = 8
"""Repositories acted upon at a time: as many requests as the service's client lets be in flight,
so that other people's requests wait for no more than these."""

PROGRESS_SECONDS = 3.0
"""The time between two checks of a group act's progress."""

Report = Callable[[GroupAct, int], Awaitable[None]]
"""Told after each repository how many of the act's are done."""

Work = Callable[[GroupAct, RepositoryName], Awaitable[RepositoryResult]]


@dataclass(frozen=True, slots=True)
class SinceThen:
    """Nothing was retried, because of `latest`, a newer act on the group, if it is known."""

    latest: GroupAct | None


@dataclass(frozen=True, slots=True)
class GroupWork:
    """The common part of all acts on a group."""

    acts: RecordActs
    progress_seconds: float = PROGRESS_SECONDS

    async def begin(self, act: GroupAct, again: int | None = None) -> GroupAct:
        """Store the act that begins now, and the channels that will get one post.

        `again`: the id of the act whose rest it retries.
        """
        here = frozenset(await self.acts.here(act.channel_id))
        begun = replace(act, at=self.acts.clock.now(), notified_together=here)
        return await self.acts.store.run(_begin_group_act, begun, again)

    async def run(self, act: GroupAct, work: Work, report: Report) -> GroupAct:
        """Act on each repository, and end the act, which has begun.

        The whole has no time limit; each repository has those of its requests. The lock shows that
        its process is alive.
        """
        async with self.acts.locks.alone(lock_name(act)) as is_ours:
            if not is_ours:
                return act
            async with repeated(self.progress_seconds, partial(self._show_progress, act)):
                done = await on_each(act, work, report)
            uncertain = FailedAct(act.action, mention_of(act.group), ActState.UNCERTAIN)
            with failing(uncertain):
                return await self.end(done)

    async def _show_progress(self, act: GroupAct) -> None:
        """Show in the channels' message what the audit has of it by now."""
        try:
            if await self.acts.store.run(_show_progress, act, self.acts.clock.now()):
                self.acts.wake()
        except StoreError:
            # The act continues; its next progress or its end shows more.
            logger.warning("progress not shown", extra={"action": "progress_not_shown"})
        except Exception:
            logger.exception("progress not shown", extra={"action": "progress_not_shown"})

    async def end(self, act: GroupAct) -> GroupAct:
        """Store its end once, with the message about it."""
        ended = await self.acts.store.run(_end_group_act, act, self.acts.clock.now())
        self.acts.wake()
        return ended


async def on_each(act: GroupAct, work: Work, report: Report) -> GroupAct:
    """The act with what the work did, or found, in each repository. Nothing of it is stored here.

    Some are worked on at a time, and one that fails doesn't stop the others.
    """
    done = list[RepositoryResult]()
    concurrency = asyncio.Semaphore(GROUP_ACTS_AT_ONCE)

    async def act_on(repository: RepositoryName) -> None:
        async with concurrency:
            done.append(await _guarded(work, act, repository))
        await _report_progress(report, act, len(done))

    async with asyncio.TaskGroup() as tasks:
        for repository in act.repositories:
            tasks.create_task(act_on(repository))
    return replace(act, results=tuple(done))


async def ignore_progress(_act: GroupAct, _done: int) -> None:
    """Ignore progress that nobody waits for."""


def lock_name(act: GroupAct) -> str:
    return f"group {act.group_act_id}"


def _begin_group_act(transaction: Transaction, act: GroupAct, again: int | None) -> GroupAct:
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
        before |= {pause.line.group_act_id for pause in Pauses(transaction).of_group(act.group)}
    for earlier in GroupActs(transaction).get(before).values():
        together |= earlier.notified_together
    if act.action is Action.UNFREEZE:
        together |= channels_of_frozen(transaction, act.group)
    begun = replace(act, notified_together=frozenset(together))
    return replace(begun, group_act_id=GroupActs(transaction).save(begun))


def _show_progress(transaction: Transaction, act: GroupAct, now: datetime) -> bool:
    """Whether there is any progress to show."""
    so_far = with_recorded(transaction, act)
    if so_far.has_changed:
        notify_together(transaction, so_far, now)
    return so_far.has_changed


def _end_group_act(transaction: Transaction, act: GroupAct, now: datetime) -> GroupAct:
    found = GroupActs(transaction).locked(act.group_act_id)
    if found is not None and found.ended_at is not None:
        return found
    known = with_recorded(transaction, act)
    resumes_at = found.resumes_at if found is not None else act.resumes_at
    results = in_group_order(act.repositories, known.results)
    ended = replace(known, results=results, ended_at=now, resumes_at=resumes_at)
    GroupActs(transaction).save(ended)
    if ended.has_changed:
        notify_together(transaction, ended, now)
    if ended.of(GroupOutcome.ASKED):
        ask_for_group(transaction, ended, now)
    return ended


def _end_cut_off(transaction: Transaction, act: GroupAct, now: datetime) -> GroupAct:
    ended = _end_group_act(transaction, cut_off(transaction, act), now)
    touch_proposal(transaction, ended, now)
    return ended


async def _guarded(work: Work, act: GroupAct, repository: RepositoryName) -> RepositoryResult:
    """One repository that fails does not stop the others."""
    try:
        return await work(act, repository)
    except (MergeQueueError, StoreError) as error:
        why = f"the bot's database: {error}"
        if isinstance(error, MergeQueueError):
            why = answer_of(error)
        if act.request is not None and may_have_changed(error):
            return RepositoryResult(repository, GroupOutcome.UNCERTAIN, detail=why)
    except SecondPersonNeeded as error:
        if error.is_asked:
            return RepositoryResult(repository, GroupOutcome.ASKED, error.by)
        why = str(error)
    except UserError as error:
        why = str(error)
    except Exception:
        reference = uuid.uuid4().hex[:8]
        extra = {"action": "group_part_defect", "repository": repository, "reference": reference}
        logger.exception("a part of an act on a group failed with a defect", extra=extra)
        why = f"something went wrong on my side (reference {reference})"
        return RepositoryResult(repository, GroupOutcome.FAILED, detail=why)
    logger.warning(
        "a part of an act on a group failed",
        extra={"action": "group_part_failed", "repository": repository, "detail": why},
    )
    return RepositoryResult(repository, GroupOutcome.FAILED, detail=why)


async def _report_progress(report: Report, act: GroupAct, done: int) -> None:
    """Report the progress; that nobody can be shown it doesn't stop the act."""
    try:
        await report(act, done)
    except Exception:
        logger.exception("progress not shown", extra={"action": "progress_not_shown"})


@dataclass(frozen=True, slots=True)
class EndCutShort:
    """Ends acts on groups whose process died. With none it costs one query.

    `TellOutcomes` finds out what nobody knows yet, and tells the actor. Timers retry by themselves.
    """

    work: GroupWork

    async def run(self) -> None:
        """Raises StoreError."""
        acts = self.work.acts
        # An act that has just begun may not have its lock yet.
        before = acts.clock.now() - JOB_LEASE
        found = await acts.store.read(lambda transaction: GroupActs(transaction).lasting(before))
        for act in found:
            try:
                await self.end(act)
            except StoreError:
                raise
            except Exception:
                extra = {"action": "end_cut_short_defect", "group": act.group}
                logger.exception("an act that was cut off can't be ended", extra=extra)

    async def end(self, act: GroupAct) -> GroupAct:
        """The act with its end; unchanged while its process carries it out. Raises StoreError."""
        acts = self.work.acts
        async with acts.locks.alone(lock_name(act)) as is_free:
            if not is_free:
                return act
            ended = await acts.store.run(_end_cut_off, act, acts.clock.now())
        acts.wake()
        return ended
