"""Reminders of pauses: first to the person who paused, then to channels, unless snoozed."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.acts.record import Action, ActResult, AuditRecord
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit
from bot.kernel.actor import Caller
from bot.kernel.repository import RepositoryName
from bot.merge_queue.port import MergeQueue
from bot.pauses import history
from bot.pauses.by_rule import PauseRules
from bot.pauses.group_pauses import group_act_of, shown_reminder, still_paused
from bot.pauses.outcomes import NotPaused, OtherPause
from bot.pauses.pause import (
    PAUSE_LOOKBACK,
    RESUMES_SOON,
    DrawnLine,
    PauseRecord,
    ReminderPlan,
)
from bot.pauses.rows import Pauses
from bot.people.linking import who_wants
from bot.people.notices import Notice
from bot.posts.delivery import REMINDER_POST, Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent, open_live_messages, reply
from bot.posts.live_messages import LiveMessages
from bot.store.job_lease import JobLease
from bot.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Snoozed:
    """No reminder before `next_at` for that repository, or for all of `group`'s pauses."""

    next_at: datetime
    repository: RepositoryName
    group: str | None = None


@dataclass(frozen=True, slots=True)
class RemindOfPauses:
    """Reminds once, even with two processes: a reminder's delivery is unique."""

    merge_queue: MergeQueue
    acts: RecordActs

    def rules(self, repository: RepositoryName) -> PauseRules:
        return self.acts.check.configured.policies.of(repository).rules(PauseRules)

    async def run(self, lease: JobLease) -> None:
        """Send due reminders under `lease`, the one for pause times. Raises StoreError."""
        # Take the time first: the clock may jump during a wait, before times are moved.
        now = self.acts.clock.now()
        names = self.acts.check.configured.repositories.names
        in_force = await self.acts.store.read(lambda transaction: Pauses(transaction).open(names))
        by_act: dict[tuple[int, int], list[PauseRecord]] = defaultdict(list)
        for pause in sorted(in_force, key=lambda pause: pause.pause_id):
            # The first one's reminder stands for all that were paused together.
            made_by = pause.line.group_act_id
            alone = 0 if made_by else pause.pause_id
            by_act[made_by, alone].append(pause)
        for together in by_act.values():
            rules = self.rules(together[0].repository)
            if _is_due(together[0], rules.first_reminder, now) and await self.acts.store.run(
                _remind, lease, together, rules, now
            ):
                self.acts.wake()

    async def snooze(
        self,
        caller: Caller,
        repository: RepositoryName,
        drawn: DrawnLine | None,
        length: timedelta,
    ) -> Snoozed | NotPaused | OtherPause:
        """Snooze; if the pause is over, return the current state.

        Needs the right to pause, because a person not reminded may forget the stopped queue.
        Raises PermissionDenied, and MergeQueueError when the state can't be read.
        """
        act = self.acts.record(caller, Action.SNOOZE, repository)
        if drawn is not None:
            act = replace(act, paused_at=drawn.paused_at)
        await self.acts.permit(act)
        done = replace(act, result=ActResult.DONE)
        first_gap = self.rules(repository).first_reminder
        now = self.acts.clock.now()
        snoozed = await self.acts.store.run(_snooze, done, drawn, length, first_gap, now)
        if snoozed is not None:
            return snoozed
        await self.acts.record_unchanged(act, "that pause is over")
        current = await self.merge_queue.current_pause(repository)
        if current is None:
            return NotPaused()
        return OtherPause(await history.know_pause(self.acts.store, repository, current))


def _is_due(pause: PauseRecord, first_gap: timedelta, now: datetime) -> bool:
    end = None if pause.is_overdue else pause.resumes_at
    resumes_soon = end is not None and end - now <= RESUMES_SOON
    return bool(first_gap) and _plan(pause, first_gap).next_at <= now and not resumes_soon


def _plan(pause: PauseRecord, first_gap: timedelta) -> ReminderPlan:
    return pause.reminders or ReminderPlan(pause.line.paused_at + first_gap)


