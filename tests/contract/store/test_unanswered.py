"""Requests whose answers are owed, once the process that had them has died."""

from datetime import UTC, datetime, timedelta

from bot.acts.unanswered import ALIVE, SOON, Unanswered
from bot.acts.unanswered_rows import UnansweredRequests
from bot.store.transaction import Transaction

NOW = datetime(2026, 7, 20, 12, tzinfo=UTC)


def test_what_a_dead_process_had_is_looked_at_soon_and_what_is_told_is_not(
    transaction: Transaction,
) -> None:
    requests = UnansweredRequests(transaction)
    requests.add(Unanswered("being told", "U0ALICE", None, "status", NOW, None))
    requests.add(Unanswered("alive until now", "U0BOB", None, "status", NOW, NOW + ALIVE))
    requests.add(Unanswered("to be looked at later", "U0CAROL", None, None, NOW, NOW + 4 * ALIVE))
    requests.cut_off(NOW)
    assert requests.due(NOW + SOON - timedelta(microseconds=1), 10) == []
    found = {request.request for request in requests.due(NOW + SOON, 10)}
    assert found == {"alive until now", "to be looked at later"}
    told = requests.of("being told")
    assert told is not None
    assert told.due_at is None
