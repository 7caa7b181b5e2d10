"""Why a message to the bot isn't carried out."""

from dataclasses import replace
from enum import Enum

from bot.blocks.blocks import context, sentence
from bot.blocks.message import Message
from bot.blocks.text import quote


class Unread(Enum):
    """Why a message that may be meant for the bot isn't read."""

    EDITED = "edited"
    CANVAS = "mention in a canvas"
    FILE = "no text"
    OTHER = "not written by a person"


WHY_UNREAD = {
    Unread.EDITED: "I don't act on edited messages. Send the command again as a new message.",
    Unread.FILE: (
        "I can't read files, recordings or forwarded messages. Write what you want as text: "
        "`{command} help` lists what I can do."
    ),
    Unread.CANVAS: (
        "I can't act on mentions in a canvas. Mention me in a channel, or type `{command} help`."
    ),
}
"""The sentence for the person. What other programs write is only logged."""


def with_invitation(message: Message, bot_name: str) -> Message:
    """What a channel sees of an act where the bot can't post, so that nothing can follow."""
    said = f"I'm not in this channel: type `/invite @{quote(bot_name, 80)}` so that I can post"
    text = f"{message.text}. {said}"
    return replace(message, text=text, blocks=(*message.blocks, context(said)))


def not_read(why: Unread, command: str) -> Message:
    return sentence(WHY_UNREAD[why].format(command=command))
