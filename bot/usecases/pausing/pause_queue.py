"""Pause a queue at a person's request."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action, AuditRecord, Caller
from bot.domain.durations import Lasting, resumes_at
from bot.domain.errors import MergeQueueError, about, join_answers
from bot.domain.group_acts import GroupAct
from bot.domain.notices import Notice
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import (
    AlreadyPaused,
    Paused,
    PauseOutcome,
    WouldStop,
    check_reason,
    signed_reason,
)
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Impact
from bot.ports import MergeQueue
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.pause_history import know_pause
from bot.usecases.people import who_wants

IMPACT_SECONDS = 1.5
"""Seconds that the question before a pause may take to find out what would stop."""

SAME_END = timedelta(minutes=1)
"""Ends that are no further apart are the same: of two presses on one button."""

Begin = Callable[[Transaction], AuditRecord | None]


@dataclass(frozen=True, slots=True)
class PauseQueue:
    """Pauses a queue, unless it is paused already."""

    merge_queue: MergeQueue
    acts: ActLog

    async def run(
        self,
        caller: Caller,
        repository: RepositoryName,
        reason: str,
        *,
        lasting: Lasting | None = None,
        replacing: datetime | None = None,
        part_of: GroupAct | None = None,
    ) -> PauseOutcome:
        """Pause the queue.

        `replacing`: the time of the pause that it may replace, if any.
        `part_of`: the act on a group that this belongs to; its pauses share that act's end.
        Raises InvalidReason, InvalidDuration, PermissionDenied, QueueBusy, SecondPersonNeeded and
        MergeQueueError.
        """
        act = await self._permitted(caller, repository, reason, lasting, part_of)
        with about(repository):
            async with self.acts.locked(act):
                return await self._under_lock(act, lasting, replacing)

    async def run_or_ask(
        self, caller: Caller, repository: RepositoryName, reason: str, lasting: Lasting | None
    ) -> PauseOutcome | WouldStop:
        """As `run`; but nothing is done yet where running checks would stop."""
        act = await self._permitted(caller, repository, reason, lasting, None)
        impact = await self.impact(caller, repository)
        if impact is not None:
            return WouldStop(impact)
        with about(repository):
            async with self.acts.locked(act):
                return await self._under_lock(act, lasting, None)

    async def impact(self, caller: Caller, repository: RepositoryName) -> Impact | None:
        """What a pause would stop; None where the person is not to be asked about it.

        That is where nothing runs, where they have switched the question off, and where the queue
        is paused already. A slow answer is not waited for: nothing keeps people from pausing.
        """
        try:
            async with asyncio.timeout(IMPACT_SECONDS):
                status = await self.merge_queue.status(repository)
        except (MergeQueueError, TimeoutError):
            return None
        if status.paused or not status.batches:
            return None
        impact = Impact.of(status)
        if not impact.running_batches:
            return None
        user_id = caller.actor.user_id
        is_asked = await self.acts.store.run(_wants_confirmation, user_id, repository)
        return impact if is_asked else None

    async def permit(self, caller: Caller, repositories: Sequence[RepositoryName]) -> None:
        """Check before asking for a reason; raises PermissionDenied, audited once."""
        first, *others = repositories
        await self.acts.permit(self.acts.record(caller, Action.PAUSE, first), others)

    async def _permitted(
        self,
        caller: Caller,
        repository: RepositoryName,
        reason: str,
        lasting: Lasting | None,
        part_of: GroupAct | None,
    ) -> AuditRecord:
        reason = check_reason(reason)
        act = self.acts.record(caller, Action.PAUSE, repository, part_of)
        act = replace(act, reason=reason, stored_reason=signed_reason(reason, caller.actor))
        await self.acts.permit(act)
        if part_of is not None:
            return replace(act, resumes_at=part_of.resumes_at)
        if lasting is None:
            return act
        zone = await self.acts.check.zone(caller.actor)
        return replace(act, resumes_at=resumes_at(lasting, act.at, zone))

    async def _under_lock(
        self, act: AuditRecord, lasting: Lasting | None, replacing: datetime | None
    ) -> PauseOutcome:
        current = await self.merge_queue.current_pause(act.repository)
        if current is None:
            return await self._pause(act, None)
        await self.acts.settle(act.repository, current)
        known = await know_pause(self.acts.store, act.repository, current)
        is_same = _says_so_already(known, act)
        if not known.is_of(replacing) or is_same:
            await self.acts.leave(act, "already paused")
            return AlreadyPaused(known, act.reason or "", lasting, is_same=is_same)
        await self.acts.require_own(act, known)
        before = replace(
            act,
            previous_reason=known.reason,
            previous_paused_at=known.paused_at,
            resumes_at=act.resumes_at or known.end_to_come(act.at),
        )
        return await self._pause(before, known)

    async def by_rule(self, act: AuditRecord, begin: Begin) -> Paused | None:
        """Pause for a rule of the settings, which needs no permission; None if it is not to.

        `begin`: decides, and stores the act's beginning in the same transaction.
        Raises QueueBusy and MergeQueueError.
        """
        with about(act.repository):
            async with self.acts.locked(act):
                current = await self.merge_queue.current_pause(act.repository)
                if current is not None:
                    await self.acts.settle(act.repository, current)
                    return None
                started = await self.acts.store.run(begin)
                return None if started is None else await self._ask_service(started, None)

    async def _pause(self, act: AuditRecord, known: PauseRecord | None) -> Paused:
        return await self._ask_service(await self.acts.start(act), known)

    async def _ask_service(self, started: AuditRecord, known: PauseRecord | None) -> Paused:
        answers: list[str] = []
        try:
            pause = await self.merge_queue.pause(
                started.repository, started.stored_reason or "", on_answer=answers.append
            )
        except MergeQueueError as error:
            await self.acts.fail(started, error)
            raise
        done = replace(
            started,
            stored_reason=pause.reason,
            paused_at=pause.paused_at,
            answer=join_answers(answers),
        )
        return Paused(await self.acts.succeed(done), known)


def _wants_confirmation(transaction: Transaction, user_id: str, repository: RepositoryName) -> bool:
    wants = who_wants(transaction, Notice.CONFIRMATION, [user_id])
    return bool(wants) and not transaction.pauses.open([repository])


def _says_so_already(known: PauseRecord, act: AuditRecord) -> bool:
    """Whether the same person paused with that reason, and with that end if they gave one."""
    if known.by is None or known.by.user_id != act.actor.user_id or known.reason != act.reason:
        return False
    if act.resumes_at is None:
        return True
    return known.resumes_at is not None and abs(known.resumes_at - act.resumes_at) < SAME_END
