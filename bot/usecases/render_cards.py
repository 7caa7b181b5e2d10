"""What cards say now, from what is kept of the things they show."""

from collections.abc import Mapping, Sequence

from bot.domain.cards import Card
from bot.domain.message import Message
from bot.messages import pause_card
from bot.messages.pause_card import PauseView
from bot.ports import Transaction


async def load_cards(transaction: Transaction, cards: Sequence[Card]) -> Mapping[int, Message]:
    """A message for each card, by its id; none where what it shows is gone."""
    if not cards:
        return {}
    pauses = await transaction.pauses.get({int(card.name.key) for card in cards})
    in_force = [one for one in pauses.values() if one.is_open]
    timers = await transaction.timers.running({one.repository for one in in_force})
    ends = {
        one.pause_id: timer.lifts_at
        for one in in_force
        for timer in timers
        if timer.repository == one.repository and one.is_of(timer.paused_at)
    }
    return {
        card.card_id: pause_card.card(
            PauseView(pauses[int(card.name.key)], ends.get(int(card.name.key)))
        )
        for card in cards
        if int(card.name.key) in pauses
    }
