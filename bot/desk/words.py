"""The words after a verb: repositories, groups, options and free text."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from bot.acts.asked import read_times
from bot.desk.names import Named, named_by, parted, read_number, refuse_unknown
from bot.desk.options import Option, option_in
from bot.desk.situation import Situation
from bot.kernel.ends.phrases import read_beginning, read_lasting
from bot.kernel.ends.spans import FROM_WORD, words_for_now
from bot.kernel.errors import CommandSyntaxError, InvalidDuration, TargetNotClear, TypedMeaning
from bot.kernel.groups import ALL, OF_OWNER, Group, Target, repositories_of, target_value
from bot.kernel.repository import RepositoryName
from bot.kernel.typed import Word, text_of

_ALIKE_NAME = 0.7
"""How alike a name a misspelled word is."""

_SAYS_WHAT_HAPPENS = ("ed", "ing")
"""How words end that are reasons by themselves, such as "deploying"."""

OFFERED_INSTEAD = 3
"""Corrected commands that are offered, each with a button."""


BEFORE_NAME = frozenset(
    {
        *("a", "at", "for", "in", "of", "on", "only", "our", "the", "to"),
        *("merge", "merges", "merging", "queue", "queues", "repo", "repository"),
    }
)
"""Words that may stand between a verb and the name of a repository."""

POLITE = frozenset({"asap", "immediately", "please", "pls", "plz", "thanks", "thx"})
"""At the end of a command without a reason they mean nothing."""

BEHIND_A_NUMBER = POLITE | {
    *("", "cheers", "everybody", "everyone", "folks", "guys", "now", "ok", "okay", "people"),
    *("team", "thank", "ty", "you"),
}

_THE_QUEUE = frozenset({"it", "merges", "merging", "queue", "this", "train"})
_BEFORE_QUEUE = frozenset({"merge", "our", "that", "the", "this"})
"""In `pause the merge queue`, which names no queue in particular."""

_BEGINS_REASON = frozenset({"as", "because", "cause", "cos", "due", "since", "so", "while"})

WELL = frozenset(
    {
        *("clear", "done", "fine", "fixed", "good", "green", "is", "ok", "okay", "passing", "set"),
        *("well", "checks", "tests", "builds", "jobs", "deploys", "deployments", "merges"),
        *("pipelines", "prs", "pull", "runners"),
    }
)
"""Behind "all" they make it a part of a reason."""

EVERYTHING_NAMED = frozenset({"everything", "everywhere"})
EVERYTHING = EVERYTHING_NAMED | {"both"}

_BEFORE_A_NAME = POLITE | {"both"}

_HOW_LONG = frozenset(
    {"afternoon", "day", "evening", "month", "morning", "night", "week", "weekend"}
)
"""Behind "all" they say how long: "pause all day"."""

_TOO = frozenset({"also", "too"})

_QUEUES = frozenset({"queues", "repos", "repositories", "trains"})
_EACH = frozenset({"each", "every"})
_ALL_OR_EACH = _EACH | {ALL}
_ONE_QUEUE = frozenset({"queue", "repo", "repository", "train"})
_BEFORE_QUEUES = frozenset({"merge", "of", "our", "the", "these", "those"})
"""In `pause all of the merge queues`, which says no more than `pause all`."""

_SAYS_MORE_OF_THEM = frozenset(
    {"are", "aren't", "can", "can't", "fail", "failed", "get", "had", "has", "have", "hit", "is"}
    | {"keep", "need", "must", "see", "seem", "should", "that", "were", "which", "will", "with"}
)
"""Behind "queues" they make it a part of a reason: "all repos are broken"."""

_LEAVES_OUT = frozenset(
    {
        *("apart", "aside", "besides", "but", "except", "excepting", "excluding", "keep", "leave"),
        *("minus", "not", "other", "save", "skip", "skipping", "w/o", "without"),
    }
)
_SURELY_LEAVES_OUT = frozenset({"except", "excepting", "excluding"})
"""Also behind a reason: "all CI is down except for acme/api"."""

_BEFORE_LEFT_OUT = frozenset(
    {
        *("and", "for", "from", "in", "not", "now", "of", "on", "one", "ones", "only", "or"),
        *("queue", "queues", "repo", "repos", "repository", "than", "that", "the", "those"),
    }
)
"""In `pause all except for the queue acme/site`."""

_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(("two", "three", "four", "five", "six", "seven"), start=2)
}
_SOME = frozenset(
    {
        *("any", "few", "first", "half", "last", "most", "no", "none", "nothing", "one", "other"),
        *("others", "remaining", "rest", "several", "some", *_NUMBER_WORDS),
    }
)
"""In `pause the other two`, which doesn't say which ones."""

_LENGTH_ALONE = re.compile(r"[0-9]{1,6}[mhdw]")
"""`stats 30d`: how far back, without `since:`."""

_SHORT_OPTION = re.compile(r"-[a-z]", re.IGNORECASE)
"""`-q acme/api`, as people write options elsewhere."""

_MERGES = frozenset({"branches", "changes", "merges", "merging", "mrs", "pr", "prs", "work"})
_REQUESTS = frozenset({"request", "requests"})

_OF_ONE_QUEUE = frozenset({"allow", "board", "default", "mute", "remove", "unmute", "why"})
"""Verbs of commands that take no group."""

