"""Commands that take more than a repository and options: how each one's words are read."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

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
from bot.domain.durations import Lasting, read_doubtful, read_lasting
from bot.domain.errors import RepositoryNotAllowed
from bot.domain.event_log import LONGEST_LOOKBACK
from bot.domain.groups import Group
from bot.domain.notices import DIRECT, Notice
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import (
    ALL_TOPICS,
    InvalidOptions,
    Level,
    SubscriptionOptions,
    Topic,
    read_options,
)

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[bot\])?", re.ASCII)
"""What code hosts take for a login, at its widest."""

NOW = "now"
"""Typed in front of a reason, it pauses without a question."""

GROUP = " @group"
"""Ends the action of a request about a group: "pause @group"."""

LOG_OPTIONS = (
    PULL_REQUEST,
    BRANCH,
    TYPES,
    since_option(LONGEST_LOOKBACK, "2h"),
    UNTIL,
    LIMIT,
)

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
    where: RepositoryName | Group | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    needs_repository: bool = True


@dataclass(frozen=True, slots=True)
class TypedPause:
    """A pause as it was typed, without its repository.

    `doubtful` is a duration that may also be meant as a part of the reason, and `reason_before` the
    reason without it: the person is asked. `is_confirmed`: they know the impact.
    """

    reason: str | None = None
    lasting: Lasting | None = None
    doubtful: Lasting | None = None
    reason_before: str | None = None
    is_confirmed: bool = False


Read = Callable[[Words], Request]


def read_status(words: Words) -> Request:
    group = words.group_first()
    if group is not None:
        return Request("status" + GROUP, group, words.options(words.all[1:], [FROM]))
    repository, rest = words.repository_among(words.all)
    return Request("status", repository, words.options(rest, [BRANCH, FROM]))


def read_why(words: Words) -> Request:
    return _read_pull_request(words, "why")


def read_remove(words: Words) -> Request:
    return _read_pull_request(words, "remove")


def _read_pull_request(words: Words, action: str) -> Request:
    """Read a pull request and a repository in either order, or the pull request's address."""
    found: RepositoryName | None = None
    number: int | None = None
    for word in words.all:
        named, read = _pull_request(words, word)
        if read is not None and number is None:
            number, found = read, named or found
        elif found is None:
            found = _repository(words, word)
        else:
            words.leave_none([word])
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
    repository = words.repositories.find(address[1])
    if repository is None:
        raise RepositoryNotAllowed(address[1], words.repositories.names)
    return repository, read_number(address[2])


def read_log(words: Words) -> Request:
    repository, rest = words.repository_among(words.all)
    options = words.options(rest, LOG_OPTIONS)
    if options["until"] is not None and options["until"] >= options["since"]:
        raise words.problem("until: has to be later than since:, a shorter time ago.")
    return Request("log", repository, options)


def read_pause(words: Words) -> Request:
    """Read the repository before or after the duration, and the reason last.

    `now` in front of these, or of the reason, means that the person needs no question first.
    A duration that may be part of the reason is `doubtful`: the bot asks the person.
    """
    is_confirmed, rest = without_now(words.all)
    group = words.group_first(rest)
    if group is not None:
        is_confirmed, rest = without_now(rest[1:], is_confirmed=is_confirmed)
        asked = words.rest_of_text(rest) or ""
        return Request("pause" + GROUP, group, {"asked": asked, "is_confirmed": is_confirmed})
    repository, rest = words.repository_first(rest)
    is_confirmed, rest = without_now(rest, is_confirmed=is_confirmed)
    lasting, taken = read_lasting(rest)
    rest = rest[taken:]
    if repository is None and taken and rest and "/" in rest[0]:
        repository = words.repositories.find(rest[0])
        rest = rest if repository is None else rest[1:]
    if taken:
        is_confirmed, rest = without_now(rest, is_confirmed=is_confirmed)
    reason = words.rest_of_text(rest)
    doubtful, before = (None, 0) if lasting is not None or not reason else read_doubtful(rest)
    reason_before = " ".join(rest[:before]) or None
    typed = TypedPause(reason, lasting, doubtful, reason_before, is_confirmed=is_confirmed)
    return Request("pause", repository, {"typed": typed})


def without_now(words: list[str], *, is_confirmed: bool = False) -> tuple[bool, list[str]]:
    """A second one is a part of the reason."""
    if not is_confirmed and words and words[0].lower() == NOW:
        return True, words[1:]
    return is_confirmed, words


def read_resume(words: Words) -> Request:
    group = words.group_first()
    repository, rest = (None, words.all[1:]) if group else words.repository_first()
    if rest and (group or repository):
        raise words.problem(f"Resuming takes no reason: leave “{rest[0]}” out.")
    if rest:
        raise words.problem(f"I do not know a repository “{rest[0]}”.")
    return Request("resume" + GROUP, group) if group else Request("resume", repository)


def read_subscribe(words: Words) -> Request:
    return _read_subscription(words, "subscribe")


def read_unsubscribe(words: Words) -> Request:
    request = _read_subscription(words, "unsubscribe")
    if request.options["options"].style is not None:
        raise words.problem("style: and digest: are for subscribe.")
    level = request.options["options"].level
    if level is not None:
        raise words.problem(f"{level} is for subscribe. Name the topics to leave out.")
    return request


def _read_subscription(words: Words, action: str) -> Request:
    """Groups need their `@`, because `all` means every topic here."""
    marked = next((word for word in words.all if word.startswith("@")), None)
    where: RepositoryName | Group | None
    if marked is not None:
        where = words.groups.find(marked)
        rest = [*words.all]
        rest.remove(marked)
        action += GROUP
    else:
        where, rest = words.repository_among(words.all, _TOPICS)
    try:
        options: SubscriptionOptions = read_options(rest)
    except InvalidOptions as error:
        raise words.problem(str(error)) from error
    return Request(action, where, {"options": options})


def read_subscriptions(words: Words) -> Request:
    if not words.all or words.all[0].startswith(f"{FROM.name}:"):
        options = words.options(words.all, [FROM])
        return Request("subscriptions", None, options, needs_repository=False)
    repository, rest = words.repository_among([one for one in words.all if one.lower() != "test"])
    if len(rest) == len(words.all) - (repository is not None):
        words.leave_none(words.all)
    return Request("subscriptions test", repository, words.options(rest, [BRANCH]))


def read_default(words: Words) -> Request:
    """Read a repository; without words the command shows the default."""
    if [word.lower() for word in words.all] == ["off"]:
        return Request("default off", needs_repository=False)
    repository, rest = words.repository_among(words.all)
    words.leave_none(rest)
    return Request("default", repository, needs_repository=False)


def read_board(words: Words) -> Request:
    """Read a repository and `off` in either order."""
    is_off = "off" in [word.lower() for word in words.all]
    repository, rest = words.repository_among([one for one in words.all if one.lower() != "off"])
    words.leave_none(rest)
    return Request("board off" if is_off else "board", repository)


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
    """Read notices and `on` or `off`, in either order."""
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
