"""How the commands about subscriptions are read."""

from bot.domain.commands.arguments import Arguments
from bot.domain.commands.values import (
    Command,
    SubscribeCommand,
    SubscriptionsCommand,
    UnsubscribeCommand,
)
from bot.domain.subscriptions import DEFAULT_TOPICS, UnknownTopic, read_topics


def read_subscribe(arguments: Arguments) -> Command:
    repository, words = arguments.repository()
    topics = _topics(arguments, words)
    return SubscribeCommand(repository, topics or DEFAULT_TOPICS)


def read_unsubscribe(arguments: Arguments) -> Command:
    repository, words = arguments.repository()
    return UnsubscribeCommand(repository, _topics(arguments, words) or None)


def read_subscriptions(arguments: Arguments) -> Command:
    if arguments.words:
        raise arguments.problem(f"I do not understand “{arguments.words[0]}” here.")
    return SubscriptionsCommand()


def _topics(arguments: Arguments, words: list[str]) -> frozenset[str]:
    try:
        return read_topics(words)
    except UnknownTopic as error:
        raise arguments.problem(str(error)) from error