_THEM_ALL = (["it", "all"], ["them", "all"], ["these", "all"])
_WHICH_QUEUES = "Which queues? Name one, a group, or all of them."
_BEFORE_SOME = frozenset({"all", "every", "of", "our", "the", "these", "those"})
_BEHIND_SOME = frozenset({"more", "of", "our", "the", "them", "these", "those"})

_WITH_TIMES: Mapping[str, Callable[[Sequence[str]], tuple[object, int]]] = {
    "pause": read_lasting,
    "freeze": read_times,
}
"""Commands whose reason follows an end: the verb, and how the end is read."""


class _Listed(NamedTuple):
    """A name in a list of several."""

    word: Word
    target: Target
    end: int  #: how many of the words that are left stand before the next name


class Words:
    """The words after a verb; problems with them raise CommandSyntaxError.

    `all`: the words; `rest`: those that were not read yet.
    """

    def __init__(
        self, verb: str, text: str, words: Sequence[Word], situation: Situation, after: int = 0
    ) -> None:
        self.verb = verb
        self.text = text
        self.situation = situation
        self.groups = situation.groups
        self.is_settled = situation.is_settled
        apart = [part for word in words for part in parted(word, self.groups)]
        self.all = tuple(self._joined(apart))
        self.rest = [*self.all]
        self._after = after  # the end of the verb
        self._naming: Word | None = None  # names the target
        self._kept: Sequence[Word] = ()  # name the target, and stay in a reason behind them

    @property
    def plain(self) -> list[str]:
        """The words that were not read yet, without what surrounds them."""
        return [word.plain for word in self.rest]

    @property
    def times(self) -> list[str]:
        """The same, as parts of times and lengths."""
        return [word.time for word in self.rest]

    def problem(self, sentence: str) -> CommandSyntaxError:
        return CommandSyntaxError(sentence, self.verb)

    def not_understood(self, word: Word) -> CommandSyntaxError:
        if self._naming is not None and named_by(word, self.groups) is not None:
            return self._another(self._naming, word)
        nearest = self._nearest(word) if self._naming is None else ()
        if nearest:
            behind = self.text_without([word])
            instead = [f"{self.verb} {target_value(near)} {behind}".rstrip() for near in nearest]
            said = f"I don't know “{word.plain}”."
            return CommandSyntaxError(said, self.verb, tuple(instead[:OFFERED_INSTEAD]))
        return self.problem(f"I don't understand “{word.typed}” here.")

    def _another(self, first: Word, second: Word) -> CommandSyntaxError:
        """The error that offers the command with each of the names."""
        further = [word for word in self.rest if named_by(word, self.groups) is not None]
        names = list(dict.fromkeys([first, second, *further]))
        between = [word for word in self.all if _is_and(word) or word.bare in _TOO]
        behind = self.text_without([*names, *between])
        named = [named_by(name, self.groups) for name in names]
        targets = {target for name in named if name is not None for target in name.targets}
        group = self.groups.of_exactly(targets) if self.verb not in _OF_ONE_QUEUE else None
        offered = [name.plain for name in names]
        if group is not None and group not in targets:
            offered.insert(0, target_value(group))
        instead = [f"{self.verb} {name} {behind}".rstrip() for name in offered]
        said = f"I take one queue or one group at a time, and “{second.plain}” is another one."
        return CommandSyntaxError(said, self.verb, tuple(instead[:OFFERED_INSTEAD]))

    def end(self) -> None:
        """Raise CommandSyntaxError if there are words left."""
        if self.rest:
            raise self.not_understood(self.rest[0])

    def skip(self, count: int = 1) -> None:
        del self.rest[:count]

    def skip_punctuation(self) -> None:
        while self.rest and self.rest[0].is_punctuation:
            self.skip()

    def _skip_emoji(self) -> None:
        """Read them in front of a name or an end; a reason keeps its own."""
        emoji = next((at for at, word in enumerate(self.rest) if not word.is_emoji), 0)
        behind = self.rest[emoji:]
        is_first = emoji > 0 and self._naming is None
        is_name = is_first and named_by(behind[0], self.groups) is not None
        if emoji and (is_name or self._begins_no_name(behind)):
            self.skip(emoji)

    def skip_courtesy(self) -> None:
        """Read "please" in front of a name or an end, which it would hide in the reason.

        Also "both" in front of a name, and emoji.
        """
        if self.rest and self.rest[0].is_emoji:
            self._skip_emoji()
        if not self.rest or self.rest[0].bare not in _BEFORE_A_NAME:
            return
        count = _count_of(self.rest, POLITE)
        before_name = _count_of(self.rest, _BEFORE_A_NAME)
        behind = self.rest[before_name:]
        if behind and named_by(behind[0], self.groups) is not None:
            self.skip(before_name)
        elif count and self._begins_no_name(self.rest[count:]):
            self.skip(count)

    def take(self, keyword: str) -> bool:
        """Whether it is the next one, which is then read."""
        if not self.rest or self.rest[0].bare != keyword:
            return False
        self.skip()
        return True

    def take_anywhere(self, keyword: str) -> bool:
        """Read it wherever it is, and as often."""
        left = [word for word in self.rest if word.bare != keyword]
        is_there = len(left) < len(self.rest)
        self.rest = left
        return is_there

    def named(self, word: Word) -> Named | None:
        """What the word names.

        Raises RepositoryNotAllowed and UnknownGroup for what is written like a name of one and
        isn't: read as part of a reason, it would act on the wrong queue.
        """
        found = named_by(word, self.groups)
        if found is None:
            refuse_unknown(word, self.groups)
            if len(word.plain) > 1 and word.plain.startswith("@"):
                raise self.groups.unknown(word.plain)
        return found

    def target_anywhere(self, topics: Collection[str] = ()) -> Target | None:
        """Read the first word that names a repository or a group.

        For commands without free text. A word of `topics` names a repository only in first
        position. If there are topics, another word with a slash may be a time zone, and a group
        needs its `@`. Raises TargetNotClear for a name that several owners have.
        """
        while self.rest and self.rest[-1].bare in POLITE:
            self.rest.pop()
        for place, word in enumerate(self.rest):
            every = 0 if topics else _every_queue(self.rest[place:])
            if not topics and word.bare in EVERYTHING_NAMED | _EACH:
                every = every or 1
            if every:
                del self.rest[place : place + every]
                return self.groups.everything
            is_topic = place > 0 and word.bare in topics
            named = None if is_topic else named_by(word, self.groups)
            if named is None or (topics and not named.repositories and named.is_bare):
                continue
            del self.rest[place]
            target = self.only_target(word, named)
            if isinstance(target, Group):
                queues = _its_queues(self.rest[place:])
                del self.rest[place : place + queues]
            self._refuse_another(word, target)
            self._refuse_next_name(word, place, topics)
            return target
        for word in self.rest[:1] if topics else self.rest:
            self.named(word)
        return None

    def _refuse_another(self, first: Word, target: Target) -> None:
        """Raises CommandSyntaxError for a second certain name; the same name is read again."""
        for word in filter(_may_be_certain, [*self.rest]):
            named = named_by(word, self.groups)
            if named is None or not named.is_certain:
                continue
            if named.targets[0] != target:
                raise self._another(first, word)
            self.rest.remove(word)

    def _refuse_next_name(self, first: Word, place: int, topics: Collection[str]) -> None:
        """Raises CommandSyntaxError for a second name at that place: "api and site"."""
        words = self.rest[place:]
        if words and _is_and(words[0]):
            words = words[1:]
        if words and words[0].bare not in topics:
            named = named_by(words[0], self.groups)
            if named is not None and named.is_bare and named.repositories:
                raise self._another(first, words[0])

    def only_target(self, word: Word, named: Named) -> Target:
        """The one target that the word names; raises TargetNotClear."""
        self._naming = word
        if len(named.targets) == 1:
            return named.targets[0]
        if len(named.repositories) == 1:
            return named.repositories[0]
        before = self.text[: word.start]
        after = self.text[word.end :]
        readings = [
            TypedMeaning(repository, "", f"{before}{repository}{after}")
            for repository in named.repositories
        ]
        raise TargetNotClear(self.verb, word.plain, tuple(readings))

    def only_one(self, target: Target | None, because: str) -> RepositoryName | None:
        """The repository; raises CommandSyntaxError for a group, with what to type instead.

        `because`: why it takes one, after "and".
        """
        if not isinstance(target, Group):
            return target
        count = len(target.repositories)
        if count == 1:
            return target.repositories[0]
        meaning = f"all {count:,} repositories" if target.name == ALL else f"{count:,} repositories"
        said = f"“{target.mention}” means {meaning}, and {because}."
        instead = tuple(map(self._naming_instead, target.repositories))
        if len(instead) <= OFFERED_INSTEAD:
            raise CommandSyntaxError(said, self.verb, instead)
        raise self.problem(f"{said} Name that repository, for example: {instead[0]}.")

    def _naming_instead(self, repository: RepositoryName) -> str:
        """The command with the repository in place of the group that was typed."""
        words = [repository if word is self._naming else word.as_typed for word in self.all]
        return " ".join([self.verb, *words])

    def only_repository(self, because: str) -> RepositoryName | None:
        found = self.only_one(self.target_anywhere(), because)
        self.end()
        return found

    def skip_the_queue(self, *, is_named: bool) -> None:
        """Read "the queue" or "merging" where an end, a reason or nothing follows.

        `is_named`: a queue was named before. Otherwise "everything" may mean all of them: raises
        TargetNotClear.
        """
        words = self.rest
        count = the_queue(words)
        if not count or self._begins_with_time():
            # "this weekend" is a time.
            return
        is_loose = self._begins_no_name(words[count:])
        if words[count - 1].bare not in EVERYTHING | _QUEUES:
            self.skip(count if is_loose else 0)
        elif not (is_named or self.is_settled):
            self._ask_about_everything(count, is_loose=is_loose)

    def _begins_no_name(self, words: Sequence[Word]) -> bool:
        """Whether they begin with an end or a reason, or nothing is left of them."""
        words = [word for word in words if not word.is_punctuation]
        if not words or words[0].bare in _BEGINS_REASON | POLITE | {"for", "now"}:
            return True
        if self.verb not in _WITH_TIMES:
            return False
        if _is_lone_number(words):
            # "site 45": minutes, or the number of a pull request, but no more than a name says.
            return True
        try:
            begun = read_beginning([word.time for word in words])
        except InvalidDuration:
            return True
        is_start = words[0].bare == FROM_WORD or words_for_now([word.time for word in words]) > 0
        return begun is not None or is_start

    def _begins_with_time(self) -> bool:
        """Whether they begin like "half an hour"."""
        try:
            return self.verb in _WITH_TIMES and read_beginning(self.times) is not None
        except InvalidDuration:
            return True

    def _every_queue_in_front(self) -> int:
        """How many words in front are "every queue"; asks about "all merges"."""
        merges = _all_merges(self.rest)
        if merges and not self.is_settled:
            self._ask_about_everything(merges, is_loose=self._begins_no_name(self.rest[merges:]))
        return _every_queue(self.rest)

    def _ask_about_everything(self, count: int, *, is_loose: bool) -> None:
        """`is_loose`: these words aren't a part of the reason, whatever they mean."""
        behind = self.rest[count:]
        if _bare_at(behind, 0) == "else":
            raise self.problem(_WHICH_QUEUES)
        self._refuse_to_leave_out(self.groups.everything, behind)
        kept = behind if is_loose else self.rest
        rest = text_of(self.text, behind)
        readings = (
            self._reading(
                self.groups.everything, text_of(self.text, self._without_times(behind)), rest
            ),
            TypedMeaning(
                None,
                text_of(self.text, self._without_times(kept)),
                f"{self.verb} {text_of(self.text, kept)}".rstrip(),
            ),
        )
        raise TargetNotClear(self.verb, self.rest[count - 1].plain, readings)

    def target_in_front(self) -> Target | None:
        """Read the target in front of free text.

        Only `owner/name`, `@group`, `all` and an address name one by themselves. Raises
        TargetNotClear for a name without owner, unless it is of the queue that is meant anyway, or
        the person was asked.
        """
        self.skip_punctuation()
        if not self.rest:
            return None
        word = self.rest[0]
        every = self._every_queue_in_front() if word.bare in _ALL_OR_EACH else 0
        if every:
            self.skip(every)
            return self._all_of(self.groups.everything)
        # "All day" is about no queue.
        says_how_long = word.bare == ALL and _bare_at(self.rest, 1) in _HOW_LONG
        named = None if says_how_long else self.named(word)
        if named is None:
            if word.bare in _SURELY_LEAVES_OUT | {"not"} and self._named_in_front(
                self.rest[1:], is_certain=True
            ):
                self._refuse_to_leave_out(self.groups.everything, self.rest)
            return self._behind_other_words()
        if named.is_bare and self._says_no_other(named, self.rest[1:]):
            return self._meant_anyway(1)
        if not named.is_certain or self._says_all_is_well():
            self._ask_unless_settled(word, named, leaving_out=self.rest[:1])
            return None
        target = named.targets[0]
        self._naming = word
        if named.says_more:
            self._kept = [word]
        self.skip()
        self._ask_about_others(word, target)
        return self._all_of(target) if isinstance(target, Group) else target

    def _all_of(self, group: Group) -> Group:
        """Read "queues" behind it; raises CommandSyntaxError where some are to be left out."""
        self.skip(_its_queues(self.rest))
        self._refuse_to_leave_out(group, self.rest)
        if group.name == ALL:
            self._refuse_owner(_count_of(self.rest, {"from", "in", "of"}))
        return group

    def _refuse_owner(self, at: int) -> None:
        """Raises CommandSyntaxError for "all of acme" and "the acme queues".

        `at`: where the owner would stand.
        """
        owner = _bare_at(self.rest, at)
        known = self.groups.known(f"{owner}{OF_OWNER}")
        if known is None or self.is_settled:
            return
        behind = self.rest[at + 1 :]
        if at or _its_queues(behind) or self._begins_no_name(behind):
            said = f"“{known.name}” means every repository of {owner}."
            raise CommandSyntaxError(said, self.verb, (f"{self.verb} {known.name}",))

    def with_branch(self, prefix: str) -> str | None:
        """What was typed, with the option for the branch that is named without its colon.

        None if none is, or if it begins a reason: "branch main is red", "main is red".
        """
        at = _count_of(self.rest, BEFORE_NAME)
        branch = self.rest[at : at + 2]
        names = [word for word in branch if word.bare != "branch"]
        if len(names) == len(branch):
            branch = [word for word in names[:1] if word.bare in _USUAL_BRANCHES]
            names = branch
        if len(names) != 1 or not self._begins_no_name(self.rest[at + len(branch) :]):
            return None
        # Of all words: options were read before.
        before = [word for word in self.all if word.start < self.rest[0].start]
        behind = [word for word in self.all if word.start > branch[-1].start]
        name = names[0].bare if names[0].bare in _USUAL_BRANCHES else names[0].plain
        pieces = (text_of(self.text, before), prefix + name, text_of(self.text, behind))
        return " ".join(filter(None, pieces))

    def refuse_further_names(self, target: Target | None) -> None:
        """Raises CommandSyntaxError for names behind the target's, and behind an end or `now`.

        "acme/api 1h and acme/site", or "@release 1h except acme/site": nothing is left out of one.
        """
        if isinstance(target, Group):
            self._refuse_to_leave_out(target, self.rest)
        words = [word for word in self.rest if word.bare not in _TOO]
        is_joined = bool(words) and (len(words) == 1 or _is_and(words[0]))
        if not is_joined or self._naming is None or self.is_settled:
            return
        for name in words:
            if not _is_and(name):
                named = named_by(name, self.groups)
                if named is not None and named.is_certain and named.targets != (target,):
                    raise self._another(self._naming, name)
                return

    def _refuse_to_leave_out(self, group: Group, behind: Sequence[Word]) -> None:
        """Raises CommandSyntaxError for "except acme/api" behind the group."""
        if self.is_settled:
            return
        words = [word for word in behind if not word.is_punctuation]
        left_out = self._left_out(words)
        is_number = len(words) > 1 and read_number(words[1].plain) is not None
        is_surely = bool(words) and words[0].bare in _SURELY_LEAVES_OUT and not is_number
        if not left_out and not is_surely:
            return
        left = [name for name in group.repositories if name not in left_out] if left_out else []
        said = "I can't leave queues out. Name the ones that you mean."
        instead = tuple(f"{self.verb} {name}" for name in left)
        raise CommandSyntaxError(said, self.verb, instead if len(left) <= OFFERED_INSTEAD else ())

    def _left_out(self, words: Sequence[Word]) -> set[RepositoryName]:
        """The repositories behind "except", in front or behind a reason."""
        for at, word in enumerate(words):
            is_in_front = at == 0 and word.bare in _LEAVES_OUT
            if is_in_front or word.bare in _SURELY_LEAVES_OUT:
                found = self._named_in_front(words[at + 1 :], is_certain=not is_in_front)
                if found:
                    return found
        return set()

    def _named_in_front(self, words: Sequence[Word], *, is_certain: bool) -> set[RepositoryName]:
        """The repositories in a list of names; if `is_certain`, none that may be other words."""
        found: set[RepositoryName] = set()
        for word in words:
            named = named_by(word, self.groups)
            if named is not None and named.pull_request is not None:
                break
            if named is not None and (named.is_certain or not is_certain):
                found.update(name for to in named.targets for name in repositories_of(to))
            elif not (word.bare in _BEFORE_LEFT_OUT | _LEAVES_OUT or _is_and(word)):
                break
        return found

    def refuse_some(self, target: Target | None) -> None:
        """Raises CommandSyntaxError for "the other two", which nobody can tell.

        `target`: the one in front. Its own number behind it says no more: "all three".
        """
        is_one = target is not None and not isinstance(target, Group)
        if is_one or self.is_settled or len(self.groups.repositories.names) == 1:
            return
        if target is None:
            self._refuse_owner(0)
            is_them_all = [word.bare for word in self.rest[:2]] in _THEM_ALL
            if is_them_all and self._begins_no_name(self.rest[2:]):
                raise self.problem(_WHICH_QUEUES)
        count = self._some_queues()
        if not count:
            return
        said = [word.bare for word in self.rest[:count]]
        numbers = [number for bare in said if (number := _number(bare)) is not None]
        is_only_number = not _SOME.difference(_NUMBER_WORDS).intersection(said)
        if isinstance(target, Group) and is_only_number and numbers == [len(target.repositories)]:
            self.skip(count)
            return
        raise self.problem(_WHICH_QUEUES)

    def _some_queues(self) -> int:
        """How many words in front are like "the other two queues"; 0 where they begin a reason."""
        words = self.rest
        at = _count_of(words, _BEFORE_SOME)
        first = _bare_at(words, at)
        if (first not in _SOME and not first.isdecimal()) or self._begins_with_time():
            return 0
        at += 1
        at += _count_of(words[at:], _SOME | _BEHIND_SOME)
        if _bare_at(words, at) in _QUEUES | _ONE_QUEUE | {"ones"}:
            return 0 if _bare_at(words, at + 1) in _SAYS_MORE_OF_THEM else at + 1
        is_time = first.isdecimal() and at == 1
        return at if not is_time and self._begins_no_name(words[at:]) else 0

    def _says_all_is_well(self) -> bool:
        """Whether they begin like "all green again", which is hardly about all queues."""
        is_all = self.rest[0].folded.casefold() == ALL
        return is_all and len(self.rest) > 1 and self.rest[1].bare in WELL

    def _says_no_other(self, named: Named, behind: Sequence[Word]) -> bool:
        """Whether this name without owner is of the queue that is meant where none is named.

        Then an end behind it counts, as behind `owner/name`: as a part of the reason, it was lost.
        `behind`: what follows; a list of names may mean them all.
        """
        own = self.situation.target_meant(self.verb)
        if own is None or named.targets != (own,) or self.is_settled:
            return False
        next_word = next((word for word in behind if not _is_and(word)), None)
        other = named_by(next_word, self.groups) if next_word is not None else None
        return other is None or own in other.targets

    def _meant_anyway(self, count: int) -> Target | None:
        """Read the words in front that name the queue meant; "site is down" is a reason, too."""
        behind = self.rest[count:]
        self._naming = self.rest[count - 1]
        if not self._is_apart(behind):
            self._kept = self.rest[:count]
        self.skip(count)
        return self.situation.target_meant(self.verb)

    def _is_apart(self, behind: Sequence[Word]) -> bool:
        """Whether a name in front of these words is no part of the reason, as in "site for 45m"."""
        return self._begins_no_name(behind[the_queue(behind) :])

    def _behind_other_words(self) -> Target | None:
        """Read `pause the site` where that is meant anyway; ask about `pause on all queues`.

        Also read `pause the queue acme/api 45m`: a whole name needs no question unless it may be a
        part of the reason.
        """
        before = (
            word.bare in BEFORE_NAME
            or self.groups.repositories.has_owner(word.bare)
            or _SHORT_OPTION.fullmatch(word.folded)
            for word in self.rest
        )
        place = next((at for at, is_before in enumerate(before) if not is_before), 0)
        word = self.rest[place]
        named = named_by(word, self.groups) if place else None
        if named is None:
            return None
        behind = self.rest[place + 1 :]
        if self._is_whole_name(named, self.rest[: place + 1]) and self._is_apart(behind):
            self.skip(place)
            return self.target_in_front()
        if not (named.is_bare or word.bare == ALL):
            return None
        if named.is_bare and self._says_no_other(named, behind):
            return self._meant_anyway(place + 1)
        count = place + 1 if self._is_apart(behind) else 0
        self._ask_unless_settled(word, named, leaving_out=self.rest[:count])
        return None

    def _is_whole_name(self, named: Named, words: Sequence[Word]) -> bool:
        """Whether the last of the words says by itself what it names, and nothing else."""
        is_whole = named.is_certain and not named.says_more and words[-1].bare != ALL
        return is_whole and not self.is_settled and all(word.bare != "only" for word in words)

    def _ask_about_others(self, word: Word, target: Target) -> None:
        """Ask about `pause acme/site acme/api` and `pause acme/site, acme/api and @release`."""
        if self.is_settled:
            return
        is_group = isinstance(target, Group) and not (self.rest and _is_and(self.rest[0]))
        leaves_out = is_group and self._may_leave_out()
        listed = self._listed(1 if leaves_out else 0)
        self._refuse_unknown_in_list(listed)
        others = [other for other in listed if other.target != target]
        if not others:
            return
        # A second name alone may also begin the reason, unless nothing or an end follows.
        behind = self.rest[others[-1].end :]
        is_alone = not behind or len(self._without_times(behind)) < len(behind)
        is_list = not leaves_out and (len(others) > 1 or is_alone)
        readings: list[TypedMeaning] = []
        for meant in (_Listed(word, target, 0), *others):
            end = others[-1].end if is_list else meant.end
            reason = text_of(self.text, self._without_times(self.rest[end:]))
            rest = self.text_without([word, *self.rest[:end]])
            readings.append(self._reading(meant.target, reason, rest))
        if is_list:
            named = {target, *(other.target for other in others)}
            readings = [*self._of_all_named(named, word, others[-1].end), *readings]
        raise TargetNotClear(self.verb, others[0].word.plain, tuple(readings))

    def _of_all_named(
        self, named: Collection[Target], first: Word, end: int
    ) -> Sequence[TypedMeaning]:
        """The group that a list names member by member; none if it is no group.

        `end`: how many of the words that are left the list takes.
        """
        group = self.groups.of_exactly(named)
        if group is None or group in named:
            return ()
        reason = text_of(self.text, self._without_times(self.rest[end:]))
        return (self._reading(group, reason, self.text_without([first, *self.rest[:end]])),)

    def _listed(self, begin: int) -> list["_Listed"]:
        """The certain names in front of the words that are left, once each, from `begin` on."""
        found: dict[Target, _Listed] = {}
        for at, word in enumerate(self.rest[begin:], start=begin):
            if _is_and(word):
                continue
            named = named_by(word, self.groups) if _may_be_certain(word) else None
            if named is None or not named.is_certain or named.says_more:
                break
            found.setdefault(named.targets[0], _Listed(word, named.targets[0], at + 1))
        return [*found.values()]

    def _refuse_unknown_in_list(self, listed: Sequence["_Listed"]) -> None:
        """Raises RepositoryNotAllowed for `acme/site acme/api acme/other`.

        Behind one name alone, such a word may begin the reason, unless nothing follows.
        """
        place = listed[-1].end if listed else 0
        while place < len(self.rest) and _is_and(self.rest[place]):
            place += 1
        if place == len(self.rest):
            return
        word = self.rest[place]
        owner, slash, _ = word.plain.partition("/")
        is_ours = bool(slash) and self.groups.repositories.has_owner(owner)
        is_listed = bool(listed) or place + 1 == len(self.rest)
        if is_ours and is_listed and named_by(word, self.groups) is None:
            refuse_unknown(word, self.groups)

    def _may_leave_out(self) -> bool:
        """Whether the next word may leave out what follows it: "sauf", "ausser"."""
        word = _bare_at(self.rest, 0)
        is_english = word in _LEAVES_OUT | _BEGINS_REASON | {"for", "of"}
        return word.isalpha() and not is_english

    def _ask_unless_settled(
        self, word: Word, named: Named, leaving_out: Sequence[Word] = ()
    ) -> None:
        """Raise TargetNotClear: the word is a name, or a part of the reason.

        `leaving_out`: the words that aren't a part of the reason if it is a name.
        """
        if self.is_settled:
            return
        whole = self.text_without(())
        count = len(leaving_out)
        others = self._names_behind(word) if leaving_out and not named.says_more else []
        end_of_list = count + others[-1].end if others else 0
        is_joined = bool(others) and _is_joined(self.rest[count:])
        if others and (is_joined or self._is_apart(self.rest[end_of_list:])):
            # What follows the list is the reason, or an end, whichever of them is meant.
            count = end_of_list
        rest = self.text_without(() if named.says_more else self.rest[:count])
        behind = self._without_times(self.rest[count:])
        reasons = [text_of(self.text, behind), text_of(self.text, self.rest)]
        if named.says_more or not leaving_out:
            reasons[0] = reasons[1]
        readings = [self._reading(target, reasons[0], rest) for target in named.targets]
        for other in others:
            end = max(count, len(leaving_out) + other.end)
            reason = text_of(self.text, self._without_times(self.rest[end:]))
            rest = self.text_without(self.rest[:end])
            if all(reading.target != target_value(other.target) for reading in readings):
                readings.append(self._reading(other.target, reason, rest))
        names = {other.word for other in others}
        if others and len(named.targets) + len(others) == 1 + len(names):
            # Each of them names one queue.
            listed = {*named.targets, *(other.target for other in others)}
            readings = [*self._of_all_named(listed, word, end_of_list), *readings]
        readings.append(TypedMeaning(None, reasons[1], f"{self.verb} {whole}"))
        raise TargetNotClear(self.verb, word.plain, tuple(readings))

    def _names_behind(self, word: Word) -> Sequence["_Listed"]:
        """The further names of "site, api" and "site and api", or of names alone."""
        behind = self.rest[1:]
        is_list = all(named_by(other, self.groups) is not None for other in behind)
        found: list[_Listed] = []
        end = 0
        while True:
            count = next((at for at, other in enumerate(behind[end:]) if not _is_and(other)), None)
            is_joined = is_list or bool(count) or word.typed.endswith(",")
            if count is None or not is_joined:
                return found
            word = behind[end + count]
            other = named_by(word, self.groups)
            if other is None or other.says_more:
                return found
            end += count + 1
            found += [_Listed(word, target, end) for target in other.targets]

    def _without_times(self, words: Sequence[Word]) -> Sequence[Word]:
        """The words behind a name that are the reason, where an end may stand before it."""
        taken = 0
        if self.verb in _WITH_TIMES:
            _, taken = _WITH_TIMES[self.verb]([word.time for word in words])
        return [] if _says_nothing(words[taken:]) else words[taken:]

    def _reading(self, target: Target, reason: str, rest: str) -> TypedMeaning:
        value = target_value(target)
        return TypedMeaning(value, reason, f"{self.verb} {value} {rest}".rstrip())

    def text_without(self, leaving_out: Sequence[Word]) -> str:
        """What was typed behind the verb, without these words."""
        left = [word for word in self.all if word not in leaving_out and word.start >= self._after]
        return text_of(self.text, left)

    def reason(self, target: Target | None) -> str:
        """The text of the words that were not read yet, as typed.

        Raises TargetNotClear if no target was named in front and the text names one.
        """
        self.skip_punctuation()
        if not self._kept and _is_lone_number(self.rest):
            return self.rest[0].bare
        words = [] if _says_nothing(self.rest) else self.rest
        if self._kept:
            place = self.all.index(self._kept[-1]) + 1
            is_next = [*self.all[place : place + 1]] == self.rest[:1]
            words = [*self._kept, *self.rest] if is_next else self.rest
        if target is None and not self.is_settled:
            self._ask_about_names_in(words)
            self._ask_about_misspelled(words)
        return text_of(self.text, words)

    def _ask_about_names_in(self, words: Sequence[Word]) -> None:
        found: dict[str, Target] = {}
        for word in filter(_may_be_certain, words):
            named = named_by(word, self.groups)
            if named is not None and not named.is_bare:
                found.update({target_value(target): target for target in named.targets})
        if not found:
            return
        reason = text_of(self.text, words)
        whole = self.text_without(())
        readings = [self._reading(target, reason, whole) for target in found.values()]
        readings.append(TypedMeaning(None, reason, f"{self.verb} {whole}"))
        raise TargetNotClear(self.verb, next(iter(found)), tuple(readings))

    def _ask_about_misspelled(self, words: Sequence[Word]) -> None:
        """Ask about a lone word that is almost a name: "pause apis".

        "deploying" is a reason, even where a queue is called "deploy".
        """
        if len(words) != 1 or words[0].bare.endswith(_SAYS_WHAT_HAPPENS):
            return
        # "released" is hardly the group "release".
        nearest = [near for near in self._nearest(words[0]) if not isinstance(near, Group)]
        if not nearest:
            return
        readings = [self._reading(near, "", self.text_without(words)) for near in nearest]
        whole = self.text_without(())
        readings.append(TypedMeaning(None, text_of(self.text, words), f"{self.verb} {whole}"))
        raise TargetNotClear(self.verb, words[0].plain, tuple(readings))

    def _nearest(self, word: Word) -> Sequence[Target]:
        """The repositories, or the group, whose name is spelled almost like the word."""
        repositories = self.groups.repositories
        names = [name.name.casefold() for name in repositories.names]
        alike = get_close_matches(word.bare, [*names, *self.groups.names], 1, _ALIKE_NAME)
        if not alike:
            return ()
        group = self.groups.known(alike[0])
        return repositories.called(alike[0]) or ([group] if group is not None else [])

    def _joined(self, words: Sequence[Word]) -> list[Word]:
        """The words, with one for each name that has spaces around its slash: `acme / site`."""
        left = [*words]
        joined: list[Word] = []
        while left:
            count = 1
            for length in (2, 3):
                if self._is_split_name(left[:length], length):
                    count = length
            first = left[0]
            last = left[count - 1]
            if count > 1:
                piece = "".join(word.folded for word in left[:count])
                first = Word(piece, first.start, self.text[first.start : last.end])
            joined.append(first)
            del left[:count]
        return joined

    def _is_split_name(self, words: Sequence[Word], count: int) -> bool:
        has_slash = any(word.folded.startswith("/") for word in words[1:])
        if len(words) < count or not (has_slash or words[0].folded.endswith("/")):
            return False
        named = named_by(Word("".join(word.folded for word in words), 0), self.groups)
        return named is not None and named.is_certain and not named.says_more

    def options(self, known: Sequence[Option], of_one: Sequence[Option] = ()) -> dict[str, Any]:
        """Read all words: the value of each known option, or its default.

        `of_one`: the options that there are where one repository is named.
        """
        by_name = {option.name: option for option in known}
        typed: dict[str, list[str]] = {}
        while self.rest:
            word = self.rest.pop(0)
            name, value = option_in(word)
            if not name and "since" in by_name and _LENGTH_ALONE.fullmatch(word.bare):
                name = "since"
                value = word.bare
            if not name and self.rest and word.bare in by_name:
                name = word.bare
            option = by_name.get(name)
            if option is None and name in {option.name for option in of_one}:
                raise self.problem(f"{name}: is for one repository. Name it, or leave {name}: out.")
            if option is None:
                raise self.not_understood(word)
            if not value and self.rest and not option_in(self.rest[0])[0]:
                value = self.rest.pop(0).plain
            if not value:
                raise self.problem(f"{option.name}: needs {option.needs}.")
            typed.setdefault(option.name, []).append(value)
        return {option.keyword: self._value(option, typed.get(option.name)) for option in known}

    def _value(self, option: Option, typed: Sequence[str] | None) -> object:
        if typed is None:
            return option.default
        try:
            return option.read(typed)
        except ValueError as error:
            sentence = f"{option.name}: {error}"
            is_whole = sentence.endswith((".", "?"))
            raise self.problem(sentence if is_whole else f"{sentence}.") from error


