"""What readings, acts and events change in the rows is what the pure functions say.

On both databases, in any order.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random

import pytest

from bot.acts.record import Action, ActResult, AuditRecord, Previous, Where
from bot.acts.rows import Audit, Revisions
from bot.kernel.actor import Origin
from bot.kernel.repository import RepositoryName
from bot.log.rows import Events
from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.merge_queue.event_types import PAUSE_CREATE, PAUSE_DELETE, PAUSE_UPDATE
from bot.merge_queue.queue import Pause
from bot.pauses.known import ActKind, Known, KnownPause, PauseEvent, PauseEventKind, Reading
from bot.pauses.readings import (
    EventContext,
    PauseReading,
    observe_answer,
    observe_reading,
    observe_unanswered,
    place_event,
)
from bot.pauses.rows import Pauses
from bot.pauses.stored import load_stored
from bot.store.coordination import Leases
from bot.store.lease_values import Lease
from bot.store.transaction import Transaction
from tests.support.make import SITE
from tests.support.pause_world import ANN, BASE, BOB, Acting, Answer, Mode, State, Step, Wish, World

WALKS = 12
STEPS = 40
WORLD = World(foreign=8, faults=6, ticks=8, polls=2, log_tells=False)
WITHOUT_STATUS = World(foreign=8, faults=6, ticks=8, log_tells=False, status_shows_pauses=False)
ACTS = tuple(Wish(kind, actor) for actor in (ANN, BOB) for kind in ActKind) * 2
WITH_ACTS = World(ACTS, foreign=4, faults=3, ticks=6, log_tells=False)
WITH_LOG = World(foreign=8, faults=3, ticks=6)
WITH_BOTH = World(ACTS, foreign=4, faults=3, ticks=6, polls=2)
WORLDS = {
    "a status": WORLD,
    "no status": WITHOUT_STATUS,
    "acts": WITH_ACTS,
    "a log": WITH_LOG,
    "acts and a log": WITH_BOTH,
}
LONG = timedelta(days=1)
TYPES = {
    PauseEventKind.CREATED: PAUSE_CREATE,
    PauseEventKind.UPDATED: PAUSE_UPDATE,
    PauseEventKind.REMOVED: PAUSE_DELETE,
}


@dataclass(slots=True)
class Rows:
    """The same, in the rows of one repository."""

    transaction: Transaction
    repository: RepositoryName
    world: World
    #: by the number of the poll, the revision from before its request
    revisions: dict[int, int] = field(default_factory=dict)
    begun: dict[int, AuditRecord] = field(default_factory=dict)  #: by the act's number
    sent_at: int = 0  #: the revision when the act's request left
    lock: Lease | None = None

    def follow(self, what: str, before: State, after: State) -> bool:
        """What happened between the two states; whether it has to do with the rows."""
        mode = re.search(r"\((.*)\)", what)
        read = self.world.answer(before, Mode(mode[1])) if mode is not None else None
        is_stored = False
        for number, poll in enumerate(before.polls):
            if poll is None and after.polls[number] is not None:
                self.revisions[number] = Revisions(self.transaction).of(self.repository)
            elif poll is not None and after.polls[number] is None:
                is_stored = True
                self.observes(poll.reading, self.revisions[number])
        if after.delivered > before.delivered and read is not None:
            is_stored = True
            self.delivers(before, before.log[before.delivered], read)
        if before.acting is not None and what.startswith("act "):
            is_stored = True
            self.acts(before, before.acting, read, is_left=after.acting is None)
        elif before.acting is None and after.acting is not None:
            is_stored = True
            self.lock = Leases(self.transaction).claim(
                f"act:{self.repository}", holder="it", now=before.now, lifetime=LONG
            )
        return is_stored

    def observes(self, reading: Reading, revision: int) -> None:
        read = as_read(reading)
        observe_reading(self.transaction, self.repository, read, read.at, revision=revision)

    def acts(self, state: State, acting: Acting, read: Reading | None, *, is_left: bool) -> None:
        if acting.step is Step.READ and read is not None:
            self.reads(state, acting, read, is_left=is_left)
        elif acting.step is Step.STORE_END:
            self.stores_end(state, acting)

    def reads(self, state: State, acting: Acting, read: Reading, *, is_left: bool) -> None:
        observe_reading(self.transaction, self.repository, as_read(read), read.at)
        act = state.known.act(acting.act_id)
        record = AuditRecord(
            at=state.now,
            actor=act.actor,
            action=Action.PAUSE if act.kind is ActKind.PAUSE else Action.RESUME,
            where=Where(Origin.COMMAND),
            repository=self.repository,
            result=ActResult.UNCHANGED if is_left else ActResult.STARTED,
            reason=act.reason,
            stored_reason=act.reason,
            service_at=state.now,
            previous=Previous(paused_at=read.shown.paused_at if read.shown is not None else None),
        )
        record_id = Audit(self.transaction).add(record)
        if is_left:
            self.unlock()
            return
        self.begun[act.act_id] = replace(record, record_id=record_id)
        self.sent_at = Revisions(self.transaction).of(self.repository)

    def stores_end(self, state: State, acting: Acting) -> None:
        begun = self.begun[acting.act_id]
        end = replace(begun, at=state.now, act_id=begun.record_id, record_id=0)
        if acting.answer is Answer.LOST:
            if not self.is_proved(state, begun, acting.reading):
                Audit(self.transaction).add(replace(end, result=ActResult.FAILED))
        elif acting.answer is Answer.NOTHING_TO_REMOVE or acting.reading is None:
            Audit(self.transaction).add(replace(end, result=ActResult.UNCHANGED))
        else:
            answer = as_read(acting.reading)
            done = replace(end, result=ActResult.DONE, service_at=answer.at)
            observe_answer(self.transaction, done, (), answer, self.sent_at, state.now)
        self.unlock()

    def is_proved(self, state: State, begun: AuditRecord, read: Reading | None) -> bool:
        """Whether what was read after a lost answer proves the act."""
        if read is None:
            return False
        found = observe_unanswered(
            self.transaction, begun, (), as_read(read), self.sent_at, state.now
        )
        return found is not None

    def unlock(self) -> None:
        assert self.lock is not None
        Leases(self.transaction).release(self.lock)

    def delivers(self, state: State, event: PauseEvent, read: Reading) -> None:
        details = EventDetails(
            reason=event.reason or None,
            actor=event.by.name if event.by is not None else None,
            is_ours=event.is_ours,
        )
        record = EventRecord(
            self.repository,
            state.delivered + 1,
            event.at,
            TYPES[event.kind],
            None,
            None,
            None,
            details,
        )
        Events(self.transaction).add_new([record])
        place_event(self.transaction, record, EventContext(state.now, as_read(read)), ())
        Events(self.transaction).mark_routed(self.repository, [record.event_id])

    @property
    def known(self) -> Known:
        return load_stored(self.transaction, self.repository, BASE).known


def as_read(reading: Reading) -> PauseReading:
    shown = reading.shown
    pause = None
    if shown is not None:
        pause = Pause(reason=shown.reason, paused_at=shown.paused_at)
    return PauseReading(pause, reading.at, reading.status)


def facts(pause: KnownPause) -> KnownPause:
    """Without what only the rows, or only the model, number."""
    lines = tuple(replace(line, event_id=0 if line.is_named else None) for line in pause.lines)
    return replace(pause, lines=lines, pause_id=0, timer=None)


def assert_same(rows: Rows, known: Known, way: list[str]) -> None:
    found = rows.known
    assert [facts(pause) for pause in found.pauses] == [facts(pause) for pause in known.pauses], way
    waiting = [(event.kind, event.at, event.by) for event in known.waiting]
    assert [(event.kind, event.at, event.by) for event in found.waiting] == waiting, way
    if known.pauses:
        assert found.missing_since == known.missing_since, way


@pytest.mark.parametrize("name", WORLDS)
def test_the_rows_follow_what_the_pure_functions_say(transaction: Transaction, name: str) -> None:
    world = WORLDS[name]
    ends = 0
    for seed in range(WALKS):
        random = Random(seed)
        rows = Rows(transaction, RepositoryName(f"acme/{seed}"), world)
        state = world.first()
        way: list[str] = []
        for _ in range(STEPS):
            what, after = random.choice(list(world.next_states(state)))
            way.append(what)
            is_stored = rows.follow(what, state, after)
            # Most steps are those of the service, the clock and requests under way.
            if is_stored or after.known != state.known:
                assert_same(rows, after.known, way)
            state = after
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


def test_the_same_reason_again_is_a_change_although_the_services_answers_say_earlier_times(
    transaction: Transaction,
) -> None:
    """The time of an answer is rounded down, so it may be before what the answer shows."""

    def read(second: float) -> None:
        paused_at = BASE + timedelta(seconds=second)
        pause = Pause(reason="frozen", paused_at=paused_at)
        observe_reading(
            transaction, SITE, PauseReading(pause, paused_at - timedelta(seconds=0.5)), BASE
        )

    read(0.5)
    at = BASE + timedelta(seconds=0.5)
    details = EventDetails(reason="frozen", actor="ann")
    created = EventRecord(SITE, 1, at, PAUSE_CREATE, None, None, None, details)
    Events(transaction).add_new([created])
    place_event(transaction, created, EventContext(BASE, None), ())
    read(1.25)

    (pause,) = load_stored(transaction, SITE, BASE).known.pauses
    assert [line.paused_at - BASE for line in pause.lines] == [
        timedelta(seconds=0.5),
        timedelta(seconds=1.25),
    ]
