"""Replies about subscriptions and the default repository of a channel."""

from collections.abc import Mapping, Sequence

from bot.domain.groups import ALL, Group
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import (
    IMMEDIATE,
    Level,
    LevelPreview,
    Style,
    Subscription,
    SubscriptionSource,
    Topic,
)
from bot.messages import actions, blocks
from bot.messages.paging import page_buttons
from bot.messages.text import NAME_LIMIT, code, escape, listed, local_time, plural, portions, quote
from bot.ports import ChannelAccess

_URGENT = {
    Topic.FAILURE: "failures",
    Topic.PAUSE: "pauses",
    Topic.FREEZE: "freezes",
    Topic.HEALTH: "alerts",
}
"""IMMEDIATE in words."""

_STYLES = {Style.THREAD: "in threads", Style.FEED: "one post per event"}

_LEVELS = {
    Level.QUIET: (actions.LEVEL_QUIET, "failures, pauses and queue health"),
    Level.NORMAL: (actions.LEVEL_NORMAL, "also pull requests entering and merging"),
    Level.EVERYTHING: (actions.LEVEL_EVERYTHING, "all topics"),
}

UNCHECKED = "I couldn't check whether I can post here"
_WARNINGS = {
    ChannelAccess.OPEN: "",
    ChannelAccess.INVITE: (
        "I'm not in this channel yet: type `/invite @{name}` so that I can post"
    ),
    ChannelAccess.DIRECT: "I can't post in a conversation between people: use a channel",
}

NAMED = 5
NAMES = 30
NAMES_LENGTH = 800
"""Repositories named where many have the same options."""

LINES_LENGTH = 1900
MARKS = 6
"""Characters of a line besides its names and words."""

PAGE_LENGTH = 8400

Where = RepositoryName | Group
"""The repository or group to subscribe to or unsubscribe from."""


def subscribed(
    where: Where,
    found: Sequence[Subscription],
    access: ChannelAccess,
    *,
    command: str,
    bot_name: str,
    configured: Sequence[Subscription] = (),
) -> Message:
    """To the whole channel: it is now subscribed to the repository, or to each of the group.

    `configured` are the channel's other subscriptions, from the bot's configuration.
    """
    if isinstance(where, Group):
        to = f"{_of(where)}:\n{_lines_of(found)}"
        besides = _names([one.repository for one in configured])
        facts, buttons = [_rest(found, command)], []
    else:
        to = f"{escape(where)}: {options_text(found[0])}"
        besides = options_text(configured[0]) if configured else ""
        facts = []
        buttons = [blocks.button("Choose a level", action_id=actions.LEVELS, value=where)]
    besides = besides and f"From the configuration: {besides}"
    facts = [besides, *facts, _WARNINGS.get(access, UNCHECKED).format(name=quote(bot_name, 80))]
    return blocks.message(
        blocks.section(f":bell: Subscribed this channel to {to}"),
        *(blocks.context(one) for one in facts if one),
        *([blocks.actions(buttons)] if buttons else []),
    )


def levels(repository: RepositoryName, hour: LevelPreview | None) -> Message:
    """To the person who asked; a button changes the subscription of the whole channel.

    `hour`: its end, and how many messages each level would have made in it.
    """
    head = f"How many notifications about {escape(repository)} should this channel get?"
    counts = hour[1] if hour is not None else {}
    lines = [
        f"*{level.capitalize()}*: {about}"
        + (f" · {plural(counts[level], 'message')}" if level in counts else "")
        for level, (_, about) in _LEVELS.items()
    ]
    buttons = [
        blocks.button(
            level.capitalize(), action_id=action_id, value=f"subscribe {repository} {level}"
        )
        for level, (action_id, _) in _LEVELS.items()
    ]
    counted = "No recent hour to count messages in"
    if hour is not None:
        counted = f"Messages in the hour until {local_time(hour[0])}, the last one with activity"
    return blocks.post("\n".join([head, *lines]), counted, buttons=buttons)


