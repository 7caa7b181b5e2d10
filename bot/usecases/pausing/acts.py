"""Every act on a queue: who may, one at a time, and its records before and after the request."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.audit import (
    RIGHTS,
    SECOND_PERSON,
    Action,
    Actor,
    ActResult,
    AuditRecord,
    Caller,
    Origin,
)
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.durations import For, Lasting, resumes_at
from bot.domain.errors import (
    MergeQueueError,
    MergeQueueRefused,
    PermissionDenied,
    QueueBusy,
    SecondPersonNeeded,
    answer_of,
)
from bot.domain.group_acts import GroupAct
from bot.domain.pause_records import PauseRecord, extended
from bot.domain.pauses import PauseChange, check_reason, signed_reason
from bot.domain.permissions import Right, is_machine
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.ports import ChannelAccess, ChannelDirectory, Clock, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.check_permission import CheckPermission
from bot.usecases.leases import RepositoryLocks
from bot.usecases.live_messages import enqueue_urgent
from bot.usecases.pausing.pause_history import cards_of
from bot.usecases.pausing.reports import act_behind, end_of, finish_act, report_reading

logger = logging.getLogger(__name__)

SECOND_PERSON_WITHIN = timedelta(hours=1)
"""How long a person's wish to resume somebody else's pause waits for another's."""

RECALLED = timedelta(days=1)
"""For how long a person who comes too late sees who did it."""


