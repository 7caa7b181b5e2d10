"""Other ways to say a command: polite, as a question, with a synonym or a slip of the fingers.

What only reads may be run as it is understood. What changes something is offered instead.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise

from bot.acts.permission import Right
from bot.desk.names import named_by, read_number
from bot.desk.readers.acts import ENDED_WITH
from bot.desk.readers.extensions import AROUND_EXTENSION, end_words, ends_meant
from bot.desk.situation import Situation
from bot.desk.table import CLOSE, COMMAND_BY_WORD, VERY_CLOSE, nearest_verbs
from bot.desk.words import EVERYTHING, POLITE, the_queue
from bot.kernel.durations import UNTIL_WORD, Until
from bot.kernel.ends.phrases import read_end
from bot.kernel.groups import ALL, target_value
from bot.kernel.typed import Word, command_words, text_of
from bot.people.notices import Notice

_COURTESIES = tuple(
    tuple(phrase.split())
    for phrase in (
        *("hey", "hi", "hello", "yo", "ok", "okay", "so", "and", "then", "just", "kindly"),
        *("please", "pls", "plz", "could you", "can you", "would you", "will you", "can u"),
        *("can we", "could we", "let's", "lets", "let us", "i want to", "i'd like to"),
        *("i would like to", "we need to", "i need to", "we want to", "we have to", "go ahead and"),
    )
)
"""In front of a command they mean nothing."""

FEW_WORDS = 2
"""In a longer text the first word is rarely a verb with a slip."""

_NEGATIONS = frozenset({"don't", "dont", "not", "never", "no", "nobody", "without"})


def without_courtesies(typed: str, called: Collection[str]) -> str:
    """The command without what people say in front of one, such as "hey, can you"."""
    words = command_words(typed, called)
    rest = words
    while rest:
        count = _courtesy(rest)
        if not count:
            break
        rest = rest[count:]
    if words and not rest:
        return "help"
    return typed[rest[0].start :] if len(rest) < len(words) else typed


def _courtesy(words: Sequence[Word]) -> int:
    """How many words the courtesy takes that they begin with."""
    if words[0].is_punctuation or words[0].is_name or words[0].is_emoji:
        return 1
    said = tuple(word.bare for word in words[:4])
    return max((len(phrase) for phrase in _COURTESIES if said[: len(phrase)] == phrase), default=0)


DIRECT_OFF = "me dm off"
_MUTE = frozenset({"mute", "silence", "quiet"})
_STOP = _MUTE | {"stop", "unsubscribe"}
_GO_ON = frozenset({"unmute", "start"})
_ABOUT_MESSAGES = frozenset(
    {
        *("me", "us", "it", "this", "these", "them", "please", "now", "from", "the", "your"),
        *("message", "messages", "messaging", "notification", "notifications"),
        *("about", "and", "my", "ping", "pinging", "pings", "spam", "spamming", "those", "with"),
        *("notify", "notifying", "sending", "texting", "direct", "dm", "dms", "bot", "alerts"),
    }
)
"""What may follow a word about messages: "stop sending me messages"."""

_MESSAGES = frozenset(
    {
        *("alerts", "dm", "dms", "message", "messages", "messaging", "notification"),
        *("notifications", "notifying", "ping", "pinging", "pings", "reminder", "reminders"),
        *("reminding", "sending", "spam", "spamming"),
    }
)
"""With one of these, "stop" and "pause" can't be about a queue."""

_HOW_MANY = frozenset({"all", "any", "every", "everything", "more", "of"})

_NAMED_NOTICES = tuple(notice for notice in Notice if notice is not Notice.MERGE)
"""Kinds of messages that have a name of their own; "stop merges" may be about the queue."""


def _names_of(notice: Notice) -> set[str]:
    names = {notice.value, notice.value.removesuffix("s")}
    return names | {"reminding"} if notice is Notice.REMINDER else names