def already_so(where: Where, found: Sequence[Subscription], command: str) -> Message:
    """To the person who repeated an existing subscription."""
    already = "This channel is already subscribed to"
    if isinstance(where, Group):
        return _listed(f"{already} {_of(where)}. Nothing to do.", found, command)
    return blocks.sentence(f"{already} {escape(where)}: {options_text(found[0])}. Nothing to do.")


def unsubscribed(
    where: Where, ended: Sequence[RepositoryName], left: Sequence[Subscription], command: str
) -> Message:
    """To the whole channel: the subscriptions that ended, and those that are left."""
    if not left:
        return blocks.sentence(f":no_bell: Unsubscribed this channel from {_names(ended)}.")
    only = ":bell: This channel stays subscribed to"
    if not isinstance(where, Group):
        still = "; ".join(f"{options_text(one)}{origin(one)}" for one in left)
        return blocks.sentence(f"{only} {escape(where)}: {still}")
    if ended:
        only = f":no_bell: Unsubscribed this channel from {_names(ended)}. It stays subscribed to:"
    return _listed(only if ended else f"{only} them:", left, command)


def not_subscribed(where: Where, left: Sequence[Subscription], command: str) -> Message:
    """To the person who ends a subscription that doesn't exist; `left` are the existing ones."""
    name = "any of them" if isinstance(where, Group) else escape(where)
    if not left:
        return blocks.sentence(f"This channel wasn't subscribed to {name}. Nothing to do.")
    if isinstance(where, Group):
        return _listed("Nothing to unsubscribe. This channel is subscribed to:", left, command)
    return blocks.sentence(
        f"Nothing to unsubscribe: this channel is subscribed to {name}: {options_text(left[0])}."
    )


def still_configured(repositories: Sequence[RepositoryName]) -> Message:
    return blocks.sentence(
        f"This channel's subscription to {_names(repositories)} comes from the bot's configuration "
        "(MQBOT_CHANNELS); an operator of the bot can change it there."
    )


def subscriptions(
    found: Sequence[Subscription],
    command: str,
    default: RepositoryName | None = None,
    page: int = 0,
) -> Message:
    """The channel's subscriptions, and its `default` repository.

    `page` counts from 0; a number past the end shows the last page.
    """
    meant = f"{DEFAULT}{escape(default)}" if default is not None else ""
    if not found:
        example = escape(f"{command} subscribe owner/name")
        return blocks.sentence(
            f"This channel has no subscriptions yet. Try `{example}`. {meant}".rstrip()
        )
    pages = portions(_every_line(found), PAGE_LENGTH)
    page = min(page, len(pages) - 1)
    place = f"Page {page + 1} of {len(pages)} · {len(found):,} subscriptions"
    buttons = page_buttons("subscriptions", page, len(pages), 1)
    shown = blocks.lines(["*This channel is subscribed to*", *pages[page]])
    if meant:
        shown.append(blocks.context(meant))
    if buttons:
        shown += [blocks.context(place), *buttons]
    return blocks.message(*shown)


def _listed(text: str, found: Sequence[Subscription], command: str) -> Message:
    return blocks.post(f"{text}\n{_lines_of(found)}", _rest(found, command))


def _rest(found: Sequence[Subscription], command: str) -> str:
    """Where to see the subscriptions that don't fit here."""
    if len(found) <= NAMES:
        return ""
    return f"`{escape(command)} subscriptions` lists all subscriptions of this channel"


def _of(group: Group) -> str:
    count = plural(len(group.repositories), "repository", "repositories")
    return f"all {count}" if group.name == ALL else f"the {count} of {escape(group.mention)}"


def _lines_of(found: Sequence[Subscription]) -> str:
    """A line for each set of options, with its first repositories."""
    together = _together(found).items()
    lines = [f"• *{_names(repositories)}*: {words}" for words, repositories in together]
    return listed(lines, "\n", length=LINES_LENGTH)


