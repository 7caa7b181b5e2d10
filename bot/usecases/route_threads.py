"""From events to threads: the card of a thing in a channel, and what is replied to it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.cards import CardName
from bot.domain.classification import EventKind
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind
from bot.domain.event_records import EventRecord
from bot.domain.repository import RepositoryName
from bot.ports import Transaction
from bot.usecases.delivery_ids import delivery_ids

TOGETHER = timedelta(seconds=3)
"""An edit waits so long for what follows at once, so that both are told by one edit."""

BACKLOG = 100
"""More events than this at once are told by a summary: what begins in them gets no card."""


@dataclass(slots=True)
class RouteThreads:
    """The threads of one slice of events; each card is looked for once."""

    transaction: Transaction
    repository: RepositoryName
    is_backlog: bool
    _begun: set[CardName] = field(default_factory=set)
    _touched: dict[CardName, bool] = field(default_factory=dict)
    _cards: dict[CardName, dict[str, int]] = field(default_factory=dict)
    _ids: Iterator[str] = field(default_factory=delivery_ids)

    def begin(self, name: CardName) -> None:
        """It begins in this slice: nothing was told of it yet, so there is nothing to look for."""
        self._begun.add(name)
        self._cards[name] = {}

    def change(self, name: CardName, *, is_over: bool) -> None:
        """Have its cards edited when the slice is routed."""
        has_cards = not self.is_backlog or name not in self._begun
        if has_cards:
            self._touched[name] = is_over or self._touched.get(name, False)

    async def shown_in(self, name: CardName) -> Collection[str]:
        """The channels where a card shows it."""
        return await self._cards_of(name)

    async def tell(
        self,
        name: CardName,
        record: EventRecord,
        kind: EventKind,
        channels: Collection[str],
        now: datetime,
    ) -> list[NewDelivery]:
        """A reply in each channel's thread, or the first message of that thread."""
        if not channels:
            return []
        cards = self._cards.get(name)
        if cards is None:
            cards = await self._cards_of(name)
        told: list[NewDelivery] = []
        for channel_id in channels:
            card_id = cards.get(channel_id)
            if card_id is None and not self.is_backlog:
                told += await self._open(name, channel_id, kind, now)
                continue
            subject = Subject(SubjectKind.EVENT, self.repository, record.event_id)
            told.append(
                NewDelivery(next(self._ids), channel_id, subject, now, kind=kind, card_id=card_id)
            )
        return told

    async def finish(self, now: datetime) -> None:
        """Have the cards edited that say something else now."""
        for name in sorted(self._touched, key=lambda one: (one.kind, one.key)):
            await self.transaction.cards.touch(
                name, due_at=now + TOGETHER, closed=self._touched[name]
            )

    async def _cards_of(self, name: CardName) -> dict[str, int]:
        """The newest card of each channel, by the channel."""
        if name not in self._cards:
            found = await self.transaction.cards.of(name)
            self._cards[name] = {one.channel_id: one.card_id for one in found}
        return self._cards[name]

    async def _open(
        self, name: CardName, channel_id: str, kind: EventKind, now: datetime
    ) -> list[NewDelivery]:
        card_id = await self.transaction.cards.add(name, channel_id, now=now)
        if card_id is None:
            return []
        self._cards[name][channel_id] = card_id
        subject = Subject(SubjectKind.CARD, self.repository, card_id)
        return [NewDelivery(next(self._ids), channel_id, subject, now, kind=kind)]
