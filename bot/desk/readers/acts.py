"""Commands that begin and end a pause or a freeze: how their words are read."""

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple, NoReturn

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
from bot.desk.names import named_by, read_number
from bot.desk.readers.pull_requests import is_between, refuse_one_pull_request
from bot.desk.readers.typed_command import BEGINNING, NOW, TypedCommand, with_times, with_where
from bot.desk.starts import Start, start_meant, times_of_start
from bot.desk.words import BEFORE_NAME, POLITE, SAYS_A_BRANCH, WELL, Words, the_queue
from bot.kernel.durations import FOR, UNTIL_WORD, DurationProblem, For, Until, written
from bot.kernel.ends.doubts import WORD_AND_HOUR, is_number_alone
from bot.kernel.ends.phrases import read_beginning, read_lasting, says_until
from bot.kernel.ends.spans import (
    BEFORE_A_START,
    FROM_WORD,
    possible_spans,
    read_span,
    words_for_now,
)
from bot.kernel.errors import CommandSyntaxError, InvalidDuration, RepositoryNotAllowed
from bot.kernel.groups import Group, Target
from bot.kernel.typed import Word, read_words, text_of


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
    refuse_one_pull_request(words, where, "remove", times)
    asked = replace(times, reason=words.reason(where))
    return TypedCommand("pause", where, {"asked": asked, "is_confirmed": is_confirmed})


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
    refuse_one_pull_request(words, where, "remove", asked)
    asked = replace(asked, reason=words.reason(where))
    return TypedCommand("freeze", where, {"asked": asked, "is_confirmed": is_confirmed})


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
        refuse_one_pull_request(words, where, "why")
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


def read_unfreeze(words: Words) -> TypedCommand:
    where, _ = _place(words)
    words.refuse_further_names(where)
    if _says_later(words):
        said = "I end a freeze right away, and can't wait for anything."
        instead = (*_with_reason(words, where), with_where("unfreeze", where))
        raise CommandSyntaxError(said, "unfreeze", instead)
    refuse_one_pull_request(words, where, "allow")
    _refuse_which_freeze(words, where)
    return TypedCommand("unfreeze", where, {"reason": words.reason(where)})


def read_asked(text: str) -> Asked:
    """Read an end, if the text begins with one, and a reason.

    Raises InvalidDuration for words that look like a duration but aren't one.
    """
    words = read_words(text)
    lasting, taken = read_lasting([word.time for word in words])
    return Asked(text_of(text, words[taken:]), lasting)


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
        meant.append(f"{with_where('freeze', where)} {asked.written}")
        if words.verb != "freeze" and length is None:
            # A pause can't begin later.
            asked = replace(asked, start=None)
            meant.append(f"{with_where(words.verb, where)} {asked.written}")
    if length is not None and spans:
        # What looks like a start may begin the reason: "2h on friday we ship".
        at_once = f"{with_where(words.verb, where)} {written(length.lasting)}"
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


def _may_begin_then(words: Words, times: Asked) -> bool:
    """Whether a time such as "tomorrow 9am" may also say when a freeze begins."""
    is_moment = times.start is None and isinstance(times.lasting, Until)
    return is_moment and not (says_until(words.times) or words_for_now(words.times))


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
    freeze = [with_where("freeze", where), FROM_WORD, *start]
    pause = [with_where(words.verb, where), *end, *said[taken:]]
    raise CommandSyntaxError(BEGINS_NOW, words.verb, (" ".join(freeze), " ".join(pause)))


WINDOWS = "To repeat it, set a recurring window: `MQBOT_WINDOW` in the settings file."


def _refuse_not_now(words: Words, where: Target | None, asked: Asked) -> None:
    """Raises CommandSyntaxError for a pause or a freeze that is to wait for something.

    `asked`: the times that stand in front, as in "2h starting at 5pm".
    """
    left = _behind_the_queue(words)
    start = start_meant(left)
    if words.is_settled or (start is None and not _says_not_now(words)):
        return
    times = [word.plain for word in times_of_start(left) or ()] if start is Start.LATER else []
    at_once = [with_times(words.verb, where, asked)]
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
        freeze = [with_where("freeze", where), FROM_WORD, *times]
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


_ON_CONDITION = frozenset({"if", "later", "once", "unless", "when"})
_SOON = frozenset({"eventually", "later", "shortly", "sometime", "soon"})
_AROUND_SOON = _SOON | {"a", "bit", "little", "much", "on", "or", "some", "time", "very"}
_MOMENTS = (["bit"], ["moment"], ["sec"], ["second"], ["while"])
_NOT = frozenset({"not", "never"})
_NOW_OR_NEVER = frozenset({"anymore", "ever", "now", "today", "yet"})


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


