"""From events to threads: the card of a thing in a channel, and what is replied to it."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.cards import CardName
from bot.domain.classification import EventKind
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id
from bot.domain.event_records import EventRecord
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction

TOGETHER = timedelta(seconds=3)
"""An edit waits so long for what follows at once, so that both are told by one edit."""

BACKLOG = 100
"""More events than this at once are told by a summary: what begins in them gets no card."""


@dataclass(slots=True, eq=False)
class Thread:
    """What a slice of events comes to for one thing that is told of in threads.

    `is_new`: it begins in this slice. `is_changed`: its cards say something else now. `cards`: the
    newest one of each channel, by the channel; None while nobody has looked for them.
    """

    name: CardName
    is_new: bool = False
    is_changed: bool = False
    is_over: bool = False
    cards: dict[str, int] | None = None


@dataclass(slots=True)
class RouteThreads:
    """The threads of one slice of events; each card is looked for once."""

    transaction: Transaction
    repository: RepositoryName
    is_backlog: bool
    _threads: list[Thread] = field(default_factory=list)

    def begin(self, name: CardName) -> Thread:
        """It begins in this slice: nothing was told of it yet, so there is nothing to look for."""
        thread = Thread(name, is_new=True, cards={})
        self._threads.append(thread)
        return thread

    def go_on(self, name: CardName) -> Thread:
        """It began before this slice; to be asked for once."""
        thread = Thread(name)
        self._threads.append(thread)
        return thread

    def change(self, thread: Thread, *, is_over: bool) -> None:
        """Have its cards edited when the slice is routed."""
        if not (self.is_backlog and thread.is_new):
            thread.is_changed = True
            thread.is_over = is_over or thread.is_over

    def cards_of(self, thread: Thread) -> dict[str, int]:
        """The cards that show it, by their channels."""
        if thread.cards is None:
            found = self.transaction.cards.of(thread.name)
            thread.cards = {one.channel_id: one.card_id for one in found}
        return thread.cards

    def tell(
        self,
        thread: Thread,
        record: EventRecord,
        kind: EventKind,
        channels: Collection[str],
        now: datetime,
    ) -> list[NewDelivery]:
        """A reply in each channel's thread, or the first message of that thread."""
        if not channels:
            return []
        cards = self.cards_of(thread)
        told: list[NewDelivery] = []
        for channel_id in channels:
            card_id = cards.get(channel_id)
            if card_id is None and not self.is_backlog:
                told += self._open(thread.name, cards, channel_id, kind, now)
                continue
            subject = Subject(SubjectKind.EVENT, self.repository, record.event_id)
            told.append(
                NewDelivery(
                    delivery_id(channel_id, subject, str(record.event_id)),
                    channel_id,
                    subject,
                    now,
                    kind=kind,
                    card_id=card_id,
                )
            )
        return told

    def finish(self, now: datetime) -> None:
        """Have the cards edited that say something else now."""
        changed = [one for one in self._threads if one.is_changed]
        for thread in sorted(changed, key=lambda one: (one.name.kind, one.name.key)):
            self.transaction.cards.touch(thread.name, due_at=now + TOGETHER, closed=thread.is_over)

    def _open(
        self,
        name: CardName,
        cards: dict[str, int],
        channel_id: str,
        kind: EventKind,
        now: datetime,
    ) -> list[NewDelivery]:
        card_id = self.transaction.cards.add(name, channel_id, now=now)
        if card_id is None:
            return []
        cards[channel_id] = card_id
        subject = Subject(SubjectKind.CARD, self.repository, card_id)
        its_id = delivery_id(channel_id, subject, f"{name.kind} {name.key}")
        return [NewDelivery(its_id, channel_id, subject, now, kind=kind)]
