"""What is larger than Slack accepts can't be built: the SDK checks most of it, we the rest."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models import blocks as sdk

from bot.blocks import blocks
from bot.blocks.message import DoesNotFit
from bot.blocks.plainer import plainer_views
from bot.blocks.text import by_count
from bot.channels.subscription import ListedSubscription
from bot.freezes.freeze import Stage
from bot.health.outage import Outage, SlackOutage
from bot.home import texts as home_texts
from bot.home.choices import CalendarPage, SubscriptionsState
from bot.home.reading import (
    CALENDAR_PER_PAGE,
    HOME_QUEUES_SHOWN,
    SUBSCRIPTIONS_PER_PAGE,
    SUBSCRIPTIONS_SHOWN,
)
from tests.support.clock import NOON
from tests.support.make import (
    SITE,
    make_home,
    make_known_pause,
    make_outbox,
    make_snapshot,
    make_subscription,
    make_viewer,
)
from tests.support.messages.values import BUSY, CALENDAR, FREEZE, PLANNED_ENTRY, TIMED

LARGEST_TAB = 100_000
"""Characters of JSON, which a click on the tab sends back to the bot."""

BY_THE_SDK = SlackObjectFormationError
BY_US = DoesNotFit


def options(count: int) -> list[blocks.Option]:
    return [blocks.option("a", str(number)) for number in range(count)]


def menu(count: int) -> blocks.Element:
    return blocks.select("Choose", action_id="a", options=options(count))


def dots(count: int) -> blocks.Element:
    return blocks.overflow(action_id="a", options=options(count))


def field(label: str) -> object:
    return blocks.input_field("a", label, blocks.text_input("a", max_length=10))


def confirmed(question: str) -> blocks.Element:
    asks = blocks.confirmation("Sure?", question, confirm="Yes", deny="No", style="danger")
    return blocks.button("Go", action_id="a", value="a", confirm=asks)


def click(label: str = "a", value: str = "") -> blocks.Element:
    return blocks.button(label, action_id="a", value=value)


def choice(label: str = "a", value: str = "a") -> blocks.Element:
    return blocks.overflow(action_id="a", options=[blocks.option(label, value)])


def shown(element: blocks.Element) -> object:
    return blocks.actions([element])


Build = Callable[[int], object]

LIMITS: Sequence[tuple[str, int, type[Exception], Build]] = [
    ("text of a section", 3000, BY_THE_SDK, lambda size: blocks.section("x" * size)),
    ("text of a header", 150, BY_THE_SDK, lambda size: blocks.header("x" * size)),
    ("label of a field", 2000, BY_THE_SDK, lambda size: field("x" * size)),
    ("id of a block", 255, BY_THE_SDK, lambda size: blocks.section("x", block_id="x" * size)),
    ("elements in a row", 25, BY_THE_SDK, lambda size: blocks.actions([click()] * size)),
    ("label of a button", 75, BY_THE_SDK, lambda size: shown(click("x" * size))),
    ("value of a button", 2000, BY_THE_SDK, lambda size: shown(click(value="x" * size))),
    ("options of a menu", 100, BY_THE_SDK, lambda size: shown(menu(size))),
    ("label of an option", 75, BY_THE_SDK, lambda size: shown(choice("x" * size))),
    ("value of an option", 150, BY_THE_SDK, lambda size: shown(choice(value="x" * size))),
    ("options behind three dots", 5, BY_THE_SDK, lambda size: shown(dots(size))),
    ("question of a confirmation", 300, BY_THE_SDK, lambda size: shown(confirmed("x" * size))),
    ("rows of two fields", 5, BY_THE_SDK, lambda size: blocks.two_columns([("x", "y")] * size)),
    ("text of a field", 2000, BY_US, lambda size: blocks.two_columns([("x" * size, "y")])),
    ("text of a context", 3000, BY_US, lambda size: blocks.context("x" * size)),
    ("radio buttons", 10, BY_US, lambda size: blocks.radio_buttons("a", options(size))),
]


@pytest.mark.parametrize(
    ("limit", "refuses", "build"),
    [pytest.param(limit, refuses, build, id=name) for name, limit, refuses, build in LIMITS],
)
def test_what_fits_is_built_and_one_more_is_refused(
    limit: int, refuses: type[Exception], build: Build
) -> None:
    build(limit)
    with pytest.raises(refuses):
        build(limit + 1)


def test_of_an_alert_that_is_too_long_whole_sentences_stand_out() -> None:
    sentence = "x" * 99 + "."
    link = "<https://code.example/41|#41 Fix it. Please.>"
    assert _kinds("x" * 200) == ["alert"]
    assert _kinds("x" * 201) == ["section"]
    shown = blocks.alert(f"{sentence} {sentence} {sentence}", "error")
    assert [block["type"] for block in shown] == ["alert", "section"]
    assert _said(shown) == [sentence, f"{sentence} {sentence}"]
    split_in_a_link = blocks.alert(f"{sentence} {link} {'x' * 200}", "error")
    assert _said(split_in_a_link) == [sentence, f"{link} {'x' * 200}"]


def _kinds(text: str) -> list[object]:
    return [block["type"] for block in blocks.alert(text, "error")]


def _said(shown: list[Any]) -> list[object]:
    return [block["text"]["text"] for block in shown]


def test_a_form_without_alerts_still_says_what_they_said() -> None:
    form = blocks.modal("a", "Pause", blocks.alert("You can't pause.", "error"), {})
    _, usual, _ = plainer_views(form)
    (shown,) = usual["blocks"]
    assert shown["type"] == "section"
    assert shown["text"]["text"] == "You can't pause."


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 are"), (1, "1 is"), (2, "2 are"), (1234, "1,234 are")]
)
def test_a_sentence_is_whole_for_one_and_for_many(count: int, said: str) -> None:
    assert by_count(count, "{count} is", "{count} are") == said


def test_the_sdk_still_leaves_these_to_us() -> None:
    """Once it checks one of them, ours can go."""
    text = sdk.MarkdownTextObject(text="x" * 3001)
    sdk.ContextBlock(elements=[text]).to_dict()
    sdk.SectionBlock(fields=[text]).to_dict()
    many = [sdk.Option(text="a", value=str(number)) for number in range(11)]
    sdk.RadioButtonsElement(action_id="a", options=many).to_dict()


def test_the_sdk_still_has_no_class_for_charts() -> None:
    """Once it has one, ours can go."""
    assert not hasattr(sdk, blocks.DataVisualizationBlock.__name__)


def test_a_home_tab_fits_when_everything_is_in_it() -> None:
    freeze = replace(FREEZE, stage=Stage.IN_FORCE)
    worst = replace(
        make_snapshot(BUSY, pause=make_known_pause()), freezes=(freeze,) * 5, next_freeze=FREEZE
    )
    home = make_home(
        *[worst] * HOME_QUEUES_SHOWN,
        left_out=100,
        polled={SITE: NOON - timedelta(hours=1)},
        subscriptions=[make_subscription()] * SUBSCRIPTIONS_SHOWN,
        timed=[TIMED] * 50,
        outbox=make_outbox(
            waiting=5, in_doubt=2, oldest_at=NOON, suspended=[("C0OLD", "is_archived")] * 50
        ),
        slack_outage=SlackOutage(NOON),
        calendar=CALENDAR,
    )
    outage = Outage((SITE,), NOON)
    health = replace(home.health, outages=[outage] * 50)
    home = replace(home, first=HOME_QUEUES_SHOWN, health=health)
    viewer = make_viewer("ana")
    person = replace(viewer.person, awaited=[SITE] * 50)

    # A larger view can't be made.
    tab = home_texts.home(home, replace(viewer, person=person), "/mq")
    assert len(json.dumps(dict(tab.view))) < LARGEST_TAB
    full = CalendarPage([PLANNED_ENTRY] * CALENDAR_PER_PAGE, 15, 400, NOON, offers_freezes=True)
    assert len(json.dumps(dict(home_texts.calendar(full, viewer).view))) < LARGEST_TAB
    listed = [ListedSubscription(make_subscription(), 1)] * SUBSCRIPTIONS_PER_PAGE
    page = SubscriptionsState(listed, SUBSCRIPTIONS_PER_PAGE, 400, NOON)
    assert len(json.dumps(dict(home_texts.subscriptions(page, viewer).view))) < LARGEST_TAB
