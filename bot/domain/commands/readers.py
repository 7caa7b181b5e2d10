"""Commands that take more than a repository and options: how each one's words are read."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from bot.domain.asked import (
    Asked,
    read_freeze as read_asked_freeze,
    read_options as read_conditions,
)
from bot.domain.commands.words import (
    BRANCH,
    FROM,
    LIMIT,
    PULL_REQUEST,
    TYPES,
    UNTIL,
    Words,
    read_number,
    since as since_option,
)
from bot.domain.durations import read_lasting
from bot.domain.errors import RepositoryNotAllowed
from bot.domain.event_log import LONGEST_LOOKBACK
from bot.domain.groups import Target
from bot.domain.notices import DIRECT, Notice
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import ALL_TOPICS, InvalidOptions, Level, Topic, read_options

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[bot\])?", re.ASCII)
"""What code hosts take for a login, at its widest."""

NOW = "now"
"""Typed in front of a reason, it pauses without a question."""

LOG_OPTIONS = (PULL_REQUEST, BRANCH, TYPES, since_option(LONGEST_LOOKBACK, "2h"), UNTIL, LIMIT)

_ADDRESS = re.compile(
    r"https?://[^/\s]+/([a-zA-Z0-9\-]+/[\w\-.]+)/(?:-/)?"
    r"(?:pull|pulls|pull-requests|merge_requests)/([0-9]{1,19})(?:[/?#]\S*)?",
    re.ASCII,
)
"""The page of a pull request at the usual code hosts: its repository and its number."""

_TOPICS = frozenset({ALL_TOPICS, *Topic, *Level})
_NOTICES = {
    **{one.value: frozenset({one}) for one in Notice},
    "dm": DIRECT,
    "all": frozenset(Notice),
}


@dataclass(frozen=True, slots=True)
class Request:
    """A typed command.

    `action`: the handler, a verb or a verb with the word that makes it another command.
    `options`: the handler's keyword arguments.
    `needs_repository`: ask for a repository when `where` is None.
    """

    action: str
    where: Target | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    needs_repository: bool = True


Read = Callable[[Words], Request]


def _place(words: Words) -> tuple[Target | None, bool]:
    is_confirmed = words.take(NOW)
    where = words.group() or words.repository()
    # A second one is a part of the reason.
    return where, is_confirmed or words.take(NOW)


def read_status(words: Words) -> Request:
    group = words.group()
    where = group or words.repository_anywhere()
    return Request("status", where, words.options([FROM] if group else [BRANCH, FROM]))


def read_pull_request(words: Words, action: str) -> Request:
    """Read a pull request and a repository in either order, or the pull request's address."""
    found: RepositoryName | None = None
    number: int | None = None
    while words.rest:
        named, read = _pull_request(words, words.rest[0])
        if read is not None and number is None:
            number, found = read, named or found
        elif found is None:
            found = _repository(words, words.rest[0])
        else:
            words.end()
        words.skip()
    if number is None:
        raise words.problem("Which pull request? Type its number or its address.")
    return Request(action, found, {"pull_request": number})


def _repository(words: Words, word: str) -> RepositoryName:
    """The repository; raises CommandSyntaxError, or RepositoryNotAllowed after a pull request."""
    try:
        return words.repositories.allowed(word)
    except RepositoryNotAllowed:
        if any(_pull_request(words, one)[1] is not None for one in words.all):
            raise
        said = f"Which pull request? “{word}” is no number and no address of one."
        raise words.problem(said) from None


def _pull_request(words: Words, word: str) -> tuple[RepositoryName | None, int | None]:
    """The pull request; raises RepositoryNotAllowed for an address in another repository."""
    address = _ADDRESS.fullmatch(word)
    if address is None:
        return None, read_number(word)
    return words.repositories.allowed(address[1]), read_number(address[2])


def read_log(words: Words) -> Request:
    repository = words.repository_anywhere()
    options = words.options(LOG_OPTIONS)
    if options["until"] is not None and options["until"] >= options["since"]:
        raise words.problem("until: has to be later than since:, a shorter time ago.")
    return Request("log", repository, options)


def read_pause(words: Words) -> Request:
    """Read the repository before or after the duration, and the reason last.

    `now` in front of these, or of the reason, means that the person needs no question first.
    """
    where, is_confirmed = _place(words)
    lasting, taken = read_lasting(words.rest)
    words.skip(taken)
    if where is None and taken and words.rest and "/" in words.rest[0]:
        where = words.repositories.find(words.rest[0])
        words.skip(0 if where is None else 1)
    if taken:
        is_confirmed = is_confirmed or words.take(NOW)
    asked = Asked(words.rest_of_text(), lasting)
    return Request("pause", where, {"asked": asked, "is_confirmed": is_confirmed})


def read_resume(words: Words) -> Request:
    where = words.group() or words.repository()
    if words.rest and where:
        raise words.problem(f"Resuming takes no reason: leave “{words.rest[0]}” out.")
    if words.rest:
        raise words.problem(f"I don't know a repository “{words.rest[0]}”.")
    return Request("resume", where)


