"""How the commands about subscriptions are read."""

from bot.domain.commands.arguments import Arguments
from bot.domain.commands.options import Options
from bot.domain.commands.values import (
    BoardCommand,
    Command,
    DefaultCommand,
    SampleCommand,
    SubscribeCommand,
    SubscribeGroupCommand,
    SubscriptionsCommand,
    UnsubscribeCommand,
    UnsubscribeGroupCommand,
)
from bot.domain.groups import Group
from bot.domain.subscriptions import Topic
from bot.domain.wishes import ALL_TOPICS, InvalidWish, Wish, read_wish

TOPICS = frozenset({ALL_TOPICS, *Topic})
TEST = "test"
OFF = "off"


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
