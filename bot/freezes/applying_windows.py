"""Recurring windows: a freeze for each occurrence, or a pause where the service has no freezes."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from bot.acts.errors import QueueBusy
from bot.acts.reason import signed_reason
from bot.acts.record import FROM_LOG, Action, ActResult, AuditRecord, Previous, SettingChange
from bot.acts.recording import RecordActs
from bot.freezes import occurrences
from bot.freezes.calendar import CalendarEntry, calendar
from bot.freezes.causes import is_made_by
from bot.freezes.freeze import Freeze
from bot.freezes.freezing import FreezeQueue
from bot.freezes.matching import freeze_with
from bot.freezes.reading import freeze_events, listed_freezes
from bot.freezes.rows import Freezes, Occurrences
from bot.freezes.windows import (
    BEFORE_THE_END,
    NextStart,
    Occurrence,
    OccurrenceKey,
    OccurrenceRecord,
    OccurrenceState,
    RecurringWindow,
    WindowRules,
    occurrences as occurrences_of,
    still_planned,
    window_actor,
)
from bot.kernel.actor import Caller, Origin
from bot.kernel.configured import Configured
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import side_by_side
from bot.log.known_types import page_of_known
from bot.log.types import FREEZE_CREATE
from bot.merge_queue.errors import FreezesNotOffered, answer_of, join_answers
from bot.merge_queue.event_types import PAUSE_CREATE, PAUSE_UPDATE
from bot.merge_queue.freezes import FreezeChange, FreezeTerms, ends_as
from bot.merge_queue.port import FreezeSupport
from bot.merge_queue.window import Window
from bot.pauses.history import pause_in_force
from bot.pauses.pause import NEAR, PauseRecord
from bot.pauses.pausing import PauseQueue
from bot.store.job_lease import JobLease
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

FIRST_WAIT = timedelta(seconds=2)
LONGEST_WAIT = timedelta(minutes=1)
"""Between two tries to apply an occurrence: the first wait, which doubles, and the longest."""

POSTED_AFTER = timedelta(minutes=1)
"""How long an occurrence can't be applied until its channels are notified."""

LEASE_KEPT_FOR = timedelta(seconds=10)

WITHDRAWN = "the settings no longer plan this"
"""The reason of an end that a change of the settings made."""


@dataclass(slots=True)
class _Attempts:
    """The failed attempts to apply one occurrence, or to change it as the settings say."""

    since: datetime
    next_at: datetime
    count: int = 0
    is_posted: bool = False

    def add(self, now: datetime) -> None:
        self.count += 1
        self.next_at = now + min(FIRST_WAIT * (1 << min(self.count - 1, 16)), LONGEST_WAIT)


