"""What readings change in the rows is what `observe` says, on both databases, in any order."""

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

import pytest

from bot.acts.rows import Revisions
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import Pause
from bot.pauses.known import Known, KnownPause
from bot.pauses.pause import PauseRecord
from bot.pauses.readings import PauseReading, observe_reading
from bot.pauses.rows import Pauses
from bot.store.coordination import Leases
from bot.store.transaction import Transaction
from tests.support.make import SITE
from tests.support.pause_world import BASE, State, World

WALKS = 12
STEPS = 40
WORLD = World(foreign=8, faults=6, ticks=8, polls=2, log_tells=False)
WITHOUT_STATUS = World(foreign=8, faults=6, ticks=8, log_tells=False, status_shows_pauses=False)


@dataclass(slots=True)
class Rows:
    """The same readings, in the rows of one repository."""

    transaction: Transaction
    repository: RepositoryName
    #: by the number of the poll, the revision from before its request
    revisions: dict[int, int] = field(default_factory=dict)

    def follow(self, before: State, after: State) -> None:
        """What happened between the two states: a poll has read, or stores its reading."""
        for number, poll in enumerate(before.polls):
            stored = after.polls[number]
            if poll is None and stored is not None:
                self.revisions[number] = Revisions(self.transaction).of(self.repository)
            elif poll is not None and stored is None:
                shown = poll.reading.shown
                pause = None
                if shown is not None:
                    pause = Pause(reason=shown.reason, paused_at=shown.paused_at)
                reading = PauseReading(pause, poll.reading.at, poll.reading.status)
                revision = self.revisions[number]
                observe_reading(
                    self.transaction, self.repository, reading, reading.at, revision=revision
                )

    @property
    def pauses(self) -> list[PauseRecord]:
        found = Pauses(self.transaction).of(self.repository, BASE)
        return sorted(found, key=lambda pause: (pause.is_open, pause.since))


def assert_same(rows: Rows, known: Known) -> None:
    records = rows.pauses
    assert len(records) == len(known.pauses)
    for record, pause in zip(records, known.pauses, strict=True):
        assert_same_pause(rows.transaction, record, pause)
    if records:
        assert records[-1].missing_since == known.missing_since


def assert_same_pause(transaction: Transaction, record: PauseRecord, pause: KnownPause) -> None:
    earlier = Pauses(transaction).earlier_lines([record.pause_id])
    lines = [(line.stored_reason, line.paused_at) for line in earlier]
    lines.append((record.stored_reason, record.paused_at))
    assert lines == [(line.reason, line.paused_at) for line in pause.lines]
    assert record.end_seen_at == pause.ended_at
    assert record.is_open is pause.is_open
    assert record.seen_at == pause.seen_at


@pytest.mark.parametrize("world", [WORLD, WITHOUT_STATUS], ids=["a status", "no status"])
def test_the_rows_follow_what_the_service_says(transaction: Transaction, world: World) -> None:
    ends = 0
    for seed in range(WALKS):
        random = Random(seed)
        rows = Rows(transaction, RepositoryName(f"acme/{seed}"))
        state = world.first()
        for _ in range(STEPS):
            _, after = random.choice(list(world.next_states(state)))
            rows.follow(state, after)
            state = after
            assert_same(rows, state.known)
        ends += sum(not pause.is_open for pause in state.known.pauses)
    assert ends > WALKS / 4


def test_while_somebody_acts_only_their_own_reading_counts(transaction: Transaction) -> None:
    lifetime = timedelta(minutes=1)
    Leases(transaction).claim(f"act:{SITE}", holder="another", now=BASE, lifetime=lifetime)
    reading = PauseReading(Pause(reason="frozen", paused_at=BASE), BASE)
    revision = Revisions(transaction).of(SITE)

    assert not observe_reading(transaction, SITE, reading, BASE, revision=revision)
    assert Pauses(transaction).open([SITE]) == []
    assert observe_reading(transaction, SITE, reading, BASE)
    assert len(Pauses(transaction).open([SITE])) == 1
