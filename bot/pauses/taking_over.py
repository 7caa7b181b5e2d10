"""Making oneself responsible for a pause in force, of one queue or of a group's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.acts.record import Action, ActResult, AuditRecord, PartOfGroup, Previous
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit
from bot.kernel.actor import Caller
from bot.kernel.groups import Group, Target, repositories_of
from bot.pauses.group_pauses import shown_reminder, touch_group
from bot.pauses.history import cards_of, notify_responsible, touch_pause
from bot.pauses.pause import DrawnLine, PauseRecord, Takeover
from bot.pauses.rows import Pauses
from bot.pauses.taken_over import (
    AlreadyTheirs,
    NothingToTakeOver,
    TakenOver,
    TakeOverOutcome,
)
from bot.pauses.timeline import add_to_timeline
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class TakeOverPause:
    """Needs no answer of the service, which knows nobody responsible."""

    acts: RecordActs

    async def run(
        self, caller: Caller, target: Target, expected: DrawnLine | None = None
    ) -> TakeOverOutcome:
        """Take over the pause, or all that was paused for the group.

        `expected`: what the pause said that the person saw. Raises PermissionDenied.
        """
        first, *others = repositories_of(target)
        act = self.acts.record(caller, Action.TAKE_OVER, first)
        act = replace(act, group=PartOfGroup(target.name if isinstance(target, Group) else None))
        await self.acts.permit(act, others)
        done = replace(act, result=ActResult.DONE)
        outcome = await self.acts.store.run(_take_over, done, target, expected)
        if isinstance(outcome, TakenOver):
            self.acts.wake()
        else:
            await self.acts.record_unchanged(act, "there was nothing to take over")
        return outcome


def _take_over(
    transaction: Transaction, act: AuditRecord, target: Target, expected: DrawnLine | None
) -> TakeOverOutcome:
    if isinstance(target, Group):
        seen = Pauses(transaction).of_group(target.name)
    else:
        seen = Pauses(transaction).open([target])
    in_force = [
        pause
        for pause in (Pauses(transaction).locked(known) for known in seen)
        if pause is not None and pause.is_open
    ]
    if expected is not None and in_force and not in_force[0].says_still(expected):
        return NothingToTakeOver(in_force[0])
    if not in_force:
        return NothingToTakeOver()
    others = [pause for pause in in_force if pause.person_responsible != act.actor.user_id]
    if not others:
        return AlreadyTheirs()
    taken = [_store(transaction, act, pause) for pause in others]
    _tell(transaction, replace(act, repository=taken[0].repository), others, taken)
    before = dict.fromkeys(pause.responsible for pause in others if pause.responsible is not None)
    return TakenOver(taken, tuple(before))


def _store(transaction: Transaction, act: AuditRecord, pause: PauseRecord) -> PauseRecord:
    plan = pause.reminders.for_another if pause.reminders is not None else None
    taken = replace(pause, taken_over=Takeover(act.actor, act.at), reminders=plan)
    Pauses(transaction).save(taken)
    touch_pause(transaction, taken, act.at)
    touch_group(transaction, taken, act.at)
    LiveMessages(transaction).mark(shown_reminder(taken), due_at=act.at)
    return taken


def _tell(
    transaction: Transaction,
    act: AuditRecord,
    before: Sequence[PauseRecord],
    taken: Sequence[PauseRecord],
) -> None:
    """One entry in the thread of each card, and one message to each person who was responsible."""
    told: set[str] = set()
    threads: set[int] = set()
    for pause, was in zip(taken, before, strict=True):
        part = replace(
            act,
            repository=pause.repository,
            paused_at=pause.line.paused_at,
            previous=Previous(pause.line.reason),
            stored_reason=pause.line.stored_reason,
        )
        part = replace(part, record_id=Audit(transaction).add(part))
        cards = [card for card in cards_of(transaction, pause) if card.message_id not in threads]
        threads.update(card.message_id for card in cards)
        add_to_timeline(transaction, part, cards, act.at)
        if was.person_responsible not in told:
            notify_responsible(transaction, was, part)
            told.add(was.person_responsible or "")
