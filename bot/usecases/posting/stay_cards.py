"""What the cards of stays say now: the stay's latest state, from its stored events."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.cards import Card
from bot.domain.classification import EventKind, kinds, says_merged
from bot.domain.message import Message
from bot.domain.pause_records import PauseRecord
from bot.domain.repository import RepositoryName
from bot.domain.stays import events_of, state_of
from bot.domain.surroundings import in_surroundings
from bot.messages.events import event_posts
from bot.store.transactions import Transaction
from bot.usecases.linked_pull_requests import linked_pull_requests

SAME_MOMENT = timedelta(seconds=10)
"""Checks that a pause stops may end a little before it."""


def load_stay_cards(transaction: Transaction, cards: Sequence[Card]) -> Mapping[int, Message]:
    """A message for each card, by its id; none where the events are gone."""
    by_repository: dict[RepositoryName, list[Card]] = defaultdict(list)
    for card in cards:
        by_repository[card.name.repository].append(card)
    messages: dict[int, Message] = {}
    for repository, some in by_repository.items():
        messages |= _of_repository(transaction, repository, some)
    return messages


def _of_repository(
    transaction: Transaction, repository: RepositoryName, cards: Sequence[Card]
) -> dict[int, Message]:
    stays = transaction.stays.get(repository, {card.name.key for card in cards})
    if not stays:
        return {}
    numbers = {one.pull_request for one in stays.values()}
    since = min(one.began_at for one in stays.values())
    records = transaction.events.of_pull_requests(repository, numbers, since=since)
    seen = linked_pull_requests(transaction, repository, numbers)
    pauses = transaction.pauses.recent(repository, since)
    messages: dict[int, Message] = {}
    for card in cards:
        stay = stays.get(card.name.key)
        found = events_of(stay, records) if stay is not None else []
        kind_of = kinds(found)
        state = state_of(found, kind_of)
        if state is not None and state.pull_request is not None:
            told = in_surroundings(state, found)
            kind = EventKind.MERGE if says_merged(state) else kind_of[state.event_id]
            paused = _paused_since(state.received_at, pauses)
            message = event_posts.event(told, seen.get(state.pull_request), kind, paused=paused)
            messages[card.card_id] = replace(
                message, since=state.received_at, happened_at=stay.began_at if stay else None
            )
    return messages


def _paused_since(at: datetime, pauses: Sequence[PauseRecord]) -> bool | None:
    """Whether the queue, paused at that time, is paused now; None if no pause then is known."""
    began_by_then = (one for one in pauses if one.paused_at <= at + SAME_MOMENT)
    if all(one.ended_at is not None and one.ended_at < at for one in began_by_then):
        return None
    return any(one.is_open for one in pauses)
