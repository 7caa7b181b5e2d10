"""How many messages a busy repository causes, and that the page about it is correct."""

import pytest
from hypothesis import settings

from bot.log.classification import EventKind
from tests.noise.__main__ import FIGURES, MORNING, NIGHTS, PAGE, SEED, nights
from tests.noise.figures import Day, as_json, from_json, together
from tests.noise.listening import DIGESTED, EVERYTHING, FEED, NORMAL, QUIET, WAYS
from tests.noise.living import days, morning
from tests.noise.page import page


@pytest.fixture(scope="module")
def week() -> list[Day]:
    return from_json(FIGURES.read_text("utf-8"))


def test_the_noise_page_is_generated_from_the_figures(week: list[Day]) -> None:
    made = page(SEED, week, from_json(NIGHTS.read_text("utf-8")))
    assert made == PAGE.read_text("utf-8")
    assert len(made.split()) <= 550


async def test_a_bad_night_and_a_pull_request_that_comes_back_make_few_messages() -> None:
    lived = await nights(SEED)
    assert as_json(lived) == NIGHTS.read_text("utf-8")
    bad, returning = lived
    assert bad.happened[EventKind.FAILURE.value] >= 60
    assert bad.in_channel(NORMAL.channel_id) <= 40
    assert returning.happened[EventKind.FAILURE.value] == 12
    assert returning.in_channel(NORMAL.channel_id) <= 3


async def test_the_first_hours_match_the_page() -> None:
    """If this fails, run `python -m tests.noise` again."""
    assert as_json([await morning(SEED)]) == MORNING.read_text("utf-8")


# A whole day is a minute of pure work for one core: several beside other processes.
@pytest.mark.timeout(900)
async def test_the_figures_match_the_commands_count(week: list[Day]) -> None:
    """In a long run, Monday is lived again."""
    if settings.get_current_profile_name() != "long":
        return
    (monday,) = [day async for day in days(SEED, 1)]
    assert monday == week[0]


def test_the_simulated_week_has_about_200_merges_a_day(week: list[Day]) -> None:
    assert len(week) == 6
    assert all(170 <= day.merges <= 230 for day in week[:5])
    assert week[5].merges == 0


def test_a_quiet_and_a_normal_channel_are_as_quiet_as_promised(week: list[Day]) -> None:
    whole = together(week)
    assert whole.per_merge(QUIET.channel_id) <= 0.2
    assert whole.per_merge(NORMAL.channel_id) <= 1.2
    assert whole.heard[NORMAL.channel_id]["replies"] <= whole.merges / 3


def test_threads_leave_the_channel_five_times_quieter_than_a_feed(week: list[Day]) -> None:
    for day in (week[0], together(week)):
        assert day.in_channel(FEED.channel_id) >= 5 * day.in_channel(EVERYTHING.channel_id)


def test_failures_that_need_someone_appear_in_every_subscription(week: list[Day]) -> None:
    for day in week[:5]:
        failures = day.happened[EventKind.FAILURE.value]
        for way in WAYS:
            assert day.in_channel(way.channel_id) >= failures
        # In a feed, only reminders of pauses are in threads.
        reminders = day.heard[FEED.channel_id]["broadcasts"]
        for way in (NORMAL, EVERYTHING):
            assert 0 < day.heard[way.channel_id]["broadcasts"] - reminders <= failures
        assert day.in_channel(DIGESTED.channel_id) < failures + 10
