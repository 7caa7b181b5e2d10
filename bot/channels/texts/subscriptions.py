"""Replies about subscriptions and the default repository of a channel."""

from collections.abc import Mapping, Sequence

from bot.blocks import blocks, controls
from bot.blocks.blocks import Element
from bot.blocks.message import Message
from bot.blocks.paging import page_buttons
from bot.blocks.text import (
    NAME_LIMIT,
    channel,
    code,
    escape,
    listed,
    local_time,
    plural,
    portions,
    quote,
)
from bot.channels.subscription import (
    IMMEDIATE,
    ONLY,
    DefaultChange,
    Level,
    LevelPreview,
    Style,
    Subscription,
    SubscriptionSource,
    Topic,
    words_of,
)
from bot.kernel.groups import ALL, OF_OWNER, Group
from bot.kernel.repository import RepositoryName
from bot.slack.ports import ChannelAccess

_URGENT = {
    Topic.FAILURE: "failures",
    Topic.PAUSE: "pauses",
    Topic.FREEZE: "freezes",
    Topic.HEALTH: "alerts",
}
"""IMMEDIATE in words."""


_STYLES = {Style.THREAD: "in threads", Style.FEED: "one post per event"}


LEVEL_MEANINGS = {
    Level.QUIET: "failures, pauses and queue health",
    Level.NORMAL: "also pull requests entering and merging",
    Level.EVERYTHING: "all topics",
}


_LEVEL_BUTTONS = {
    Level.QUIET: controls.LEVEL_QUIET,
    Level.NORMAL: controls.LEVEL_NORMAL,
    Level.EVERYTHING: controls.LEVEL_EVERYTHING,
}


UNCHECKED = "I couldn't check whether I can post here"


_WARNINGS = {
    ChannelAccess.OPEN: "",
    ChannelAccess.INVITE: "I'm not in this channel yet. Type `/invite @{name}` so that I can post",
    ChannelAccess.DIRECT: "I can't post in a conversation between people. Use a channel",
}


NAME_SHOWN = 150


RESTORED = 3


RESTORING_LENGTH = 300
"""The most earlier subscriptions that a change names, and characters of the command for each."""


FILTERS_NAMED = 5


NAMES = 30


NAMES_LENGTH = 800
"""Repositories named where many have the same options."""


OVERVIEW_LENGTH = 1900


MARKS_LENGTH = 6
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
        to = f"{_of(where)}:\n{lines_of(found)}"
        besides = _few([subscription.repository for subscription in configured])
        facts = ["Repositories added later are included"]
        if where.name != ALL:
            facts = [f"Repositories that join {escape(where.mention)} later are included"]
        facts.append(_rest(found, command))
        buttons = []
    else:
        to = f"{escape(where)}: {options_text(found[0])}"
        besides = options_text(configured[0]) if configured else ""
        facts = []
        buttons = [blocks.button("Choose a level", action_id=controls.LEVELS, value=where)]
    besides = besides and f"From the configuration: {besides}"
    facts = [besides, *facts, _WARNINGS.get(access, UNCHECKED).format(name=quote(bot_name, 80))]
    return blocks.message(
        blocks.section(f":bell: Subscribed this channel to {to}"),
        *(blocks.context(fact) for fact in facts if fact),
        *([blocks.actions(buttons)] if buttons else []),
    )


def with_earlier(
    said: Message, where: Where, before: Sequence[Subscription], command: str
) -> Message:
    """A change, with the subscriptions that it changed or ended, and how to restore them.

    One line where all of a group were the same.
    """
    if isinstance(where, Group) and _are_all_the_same(where, before):
        lines = [_earlier(where.mention, before[0], command)]
        return blocks.message(*said.blocks, *map(blocks.context, lines))
    shown = [subscription for subscription in before if _is_restorable(subscription)][:RESTORED]
    lines = [_earlier(subscription.repository, subscription, command) for subscription in shown]
    if len(before) > len(shown):
        lines.append(f"{code(f'{command} audit')} shows what was changed")
    return blocks.message(*said.blocks, *map(blocks.context, lines))


def _are_all_the_same(group: Group, before: Sequence[Subscription]) -> bool:
    """Whether one command restores the subscriptions, which are all that the group had."""
    is_whole = {subscription.repository for subscription in before} == {*group.repositories}
    words = {words_of(subscription) for subscription in before}
    return is_whole and len(words) == 1 and _is_restorable(before[0])


def _is_restorable(subscription: Subscription) -> bool:
    """Whether the command for it fits into a message."""
    return len(words_of(subscription)) <= RESTORING_LENGTH