def about_messages(typed: str, called: Collection[str]) -> str:
    """The command meant in direct messages, where *stop* and *mute* are about these messages."""
    words = command_words(typed, called)
    if not words:
        return typed
    states = [word.bare for word in words if word.bare in {"on", "off"}]
    kinds_said = [word.bare for word in words if word.bare not in {"on", "off", "turn", "switch"}]
    if len(states) == 1 and len(kinds_said) == 1:
        # "Notifications off", "turn off messages".
        is_about = kinds_said[0] in _ABOUT_MESSAGES and kinds_said != ["me"]
        return f"me dm {states[0]}" if is_about else typed
    said = [word.bare for word in words[1:]]
    is_pause_of_messages = words[0].bare == "pause" and bool(_MESSAGES.intersection(said))
    if words[0].bare not in _STOP | _GO_ON and not is_pause_of_messages:
        return typed
    state = "on" if words[0].bare in _GO_ON else "off"
    kinds = [notice for notice in _NAMED_NOTICES if _names_of(notice) & {*said}]
    rest = [name for name in said if not any(name in _names_of(kind) for kind in kinds)]
    if any(name not in _ABOUT_MESSAGES | _HOW_MANY for name in rest):
        return typed
    if words[0].bare not in _MUTE and rest and not kinds and _HOW_MANY.issuperset(rest):
        # "stop all" may be about the queues.
        return typed
    return f"me {' '.join(notice.value for notice in kinds) or 'dm'} {state}"


ASKING = frozenset(
    {
        *("a", "about", "all", "am", "an", "any", "anybody", "anyone", "anything", "are", "aren't"),
        *("at", "be", "been", "but", "by", "can", "can't", "could", "currently", "did", "didn't"),
        *("do", "does", "doesn't", "doing", "everything", "for", "from", "get", "getting", "give"),
        *("go", "going", "got", "has", "hasn't", "have", "haven't", "how", "how's", "hows", "i"),
        *("i'm", "in", "is", "isn't", "isnt", "it", "it's", "its", "just", "know", "let", "long"),
        *("longer", "many", "may", "me", "much", "my", "mine", "no", "not", "now", "of", "ok"),
        *("okay", "on", "or", "our", "out"),
        *("right", "see", "show", "so", "somebody", "someone", "something", "still"),
        *("take", "taking", "takes", "tell", "that", "that's", "the", "there", "they", "this"),
        *("to", "today", "tomorrow", "tonight", "us", "was", "we", "were", "what", "what's"),
        *("whats", "when", "where"),
        *("where's", "which", "who", "who's", "whose", "why", "will", "with", "won't", "wont"),
        *("yet", "you", "again", "already", "happen", "happened", "happening", "wrong", "up"),
        *("queue", "queues", "merge", "merged", "merges", "merging", "train", "repo", "main"),
        *("repository", "nothing", "anything", "state", "status", "wait", "waiting", "queued"),
        *("stuck", "blocked", "paused", "running", "broken", "down", "moving", "closed"),
        *("stopped", "slow", "busy", "full", "empty", "deep", "working", "alive", "behind", "off"),
        *("resume", "resumed", "resumes", "ends", "end", "since", "until", "ahead"),
        *POLITE,
    }
)
"""Words of which questions about queues and pull requests are made."""

_QUEUE_WORDS = frozenset(
    {
        *("queue", "queues", "train", "state", "status", "stuck", "blocked", "paused", "running"),
        *("broken", "down", "moving", "stopped", "slow", "working", "nothing", "merging", "merges"),
        *("happening", "happened", "wrong", "going", "resume", "resumes", "up", "closed"),
        *("waiting", "queued", "full", "empty", "busy", "merge"),
    }
)
"""One of these has to be there, unless a queue is named."""

_VERDICT_WORDS = frozenset(
    {"why", "stuck", "blocked", "slow", "nothing", "wrong", "broken", "long"}
)
"""People who ask this want to know why, not only how things are."""

_PULL_REQUEST_WORDS = frozenset(
    {
        *("pr", "prs", "mr", "pull", "request", "requests", "change", "left", "land", "landed"),
        *("bounced", "dropped", "ejected", "eta", "evicted", "leave", "leaves", "place"),
        *("position", "rejected"),
        *("fail", "failed", "failing", "fails", "kicked", "removed", "thrown", "dequeued"),
        *("flake", "flaky"),
    }
)
_FREEZE_WORDS = frozenset(
    {"freeze", "freezes", "freezing", "frozen", "planned", "next", "scheduled", "window", "windows"}
)
_PAUSE_WORDS = frozenset({"pause", "paused", "pausing"})
_WHO_AND_WHY = frozenset({"who", "who's", "why"})
_ASKS_ABOUT_PAUSE = frozenset(
    {"did", "has", "have", "how", "when", "what", "what's", "until", "is", "was", "since"}
)
"""A question that begins like this doesn't ask the bot to pause."""

_TELLING = frozenset(
    {"notify", "notified", "ping", "dm", "message", "alert", "inform", "remind", "tell", "let"}
)
_ASKING_WHEN = frozenset({"will", "does", "do", "who", "anyone", "anybody", "us"})
"""With one of these it asks for the time, or for somebody else: "do you know when it resumes"."""