_BEFORE_A_TIME = frozenset({"after", "around", "at", "before", "by", "in"})
"""In `resume in 5`."""


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


def _refuse_later(words: Words, where: Target | None) -> None:
    """Raises CommandSyntaxError for words that say when to resume, which are no reason."""
    if not _says_later(words):
        return
    as_reason = _with_reason(words, where)
    instead = [*as_reason, with_where("extend", where), with_where("resume", where)]
    if _behind_the_queue(words)[0].bare == "after":
        # "After the deploy" more likely says when.
        instead = [with_where("extend", where), *as_reason, with_where("resume", where)]
    said = "I resume a queue right away. To resume it later, set the end of its pause."
    raise CommandSyntaxError(said, "resume", tuple(instead))


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
    return (f"{with_where(words.verb, where)} because {text_of(words.text, left)}",)


def _behind_the_queue(words: Words) -> Sequence[Word]:
    """The words that are left, without "the queue", "it" or "the pause" in front of them."""
    left = [word for word in words.rest if not word.is_punctuation and word.bare not in POLITE]
    left = left[the_queue(left) :]
    pause = next((at for at, word in enumerate(left) if word.bare != "the"), len(left))
    is_pause = pause < len(left) and left[pause].bare in {"pause", "freeze"}
    return left[pause + 1 :] if is_pause else left


def _skip_the_pause(words: Words) -> None:
    """Read "the pause" in `resume the pause of api`; "pause is over" is a reason."""
    count = 2 if [word.bare for word in words.rest[:1]] == ["the"] else 1
    said = [word.bare for word in words.rest[count - 1 : count + 1]]
    if said == ["pause"] or said in (["pause", "of"], ["pause", "on"], ["pause", "in"]):
        words.skip(count)


def _refuse_similar(words: Words, word: Word, *, is_alone: bool) -> None:
    """Raises RepositoryNotAllowed for a word that is almost the name of a repository.

    `is_alone`: it begins no reason, so it can hardly be anything else.
    """
    names = words.groups.repositories.names
    known = [name.lower().rpartition("/")[2] for name in names]
    if get_close_matches(word.bare, known, n=1, cutoff=0.7 if is_alone else 0.8):
        raise RepositoryNotAllowed(word.plain, names)


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

_HELP = frozenset({"help", "h"})
_ASKS_FOR_STATUS = frozenset({"list", "status"})
ENDED_WITH = "A pause ends with resume, and a freeze with unfreeze."


def _refuse_taken_back(words: Words, where: Target | None, times: Asked = NOTHING_ASKED) -> None:
    """Raises CommandSyntaxError for "pause nevermind" and "resume, wait, no"."""
    said = [word.bare for word in words.rest if not word.is_punctuation]
    is_ending = words.verb not in BEGINNING
    taken_back = _TAKES_BACK - _EXPLAINS_AN_END if is_ending else _TAKES_BACK
    if words.is_settled or taken_back.isdisjoint(said):
        return
    if _AROUND_TAKEN_BACK.issuperset(said):
        typed = text_of(words.text, words.rest)
        raise CommandSyntaxError(
            f"“{typed}” is hardly a reason.", words.verb, (with_times(words.verb, where, times),)
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
        raise CommandSyntaxError(ENDED_WITH, words.verb, (with_where(ending, where),))
    if len(said) > 1:
        return
    if said[0] in _HELP:
        offered = f"help {words.verb}"
    elif said[0] in _ASKS_FOR_STATUS:
        offered = with_where("freezes" if words.verb == "freeze" else "status", where)
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
    started = with_times(words.verb, where, times)
    value = option["long"] or option["short"] or option["alone"] or ""
    without = " ".join(word for word in (started, value, behind) if word)
    return CommandSyntaxError(said, words.verb, (without, f"{started} because {typed}"))


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
        instead.append(with_times(words.verb, where, times))
        said = "I can pause a queue, but not one branch of it. A freeze can be of one branch."
    raise CommandSyntaxError(said, words.verb, tuple(instead))


_BRANCH = re.compile(r"(^|\s)(?:--branch(?:[:=]|\s+)|branch[:=])(?=\S)", re.IGNORECASE)


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
        elif not (is_between(word) or word.bare in _EXCEPTS | {"for", "not"}):
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
    raise CommandSyntaxError(problem, "unfreeze", (with_where("unfreeze", where),))


_FEW_WORDS = 3
"""In a longer reason a freeze may be mentioned."""
