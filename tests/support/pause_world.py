"""Everything that can happen to one queue's pause, in every order, around the real functions.

A state is a service, the people and machines that change its pause, and what the bot knows of it.
`World.next_states` are all that can follow; `World.at_rest` is what follows when nothing more
happens: no new acts, no faults, a few readings, and the rest of the log.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bot.kernel.actor import Actor
from bot.pauses.act_steps import answered, begun, not_done, unanswered
from bot.pauses.known import (
    ActCertainty,
    ActKind,
    Known,
    KnownPause,
    LineTimer,
    PauseAct,
    PauseEvent,
    PauseEventKind,
    Reading,
    Shown,
    StatusSays,
    TimerState,
)
from bot.pauses.observe import observe
from bot.pauses.place import place

BASE = datetime(2031, 5, 6, 8, tzinfo=UTC)
TICK = timedelta(minutes=1)
APART = timedelta(seconds=2)
"""A tick is longer than an answer may be old; all changes within one tick are younger."""

ANN = Actor("U1", "Ann")
BOB = Actor("U2", "Bob")
FAY = Actor("", "Fay")
GUS = Actor("", "Gus")


def time_of(number: int, tick: int) -> datetime:
    """The service's time of its change of that number; the microseconds tell the number."""
    return BASE + tick * TICK + number * APART + timedelta(microseconds=number)


def number_at(at: datetime) -> int:
    return at.microsecond


@dataclass(frozen=True, slots=True)
class Version:
    """One reason of a pause, as the service has it."""

    number: int
    shown: Shown
    by: Actor


@dataclass(frozen=True, slots=True)
class Stretch:
    """One time in which the queue was paused, as it truly was."""

    versions: tuple[Version, ...]
    ended_by: Actor | None = None
    end: int | None = None
    is_gap_seen: bool = False  #: a stored reading showed that it was over


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person will ask the bot for."""

    kind: ActKind
    actor: Actor
    is_timed: bool = False


class Step(StrEnum):
    READ = "read"
    SEND = "send"
    READ_AFTER = "read what became of it"
    STORE_END = "store its end"


class Answer(StrEnum):
    DONE = "done"
    NOTHING_TO_REMOVE = "404"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Acting:
    """The process that carries out an act."""

    act_id: int
    step: Step
    revision: int
    answer: Answer = Answer.LOST
    reading: Reading | None = None


@dataclass(frozen=True, slots=True)
class Fired:
    """A timer's act: the line that it was set for, and the one that its reading showed."""

    act_id: int
    line: int
    read: int | None = None


@dataclass(frozen=True, slots=True)
class Poll:
    """A reading that isn't stored yet."""

    reading: Reading
    revision: int
    mode: "Mode"


