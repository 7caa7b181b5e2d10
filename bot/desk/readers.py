"""Commands that take more than a repository and options: how each one's words are read."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

from bot.acts.asked import (
    BRANCH_PREFIX,
    EXCEPT,
    NOTHING_ASKED,
    Asked,
    ReadTimes,
    is_option,
    read_conditions,
    read_times,
)
from bot.channels.subscription import InvalidOptions, Level, Topic, read_options
from bot.desk.names import named_by, read_number
from bot.desk.starts import Start, start_meant, times_of_start
from bot.desk.words import (
    BEFORE_NAME,
    BEHIND_A_NUMBER,
    BRANCH_OPTION,
    FROM_OPTION,
    LIMIT_OPTION,
    POLITE,
    PULL_REQUEST,
    SAYS_A_BRANCH,
    TYPES,
    UNTIL_OPTION,
    WELL,
    Words,
    since as since_option,
    the_queue,
)
from bot.kernel.durations import (
    FOR,
    UNTIL_WORD,
    DurationProblem,
    For,
    Lasting,
    Until,
    written,
)
from bot.kernel.ends.doubts import WORD_AND_HOUR, is_number_alone
from bot.kernel.ends.lengths import lengths_of_number
from bot.kernel.ends.phrases import read_beginning, read_end, read_lasting, says_until
from bot.kernel.ends.spans import (
    BEFORE_A_START,
    FROM_WORD,
    possible_spans,
    read_span,
    words_for_now,
)
from bot.kernel.errors import CommandSyntaxError, InvalidDuration, RepositoryNotAllowed
from bot.kernel.groups import ALL, Group, Groups, Target, target_value
from bot.kernel.logins import LOGIN, LOGIN_RULE
from bot.kernel.typed import Word, read_words, text_of
from bot.merge_queue.window import LONGEST_LOOKBACK
from bot.people.notices import DIRECT_NOTICES, Notice

NOW = "now"
"""Typed in front of a reason, it pauses without a question."""


IN_ONE = "a pull request is in one of them"


LOG_FILTERS = (PULL_REQUEST, BRANCH_OPTION, TYPES, since_option(LONGEST_LOOKBACK, "2h"))


LOG_OPTIONS = (*LOG_FILTERS, UNTIL_OPTION, LIMIT_OPTION)


_TOPICS = frozenset({*Topic, *Level})


_NOTICES_BY_WORD = {
    **{notice.value: frozenset({notice}) for notice in Notice},
    "dm": DIRECT_NOTICES,
    "all": frozenset(Notice),
}


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A typed command."""

    action: str  #: the handler, a verb or a verb with the word that makes it another command
    where: Target | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  #: the handler's keyword arguments
    needs_repository: bool = True  #: ask for a repository when `where` is None


Read = Callable[[Words], TypedCommand]


def read_status(words: Words) -> TypedCommand:
    """A pull request's status is what `why` shows."""
    _refuse_issue(words.rest, words, "why")
    if any(_read_pull_request(word, words.groups) is not None for word in words.rest):
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
        read = _read_pull_request(word, words.groups)
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
    here = words.situation.pull_request_meant(where)
    if number is None and here is not None:
        where = here.repository
        number = here.number
    if number is None:
        raise words.problem("Which pull request? Type its number or its address.")
    words.skip(len(words.all))
    repository = words.only_one(where, IN_ONE)
    return TypedCommand(action, repository, {"pull_request": number})


def _two_pull_requests(words: Words, action: str, second: Word) -> CommandSyntaxError:
    """The error that offers the command with each of both numbers."""
    numbers = [word for word in words.all if _read_pull_request(word, words.groups) is not None]
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
    return _is_between(word) or not word.bare or word.bare in _AROUND_NUMBER


_AROUND_NUMBER = POLITE | BEFORE_NAME | {"from", NOW, "out"}


_BEFORE_NUMBER = frozenset(
    {"and", "or", "pr", "mr", "pull", "request", "merge", "number", "it", "that", "the", "this"}
)
"""Between a verb and the number of a pull request."""


def _is_between(word: Word) -> bool:
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
        number = _read_pull_request(word, words.groups)
        if before.bare == "issue" and number is not None:
            offered = f"{action} {words.text_without([before])}"
            raise CommandSyntaxError("I only know pull requests.", action, (offered,))


def _read_pull_request(word: Word, groups: Groups) -> int | None:
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
    if any(_read_pull_request(typed, words.groups) is not None for typed in known):
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
        read = _read_pull_request(word, words.groups)
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
    here = words.situation.pull_request_meant(where)
    if number is None and here is not None:
        where = here.repository
        number = here.number
    if options["pull_request"] is None:
        options["pull_request"] = number
    until = options.get("until")
    if until is not None and until >= options["since"]:
        raise words.problem("until: has to be later than since:, a shorter time ago.")
    return TypedCommand("log", where, options)


