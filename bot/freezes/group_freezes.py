"""The freezes made by acts on groups: which are left, and the cards that show them together."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.acts.group_act import GroupAct, GroupOutcome
from bot.acts.group_acts import GroupActs
from bot.freezes.freeze import Freeze, Stage
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.pauses.group_pauses import shown_group
from bot.posts.live_message import LiveMessage
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction


def act_that_froze(transaction: Transaction, freeze: Freeze) -> GroupAct | None:
    """The act on a group that made the freeze."""
    if not freeze.group_act_id:
        return None
    return GroupActs(transaction).one(freeze.group_act_id)


def shown_together(transaction: Transaction, freeze: Freeze) -> frozenset[str]:
    """The channels that get one card of all that the act on a group froze, and none of each."""
    act = act_that_froze(transaction, freeze)
    return act.notified_together if act is not None else frozenset()


def cards_of_group(transaction: Transaction, freeze: Freeze) -> Sequence[LiveMessage]:
    """The cards of the freeze's group."""
    act = act_that_froze(transaction, freeze)
    return LiveMessages(transaction).of(shown_group(act)) if act is not None else ()


def freezes_of_act(
    transaction: Transaction, act: GroupAct
) -> Mapping[RepositoryName, Freeze | None]:
    """What the act froze, in the group's order; None until its event is read."""
    made: dict[RepositoryName, Freeze] = {}
    for freeze in Freezes(transaction).of_act(act.group_act_id):
        known = made.get(freeze.repository)
        # Of one that was taken for two, the other is over.
        if known is None or known.stage is Stage.OVER:
            made[freeze.repository] = freeze
    changed = {result.repository for result in act.of(GroupOutcome.CHANGED)}
    return {name: made.get(name) for name in act.repositories if name in made or name in changed}


def touch_group_of(transaction: Transaction, freeze: Freeze, now: datetime) -> None:
    """Have the cards of the freeze's group edited, if it has one; close them after the last end."""
    if not freeze.group_act_id:
        return
    # Two concurrent ends would each consider the other's freeze still in force.
    act = GroupActs(transaction).locked(freeze.group_act_id)
    if act is None:
        return
    made = freezes_of_act(transaction, act).values()
    is_over = all(known is not None and known.stage is Stage.OVER for known in made)
    is_last = is_over and act.ended_at is not None
    LiveMessages(transaction).mark(shown_group(act), due_at=now, closed=is_last)
