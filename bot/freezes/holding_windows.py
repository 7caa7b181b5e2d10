"""Recurring windows: a freeze for each occurrence, or a pause where the service has no freezes."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from bot.acts.ends import end_act, end_of
from bot.acts.errors import QueueBusy
from bot.acts.posting import post_act
from bot.acts.reason import signed_reason
from bot.acts.record import FROM_LOG, Action, ActResult, AuditRecord, Circumstance
from bot.acts.recording import ActLog
from bot.acts.rows import Audit
from bot.freezes.following import freeze_subscribers, read_freezes
from bot.freezes.freezing import FreezeQueue
from bot.freezes.windows import (
    BEFORE_THE_END,
    NextStart,
    Occurrence,
    RecurringWindow,
    WindowRules,
    occurrences,
    settles,
    since_withdrawal,
)
from bot.freezes.withdrawing_plans import Planned, WithdrawPlans, record_and_post
from bot.kernel.actor import Caller, Origin
from bot.kernel.configured import Configured
from bot.kernel.durations import LONGEST_TIME
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import side_by_side
from bot.log.known_types import page_of_known
from bot.log.types import FREEZE_CREATE
from bot.merge_queue.errors import FreezesNotOffered, answer_of
from bot.merge_queue.event_types import PAUSE_CREATE, PAUSE_UPDATE
from bot.merge_queue.freezes import FreezeTerms
from bot.merge_queue.window import Window
from bot.pauses.history import pause_in_force, pause_subscribers
from bot.pauses.pause import NEAR
from bot.pauses.pausing import PauseQueue
from bot.pauses.rows import Pauses
from bot.store.job_lease import JobLease
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

FIRST_WAIT = timedelta(seconds=2)
LONGEST_WAIT = timedelta(minutes=1)
"""Between two tries to hold an occurrence: the first wait, which doubles, and the longest."""

TOLD_AFTER = timedelta(minutes=1)
"""How long an occurrence can't be held until its channels are notified."""

LEASE_KEPT_FOR = timedelta(seconds=10)


@dataclass(slots=True)
class _Attempts:
    """The failed attempts to hold one occurrence."""

    since: datetime
    next_at: datetime
    count: int = 0
    is_told: bool = False

    def add(self, now: datetime) -> None:
        self.count += 1
        self.next_at = now + min(FIRST_WAIT * (1 << min(self.count - 1, 16)), LONGEST_WAIT)