def _place(words: Words, limits: Asked = NOTHING_ASKED) -> tuple[Target | None, bool]:
    """The target in front of free text, and whether `now` stands around it.

    `limits`: the options that were read before.
    """
    is_confirmed = _take_now(words)
    words.skip_courtesy()
    where = words.target_in_front()
    words.skip_punctuation()
    words.skip_courtesy()
    words.skip_the_queue(is_named=where is not None)
    _refuse_taken_back(words, where, limits)
    words.refuse_some(where)
    # A second one is a part of the reason.
    return where, is_confirmed or _take_now(words)


def _take_now(words: Words) -> bool:
    """Whether the next words are `now` or "right now", which are then read."""
    is_right = [word.bare for word in words.rest[:2]] in (["right", NOW], ["right", "away"])
    if is_right:
        words.skip(2)
    return is_right or words.take(NOW)


def read_pause(words: Words) -> TypedCommand:
    """Read the target before or after the end, and the reason last.

    `now` in front of these, or of the reason, means that the person needs no question first.
    """
    where, is_confirmed = _place(words)
    times, taken = _read_times(words, where)
    if times.start is not None:
        _refuse_to_begin_later(words, where, times, taken)
    words.skip(taken)
    if taken:
        where = where or words.target_in_front()
        is_confirmed = is_confirmed or _take_now(words)
    words.refuse_further_names(where)
    _refuse_not_now(words, where, times)
    _refuse_branch(words, where, times)
    _refuse_other_command(words, where, times)
    _refuse_one_pull_request(words, where, "remove", times)
    asked = replace(times, reason=words.reason(where))
    return TypedCommand("pause", where, {"asked": asked, "is_confirmed": is_confirmed})


_ON_CONDITION = frozenset({"if", "later", "once", "unless", "when"})
_SOON = frozenset({"eventually", "later", "shortly", "sometime", "soon"})
_AROUND_SOON = _SOON | {"a", "bit", "little", "much", "on", "or", "some", "time", "very"}
_MOMENTS = (["bit"], ["moment"], ["sec"], ["second"], ["while"])
_NOT = frozenset({"not", "never"})
_NOW_OR_NEVER = frozenset({"anymore", "ever", "now", "today", "yet"})


def _behind_the_queue(words: Words) -> Sequence[Word]:
    """The words that are left, without "the queue", "it" or "the pause" in front of them."""
    left = [word for word in words.rest if not word.is_punctuation and word.bare not in POLITE]
    left = left[the_queue(left) :]
    pause = next((at for at, word in enumerate(left) if word.bare != "the"), len(left))
    is_pause = pause < len(left) and left[pause].bare in {"pause", "freeze"}
    return left[pause + 1 :] if is_pause else left


def _says_not_now(words: Words) -> bool:
    """Whether they begin with a condition, or with "not yet"."""
    said = [word.bare for word in _behind_the_queue(words)]
    if not said:
        return False
    is_no = said[0] in _NOT and (len(said) == 1 or said[1] in _NOW_OR_NEVER)
    is_again = said[0] == "once" and said[1:2] in (["more"], ["again"])
    is_condition = said[0] in _ON_CONDITION and not is_again
    is_soon = _AROUND_SOON.issuperset(said) and not _SOON.isdisjoint(said)
    is_in_a_bit = said[:2] == ["in", "a"] and said[2:] in _MOMENTS
    is_as_soon = said[:3] == ["as", "soon", "as"]
    is_after = said[0] == "after" and _waits_for_an_event(_behind_the_queue(words))
    is_wait = is_as_soon or is_after
    return is_condition or is_no or is_soon or is_in_a_bit or is_wait


def _waits_for_an_event(left: Sequence[Word]) -> bool:
    """Such as "after the deploy"; "after 5pm" is a time, about which the bot asks."""
    if len(left) == 1:
        return False
    try:
        return read_beginning([word.time for word in left[1:]], is_end=True) is None
    except InvalidDuration:
        return False


def _with_reason(words: Words, where: Target | None) -> tuple[str, ...]:
    """The command of which "later deploys depend on this" is the reason; none if it can't be.

    The same of "after the deploy broke".
    """
    left = _behind_the_queue(words)
    if not left or left[0].bare not in {"after", "later"} or len(left) == 1:
        return ()
    behind = left[1]
    is_clause = not left[0].typed.casefold().endswith(left[0].bare)
    is_when = behind.bare in _BEFORE_A_TIME | _ON_CONDITION | {"because", "on", "this"}
    try:
        begun = read_beginning([word.time for word in left[1:]], is_end=True)
    except InvalidDuration:
        return ()
    if is_clause or is_when or begun is not None:
        return ()
    return (f"{_with_where(words.verb, where)} because {text_of(words.text, left)}",)