@dataclass(slots=True)
class ActLog:
    """Stores the beginning of an act before the service is called, and its end afterwards."""

    store: Store
    clock: Clock
    channels: ChannelDirectory
    check: CheckPermission
    wake: Wake
    locks: RepositoryLocks = field(init=False)

    def __post_init__(self) -> None:
        self.locks = RepositoryLocks(self.store, self.clock)

    def record(
        self,
        caller: Caller,
        action: Action,
        repository: RepositoryName,
        part_of: GroupAct | None = None,
    ) -> AuditRecord:
        """An act that begins now; `part_of` is the act on a group it belongs to, if any."""
        return AuditRecord(
            at=self.clock.now(),
            actor=caller.actor,
            action=action,
            origin=caller.origin,
            repository=repository,
            result=ActResult.STARTED,
            channel_id=caller.channel_id,
            group=part_of.group if part_of is not None else None,
            group_act_id=part_of.group_act_id if part_of is not None else 0,
        )

    async def permit(
        self,
        act: AuditRecord,
        others: Sequence[RepositoryName] = (),
        *,
        right: Right | None = None,
    ) -> None:
        """Check the permission; raises PermissionDenied after recording the refusal once.

        `others`: the other repositories that the same act concerns.
        `right`: the one it needs, if not the usual one of its action.
        """
        try:
            needed = right or RIGHTS[act.action]
            await self.check.require(act.actor, needed, [act.repository, *others])
        except PermissionDenied as denied:
            more = f" (and {len(others):,} more repositories)" if others else ""
            detail = f"{denied}{more}"
            await self.store.run(_add, replace(act, result=ActResult.REFUSED, detail=detail))
            raise

    async def permitted(
        self,
        caller: Caller,
        action: Action,
        repository: RepositoryName,
        reason: str,
        part_of: GroupAct | None = None,
    ) -> AuditRecord:
        """The act, with its reason; raises InvalidReason and PermissionDenied."""
        reason = check_reason(reason)
        act = self.record(caller, action, repository, part_of)
        act = replace(act, reason=reason, stored_reason=signed_reason(reason, caller.actor))
        await self.permit(act)
        return act

    async def permit_all(
        self,
        caller: Caller,
        action: Action,
        repositories: Sequence[RepositoryName],
        *,
        group: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Check for all of them; raises PermissionDenied, audited once."""
        first, *others = repositories
        act = self.record(caller, action, first)
        await self.permit(replace(act, group=group, reason=reason), others)

    async def new_end(
        self, actor: Actor, end: datetime | None, lasting: Lasting, now: datetime
    ) -> datetime:
        """That much later than `end`, or the person's time of day; raises InvalidDuration."""
        if isinstance(lasting, For):
            return extended(end, now, lasting.length)
        return resumes_at(lasting, now, await self.check.zone(actor))

    @asynccontextmanager
    async def locked(self, act: AuditRecord) -> AsyncIterator[None]:
        """Hold the repository lock; raises QueueBusy after recording that nothing was done."""
        try:
            async with self.locks.of(act.repository):
                yield
        except QueueBusy as busy:
            await self.leave(act, str(busy))
            raise

    async def leave(self, act: AuditRecord, detail: str) -> int:
        """Record that a permitted act found nothing to change; `detail` says why.

        Return the id of the record.
        """
        now, unchanged = self.clock.now(), ActResult.UNCHANGED
        return await self.store.run(
            _add, replace(act, at=now, result=unchanged, detail=detail[:500])
        )

    async def last_done(self, act: AuditRecord, action: Action) -> AuditRecord | None:
        """The last act that did `action` to the same queue, or pull request, if it was lately."""
        since = act.at - RECALLED
        acts = await self.store.read(lambda one: one.audit.since(act.repository, since))
        of_same = [one for one in acts if one.pull_request == act.pull_request]
        done = [one for one in of_same if one.action is action and one.result is ActResult.DONE]
        return done[-1] if done else None

    def needs_second(self, act: AuditRecord, known: PauseRecord) -> bool:
        """Whether the policy keeps the actor alone from ending or replacing the pause."""
        is_own = known.pauser == act.actor.user_id
        policy = self.check.configured.policies.of(act.repository)
        return policy.second_person and not is_own and act.origin is not Origin.TIMER

    async def require_own(self, act: AuditRecord, known: PauseRecord) -> None:
        """Raises SecondPersonNeeded after recording that nothing was done."""
        if self.needs_second(act, known):
            await self.leave(act, "the policy keeps somebody else's pause")
            raise SecondPersonNeeded(act.repository, known.by_name, is_asked=False)

    async def require_second(self, act: AuditRecord, known: PauseRecord) -> None:
        """Raises SecondPersonNeeded after asking for one, unless two people want it now."""
        if not self.needs_second(act, known):
            return
        if await self.store.run(_wait_for_second, act, known, await self.here(act.channel_id)):
            self.wake()
            raise SecondPersonNeeded(act.repository, known.by_name, is_asked=True)

    @asynccontextmanager
    async def begun(self, act: AuditRecord) -> AsyncIterator[tuple[AuditRecord, list[str]]]:
        """Store the act, unless it has an id, before the service is asked inside.

        Yields the stored act, and a list for the service's answers. On a MergeQueueError it stores
        a failed end: the service refused, or may yet have changed the queue.
        """
        answers: list[str] = []
        record_id = act.record_id or await self.store.run(_add, act)
        started = replace(act, record_id=record_id)
        try:
            yield started, answers
        except MergeQueueError as error:
            is_refused = isinstance(error, MergeQueueRefused)
            result = ActResult.REFUSED if is_refused else ActResult.FAILED
            answered = replace(started, answer=answer_of(error))
            await self.end(answered, result, f"{type(error).__name__}: {error}"[:500])
            raise

    async def succeed(self, started: AuditRecord) -> PauseChange:
        """Store the end, with deliveries to the actor's channel and all subscribed to pauses."""
        here, now = await self.here(started.channel_id), self.clock.now()
        done = end_of(replace(started, at=now), ActResult.DONE)
        paused_at = done.paused_at
        record, pause = await self.store.run(finish_act, done, here, now, paused_at=paused_at)
        fields = {"act": record.act_id, "act_kind": record.action, "repository": record.repository}
        logger.info("act done", extra={"action": "act_done", **fields})
        self.wake()
        return PauseChange(record, pause, posted_here=bool(here))

    async def end(self, started: AuditRecord, result: ActResult, detail: str | None = None) -> int:
        """Store an end that only the actor sees; return the id of the record."""
        ended = end_of(replace(started, at=self.clock.now()), result, detail)
        return await self.store.run(_add, ended)

    async def settle(self, repository: RepositoryName, pause: Pause) -> None:
        """Give the act that made the pause in force its end, timer and posts, if missing.

        The caller holds the lock of the repository, so nobody else is about to store them.
        """
        if await self.store.run(_settle_cut_off, repository, pause, self.clock.now()):
            self.wake()

    async def here(self, channel_id: str | None) -> list[str]:
        """The actor's channel, if the bot can post there."""
        if channel_id is None:
            return []
        access = await self.channels.access(channel_id)
        return [channel_id] if access is ChannelAccess.OPEN else []


def _add(transaction: Transaction, record: AuditRecord) -> int:
    return transaction.audit.add(record)


def _wait_for_second(
    transaction: Transaction, act: AuditRecord, known: PauseRecord, here: list[str]
) -> bool:
    """Whether another person has yet to want it; the channels are asked once for each person."""
    asked = {
        one.actor.user_id
        for one in transaction.audit.since(act.repository, act.at - SECOND_PERSON_WITHIN)
        if one.waits_for_second
        and known.is_of(one.previous_paused_at)
        and not is_machine(one.actor.user_id)
    }
    actor = act.actor.user_id
    if asked - {actor} and not is_machine(actor):
        return False
    waiting = replace(act, result=ActResult.UNCHANGED, detail=SECOND_PERSON)
    subject = Subject(SubjectKind.ACT, act.repository, transaction.audit.add(waiting))
    if actor not in asked:
        channels = {*here, *(one.channel_id for one in cards_of(transaction, known))}
        enqueue_urgent(transaction, subject, channels, act.at, identity=act.identity)
    return True


def _settle_cut_off(
    transaction: Transaction, repository: RepositoryName, pause: Pause, now: datetime
) -> bool:
    act = act_behind(transaction, repository, pause, now)
    if act is None or act.result is not ActResult.STARTED:
        return False
    report_reading(transaction, repository, pause, act, now)
    return True