_ONCE = frozenset({"when", "once", "after", "as", "soon", "if"})
_RESUMED = frozenset(
    {"resume", "resumes", "resumed", "resuming", "unpause", "unpaused", "unpauses", "unblocked"}
)
_GOES_ON = frozenset(
    {
        *("again", "back", "clear", "end", "ended", "ends", "flowing", "goes", "going", "lifted"),
        *("moves", "moving", "open", "opens", "over", "reopens", "running", "runs", "start"),
        *("started", "starts"),
    }
)
_QUEUE_NOUNS = frozenset({"queue", "queues", "pause", "merging", "merges", "train"})
_PERSON_WORDS = frozenset({"my", "mine"})
_THIS_ONE = frozenset({"it", "this", "that"})
_SHORT = frozenset({"why", "what", "happened", "what's", "wrong", "how", "come"})
_HELP_WORDS = frozenset({"help", "commands", "usage", "examples", "manual", "docs", "use", "work"})


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says, apart from politeness."""

    words: Sequence[Word]
    plain: frozenset[str]  #: its words, in small letters, without names and numbers
    targets: tuple[str, ...]  #: the queues and groups that it names
    numbers: tuple[int, ...]  #: of pull requests

    @classmethod
    def of(cls, typed: str, situation: Situation) -> "Said":
        words = [
            word
            for word in command_words(typed, situation.called)
            if not (word.is_punctuation or word.is_name or word.is_emoji)
        ]
        plain: list[str] = []
        targets: dict[str, None] = {}
        numbers: dict[int, None] = {}
        before = ""
        for word in words:
            named = named_by(word, situation.groups)
            number = read_number(word.plain) if named is None else named.pull_request
            if number is not None and _is_hour(before, word, situation):
                number = None
            before = before if word.bare in _DAYS else word.bare
            is_issue = named is not None and named.issue is not None
            if named is not None and len(named.targets) == 1 and not is_issue:
                targets[target_value(named.targets[0])] = None
            elif number is None and not _is_plain_number(word):
                plain.append(word.bare)
            if number is not None:
                numbers[number] = None
        return cls(words, frozenset(plain), tuple(targets), tuple(numbers))

    def is_made_of(self, *vocabularies: Collection[str]) -> bool:
        """Whether all its words are known, but for slips in longer ones."""
        known = set[str]().union(*vocabularies)
        return all(word in known or _is_slip(word, known) for word in self.plain)


_UNTIL = frozenset({"until", "till", "til"})
_BEFORE_HOUR = _UNTIL | {"around", "at", "before", "by"}
"""In the thread of a pause or a freeze: "end it at 6"."""

_DAYS = frozenset(
    {
        *("today", "tomorrow", "tonight", "mon", "tue", "wed", "thu", "fri", "sat", "sun"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    }
)
"""May stand between "until" and an hour."""


def _is_hour(before: str, word: Word, situation: Situation) -> bool:
    """Whether the number behind that word is a time of day, and no pull request's."""
    marks = _BEFORE_HOUR if _is_about_end(situation) else _UNTIL
    return before in marks and _is_plain_number(word)


def _is_plain_number(word: Word) -> bool:
    """Not `#6`, which only a pull request has."""
    return word.bare.isdecimal() and word.plain.startswith(word.bare)


def _is_about_end(situation: Situation) -> bool:
    """Whether an end alone is meant for something: in the thread of a pause or a freeze."""
    thread = situation.thread
    return thread is not None and (thread.is_pause or thread.freeze_id is not None)


_SLIPS_FROM = 4
"""Letters of a word in which a slip is looked for."""

_SLIP = 0.8
"""The similarity of a word with a slip."""


def _is_slip(word: str, known: Collection[str]) -> bool:
    """Whether it is one of the words with a slip, most often two letters swapped."""
    if word in COMMAND_BY_WORD:
        return False
    if any(sorted(word) == sorted(other) for other in known):
        return True
    return len(word) >= _SLIPS_FROM and bool(get_close_matches(word, known, 1, _SLIP))