def _read_times(words: Words, where: Target | None) -> ReadTimes:
    """The times in front; raises InvalidDuration.

    For a start and an end that may mean several times, with a command for each.
    """
    try:
        return read_times(words.times)
    except InvalidDuration as error:
        error.instead = tuple(dict.fromkeys(_times_meant(words, where)))
        raise


def _times_meant(words: Words, where: Target | None) -> list[str]:
    """The commands for each start and end that may be meant, likeliest first."""
    length = _length_in_front(words)
    spans = possible_spans(words.times)
    meant: list[str] = []
    for span in spans:
        reason = text_of(words.text, words.rest[span.words :])
        asked = Asked(reason, lasting=span.end, start=span.start)
        meant.append(f"{_with_where('freeze', where)} {asked.written}")
        if words.verb != "freeze" and length is None:
            # A pause can't begin later.
            asked = replace(asked, start=None)
            meant.append(f"{_with_where(words.verb, where)} {asked.written}")
    if length is not None and spans:
        # What looks like a start may begin the reason: "2h on friday we ship".
        at_once = f"{_with_where(words.verb, where)} {written(length.lasting)}"
        is_all = spans[0].words == len(words.times)
        reason = text_of(words.text, words.rest[length.taken :])
        place = len(meant) if words.verb == "freeze" else 1
        meant.insert(place, at_once if is_all else f"{at_once} because {reason}")
    return meant


class _Length(NamedTuple):
    lasting: For
    taken: int  #: how many words it takes


def _length_in_front(words: Words) -> _Length | None:
    try:
        found = read_lasting(words.times)
    except InvalidDuration:
        return None
    return _Length(found.at, found.words) if isinstance(found.at, For) else None


BEGINS_NOW = "I pause a queue right away, but a freeze can begin later."


def _refuse_to_begin_later(
    words: Words, where: Target | None, times: Asked, taken: int
) -> NoReturn:
    """Raises CommandSyntaxError for "pause from 5pm until 7pm" and "pause at 5pm for 2h"."""
    said = [word.plain for word in words.rest]
    end = [written(times.lasting)] if times.lasting is not None else []
    if _length_in_front(words) is not None:
        start = times.written.split()[1:]
    else:
        start = said[1:] if said[0].lower() in BEFORE_A_START else said
    freeze = [_with_where("freeze", where), FROM_WORD, *start]
    pause = [_with_where(words.verb, where), *end, *said[taken:]]
    raise CommandSyntaxError(BEGINS_NOW, words.verb, (" ".join(freeze), " ".join(pause)))


def _refuse_not_now(words: Words, where: Target | None, asked: Asked) -> None:
    """Raises CommandSyntaxError for a pause or a freeze that is to wait for something.

    `asked`: the times that stand in front, as in "2h starting at 5pm".
    """
    left = _behind_the_queue(words)
    start = start_meant(left)
    if words.is_settled or (start is None and not _says_not_now(words)):
        return
    times = [word.plain for word in times_of_start(left) or ()] if start is Start.LATER else []
    at_once = [_with_times(words.verb, where, asked)]
    if not asked.is_timed:
        at_once += _end_after(times)
    instead = [*_with_reason(words, where), " ".join(at_once)]
    if start is Start.REGULARLY:
        said = f"I {words.verb} a queue once. {WINDOWS}"
    elif words.verb == "freeze":
        said = "A freeze begins right away or at a time that you give."
    elif start is Start.LATER:
        said = BEGINS_NOW
    else:
        said = "I pause a queue right away, and can't wait for anything."
    if times:
        freeze = [_with_where("freeze", where), FROM_WORD, *times]
        if isinstance(asked.lasting, For) and not _end_after(times):
            freeze += [FOR, written(asked.lasting)]
        instead.insert(0, " ".join(freeze))
    raise CommandSyntaxError(said, words.verb, tuple(instead))


def _end_after(start: Sequence[str]) -> tuple[str, ...]:
    """The end that follows a start, as it is written; none if none follows."""
    try:
        end = read_span([FROM_WORD, *start]).end
    except InvalidDuration:
        return ()
    return (written(end),) if end is not None else ()


WINDOWS = "To repeat it, set a recurring window: `MQBOT_WINDOW` in the settings file."


