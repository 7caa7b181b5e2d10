"""What a click on one of our elements does."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from bot.slack.payloads import BlockActions
from bot.slack.replying.conversation import Conversation

OnClick = Callable[[BlockActions, Conversation], Awaitable[None]]


class Actions(Protocol):
    """A class of what the clicks on some of our elements do."""

    def clicks(self) -> Mapping[str, OnClick]:
        """By action id (`bot.messages.actions`)."""
        ...
