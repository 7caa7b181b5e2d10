"""Count how many pull requests in a row left a queue on failures."""

from collections.abc import Sequence

from bot.domain.classification import EventKind
from bot.domain.event_records import EventRecord
from bot.domain.event_types import MERGED
from bot.domain.queue_condition import streak_after
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction


def count_failures(
    transaction: Transaction,
    repository: RepositoryName,
    told: Sequence[tuple[EventRecord, EventKind]],
) -> None:
    """`told`: events in order, counted in the transaction that routes them, so each once."""
    if not any(one.type == MERGED or kind is EventKind.FAILURE for one, kind in told):
        return
    before = transaction.queue_condition.streak(repository)
    after = streak_after(before, told)
    if after != before:
        transaction.queue_condition.save_streak(repository, after)