_SAYS_ENDED = frozenset(
    {
        *("cancel", "canceled", "cancelled", "done", "end", "ended", "ends", "finished", "lifted"),
        *("off", "over", "remove", "removed", "resume", "stop", "stopped", "unpause"),
    }
)
_AROUND_ENDED = POLITE | {"has", "is", "it", "now", "that", "the", "this"}
_TAKES_BACK = frozenset(
    {
        *("don't", "dont", "forget", "hold", "ignore", "mind", "nevermind", "no", "nope", "nvm"),
        *("oops", "or", "scratch", "sorry", "undo", "wait", "wrong"),
    }
)
_AROUND_TAKEN_BACK = (
    _TAKES_BACK
    | _SAYS_ENDED
    | {
        *("actually", "channel", "do", "freeze", "it", "my", "never", "not", "now", "on", "one"),
        *("pause", "queue", "repo", "that", "the", "this", "unfreeze", "what", "yet", *POLITE),
    }
)
"""Words of somebody who thinks better of it: "pause wait, no"."""

_EXPLAINS_AN_END = frozenset({"oops", "sorry", "wrong"})
"""In "resume, sorry, wrong queue" they are a reason."""

_BEGINNING = frozenset({"freeze", "pause"})
"""Verbs of what another command ends."""


_HELP = frozenset({"help", "h"})
_ASKS_FOR_STATUS = frozenset({"list", "status"})

ENDED_WITH = "A pause ends with resume, and a freeze with unfreeze."


def _refuse_taken_back(words: Words, where: Target | None, times: Asked = NOTHING_ASKED) -> None:
    """Raises CommandSyntaxError for "pause nevermind" and "resume, wait, no"."""
    said = [word.bare for word in words.rest if not word.is_punctuation]
    is_ending = words.verb not in _BEGINNING
    taken_back = _TAKES_BACK - _EXPLAINS_AN_END if is_ending else _TAKES_BACK
    if words.is_settled or taken_back.isdisjoint(said):
        return
    if _AROUND_TAKEN_BACK.issuperset(said):
        typed = text_of(words.text, words.rest)
        raise CommandSyntaxError(
            f"“{typed}” is hardly a reason.", words.verb, (_with_times(words.verb, where, times),)
        )


def _refuse_other_command(words: Words, where: Target | None, times: Asked) -> None:
    """Raises CommandSyntaxError for "pause is over", "freeze off", "pause help", "pause -t 30m"."""
    said = [word.bare for word in words.rest if word.bare not in _AROUND_ENDED]
    if not said or words.is_settled:
        return
    option = _UNKNOWN_OPTION.match(words.rest[0].typed)
    if option is not None and said[0] not in _HELP:
        raise _unknown_option(words, where, times, option)
    _refuse_taken_back(words, where, times)
    if _SAYS_ENDED.issuperset(said):
        ending = "unfreeze" if words.verb == "freeze" else "resume"
        raise CommandSyntaxError(ENDED_WITH, words.verb, (_with_where(ending, where),))
    if len(said) > 1:
        return
    if said[0] in _HELP:
        offered = f"help {words.verb}"
    elif said[0] in _ASKS_FOR_STATUS:
        offered = _with_where("freezes" if words.verb == "freeze" else "status", where)
    else:
        return
    raise CommandSyntaxError(f"“{said[0]}” is hardly a reason.", words.verb, (offered,))


_UNKNOWN_OPTION = re.compile(
    r"(?:--[a-z][a-z-]*(?:[=:](?P<long>.*))?|-[a-z](?:[=:]?(?P<short>\d.*))?"
    r"|(?:--?|\u2013|\u2014|/)(?P<alone>\d.*))$",
    re.IGNORECASE,
)
"""--time 30m, -t 30m, -t30m, /30m; autocorrect makes a dash of two hyphens."""


def _unknown_option(
    words: Words, where: Target | None, times: Asked, option: re.Match[str]
) -> CommandSyntaxError:
    said = f"I don't know the option {words.rest[0].typed}."
    typed = text_of(words.text, words.rest)
    behind = text_of(words.text, words.rest[1:])
    started = _with_times(words.verb, where, times)
    value = option["long"] or option["short"] or option["alone"] or ""
    without = " ".join(word for word in (started, value, behind) if word)
    return CommandSyntaxError(said, words.verb, (without, f"{started} because {typed}"))


def _with_where(verb: str, where: Target | None) -> str:
    return f"{verb} {target_value(where)}" if where is not None else verb


def _with_times(verb: str, where: Target | None, times: Asked) -> str:
    return f"{_with_where(verb, where)} {times.written}".rstrip()


