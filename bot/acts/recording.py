"""Every act on a queue: who may, one at a time, and its records before and after the request."""

import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.acts.check_permission import CheckPermission
from bot.acts.confirmation import open_until
from bot.acts.ends import end_act, end_of
from bot.acts.errors import PermissionDenied, ProposalClosed, QueueBusy
from bot.acts.group_act import GroupAct
from bot.acts.locks import RepositoryLocks
from bot.acts.permission import Right
from bot.acts.proposals import Proposals
from bot.acts.reason import REASON_LIMIT, check_reason, signed_reason
from bot.acts.record import (
    RIGHT_OF_ACTION,
    Action,
    ActResult,
    AuditRecord,
    Circumstance,
    Confirmation,
    PartOfGroup,
    SettingChange,
    Where,
)
from bot.acts.request_state import RequestState
from bot.acts.rows import Audit, Revisions
from bot.kernel.actor import Actor, Caller
from bot.kernel.clock import Clock
from bot.kernel.durations import For, Lasting, later_end, resumes_at
from bot.kernel.errors import (
    ActDefect,
    ActState,
    FailedAct,
    Follows,
    MergeQueueError,
    MergeQueueRefused,
    failing,
)
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import (
    MergeQueueProtocolError,
    answer_of,
    is_undone,
    join_answers,
)
from bot.merge_queue.port import MergeQueue
from bot.posts.wake import Wake
from bot.slack.ports import ChannelAccess, ChannelDirectory
from bot.store.errors import StoreError
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

RECALLED = timedelta(days=1)
"""For how long a person who comes too late sees who did it."""


class BegunAct(NamedTuple):
    """An act whose beginning is stored."""

    record: AuditRecord
    answers: list[str]  #: the service's answers go here
    revision: int  #: the repository's, from before the request