def question(said: Said, typed: str, situation: Situation) -> str | None:
    """The command that answers a question, which only reads; None for what is no such question."""
    is_one = len(said.targets) <= 1 and len(said.numbers) <= 1
    is_act = bool(_take_over(said, situation) or _new_ends(said, situation))
    if not is_one or not said.words or is_act:
        return None
    shown = _asked_to_show(said, typed, situation)
    if shown is not None or _begins_like_a_command(said.words):
        return shown
    helpful = (
        _for_help(said)
        or _about_resuming(said, typed, situation)
        or _about_pull_request(said, situation)
    )
    if helpful is not None:
        return helpful
    said = _about_pause(said)
    meant = situation.target_meant("status")
    is_of_all = bool(said.plain & {"everything", "everywhere"})
    own = target_value(meant) if meant is not None and not is_of_all else ALL
    target = f" {said.targets[0] if said.targets else own}"
    in_thread = situation.thread is not None and situation.thread.is_pause
    is_about_queue = bool(said.plain & _QUEUE_WORDS) or bool(said.targets) or in_thread
    is_about_freeze = bool(said.plain & _FREEZE_WORDS) or (
        _is_in_thread_of_freeze(situation) and said.words[0].bare in _ASKS - {"why"}
    )
    if is_about_freeze and said.is_made_of(ASKING, _FREEZE_WORDS):
        return f"freezes{target}"
    if said.is_made_of(ASKING) and is_about_queue:
        verb = "why" if said.plain & _VERDICT_WORDS else "status"
        return f"{verb}{target}"
    return None


def _about_pause(said: Said) -> Said:
    """A question about a pause, without the verb that would ask for one.

    Who paused it, and why, may be asked with a name: "why did bob pause it".
    """
    if not said.plain & _PAUSE_WORDS:
        return said
    first = said.words[0].bare
    if first in _WHO_AND_WHY:
        return replace(said, plain=(said.plain & ASKING) | {"paused"})
    if first in _ASKS_ABOUT_PAUSE:
        return replace(said, plain=(said.plain - _PAUSE_WORDS) | {"paused"})
    return said


def _about_resuming(said: Said, typed: str, situation: Situation) -> str | None:
    """A wish to hear when a queue resumes: "let me know when it's unpaused"."""
    is_wish = {"let", "know"} <= said.plain or bool(said.plain & _TELLING)
    is_for_another = any(word.is_name for word in command_words(typed, situation.called))
    if not is_wish or is_for_another or said.numbers or said.plain & (_NEGATIONS | _ASKING_WHEN):
        return None
    thread = situation.thread
    is_of_pull_request = thread is not None and thread.pull_request is not None
    is_of_queue = bool(said.targets) or bool(said.plain & _QUEUE_NOUNS) or not is_of_pull_request
    is_resuming = bool(said.plain & _RESUMED) or (is_of_queue and bool(said.plain & _GOES_ON))
    if not is_resuming or not said.plain & _ONCE:
        return None
    if not said.is_made_of(ASKING, _TELLING, _RESUMED, _GOES_ON, _QUEUE_NOUNS, _ONCE):
        return None
    return f"notify {said.targets[0]}" if said.targets else "notify"


def _about_pull_request(said: Said, situation: Situation) -> str | None:
    if not said.is_made_of(ASKING, _PULL_REQUEST_WORDS):
        return None
    target = f" {said.targets[0]}" if said.targets else ""
    if said.numbers:
        return f"why {said.numbers[0]}{target}"
    here = situation.pull_request_meant(None)
    is_this_one = bool(said.plain & (_THIS_ONE | _PULL_REQUEST_WORDS)) or said.plain <= _SHORT
    if here is None or said.targets or not is_this_one or said.plain & {"queue", "nothing"}:
        return None
    return f"why {here.number} {here.repository}"


def _begins_like_a_command(words: Sequence[Word]) -> bool:
    """Whether the first word is almost a verb: that of a short text, or one that changes things."""
    if words[0].bare in ASKING:
        return False
    nearest = nearest_verbs(words[0].bare, VERY_CLOSE)
    if len(words) <= FEW_WORDS:
        return bool(nearest)
    return any(COMMAND_BY_WORD[verb].right is not Right.READ for verb in nearest)


def is_about_mine(said: Said) -> bool:
    """Whether it asks about a pull request of the person's own."""
    is_mine = said.plain & _PERSON_WORDS and said.plain & _PULL_REQUEST_WORDS
    return bool(is_mine) and not said.numbers and said.is_made_of(ASKING, _PULL_REQUEST_WORDS)


def _for_help(said: Said) -> str | None:
    """Help, as for "how do I pause" and "what can you do"."""
    verbs = [COMMAND_BY_WORD[word.bare].name for word in said.words if word.bare in COMMAND_BY_WORD]
    asking = [word.bare for word in said.words]
    is_how = asking[:2] == ["how", "to"] or (asking[:1] == ["how"] and asking[2:3] in _PEOPLE)
    if is_how and verbs:
        return f"help {verbs[0]}"
    is_can = {"what", "can", "you", "do"} <= said.plain
    is_help = bool(said.plain & _HELP_WORDS) and said.is_made_of(ASKING, _HELP_WORDS)
    return "help" if is_can or (is_help and not said.targets) else None


