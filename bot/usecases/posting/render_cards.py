"""What cards say now, from what is kept of the things they show."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.domain.audit import Action
from bot.domain.cards import Card, CardKind
from bot.domain.message import Message
from bot.messages import pause_card
from bot.messages.groups import group_acts
from bot.store.transactions import Transaction
from bot.usecases.pausing.group_pauses import paused_anew, still_paused
from bot.usecases.posting.bisection_cards import load_bisection_cards
from bot.usecases.posting.board_cards import load_board_cards
from bot.usecases.posting.stay_cards import load_stay_cards


def load_cards(transaction: Transaction, cards: Sequence[Card]) -> Mapping[int, Message]:
    """A message for each card, by its id; none where what it shows is gone."""
    pauses = [card for card in cards if card.name.kind is CardKind.PAUSE]
    of_groups = [card for card in cards if card.name.kind is CardKind.GROUP]
    boards = [card for card in cards if card.name.kind is CardKind.BOARD]
    stays = [card for card in cards if card.name.kind is CardKind.STAY]
    bisections = [card for card in cards if card.name.kind is CardKind.BISECTION]
    return {
        **_pause_cards(transaction, pauses),
        **_group_cards(transaction, of_groups),
        **load_stay_cards(transaction, stays),
        **load_bisection_cards(transaction, bisections),
        **load_board_cards(transaction, boards),
    }


def _pause_cards(transaction: Transaction, cards: Sequence[Card]) -> Mapping[int, Message]:
    if not cards:
        return {}
    pauses = transaction.pauses.get({int(card.name.key) for card in cards})
    messages: dict[int, Message] = {}
    for card in cards:
        pause = pauses.get(int(card.name.key))
        if pause is not None:
            messages[card.card_id] = replace(pause_card.card(pause), happened_at=pause.paused_at)
    return messages


def _group_cards(transaction: Transaction, cards: Sequence[Card]) -> Mapping[int, Message]:
    acts = transaction.group_acts.get({int(card.name.key) for card in cards})
    messages: dict[int, Message] = {}
    for card in cards:
        act = acts.get(int(card.name.key))
        if act is None:
            continue
        if act.ended_at is None or act.action is not Action.PAUSE:
            messages[card.card_id] = group_acts.act(act)
        else:
            left = still_paused(transaction, act)
            anew = paused_anew(transaction, act) if len(left) < len(act.repositories) else ()
            messages[card.card_id] = group_acts.card(
                act, [one.repository for one in left], group_acts.ends_of(left), anew
            )
        messages[card.card_id] = replace(messages[card.card_id], happened_at=act.at)
    return messages
