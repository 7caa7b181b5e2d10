"""How much channels get to see of a busy repository, and that the page about it is true."""

import pytest
from hypothesis import settings

from bot.domain.subscriptions import DEFAULT_TOPICS, Style
from tests.noise.__main__ import MORNING, PAGE, SEED, as_json
from tests.noise.figures import Day, merges, together
from tests.noise.listening import EVERYTHING, WAYS, Way
from tests.noise.living import days, morning
from tests.noise.page import page, ratio, read_days


@pytest.fixture(scope="module")
def document() -> str:
    return PAGE.read_text("utf-8")


async def test_the_first_hours_are_as_they_were_when_the_page_was_made() -> None:
    """Where this fails, make the page again."""
    assert as_json(await morning(SEED)) == MORNING.read_text("utf-8")


# A whole day is a minute of pure work for one core: several beside other processes.
@pytest.mark.timeout(900)
async def test_the_page_is_what_the_command_makes(document: str) -> None:
    """Its tables hold every figure that it is made of; in a long run, Monday is lived again."""
    week = read_days(document)
    assert page(SEED, week) == document
    if settings.get_current_profile_name() != "long":
        return
    (monday,) = [day async for day in days(SEED, 1)]
    told = Day(+monday.happened, {each: monday.heard[each] for each in sorted(monday.heard)})
    assert told == Day(+week[0].happened, dict(sorted(week[0].heard.items())))


def test_it_is_a_week_of_about_200_merges_a_day(document: str) -> None:
    week = read_days(document)
    assert len(week) == 6
    assert all(170 <= merges(day) <= 230 for day in week[:5])
    assert merges(week[5]) == 0


def test_threads_leave_the_channel_five_times_quieter_than_a_feed_of_everything(
    document: str,
) -> None:
    """With the default topics a feed has less than two posts for a stay, and a thread has one."""
    week = read_days(document)
    assert min(ratio(week[0], EVERYTHING), ratio(together(week), EVERYTHING)) >= 5
    assert ratio(together(week), DEFAULT_TOPICS) > 1.3


def test_what_needs_somebody_is_seen_in_every_style(document: str) -> None:
    for day in read_days(document)[:5]:
        failures = day.happened["failure"]
        for way in WAYS:
            heard = day.heard[way.channel_id]
            assert heard.in_channel >= failures
            if way.style is Style.THREAD:
                assert 0 < heard.broadcasts <= failures
        quiet = day.heard[Way(Style.DIGEST, DEFAULT_TOPICS).channel_id]
        assert quiet.in_channel < failures + 10