def _refuse_branch(words: Words, where: Target | None, times: Asked) -> None:
    """Raises CommandSyntaxError for a branch that isn't typed as a freeze of it: all would stop."""
    typed = words.text_without(())
    freeze = _BRANCH.sub(rf"\1{BRANCH_PREFIX}", typed)
    if SAYS_A_BRANCH & {word.bare for word in words.rest}:
        freeze = words.with_branch(BRANCH_PREFIX) or freeze
    if where is not None and not isinstance(where, Group):
        behind_name = re.compile(rf"({re.escape(where)})@(?=\w)", re.IGNORECASE)
        freeze = behind_name.sub(rf"\1 {BRANCH_PREFIX}", freeze)
    is_freeze = words.verb == "freeze"
    is_branch = freeze != typed or (not is_freeze and _BRANCH.search(typed) is not None)
    if words.is_settled or not is_branch:
        return
    instead = [f"freeze {freeze}"]
    said = "Type the branch to freeze like this: branch:main."
    if not is_freeze:
        instead.append(_with_times(words.verb, where, times))
        said = "I can pause a queue, but not one branch of it. A freeze can be of one branch."
    raise CommandSyntaxError(said, words.verb, tuple(instead))


_BRANCH = re.compile(r"(^|\s)(?:--branch(?:[:=]|\s+)|branch[:=])(?=\S)", re.IGNORECASE)


def _refuse_one_pull_request(
    words: Words, where: Target | None, instead: str, times: Asked = NOTHING_ASKED
) -> None:
    """Raises CommandSyntaxError for "pause #41" and "pause PR 41"; a bare number may be a time.

    `instead`: the verb of what can be done to a pull request.
    """
    around = BEHIND_A_NUMBER
    named = [word for word in words.rest if not _is_between(word) and word.bare not in around]
    if len(named) != 1:
        return
    number = _read_pull_request(named[0], words.groups)
    is_time = words.verb in _BEGINNING and words.rest[0] == named[0] and named[0].plain.isdecimal()
    if number is None or is_time or words.is_settled:
        return
    said = f"I can {words.verb} a queue, but not one pull request."
    named_there = named_by(named[0], words.groups)
    queue = named_there.targets[0] if where is None and named_there is not None else where
    as_reason = f"{_with_times(words.verb, where, times)} because of #{number}"
    offered = (f"{_with_where(instead, queue)} {number}", as_reason)
    raise CommandSyntaxError(said, words.verb, offered)


def read_asked(text: str) -> Asked:
    """Read an end, if the text begins with one, and a reason.

    Raises InvalidDuration for words that look like a duration but aren't one.
    """
    words = read_words(text)
    lasting, taken = read_lasting([word.time for word in words])
    return Asked(text_of(text, words[taken:]), lasting)


def read_resume(words: Words) -> TypedCommand:
    """Read the target and a reason; a lone word is no reason, it may be a name with a mistake."""
    while words.rest and (words.rest[-1].is_emoji or words.rest[-1].bare in POLITE):
        words.rest.pop()
    _skip_the_pause(words)
    said = [word for word in words.rest if word.bare not in POLITE and not word.is_punctuation]
    # "the api queue" is no more than "api".
    names = [word for word in said if word.bare not in BEFORE_NAME and word.bare != NOW]
    if len(names) == 1:
        word = names[0]
        named = words.named(word)
        if named is not None and (named.is_bare or len(said) == 1):
            return TypedCommand("resume", words.only_target(word, named))
    where, _ = _place(words)
    words.refuse_further_names(where)
    _refuse_later(words, where)
    if len(words.rest) > 1:
        _refuse_one_pull_request(words, where, "why")
    if where is None and words.rest and not words.is_settled:
        _refuse_similar(words, words.rest[0], is_alone=len(said) == 1)
    left = [word for word in words.rest if word.bare not in POLITE]
    if where is None and len(said) == 1 and left:
        problem = f"I don't know a repository “{said[0].typed}”."
        is_reason = said[0].bare in WELL | {"back", "over", "recovered", "resolved"}
        instead = (f"resume because {said[0].plain}",) if is_reason else ()
        raise CommandSyntaxError(problem, "resume", instead)
    reason = words.reason(where)
    return TypedCommand("resume", where, {"reason": reason} if reason else {})


def _skip_the_pause(words: Words) -> None:
    """Read "the pause" in `resume the pause of api`; "pause is over" is a reason."""
    count = 2 if [word.bare for word in words.rest[:1]] == ["the"] else 1
    said = [word.bare for word in words.rest[count - 1 : count + 1]]
    if said == ["pause"] or said in (["pause", "of"], ["pause", "on"], ["pause", "in"]):
        words.skip(count)


