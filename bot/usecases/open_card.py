"""Open cards: their first posts are deliveries like all others."""

import uuid
from collections.abc import Iterable
from datetime import datetime

from bot.domain.cards import CardName
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind
from bot.ports import Transaction


async def open_cards(
    transaction: Transaction,
    name: CardName,
    channels: Iterable[str],
    now: datetime,
    *,
    generation: int = 1,
    closed: bool = False,
) -> None:
    """One card of that name for each channel that has none."""
    opened: list[NewDelivery] = []
    for channel_id in sorted(set(channels)):
        card_id = await transaction.cards.add(
            name, channel_id, now=now, generation=generation, closed=closed
        )
        if card_id is not None:
            subject = Subject(SubjectKind.CARD, name.repository, card_id)
            opened.append(
                NewDelivery(uuid.uuid4().hex, channel_id, subject, now, urgent=name.kind.is_urgent)
            )
    await transaction.outbox.add(opened)