def read_freeze(words: Words) -> Request:
    """Read the repository before or after the times, and the reason; options may be anywhere.

    `now` as in `read_pause`.
    """
    options, words.rest = read_conditions(words.rest)
    where, is_confirmed = _place(words)
    asked = read_asked_freeze(words.rest)
    first, _, reason = asked.reason.partition(" ")
    if where is None and asked.is_timed and "/" in first:
        where = words.repositories.find(first)
        asked = asked if where is None else replace(asked, reason=reason)
    first, _, reason = asked.reason.partition(" ")
    if asked.is_timed and not is_confirmed and first.lower() == NOW:
        is_confirmed, asked = True, replace(asked, reason=reason)
    asked = replace(asked, branches=options.branches, excepted=options.excepted)
    return Request("freeze", where, {"asked": asked, "is_confirmed": is_confirmed})


def read_unfreeze(words: Words) -> Request:
    where, _ = _place(words)
    return Request("unfreeze", where, {"reason": " ".join(words.rest)})


def read_allow(words: Words) -> Request:
    where = words.repository()
    number = read_number(words.rest[0]) if words.rest else None
    if number is None:
        raise words.problem("Which pull request? Type its number and a reason.")
    words.skip()
    where = where or words.repository()
    return Request("allow", where, {"pull_request": number, "reason": " ".join(words.rest)})


def read_unsubscribe(words: Words) -> Request:
    request = read_subscription(words, "unsubscribe")
    options = request.options["options"]
    if options.style is not None:
        raise words.problem("style: and digest: are for subscribe.")
    if options.level is not None:
        raise words.problem(f"{options.level} is for subscribe. Name the topics to leave out.")
    return request


def read_subscription(words: Words, action: str = "subscribe") -> Request:
    """Groups need their `@`, because `all` means every topic here."""
    marked = next((word for word in words.all if word.startswith("@")), None)
    where: Target | None
    if marked is not None:
        where = words.groups.find(marked)
        words.rest.remove(marked)
    else:
        where = words.repository_anywhere(_TOPICS)
    try:
        options = read_options(words.rest)
    except InvalidOptions as error:
        raise words.problem(str(error)) from error
    return Request(action, where, {"options": options})


def read_subscriptions(words: Words) -> Request:
    if not words.all or words.all[0].startswith(f"{FROM.name}:"):
        return Request("subscriptions", None, words.options([FROM]), needs_repository=False)
    if not words.take_anywhere("test"):
        words.repository_anywhere()
        raise words.problem(f"I don't understand “{words.all[0]}” here.")
    repository = words.repository_anywhere()
    return Request("subscriptions test", repository, words.options([BRANCH]))


def read_default(words: Words) -> Request:
    """Read a repository; without words the command shows the default."""
    if [word.lower() for word in words.all] == ["off"]:
        return Request("default off", needs_repository=False)
    return Request("default", words.only_repository(), needs_repository=False)


def read_board(words: Words) -> Request:
    action = "board off" if words.take_anywhere("off") else "board"
    return Request(action, words.only_repository())


def read_link(words: Words) -> Request:
    if len(words.all) != 1:
        raise words.problem("Type your login of the code host, one word.")
    login = words.all[0].removeprefix("@")
    if login.lower() == "off":
        return Request("link off", needs_repository=False)
    if LOGIN.fullmatch(login) is None:
        raise words.problem(
            "A login has letters, digits, dots, hyphens and underscores, at most 100 of them."
        )
    return Request("link", None, {"login": login}, needs_repository=False)


def read_me(words: Words) -> Request:
    if not words.all:
        return Request("me", needs_repository=False)
    states = [word.lower() for word in words.all if word.lower() in {"on", "off"}]
    kinds = [word for word in words.all if word.lower() not in {"on", "off"}]
    chosen = frozenset[Notice]().union(*(_notices(words, word) for word in kinds))
    if len(states) != 1:
        example = kinds[0].lower() if kinds else "dm"
        raise words.problem(f"Say on or off, for example “me {example} off”.")
    if not chosen:
        raise words.problem(f"Say what to turn {states[0]}: {', '.join(_NOTICES)}.")
    options = {"chosen": chosen, "is_on": states[0] == "on"}
    return Request("me", None, options, needs_repository=False)


def _notices(words: Words, word: str) -> frozenset[Notice]:
    """The notices in a word; raises CommandSyntaxError."""
    typed = word.lower()
    for one in (typed, f"{typed}s", typed.removesuffix("s")):
        if one in _NOTICES:
            return _NOTICES[one]
    nearest = get_close_matches(typed, _NOTICES, n=1, cutoff=0.6)
    hint = f"Did you mean {nearest[0]}?" if nearest else f"There are {', '.join(_NOTICES)}."
    raise words.problem(f"There is no notification called “{word}”. {hint}")