_PEOPLE = (["i"], ["we"], ["you"], ["one"], ["someone"], ["somebody"], ["anyone"])
_SHOW = frozenset({"show", "list", "give", "get", "display", "print", "see", "what", "whats"})
_BESIDE_VERB = frozenset(
    {"me", "us", "the", "all", "a", "of", "for", "are", "is", "there", "please"}
)


def _asked_to_show(said: Said, typed: str, situation: Situation) -> str | None:
    """A command that only reads, as in "show me the log of acme/site"."""
    if not said.words or said.words[0].bare.replace("'", "") not in _SHOW:
        return None
    for at, word in enumerate(said.words):
        command = COMMAND_BY_WORD.get(word.bare)
        if command is not None and command.right is Right.READ and command.name != "me":
            before = {other.bare for other in said.words[1:at]}
            after = [
                other
                for other in said.words[at + 1 :]
                if other.bare not in _BESIDE_VERB or named_by(other, situation.groups)
            ]
            if before <= _BESIDE_VERB:
                return f"{command.name} {text_of(typed, after)}".rstrip()
    return None


_IS_QUEUE = (["queue"], ["queues"], ["train"])
_ELSEWHERE = frozenset({"requeue", "re-queue", "retry", "enqueue", "merge", "land", "rerun"})
"""What people do on the pull request itself."""

DONE_ELSEWHERE = (
    "I don't put pull requests into the queue. Comment `@mergifyio queue` on the pull request."
)


def is_done_elsewhere(typed: str, situation: Situation) -> bool:
    """Whether it asks for what only a comment on the pull request does."""
    words = [word.bare for word in command_words(typed, situation.called)]
    if words[:2] == ["merge", "again"]:
        # "Can we merge again?" asks whether the queue merges.
        return False
    return words[:1] != [] and words[0] in _ELSEWHERE and words[1:2] not in _IS_QUEUE


_SAYS_OVER = frozenset(
    {"done", "fixed", "green", "over", "recovered", "resolved", "solved", "good", "back"}
)
_AROUND_SAYS_OVER = frozenset(
    {"it", "it's", "its", "is", "all", "ci", "we", "we're", "are", "now", "again", "that", "that's"}
)


_ENDING = frozenset(
    {
        *("abort", "cancel", "clear", "delete", "drop", "end", "finish", "kill", "lift", "remove"),
        *("revert", "stop", "undo"),
    }
)
_OF_PAUSE = frozenset(
    {
        *("the", "this", "that", "my", "our", "your", "his", "her", "queue", "merge"),
        *("active", "current", "every", "existing", "last", "latest", "long", "old", "whole"),
    }
)
_JOINS = frozenset({"and", "but", "or", "please", "so", "then", "to"})
"""Behind one of these "pause" is a verb: "stop merging and pause acme/site"."""

_BEFORE_QUEUE_NAME = frozenset({"for", "in", "of", "on"})
_A_PAUSE = frozenset({"pause", "pauses", "pausing"})
_A_TIMER = frozenset({"countdown", "timer", "timers"})
_ITSELF = frozenset({"again", "it", "now", "this", "that", *POLITE})


LASTS_UNTIL_RESUMED = "A pause without an end lasts until someone resumes it."


def end_of_pause(said: Said, typed: str, situation: Situation) -> str | None:
    """The command that "cancel the pause" and "cancel the timer" mean; None for other words.

    In the thread of a pause, "end it" means that one.
    """
    words = said.words
    if not words or words[0].bare not in _ENDING:
        return None
    in_thread = situation.thread is not None and situation.thread.is_pause
    if in_thread and all(word.bare in _ITSELF for word in words[1:]):
        return "resume"
    if said.plain & _A_TIMER and said.is_made_of(_ENDING, _A_TIMER, _OF_PAUSE, _BEFORE_QUEUE_NAME):
        return " ".join(("extend", *said.targets, "forever"))
    for at, word in enumerate(words[1:], 1):
        if word.bare in _A_PAUSE:
            before = [word for word in words[1:at] if named_by(word, situation.groups) is not None]
            after = words[at + 1 :]
            if after and after[0].bare in _BEFORE_QUEUE_NAME:
                after = after[1:]
            return f"resume {text_of(typed, [*before, *after])}".rstrip()
        is_whose = word.bare.endswith("'s") or word.bare in _OF_PAUSE
        if not is_whose and named_by(word, situation.groups) is None:
            return None
    return None