@dataclass(slots=True)
class RecordActs:
    """Stores the beginning of an act before the service is called, and its end afterwards.

    The use cases record through it. What it stores are `AuditRecord`s; they stand in the audit
    (`Audit` in `rows.py`), which only grows. The log, elsewhere, is the service's event log.

    Where an act finds nothing to change, `record_unchanged_as_read` is for one that has the lock
    and has just read the service, `record_unchanged` for one that asked nobody.
    """

    store: Store
    clock: Clock
    channels: ChannelDirectory
    check: CheckPermission
    wake: Wake
    is_paused: Callable[[Transaction, RepositoryName], bool]
    """Whether the bot knows of a pause in force."""

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
        group = PartOfGroup()
        if part_of is not None:
            group = PartOfGroup(part_of.group, part_of.group_act_id)
        confirmation: Confirmation | None = None
        if caller.approved is not None:
            approved = caller.approved
            answers = approved.records[repository]
            confirmation = Confirmation("", asked_by=approved.by, answers=answers)
        return AuditRecord(
            at=self.clock.now(),
            actor=caller.actor,
            action=action,
            where=Where(caller.origin, caller.channel_id, caller.request),
            repository=repository,
            result=ActResult.STARTED,
            group=group,
            confirmation=confirmation,
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
            needed = right or RIGHT_OF_ACTION[act.action]
            await self.check.require(act.actor, needed, [act.repository, *others])
        except PermissionDenied as denied:
            more = f" (and {len(others):,} more repositories)" if others else ""
            refused = replace(act, result=ActResult.REFUSED).explained(f"{denied}{more}")
            await self.store.run(_store_refusal, _within_limits(refused))
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
        await self.permit(replace(act, group=PartOfGroup(group), reason=reason), others)

    async def new_end(
        self, actor: Actor, end: datetime | None, lasting: Lasting, now: datetime
    ) -> datetime:
        """That much later than `end`, or the person's time of day; raises InvalidDuration."""
        if isinstance(lasting, For):
            return later_end(end, now, lasting.length)
        return resumes_at(lasting, now, await self.check.zone(actor))

    @asynccontextmanager
    async def locked(self, act: AuditRecord) -> AsyncIterator[None]:
        """Hold the repository lock; raises QueueBusy after recording that nothing was done.

        Raises ProposalClosed for a machine's proposal that somebody else has just answered. What is
        raised inside says how the act left the queue.
        """
        with failing(failed_act(act, ActState.NOT_DONE)):
            try:
                async with self.locks.of(act.repository):
                    if act.answers:
                        await self.store.read(require_open, act.answers, self.clock.now())
                    yield
            except QueueBusy as busy:
                # A proposal stays open for another try.
                await self.record_unchanged(replace(act, confirmation=None), str(busy))
                raise
            except MergeQueueError as error:
                if error.act is None:
                    error.act = await self._before_asking(act)
                raise

    async def _before_asking(self, act: AuditRecord) -> FailedAct:
        """An act that failed before the service was asked to do anything."""
        failed = failed_act(act, ActState.NOT_DONE)
        with suppress(StoreError):
            is_paused = await self.store.read(self.is_paused, act.repository)
            failed = replace(failed, is_known_paused=is_paused)
        return failed

    async def record_unchanged_as_read(self, act: AuditRecord, detail: str | None = None) -> int:
        """Record that an act read the service under the lock, and found nothing to change.

        Raises the repository's revision, so what others read before counts no more. `detail` says
        why nothing changed. Return the id of the record.
        """
        return await self.store.run(_add_after_reading, self._unchanged(act, detail))

    async def record_unchanged(self, act: AuditRecord, detail: str) -> None:
        """Record that a permitted act changed nothing, of one that didn't read the service.

        What others have read stays valid. `detail` says why nothing changed.
        """
        await self.store.run(_add_record, self._unchanged(act, detail))

    def _unchanged(self, act: AuditRecord, detail: str | None) -> AuditRecord:
        shortened = detail[:500] if detail is not None else None
        unchanged = replace(act, at=self.clock.now(), result=ActResult.UNCHANGED)
        return unchanged.explained(shortened)

    async def last_done(
        self, act: AuditRecord, action: Action, freezes: Collection[str] = ()
    ) -> AuditRecord | None:
        """The last act that did `action` to the same queue, or pull request, if it was lately.

        `freezes`: the ids of those to one of which it was done; empty for any.
        """
        since = act.at - RECALLED
        acts = await self.store.read(
            lambda transaction: Audit(transaction).since(act.repository, since)
        )
        for other in reversed(acts):
            is_about_same = other.pull_request == act.pull_request
            if freezes:
                is_about_same = not (other.freezes or frozenset()).isdisjoint(freezes)
            if is_about_same and other.action is action and other.result is ActResult.DONE:
                return other
        return None

    @asynccontextmanager
    async def begun(self, act: AuditRecord) -> AsyncIterator[BegunAct]:
        """Store the act, unless it has an id, before the service is asked inside.

        On a MergeQueueError it stores a failed end: the service refused, or may yet have changed
        the queue. An act that has an `act_id` repeats one that failed, and adds a record only when
        it succeeds.
        """
        answers: list[str] = []
        record_id, revision = await self.store.run(_store_beginning, act)
        started = replace(act, record_id=record_id)
        uncertain = replace(failed_act(started, ActState.UNCERTAIN), was_seen=True)
        try:
            with failing(uncertain):
                yield BegunAct(started, answers, revision)
        except ActDefect as defect:
            defect.act = replace(uncertain, follows=await self._follows(started))
            raise
        except MergeQueueError as error:
            state = ActState.NOT_DONE if is_undone(error) else ActState.UNCERTAIN
            error.act = replace(uncertain, state=state, follows=await self._follows(started))
            if act.act_id:
                raise
            result = ActResult.FAILED
            answered = started.answered(join_answers([*answers, answer_of(error)]))
            # Then it failed as a whole, and yet an event may be due to it.
            is_done_in_part = any(answer.startswith("2") for answer in answers)
            if isinstance(error, MergeQueueRefused) and not is_done_in_part:
                result = ActResult.REFUSED
            elif state is ActState.NOT_DONE and not is_done_in_part:
                answered = answered.under(Circumstance.NOT_SENT)
            try:
                await self.end(answered, result, f"{type(error).__name__}: {error}"[:500])
            except StoreError as lost:
                # The person learns of the act's own error, and the act is looked for later.
                logger.warning(
                    "the end of an act was not stored",
                    extra={"action": "end_not_stored", "act": record_id, "detail": str(lost)},
                )
            raise

    async def _follows(self, act: AuditRecord) -> Follows:
        """Where its outcome would be told if its answer were lost."""
        if act.where.request is None:
            return Follows.NOWHERE
        if await self.here(act.where.channel_id):
            return Follows.HERE
        return Follows.DIRECTLY

    async def end(self, started: AuditRecord, result: ActResult, detail: str | None = None) -> int:
        """Store an end that only the actor sees; return the id of the record."""
        ended = end_of(replace(started, at=self.clock.now()), result, detail)
        known = {ActResult.DONE: ActState.DONE, ActResult.FAILED: ActState.UNCERTAIN}
        with failing(failed_act(started, known.get(result, ActState.NOT_DONE))):
            return await self.store.run(_store_end, ended)

    async def require_running(self, merge_queue: MergeQueue, repository: RepositoryName) -> None:
        """For a queue without a pause: raise MergeQueueError unless its status agrees.

        The service answers 404 for "not paused", for "no such repository" and, when it has
        problems, even for a pause in force.
        """
        status = await merge_queue.status(repository)
        if status.paused:
            raise MergeQueueProtocolError("the status says paused, the pause says not")

    async def here(self, channel_id: str | None) -> list[str]:
        """The actor's channel, if the bot can post there."""
        if channel_id is None:
            return []
        access = await self.channels.access(channel_id)
        return [channel_id] if access is ChannelAccess.OPEN else []


def require_open(transaction: Transaction, proposal_id: int, now: datetime) -> AuditRecord:
    """What a machine proposed; raises ProposalClosed unless somebody may still answer it.

    The caller has the lock of its repository, so nobody else answers it at the same time.
    """
    proposal = Audit(transaction).one(proposal_id)
    if proposal is None or not proposal.is_proposal:
        raise ProposalClosed("", RequestState.OVER, None)
    answer = Proposals(transaction).answer(proposal)
    if answer is not None:
        by = answer.by.name if answer.by is not None else None
        raise ProposalClosed(proposal.actor.name, answer.state, by)
    if open_until(proposal) <= now:
        raise ProposalClosed(proposal.actor.name, RequestState.EXPIRED, None)
    return proposal


def failed_act(act: AuditRecord, state: ActState) -> FailedAct:
    return FailedAct(act.action, act.repository, state, act.about)


def _store_refusal(transaction: Transaction, refused: AuditRecord) -> int:
    return Audit(transaction).add_refusal(refused)


def _within_limits(refused: AuditRecord) -> AuditRecord:
    """The refusal with its texts cut: nobody has checked how long they are."""

    def cut(text: str | None) -> str | None:
        return text if text is None else text[:REASON_LIMIT]

    return replace(
        refused,
        reason=cut(refused.reason),
        stored_reason=cut(refused.stored_reason),
        setting=SettingChange(cut(refused.setting.before), cut(refused.setting.after)),
    )


class _Begun(NamedTuple):
    record_id: int
    revision: int  #: of the repository, once it is stored


def _store_beginning(transaction: Transaction, act: AuditRecord) -> _Begun:
    record_id = act.act_id or act.record_id or Audit(transaction).add(act)
    return _Begun(record_id, Revisions(transaction).of(act.repository))


def _add_record(transaction: Transaction, record: AuditRecord) -> int:
    return Audit(transaction).add(record)


def _add_after_reading(transaction: Transaction, record: AuditRecord) -> int:
    Revisions(transaction).raise_of(record.repository)
    return _add_record(transaction, record)


def _store_end(transaction: Transaction, ended: AuditRecord) -> int:
    """Store the end, unless the event log has told of it already."""
    if ended.result is ActResult.DONE:
        return end_act(transaction, ended).record.record_id
    return Audit(transaction).add(ended)
