"""What is said about subscriptions."""

from collections.abc import Iterable, Sequence

from bot.domain.channels import ChannelAccess
from bot.domain.message import Message
from bot.domain.subscriptions import Subscription, SubscriptionSource, Topic
from bot.messages import blocks
from bot.messages.text import code, escape, quote


def subscribed(subscription: Subscription, access: ChannelAccess, *, bot_name: str) -> Message:
    """To the whole channel: from now on it hears about the repository."""
    topics = topics_text(subscription.topics)
    text = f"This channel now hears about {escape(subscription.repository)}: {topics}"
    warning = _warning(access, bot_name)
    shown = [blocks.section(f":bell: {text}")]
    if warning:
        shown.append(blocks.context(warning))
    return Message(text=f"{text}. {warning}".rstrip(". ") + ".", blocks=tuple(shown))


def unsubscribed(repository: str, left: Subscription | None) -> Message:
    if left is None:
        return _line(f":no_bell: This channel no longer hears about {escape(repository)}.")
    return _line(
        f":bell: This channel now hears only this about {escape(repository)}: "
        f"{topics_text(left.topics)}"
    )


def was_not_subscribed(repository: str) -> Message:
    return _line(f"This channel was not subscribed to {escape(repository)}. Nothing to do.")


def configured_stays(repository: str) -> Message:
    return _line(
        f"This channel's subscription to {escape(repository)} comes from the bot's configuration "
        "(MQBOT_CHANNELS); whoever runs the bot can change it there."
    )


def subscriptions(found: Sequence[Subscription], command: str) -> Message:
    """What the channel hears about."""
    if not found:
        example = escape(f"{command} subscribe owner/name")
        return _line(f"This channel hears about nothing yet. Try `{example}`.")
    lines = [
        f"• *{escape(one.repository)}*: {topics_text(one.topics)}{_origin(one)}" for one in found
    ]
    text = "This channel hears about"
    plain = "; ".join(f"{escape(one.repository)}: {topics_text(one.topics)}" for one in found)
    return Message(
        text=f"{text} {plain}", blocks=(blocks.section("\n".join([f"*{text}*", *lines])),)
    )


def _origin(subscription: Subscription) -> str:
    if subscription.source is SubscriptionSource.CONFIGURATION:
        return " (from the configuration)"
    return ""


def topics_text(topics: Iterable[str]) -> str:
    """The topics in the order of the table, single event types after them."""
    wanted = set(topics)
    known = [topic.value for topic in Topic if topic in wanted]
    types = sorted(wanted.difference(Topic))
    return ", ".join([*known, *(code(one, 100) for one in types)])


def _warning(access: ChannelAccess, bot_name: str) -> str:
    if access is ChannelAccess.OPEN:
        return ""
    if access is ChannelAccess.INVITE:
        invite = f"/invite @{quote(bot_name, 80)}"
        return f"I am not in this channel yet: type `{invite}` so that I can post"
    if access is ChannelAccess.DIRECT:
        return "I cannot post in a conversation between people: use a channel"
    return "I could not check whether I can post here"


def _line(text: str) -> Message:
    return Message(text=text, blocks=(blocks.section(text),))