_SHORTENING = frozenset({"reduce", "shorten"})

EXTEND_MOVES_BACK = "The end of a pause moves with extend, also to an earlier time."


def earlier_end(said: Said, situation: Situation) -> str | None:
    """The command that "shorten it to 17:00" means; None for other words.

    For "shorten it by 30m" it opens the form, because a length would be added.
    """
    words = said.words
    if not words or words[0].bare not in _SHORTENING:
        return None
    names = [word for word in words[1:] if named_by(word, situation.groups) is not None]
    end = end_words([word for word in words[1:] if word not in names], _AROUND_NEW_END)
    named = [word.plain for word in names]
    return " ".join(("extend", *named, *(end if _is_time_of_day(end) else ())))


def offers(said: Said, typed: str, situation: Situation) -> tuple[str, ...]:
    """The commands that may be meant, likeliest first; they may change something."""
    if said.plain & _NEGATIONS == {"no"} and said.words and said.words[0].bare == "no":
        # "No, until 6".
        return _new_ends(said, situation)
    if not said.words or said.plain & _NEGATIONS or _ends_some_pause(said.words):
        return ()
    if {"let", "know"} <= said.plain:
        # "Let me know", which asks to allow nothing.
        return ()
    return (
        _about_own_messages(said, typed, situation)
        or _take_over(said, situation)
        or _in_thread(said, typed, situation)
        or _by_verb(said.words, typed, situation)
    )


def _ends_some_pause(words: Sequence[Word]) -> bool:
    """Whether they end a pause in words of which it isn't clear which one, so none is begun."""
    if words[0].bare not in _ENDING:
        return False
    return any(
        word.bare in _A_PAUSE | {"paused"} and before.bare not in _JOINS
        for before, word in pairwise(words)
    )


def _about_own_messages(said: Said, typed: str, situation: Situation) -> tuple[str, ...]:
    """What "stop pinging me" means outside of direct messages; in some threads, of one thing."""
    if not said.plain & _MESSAGES:
        return ()
    meant = about_messages(typed, situation.called)
    if meant == typed:
        return ()
    if meant == DIRECT_OFF and situation.pull_request_meant(None) is not None:
        return ("mute",)
    return (meant,)


_TAKING = frozenset({"take", "takes", "taking"})


def _take_over(said: Said, situation: Situation) -> tuple[str, ...]:
    """What "I'm taking this over" offers, and "I'll take it" in the thread of a pause."""
    in_thread = situation.thread is not None and situation.thread.is_pause
    is_it = in_thread and bool(said.plain & _THIS_ONE)
    if not said.plain & _TAKING or not (is_it or "over" in said.plain) or len(said.targets) > 1:
        return ()
    return (" ".join(("takeover", *said.targets)),)


def _in_thread(said: Said, typed: str, situation: Situation) -> tuple[str, ...]:
    """In the thread of a pause or a freeze, an end alone extends it, and "fixed" ends it."""
    thread = situation.thread
    if thread is None or not (thread.is_pause or thread.freeze_id):
        return ()
    over = _SAYS_OVER if thread.is_pause else _SAYS_OVER | _SAYS_RELEASED
    if said.plain & over and said.is_made_of(over, _AROUND_SAYS_OVER):
        verb = "resume" if thread.is_pause else "unfreeze"
        meant = situation.target_meant(verb)
        # Named, because "all green" would begin with the name of all queues.
        target = [target_value(meant)] if meant is not None else []
        return (" ".join((verb, *target, typed)),)
    ends = _new_ends(said, situation)
    if not ends and ({"more", "time"} <= said.plain or "longer" in said.plain):
        return ("extend",)
    return ends


_LESS = frozenset({"earlier", "less", "shorten", "shorter", "sooner"})
_AROUND_NEW_END = frozenset(
    {
        *("actually", "change", "frozen", "hold", "keep", "let's", "lets", "maybe", "move", "no"),
        *("o'clock", "oclock", "ok", "okay", "or", "paused", "say", "set", "sorry", "stay", "then"),
        *AROUND_EXTENSION,
        *_LESS,
    }
)
_LONGER = frozenset({"add", "additional", "another", "extra", "further", "longer", "more"})
"""With one of these a number alone is a length, nobody knows of which unit."""


