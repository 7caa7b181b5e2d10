"""What a click on one of our elements does."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from bot.slack.conversation import Conversation
from bot.slack.payloads import BlockActions

Act = Callable[[BlockActions, Conversation], Awaitable[None]]


class ClickRoom(Protocol):
    """What the clicks on some of our elements do, by action id."""

    def acts(self) -> Mapping[str, Act]: ...