def _says_nothing(words: Sequence[Word]) -> bool:
    """Whether they are no reason: "please", "?!", or none at all."""
    said = [word for word in words if word.bare or word.is_emoji]
    return not [word for word in said if word.bare not in POLITE]


def _is_lone_number(words: Sequence[Word]) -> bool:
    """Whether they are a number, which may be a length: "45", "45 guys", "1.5 please"."""
    if not words or not _LONE_NUMBER.fullmatch(words[0].bare):
        return False
    return all(word.bare in BEHIND_A_NUMBER or word.is_emoji for word in words[1:])


_LONE_NUMBER = re.compile(r"[0-9]{1,6}(?:[.,][0-9]{1,2})?")


def the_queue(words: Sequence[Word]) -> int:
    """How many words in front name the queue, and none in particular: "the merge queue"."""
    count = next(
        (at for at, word in enumerate(words) if word.bare not in _BEFORE_QUEUE), len(words)
    )
    if count < len(words) and words[count].bare in EVERYTHING:
        return count + 1 + _its_queues(words[count + 1 :])
    if count < len(words) and words[count].bare in _QUEUES:
        return count + _its_queues(words[count:])
    if count < len(words) and words[count].bare in _THE_QUEUE:
        return count + 1
    return count if count and words[count - 1].bare in _THE_QUEUE else 0