@dataclass(slots=True)
class HoldWindows:
    """Holds each occurrence once, whatever dies meanwhile: the audit says what has been done.

    A freeze is created ahead of its start, so that channels are notified as of any other. A pause
    begins at the start; its plan is posted ahead.
    """

    pause_queue: PauseQueue
    freeze_queue: FreezeQueue
    configured: Configured
    next_start: NextStart
    attempts: dict[Planned, _Attempts] = field(default_factory=dict)  #: those that failed
    plans: WithdrawPlans = field(init=False)
    followed: Sequence[RecurringWindow] | None = None  #: the windows that plans were compared with

    def __post_init__(self) -> None:
        self.plans = WithdrawPlans(
            self.pause_queue, self.freeze_queue, self.configured, self.next_start
        )

    async def run(self, lease: JobLease | None = None) -> None:
        """Hold what is due; the next runs try again what failed. Raises StoreError.

        `lease`: do nothing while another process has it, which may have other settings yet.
        """
        now = self._acts.clock.now()
        windows = self.configured.policies.default.rules(WindowRules).windows
        if not windows and windows == self.followed:
            return
        if lease is not None and not await self._is_ours(lease, now):
            self.followed = None
            return
        due = [
            occurrence
            for window in windows
            for occurrence in occurrences(window, now, self.next_start)
        ]
        known = {
            (name, occurrence.key) for occurrence in due for name in occurrence.window.repositories
        }
        self.attempts = {key: attempts for key, attempts in self.attempts.items() if key in known}
        await side_by_side(
            self._hold(occurrence, name)
            for occurrence in due
            for name in occurrence.window.repositories
        )
        if windows != self.followed and await self.plans.run(windows, now):
            self.followed = windows

    @property
    def _acts(self) -> ActLog:
        return self.pause_queue.acts

    async def _is_ours(self, lease: JobLease, now: datetime) -> bool:
        def claim(transaction: Transaction) -> bool:
            lease.held = lease.claim(transaction, now, at_least=LEASE_KEPT_FOR)
            return lease.held is not None

        return await self._acts.store.run(claim)

    async def _hold(self, occurrence: Occurrence, repository: RepositoryName) -> None:
        acts = self._acts
        key = (repository, occurrence.key)
        now = acts.clock.now()
        attempts = self.attempts.get(key)
        if attempts is not None and attempts.next_at > now:
            return
        try:
            known = await acts.store.read(_acts_on, occurrence, repository)
            if occurrence.waits(known):
                await self._freeze(occurrence, repository, known)
        except (MergeQueueError, QueueBusy) as error:
            attempts = self.attempts.setdefault(key, _Attempts(now, now))
            await self._failed(occurrence, repository, attempts, error)
        else:
            self.attempts.pop(key, None)

    async def _failed(
        self,
        occurrence: Occurrence,
        repository: RepositoryName,
        attempts: _Attempts,
        error: MergeQueueError | QueueBusy,
    ) -> None:
        """Try again soon, and notify the channels, once, if it takes long."""
        now = self._acts.clock.now()
        attempts.add(now)
        place = {
            "window": occurrence.window.name,
            "repository": repository,
            "failures": attempts.count,
        }
        problem = {"error": type(error).__name__, "detail": str(error)[:300]}
        extra = {"action": "window_not_held", **place, **problem}
        logger.warning("a window could not be held", extra=extra)
        if attempts.is_told or now - attempts.since < TOLD_AFTER:
            return
        attempts.is_told = True
        is_frozen = self.freeze_queue.merge_queue.offers_freezes is not False
        act = self._act(occurrence, repository, Action.FREEZE if is_frozen else Action.PAUSE)
        answer = answer_of(error) if isinstance(error, MergeQueueError) else None
        failed = replace(
            act, result=ActResult.FAILED, answer=answer, paused_at=occurrence.begins_at
        )
        if await self._acts.store.run(_tell_of_failure, occurrence, failed):
            self._acts.wake()

    def _act(
        self, occurrence: Occurrence, repository: RepositoryName, action: Action
    ) -> AuditRecord:
        act = self._act_of(occurrence.window, repository, action)
        return replace(act, resumes_at=occurrence.ends_at, setting_after=occurrence.key)

    def _act_of(
        self, window: RecurringWindow, repository: RepositoryName, action: Action
    ) -> AuditRecord:
        caller = Caller(window.actor, Origin.RULE)
        return replace(
            self._acts.record(caller, action, repository),
            reason=window.reason,
            stored_reason=signed_reason(window.reason, window.actor),
        )

    async def _freeze(
        self, occurrence: Occurrence, repository: RepositoryName, known: Sequence[AuditRecord]
    ) -> None:
        """Freeze, or pause where no freezes are offered; raises MergeQueueError and QueueBusy."""
        queue = self.freeze_queue
        act = self._act(occurrence, repository, Action.FREEZE)
        reason = act.stored_reason or ""
        start = occurrence.begins_at if occurrence.begins_at > act.at else None
        try:
            listed = await queue.merge_queue.freezes(repository)
        except FreezesNotOffered:
            await self._pause(occurrence, repository, known)
            return
        async with queue.acts.locked(act):
            known = await self._acts.store.read(_acts_on, occurrence, repository)
            if not occurrence.waits(known):
                return
            if any(made.reason == reason and made.ends_at == occurrence.ends_at for made in listed):
                # Its request was carried out, and the answer was lost.
                there = replace(act, circumstance=Circumstance.THERE_ALREADY)
                await queue.acts.leave(there)
                return
            begun = occurrence.begun(known, Action.FREEZE)
            if begun is not None and await self._was_frozen(begun):
                await self._acts.store.run(end_act, end_of(begun, ActResult.DONE, FROM_LOG))
                return
            act = replace(act, act_id=begun.record_id if begun is not None else 0)
            wanted = FreezeTerms(reason, start, occurrence.ends_at, occurrence.window.zone)
            async with queue.recorded(act) as answers:
                await queue.merge_queue.create_freeze(repository, wanted, on_answer=answers.append)

    async def _was_frozen(self, begun: AuditRecord) -> bool:
        """Whether a request whose answer was lost made the freeze, which somebody ended since."""
        log = await read_freezes(
            self.freeze_queue.merge_queue, begun.repository, self._acts.clock.now()
        )
        made = (event for event in log.events if event.type == FREEZE_CREATE)
        return any(
            event.details.freeze is not None
            and event.details.freeze.reason == begun.stored_reason
            and event.received_at >= begun.at - NEAR
            for event in made
        )

    async def _was_paused(self, begun: AuditRecord) -> bool:
        """The same of a pause."""
        window = Window(begun.at - NEAR, self._acts.clock.now() + NEAR)
        types = (PAUSE_CREATE, PAUSE_UPDATE)
        service = self.pause_queue.merge_queue
        page = await page_of_known(service, begun.repository, window, types=types)
        return any(event.details.reason == begun.stored_reason for event in page.events)

    async def _pause(
        self, occurrence: Occurrence, repository: RepositoryName, known: Sequence[AuditRecord]
    ) -> None:
        """Pause if it is time, else say that the bot will.

        A pause in force that is about to end gets the end of the occurrence, so that merging
        doesn't run in between.
        """
        acts = self._acts
        now = acts.clock.now()
        if occurrence.begins_at > now:
            plan = replace(
                self._act(occurrence, repository, Action.PLAN), paused_at=occurrence.begins_at
            )
            if await acts.store.run(_announce, occurrence, replace(plan, result=ActResult.DONE)):
                acts.wake()
        in_force = await acts.store.run(pause_in_force, repository, now)
        if in_force is not None and in_force.resumes_at is not None:
            ends = in_force.resumes_at
            if occurrence.begins_at <= ends < occurrence.ends_at and ends <= now + BEFORE_THE_END:
                act = self._act(occurrence, repository, Action.EXTEND)
                if await self.pause_queue.new_end_by_rule(act, in_force):
                    return
        if in_force is not None or occurrence.begins_at > now:
            return
        begun = occurrence.begun(known, Action.PAUSE)
        if begun is not None and await self._was_paused(begun):
            await acts.store.run(end_act, end_of(begun, ActResult.DONE, FROM_LOG))
            return
        act = self._act(occurrence, repository, Action.PAUSE)
        act = replace(act, act_id=begun.record_id if begun is not None else 0)
        await self.pause_queue.by_rule(act, partial(_begin, occurrence=occurrence, act=act))

    async def skip(
        self, caller: Caller, repository: RepositoryName, key: str
    ) -> tuple[AuditRecord, bool]:
        """Skip an occurrence whose plan was posted, unless it was skipped before, or held.

        Return the act that did so, and whether it is this one. Raises PermissionDenied.
        """
        acts = self.pause_queue.acts
        act = replace(acts.record(caller, Action.SKIP, repository), setting_after=key)
        await acts.permit(act)
        settled = await acts.store.run(_skip, replace(act, result=ActResult.DONE))
        acts.wake()
        return settled, settled.identity == act.identity


