"""Commands about a pull request, and those that show how things are: how their words are read."""

from collections.abc import Sequence
from itertools import pairwise

from bot.acts.asked import NOTHING_ASKED, Asked
from bot.desk.names import named_by, read_number
from bot.desk.options import (
    BRANCH_OPTION,
    FROM_OPTION,
    LIMIT_OPTION,
    PULL_REQUEST,
    TYPES,
    UNTIL_OPTION,
    since as since_option,
)
from bot.desk.readers.typed_command import (
    BEGINNING,
    IN_ONE,
    NOW,
    TypedCommand,
    with_times,
    with_where,
)
from bot.desk.words import BEFORE_NAME, BEHIND_A_NUMBER, POLITE, Words
from bot.kernel.errors import CommandSyntaxError, RepositoryNotAllowed
from bot.kernel.groups import Group, Groups, Target, target_value
from bot.kernel.typed import Word, text_of
from bot.merge_queue.window import LONGEST_LOOKBACK

LOG_FILTERS = (PULL_REQUEST, BRANCH_OPTION, TYPES, since_option(LONGEST_LOOKBACK, "2h"))
LOG_OPTIONS = (*LOG_FILTERS, UNTIL_OPTION, LIMIT_OPTION)


def read_status(words: Words) -> TypedCommand:
    """A pull request's status is what `why` shows."""
    _refuse_issue(words.rest, words, "why")
    if any(number_in(word, words.groups) is not None for word in words.rest):
        return read_pull_request(words, "why")
    where = words.target_anywhere()
    is_group = isinstance(where, Group)
    return TypedCommand(
        "status", where, words.options([FROM_OPTION] if is_group else [BRANCH_OPTION, FROM_OPTION])
    )


def read_why(words: Words) -> TypedCommand:
    """Why a pull request is where it is; without one, why its queue doesn't merge."""
    _refuse_issue(words.rest, words, "why")
    named = [named_by(word, words.groups) for word in words.rest]
    is_queue = all(name is not None and name.pull_request is None for name in named)
    if not is_queue or (not named and words.situation.pull_request_meant(None) is not None):
        return read_pull_request(words, "why")
    where = words.target_anywhere()
    is_of_group = where is None and words.situation.group_of_thread is not None
    if isinstance(where, Group) or is_of_group:
        return TypedCommand("status", where, words.options([FROM_OPTION]))
    return TypedCommand("why queue", where, words.options([]))


def read_pull_request(words: Words, action: str) -> TypedCommand:
    """Read a pull request and a repository in either order, or both in one word."""
    _refuse_issue(words.rest, words, action)
    where: Target | None = None
    number: int | None = None
    for word in words.all:
        named = named_by(word, words.groups)
        read = number_in(word, words.groups)
        if named is None and read is None:
            _require_nothing(words, word)
            continue
        if read is not None and number not in {None, read}:
            raise _two_pull_requests(words, action, word)
        is_other = named is not None and where is not None and where not in named.targets
        if is_other:
            raise words.not_understood(word)
        number = number or read
        if named is not None and where is None:
            where = words.only_target(word, named)
    where, number = _or_that_of_the_thread(words, where, number)
    if number is None:
        raise words.problem("Which pull request? Type its number or its address.")
    words.skip(len(words.all))
    repository = words.only_one(where, IN_ONE)
    return TypedCommand(action, repository, {"pull_request": number})


def _or_that_of_the_thread(
    words: Words, where: Target | None, number: int | None
) -> tuple[Target | None, int | None]:
    """The queue and the number that were typed; without a number, those of the thread, if any."""
    here = words.situation.pull_request_meant(where)
    if number is not None or here is None:
        return where, number
    return here.repository, here.number


def _two_pull_requests(words: Words, action: str, second: Word) -> CommandSyntaxError:
    """The error that offers the command with each of both numbers."""
    numbers = [word for word in words.all if number_in(word, words.groups) is not None]
    around = [word for word in words.all if word in numbers or word.bare in {"and", "or"}]
    behind = words.text_without(around)
    offered = tuple(f"{action} {word.plain} {behind}".rstrip() for word in (numbers[0], second))
    said = f"I take one pull request at a time, and “{second.typed}” is another one."
    return CommandSyntaxError(said, action, offered)


def _require_nothing(words: Words, word: Word) -> None:
    """Raise what is wrong with a word that is neither a pull request nor a repository."""
    if not _says_no_more(word):
        raise _no_pull_request(words, word)


def _says_no_more(word: Word) -> bool:
    """Such as "from the queue" and "!!" beside the number of a pull request."""
    return is_between(word) or not word.bare or word.bare in _AROUND_NUMBER


_AROUND_NUMBER = POLITE | BEFORE_NAME | {"from", NOW, "out"}
_BEFORE_NUMBER = frozenset(
    {"and", "or", "pr", "mr", "pull", "request", "merge", "number", "it", "that", "the", "this"}
)
"""Between a verb and the number of a pull request."""


def is_between(word: Word) -> bool:
    return word.is_punctuation or word.bare in _BEFORE_NUMBER


def _refuse_issue(typed: Sequence[Word], words: Words, action: str) -> None:
    """Raises CommandSyntaxError for the address of an issue where a pull request is meant.

    Code hosts show a pull request under such an address too.
    """
    for word in typed:
        named = named_by(word, words.groups)
        if named is not None and named.issue is not None:
            said = "That's the address of an issue, and I only know pull requests."
            instead = (f"{action} {named.issue} {target_value(named.targets[0])}",)
            raise CommandSyntaxError(said, action, instead)
    for before, word in pairwise(typed):
        number = number_in(word, words.groups)
        if before.bare == "issue" and number is not None:
            offered = f"{action} {words.text_without([before])}"
            raise CommandSyntaxError("I only know pull requests.", action, (offered,))