def _earlier(name: str, subscription: Subscription, command: str) -> str:
    restoring = f"{command} subscribe {name} {ONLY} {words_of(subscription)}"
    return (
        f"Before: {quote(name, NAME_SHOWN)}: {options_text(subscription)}"
        f" · To restore it: {code(restoring, 2 * RESTORING_LENGTH)}"
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
        for level, about in LEVEL_MEANINGS.items()
    ]
    counted = "There was no recent activity to count messages in"
    if hour is not None:
        counted = f"Messages in the last busy hour, until {local_time(hour[0])}"
    return blocks.post("\n".join([head, *lines]), counted, buttons=level_buttons(repository))


def level_buttons(repository: RepositoryName) -> list[Element]:
    """A button for each level; it changes the subscription of the whole channel."""
    return [
        blocks.button(
            level.capitalize(), action_id=action_id, value=f"subscribe {repository} {level}"
        )
        for level, action_id in _LEVEL_BUTTONS.items()
    ]


def already_so(where: Where, found: Sequence[Subscription], command: str) -> Message:
    """To the person who repeated an existing subscription."""
    already = "This channel is already subscribed to"
    if isinstance(where, Group):
        return _list_of_subscriptions(f"{already} {_of(where)}. Nothing to do.", found, command)
    return blocks.sentence(f"{already} {escape(where)}: {options_text(found[0])}. Nothing to do.")


def unsubscribed(
    where: Where, ended: Sequence[RepositoryName], left: Sequence[Subscription], command: str
) -> Message:
    """To the whole channel: the subscriptions that ended, and those that are left.

    `ended`: those by command; the settings may go on subscribing the channel.
    """
    if not left:
        return blocks.sentence(f":no_bell: Unsubscribed this channel from {_few(ended)}.")
    only = ":bell: This channel stays subscribed to"
    if not isinstance(where, Group):
        still = "; ".join(
            f"{options_text(subscription)}{origin(subscription)}" for subscription in left
        )
        if ended:
            only = ":no_bell: Ended this channel's own subscription. It stays subscribed to"
        return blocks.sentence(f"{only} {escape(where)}: {still}")
    if ended:
        only = f":no_bell: Unsubscribed this channel from {_few(ended)}. It stays subscribed to:"
    return _list_of_subscriptions(only if ended else f"{only} them:", left, command)


def not_subscribed(where: Where, left: Sequence[Subscription], command: str) -> Message:
    """To the person who ends a subscription that doesn't exist; `left` are the existing ones."""
    name = "any of them" if isinstance(where, Group) else escape(where)
    if not left:
        return blocks.sentence(f"This channel wasn't subscribed to {name}. Nothing to do.")
    if isinstance(where, Group):
        return _list_of_subscriptions(
            "Nothing to unsubscribe. This channel is subscribed to:", left, command
        )
    return blocks.sentence(
        f"Nothing to unsubscribe: this channel is subscribed to {name}: {options_text(left[0])}."
    )


