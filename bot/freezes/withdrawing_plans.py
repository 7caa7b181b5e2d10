"""After a change of the settings: what windows had planned is withdrawn, or gets its new end."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.acts.errors import QueueBusy
from bot.acts.posting import post_act
from bot.acts.reason import signed_reason
from bot.acts.record import Action, ActResult, AuditRecord
from bot.acts.recording import ActLog
from bot.acts.rows import Audit
from bot.freezes.freezing import FreezeQueue
from bot.freezes.windows import (
    NextStart,
    Occurrence,
    RecurringWindow,
    planned_again,
    since_withdrawal,
)
from bot.kernel.actor import Caller, Origin
from bot.kernel.configured import Configured
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.merge_queue.freezes import FreezeChange, ScheduledFreeze
from bot.pauses.history import pause_in_force, pause_subscribers
from bot.pauses.pause import PauseRecord
from bot.pauses.pausing import PauseQueue
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

WITHDRAWN = "the settings no longer plan this"
"""The reason of an end that a change of the settings made."""

Planned = tuple[RepositoryName, str]
"""One occurrence on one repository, by its key."""


@dataclass(frozen=True, slots=True)
class WithdrawPlans:
    """Compares what windows planned or hold with the settings.

    What a person changed or ended stays as it is.
    """

    pause_queue: PauseQueue
    freeze_queue: FreezeQueue
    configured: Configured
    next_start: NextStart

    @property
    def _acts(self) -> ActLog:
        return self.pause_queue.acts

    async def run(self, windows: Sequence[RecurringWindow], now: datetime) -> bool:
        """Compare what was planned with the settings; return whether all of it agrees now."""
        planned = await self._acts.store.read(_planned, now)
        by_name = {window.name: window for window in windows}
        done = [
            await self._compare(repository, key, acts, by_name)
            for (repository, key), acts in planned.items()
            if repository in self.configured.repositories.names
        ]
        return all(done)

    async def _compare(
        self,
        repository: RepositoryName,
        key: str,
        acts: Sequence[AuditRecord],
        windows: Mapping[str, RecurringWindow],
    ) -> bool:
        """Withdraw the occurrence, or give it its new end; return whether that worked."""
        name, _, begins = key.rpartition(" ")
        window = windows.get(name)
        occurrence = None
        if window is not None and repository in window.repositories:
            occurrence = planned_again(window, datetime.fromisoformat(begins), self.next_start)
        last = acts[-1]
        if occurrence is not None and occurrence.ends_at == last.resumes_at:
            return True
        try:
            if last.action is Action.PLAN:
                await self._acts.store.run(_withdraw, self._withdrawal(last), is_posted=True)
            elif last.action in {Action.FREEZE, Action.CHANGE_FREEZE}:
                await self._change_freeze(last, occurrence)
            else:
                await self._change_pause(last, occurrence)
        except (MergeQueueError, QueueBusy) as error:
            fields = {"window": name, "repository": repository, "error": type(error).__name__}
            extra = {"action": "window_not_changed", **fields}
            logger.warning("a plan of the old settings could not be withdrawn", extra=extra)
            return False
        self._acts.wake()
        return True

    def _withdrawal(self, last: AuditRecord) -> AuditRecord:
        caller = Caller(last.actor, Origin.RULE)
        act = self._acts.record(caller, Action.SKIP, last.repository)
        return replace(
            act,
            result=ActResult.DONE,
            reason=last.reason,
            paused_at=last.paused_at,
            resumes_at=last.resumes_at,
            setting_after=last.setting_after,
        )

    async def _change_freeze(self, last: AuditRecord, occurrence: Occurrence | None) -> None:
        """Move the freeze's end, or end it; one that a person changed or ended stays so."""
        queue = self.freeze_queue
        repository = last.repository
        now = self._acts.clock.now()
        made = await self._freeze_of(last)
        if made is None:
            return
        caller = Caller(last.actor, Origin.RULE)
        is_shorter = occurrence is not None and occurrence.ends_at > now
        act = self._acts.record(
            caller, Action.CHANGE_FREEZE if is_shorter else Action.UNFREEZE, repository
        )
        act = replace(act, reason=last.reason, previous_reason=last.reason)
        if occurrence is not None and is_shorter:
            act = replace(
                act,
                stored_reason=last.stored_reason,
                resumes_at=occurrence.ends_at,
                setting_after=last.setting_after,
            )
            async with queue.acts.locked(act), queue.recorded(act) as answers:
                await queue.merge_queue.change_freeze(
                    repository, made, FreezeChange(occurrence.ends_at), on_answer=answers.append
                )
            return
        reason = signed_reason(WITHDRAWN, last.actor)
        act = replace(act, reason=WITHDRAWN, stored_reason=reason)
        async with queue.acts.locked(act), queue.recorded(act) as answers:
            await queue.merge_queue.delete_freeze(
                repository, made, reason, on_answer=answers.append
            )
        await self._acts.store.run(_withdraw, self._withdrawal(last), is_posted=False)

    async def _freeze_of(self, last: AuditRecord) -> ScheduledFreeze | None:
        listed = await self.freeze_queue.merge_queue.freezes(last.repository)
        return next(
            (
                freeze
                for freeze in listed
                if freeze.reason == last.stored_reason and freeze.ends_at == last.resumes_at
            ),
            None,
        )

    async def _change_pause(self, last: AuditRecord, occurrence: Occurrence | None) -> None:
        """Move the pause's end, to now if nothing is planned any more."""
        now = self._acts.clock.now()
        in_force = await self._acts.store.run(pause_in_force, last.repository, now)
        if not _is_of(in_force, last) or in_force is None:
            return
        caller = Caller(last.actor, Origin.RULE)
        act = self._acts.record(caller, Action.EXTEND, last.repository)
        if occurrence is not None and occurrence.ends_at > now:
            act = replace(act, resumes_at=occurrence.ends_at, setting_after=last.setting_after)
            await self.pause_queue.new_end_by_rule(act, in_force)
            return
        act = replace(act, resumes_at=now, reason=WITHDRAWN)
        if await self.pause_queue.new_end_by_rule(act, in_force):
            await self._acts.store.run(_withdraw, self._withdrawal(last), is_posted=False)