def _every_line(found: Sequence[Subscription]) -> list[str]:
    """All repositories, in lines that each fit into a section."""
    lines = []
    for words, repositories in _together(found).items():
        room, names = blocks.LINES_LENGTH - len(words) - MARKS, map(escape, repositories)
        lines += [f"• *{', '.join(some)}*: {words}" for some in portions([*names], room, ", ")]
    return lines


def _together(found: Sequence[Subscription]) -> Mapping[str, list[RepositoryName]]:
    names: dict[str, list[RepositoryName]] = {}
    for one in found:
        names.setdefault(f"{options_text(one)}{origin(one)}", []).append(one.repository)
    return names


def _names(repositories: Sequence[RepositoryName]) -> str:
    return listed([escape(one) for one in repositories], length=NAMES_LENGTH, most=NAMES)


def options_text(subscription: Subscription) -> str:
    """Topics in table order, then single event types; filters, and the style."""
    topics = subscription.topics
    known = [topic.value for topic in Topic if topic in topics]
    types = [code(one, 100) for one in sorted(topics.difference(Topic))]
    branches = [code(glob, NAME_LIMIT) for glob in sorted(subscription.branches)]
    logins = [f"@{quote(login, NAME_LIMIT)}" for login in sorted(subscription.except_logins)]
    style = _STYLES.get(subscription.style)
    if style is None:
        # The subscribed topics that don't wait for the digest.
        urgent = " and ".join(word for topic, word in _URGENT.items() if topic in topics)
        style = f"a digest at {_digest(subscription)}{urgent and f', {urgent} immediately'}"
    parts = [
        ", ".join([*known, *types]),
        f"on {listed(branches, most=NAMED)}" if branches else "",
        f"except {listed(logins, most=NAMED)}" if logins else "",
        style,
    ]
    return " · ".join(filter(None, parts))


def _digest(subscription: Subscription) -> str:
    return quote(str(subscription.digest), NAME_LIMIT)


DEFAULT = "Default repository in this channel: "
WITHOUT_DEFAULT = "if a command names none, I use the only one it can mean, or ask"


def default_set(repository: RepositoryName | None) -> Message:
    none = f"This channel has no default repository now: {WITHOUT_DEFAULT}."
    said = none if repository is None else f"{DEFAULT}{escape(repository)}"
    return blocks.sentence(f":round_pushpin: {said}")


def default_reply(repository: RepositoryName | None, command: str) -> Message:
    if repository is not None:
        return blocks.sentence(f"{DEFAULT}{escape(repository)}")
    example = escape(f"{command} default owner/name")
    return blocks.sentence(
        f"This channel has no default repository: {WITHOUT_DEFAULT}. `{example}` sets one."
    )


def samples(
    repository: RepositoryName,
    subscribed: Sequence[tuple[str, Sequence[Subscription]]],
    branch: str | None,
) -> Message:
    """Who would be notified of an event in each topic."""
    on = f" on {code(branch, NAME_LIMIT)}" if branch else ""
    lines = [f"*Who would be notified of an event in {escape(repository)}{on}*"]
    for topic, found in subscribed:
        # Slack shows a channel's name only to people who may see it.
        named = [f"{channel(one.channel_id)} ({_short(topic, one)})" for one in found]
        lines.append(f"• {escape(topic)}: {listed(named, most=NAMED) or 'nobody'}")
    return blocks.message(*blocks.lines(lines))


def _short(topic: str, subscription: Subscription) -> str:
    if subscription.style is not Style.DIGEST:
        return subscription.style
    return "immediately" if topic in IMMEDIATE else f"digest at {_digest(subscription)}"


def channel(channel_id: str) -> str:
    """A link to a channel, which Slack shows by name if the reader may see it."""
    return f"<#{escape(channel_id)}>" if channel_id.startswith(("C", "G")) else "a direct message"


def origin(subscription: Subscription) -> str:
    """Marks a configured subscription, which no command can end."""
    if subscription.source is SubscriptionSource.CONFIGURATION:
        return " (from the configuration)"
    return ""
