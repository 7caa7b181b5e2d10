"""A reason keeps its text as it was typed: nothing of it becomes a style."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.acts.asked import Asked
from bot.acts.record import Action
from bot.blocks.message import Message
from bot.blocks.text import escape, literal
from bot.freezes.freeze import Ending, Freeze
from bot.freezes.texts import cards as freeze_cards
from bot.pauses.texts import (
    card as pause_card,
    group_acts,
    reminders,
    replies as pause_replies,
)
from tests.support.clock import NOON
from tests.support.make import SITE, make_act, saying
from tests.support.messages.groups import RESULTS, make_group_act
from tests.support.messages.values import CARD, FREEZE, PAUSE_ENDED
from tests.support.typed_reasons import REASONS

AS_IT_IS = re.compile(r"<!date\^00000000\^\{_\}\|(.)>")


def frozen(reason: str) -> Freeze:
    return replace(FREEZE, terms=FREEZE.terms.model_copy(update={"reason": reason}))


MESSAGES: dict[str, Callable[[str], Message]] = {
    "the card": lambda reason: pause_card.card(saying(CARD, reason=reason)),
    "the reason before": lambda reason: pause_card.card(replace(CARD, previous_reason=reason)),
    "the record": lambda reason: pause_card.card(saying(PAUSE_ENDED, reason=reason)),
    "the post of the end": lambda reason: pause_card.ended(PAUSE_ENDED, reason),
    "a direct message": lambda reason: pause_card.resumed_for_you(
        saying(PAUSE_ENDED, reason=reason)
    ),
    "a reply in the thread": lambda reason: pause_replies.changes_post([make_act(reason=reason)]),
    "a second pause": lambda reason: pause_replies.already_paused(SITE, CARD, Asked(reason)),
    "a reminder": lambda reason: reminders.reminder(saying(CARD, reason=reason), NOON),
    "a group's card": lambda reason: group_acts.group_act_post(
        replace(make_group_act(*RESULTS), asked=Asked(reason))
    ),
    "a freeze's card": lambda reason: freeze_cards.freeze_card(frozen(reason)),
    "a freeze's record": lambda reason: freeze_cards.freeze_card(
        replace(frozen("release"), ending=Ending(NOON, "ana", reason))
    ),
    "a planned pause": lambda reason: freeze_cards.planned_pause(
        replace(make_act(Action.PLAN), reason=reason)
    ),
}
"""One of each kind that quotes a reason."""


def texts(part: object) -> list[str]:
    if isinstance(part, dict):
        own = [part["text"]] if part.get("type") == "mrkdwn" else []
        return own + [text for inner in part.values() for text in texts(inner)]
    if isinstance(part, (list, tuple)):
        return [text for inner in part for text in texts(inner)]
    return []


@pytest.mark.parametrize("kind", sorted(MESSAGES))
@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_is_shown_as_it_was_typed(kind: str, reason: str) -> None:
    message = MESSAGES[kind](reason)

    assert escape(reason) in message.text
    linked = re.compile(r"<(https:[^>]*)>")
    shown = [linked.sub(r"\1", AS_IT_IS.sub(r"\1", text)) for text in texts(list(message.blocks))]
    assert any(escape(reason) in text for text in shown)


def test_a_reason_made_of_styles_fits_and_looks_the_same() -> None:
    shown = literal("*_~`" * 60, 240)
    assert len(shown) == 240
    assert not set("*_~`").intersection(shown)