def number_in(word: Word, groups: Groups) -> int | None:
    named = named_by(word, groups)
    return read_number(word.plain) if named is None else named.pull_request


def _no_pull_request(words: Words, word: Word) -> Exception:
    """RepositoryNotAllowed for a word that can only be a repository, else CommandSyntaxError."""
    for typed in words.all:
        words.named(typed)
    known = [
        typed
        for typed in words.all
        if named_by(typed, words.groups) is not None or read_number(typed.plain) is not None
    ]
    others = [typed for typed in words.all if typed not in known and not _says_no_more(typed)]
    if any(number_in(typed, words.groups) is not None for typed in known):
        if len(others) == 1:
            return RepositoryNotAllowed(word.plain, words.groups.repositories.names)
        meant = " ".join([words.verb, *(typed.plain for typed in known)])
        return CommandSyntaxError(f"I don't understand “{word.typed}” here.", words.verb, (meant,))
    without = f"I couldn't find a number in “{word.typed}”, and don't know branches."
    said = f"Which pull request? {without}"
    return words.problem(said)


def read_log(words: Words) -> TypedCommand:
    """A pull request may be typed without `pr:`. Of a group, the newest event of each is shown."""
    _refuse_issue(words.rest, words, "log")
    found: Target | None = None
    number: int | None = None
    for word in [*words.rest]:
        read = number_in(word, words.groups)
        if read is not None and number in {None, read}:
            number = read
            named = named_by(word, words.groups)
            found = words.only_target(word, named) if named is not None else found
            words.rest.remove(word)
    if number is not None:
        words.rest = [word for word in words.rest if word.bare not in {"pr", "mr", "pull"}]
    where = words.target_anywhere() if found is None else found
    is_group = isinstance(where, Group)
    known = [*LOG_FILTERS, FROM_OPTION] if is_group else LOG_OPTIONS
    options = words.options(known, of_one=LOG_OPTIONS)
    where, number = _or_that_of_the_thread(words, where, number)
    if options["pull_request"] is None:
        options["pull_request"] = number
    until = options.get("until")
    if until is not None and until >= options["since"]:
        raise words.problem("until: has to be later than since:, a shorter time ago.")
    return TypedCommand("log", where, options)


def refuse_one_pull_request(
    words: Words, where: Target | None, instead: str, times: Asked = NOTHING_ASKED
) -> None:
    """Raises CommandSyntaxError for "pause #41" and "pause PR 41"; a bare number may be a time.

    `instead`: the verb of what can be done to a pull request.
    """
    around = BEHIND_A_NUMBER
    named = [word for word in words.rest if not is_between(word) and word.bare not in around]
    if len(named) != 1:
        return
    number = number_in(named[0], words.groups)
    is_time = words.verb in BEGINNING and words.rest[0] == named[0] and named[0].plain.isdecimal()
    if number is None or is_time or words.is_settled:
        return
    said = f"I can {words.verb} a queue, but not one pull request."
    named_there = named_by(named[0], words.groups)
    queue = named_there.targets[0] if where is None and named_there is not None else where
    as_reason = f"{with_times(words.verb, where, times)} because of #{number}"
    offered = (f"{with_where(instead, queue)} {number}", as_reason)
    raise CommandSyntaxError(said, words.verb, offered)


def read_allow(words: Words) -> TypedCommand:
    """Read the pull request and the repository in either order, or in one word; then a reason.

    `now` in front of these means that the person needs no question first.
    """
    is_confirmed = words.take(NOW)
    where: Target | None = None
    number: int | None = None
    while words.rest and number is None:
        word = words.rest[0]
        _refuse_issue([word], words, "allow")
        named = words.named(word)
        number = number_in(word, words.groups)
        if named is not None and where is None:
            where = words.only_target(word, named)
        elif number is None and not is_between(word):
            break
        words.skip()
    where, number = _or_that_of_the_thread(words, where, number)
    if number is None:
        raise words.problem("Which pull request? Type its number and a reason.")
    _refuse_second_pull_request(words, where, number)
    where = where or words.target_in_front()
    reason = words.reason(where)
    options = {"pull_request": number, "reason": reason, "is_confirmed": is_confirmed}
    return TypedCommand("allow", words.only_one(where, IN_ONE), options)


def _refuse_second_pull_request(words: Words, where: Target | None, first: int) -> None:
    """Raises CommandSyntaxError for "allow 41 and 42 hotfix"; "41 2 tests failed" has one."""
    place = next((at for at, word in enumerate(words.rest) if not _is_between_numbers(word)), None)
    if place is None:
        return
    word = words.rest[place]
    named = named_by(word, words.groups)
    number = number_in(word, words.groups)
    is_marked = place > 0 or not word.plain.isdecimal() or len(words.rest) == 1
    is_listed = words.text[: word.start].rstrip().endswith(",")
    if number in {None, first} or not (is_marked or is_listed):
        return
    other = words.only_target(word, named) if named is not None else where
    behind = text_of(words.text, words.rest[place + 1 :])
    said = f"I take one pull request at a time, and “{word.typed}” is another one."
    offered = tuple(
        f"{with_where(words.verb, target)} {allowed} {behind}".rstrip()
        for target, allowed in ((where, first), (other, number))
    )
    raise CommandSyntaxError(said, words.verb, offered)


def _is_between_numbers(word: Word) -> bool:
    return is_between(word) or word.folded in {"&", "+"}