def _its_queues(words: Sequence[Word]) -> int:
    """How many words in front say "queues" of what is named before: "of the merge queues"."""
    count = next(
        (at for at, word in enumerate(words) if word.bare not in _BEFORE_QUEUES), len(words)
    )
    is_them = words[:1] != [] and words[0].bare == "of" and _bare_at(words, count) == "them"
    if _bare_at(words, count) not in _QUEUES and not is_them:
        return 0
    return 0 if _bare_at(words, count + 1) in _SAYS_MORE_OF_THEM else count + 1


def _all_merges(words: Sequence[Word]) -> int:
    """How many words in front are like "all merges", which may be those of one queue."""
    if _bare_at(words, 0) not in _ALL_OR_EACH:
        return 0
    count = 1 + _count_of(words[1:], _BEFORE_QUEUES)
    if _bare_at(words, count) in {"pull", "merge"} and _bare_at(words, count + 1) in _REQUESTS:
        count += 1
    elif _bare_at(words, count) not in _MERGES:
        return 0
    return 0 if _bare_at(words, count + 1) in _SAYS_MORE_OF_THEM else count + 1


def _every_queue(words: Sequence[Word]) -> int:
    """How many words in front are "every queue", "each of the repos"."""
    if _bare_at(words, 0) not in _EACH:
        return 0
    count = 2 if _bare_at(words, 1) in {"merge", "single"} else 1
    if _bare_at(words, count) in _ONE_QUEUE:
        return 0 if _bare_at(words, count + 1) in _SAYS_MORE_OF_THEM else count + 1
    queues = _its_queues(words[1:])
    return queues + 1 if queues else 0


def _count_of(words: Sequence[Word], known: Collection[str]) -> int:
    """How many words in front are known."""
    return next((at for at, word in enumerate(words) if word.bare not in known), len(words))


def _number(bare: str) -> int | None:
    return int(bare[:6]) if bare.isascii() and bare.isdecimal() else _NUMBER_WORDS.get(bare)


def _bare_at(words: Sequence[Word], at: int) -> str:
    return words[at].bare if at < len(words) else ""


def _is_and(word: Word) -> bool:
    return word.is_punctuation or word.bare in {"and", "or"} or word.folded in {"&", "+"}


def _is_joined(words: Sequence[Word]) -> bool:
    """Whether they begin with "and", so that a name in front of them begins a list."""
    joiner = next((word for word in words if not word.is_punctuation), None)
    return joiner is not None and _is_and(joiner)


def _may_be_certain(word: Word) -> bool:
    """A quick look, because a reason has many words."""
    return any(sign in word.folded for sign in "/\\@")


_USUAL_BRANCHES = frozenset({"develop", "main", "mainline", "master", "trunk"})
SAYS_A_BRANCH = _USUAL_BRANCHES | {"branch"}
