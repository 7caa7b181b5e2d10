"""The results of every act on a queue: its audit records and posts."""

import logging
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.audit import (
    RIGHTS,
    SECOND_PERSON,
    Action,
    ActResult,
    AuditRecord,
    Caller,
    Evidence,
    Origin,
)
from bot.domain.auto_pause import AUTO_PAUSE
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import (
    MergeQueueError,
    MergeQueueRefused,
    PermissionDenied,
    QueueBusy,
    SecondPersonNeeded,
    about,
    answer_of,
)
from bot.domain.group_acts import GroupAct
from bot.domain.pause_records import NEAR, PauseEnding, PauseRecord, Timer, Who, ended_by_act
from bot.domain.pauses import PauseChange, made_by
from bot.domain.permissions import Right, is_machine
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.ports import ChannelAccess, ChannelDirectory, Clock, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.check_permission import CheckPermission
from bot.usecases.leases import RepositoryLocks
from bot.usecases.live_messages import enqueue_urgent, reply
from bot.usecases.pausing.group_pauses import group_act_of, notify_together
from bot.usecases.pausing.pause_history import (
    PAUSE_LOOKBACK,
    cards_of,
    end_pause,
    notify_end,
    notify_replaced,
    pause_subscribers,
    see_pause,
)

logger = logging.getLogger(__name__)

ACT_MEMORY = timedelta(hours=1)
"""How far back to search for the end of an act; far longer than any request."""


SECOND_PERSON_WITHIN = timedelta(hours=1)
"""How long a person's wish to resume somebody else's pause waits for another's."""


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

    @asynccontextmanager
    async def locked(self, act: AuditRecord) -> AsyncIterator[None]:
        """Hold the repository lock; raises QueueBusy after recording that nothing was done.

        Adds the repository to any MergeQueueError raised inside.
        """
        try:
            with about(act.repository):
                async with self.locks.of(act.repository):
                    yield
        except QueueBusy as busy:
            await self.leave(act, str(busy))
            raise

    async def leave(self, act: AuditRecord, detail: str) -> int:
        """Record that a permitted act found nothing to change; `detail` says why.

        Return the id of the record.
        """
        unchanged = replace(
            act, at=self.clock.now(), result=ActResult.UNCHANGED, detail=detail[:500]
        )
        return await self.store.run(_add, unchanged)

    def needs_second(self, act: AuditRecord, known: PauseRecord) -> bool:
        """Whether the policy keeps the actor alone from ending or replacing the pause."""
        is_own = known.by is not None and known.by.user_id == act.actor.user_id
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
        here = await self.here(act.channel_id)
        if await self.store.run(_wait_for_second, act, known, here):
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
            refused = isinstance(error, MergeQueueRefused)
            result = ActResult.REFUSED if refused else ActResult.FAILED
            answered = replace(started, answer=answer_of(error))
            await self.end(answered, result, f"{type(error).__name__}: {error}"[:500])
            raise

    async def succeed(self, started: AuditRecord) -> PauseChange:
        """Store the end, with deliveries to the actor's channel and all subscribed to pauses."""
        done = end_of(replace(started, at=self.clock.now()), ActResult.DONE)
        here = await self.here(started.channel_id)
        record, pause = await self.store.run(_succeed, done, here, self.clock.now())
        fields = {"act": record.act_id, "act_kind": record.action, "repository": record.repository}
        logger.info("act done", extra={"action": "act_done", **fields})
        self.wake()
        return PauseChange(record, pause, posted_here=bool(here))

    async def end(self, started: AuditRecord, result: ActResult, detail: str | None = None) -> int:
        """Store an end that only the actor sees; return the id of the record."""
        ended = end_of(replace(started, at=self.clock.now(), detail=detail), result)
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


def end_of(started: AuditRecord, result: ActResult) -> AuditRecord:
    """The record of the act's end, which is yet to be stored."""
    return replace(started, result=result, act_id=started.record_id, record_id=0)


def _succeed(
    transaction: Transaction, done: AuditRecord, here: list[str], now: datetime
) -> tuple[AuditRecord, PauseRecord]:
    record, is_new = end_act(transaction, done)
    paused_at = done.paused_at
    pause = record_and_notify(transaction, record, here, now, paused_at=paused_at, sets_end=is_new)
    return record, pause


def end_act(transaction: Transaction, done: AuditRecord) -> tuple[AuditRecord, bool]:
    """Store the end of an act once; return it, and whether it was new.

    If the event log was read first, it has already stored the end. The posts are then the same
    deliveries, not new ones.
    """
    records = transaction.audit.since(done.repository, done.at - ACT_MEMORY)
    for record in records:
        if record.act_id == done.act_id and record.result is ActResult.DONE:
            return record, False
    return replace(done, record_id=transaction.audit.add(done)), True


