"""What is sent in place of blocks that Slack refuses."""

from collections.abc import Iterator
from dataclasses import replace

from bot.domain.message import Message
from bot.messages.blocks import CHART


def plainer_and_plainer(message: Message) -> Iterator[Message]:
    """The message, the same for a workspace that takes no charts, and the text alone."""
    yield message
    plainer = tuple(block for block in message.blocks if block["type"] != CHART)
    if plainer and plainer != message.blocks:
        yield replace(message, blocks=plainer)
    if message.blocks:
        yield replace(message, blocks=())
