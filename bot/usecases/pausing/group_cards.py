"""The cards of acts on groups: one an act and channel, that of a pause true while any of it is."""

from datetime import datetime

from bot.domain.cards import CardKind, CardName
from bot.domain.group_acts import GroupAct
from bot.domain.pause_records import PauseRecord
from bot.store.transactions import Transaction
from bot.usecases.open_card import open_cards
from bot.usecases.pausing.group_pauses import group_act_of, still_paused


def group_card_of(act: GroupAct) -> CardName:
    """The name of the cards of an act on a group."""
    return CardName(CardKind.GROUP, act.repositories[0], str(act.group_act_id))


def open_group_cards(transaction: Transaction, act: GroupAct) -> None:
    """Give each channel that hears of the act in one post its card of it."""
    open_cards(transaction, group_card_of(act), act.told_together, act.at, identity=act.identity)


def touch_group(transaction: Transaction, record: PauseRecord, now: datetime) -> None:
    """Have the cards of the group edited that the pause was made for, if it was for one."""
    # Two ends at once would each take the other's pause to be in force still.
    act = transaction.group_acts.locked(record.group_act_id) if record.group_act_id else None
    if act is not None:
        left = still_paused(transaction, act)
        transaction.cards.touch(group_card_of(act), due_at=now, closed=not left)


def group_channels(transaction: Transaction, record: PauseRecord) -> list[str]:
    """Where a card shows the group that the pause was made for."""
    act = group_act_of(transaction, record)
    if act is None:
        return []
    return [card.channel_id for card in transaction.cards.of(group_card_of(act))]