@dataclass(slots=True)
class ApplyWindows:
    """Freezes or pauses each occurrence once, whatever dies meanwhile: a row says what was done.

    A freeze is created ahead of its start, so that channels are notified as of any other. A pause
    begins at the start; its plan is posted ahead. After a change of the settings, what they no
    longer plan is withdrawn or gets its new end; what a person changed or ended stays as it is.
    """

    pause_queue: PauseQueue
    freeze_queue: FreezeQueue
    configured: Configured
    next_start: NextStart
    attempts: dict[OccurrenceKey, _Attempts] = field(default_factory=dict)  #: failed, to begin it
    changes: dict[OccurrenceKey, _Attempts] = field(default_factory=dict)  #: failed, to change it

    async def run(self, lease: JobLease | None = None) -> None:
        """Apply what is due; the next runs try again what failed. Raises StoreError.

        `lease`: do nothing while another process has it, which may have other settings yet.
        """
        acts = self._acts
        now = acts.clock.now()
        windows = self._windows
        if not windows and not await acts.store.read(occurrences.lasting, now):
            return
        if lease is not None and not await self._is_ours(lease, now):
            return
        known = await acts.store.read(occurrences.lasting, now)
        due = {
            occurrence.on(repository): occurrence
            for window in windows
            for occurrence in occurrences_of(window, now, self.next_start)
            for repository in window.repositories
        }
        self.attempts = {
            key: attempts for key, attempts in self.attempts.items() if key in due or key in known
        }
        await side_by_side(
            self._begin(key, occurrence, known.get(key))
            for key, occurrence in due.items()
            if key not in known or known[key].is_to_come
        )
        outdated = self._outdated(known, windows)
        outdated_keys = {record.key for record, _ in outdated}
        self.changes = {
            key: attempts for key, attempts in self.changes.items() if key in outdated_keys
        }
        # Afterwards, so that a window with a new name leaves no gap.
        await side_by_side(self._change(record, occurrence) for record, occurrence in outdated)

    @property
    def _windows(self) -> Sequence[RecurringWindow]:
        return self.configured.policies.default.rules(WindowRules).windows

    @property
    def _acts(self) -> RecordActs:
        return self.pause_queue.acts

    async def _is_ours(self, lease: JobLease, now: datetime) -> bool:
        def claim(transaction: Transaction) -> bool:
            lease.current = lease.claim(transaction, now, at_least=LEASE_KEPT_FOR)
            return lease.current is not None

        return await self._acts.store.run(claim)

    def _outdated(
        self,
        known: Mapping[OccurrenceKey, OccurrenceRecord],
        windows: Sequence[RecurringWindow],
    ) -> list[tuple[OccurrenceRecord, Occurrence | None]]:
        """What the settings plan otherwise than it was applied, and how."""
        found = []
        for key, record in known.items():
            if (
                not record.follows_settings
                or key.repository not in self.configured.repositories.names
            ):
                continue
            occurrence = still_planned(key, windows, self.next_start)
            if occurrence is None or occurrence.ends_at != record.ends_at:
                found.append((record, occurrence))
        return found

    async def _begin(
        self, key: OccurrenceKey, occurrence: Occurrence, known: OccurrenceRecord | None
    ) -> None:
        now = self._acts.clock.now()
        if self._is_only_announced(occurrence, known, now):
            return
        attempts = self.attempts.get(key)
        if attempts is not None and attempts.next_at > now:
            return
        try:
            await self._freeze(key, occurrence)
        except (MergeQueueError, QueueBusy) as error:
            attempts = self.attempts.setdefault(key, _Attempts(now, now))
            await self._failed(key, occurrence, attempts, error)
        else:
            self.attempts.pop(key, None)

    def _is_only_announced(
        self, occurrence: Occurrence, known: OccurrenceRecord | None, now: datetime
    ) -> bool:
        """Whether it becomes a pause, which is announced already and doesn't begin soon."""
        is_announced = known is not None and known.state is OccurrenceState.ANNOUNCED
        is_soon = occurrence.begins_at <= now + BEFORE_THE_END
        return is_announced and not is_soon and not self._has_freezes

    @property
    def _has_freezes(self) -> bool:
        """Whether the service offers freezes, or may do so."""
        return self.freeze_queue.merge_queue.freeze_support is not FreezeSupport.NOT_OFFERED

    async def _failed(
        self,
        key: OccurrenceKey,
        occurrence: Occurrence,
        attempts: _Attempts,
        error: MergeQueueError | QueueBusy,
    ) -> None:
        """Try again soon, and notify the channels, once, if it takes long."""
        now = self._acts.clock.now()
        attempts.add(now)
        self._log("a window could not be applied", key, error, failures=attempts.count)
        if attempts.is_posted or now - attempts.since < POSTED_AFTER:
            return
        attempts.is_posted = True
        action = Action.FREEZE if self._has_freezes else Action.PAUSE
        failed = replace(
            self._act(action, key, occurrence),
            result=ActResult.FAILED,
            paused_at=occurrence.begins_at,
        )
        if isinstance(error, MergeQueueError):
            failed = failed.answered(answer_of(error))
        if await self._acts.store.run(occurrences.post_failure, key, occurrence.ends_at, failed):
            self._acts.wake()

    def _log(
        self, sentence: str, key: OccurrenceKey, error: MergeQueueError | QueueBusy, **more: object
    ) -> None:
        place = {"window": key.window, "repository": key.repository, **more}
        problem = {"error": type(error).__name__, "detail": str(error)[:300]}
        logger.warning(sentence, extra={"action": "window_not_applied", **place, **problem})

    def _act(self, action: Action, key: OccurrenceKey, occurrence: Occurrence) -> AuditRecord:
        """An act of the window that begins or announces the occurrence."""
        window = occurrence.window
        return replace(
            self._act_of(action, key),
            reason=window.reason,
            stored_reason=signed_reason(window.reason, window.actor),
            resumes_at=occurrence.ends_at,
        )

    def _act_of(self, action: Action, key: OccurrenceKey) -> AuditRecord:
        caller = Caller(window_actor(key.window), Origin.RULE)
        act = self._acts.record(caller, action, key.repository)
        return replace(act, setting=SettingChange(after=key.name))

    async def _freeze(self, key: OccurrenceKey, occurrence: Occurrence) -> None:
        """Freeze, or pause where no freezes are offered; raises MergeQueueError and QueueBusy."""
        if not self._has_freezes:
            await self._pause(key, occurrence)
            return
        act = self._act(Action.FREEZE, key, occurrence)
        try:
            async with self._acts.locked(act):
                listed = await listed_freezes(self.freeze_queue.merge_queue, key.repository)
                known = await self._acts.store.read(occurrences.read_occurrence, key)
                if known is not None and not known.is_to_come:
                    return
                begun = await self._begun(known, Action.FREEZE)
                if not await self._is_found_done(key, begun or act, listed.freezes):
                    await self._create_freeze(key, occurrence, begun)
        except FreezesNotOffered:
            await self._pause(key, occurrence)

    async def _is_found_done(
        self, key: OccurrenceKey, act: AuditRecord, listed: Sequence[Freeze]
    ) -> bool:
        """Store that the occurrence was frozen already, if it was.

        The answer to its request may have been lost, or a restored backup not know of it: then an
        unknown freeze has the whole reason of the act, and its end. `act`: one that has begun, or
        that is about to.
        """
        store = self._acts.store
        taken = await store.read(_freeze_ids, key.repository)
        ends_at = act.resumes_at or key.begins_at
        done = act.explained(FROM_LOG) if act.record_id else None
        for freeze in listed:
            is_new = freeze.freeze_id not in taken
            if is_new and is_made_by(act, freeze, ends_at):
                if done is None:
                    await self._acts.record_unchanged_as_read(act, "there already")
                else:
                    done = replace(done, freezes=frozenset({freeze.listed_id}))
                found = partial(occurrences.store_state, done=done, freeze_id=freeze.freeze_id)
                await store.run(found, key, OccurrenceState.FROZEN, ends_at)
                return True
        if act.record_id and await self._was_done(act):
            # A person has ended it since.
            ended = partial(occurrences.store_state, done=done)
            await store.run(ended, key, OccurrenceState.LEFT, ends_at)
            return True
        return False

    async def _create_freeze(
        self, key: OccurrenceKey, occurrence: Occurrence, begun: AuditRecord | None
    ) -> None:
        acts = self._acts
        act = _repeating(begun, self._act(Action.FREEZE, key, occurrence))
        started = await acts.store.run(occurrences.begin, key, occurrence.ends_at, act)
        if started is None:
            return
        start = occurrence.begins_at if occurrence.begins_at > act.at else None
        reason = act.stored_reason or ""
        wanted = FreezeTerms(reason, start, occurrence.ends_at, occurrence.window.zone)
        async with acts.begun(started) as (stored, answers, _):
            made = await self.freeze_queue.merge_queue.create_freeze(
                key.repository, wanted, on_answer=answers.append
            )
        done = replace(stored, at=acts.clock.now(), freezes=frozenset({made.id}))
        done = done.answered(join_answers(answers))
        frozen = partial(occurrences.store_state, done=done, freeze_id=made.id)
        await acts.store.run(frozen, key, OccurrenceState.FROZEN, occurrence.ends_at)

    async def _begun(self, known: OccurrenceRecord | None, action: Action) -> AuditRecord | None:
        """The beginning of the act that applies it, if that was tried before."""
        if known is None or not known.is_to_come:
            return None
        act = await self._acts.store.read(occurrences.last_act, known)
        is_begun = act is not None and act.result is ActResult.STARTED and act.action is action
        return act if is_begun else None

    async def _was_done(self, begun: AuditRecord) -> bool:
        """Whether a request whose answer was lost was carried out, by the audit or the log."""
        if await self._acts.store.read(occurrences.is_done, begun):
            return True
        if begun.action is Action.FREEZE:
            return await self._was_frozen(begun)
        return await self._was_paused(begun)

    async def _was_frozen(self, begun: AuditRecord) -> bool:
        service = self.freeze_queue.merge_queue
        log = await freeze_events(service, begun.repository, self._acts.clock.now())
        made = (event for event in log if event.type == FREEZE_CREATE)
        return any(
            event.details.freeze is not None
            and event.details.freeze.reason == begun.stored_reason
            and event.received_at >= begun.at - NEAR
            for event in made
        )

    async def _was_paused(self, begun: AuditRecord) -> bool:
        window = Window(begun.at - NEAR, self._acts.clock.now() + NEAR)
        types = (PAUSE_CREATE, PAUSE_UPDATE)
        service = self.pause_queue.merge_queue
        page = await page_of_known(service, begun.repository, window, types=types)
        return any(event.details.reason == begun.stored_reason for event in page.events)

    async def _pause(self, key: OccurrenceKey, occurrence: Occurrence) -> None:
        """Pause if it is time, else say that the bot will.

        A pause in force that is about to end gets the end of the occurrence, so that merging
        doesn't run in between.
        """
        acts = self._acts
        now = acts.clock.now()
        if occurrence.begins_at > now:
            plan = replace(
                self._act(Action.PLAN, key, occurrence),
                paused_at=occurrence.begins_at,
                result=ActResult.DONE,
            )
            if await acts.store.run(occurrences.announce, key, occurrence.ends_at, plan):
                acts.wake()
        in_force = await acts.store.run(pause_in_force, key.repository, now)
        if in_force is not None:
            if _is_applied(in_force, occurrence) or await self._extend(key, occurrence, in_force):
                await self._note_paused(key, occurrence.ends_at)
            return
        if occurrence.begins_at > now:
            return
        known = await acts.store.read(occurrences.read_occurrence, key)
        begun = await self._begun(known, Action.PAUSE)
        if begun is not None and await self._was_done(begun):
            # A person has resumed it since.
            ended = partial(occurrences.store_state, done=begun.explained(FROM_LOG))
            await acts.store.run(ended, key, OccurrenceState.LEFT, occurrence.ends_at)
            return
        act = _repeating(begun, self._act(Action.PAUSE, key, occurrence))
        begin = partial(_begin_pause, key=key, ends_at=occurrence.ends_at, act=act)
        if await self.pause_queue.by_rule(act, begin) is not None:
            await self._note_paused(key, occurrence.ends_at)

    async def _note_paused(self, key: OccurrenceKey, ends_at: datetime) -> None:
        state = OccurrenceState.PAUSED
        await self._acts.store.run(occurrences.store_state, key, state, ends_at)

    async def _extend(
        self, key: OccurrenceKey, occurrence: Occurrence, in_force: PauseRecord
    ) -> bool:
        """Give a pause that is about to end during the occurrence the end of the occurrence."""
        ends = in_force.resumes_at
        if ends is None or ends > self._acts.clock.now() + BEFORE_THE_END:
            return False
        if not occurrence.begins_at <= ends < occurrence.ends_at:
            return False
        act = self._act(Action.EXTEND, key, occurrence)
        return await self.pause_queue.new_end_by_rule(act, in_force)

    async def _change(self, record: OccurrenceRecord, occurrence: Occurrence | None) -> None:
        """Withdraw the occurrence, or give it its new end, as the settings say."""
        attempts = self.changes.get(record.key)
        if attempts is not None and attempts.next_at > self._acts.clock.now():
            return
        try:
            match record.state:
                case OccurrenceState.FROZEN:
                    await self._change_freeze(record, occurrence)
                case OccurrenceState.PAUSED:
                    await self._change_pause(record, occurrence)
                case OccurrenceState.ANNOUNCED:
                    await self._withdraw(record)
                case _:
                    if occurrence is None:
                        await self._withdraw_begun(record)
        except (MergeQueueError, QueueBusy) as error:
            now = self._acts.clock.now()
            attempts = self.changes.setdefault(record.key, _Attempts(now, now))
            attempts.add(now)
            sentence = "a plan of the old settings could not be withdrawn"
            self._log(sentence, record.key, error, failures=attempts.count)
            return
        self.changes.pop(record.key, None)
        self._acts.wake()

    async def _withdraw(self, record: OccurrenceRecord) -> None:
        act = replace(
            self._act_of(Action.SKIP, record.key),
            result=ActResult.DONE,
            paused_at=record.begins_at,
            resumes_at=record.ends_at,
        )
        await self._acts.store.run(occurrences.withdraw, record, act)

    async def _withdraw_begun(self, record: OccurrenceRecord) -> None:
        """Of what has begun nothing is known: if it worked, the next run ends it."""
        key = record.key
        if await self._begun(record, Action.FREEZE) is not None:
            async with self._acts.locked(self._act_of(Action.UNFREEZE, key)):
                listed = await listed_freezes(self.freeze_queue.merge_queue, key.repository)
                begun = await self._begun(record, Action.FREEZE)
                if begun is not None and await self._is_found_done(key, begun, listed.freezes):
                    return
        begun = await self._begun(record, Action.PAUSE)
        if begun is not None and await self._was_done(begun):
            await self._note_paused(key, record.ends_at)
            return
        await self._withdraw(record)

    async def _change_freeze(self, record: OccurrenceRecord, occurrence: Occurrence | None) -> None:
        """Move the freeze's end, or end it; one that a person changed or ended stays so."""
        queue = self.freeze_queue
        store = self._acts.store
        key = record.key
        now = self._acts.clock.now()
        last = await store.read(occurrences.last_act, record)
        reason = last.reason if last is not None else None
        is_kept = occurrence is not None and occurrence.ends_at > now
        action = Action.CHANGE_FREEZE if is_kept else Action.UNFREEZE
        act = replace(
            self._act_of(action, key),
            reason=reason,
            previous=Previous(reason),
            freezes=frozenset({record.freeze_id}) if record.freeze_id is not None else None,
        )
        async with self._acts.locked(act):
            listed = await listed_freezes(queue.merge_queue, key.repository)
            made = freeze_with(record.freeze_id, listed.freezes)
            moved = replace(record, ends_at=occurrence.ends_at) if occurrence is not None else None
            if moved is not None and made is not None and ends_as(made.terms, moved.ends_at):
                # The answer to the change was lost.
                await store.run(occurrences.change, record, moved)
                return
            if made is None or not ends_as(made.terms, record.ends_at):
                await self._leave(record)
                return
            if moved is not None and is_kept:
                await self._move_end(act, made, moved.ends_at)
                await store.run(occurrences.change, record, moved)
                return
            await self._end_freeze(act, made)
        await self._withdraw(record)

    async def _move_end(self, act: AuditRecord, made: Freeze, ends_at: datetime) -> None:
        queue = self.freeze_queue
        async with queue.recorded(replace(act, resumes_at=ends_at)) as answers:
            await queue.merge_queue.change_freeze(
                act.repository,
                made.listed_id,
                FreezeChange(ends_at, made.zone),
                on_answer=answers.append,
            )

    async def _end_freeze(self, act: AuditRecord, made: Freeze) -> None:
        queue = self.freeze_queue
        signed = signed_reason(WITHDRAWN, act.actor)
        act = replace(act, reason=WITHDRAWN, stored_reason=signed)
        async with queue.recorded(act) as answers:
            await queue.merge_queue.delete_freeze(
                act.repository, made.listed_id, signed, on_answer=answers.append
            )

    async def _change_pause(self, record: OccurrenceRecord, occurrence: Occurrence | None) -> None:
        """Move the pause's end: to now, unless this or another occurrence is planned for now."""
        store = self._acts.store
        now = self._acts.clock.now()
        in_force = await store.run(pause_in_force, record.repository, now)
        if in_force is None or not _has_end_of(in_force, record):
            await self._leave(record)
            return
        act = self._act_of(Action.EXTEND, record.key)
        if occurrence is not None and occurrence.ends_at > now:
            act = replace(act, resumes_at=occurrence.ends_at)
            if await self.pause_queue.new_end_by_rule(act, in_force):
                await store.run(
                    occurrences.change, record, replace(record, ends_at=occurrence.ends_at)
                )
            return
        other = await self._to_hold_now(record.repository)
        if other is not None:
            key = other.on(record.repository)
            act = self._act(Action.EXTEND, key, other)
            if await self.pause_queue.new_end_by_rule(act, in_force):
                await self._note_paused(key, other.ends_at)
                await self._withdraw(record)
            return
        act = replace(act, resumes_at=now, reason=WITHDRAWN)
        if await self.pause_queue.new_end_by_rule(act, in_force):
            await self._withdraw(record)

    async def _to_hold_now(self, repository: RepositoryName) -> Occurrence | None:
        """The occurrence that would pause now if no pause were in force; the one that ends last."""
        now = self._acts.clock.now()
        begun = [
            occurrence
            for window in self._windows
            if repository in window.repositories
            for occurrence in occurrences_of(window, now, self.next_start)
            if occurrence.begins_at <= now
        ]
        waiting = [
            occurrence for occurrence in begun if await self.is_to_come(occurrence.on(repository))
        ]
        return max(waiting, key=lambda occurrence: occurrence.ends_at, default=None)

    async def _leave(self, record: OccurrenceRecord) -> None:
        left = replace(record, state=OccurrenceState.LEFT)
        await self._acts.store.run(occurrences.change, record, left)

    async def skip(self, caller: Caller, key: OccurrenceKey) -> tuple[AuditRecord, bool]:
        """Skip an occurrence to come, unless it was skipped before, has begun or is over.

        Return the act that did so, and whether it is this one: UNCHANGED if no act is known.
        Raises PermissionDenied.
        """
        acts = self._acts
        planned = self.planned(key)
        ends_at = planned.ends_at if planned is not None else None
        act = replace(
            acts.record(caller, Action.SKIP, key.repository),
            result=ActResult.DONE,
            setting=SettingChange(after=key.name),
            reason=planned.window.reason if planned is not None else None,
            paused_at=key.begins_at,
            resumes_at=ends_at,
        )
        await acts.permit(act)
        skipped = await acts.store.run(occurrences.skip, key, ends_at, act)
        acts.wake()
        return skipped

    def planned(self, key: OccurrenceKey) -> Occurrence | None:
        """The occurrence, if the settings still plan it."""
        return still_planned(key, self._windows, self.next_start)

    async def is_to_come(self, key: OccurrenceKey) -> bool:
        """Whether nothing became of it yet, and it is still planned."""
        known = await self._acts.store.read(occurrences.read_occurrence, key)
        is_untouched = known is None or known.is_to_come
        return is_untouched and self.planned(key) is not None

    def read_calendar(
        self, transaction: Transaction, names: Collection[RepositoryName], now: datetime
    ) -> Sequence[CalendarEntry]:
        """The freezes and occurrences of these repositories, in force and to come."""
        freezes = Freezes(transaction).of(names)
        records = {record.key: record for record in Occurrences(transaction).of(names, now)}
        return calendar(freezes, self._windows, records, now, self.next_start)


def _begin_pause(
    transaction: Transaction,
    service_at: datetime,
    *,
    key: OccurrenceKey,
    ends_at: datetime,
    act: AuditRecord,
) -> AuditRecord | None:
    return occurrences.begin(transaction, key, ends_at, replace(act, service_at=service_at))


def _repeating(begun: AuditRecord | None, act: AuditRecord) -> AuditRecord:
    """The act, as a repetition of one that was tried before."""
    return replace(act, act_id=begun.record_id) if begun is not None else act


def _is_applied(in_force: PauseRecord, occurrence: Occurrence) -> bool:
    """Whether the pause has its end from this occurrence."""
    timer = in_force.timer
    return (
        timer is not None
        and timer.set_by == occurrence.window.actor
        and timer.resumes_at == occurrence.ends_at
    )


def _has_end_of(in_force: PauseRecord, record: OccurrenceRecord) -> bool:
    """Whether the pause still has its end from the window.

    Somebody who replaced the reason, or the end, has made the pause their own.
    """
    timer = in_force.timer
    return timer is not None and timer.set_by == window_actor(record.window)


def _freeze_ids(transaction: Transaction, repository: RepositoryName) -> frozenset[str]:
    return Occurrences(transaction).freeze_ids(repository)
