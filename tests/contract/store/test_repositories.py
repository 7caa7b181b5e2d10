"""What is kept of a repository: each writer changes only its own."""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import pytest

from bot.boards.board import seen
from bot.boards.rows import Boards
from bot.health.alert import FailureStreak
from bot.health.rows import Alerts
from bot.log.position import LastPoll, first_position
from bot.log.rows import Positions
from bot.store.transaction import Transaction
from tests.support.make import make_snapshot, make_status
from tests.support.stored import NOW, SITE, after

POSITION = first_position(SITE, NOW)
POLL = LastPoll(after(1), {"action.queue.enter"})
STREAK = FailureStreak((7, 41))
STATE = seen(None, make_snapshot(make_status(), repository=SITE))

Write = Callable[[Transaction], object]
WRITES: Mapping[str, Write] = {
    "position": lambda transaction: Positions(transaction).save(POSITION),
    "poll": lambda transaction: Positions(transaction).save_polls({SITE: POLL}),
    "streak": lambda transaction: Alerts(transaction).save_streak(SITE, STREAK),
    "state": lambda transaction: Boards(transaction).save_state(STATE),
}


@pytest.mark.parametrize("writes", list(permutations(WRITES)), ids="-".join)
def test_processes_do_not_overwrite_each_others_fields(
    transaction: Transaction, writes: Sequence[str]
) -> None:
    for name in writes:
        WRITES[name](transaction)

    assert Positions(transaction).load([SITE]) == {SITE: POSITION}
    assert Positions(transaction).polls([SITE]) == {SITE: POLL}
    assert Alerts(transaction).streak(SITE) == STREAK
    assert Boards(transaction).state(SITE) == STATE


@pytest.mark.parametrize("written", WRITES)
def test_unwritten_fields_stay_empty(transaction: Transaction, written: str) -> None:
    WRITES[written](transaction)

    known = {
        "position": SITE in Positions(transaction).load([SITE]),
        "poll": SITE in Positions(transaction).polls([SITE]),
        "streak": Alerts(transaction).streak(SITE) != FailureStreak(),
        "state": Boards(transaction).state(SITE) is not None,
    }
    assert known == {name: name == written for name in WRITES}
