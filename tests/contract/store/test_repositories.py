"""The row of a repository: each writer changes only its own columns."""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import pytest

from bot.domain.boards import seen
from bot.domain.event_log import LastPoll, first_position
from bot.domain.queue_health import FailureStreak
from bot.store.transactions import Transaction
from tests.support.make import make_snapshot, make_status
from tests.support.stored import NOW, SITE, after

POSITION = first_position(SITE, NOW)
POLL = LastPoll(after(1), {"action.queue.enter"})
STREAK = FailureStreak(2, 41)
STATE = seen(None, make_snapshot(make_status(), repository=SITE))

Write = Callable[[Transaction], object]
WRITES: Mapping[str, Write] = {
    "position": lambda transaction: transaction.positions.save(POSITION),
    "poll": lambda transaction: transaction.positions.save_polls({SITE: POLL}),
    "streak": lambda transaction: transaction.alerts.save_streak(SITE, STREAK),
    "state": lambda transaction: transaction.boards.save_state(STATE),
}


@pytest.mark.parametrize("writes", list(permutations(WRITES)), ids="-".join)
def test_processes_do_not_overwrite_each_others_fields(
    transaction: Transaction, writes: Sequence[str]
) -> None:
    for name in writes:
        WRITES[name](transaction)

    assert transaction.positions.load([SITE]) == {SITE: POSITION}
    assert transaction.positions.polls([SITE]) == {SITE: POLL}
    assert transaction.alerts.streak(SITE) == STREAK
    assert transaction.boards.state(SITE) == STATE


@pytest.mark.parametrize("written", WRITES)
def test_unwritten_fields_stay_empty(transaction: Transaction, written: str) -> None:
    WRITES[written](transaction)

    known = {
        "position": SITE in transaction.positions.load([SITE]),
        "poll": SITE in transaction.positions.polls([SITE]),
        "streak": transaction.alerts.streak(SITE) != FailureStreak(),
        "state": transaction.boards.state(SITE) is not None,
    }
    assert known == {name: name == written for name in WRITES}
