"""What the buttons of a page of the log carry."""

from dataclasses import replace
from datetime import timedelta

from bot.domain.event_log import Window
from bot.domain.groups import Repositories
from bot.domain.message import Message
from bot.domain.snapshots import LogPage, LogPlace, LogSelection
from bot.messages import actions
from bot.messages.blocks import VALUE_LIMIT
from bot.messages.event_log import event_log
from tests.support.clock import NOON
from tests.support.make import SITE, make_event_record

WINDOW = Window(NOON - timedelta(days=30), NOON + timedelta(hours=1))
SELECTION = LogSelection(SITE, WINDOW, 41, "release/4.2", frozenset({"action.queue.leave"}), 5)
OLDEST = NOON - timedelta(hours=3)
RECORDS = [make_event_record(event_id=2), make_event_record(event_id=1, received_at=OLDEST)]


def places(shown: Message) -> dict[str, LogPlace]:
    """What each button asks for, by its label."""
    buttons = shown.blocks[-1]["elements"]
    assert isinstance(buttons, list)
    found = {}
    for button in buttons:
        assert isinstance(button, dict)
        assert isinstance(button["text"], dict)
        value = str(button["value"])
        assert len(value) <= VALUE_LIMIT
        found[str(button["text"]["text"])] = actions.read_value(
            LogPlace, value, Repositories((SITE,))
        )
    return found


def test_buttons_carry_the_filters_and_the_cursor() -> None:
    older, newer, here = (LogPlace(SELECTION, one) for one in ("older", "newer", "here"))
    page = LogPage(here, RECORDS, older=older, newer=newer)
    assert places(event_log(page)) == {"Newer": newer, "Older": older}
    # Without a way back.
    page = LogPage(here, RECORDS, newer=LogPlace(SELECTION))
    assert places(event_log(page)) == {"Newest": LogPlace(SELECTION)}


def test_a_cursor_too_long_for_a_button_is_replaced_by_a_time() -> None:
    long = LogPlace(SELECTION, "c" * VALUE_LIMIT)

    found = places(event_log(LogPage(LogPlace(SELECTION), RECORDS, older=long, newer=long)))

    until = replace(WINDOW, received_to=OLDEST)
    assert found["Older"] == LogPlace(replace(SELECTION, window=until))
    assert found["Newer"] == LogPlace(SELECTION)


def test_a_page_that_ends_at_the_start_of_the_window_can_still_be_asked_for() -> None:
    place = LogPlace(SELECTION, "c").ending_at(WINDOW.received_from)

    assert place.selection.window.received_to > WINDOW.received_from