def _says_later(words: Words) -> bool:
    """Whether the words that are left are a time, or a condition."""
    # "at 5pm acme/api": the name may also stand behind the time.
    behind = _behind_the_queue(words)
    named = [named_by(word, words.groups) for word in behind]
    left = [
        word
        for word, name in zip(behind, named, strict=True)
        if name is None or not name.is_certain or name.says_more
    ]
    times = [word.time for word in left if word.bare != "at"]
    try:
        begun = read_beginning(times, is_end=True)
    except InvalidDuration as error:
        if error.problem is DurationProblem.TWO_ENDS:
            # "at 5pm for 2h"
            return True
        begun = None
    is_marked = bool(left) and left[0].bare in _BEFORE_A_TIME | {FOR, UNTIL_WORD}
    is_whole = begun is not None and begun.words >= len(times)
    is_length = begun is not None and begun.is_sure and isinstance(begun.readings[0], For)
    is_time = is_whole or (begun is not None and is_marked and bool(begun.readings)) or is_length
    is_hour = len(left) == WORD_AND_HOUR and is_marked and is_number_alone(left[1].bare)
    return is_time or is_hour or start_meant(left) is not None or _says_not_now(words)


_BEFORE_A_TIME = frozenset({"after", "around", "at", "before", "by", "in"})
"""In `resume in 5`."""


def _refuse_later(words: Words, where: Target | None) -> None:
    """Raises CommandSyntaxError for words that say when to resume, which are no reason."""
    if not _says_later(words):
        return
    as_reason = _with_reason(words, where)
    instead = [*as_reason, _with_where("extend", where), _with_where("resume", where)]
    if _behind_the_queue(words)[0].bare == "after":
        # "After the deploy" more likely says when.
        instead = [_with_where("extend", where), *as_reason, _with_where("resume", where)]
    said = "I resume a queue right away. To resume it later, set the end of its pause."
    raise CommandSyntaxError(said, "resume", tuple(instead))


def _refuse_similar(words: Words, word: Word, *, is_alone: bool) -> None:
    """Raises RepositoryNotAllowed for a word that is almost the name of a repository.

    `is_alone`: it begins no reason, so it can hardly be anything else.
    """
    names = words.groups.repositories.names
    known = [name.lower().rpartition("/")[2] for name in names]
    if get_close_matches(word.bare, known, n=1, cutoff=0.7 if is_alone else 0.8):
        raise RepositoryNotAllowed(word.plain, names)


AROUND_EXTENSION = frozenset(
    {
        *("a", "additional", "by", "extra", "further", "longer", "more", "to", "another"),
        *("add", "end", "give", "it", "its", "make", "me", "need", "of", "pause", "queue"),
        *("queues",),
        *("repos", "repositories", "the", "this"),
        *("time", "us", "we"),
        *POLITE,
    }
)
_UNIT_WORDS = frozenset({"day", "hour", "minute", "week"})
_ENDLESS = ("forever", "indefinitely")


_AROUND_TAKEOVER = frozenset(
    {"for", "from", "it", "now", "of", "pause", "pauses", "queue", "that", "the", "this", *POLITE}
)


def read_takeover(words: Words) -> TypedCommand:
    where = words.target_anywhere()
    for word in words.rest:
        if not (word.is_punctuation or word.is_emoji or word.bare in _AROUND_TAKEOVER):
            raise words.not_understood(word)
    return TypedCommand("takeover", where)


def read_notify(words: Words) -> TypedCommand:
    where = words.target_anywhere()
    if words.rest:
        raise words.problem("I can notify you, and nobody else, once a paused queue resumes.")
    return TypedCommand("notify", where)


def read_extend(words: Words) -> TypedCommand:
    """Read the target and an end in any order, as in "extend it by another hour".

    `lasting` is None where a form asks for it, and where the pause is to have no end.
    """
    where = words.target_anywhere()
    is_endless = any(words.take_anywhere(word) for word in _ENDLESS)
    thread = words.situation.thread
    is_of_freeze = thread is not None and thread.freeze_id is not None
    around = AROUND_EXTENSION | {"freeze"} if is_of_freeze else AROUND_EXTENSION
    end = end_words(words.rest, around)
    lasting = _read_new_end(end, where) if end and not is_endless else None
    return TypedCommand("extend", where, {"lasting": lasting, "is_endless": is_endless})


def end_words(words: Sequence[Word], around: Collection[str]) -> list[str]:
    """The words of an end, without those `around` it: "another hour" is "1 hour".

    "To 5pm" is "until 5pm"; without a time, there is no end.
    """
    end: list[str] = []
    for word in words:
        if word.bare in _UNIT_WORDS and end in ([], [FOR]):
            end.append("1")
        if word.bare == "to" and not end:
            end.append(UNTIL_WORD)
            continue
        is_within = bool(end) and word.bare in {"a", "end", "of"}
        is_joined = word.bare == "to" and bool(end) and (end[-1] == "up" or end[0] == FROM_WORD)
        if is_within or is_joined or word.bare not in around:
            end.append(word.time.lstrip("+").rstrip("?"))
    return end if end != [UNTIL_WORD] else []


