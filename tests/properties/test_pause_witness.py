"""Whatever happens to a pause, in whatever order: what the bot knows at rest is what happened.

All orders, breadth first, of a few acts, changes on the dashboard, faults and kills. A long run
tries them to the end; a usual one those of the first STATES states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import pytest
from hypothesis import settings

from bot.kernel.actor import Actor
from bot.pauses.known import ActCertainty, ActKind, KnownPause, TimerState
from tests.support.pause_world import (
    ANN,
    BOB,
    FAY,
    GUS,
    State,
    Stretch,
    Wish,
    World,
    act_is_proved,
    number_at,
)

STATES = 1500

PAUSE = Wish(ActKind.PAUSE, ANN)
RESUME = Wish(ActKind.RESUME, BOB)
ELSEWHERE = {FAY, GUS}
TIMED = Wish(ActKind.PAUSE, ANN, is_timed=True)
SMALL = {
    "a pause, a dashboard change": World((PAUSE,), faults=0),
    "a pause, a dashboard change at once, a fault": World((PAUSE,), ticks=0),
    "a resume, a dashboard change, a fault": World((RESUME,)),
    "a resume, two dashboard changes at once": World((RESUME,), foreign=2, faults=0, ticks=0),
    "a pause and a resume at once, a fault": World((PAUSE, RESUME), foreign=0, ticks=0),
    "a pause, a resume and a dashboard change at once": World((PAUSE, RESUME), faults=0, ticks=0),
    "a timed pause, a dashboard change at once": World((TIMED,), faults=0, ticks=0),
    "a timed pause, a dashboard change at once, a fault": World((TIMED,), ticks=0),
    "two dashboard changes, a fault": World(foreign=2),
    "three dashboard changes at once, a fault": World(foreign=3, ticks=0),
    "a fault, no status": World(ticks=2, status_shows_pauses=False),
    "two faults, a status": World(faults=2, ticks=3),
    "two faults, no status": World(faults=2, ticks=3, status_shows_pauses=False),
    "no log": World((PAUSE,), foreign=0, log_tells=False),
    "no log, a timed pause": World((TIMED,), faults=0, ticks=0, log_tells=False),
    "no log, an edited copy": World((PAUSE,), ticks=0, log_tells=False, is_copy_edited=True),
    "a log that is a second early": World(
        (PAUSE, RESUME), faults=0, ticks=0, log_late=timedelta(seconds=-1)
    ),
    "a log that is a second late, a timed pause": World(
        (TIMED,), faults=0, ticks=0, log_late=timedelta(seconds=1)
    ),
    "shortened reasons": World((PAUSE,), faults=0, ticks=0, shortens_reasons=True),
    "a lost lock": World((PAUSE,), faults=0, ticks=0, kills=1),
}
LARGE = {
    "four changes on the dashboard": World(foreign=4),
    "a pause and two dashboard changes": World((PAUSE,), foreign=2),
    "a pause and a resume by two people, and a dashboard change": World((PAUSE, RESUME)),
    "a resume, two dashboard changes and a kill": World((RESUME,), foreign=2, kills=1),
    "two observers at once": World((PAUSE,), polls=2),
    "a status without pauses": World((PAUSE, RESUME), status_shows_pauses=False, ticks=2),
    "a timed pause, a dashboard change and a kill": World((TIMED,), kills=1),
    "a pause, a resume, a dashboard change and a kill": World((PAUSE, RESUME), kills=1),
    "two faults": World((PAUSE, RESUME), faults=2),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One pause: the reasons and who set them, and its end."""

    lines: tuple[tuple[str, Actor | None], ...]
    end: int | None = None
    ended_by: Actor | None = None


def expected(truth: Sequence[Stretch], ends: set[int | None]) -> list[Row]:
    """The rows at rest: each time that the queue was paused, joined where no reading saw a gap."""
    rows: list[Row] = []
    for stretch in truth:
        lines: tuple[tuple[str, Actor | None], ...] = tuple(
            (version.shown.reason, version.by) for version in stretch.versions
        )
        if rows and rows[-1].end not in ends:
            lines = (*rows.pop().lines, *lines)
        rows.append(Row(lines, stretch.end, stretch.ended_by))
    return rows


def known_rows(state: State) -> list[Row]:
    rows = []
    for pause in state.known.pauses:
        end = None
        if pause.end is not None:
            last = max(number_at(line.paused_at) for line in pause.lines)
            ends = [one.end for one in state.truth if one.end is not None and one.end > last]
            end = min(ends, default=None)
        lines = tuple((line.reason, line.by) for line in pause.lines)
        ended_by = pause.end.by if pause.end is not None else None
        rows.append(Row(lines, end, ended_by))
    return rows


def wrong_always(state: State) -> list[str]:
    wrong = [*state.broken]
    if sum(pause.is_open for pause in state.known.pauses) > 1:
        wrong.append("two pauses are open")
    if any(not act_is_proved(state, act) for act in state.known.acts):
        wrong.append("an act counts as done that wasn't carried out")
    return wrong


