"""From events to the threads of stays: which card tells of them, and which thread."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.cards import CardKind, CardName
from bot.domain.classification import EventKind
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind
from bot.domain.event_records import EventRecord
from bot.domain.repository import RepositoryName
from bot.domain.stays import ENDS, STATES, STAY_TYPES, Stay, gone_on, new_stay, stay_of
from bot.domain.surroundings import LONGEST_STAY
from bot.ports import Transaction

TOGETHER = timedelta(seconds=3)
"""An edit waits so long for what follows at once, so that both are told by one edit."""

BACKLOG = 100
"""More events than this at once are told by a summary: their stays get no cards of their own."""


def stay_card(stay: Stay) -> CardName:
    """The name of the cards of a stay."""
    return CardName(CardKind.STAY, stay.repository, stay.key)


@dataclass(slots=True)
class RouteStays:
    """The stays of one slice of events, in the order of the events."""

    transaction: Transaction
    repository: RepositoryName
    is_backlog: bool
    _stays: dict[int, list[Stay]] = field(default_factory=dict)
    _changed: dict[str, Stay] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)
    _touched: dict[str, bool] = field(default_factory=dict)
    _cards: dict[str, dict[str, int]] = field(default_factory=dict)

    async def load(self, records: Sequence[EventRecord]) -> None:
        """Read the stays that the events may belong to."""
        numbers = {one.pull_request for one in records if one.pull_request is not None}
        if not numbers:
            return
        since = min(one.received_at for one in records) - LONGEST_STAY
        for stay in await self.transaction.stays.of(self.repository, numbers, since):
            self._stays.setdefault(stay.pull_request, []).append(stay)

    def place(self, record: EventRecord, kind: EventKind) -> Stay | None:
        """The stay that the event belongs to, which it begins if it is the first of it."""
        if record.pull_request is None or record.type not in STAY_TYPES:
            return None
        known = self._stays.setdefault(record.pull_request, [])
        found = stay_of(record, known)
        if found is None:
            stay = new_stay(record)
            self._begun.add(stay.key)
            # Nothing was told of it yet, so there is nothing to look for.
            self._cards[stay.key] = {}
        else:
            known.remove(found)
            stay = gone_on(found, record)
            has_cards = not self.is_backlog or found.key not in self._begun
            if kind in STATES and has_cards:
                self._touched[found.key] = kind in ENDS or self._touched.get(found.key, False)
        known.append(stay)
        self._changed[stay.key] = stay
        return stay

    async def tell(
        self,
        stay: Stay,
        record: EventRecord,
        kind: EventKind,
        channels: Collection[str],
        now: datetime,
    ) -> list[NewDelivery]:
        """A reply in each channel's thread of the stay, or the first message of that thread."""
        if not channels:
            return []
        cards = await self._cards_of(stay)
        told: list[NewDelivery] = []
        for channel_id in channels:
            card_id = cards.get(channel_id)
            if card_id is None and not self.is_backlog:
                told += await self._open(stay, channel_id, kind, now)
                continue
            subject = Subject(SubjectKind.EVENT, self.repository, record.event_id)
            told.append(
                NewDelivery(uuid.uuid4().hex, channel_id, subject, now, kind=kind, card_id=card_id)
            )
        return told

    async def shown_in(self, stay: Stay) -> Collection[str]:
        """The channels where a card shows the stay."""
        return await self._cards_of(stay)

    async def _cards_of(self, stay: Stay) -> dict[str, int]:
        """The newest card of each channel, by the channel; looked for once a slice."""
        if stay.key not in self._cards:
            found = await self.transaction.cards.of(stay_card(stay))
            self._cards[stay.key] = {one.channel_id: one.card_id for one in found}
        return self._cards[stay.key]

    async def _open(
        self, stay: Stay, channel_id: str, kind: EventKind, now: datetime
    ) -> list[NewDelivery]:
        card_id = await self.transaction.cards.add(stay_card(stay), channel_id, now=now)
        if card_id is None:
            return []
        self._cards[stay.key][channel_id] = card_id
        subject = Subject(SubjectKind.CARD, self.repository, card_id)
        return [NewDelivery(uuid.uuid4().hex, channel_id, subject, now, kind=kind)]

    async def finish(self, now: datetime) -> None:
        """Keep what the stays have come to, and have the cards edited that say something else."""
        await self.transaction.stays.save([self._changed[key] for key in sorted(self._changed)])
        for key in sorted(self._touched):
            name = CardName(CardKind.STAY, self.repository, key)
            await self.transaction.cards.touch(
                name, due_at=now + TOGETHER, closed=self._touched[key]
            )