def _remind(
    transaction: Transaction,
    lease: JobLease,
    seen: Sequence[PauseRecord],
    rules: PauseRules,
    now: datetime,
) -> bool:
    """Remind once, even if several were missed in an outage; return whether anybody was.

    The first time only the person responsible, if they are in this workspace and want it. If
    nobody answers, the policy's user group is mentioned once.
    """
    first_gap = rules.first_reminder
    if lease.take(transaction, now) is None:
        return False
    # They may have changed since they were seen.
    together = _locked(transaction, seen)
    if not together or not _is_due(together[0], first_gap, now):
        return False
    pause = together[0]
    plan = _plan(together[0], first_gap)
    people: Collection[str] = ()
    if plan.sent == 0 and pause.person_responsible is not None:
        people = who_wants(transaction, Notice.REMINDER, [pause.person_responsible])
    subject = Subject(SubjectKind.REMINDER, pause.repository, pause.pause_id)
    # Who was reminded before somebody else took the pause over isn't reminded alone again.
    if not enqueue_urgent(transaction, subject, people, now, identity=pause.identity):
        _remind_channels(transaction, pause, now)
        if plan.escalates and rules.escalates_to is not None:
            _escalate(transaction, pause, now)
            plan = replace(plan, escalated_to=rules.escalates_to)
    _save(transaction, together, plan.after_one(now, first_gap))
    return True


def _locked(transaction: Transaction, seen: Sequence[PauseRecord]) -> list[PauseRecord]:
    """Lock these pauses and return those still in force.

    They are locked in the order of their repositories, so that two processes never deadlock.
    """
    now = {
        pause.pause_id: Pauses(transaction).locked(pause)
        for pause in sorted(seen, key=lambda pause: pause.repository)
    }
    found = (now[pause.pause_id] for pause in seen)
    return [pause for pause in found if pause is not None and pause.is_open]


def _remind_channels(transaction: Transaction, pause: PauseRecord, now: datetime) -> None:
    """A channel has one message, in the thread of its card; later reminders edit it."""
    act = group_act_of(transaction, pause)
    reminder = shown_reminder(act if act is not None else pause)
    roots = {card.channel_id: card.message_id for card in history.cards_of(transaction, pause)}
    open_live_messages(
        transaction,
        reminder,
        {*roots, *history.pause_subscribers(transaction, pause.repository)},
        now,
        identity=act.identity if act is not None else pause.identity,
        kind=REMINDER_POST,
        roots=roots,
    )
    LiveMessages(transaction).mark(reminder, due_at=now)


def _escalate(transaction: Transaction, pause: PauseRecord, now: datetime) -> None:
    """A message of its own in the thread of each card, because an edit notifies nobody."""
    subject = Subject(SubjectKind.ESCALATION, pause.repository, pause.pause_id)
    cards = history.cards_of(transaction, pause)
    identity = pause.identity
    reply(transaction, subject, cards, now, identity=identity, kind=REMINDER_POST)


def _save(transaction: Transaction, pauses: Sequence[PauseRecord], plan: ReminderPlan) -> None:
    """Save the plan with every pause of a group, so that it survives the end of the first."""
    for pause in pauses:
        Pauses(transaction).save(replace(pause, reminders=plan))


def _snooze(
    transaction: Transaction,
    snooze: AuditRecord,
    drawn: DrawnLine | None,
    length: timedelta,
    first_gap: timedelta,
    now: datetime,
) -> Snoozed | None:
    """Snooze and record the act; None when that pause is over."""
    known = Pauses(transaction).recent(
        snooze.repository, (snooze.paused_at or now) - PAUSE_LOOKBACK
    )
    pause = next((pause for pause in known if pause.says_still(drawn)), None)
    if pause is None:
        return None
    act = group_act_of(transaction, pause)
    # One reminder stands for a group, even if the pause shown on it is over.
    seen = still_paused(transaction, act) if act is not None else [pause]
    left = _locked(transaction, seen)
    if not left:
        return None
    plan = _plan(pause, first_gap).snoozed(now, length)
    _save(transaction, left, plan)
    until = f"until {plan.next_at:%Y-%m-%d %H:%M} UTC"
    Audit(transaction).add(snooze.explained(until))
    group = act.group if act is not None and len(left) > 1 else None
    return Snoozed(plan.next_at, left[0].repository, group)
