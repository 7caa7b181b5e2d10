"""What the cards of bisections say now: how the search for what broke a batch stands."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.domain.cards import Card
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages.events import event_posts
from bot.ports import Transaction


async def load_bisection_cards(
    transaction: Transaction, cards: Sequence[Card]
) -> Mapping[int, Message]:
    """A message for each card, by its id; none where the events are gone."""
    by_repository: dict[RepositoryName, list[Card]] = defaultdict(list)
    for card in cards:
        by_repository[card.name.repository].append(card)
    messages: dict[int, Message] = {}
    for repository, some in by_repository.items():
        found = await transaction.bisections.get(repository, {card.name.key for card in some})
        telling = {
            key: Subject(SubjectKind.EVENT, repository, one.latest_event_id)
            for key, one in found.items()
        }
        records = await transaction.events.get(list(telling.values()))
        for card in some:
            subject = telling.get(card.name.key)
            record = records.get(subject) if subject is not None else None
            if record is not None:
                message = event_posts.event(record, None)
                messages[card.card_id] = replace(message, since=record.received_at)
    return messages