def wrong_at_rest(world: World, state: State) -> list[str]:
    wrong = wrong_always(state)
    pause = state.open_pause
    if (pause is None) is not (state.service is None):
        wrong.append("a pause is open while the queue runs, or the other way round")
    reasons = {pause.last_line.reason} if pause is not None else set()
    if (
        pause is not None
        and state.service is not None
        and state.service.shown.reason not in reasons
    ):
        wrong.append("another reason is in force")
    for act in state.known.acts:
        is_provable = world.log_tells and act.act_id in state.carried_out
        if is_provable and act.state is not ActCertainty.DONE:
            wrong.append("an act was carried out and doesn't count as done")
    wrong += _wrong_rows(world, state) + _wrong_timers(state)
    # Two false answers may cut a pause in two where the status doesn't show it.
    is_certain = not world.kills and world.faults < 2
    if is_certain and world.log_tells and world.polls == 1:
        rows = known_rows(state)
        if rows != expected(state.truth, {row.end for row in rows} - {None}):
            wrong.append("the rows differ from what happened")
    return wrong


def _wrong_rows(world: World, state: State) -> list[str]:
    wrong = []
    rows_of: dict[int, list[KnownPause]] = {}
    for pause in state.known.pauses:
        stretches = _stretches(state, pause)
        for index in stretches:
            rows_of.setdefault(index, []).append(pause)
        if not all(_is_known(world, by, true) for by, true in _people(state, pause)):
            wrong.append("a change or an end without its person, or somebody else's")
        if any(state.truth[index].is_gap_seen for index in stretches[:-1]):
            wrong.append("one row for two pauses, though a reading showed the gap")
    if any(len(rows) > 1 for rows in rows_of.values()):
        wrong.append("one pause has two rows")
    if world.log_tells and len(rows_of) < len(state.truth):
        wrong.append("a pause that the log tells of has no row")
    return wrong


def _stretches(state: State, pause: KnownPause) -> list[int]:
    """Which times of the truth a row covers, by their positions."""
    numbers = {number_at(line.paused_at) for line in pause.lines}
    return [
        index
        for index, stretch in enumerate(state.truth)
        if not numbers.isdisjoint(version.number for version in stretch.versions)
    ]


def _people(state: State, pause: KnownPause) -> list[tuple[Actor | None, Actor | None]]:
    """Who set each line, and the end, as the bot knows it and as it was."""
    authors = {
        version.number: version.by for stretch in state.truth for version in stretch.versions
    }
    people: list[tuple[Actor | None, Actor | None]] = [
        (line.by, authors[number_at(line.paused_at)]) for line in pause.lines
    ]
    if pause.end is not None:
        people.append((pause.end.by, state.truth[_stretches(state, pause)[-1]].ended_by))
    return people


def _is_known(world: World, by: Actor | None, true: Actor | None) -> bool:
    """Without the log nobody can know who acts on the dashboard."""
    return by == true or (by is None and not world.log_tells and true in ELSEWHERE)


def _wrong_timers(state: State) -> list[str]:
    pause = state.open_pause
    timer = pause.timer if pause is not None else None
    if timer is None or timer.state is not TimerState.SET:
        return []
    if pause is not None and not pause.last_line.shows(timer.line):
        return ["a timer is set for a line that isn't in force"]
    number = number_at(timer.line.paused_at)
    for stretch in state.truth:
        for version in stretch.versions:
            if version.number == number and version.by != timer.set_by:
                return ["a timer is set on somebody else's change"]
    return []


def explore(world: World, most: float) -> tuple[int, list[str]]:
    """How many states were tried, and the shortest way to something wrong; empty for none."""
    first = world.first()
    came_from: dict[State, tuple[State, str] | None] = {first: None}
    level = [first]
    while level:
        following: list[State] = []
        for state in level:
            wrong = wrong_always(state)
            if not wrong and not state.in_flight:
                wrong = wrong_at_rest(world, world.at_rest(state))
            if wrong:
                return len(came_from), [*_way_to(state, came_from), *wrong]
            for what, after in world.next_states(state):
                if after not in came_from and len(came_from) < most:
                    came_from[after] = state, what
                    following.append(after)
        level = following
    return len(came_from), []


def _way_to(state: State, came_from: dict[State, tuple[State, str] | None]) -> list[str]:
    way: list[str] = []
    step = came_from[state]
    while step is not None:
        state, what = step
        way.insert(0, what)
        step = came_from[state]
    return way


@pytest.mark.parametrize("name", SMALL)
def test_in_a_small_world_the_bot_knows_at_rest_what_happened(name: str) -> None:
    _, wrong = explore(SMALL[name], float("inf"))
    assert wrong == []


@pytest.mark.parametrize("name", LARGE)
def test_in_a_large_world_the_bot_knows_at_rest_what_happened(name: str) -> None:
    is_long = settings.get_current_profile_name() == "long"
    states, wrong = explore(LARGE[name], float("inf") if is_long else STATES)
    assert wrong == []
    assert states >= STATES
