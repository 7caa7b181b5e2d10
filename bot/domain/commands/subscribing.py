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
from bot.domain.wishes import InvalidWish, Wish, read_wish

TEST = "test"
OFF = "off"


def read_subscribe(arguments: Arguments) -> Command:
    repository, words = arguments.repository()
    return SubscribeCommand(repository, _wish(arguments, words))


def read_subscribe_group(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = _marked_group(arguments)
    return None if group is None else SubscribeGroupCommand(group, _wish(arguments, words))


def read_unsubscribe(arguments: Arguments) -> Command:
    repository, words = arguments.repository()
    return UnsubscribeCommand(repository, _wish_to_end(arguments, words))


def read_unsubscribe_group(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = _marked_group(arguments)
    if group is None:
        return None
    return UnsubscribeGroupCommand(group, _wish_to_end(arguments, words))


def _marked_group(arguments: Arguments) -> tuple[Group | None, list[str]]:
    """Without its `@` a group could be a topic: `all` is every topic here."""
    is_marked = bool(arguments.words) and arguments.words[0].startswith("@")
    return arguments.group() if is_marked else (None, arguments.words)


def read_subscriptions(arguments: Arguments) -> Command:
    if not arguments.words:
        return SubscriptionsCommand()
    if arguments.words[0].lower() != TEST:
        raise arguments.problem(f"I do not understand “{arguments.words[0]}” here.")
    repository, words = arguments.repository(after=1)
    return SampleCommand(repository, Options(arguments, words, {"branch"}).branch())


def read_default(arguments: Arguments) -> Command:
    """Nothing typed asks which it is."""
    if [word.lower() for word in arguments.words] == [OFF]:
        return DefaultCommand(None, is_off=True)
    repository, words = arguments.repository()
    if words:
        raise arguments.problem(f"I do not understand “{words[0]}” here.")
    return DefaultCommand(repository)


def read_board(arguments: Arguments) -> Command:
    """The repository and `off` in either order."""
    off_first = bool(arguments.words) and arguments.words[0].lower() == OFF
    repository, words = arguments.repository(after=1 if off_first else 0)
    off_last = not off_first and [word.lower() for word in words] == [OFF]
    if words and not off_last:
        raise arguments.problem(f"I do not understand “{words[0]}” here.")
    return BoardCommand(repository, is_off=off_first or off_last)


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
