"""What the cards of bisections say now: how the search for what broke a batch stands."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.domain.cards import Card
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages.events import event_posts
from bot.store.transactions import Transaction


def load_bisection_cards(transaction: Transaction, cards: Sequence[Card]) -> Mapping[int, Message]:
    """A message for each card, by its id; none where the events are gone."""
    by_repository: dict[RepositoryName, list[Card]] = defaultdict(list)
    for card in cards:
        by_repository[card.name.repository].append(card)
    messages: dict[int, Message] = {}
    for repository, some in by_repository.items():
        found = transaction.bisections.get(repository, {card.name.key for card in some})
        telling = {
            key: Subject(SubjectKind.EVENT, repository, one.latest_event_id)
            for key, one in found.items()
        }
        firsts = [_first(card) for card in some]
        records = transaction.events.get([*telling.values(), *firsts])
        for card in some:
            subject = telling.get(card.name.key)
            record = records.get(subject) if subject is not None else None
            if record is not None:
                message = event_posts.event(record, None)
                first = records.get(_first(card), record)
                messages[card.card_id] = replace(
                    message, since=record.received_at, happened_at=first.received_at
                )
    return messages


def _first(card: Card) -> Subject:
    """The event that the bisection has its key from."""
    return Subject(SubjectKind.EVENT, card.name.repository, int(card.name.key))