def _new_ends(said: Said, situation: Situation) -> tuple[str, ...]:
    """In the thread of a pause or a freeze, the command for an end alone: "another 30 min".

    Several where the end may mean several times, as "until 6" does. A number alone is no end: it is
    a pull request's.
    """
    if not _is_about_end(situation) or said.targets:
        return ()
    end = end_words(said.words, _AROUND_NEW_END)
    is_number = len(end) == 1 and end[0].isdecimal()
    if is_number and (len(said.words) == 1 or said.plain & _LONGER):
        return ()
    if said.plain & _LESS and not _is_time_of_day(end):
        # A length would be added, not taken away.
        return ("extend",)
    return tuple(f"extend {meant}" for meant in ends_meant(end))


def _is_time_of_day(end: Sequence[str]) -> bool:
    meant = ends_meant(end)
    return bool(meant) and isinstance(read_end(meant[0]), Until)


_A_FREEZE = frozenset({"freeze", "freezes", "freezing"})
_PLANNING = frozenset({"add", "begin", "create", "plan", "schedule", "start"})
_ENDS = _ENDING | {"close", "defrost", "skip", "terminate", "thaw"}
_MOVES = frozenset({"bring", "delay", "move", "postpone", "push", "reschedule", "shift"})
_CHANGES_END = frozenset({"extend", "lengthen", "prolong", "shorten"})
_AROUND_FREEZE = frozenset(
    {
        *("it", "now", "of", "one", "that", "the", "this", "today", "tonight", "for"),
        *("code", "current", "deploy", "merge", "next", "planned", "scheduled"),
        *_A_FREEZE,
        *POLITE,
    }
)
"""Around the words for a freeze they add nothing to its end."""

_SAYS_RELEASED = frozenset({"deployed", "live", "out", "released", "shipped"})
"""In the thread of a freeze, that it isn't needed any more."""

_ASKS = frozenset({"how", "how's", "until", "what", "what's", "when", "when's", "who", "why"})
"""Begins a question, which changes nothing."""

MOVED_BY_BUTTON = "To move a planned freeze, press Move… below it."


@dataclass(frozen=True, slots=True)
class FreezeOffer:
    """The command for what somebody wants to do with a freeze."""

    command: str
    problem: str = ""  #: what to say before it is offered; empty for the usual sentence
    #: it only opens a form for the freeze of the thread, so it runs without a question
    is_form: bool = False


def about_a_freeze(said: Said, typed: str, situation: Situation) -> FreezeOffer | None:
    """What ends, moves, extends or plans a freeze, in other words than the commands'.

    None for what names no freeze, outside of a freeze's thread. Only the command that does the
    same is offered, never one that does the opposite.
    """
    is_in_thread = _is_in_thread_of_freeze(situation)
    plain = said.plain
    is_act = bool(said.words) and not plain & _NEGATIONS and said.words[0].bare not in _ASKS
    if not is_act or not (is_in_thread or plain & _A_FREEZE):
        return None
    is_change = bool(plain & (_ENDS | _MOVES | _CHANGES_END))
    is_the_command = COMMAND_BY_WORD.get(said.words[0].bare) is COMMAND_BY_WORD["freeze"]
    if plain & _A_FREEZE and plain & _PLANNING and not is_the_command:
        planned = f"freeze {_after_freeze(said, typed)}".rstrip()
        return FreezeOffer(_listing(said, situation) if is_change else planned)
    if plain & _MOVES:
        return FreezeOffer(_listing(said, situation), MOVED_BY_BUTTON)
    if is_in_thread:
        return _about_freeze_of_thread(said)
    return _about_any_freeze(said, typed, situation)


def _about_freeze_of_thread(said: Said) -> FreezeOffer | None:
    end = _end_said(said.words)
    if end is not None and said.plain & (_CHANGES_END | _ENDS):
        is_less = bool(said.plain & _LESS) and not _is_time_of_day(end.split())
        return FreezeOffer("extend" if is_less else f"extend {end}")
    if said.plain & _ENDS:
        return FreezeOffer("unfreeze", is_form=True)
    return None


def _about_any_freeze(said: Said, typed: str, situation: Situation) -> FreezeOffer | None:
    is_new_end = bool(said.plain & _ENDS) and _end_said(said.words) is not None
    if is_new_end or said.plain & _CHANGES_END:
        return FreezeOffer(_listing(said, situation))
    if said.plain & _ENDS:
        return FreezeOffer(f"unfreeze {_after_freeze(said, typed)}".rstrip(), ENDED_WITH)
    return None


def _listing(said: Said, situation: Situation) -> str:
    """The command that shows the freezes, each with its buttons."""
    return f"freezes {_queue_of(said, situation)}".rstrip()