def still_configured(repositories: Sequence[RepositoryName]) -> Message:
    return blocks.sentence(
        f"This channel's subscription to {_few(repositories)} comes from the bot's configuration "
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


def _list_of_subscriptions(text: str, found: Sequence[Subscription], command: str) -> Message:
    return blocks.post(f"{text}\n{lines_of(found)}", _rest(found, command))


def _rest(found: Sequence[Subscription], command: str) -> str:
    """Where to see the subscriptions that don't fit here."""
    if len(found) <= NAMES:
        return ""
    return f"`{escape(command)} subscriptions` lists all subscriptions of this channel"


def _of(group: Group) -> str:
    count = plural(len(group.repositories), "repository", "repositories")
    return f"all {count}" if group.name == ALL else f"the {count} of {escape(group.mention)}"


def lines_of(found: Sequence[Subscription]) -> str:
    """A line for each set of options, with its first repositories."""
    lines = []
    for (words, selection), repositories in _together(found).items():
        names = _few(repositories)
        lines.append(f"• {_within(selection, names)}: {words}")
    return listed(lines, "\n", length=OVERVIEW_LENGTH)


def _every_line(found: Sequence[Subscription]) -> list[str]:
    """All repositories, in lines that each fit into a section."""
    lines = []
    for (words, selection), repositories in _together(found).items():
        room = blocks.LINES_LENGTH - len(words) - len(_within(selection, "")) - MARKS_LENGTH
        names = [escape(repository) for repository in repositories]
        lines += [
            f"• {_within(selection, ', '.join(some))}: {words}"
            for some in portions(names, room, ", ")
        ]
    return lines


def _together(
    found: Sequence[Subscription],
) -> Mapping[tuple[str, str | None], list[RepositoryName]]:
    """The repositories by options and by the selection through which the channel has them."""
    names: dict[tuple[str, str | None], list[RepositoryName]] = {}
    for subscription in found:
        words = f"{options_text(subscription)}{origin(subscription)}"
        names.setdefault((words, subscription.through), []).append(subscription.repository)
    return names


def _within(selection: str | None, names: str) -> str:
    of = f"{all_of(selection)}: " if selection is not None else ""
    return f"*{of}{names}*"


def all_of(selection: str) -> str:
    """A selection that a channel follows, in words: `all`, `@group` or `owner/*`."""
    if selection == ALL:
        return "all repositories"
    if selection.endswith(OF_OWNER):
        # The star would end bold text.
        return f"all repositories of {quote(selection.removesuffix(OF_OWNER), NAME_SHOWN)}"
    return f"everything in {quote(selection, NAME_SHOWN)}"


def _few(repositories: Sequence[RepositoryName]) -> str:
    return listed(
        [escape(repository) for repository in repositories], length=NAMES_LENGTH, most=NAMES
    )


def options_text(subscription: Subscription) -> str:
    """Topics in table order, then single event types; filters, and the style."""
    topics = subscription.topics
    known = [topic.value for topic in Topic if topic in topics]
    types = [code(topic_name, 100) for topic_name in sorted(topics.difference(Topic))]
    branches = [code(glob, NAME_LIMIT) for glob in sorted(subscription.branches)]
    logins = [f"@{quote(login, NAME_LIMIT)}" for login in sorted(subscription.except_logins)]
    style = _STYLES.get(subscription.style)
    if style is None:
        # The subscribed topics that don't wait for the digest.
        urgent = " and ".join(word for topic, word in _URGENT.items() if topic in topics)
        style = f"a digest at {_digest(subscription)}{urgent and f', {urgent} immediately'}"
    parts = [
        ", ".join([*known, *types]),
        f"on {listed(branches, most=FILTERS_NAMED)}" if branches else "",
        f"except {listed(logins, most=FILTERS_NAMED)}" if logins else "",
        style,
    ]
    return " · ".join(filter(None, parts))


def _digest(subscription: Subscription) -> str:
    return quote(str(subscription.digest), NAME_LIMIT)


DEFAULT = "Default repository in this channel: "


WITHOUT_DEFAULT = "If a command names none, I use the only one it can mean, or ask"


def default_set(change: DefaultChange, by: str, command: str) -> Message:
    """The post about a new default: it decides which queue other people's commands mean."""
    said = f"This channel no longer has a default repository. {WITHOUT_DEFAULT}."
    if change.after is not None:
        said = f"{DEFAULT}{escape(change.after)}"
    was = restoring = ""
    if change.before is not None:
        was = f"was {escape(change.before)}"
        restoring = f"{code(f'{command} default {change.before}', NAME_SHOWN)} restores it"
    return blocks.post(f":round_pushpin: {said}", f"by {quote(by, NAME_LIMIT)}", was, restoring)


def default_reply(repository: RepositoryName | None, command: str) -> Message:
    if repository is not None:
        return blocks.sentence(f"{DEFAULT}{escape(repository)}")
    example = escape(f"{command} default owner/name")
    return blocks.sentence(
        f"This channel has no default repository. {WITHOUT_DEFAULT}. `{example}` sets one."
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
        named = [
            f"{channel(subscription.channel_id)} ({_short(topic, subscription)})"
            for subscription in found
        ]
        lines.append(f"• {escape(topic)}: {listed(named, most=FILTERS_NAMED) or 'nobody'}")
    return blocks.message(*blocks.lines(lines))


def _short(topic: str, subscription: Subscription) -> str:
    if subscription.style is not Style.DIGEST:
        return subscription.style
    return "immediately" if topic in IMMEDIATE else f"digest at {_digest(subscription)}"


def origin(subscription: Subscription) -> str:
    """Marks a configured subscription, which no command can end."""
    if subscription.source is SubscriptionSource.CONFIGURATION:
        return " (from the configuration)"
    return ""


def channel_ended(
    channel_id: str, ended: Sequence[RepositoryName], configured: Sequence[RepositoryName]
) -> Message:
    """To the person who ended all subscriptions of a channel that takes no posts."""
    place = channel(channel_id)
    sentences = []
    if ended:
        sentences.append(f"{place} is no longer subscribed to {_all(ended)}.")
    if configured:
        sentences.append(
            f"Its subscriptions to {_all(configured)} are in the settings: ask the bot's "
            "operator to remove them from MQBOT_CHANNELS."
        )
    if not sentences:
        sentences.append(f"{place} had no subscriptions. I dropped the messages waiting for it.")
    return blocks.sentence(" ".join(sentences))


def _all(names: Sequence[RepositoryName]) -> str:
    return listed([escape(name) for name in names])