def record_and_post(transaction: Transaction, act: AuditRecord, here: Sequence[str]) -> AuditRecord:
    """Store the act, and post it to the channels that follow pauses."""
    done = replace(act, record_id=Audit(transaction).add(act))
    post_act(transaction, done, {*here, *pause_subscribers(transaction, act.repository)})
    return done


def _planned(transaction: Transaction, now: datetime) -> Mapping[Planned, Sequence[AuditRecord]]:
    """What the windows planned or hold whose end is still to come: the acts that set its end."""
    found: dict[Planned, list[AuditRecord]] = defaultdict(list)
    for act in Audit(transaction).by_rules_until(now):
        if act.setting_after is not None and act.result is ActResult.DONE:
            found[act.repository, act.setting_after].append(act)
    counted = {key: since_withdrawal(acts) for key, acts in found.items()}
    return {key: acts for key, acts in counted.items() if acts}


def _is_of(pause: PauseRecord | None, last: AuditRecord) -> bool:
    """Whether the pause in force still has the end and the reason that the window gave it.

    Somebody who replaced the reason has made the pause their own, and the end stayed.
    """
    return (
        pause is not None
        and pause.resumes_at == last.resumes_at
        and pause.stored_reason == last.stored_reason
    )


def _withdraw(transaction: Transaction, act: AuditRecord, *, is_posted: bool) -> None:
    """Record that the settings changed; `is_posted`: where the plan was announced."""
    if is_posted:
        record_and_post(transaction, act, [])
    else:
        Audit(transaction).add(act)
