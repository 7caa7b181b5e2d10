"""What the bot says when somebody invites it to a channel."""

from collections.abc import Sequence

from bot.blocks import blocks, controls
from bot.blocks.message import Message
from bot.blocks.targets import target_menu
from bot.blocks.text import escape
from bot.channels.subscription import Subscription
from bot.channels.texts.subscriptions import level_buttons, lines_of
from bot.kernel.repository import RepositoryName

HELLO = (
    "*Hello!* I post what happens in your merge queues, and pause and resume them when you ask me."
)


def greeting(
    repositories: Sequence[RepositoryName], found: Sequence[Subscription], command: str
) -> Message:
    """To the channel. `found`: its subscriptions, from before or from the settings."""
    if found:
        lines = lines_of(found)
        return blocks.post(f"{HELLO}\nThis channel gets:\n{lines}", _help(command))
    if len(repositories) == 1:
        (repository,) = repositories
        asked = f"Which posts about {escape(repository)} should this channel get?"
        return blocks.post(f"{HELLO}\n{asked}", _help(command), buttons=level_buttons(repository))
    menu = target_menu(repositories, action_id=controls.LEVELS, placeholder="Choose a repository")
    asked = "Which repository should this channel follow?"
    return blocks.post(f"{HELLO}\n{asked}", _help(command), buttons=[menu])


def _help(command: str) -> str:
    return f"`{escape(command)} help` shows what you can ask me"
