"""What the fallback text must say, and the values of buttons."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from bot.domain.commands import parse_command
from bot.domain.errors import RepositoryNotAllowed
from bot.domain.event_types import DEQUEUE_CODES
from bot.domain.groups import Repositories
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, choice, status, timers
from bot.messages.blocks import VALUE_LIMIT
from bot.messages.events import event_posts
from bot.messages.events.wording import LEAVINGS
from tests.support.clock import NOON
from tests.support.every_message import LONG_NAME
from tests.support.make import (
    API,
    SITE,
    make_event_record,
    make_snapshot,
    make_status,
)

KNOWN = Repositories((SITE, API))


def test_the_text_of_a_branch_status_does_not_describe_the_whole_queue() -> None:
    text = status.status(make_snapshot(make_status(), branch="release/4.2")).text

    assert text.startswith("acme/site on `release/4.2` is running, the queue is empty")


def test_every_code_has_its_own_words() -> None:
    assert LEAVINGS.keys() == DEQUEUE_CODES.keys()


def test_internal_names_are_never_shown() -> None:
    for queue_name in ("__default__", "default"):
        record = make_event_record(queue_name=queue_name)
        assert queue_name not in str(event_posts.event(record, None))


def test_a_resume_button_carries_the_pause_it_was_drawn_for() -> None:
    target = actions.read_pause_target(actions.held_value(SITE, NOON), KNOWN)

    assert (target.repository, target.paused_at) == (SITE, NOON)
    assert actions.read_pause_target(API, KNOWN).paused_at is None


@given(owner=st.integers(1, 40), name=st.integers(1, 100), has_end=st.booleans())
def test_a_menu_carries_its_pause_for_any_repository_name(
    owner: int, name: int, *, has_end: bool
) -> None:
    repository = RepositoryName.parse(f"{'o' * owner}/{'n' * name}")
    paused_at = NOON + timedelta(microseconds=123456)
    resumes_at = paused_at if has_end else None
    options = timers.extend_menu(repository, paused_at, resumes_at)["options"]
    assert isinstance(options, list)
    for option in options:
        assert isinstance(option, dict)
        _, value, had_end = actions.read_extend_value(str(option["value"]))

        assert had_end is has_end
        target = actions.read_pause_target(value, Repositories((API, repository)))

        assert target == actions.PauseTarget(repository, paused_at)
        with pytest.raises(RepositoryNotAllowed):
            actions.read_pause_target(value, Repositories((API,)))


@given(st.text(max_size=REASON_LIMIT))
def test_a_replace_button_carries_reason_and_pause(reason: str) -> None:
    wanted = actions.PauseChoice(SITE, reason, replacing=NOON)

    assert actions.read_value(actions.PauseChoice, actions.value_of(wanted), KNOWN) == wanted


@given(st.text(alphabet='"\\\x01\x1f🚀é', max_size=REASON_LIMIT))
def test_a_replace_button_always_fits_slacks_limit(reason: str) -> None:
    wanted = actions.PauseChoice(LONG_NAME, reason, replacing=NOON)

    assert len(actions.value_of(wanted)) <= VALUE_LIMIT


def test_a_button_of_a_repository_no_longer_configured_is_refused() -> None:
    wanted = actions.value_of(actions.PauseChoice(LONG_NAME, "x", replacing=NOON))

    with pytest.raises(RepositoryNotAllowed):
        actions.read_value(actions.PauseChoice, wanted, KNOWN)
    with pytest.raises(RepositoryNotAllowed):
        actions.read_pause_target(actions.held_value(LONG_NAME, NOON), KNOWN)


@pytest.mark.parametrize(
    "typed", ["", "status branch:main", "pause CI  is down", "resume", "subscribe merge, ci"]
)
def test_a_chosen_repository_is_inserted_where_it_would_be_typed(typed: str) -> None:
    assert choice.can_carry(typed)

    continued = choice.continued(choice.BLOCK_PREFIX + typed, API)

    verb, _, rest = typed.partition(" ")
    assert parse_command(continued, KNOWN) == parse_command(
        f"{verb or 'status'} {API} {rest}", KNOWN
    )


def test_a_command_too_long_for_a_button_is_detected() -> None:
    assert choice.can_carry("p" * (255 - len(choice.BLOCK_PREFIX)))
    assert not choice.can_carry("p" * (256 - len(choice.BLOCK_PREFIX)))
