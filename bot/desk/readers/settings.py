"""Commands that set what a channel or a person gets: how their words are read."""

from difflib import get_close_matches

from bot.channels.subscription import InvalidOptions, Level, Topic, read_options
from bot.desk.options import BRANCH_OPTION, FROM_OPTION
from bot.desk.readers.typed_command import TypedCommand, with_where
from bot.desk.words import Words
from bot.kernel.errors import CommandSyntaxError
from bot.kernel.groups import ALL
from bot.kernel.logins import LOGIN, LOGIN_RULE
from bot.people.notices import DIRECT_NOTICES, Notice

_TOPICS = frozenset({*Topic, *Level})
_NOTICES_BY_WORD = {
    **{notice.value: frozenset({notice}) for notice in Notice},
    "dm": DIRECT_NOTICES,
    "all": frozenset(Notice),
}


def read_unsubscribe(words: Words) -> TypedCommand:
    request = read_subscription(words, "unsubscribe")
    options = request.options["options"]
    if options.style is not None:
        raise words.problem("style: and digest: are for subscribe.")
    if options.level is not None:
        said = f"{options.level} is for subscribe. Name the topics to leave out."
        instead = (with_where("unsubscribe", request.where),)
        is_all = options.level is Level.EVERYTHING
        raise CommandSyntaxError(said, "unsubscribe", instead if is_all else ())
    return request


_AROUND_TOPICS = frozenset({"and", "channel", "for", "from", "here", "this", "to", "us"})
"""In `subscribe this channel to merges and failures`."""


def read_subscription(words: Words, action: str = "subscribe") -> TypedCommand:
    """`all` is every repository, and a group needs its `@`: other words are topics."""
    words.rest = [word for word in words.rest if word.bare not in _AROUND_TOPICS]
    where = words.target_anywhere(_TOPICS)
    if any(word.bare == ALL for word in words.rest):
        raise words.problem("“all” means every repository. For every topic, type everything.")
    try:
        options = read_options(words.plain)
    except InvalidOptions as error:
        raise words.problem(str(error)) from error
    return TypedCommand(action, where, {"options": options})


def read_subscriptions(words: Words) -> TypedCommand:
    if not words.all or words.all[0].plain.startswith(f"{FROM_OPTION.name}:"):
        return TypedCommand(
            "subscriptions", None, words.options([FROM_OPTION]), needs_repository=False
        )
    if not words.take_anywhere("test"):
        words.target_anywhere()
        raise words.not_understood(words.all[0])
    repository = words.only_one(words.target_anywhere(), "a test is about one of them")
    return TypedCommand("subscriptions test", repository, words.options([BRANCH_OPTION]))


def read_default(words: Words) -> TypedCommand:
    """Read a repository; without words the command shows the default."""
    if [word.bare for word in words.all] == ["off"]:
        return TypedCommand("default off", needs_repository=False)
    repository = words.only_repository("a channel has one default")
    return TypedCommand("default", repository, needs_repository=False)


def read_board(words: Words) -> TypedCommand:
    action = "board off" if words.take_anywhere("off") else "board"
    return TypedCommand(action, words.only_repository("a board shows one queue"))


def read_link(words: Words) -> TypedCommand:
    if len(words.all) != 1:
        raise words.problem("Type your login of the code host, one word.")
    login = words.all[0].plain.removeprefix("@")
    if login.lower() == "off":
        return TypedCommand("link off", needs_repository=False)
    if LOGIN.fullmatch(login) is None:
        raise words.problem(LOGIN_RULE)
    return TypedCommand("link", None, {"login": login}, needs_repository=False)


def read_me(words: Words) -> TypedCommand:
    if not words.all:
        return TypedCommand("me", needs_repository=False)
    states = [word.bare for word in words.all if word.bare in {"on", "off"}]
    kinds = [word.plain for word in words.all if word.bare not in {"on", "off"}]
    chosen = frozenset[Notice]().union(*(_notices(words, word) for word in kinds))
    if len(states) != 1:
        example = kinds[0].lower() if kinds else "dm"
        raise words.problem(f"Say on or off, for example “me {example} off”.")
    if not chosen:
        raise words.problem(f"Say what to turn {states[0]}: {', '.join(_NOTICES_BY_WORD)}.")
    options = {"chosen": chosen, "is_on": states[0] == "on"}
    return TypedCommand("me", None, options, needs_repository=False)


def _notices(words: Words, word: str) -> frozenset[Notice]:
    """The notices in a word; raises CommandSyntaxError."""
    typed = word.lower()
    for name in (typed, f"{typed}s", typed.removesuffix("s")):
        if name in _NOTICES_BY_WORD:
            return _NOTICES_BY_WORD[name]
    nearest = get_close_matches(typed, _NOTICES_BY_WORD, n=1, cutoff=0.6)
    hint = f"Did you mean {nearest[0]}?" if nearest else f"There are {', '.join(_NOTICES_BY_WORD)}."
    raise words.problem(f"There is no notification called “{word}”. {hint}")
