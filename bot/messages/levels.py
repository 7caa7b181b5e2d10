"""The choice of a channel's level, with a real hour to compare."""

from bot.domain.levels import LevelPreview
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Level
from bot.messages import actions, blocks
from bot.messages.text import escape, local_time, plural

_ABOUT = {
    Level.QUIET: "failures, pauses and queue health",
    Level.NORMAL: "also pull requests entering and merging",
    Level.EVERYTHING: "all topics",
}

_ACTIONS = {
    Level.QUIET: actions.LEVEL_QUIET,
    Level.NORMAL: actions.LEVEL_NORMAL,
    Level.EVERYTHING: actions.LEVEL_EVERYTHING,
}


def button(repository: RepositoryName) -> blocks.Element:
    return blocks.button("Choose a level", action_id=actions.LEVELS, value=repository)


def levels(repository: RepositoryName, preview: LevelPreview | None) -> Message:
    """To the person who asked; a button changes the subscription of the whole channel."""
    head = f"How many notifications about {escape(repository)} should this channel get?"
    counts = preview.messages if preview is not None else {}
    lines = [
        f"*{level.capitalize()}*: {about}"
        + (f" · {plural(counts[level], 'message')}" if level in counts else "")
        for level, about in _ABOUT.items()
    ]
    buttons = [
        blocks.button(
            level.capitalize(),
            action_id=_ACTIONS[level],
            value=f"subscribe {repository} {level}",
        )
        for level in Level
    ]
    return blocks.post("\n".join([head, *lines]), _counted(preview), buttons=buttons)


def _counted(preview: LevelPreview | None) -> str:
    if preview is None:
        return "No recent hour to count messages in"
    return f"Messages in the hour until {local_time(preview.until)}, the last one with activity"
