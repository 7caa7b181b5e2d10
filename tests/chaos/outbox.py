"""The bot's outbox at the end of a run, and the event of each delivery."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.sandbox.slack.state.workspace import Message
from tests.chaos.databases import Database
from tests.chaos.traffic import Expected


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A row of the bot's outbox.

    `card` is the card it posts, `thread` the card in whose thread it replies.
    """

    delivery_id: str
    channel_id: str
    repository: str
    event: int | None
    card: int | None
    thread: int | None
    state: str
    message_ts: str
    summarized_by: str


@dataclass(frozen=True, slots=True)
class EntryCard:
    """A card of one pull request's stay in the queue, in one channel."""

    message_id: int
    channel_id: str
    repository: str
    number: int
    message_ts: str
    is_up_to_date: bool


async def delivery_rows(database: Database) -> list[DeliveryRow]:
    """The deliveries of events, in the order added: posts, replies or cards."""
    rows = await database.rows(
        "SELECT delivery_id, channel_id, repository, subject_kind, subject_id,"
        " COALESCE(root_id, 0), state, COALESCE(message_ts, ''), COALESCE(summarized_by, '')"
        " FROM deliveries WHERE subject_kind = 'event' OR subject_kind = 'live_message'"
        " ORDER BY queue, sequence"
    )
    return [
        DeliveryRow(
            one,
            channel,
            repository,
            int(subject) if kind == "event" else None,
            int(subject) if kind == "live_message" else None,
            int(thread) or None,
            state,
            ts,
            summarized_by,
        )
        for one, channel, repository, kind, subject, thread, state, ts, summarized_by in rows
    ]


async def entry_cards(database: Database) -> list[EntryCard]:
    """The cards of stays; the key of each begins with the number of its pull request."""
    rows = await database.rows(
        "SELECT message_id, channel_id, repository, key, COALESCE(message_ts, ''),"
        " CASE WHEN wanted = shown THEN 1 ELSE 0 END FROM live_messages WHERE kind = 'entry'"
        " ORDER BY message_id"
    )
    return [
        EntryCard(
            int(card_id), channel, repository, int(key.partition("-")[0]), ts, is_current == "1"
        )
        for card_id, channel, repository, key, ts, is_current in rows
    ]


@dataclass
class Outbox:
    """The rows and the expected events, by what a post says of itself."""

    expected: Sequence[Expected]
    rows: Sequence[DeliveryRow]
    cards: Sequence[EntryCard]
    _opened: dict[int, Expected] = field(default_factory=dict)
    _summarized: dict[str, list[DeliveryRow]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self._events = {
            (event.channel, event.repository, event.event_id): event for event in self.expected
        }
        self._deliveries = {row.delivery_id: row for row in self.rows}
        self._cards = {card.message_id: card for card in self.cards}
        for row in self.rows:
            if row.summarized_by:
                self._summarized[row.summarized_by].append(row)
        self._match_cards()

    def summarized_by(self, message: Message) -> list[DeliveryRow]:
        """The delivery of a post, and those it summarizes; none if unknown."""
        payload = (message.metadata or {}).get("event_payload") or {}
        head = self._deliveries.get(payload.get("delivery_id", ""))
        return [] if head is None else [head, *self._summarized[head.delivery_id]]

    def event(self, row: DeliveryRow) -> Expected | None:
        """The event that a delivery was made for; a card's is the one that opened it."""
        if row.card is not None:
            return self._opened.get(row.card)
        return self._events.get((row.channel_id, row.repository, row.event or 0))

    def card(self, card_id: int | None) -> EntryCard | None:
        return self._cards.get(card_id or 0)

    def _match_cards(self) -> None:
        """The events with no delivery of their own opened the cards, in the same order.

        An event that opened none and has none is lost; a card that no event is left for told
        something twice: both come to light where posts and events are held against each other.
        """
        have = {(row.channel_id, row.repository, row.event) for row in self.rows}
        openers: dict[tuple[str, str, int], list[Expected]] = defaultdict(list)
        for event in sorted(self.expected, key=lambda each: each.event_id):
            if (event.channel, event.repository, event.event_id) not in have:
                openers[event.channel, event.repository, event.number].append(event)
        for card in self.cards:
            left = openers[card.channel_id, card.repository, card.number]
            if left:
                self._opened[card.message_id] = left.pop(0)
