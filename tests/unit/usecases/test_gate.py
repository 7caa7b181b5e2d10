"""How the requests in flight are shared out between pages and looks at pauses."""

import pytest

from bot.usecases.gate import looks_at_once, pages_at_once
from bot.usecases.polling.poll_event_log import PAGES_AT_ONCE
from bot.usecases.polling.watch_pauses import LOOKS_AT_ONCE


def test_without_a_setting_the_shares_are_those_of_eight_requests() -> None:
    assert (pages_at_once(8), looks_at_once(8)) == (PAGES_AT_ONCE, LOOKS_AT_ONCE)


@pytest.mark.parametrize("requests", range(8, 129))
def test_looks_keep_up_with_polls_and_all_together_are_what_may_be_in_flight(
    requests: int,
) -> None:
    pages, looks = pages_at_once(requests), looks_at_once(requests)
    assert pages + 2 * looks == requests
    # With each six polls of a log comes a look for a pause, and no more of those keep up.
    assert pages >= 6 * looks
    assert pages - 2 < 6 * (looks + 1)
