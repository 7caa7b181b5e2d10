"""Commands that change a pause's end or responsible person: how their words are read."""

import re
from collections.abc import Collection, Sequence

from bot.desk.readers.typed_command import TypedCommand
from bot.desk.words import POLITE, Words
from bot.kernel.durations import FOR, UNTIL_WORD, DurationProblem, For, Lasting, written
from bot.kernel.ends.lengths import lengths_of_number
from bot.kernel.ends.phrases import read_beginning, read_end
from bot.kernel.ends.spans import FROM_WORD
from bot.kernel.errors import InvalidDuration
from bot.kernel.groups import Target, target_value
from bot.kernel.typed import Word

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