_BEFORE_AN_END = frozenset({"till", UNTIL_WORD, "up"})
_HAS_DIGIT = re.compile(r"\d")


def _read_new_end(end: Sequence[str], where: Target | None) -> Lasting:
    """Raises InvalidDuration; of an end that may mean several times, with a command for each."""
    text = " ".join(end)
    unclear = InvalidDuration(DurationProblem.UNCLEAR, text)
    if len(end) == 1 and end[0].isdecimal():
        # "Another 30"; "5" may also be the hour at which it is to end.
        lengths = map(written, lengths_of_number(int(end[0][:6])))
        _offer(unclear, where, (*lengths, *ends_meant(end)))
        raise unclear
    try:
        lasting = read_end(text)
    except InvalidDuration as error:
        meant = ends_meant(end) or _end_in_front(end) or _longer_by(end)
        is_event = error.problem == DurationProblem.UNCLEAR and not _HAS_DIGIT.search(text)
        if not meant and is_event and end[0].lower() in _BEFORE_AN_END:
            # "Until fixed": nobody can say when that is.
            meant = _ENDLESS[:1]
        _offer(error, where, meant)
        raise
    if isinstance(lasting, For) and end[0].lower() in _BEFORE_AN_END:
        # "To 3 hours": by three hours, or so that it is three hours long.
        _offer(unclear, where, [written(lasting)])
        raise unclear
    return lasting


def _offer(error: InvalidDuration, where: Target | None, meant: Sequence[str]) -> None:
    """Offer the command for each end that may be meant."""
    target = [target_value(where)] if where is not None else []
    error.instead = tuple(" ".join(("extend", *target, end)) for end in meant)


def _end_in_front(words: Sequence[str]) -> tuple[str, ...]:
    """The end in front of other words: "1h still broken"."""
    try:
        found = read_beginning(words, is_end=True)
    except InvalidDuration:
        return ()
    return (" ".join(words[: found.words]),) if found is not None and found.is_sure else ()


def _longer_by(words: Sequence[str]) -> tuple[str, ...]:
    """How much longer it is to be: "from 2h to 3h" is 1 hour."""
    if words[0] != FROM_WORD or "to" not in words:
        return ()
    middle = words.index("to")
    try:
        before = read_end(" ".join(words[1:middle]))
        after = read_end(" ".join(words[middle + 1 :]))
    except InvalidDuration:
        return ()
    if not isinstance(before, For) or not isinstance(after, For) or after.length <= before.length:
        return ()
    return (written(For(after.length - before.length)),)


def ends_meant(end: Sequence[str]) -> tuple[str, ...]:
    """What the words of an end may mean, likeliest first; one if they are clear, none if no end."""
    try:
        found = read_beginning(end, is_end=True)
    except InvalidDuration:
        return ()
    if found is None or found.words < len(end):
        return ()
    return (" ".join(end),) if found.is_sure else tuple(map(written, found.readings))


def read_freeze(words: Words) -> TypedCommand:
    """Read the target before or after the times, and the reason; options may be anywhere.

    `now` as in `read_pause`.
    """
    options, _ = read_conditions([typed for typed in words.plain if is_option(typed)])
    words.rest = [word for word in words.rest if not is_option(word.plain)]
    where, is_confirmed = _place(words, options)
    times, taken = _read_times(words, where)
    unsure = words.rest[:taken] if _may_begin_then(words, times) else []
    if unsure:
        times = NOTHING_ASKED
    asked = replace(times, branches=options.branches, excepted=options.excepted)
    words.skip(taken)
    if taken:
        where = where or words.target_in_front()
        is_confirmed = is_confirmed or _take_now(words)
    words.rest = [*unsure, *words.rest]
    words.refuse_further_names(where)
    _refuse_branch(words, where, asked)
    _refuse_exception(words)
    _refuse_not_now(words, where, asked)
    _refuse_other_command(words, where, asked)
    _refuse_one_pull_request(words, where, "remove", asked)
    asked = replace(asked, reason=words.reason(where))
    return TypedCommand("freeze", where, {"asked": asked, "is_confirmed": is_confirmed})


def _may_begin_then(words: Words, times: Asked) -> bool:
    """Whether a time such as "tomorrow 9am" may also say when a freeze begins."""
    is_moment = times.start is None and isinstance(times.lasting, Until)
    return is_moment and not (says_until(words.times) or words_for_now(words.times))


