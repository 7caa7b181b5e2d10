"""What the fallback text must say, and the values of buttons."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from bot.acts.asked import Asked
from bot.acts.group_act import GroupOutcome, RepositoryResult
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Action, ActResult, AuditPage, AuditPosition, AuditSelection
from bot.blocks import controls
from bot.blocks.blocks import VALUE_LIMIT
from bot.blocks.message import Message
from bot.blocks.paging import slice_from
from bot.desk import choice
from bot.desk.situation import Situation
from bot.desk.table import parse_command
from bot.feed.texts import event_posts
from bot.kernel.actor import Actor, Origin
from bot.kernel.errors import RepositoryNotAllowed
from bot.kernel.groups import Groups, Repositories
from bot.kernel.repository import RepositoryName
from bot.merge_queue.window import Window
from bot.pauses import actions as pause_actions
from bot.pauses.pause import drawn_line, read_drawn_line
from bot.pauses.texts import ends as pause_ends, group_acts
from bot.questions import actions as question_actions
from bot.questions.snapshots import LogPage, LogPlace, LogSelection
from bot.questions.statistics import QueueStatistics, count, span_back
from bot.questions.texts import audit as question_audit
from bot.questions.texts.event_log import event_log
from bot.questions.texts.statistics import statistics
from bot.queues.texts import status as queue_status
from tests.support.clock import NOON
from tests.support.make import API, SITE, make_act, make_event_record, make_snapshot, make_status
from tests.support.messages.groups import RESULTS, make_group_act
from tests.support.messages.rendering import LONG_NAME

KNOWN = Repositories((SITE, API))


def test_the_text_of_a_branch_status_does_not_describe_the_whole_queue() -> None:
    text = queue_status.status(make_snapshot(make_status(), branch="release/4.2")).text

    assert text.startswith("acme/site on `release/4.2` is running, the queue is empty")


def test_internal_names_are_never_shown() -> None:
    for queue_name in ("__default__", "default"):
        record = make_event_record(queue_name=queue_name)
        assert queue_name not in str(event_posts.event(record, None))


@given(owner=st.integers(1, 40), name=st.integers(1, 100), has_end=st.booleans())
def test_a_menu_carries_its_pause_for_any_name(owner: int, name: int, *, has_end: bool) -> None:
    repository = RepositoryName.parse(f"{'o' * owner}/{'n' * name}")
    paused_at = NOON + timedelta(microseconds=123456)
    line = drawn_line(paused_at, "CI is down")
    resumes_at = paused_at if has_end else None
    options = pause_ends.extend_menu(repository, line, resumes_at).to_dict()["options"]
    assert isinstance(options, list)
    for option in options:
        assert isinstance(option, dict)
        chosen = pause_actions.read_extend_value(str(option["value"]))

        assert (chosen.seen is pause_actions.EndSeen.SOME) is has_end
        held = controls.read_control(chosen.target, Groups((), Repositories((API, repository))))

        assert (held.repository, read_drawn_line(held.drawn_for)) == (repository, line)
        with pytest.raises(RepositoryNotAllowed):
            controls.read_control(chosen.target, Groups((), Repositories((API,))))


@given(st.text() | st.text(alphabet='"\\\x01\x1f🚀é', max_size=REASON_LIMIT))
def test_a_replace_button_carries_reason_and_pause_within_slacks_limit(reason: str) -> None:
    wanted = pause_actions.PauseChoice(
        LONG_NAME, Asked(reason[:REASON_LIMIT]), drawn_line(NOON, "CI"), keeps_end=True
    )
    value = controls.value_of(wanted)

    assert len(value) <= VALUE_LIMIT
    assert controls.read_value(pause_actions.PauseChoice, value, KNOWN) == wanted


@pytest.mark.parametrize(
    "typed", ["", "status branch:main", "pause CI  is down", "resume", "subscribe merge, ci"]
)
def test_a_chosen_repository_is_inserted_where_it_would_be_typed(typed: str) -> None:
    assert choice.can_carry(typed)

    continued = choice.continued(choice.BLOCK_PREFIX + typed, API)

    verb, _, rest = typed.partition(" ")
    here = Situation(Groups((), KNOWN))
    expected = parse_command(f"{verb or 'status'} {API} {rest}", here)
    assert parse_command(continued, here) == expected


def test_a_command_too_long_for_a_blocks_id_is_known_by_its_digest() -> None:
    longest = "p" * (255 - len(choice.BLOCK_PREFIX))
    assert choice.carried(longest) == longest
    others = [f"{longest}{end}" for end in ("a", "b")]
    digests = [choice.carried(other) for other in others]
    assert len(set(digests)) == len(others)
    assert all(len(choice.BLOCK_PREFIX + digest) <= 255 for digest in digests)
    assert "p" not in digests[0]
    assert choice.can_carry("é" * 1000)
    assert not choice.can_carry("é" * 1001)


def test_an_audits_button_carries_its_place() -> None:
    for selection in (AuditSelection(), AuditSelection(SITE, NOON)):
        edge = question_actions.AuditTarget(selection, AuditPosition(NOON, 9))
        assert (
            controls.read_value(question_actions.AuditTarget, controls.value_of(edge), KNOWN)
            == edge
        )
    other = controls.value_of(AuditSelection(LONG_NAME))
    with pytest.raises(RepositoryNotAllowed):
        controls.read_value(AuditSelection, other, KNOWN)


def test_the_counts_match_the_table() -> None:
    many = [RepositoryResult(RepositoryName(f"acme/r{n}"), GroupOutcome.CHANGED) for n in range(48)]
    done = make_group_act(*many, *RESULTS[1:], actor=Actor("U1", "alice"))
    assert group_acts.counts_of_outcomes(done) == [
        "48 paused",
        "1 already paused by bob",
        "1 failed",
    ]
    assert "@release: 48 of 50 queues paused" in group_acts.group_act_post(done).text


def test_every_kind_of_record_has_words() -> None:
    for action, result, origin in product(Action, ActResult, Origin):
        records = [make_act(action, result, origin=origin)]
        page = AuditPage(AuditSelection(), records, has_newer=False, has_older=False)
        assert "alice" in question_audit.audit(page).text


@pytest.mark.parametrize(
    ("first", "begins"), [(-3, 0), (0, 0), (20, 20), (23, 23), (25, 20), (99, 20)]
)
def test_a_page_begins_where_it_was_asked_for_unless_the_list_ends_before(
    first: int, begins: int
) -> None:
    assert slice_from(range(25), first, 10) == (begins, range(begins, min(begins + 10, 25)))


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
        found[str(button["text"]["text"])] = controls.read_value(
            LogPlace, value, Repositories((SITE,))
        )
    return found


def test_buttons_carry_the_filters_and_the_cursor() -> None:
    older, newer, here = (LogPlace(SELECTION, word) for word in ("older", "newer", "here"))
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


LONDON = ZoneInfo("Europe/London")


@pytest.mark.parametrize(
    ("now", "asked", "reported"),
    [
        # Clocks went back in the night to the 25th of October.
        (datetime(2026, 11, 21, 23, 30, tzinfo=UTC), 30, "30 days"),
        (datetime(2026, 11, 21, 0, 30, tzinfo=UTC), 30, "30 days"),
        (datetime(2026, 10, 25, 23, 30, tzinfo=UTC), 1, "1 day"),
        (datetime(2026, 7, 20, 12, 0, tzinfo=UTC), 7, "7 days"),
        (datetime(2026, 7, 20, 12, 0, tzinfo=UTC), 1.5, "2 days"),
    ],
)
def test_days_follow_the_calendar(now: datetime, asked: float, reported: str) -> None:
    span = span_back(now, timedelta(days=asked), LONDON)
    tallies, lengths = count((), span)
    said = statistics(QueueStatistics(SITE, None, span, tallies, lengths))
    assert f"0 merges in {reported}\n" in said.text
