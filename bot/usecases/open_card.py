"""Open cards: their first posts are deliveries like all others."""

from collections.abc import Iterable
from datetime import datetime

from bot.domain.cards import POSTED_FIRST, CardName
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id
from bot.store.transactions import Transaction


def open_cards(  # noqa: PLR0913  # three are told by name
    transaction: Transaction,
    name: CardName,
    channels: Iterable[str],
    now: datetime,
    *,
    identity: str,
    generation: int = 1,
    closed: bool = False,
) -> None:
    """One card of that name for each channel that has none.

    `identity` as in `delivery_id`: most names have a row number as their key.
    """
    opened: list[NewDelivery] = []
    for channel_id in sorted(set(channels)):
        card_id = transaction.cards.add(
            name, channel_id, now=now, generation=generation, closed=closed
        )
        if card_id is not None:
            subject = Subject(SubjectKind.CARD, name.repository, card_id)
            its_id = delivery_id(channel_id, subject, f"{name.kind} {identity}")
            opened.append(
                NewDelivery(its_id, channel_id, subject, now, urgent=name.kind in POSTED_FIRST)
            )
    transaction.outbox.add(opened)
