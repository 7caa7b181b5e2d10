"""A button, a menu and a form mean what the pause said as they were drawn.

The service may keep the time of a pause whose reason somebody changes.
"""

from datetime import timedelta

import pytest

from bot.acts.record import ActResult
from bot.acts.rows import Audit
from bot.kernel.actor import Caller, Origin
from bot.kernel.durations import For
from bot.pauses.outcomes import AlreadyPaused, NotPaused, OtherPause, PauseChange
from bot.pauses.pause import DrawnLine, PauseLine, PauseRecord, drawn_line, read_drawn_line
from bot.pauses.taken_over import NothingToTakeOver
from bot.pauses.taking_over import TakeOverPause
from tests.support.clock import NOON
from tests.support.desk import Desk, World
from tests.support.make import BOB, CHANNEL, SITE
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

BOBS = Caller(BOB, Origin.BUTTON, CHANNEL)


async def changed_since_it_was_drawn(*, keeps_time: bool) -> tuple[Desk, DrawnLine]:
    desk = Desk(World(keeps_time=keeps_time))
    made = await desk.pause()
    assert isinstance(made, PauseChange)
    desk.world.clock.advance(2)
    desk.world.service.paused_by("carol", "Database migration")
    return desk, made.pause.drawn


@pytest.mark.parametrize("keeps_time", [False, True])
async def test_a_resume_button_drawn_before_somebody_elses_change_shows_the_change(
    *, keeps_time: bool
) -> None:
    desk, drawn = await changed_since_it_was_drawn(keeps_time=keeps_time)

    outcome = await desk.resuming.run(BOBS, SITE, expected=drawn)

    assert isinstance(outcome, OtherPause)
    assert outcome.known.line.reason == "Database migration"
    assert desk.world.service.pauses[SITE].reason == "Database migration"
    again = await desk.resuming.run(BOBS, SITE, expected=outcome.known.drawn)
    assert isinstance(again, PauseChange)


@pytest.mark.parametrize("keeps_time", [False, True])
async def test_a_menu_drawn_before_somebody_elses_change_sets_no_end(*, keeps_time: bool) -> None:
    desk, drawn = await changed_since_it_was_drawn(keeps_time=keeps_time)

    outcome = await desk.pausing.extend(BOBS, SITE, For(timedelta(hours=1)), expected=drawn)

    assert isinstance(outcome, OtherPause)
    assert outcome.known.resumes_at is None


async def test_a_stale_answer_sets_no_end_and_shows_the_pause_on_record() -> None:
    """The service answers with what the queue's pause said before dave changed it."""
    desk = Desk()
    service = desk.world.service
    before = service.paused_by("carol", "Night")
    await desk.turns(40)
    service.paused_by("dave", "Database migration")
    await desk.turns(15)
    service.pauses[SITE] = before

    outcome = await desk.pausing.extend(BOBS, SITE, For(timedelta(hours=1)))

    assert isinstance(outcome, OtherPause)
    assert outcome.known.line.reason == "Database migration"
    (stored,) = desk.world.pauses()
    assert stored.timer is None
    with begin(InMemoryStore(desk.world.database)) as transaction:
        asked = [act for act in Audit(transaction).since(SITE, NOON) if act.actor == BOB]
    assert [act.result for act in asked] == [ActResult.UNCHANGED]


@pytest.mark.parametrize("keeps_time", [False, True])
async def test_a_form_opened_before_somebody_elses_change_replaces_nothing(
    *, keeps_time: bool
) -> None:
    desk, drawn = await changed_since_it_was_drawn(keeps_time=keeps_time)

    outcome = await desk.pausing.run(BOBS, SITE, "The vendor is down", replacing=drawn)

    assert isinstance(outcome, AlreadyPaused)
    assert desk.world.service.pauses[SITE].reason == "Database migration"


@pytest.mark.parametrize("keeps_time", [False, True])
async def test_a_reason_typed_before_somebody_elses_change_replaces_nothing(
    *, keeps_time: bool
) -> None:
    desk, drawn = await changed_since_it_was_drawn(keeps_time=keeps_time)

    outcome = await desk.pausing.change_reason(BOBS, SITE, "The vendor is down", drawn=drawn)

    assert isinstance(outcome, AlreadyPaused)
    assert desk.world.service.pauses[SITE].reason == "Database migration"


async def test_the_reason_of_a_pause_that_is_over_pauses_nothing() -> None:
    desk = Desk()
    made = await desk.pause()
    assert isinstance(made, PauseChange)
    await desk.resume()

    outcome = await desk.pausing.change_reason(
        BOBS, SITE, "The vendor is down", drawn=made.pause.drawn
    )

    assert outcome == NotPaused()
    assert SITE not in desk.world.service.pauses


@pytest.mark.parametrize("keeps_time", [False, True])
async def test_a_new_reason_keeps_an_end_that_has_passed(*, keeps_time: bool) -> None:
    """The timer still tries, because the service refuses."""
    desk = Desk(World(keeps_time=keeps_time))
    made = await desk.pause(lasting=For(timedelta(hours=1)))
    assert isinstance(made, PauseChange)
    desk.world.clock.advance(2 * 60 * 60)

    outcome = await desk.pausing.change_reason(
        BOBS, SITE, "The vendor is down", drawn=made.pause.drawn
    )

    assert isinstance(outcome, PauseChange)
    assert outcome.pause.resumes_at == made.pause.resumes_at
    (stored,) = desk.world.pauses()
    assert stored.line.reason == "The vendor is down"
    assert stored.timer is not None
    assert stored.timer.due_at == made.pause.resumes_at


@pytest.mark.parametrize("keeps_time", [False, True])
async def test_a_card_drawn_before_somebody_elses_change_takes_over_nothing(
    *, keeps_time: bool
) -> None:
    desk, drawn = await changed_since_it_was_drawn(keeps_time=keeps_time)
    await desk.poll()

    outcome = await TakeOverPause(desk.acts).run(BOBS, SITE, drawn)

    assert isinstance(outcome, NothingToTakeOver)


@pytest.mark.parametrize("reason", ["CI is down", "", "a  b\nc"])
def test_what_a_button_carries_of_a_line_is_read_back(reason: str) -> None:
    line = drawn_line(NOON, reason)
    assert read_drawn_line(line.written) == line
    assert PauseRecord(SITE, PauseLine(NOON, f" {reason}\n", reason)).says_still(line)


def test_what_was_drawn_without_a_reason_means_any() -> None:
    pause = PauseRecord(SITE, PauseLine(NOON, "CI is down", "CI is down"))
    assert pause.says_still(DrawnLine(NOON))
    assert read_drawn_line("") is None
    assert not pause.says_still(None)
