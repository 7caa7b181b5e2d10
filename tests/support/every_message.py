"""Every message and view there is, with outside text wherever it can occur."""

from collections.abc import Callable, Mapping

from bot.domain.message import Message, View
from tests.support.messages import (
    errors,
    events,
    freezes,
    groups,
    pauses,
    people,
    queues,
    subscriptions,
)
from tests.support.messages.rendering import Cases, Outside

SUBJECTS = (queues, people, pauses, groups, freezes, subscriptions, events, errors)

REVIEWED: Cases = {name: case for each in SUBJECTS for name, case in each.CASES.items()}
"""Those with a snapshot each in `tests/unit/messages`."""

EVERY: Cases = {**REVIEWED, **events.OF_EVERY_TYPE, **errors.DENIALS}

Rendered = Mapping[str, Message | View]


def every_message(text: Callable[[], str], url: Callable[[], str], many: int = 1) -> Rendered:
    """By a name of its own each; what `text` and `url` give stands for all outside text."""
    outside = Outside(text, url, many)
    return {name: outside.render(case) for name, case in EVERY.items()}