@dataclass(frozen=True, slots=True)
class State:
    todo: tuple[Wish, ...]
    foreign: int
    faults: int
    kills: int
    polls: tuple[Poll | None, ...]
    service: Version | None = None
    number: int = 0
    tick: int = 0
    before: Version | None = None  #: what a stale answer shows
    changed_at_tick: int | None = None
    log: tuple[PauseEvent, ...] = ()
    delivered: int = 0
    truth: tuple[Stretch, ...] = ()
    known: Known = field(default_factory=Known)
    carried_out: frozenset[int] = frozenset()
    in_flight: tuple[int, ...] = ()
    acting: Acting | None = None
    fired: tuple[Fired, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def now(self) -> datetime:
        return time_of(self.number, self.tick)

    @property
    def open_pause(self) -> KnownPause | None:
        last = self.known.last
        return last if last is not None and last.is_open else None


class Mode(StrEnum):
    """How true an answer is."""

    TRUE = "true"
    STALE = "stale"
    FALSE = "a false 404"


@dataclass(frozen=True, slots=True)
class World:
    """What may happen, and how often."""

    todo: tuple[Wish, ...] = ()
    foreign: int = 1
    faults: int = 1
    kills: int = 0
    ticks: int = 1
    polls: int = 1
    status_shows_pauses: bool = True
    log_tells: bool = True
    shortens_reasons: bool = False
    log_late: timedelta = timedelta()  #: the clock of the log differs from the service's
    is_copy_edited: bool = False  #: who pastes the reason of an act adds to it

    def first(self) -> State:
        return State(self.todo, self.foreign, self.faults, self.kills, (None,) * self.polls)

    # The service.

    def paused(self, state: State, reason: str, by: Actor, act_id: int | None = None) -> State:
        number = state.number + 1
        version = Version(number, Shown(reason, time_of(number, state.tick)), by)
        if state.service is None:
            kind = PauseEventKind.CREATED
            truth = (*state.truth, Stretch((version,)))
        else:
            kind = PauseEventKind.UPDATED
            last = state.truth[-1]
            truth = (*state.truth[:-1], replace(last, versions=(*last.versions, version)))
        event = PauseEvent(kind, version.shown.paused_at, by, reason=reason)
        return self._changed(state, version, truth, event, act_id)

    def removed(self, state: State, by: Actor, act_id: int | None = None) -> State:
        number = state.number + 1
        broken = state.broken
        for fired in state.fired:
            is_of_other = state.service is not None and fired.line != state.service.number
            if fired.act_id == act_id and is_of_other and fired.read != fired.line:
                broken += ("a timer removed a pause which it wasn't set for",)
        last = replace(state.truth[-1], ended_by=by, end=number)
        event = PauseEvent(PauseEventKind.REMOVED, time_of(number, state.tick), by)
        state = replace(state, broken=broken)
        return self._changed(state, None, (*state.truth[:-1], last), event, act_id)

    def _changed(
        self,
        state: State,
        version: Version | None,
        truth: tuple[Stretch, ...],
        event: PauseEvent,
        act_id: int | None,
    ) -> State:
        carried_out = state.carried_out
        event = replace(event, at=event.at + self.log_late)
        if act_id is not None:
            carried_out |= {act_id}
            event = replace(event, by=None, is_ours=True)
        return replace(
            state,
            service=version,
            number=state.number + 1,
            before=state.service,
            changed_at_tick=state.tick,
            truth=truth,
            log=(*state.log, event) if self.log_tells else (),
            carried_out=carried_out,
        )

    def answer(self, state: State, mode: Mode = Mode.TRUE) -> Reading:
        version = {Mode.TRUE: state.service, Mode.STALE: state.before, Mode.FALSE: None}[mode]
        if version is not None:
            return Reading(version.shown, state.now)
        status = StatusSays.NOTHING
        if self.status_shows_pauses:
            status = StatusSays.PAUSED if mode is Mode.FALSE else StatusSays.RUNNING
        return Reading(None, state.now, status)

    def observed(
        self, state: State, reading: Reading, revision: int, *, is_own: bool = False
    ) -> State:
        before = state.open_pause
        known = observe(state.known, reading, revision, is_own=is_own).known
        state = replace(state, known=known)
        was_untold = before is not None and before.told_end is None
        is_shown = reading.status is StatusSays.PAUSED
        if is_shown and was_untold and state.open_pause is None:
            broken = (*state.broken, "an end was believed while the status showed the pause")
            return replace(state, broken=broken)
        is_gap = reading.shown is None and state.service is None and state.open_pause is None
        if not is_gap or not known.pauses or not state.truth:
            return state
        last = replace(state.truth[-1], is_gap_seen=True)
        return replace(state, truth=(*state.truth[:-1], last))

    # An act, in one process.

    def begins(self, state: State, wish: Wish) -> State:
        act = PauseAct(
            len(state.known.acts),
            wish.kind,
            wish.actor,
            state.now,
            reason=f"by {wish.actor.name}" if wish.kind is ActKind.PAUSE else None,
            sets_end=wish.is_timed,
        )
        known = begun(state.known, act)
        return replace(state, known=known, acting=Acting(act.act_id, Step.READ, known.revision))

    def reads(self, state: State, acting: Acting, mode: Mode = Mode.TRUE) -> State:
        reading = self.answer(state, mode)
        act = state.known.act(acting.act_id)
        # It shows nothing that the act has made: that is requested afterwards.
        earlier = tuple(other for other in state.known.acts if other is not act)
        state = replace(state, known=replace(state.known, acts=earlier))
        state = self.observed(state, reading, state.known.revision, is_own=True)
        state = replace(state, known=replace(state.known, acts=(*state.known.acts, act)))
        fired = next((fired for fired in state.fired if fired.act_id == act.act_id), None)
        is_left = act.kind is ActKind.RESUME and reading.shown is None
        if fired is not None:
            timer = state.open_pause.timer if state.open_pause is not None else None
            is_due = timer is not None and timer.state is TimerState.FIRED
            is_left |= not is_due or (timer is not None and timer.line != reading.shown)
        if is_left:
            return replace(state, known=not_done(state.known, act.act_id), acting=None)
        if fired is not None and reading.shown is not None:
            others = tuple(other for other in state.fired if other is not fired)
            now_read = replace(fired, read=number_at(reading.shown.paused_at))
            state = replace(state, fired=(*others, now_read))
        known = state.known.with_act(replace(act, read=reading.shown, began_at=state.now))
        acting = Acting(act.act_id, Step.SEND, known.revision)
        return replace(state, known=known, acting=acting)

    def carries_out(self, state: State, act_id: int) -> tuple[State, Answer, Reading]:
        act = state.known.act(act_id)
        if act.reason is not None:
            stored = act.reason[:-1] if self.shortens_reasons else act.reason
            state = self.paused(state, stored, act.actor, act_id)
            shown = state.service.shown if state.service is not None else None
            return state, Answer.DONE, Reading(shown, state.now)
        if state.service is None:
            return state, Answer.NOTHING_TO_REMOVE, Reading(None, state.now)
        state = self.removed(state, act.actor, act_id)
        return state, Answer.DONE, Reading(None, state.now)

    def sends(self, state: State, acting: Acting) -> State:
        state, answer, reading = self.carries_out(state, acting.act_id)
        acting = replace(acting, step=Step.STORE_END, answer=answer, reading=reading)
        return replace(state, acting=acting)

    def reads_after(self, state: State, acting: Acting, mode: Mode = Mode.TRUE) -> State:
        """After a lost answer."""
        read = replace(acting, step=Step.STORE_END, reading=self.answer(state, mode))
        return replace(state, acting=read)

    def stores_end(self, state: State, acting: Acting) -> State:
        if acting.answer is Answer.LOST:
            known = unanswered(state.known, acting.act_id, acting.reading, acting.revision)
        elif acting.answer is Answer.NOTHING_TO_REMOVE or acting.reading is None:
            known = not_done(state.known, acting.act_id)
        else:
            known = answered(state.known, acting.act_id, acting.reading, acting.revision)
        return replace(state, known=known, acting=None)

    # The log and the polls.

    def stores_poll(self, state: State, index: int) -> State:
        poll = state.polls[index]
        if poll is None:
            return state
        before = state.open_pause
        state = _with_poll(state, index, None)
        state = self.observed(state, poll.reading, poll.revision)
        was_untold = before is not None and before.told_end is None
        is_only_fault = poll.mode is Mode.FALSE and self.faults == 1
        if is_only_fault and was_untold and state.open_pause is None:
            broken = (*state.broken, "one false answer ended a pause")
            return replace(state, broken=broken)
        return state

    def delivers(self, state: State, mode: Mode = Mode.TRUE) -> State:
        """An event comes, with the reading that it asks for."""
        event = state.log[state.delivered]
        reading = self.answer(state, mode)
        state = replace(state, delivered=state.delivered + 1)
        pause = state.open_pause
        is_end = event.kind is PauseEventKind.REMOVED
        if is_end and pause is not None and pause.last_line.paused_at < event.at:
            state = replace(state, known=place(state.known, event, state.now))
            return self.observed(state, reading, state.known.revision)
        state = self.observed(state, reading, state.known.revision)
        return replace(state, known=place(state.known, event, state.now))

    # What may come next.

    def next_states(self, state: State) -> Iterator[tuple[str, State]]:
        if state.acting is not None:
            yield from self._of_act(state, state.acting)
        elif state.known.acting is None:
            yield from self._begin(state)
        yield from self._late(state)
        yield from self._polls(state)
        if state.delivered < len(state.log) and state.known.acting is None:
            event = state.log[state.delivered]
            for mode, after in self._modes(state):
                yield f"the log tells: {event.kind} ({mode})", self.delivers(after, mode)
        yield from self._elsewhere(state)
        if not state.in_flight and state.tick < self.ticks:
            yield "a minute passes", replace(state, tick=state.tick + 1)

    def _polls(self, state: State) -> Iterator[tuple[str, State]]:
        for index, poll in enumerate(state.polls):
            if poll is not None:
                yield f"poll {index} stores its reading", self.stores_poll(state, index)
                continue
            for mode, after in self._modes(state):
                read = Poll(self.answer(state, mode), state.known.revision, mode)
                yield f"poll {index} reads ({mode})", _with_poll(after, index, read)

    def _modes(self, state: State) -> Iterator[tuple[Mode, State]]:
        yield Mode.TRUE, state
        if not state.faults:
            return
        after = replace(state, faults=state.faults - 1)
        if state.changed_at_tick == state.tick:
            yield Mode.STALE, after
        if state.service is not None:
            yield Mode.FALSE, after

    def _begin(self, state: State) -> Iterator[tuple[str, State]]:
        for index, wish in enumerate(state.todo):
            if wish in state.todo[:index]:
                continue
            rest = (*state.todo[:index], *state.todo[index + 1 :])
            what = f"{wish.actor.name} asks to {wish.kind}"
            yield what, self.begins(replace(state, todo=rest), wish)
        pause = state.open_pause
        if pause is None or pause.timer is None or pause.timer.state is not TimerState.SET:
            return
        timer = replace(pause.timer, state=TimerState.FIRED)
        yield "the timer is due", self._fires(state, pause, timer)

    def _fires(self, state: State, pause: KnownPause, timer: LineTimer) -> State:
        last = len(state.known.pauses) - 1
        known = state.known.with_pause(last, replace(pause, timer=timer))
        fired = Fired(len(known.acts), number_at(timer.line.paused_at))
        state = replace(state, known=known, fired=(*state.fired, fired))
        return self.begins(state, Wish(ActKind.RESUME, timer.set_by))

    def _of_act(self, state: State, acting: Acting) -> Iterator[tuple[str, State]]:
        name = f"act {acting.act_id}"
        if acting.step is Step.READ:
            for mode, after in self._modes(state):
                yield f"{name} reads ({mode})", self.reads(after, acting, mode)
        elif acting.step is Step.READ_AFTER:
            unread = replace(acting, step=Step.STORE_END)
            yield f"{name} can't be looked up", replace(state, acting=unread)
            for mode, after in self._modes(state):
                yield f"{name} is looked up ({mode})", self.reads_after(after, acting, mode)
        elif acting.step is Step.STORE_END:
            yield f"{name}: its end is stored", self.stores_end(state, acting)
        else:
            yield from self._sends(state, acting, name)
        if state.kills:
            free = replace(state, known=replace(state.known, acting=None), kills=state.kills - 1)
            if state.known.acting is not None:
                yield f"the lock of {name} expires, its process goes on", free
            yield f"the process of {name} is killed", replace(free, acting=None)

    def _sends(self, state: State, acting: Acting, name: str) -> Iterator[tuple[str, State]]:
        sent = self.sends(state, acting)
        yield f"{name} is carried out and answered", sent
        if not state.faults:
            return
        fewer = state.faults - 1
        lost = replace(acting, step=Step.READ_AFTER)
        is_done = replace(sent, acting=lost, faults=fewer)
        yield f"{name} is carried out, its answer lost", is_done
        not_sent = replace(state, acting=lost, faults=fewer)
        yield f"{name}: its request is lost", not_sent
        late = replace(not_sent, in_flight=(*state.in_flight, acting.act_id))
        yield f"{name}: its request is late, its answer lost", late

    def _late(self, state: State) -> Iterator[tuple[str, State]]:
        for index, act_id in enumerate(state.in_flight):
            rest = (*state.in_flight[:index], *state.in_flight[index + 1 :])
            state_after, _, _ = self.carries_out(state, act_id)
            yield f"the late act {act_id} is carried out", replace(state_after, in_flight=rest)
            yield f"the late act {act_id} comes to nothing", replace(state, in_flight=rest)

    def _elsewhere(self, state: State) -> Iterator[tuple[str, State]]:
        """What people do on the dashboard, where they may paste the reason of an act."""
        if not state.foreign:
            return
        who = FAY if state.foreign % 2 else GUS
        after = replace(state, foreign=state.foreign - 1)
        made = (act for act in state.known.acts if act.act_id in state.carried_out)
        copied = sorted({act.reason for act in made if act.reason is not None})
        if self.is_copy_edited:
            copied = [f"{reason}, still" for reason in copied]
        own = "frozen" if state.service is None else "still frozen"
        for reason in (own, *copied):
            yield f"{who.name} pauses on the dashboard: {reason}", self.paused(after, reason, who)
        if state.service is not None:
            yield f"{who.name} resumes on the dashboard", self.removed(after, who)

    def at_rest(self, state: State) -> State:
        """The state once nothing more happens, and all is read."""
        while state.acting is not None:
            acting = state.acting
            if acting.step is Step.READ:
                state = self.reads(state, acting)
            elif acting.step is Step.SEND:
                state = self.sends(state, acting)
            elif acting.step is Step.READ_AFTER:
                state = self.reads_after(state, acting)
            else:
                state = self.stores_end(state, acting)
        for index in range(self.polls):
            state = self.stores_poll(state, index)
        state = self.reads_later(state)
        while state.delivered < len(state.log):
            state = self.delivers(state)
        return self.reads_later(self.reads_later(state))

    def reads_later(self, state: State) -> State:
        state = replace(state, tick=state.tick + 1)
        return self.observed(state, self.answer(state), state.known.revision)


def _with_poll(state: State, index: int, poll: Poll | None) -> State:
    polls = (*state.polls[:index], poll, *state.polls[index + 1 :])
    return replace(state, polls=polls)


def act_is_proved(state: State, act: PauseAct) -> bool:
    """Whether an act that counts as done was carried out, or one just like it."""
    if act.state is not ActCertainty.DONE or act.act_id in state.carried_out:
        return True
    return act.reason is not None and any(
        other.reason == act.reason and other.act_id in state.carried_out
        for other in state.known.acts
        if other.act_id != act.act_id
    )