def _refuse_exception(words: Words) -> None:
    """Raises CommandSyntaxError for "except #41" in a reason: that isn't how it is typed.

    Also for "except hotfix" in front of it.
    """
    rest = words.rest
    begun = next((at for at, word in enumerate(rest) if word.bare in _EXCEPTS), len(rest))
    said: list[Word] = []
    numbers: list[str] = []
    for word in rest[begun:]:
        is_named = named_by(word, words.groups) is not None
        number = None if is_named else read_number(word.plain)
        if number is not None:
            numbers.append(f"except:#{number}")
        elif not (_is_between(word) or word.bare in _EXCEPTS | {"for", "not"}):
            break
        said.append(word)
    if numbers:
        problem = "Type a pull request that may merge during the freeze like this: except:#41."
        offered = ("freeze", words.text_without(said), *numbers)
        raise CommandSyntaxError(problem, "freeze", (" ".join(filter(None, offered)),))
    label = next((word for word in rest if word.bare not in _AROUND_A_LABEL), None)
    if label is not None and rest[0].bare in _SURELY_EXCEPTS and not label.is_name:
        said = rest[: rest.index(label) + 1]
        problem = "Type a label whose pull requests may merge like this: except:hotfix."
        offered = ("freeze", words.text_without(said), f"{EXCEPT}{label.plain}")
        raise CommandSyntaxError(problem, "freeze", (" ".join(filter(None, offered)),))


_SURELY_EXCEPTS = frozenset({"except", "excluding"})
_EXCEPTS = _SURELY_EXCEPTS | {"but", "without"}
_AROUND_A_LABEL = _SURELY_EXCEPTS | {
    *("by", "for", "from", "label", "labeled", "labelled", "labels", "of", "pr", "prs", "pull"),
    *("request", "requests", "that", "the", "with"),
}
"""In `freeze 2h except for the label hotfix`."""


def read_unfreeze(words: Words) -> TypedCommand:
    where, _ = _place(words)
    words.refuse_further_names(where)
    if _says_later(words):
        said = "I end a freeze right away, and can't wait for anything."
        instead = (*_with_reason(words, where), _with_where("unfreeze", where))
        raise CommandSyntaxError(said, "unfreeze", instead)
    _refuse_one_pull_request(words, where, "allow")
    _refuse_which_freeze(words, where)
    return TypedCommand("unfreeze", where, {"reason": words.reason(where)})


def _refuse_which_freeze(words: Words, where: Target | None) -> None:
    """Raises CommandSyntaxError for "main", "branch:main" and "friday's freeze": no reasons."""
    said = [word.bare for word in words.rest if word.bare not in POLITE]
    is_pair = len(said) == len(("main", "branch")) and "branch" in said
    is_branch = is_pair or (len(said) == 1 and said[0] in SAYS_A_BRANCH)
    is_option = bool(said) and said[0].startswith(("branch:", "branch="))
    is_freeze = len(said) > 1 and said[-1] in {"freeze", "freezes"} and len(said) <= _FEW_WORDS
    if words.is_settled or not (is_branch or is_option or is_freeze):
        return
    problem = "Which freeze? Choose it in the form, or in the list of freezes."
    raise CommandSyntaxError(problem, "unfreeze", (_with_where("unfreeze", where),))


_FEW_WORDS = 3
"""In a longer reason a freeze may be mentioned."""


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
        number = _read_pull_request(word, words.groups)
        if named is not None and where is None:
            where = words.only_target(word, named)
        elif number is None and not _is_between(word):
            break
        words.skip()
    here = words.situation.pull_request_meant(where)
    if number is None and here is not None:
        where = here.repository
        number = here.number
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
    number = _read_pull_request(word, words.groups)
    is_marked = place > 0 or not word.plain.isdecimal() or len(words.rest) == 1
    is_listed = words.text[: word.start].rstrip().endswith(",")
    if number in {None, first} or not (is_marked or is_listed):
        return
    other = words.only_target(word, named) if named is not None else where
    behind = text_of(words.text, words.rest[place + 1 :])
    said = f"I take one pull request at a time, and “{word.typed}” is another one."
    offered = tuple(
        f"{_with_where(words.verb, target)} {allowed} {behind}".rstrip()
        for target, allowed in ((where, first), (other, number))
    )
    raise CommandSyntaxError(said, words.verb, offered)


def _is_between_numbers(word: Word) -> bool:
    return _is_between(word) or word.folded in {"&", "+"}


def read_unsubscribe(words: Words) -> TypedCommand:
    request = read_subscription(words, "unsubscribe")
    options = request.options["options"]
    if options.style is not None:
        raise words.problem("style: and digest: are for subscribe.")
    if options.level is not None:
        said = f"{options.level} is for subscribe. Name the topics to leave out."
        instead = (_with_where("unsubscribe", request.where),)
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
