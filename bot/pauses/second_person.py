"""Acts that take two people: who asked, who may confirm, and the request for it.

A policy with `second_person` keeps anybody but the person who paused, or froze, from ending that
alone. The first person asks, and a second one asks for the same within an hour. Both need the
right at that moment.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.acts.check_permission import CheckPermission
from bot.acts.confirmation import open_until
from bot.acts.errors import SecondPersonNeeded
from bot.acts.group_act import GroupAct
from bot.acts.permission import Right, is_machine
from bot.acts.proposals import LONGEST_OPEN, Proposals
from bot.acts.record import RIGHT_OF_ACTION, ActResult, AuditRecord, Confirmation, Previous
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic, subscribed_channels
from bot.kernel.actor import Actor, Origin
from bot.pauses.by_rule import PauseRules
from bot.pauses.history import cards_of
from bot.pauses.pause import PauseRecord
from bot.pauses.requests import (
    parts_asked,
    shown_by,
    shown_group_request,
    shown_request,
)
from bot.pauses.rows import Pauses
from bot.pauses.stop import Stop
from bot.posts.enqueueing import open_live_messages
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction
from bot.store.transactions import Store


@dataclass(frozen=True, slots=True)
class SecondPerson:
    """Decides whether an act takes two people, and whether there are two."""

    store: Store
    check: CheckPermission

    def is_needed(self, act: AuditRecord, stop: Stop) -> bool:
        """Whether the policy keeps the actor alone from it."""
        rules = self.check.configured.policies.of(act.repository).rules(PauseRules)
        is_own = stop.makers == {act.actor.user_id}
        return rules.second_person and not is_own and act.where.origin is not Origin.TIMER

    async def confirm(
        self, act: AuditRecord, stop: Stop, here: Collection[str]
    ) -> AuditRecord | None:
        """The act as that of the second person; None after asking for one.

        The caller has the lock of the repository, so nobody else asks at the same time.
        """
        asked = await self.store.read(_asked, act, stop)
        actor = act.actor.user_id
        for earlier in asked:
            if earlier.actor.user_id != actor and await self._are_two(earlier.actor, act):
                return _confirming(act, stop, earlier)
        if all(earlier.actor.user_id != actor for earlier in asked):
            await self.store.run(_ask, self._request(act, stop), stop, asked, here)
        return None

    async def _are_two(self, first: Actor, act: AuditRecord) -> bool:
        """Whether both are people, and the first one still has the right."""
        if is_machine(first.user_id) or is_machine(act.actor.user_id):
            return False
        return await self.check.has(first, RIGHT_OF_ACTION[act.action], act.repository)

    def _request(self, act: AuditRecord, stop: Stop) -> AuditRecord:
        named = self.check.named(RIGHT_OF_ACTION[act.action], act.repository)
        makers = [
            maker for maker in sorted(stop.makers, key=str) if maker and not is_machine(maker)
        ]
        others = [maker for maker in (*makers, *named) if maker != act.actor.user_id]
        known = act.confirmation or Confirmation("")
        return replace(
            act,
            result=ActResult.ASKED,
            previous=Previous(stop.reason, stop.since),
            confirmation=replace(
                known, subject=stop.subject, may_confirm=tuple(dict.fromkeys(others))
            ),
        )


def _asked(transaction: Transaction, act: AuditRecord, stop: Stop) -> Sequence[AuditRecord]:
    """The acts that this one would confirm, oldest first."""
    since = act.at - LONGEST_OPEN
    return [
        other
        for other in Audit(transaction).asked_since(since, act.repository)
        if not other.is_proposal
        and open_until(other) >= act.at
        and other.action is act.action
        and stop.is_of(other)
        and (not other.answers or Proposals(transaction).is_open(other.answers))
    ]


def _ask(
    transaction: Transaction,
    act: AuditRecord,
    stop: Stop,
    before: Sequence[AuditRecord],
    here: Collection[str],
) -> None:
    """Store what the person asks for and post one request; that of a group comes when it ends.

    The request of a proposal stays the only one; that of a group shows this once the act ends.
    """
    act = replace(act, confirmation=_while_proposed(transaction, act))
    asked = replace(act, record_id=Audit(transaction).add(act))
    for earlier in before:
        # A machine's, or that of a person who has lost the right since.
        if not earlier.answers:
            shown = shown_by(transaction, earlier)
            LiveMessages(transaction).mark(shown, due_at=act.at, closed=True)
    if act.group.act_id:
        return
    if act.answers:
        LiveMessages(transaction).mark(shown_by(transaction, asked), due_at=act.at)
        return
    channels = {*here, *channels_of(transaction, asked, stop.pause)}
    subject = shown_request(asked)
    identity = asked.identity
    open_live_messages(transaction, subject, channels, act.at, identity=identity)


def _while_proposed(transaction: Transaction, act: AuditRecord) -> Confirmation | None:
    """A second person may confirm an approval for as long as the proposal is open."""
    proposal = Audit(transaction).one(act.answers) if act.answers else None
    if act.confirmation is None or proposal is None:
        return act.confirmation
    return replace(act.confirmation, ends_at=open_until(proposal))


def ask_for_group(transaction: Transaction, act: GroupAct, now: datetime) -> None:
    """Post one request for all parts of an act on a group that take a second person."""
    asked = parts_asked(transaction, act)
    if not asked:
        return
    channels = set(act.notified_together)
    pauses = {pause.repository: pause for pause in Pauses(transaction).open(act.repositories)}
    for part in asked:
        channels |= channels_of(transaction, part, pauses.get(part.repository))
    subject = shown_group_request(act)
    open_live_messages(transaction, subject, channels, now, identity=act.identity)


def channels_of(
    transaction: Transaction, asked: AuditRecord, pause: PauseRecord | None
) -> set[str]:
    """Where people see the pause, or hear of freezes."""
    if RIGHT_OF_ACTION[asked.action] is Right.FREEZE:
        subscriptions = Subscriptions(transaction).of_repository(asked.repository)
        return subscribed_channels(subscriptions, Topic.FREEZE)
    return (
        {card.channel_id for card in cards_of(transaction, pause)} if pause is not None else set()
    )


async def require_own(acts: RecordActs, act: AuditRecord, stop: Stop) -> None:
    """Raises SecondPersonNeeded after recording that nothing was done."""
    if SecondPerson(acts.store, acts.check).is_needed(act, stop):
        await acts.record_unchanged_as_read(act, "the policy keeps what somebody else stopped")
        raise _two_needed(act, stop, is_asked=False)


async def require_second(acts: RecordActs, act: AuditRecord, stop: Stop) -> AuditRecord:
    """The act, once two people want it; raises SecondPersonNeeded after asking for one."""
    second_person = SecondPerson(acts.store, acts.check)
    if not second_person.is_needed(act, stop):
        return _about_stop(act, stop) if stop.subject else act
    here = await acts.here(act.where.channel_id)
    confirmed = await second_person.confirm(act, stop, here)
    if confirmed is None:
        acts.wake()
        raise _two_needed(act, stop, is_asked=True)
    return confirmed


def _about_stop(act: AuditRecord, stop: Stop) -> AuditRecord:
    known = act.confirmation or Confirmation("")
    return replace(act, confirmation=replace(known, subject=stop.subject))


def _confirming(act: AuditRecord, stop: Stop, first: AuditRecord) -> AuditRecord:
    """The act as that of the second of two people; with it, the first one's proposal is answered.

    So it is also where the second person types the command instead.
    """
    known = act.confirmation or Confirmation("")
    confirmation = replace(
        known,
        subject=stop.subject,
        asked_by=first.actor,
        answers=known.answers or first.answers,
    )
    return replace(act, confirmation=confirmation)


def _two_needed(act: AuditRecord, stop: Stop, *, is_asked: bool) -> SecondPersonNeeded:
    is_frozen = stop.pause is None
    is_approval = bool(act.answers)
    return SecondPersonNeeded(act.repository, stop.by, is_asked, is_frozen, is_approval)