def _is_in_thread_of_freeze(situation: Situation) -> bool:
    return situation.thread is not None and situation.thread.freeze_id is not None


def _queue_of(said: Said, situation: Situation) -> str:
    """The queue that is named or meant; empty if it needn't be, or nobody knows."""
    if len(said.targets) == 1:
        return said.targets[0]
    meant = situation.target_meant("freezes")
    is_only_one = len(situation.groups.repositories.names) == 1
    return "" if meant is None or is_only_one else target_value(meant)


def _end_said(words: Sequence[Word]) -> str | None:
    """The words of an end among those around a freeze; None if there is none."""
    around = _AROUND_FREEZE | AROUND_EXTENSION | _ENDS | _CHANGES_END
    end = [word.time for word in words if word.bare not in around]
    if len(end) == 1 and end[0].isdecimal():
        # "Shorten to 6": an hour. Behind extend alone it might be minutes.
        end.insert(0, UNTIL_WORD)
    return " ".join(end) if ends_meant(end) else None


def _after_freeze(said: Said, typed: str) -> str:
    """What follows the word for a freeze: its queue, its times, a reason."""
    at = next(number for number, word in enumerate(said.words) if word.bare in _A_FREEZE)
    after = [*said.words[at + 1 :]]
    while after and after[0].bare in _AROUND_FREEZE:
        del after[0]
    return text_of(typed, after)


_PARTICLES = frozenset({"off", "out", "again"})
"""Around the rest of a command they mean nothing: "hold off", "kick 41 out"."""


_VERB_AND_TIME = re.compile(r"(?P<verb>[a-z]+)[:=-]?(?P<time>\d.*)")
"""pause30m"""

_NO_SLIPS = frozenset(
    {
        *("could", "how", "may", "might", "must", "shall", "should", "what", "when", "where"),
        *("who", "would"),
    }
)
"""Words with which sentences begin, though some are spelled like a verb: "should" like "hold"."""


def _by_verb(words: Sequence[Word], typed: str, situation: Situation) -> tuple[str, ...]:
    """With the verbs that are nearest to the first word, else with one that comes later."""
    glued = _VERB_AND_TIME.fullmatch(words[0].bare)
    if glued is not None and glued["verb"] in _ACTING_VERBS:
        after = text_of(typed, words[1:])
        return (f"{_ACTING_VERBS[glued['verb']]} {glued['time']} {after}".rstrip(),)
    nearest: tuple[str, ...] = ()
    if words[0].bare not in _NO_SLIPS:
        nearest = nearest_verbs(words[0].bare, VERY_CLOSE if len(words) > FEW_WORDS else CLOSE)
    if nearest:
        after = _after_verb(typed, words[1:])
        return tuple(f"{verb} {after}".rstrip() for verb in nearest)
    for at, word in enumerate(words):
        verb = _ACTING_VERBS.get(word.bare)
        is_noun = at > 0 and words[at - 1].bare in _OF_PAUSE
        if verb is not None and not is_noun:
            after = _after_verb(typed, words[at + 1 :])
            targets = _named_before(words[:at], words[at + 1 :], situation)
            return tuple(" ".join(filter(None, (verb, target, after))) for target in targets)
    return ()


def _named_before(
    before: Sequence[Word], after: Sequence[Word], situation: Situation
) -> Sequence[str]:
    """The queues that are named in front of a verb, if none is behind it; else one empty name."""
    named_after = [named_by(word, situation.groups) for word in after]
    if any(named is not None and named.is_certain for named in named_after):
        return [""]
    named_before = [named_by(word, situation.groups) for word in before]
    targets = [target for named in named_before if named is not None for target in named.targets]
    return list(dict.fromkeys(map(target_value, targets))) or [""]


_ACTING_VERBS = {
    word: command.name
    for command in COMMAND_BY_WORD.values()
    if command.right is not Right.READ
    for word in (command.name, *command.aliases, *command.offered_for)
}
"""What changes something: its own verbs, and those of the same meaning."""


def _after_verb(typed: str, words: Sequence[Word]) -> str:
    """The rest of a command, without "off the queue"."""
    if words and words[0].bare in _PARTICLES:
        words = words[1:]
    count = the_queue(words)
    if count and words[count - 1].bare not in EVERYTHING:
        words = words[count:]
    if words and words[0].bare in _PARTICLES:
        words = words[1:]
    if words and words[-1].bare in _PARTICLES:
        words = words[:-1]
    return text_of(typed, words)
