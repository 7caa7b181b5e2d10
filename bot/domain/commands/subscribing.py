"""The subscriptions, the board and the default repository of a channel."""

from dataclasses import dataclass, field

from bot.domain.commands.command import (
    Arguments,
    Command,
    GeneralCommand,
    Options,
    RepositoryCommand,
    Verb,
)
from bot.domain.groups import Group
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Topic
from bot.domain.wishes import ALL_TOPICS, InvalidWish, Wish, read_wish

TOPICS = frozenset({ALL_TOPICS, *Topic})
TEST = "test"
OFF = "off"


@dataclass(frozen=True)
class SubscribeCommand(RepositoryCommand):
    """Subscribe the channel to the repository."""

    is_act = True

    repository: RepositoryName | None = None
    wish: Wish = field(default_factory=Wish)


@dataclass(frozen=True)
class SubscribeGroupCommand(GeneralCommand):
    """Subscribe the channel to each repository of the group."""

    group: Group
    wish: Wish = field(default_factory=Wish)


@dataclass(frozen=True)
class UnsubscribeCommand(RepositoryCommand):
    """Without options the whole subscription ends."""

    is_act = True

    repository: RepositoryName | None = None
    wish: Wish = field(default_factory=Wish)


@dataclass(frozen=True)
class UnsubscribeGroupCommand(GeneralCommand):
    """Without options all subscriptions to the group's repositories end."""

    group: Group
    wish: Wish = field(default_factory=Wish)


@dataclass(frozen=True)
class SubscriptionsCommand(GeneralCommand):
    """List the subscriptions of the channel."""


@dataclass(frozen=True)
class SampleCommand(RepositoryCommand):
    """Who would be notified of a sample event of each topic, on the base branch if one is given."""

    repository: RepositoryName | None = None
    branch: str | None = None


@dataclass(frozen=True)
class DefaultCommand(GeneralCommand):
    """The repository that need not be typed here: set it, forget it (`is_off`), or ask for it."""

    repository: RepositoryName | None
    is_off: bool = False


@dataclass(frozen=True)
class BoardCommand(RepositoryCommand):
    """One message in the channel that is kept true of the queue; `is_off` ends that."""

    is_act = True

    repository: RepositoryName | None = None
    is_off: bool = False


def read_subscribe(arguments: Arguments) -> Command:
    repository, words = arguments.repository_among(arguments.words, TOPICS)
    return SubscribeCommand(repository, _wish(arguments, words))


def read_subscribe_group(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = _marked_group(arguments)
    return None if group is None else SubscribeGroupCommand(group, _wish(arguments, words))


def read_unsubscribe(arguments: Arguments) -> Command:
    repository, words = arguments.repository_among(arguments.words, TOPICS)
    return UnsubscribeCommand(repository, _wish_to_end(arguments, words))


def read_unsubscribe_group(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = _marked_group(arguments)
    if group is None:
        return None
    return UnsubscribeGroupCommand(group, _wish_to_end(arguments, words))


def _marked_group(arguments: Arguments) -> tuple[Group | None, list[str]]:
    """Without its `@` a group could be a topic: `all` is every topic here."""
    for place, word in enumerate(arguments.words):
        if word.startswith("@"):
            others = [*arguments.words[:place], *arguments.words[place + 1 :]]
            return arguments.groups.find(word), others
    return None, arguments.words


def read_subscriptions(arguments: Arguments) -> Command:
    if not arguments.words:
        return SubscriptionsCommand()
    words = [word for word in arguments.words if word.lower() != TEST]
    repository, words = arguments.repository_among(words)
    if len(words) == len(arguments.words) - (repository is not None):
        raise arguments.problem(f"I do not understand “{arguments.words[0]}” here.")
    return SampleCommand(repository, Options(arguments, words, {"branch"}).branch())


def read_default(arguments: Arguments) -> Command:
    """Nothing typed asks which it is."""
    if [word.lower() for word in arguments.words] == [OFF]:
        return DefaultCommand(None, is_off=True)
    repository, words = arguments.repository_among(arguments.words)
    if words:
        raise arguments.problem(f"I do not understand “{words[0]}” here.")
    return DefaultCommand(repository)


def read_board(arguments: Arguments) -> Command:
    """The repository and `off` in either order."""
    is_off = OFF in [word.lower() for word in arguments.words[:2]]
    words = [word for word in arguments.words if word.lower() != OFF]
    repository, words = arguments.repository_among(words)
    if words:
        raise arguments.problem(f"I do not understand “{words[0]}” here.")
    return BoardCommand(repository, is_off=is_off)


def _wish_to_end(arguments: Arguments, words: list[str]) -> Wish:
    wish = _wish(arguments, words)
    if wish.style is not None:
        raise arguments.problem("style: and digest: are for subscribe.")
    return wish


def _wish(arguments: Arguments, words: list[str]) -> Wish:
    try:
        return read_wish(words)
    except InvalidWish as error:
        raise arguments.problem(str(error)) from error


VERBS = (
    Verb(
        "subscribe",
        "subscribe [owner/name|@group|@all] [topic …] [branch:GLOB] [except:LOGIN] "
        "[style:thread|feed|digest] [digest:09:00 ZONE]",
        "Have this channel hear about the queue",
        (
            "subscribe",
            "subscribe acme/site merge failure branch:release/*",
            "subscribe acme/site all except:renovate style:feed",
            "subscribe acme/site digest:09:00 Europe/Paris",
            "subscribe @all failure",
        ),
        read=read_subscribe,
        read_group=read_subscribe_group,
    ),
    Verb(
        "unsubscribe",
        "unsubscribe [owner/name|@group|@all] [topic …] [branch:GLOB] [except:LOGIN]",
        "Stop hearing about it, or about some of it",
        ("unsubscribe", "unsubscribe acme/site enter", "unsubscribe acme/site except:renovate"),
        read=read_unsubscribe,
        read_group=read_unsubscribe_group,
    ),
    Verb(
        "subscriptions",
        "subscriptions [test [owner/name] [branch:NAME]]",
        "See what this channel hears about, or who would hear about a sample event",
        ("subscriptions", "subscriptions test acme/site branch:main"),
        read=read_subscriptions,
    ),
    Verb(
        "default",
        "default [owner/name|off]",
        "Say which repository is meant in this channel when none is typed",
        ("default acme/site", "default off", "default"),
        read=read_default,
    ),
    Verb(
        "board",
        "board [owner/name] [off]",
        "Keep one message in this channel true of the queue",
        ("board", "board acme/site", "board off"),
        read=read_board,
    ),
)
"""Rows of the command table."""