def _acts_on(
    transaction: Transaction, occurrence: Occurrence, repository: RepositoryName
) -> Sequence[AuditRecord]:
    """The acts among which those on the occurrence are."""
    return Audit(transaction).since(repository, occurrence.announced_at - NEAR)


def _tell_of_failure(transaction: Transaction, occurrence: Occurrence, failed: AuditRecord) -> bool:
    """Notify the channels, unless that was done before a restart."""
    _lock(transaction, failed)
    known = occurrence.of(_acts_on(transaction, occurrence, failed.repository))
    if any(act.result is ActResult.FAILED and not act.act_id for act in known):
        return False
    told = replace(failed, record_id=Audit(transaction).add(failed))
    channels = pause_subscribers(transaction, failed.repository)
    if failed.action is Action.FREEZE:
        channels |= freeze_subscribers(transaction, failed.repository)
    post_act(transaction, told, channels)
    return True


def _announce(transaction: Transaction, occurrence: Occurrence, plan: AuditRecord) -> bool:
    _lock(transaction, plan)
    if occurrence.is_announced(_acts_on(transaction, occurrence, plan.repository)):
        return False
    record_and_post(transaction, plan, [])
    return True


def _begin(
    transaction: Transaction, *, occurrence: Occurrence, act: AuditRecord
) -> AuditRecord | None:
    _lock(transaction, act)
    if not occurrence.waits(_acts_on(transaction, occurrence, act.repository)):
        return None
    return replace(act, record_id=act.act_id or Audit(transaction).add(act))


def _skip(transaction: Transaction, act: AuditRecord) -> AuditRecord:
    _lock(transaction, act)
    acts = Audit(transaction).since(act.repository, act.at - LONGEST_TIME)
    same = since_withdrawal([other for other in acts if other.setting_after == act.setting_after])
    settled = next((other for other in same if settles(other)), None)
    if settled is not None:
        return settled
    here = [act.channel_id] if act.channel_id is not None else []
    return record_and_post(transaction, act, here)


def _lock(transaction: Transaction, act: AuditRecord) -> None:
    """Decide alone, whichever process asks."""
    Pauses(transaction).of(act.repository, act.at)