def settle_act(
    transaction: Transaction, act: AuditRecord, paused_at: datetime | None, detail: str
) -> tuple[AuditRecord, bool]:
    """Store the end of an act that was cut off after the service had carried it out.

    `paused_at`: the time of the pause it made, None if it ended one.
    """
    done = replace(end_of(act, ActResult.DONE), paused_at=paused_at, detail=detail)
    return end_act(transaction, done)


def settle_pause(transaction: Transaction, act: AuditRecord, pause: Pause, now: datetime) -> None:
    """Give an act cut off after the service carried it out its end, its timer and posts."""
    done, is_new = settle_act(transaction, act, pause.paused_at, "known from the pause in force")
    here = {done.channel_id} if done.channel_id is not None else set()
    record_and_notify(transaction, done, here, now, paused_at=pause.paused_at, sets_end=is_new)
    group_act = group_act_of(transaction, done)
    if group_act is not None and group_act.ended_at is not None:
        notify_together(transaction, group_act, now)


def evidence_of(transaction: Transaction, pause: PauseRecord) -> Evidence | None:
    """What the rule acted on that made the pause; None if a person made it."""
    if pause.by is None or pause.by.user_id != AUTO_PAUSE.user_id:
        return None
    acts = transaction.audit.since(pause.repository, pause.paused_at - NEAR)
    made = (one for one in acts if one.stored_reason == pause.stored_reason)
    return next((one.evidence for one in made if one.evidence is not None), None)


def _settle_cut_off(
    transaction: Transaction, repository: RepositoryName, pause: Pause, now: datetime
) -> bool:
    act = made_by(pause, transaction.audit.since(repository, min(now, pause.paused_at) - NEAR))
    if act is None or act.result is not ActResult.STARTED:
        return False
    settle_pause(transaction, act, pause, now)
    return True


def record_and_notify(  # noqa: PLR0913  # three are keywords
    transaction: Transaction,
    act: AuditRecord,
    channels: Collection[str],
    now: datetime,
    *,
    paused_at: datetime | None = None,
    event_id: int | None = None,
    sets_end: bool = False,
) -> PauseRecord:
    """Notify `channels` and all subscribed to pauses of an act; return its pause.

    Channels that get one post about the whole group get only that.

    Both the service's answer and the event log may announce an act, in any order.
    `paused_at`: the time in the service's answer.
    `event_id`: the event.
    `sets_end`: the first announcement, which sets the pause's end to that of the act.
    """
    together = notified_together(transaction, act)
    subscribed = {*channels, *pause_subscribers(transaction, act.repository)}.difference(together)
    if act.action is Action.PAUSE:
        made = _made(act, paused_at, event_id)
        is_replacement = act.previous_paused_at is not None
        seen = see_pause(
            transaction, made, subscribed, now, sets_end=sets_end, is_replacement=is_replacement
        )
        notify_replaced(transaction, seen, act.record_id, now)
        if seen.has_new_reason or (is_replacement and seen.replaced is not None):
            subject = Subject(SubjectKind.ACT, act.repository, act.record_id)
            cards = cards_of(transaction, seen.record)
            reply(transaction, subject, cards, now, identity=act.identity)
        return seen.record
    ending = PauseEnding.TIMER if act.origin is Origin.TIMER else PauseEnding.RESUMED
    by = Who(act.actor.name, act.actor.user_id)
    ended = end_pause(
        transaction, _ended_pause(transaction, act, now), act.at, by, now, ending=ending
    )
    is_part = bool(act.group_act_id)
    notify_end(
        transaction, ended, subscribed, now, already_notified=together, part_of_group=is_part
    )
    return ended


def notified_together(transaction: Transaction, act: AuditRecord) -> Collection[str]:
    """The channels that get one post about the act's whole group, once that ends."""
    group_act = group_act_of(transaction, act) if act.group_act_id else None
    return group_act.notified_together if group_act is not None else frozenset()


def _made(act: AuditRecord, paused_at: datetime | None, event_id: int | None) -> PauseRecord:
    """The pause that the act made."""
    by = Who(act.actor.name, act.actor.user_id)
    stored_reason = act.stored_reason or ""
    timer = None
    if act.resumes_at is not None:
        timer = Timer(act.resumes_at, act.resumes_at, by, stored_reason, act.channel_id)
    return PauseRecord(
        repository=act.repository,
        paused_at=paused_at or act.paused_at or act.at,
        stored_reason=stored_reason,
        reason=act.reason or stored_reason,
        by=by,
        # A pause known only from the event log has the event's time.
        is_exact=paused_at is not None,
        event_id=event_id,
        group_act_id=act.group_act_id,
        timer=timer,
    )


def _ended_pause(transaction: Transaction, act: AuditRecord, now: datetime) -> PauseRecord:
    known = transaction.pauses.of(act.repository, act.at - PAUSE_LOOKBACK)
    record = ended_by_act(known, act.previous_paused_at, act.at)
    if record is not None:
        return record
    stored_reason = act.previous_reason or ""
    ended = PauseRecord(
        act.repository, act.previous_paused_at or act.at, stored_reason, stored_reason
    )
    return see_pause(transaction, ended, (), now).record
