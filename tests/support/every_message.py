"""Every message and view there is, with outside text wherever it can occur."""

from collections.abc import Callable, Mapping

from bot.blocks.message import Message, View
from tests.support.messages import (
    confirmations,
    doctor,
    errors,
    events,
    freezes,
    groups,
    outcomes,
    pauses,
    people,
    queues,
    subscriptions,
)
from tests.support.messages.rendering import Cases, Outside

SUBJECTS = (
    queues,
    doctor,
    people,
    pauses,
    groups,
    confirmations,
    freezes,
    subscriptions,
    events,
    errors,
    outcomes,
)

REVIEWED: Cases = {name: case for each in SUBJECTS for name, case in each.CASES.items()}
"""Those with a snapshot each in `tests/unit/messages`."""

EVERY: Cases = {**REVIEWED, **events.OF_EVERY_TYPE, **errors.DENIALS}

ON_THE_PAGE: Cases = {
    name: case for name, case in EVERY.items() if not name.endswith(events.WITH_LITTLE)
}
"""Those of `docs/every-message.md`."""

Rendered = Mapping[str, Message | View]


def every_message(text: Callable[[], str], url: Callable[[], str], many: int = 1) -> Rendered:
    """By a name of its own each; what `text` and `url` give stands for all outside text."""
    outside = Outside(text, url, many)
    return {name: outside.render(case) for name, case in EVERY.items()}
