"""What each channel is notified of, how and when, and the options people type for it."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from difflib import get_close_matches
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from bot.kernel.actor import Actor
from bot.kernel.cron import UTC_ZONE, DigestTime
from bot.kernel.durations import zone_named
from bot.kernel.groups import name_in
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_types import is_known_event_type


class Topic(StrEnum):
    """What a channel can subscribe to."""

    ENTER = "enter"
    CHECKS = "checks"
    MERGE = "merge"
    FAILURE = "failure"
    DEQUEUE = "dequeue"
    BATCH = "batch"
    PAUSE = "pause"
    FREEZE = "freeze"
    COMMAND = "command"
    CI = "ci"
    HEALTH = "health"
    WEEKLY = "weekly"


DEFAULT_TOPICS: frozenset[str] = frozenset(
    {Topic.ENTER.value, Topic.MERGE.value, Topic.FAILURE.value, Topic.PAUSE.value}
)


QUIET: frozenset[str] = frozenset({Topic.FAILURE.value, Topic.PAUSE.value, Topic.HEALTH.value})


IMMEDIATE = QUIET | {Topic.FREEZE.value}
"""What a channel is notified of when it happens, even with a digest."""


class Level(StrEnum):
    """How much a channel is notified of: a named set of topics, shown in threads."""

    QUIET = "quiet"
    NORMAL = "normal"
    EVERYTHING = "everything"


TOPICS_OF_LEVELS: Mapping[Level, frozenset[str]] = {
    Level.QUIET: QUIET,
    Level.NORMAL: DEFAULT_TOPICS,
    Level.EVERYTHING: frozenset(topic.value for topic in Topic),
}


class LevelPreview(NamedTuple):
    """How many messages each level would have made in the hour until a moment."""

    until: datetime
    messages: Mapping[Level, int]


class Style(StrEnum):
    """How a channel is notified: a thread per queue entry, a post per event, or a summary."""

    THREAD = "thread"
    FEED = "feed"
    DIGEST = "digest"


class SubscriptionSource(StrEnum):
    """The source of a subscription; commands can't remove one from the configuration."""

    COMMAND = "command"
    CONFIGURATION = "configuration"


class Mismatch(StrEnum):
    """Why a subscription leaves an event out."""

    TOPIC = "topic"
    BRANCH = "branch"
    AUTHOR = "author"


DIGEST_AT = time(9, 0)
"""The default time of day."""


NextDigest = Callable[[DigestTime, datetime], datetime]
"""When the next digest after a moment comes, in UTC."""


@dataclass(frozen=True, slots=True)
class DefaultChange:
    """The repository that a channel means where none is typed, before and after an act."""

    before: RepositoryName | None
    after: RepositoryName | None

    @property
    def is_new(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Subscription:
    """One channel's subscription to one repository."""

    channel_id: str
    repository: RepositoryName
    #: Topic values or single event types of the API document
    topics: frozenset[str] = DEFAULT_TOPICS
    branches: frozenset[str] = frozenset()  #: globs over base branches, empty for all
    #: authors whose pull requests are left out
    except_logins: frozenset[str] = field(default_factory=frozenset)
    source: SubscriptionSource = SubscriptionSource.COMMAND
    created_by: str | None = None
    created_at: datetime | None = None
    style: Style = Style.THREAD
    #: when summaries are posted; None unless the style is DIGEST or WEEKLY is a topic, for which
    #: only its zone counts
    digest: DigestTime | None = None
    #: the selection that the channel follows and the repository belongs to, as typed: `all`,
    #: `@group` or `owner/*`; None for a subscription to this repository itself
    through: str | None = None

    def wants(
        self, *, topic: str | None, event_type: str, branch: str | None, author: str | None = None
    ) -> bool:
        """Whether an event matches. One without a branch concerns all branches."""
        found = self.mismatch(topic=topic, event_type=event_type, branch=branch, author=author)
        return found is None

    def mismatch(
        self, *, topic: str | None, event_type: str, branch: str | None, author: str | None = None
    ) -> Mismatch | None:
        """Why an event doesn't match; None for one that does."""
        if author is not None and author.lower() in self.except_logins:
            return Mismatch.AUTHOR
        if branch is not None and self.branches:
            covered = any(fnmatchcase(branch, glob) for glob in self.branches)
            if not covered:
                return Mismatch.BRANCH
        is_wanted = event_type in self.topics or (topic is not None and topic in self.topics)
        return None if is_wanted else Mismatch.TOPIC

    @property
    def target(self) -> str:
        """The repository, or the selection it comes through, as a menu carries it."""
        return self.repository if self.through is None else f"@{name_in(self.through)}"

    def has_same_options(self, other: "Subscription") -> bool:
        """Whether the channel gets the same notifications in the same way."""
        same = replace(other, created_by=self.created_by, created_at=self.created_at)
        return replace(same, through=self.through) == self


@dataclass(frozen=True, slots=True)
class ListedSubscription:
    """A line of the list of all subscriptions, of one channel."""

    options: Subscription  #: to the repository itself, or to the first of a selection
    repositories: int  #: how many the selection gives the channel, else 1


@dataclass(frozen=True, slots=True)
class Following:
    """One channel's subscription to a selection, whatever repositories belong to it."""

    channel_id: str
    selection: str  #: `all`, `@group` or `owner/*`
    actor: Actor
    created_at: datetime
    topics: frozenset[str]
    branches: frozenset[str]
    except_logins: frozenset[str]
    style: Style
    digest: DigestTime | None = None
    #: repositories that somebody unsubscribed by name. The rest is what each repository's
    #: subscription gets.
    left_out: frozenset[str] = frozenset()

    def subscription(self, repository: RepositoryName) -> Subscription:
        return Subscription(
            self.channel_id,
            repository,
            self.topics,
            self.branches,
            self.except_logins,
            created_by=self.actor.user_id,
            created_at=self.created_at,
            style=self.style,
            digest=self.digest,
            through=self.selection,
        )

    def changed_to(self, wanted: Subscription) -> "Following":
        """With the options of a subscription."""
        return replace(
            self,
            topics=wanted.topics,
            branches=wanted.branches,
            except_logins=wanted.except_logins,
            style=wanted.style,
            digest=wanted.digest,
        )


def level_of(subscription: Subscription) -> Level | None:
    """The level that has these topics, if one has."""
    of_levels = TOPICS_OF_LEVELS.items()
    return next((level for level, topics in of_levels if topics == subscription.topics), None)


def subscribed_channels(subscriptions: Iterable[Subscription], topic: Topic) -> set[str]:
    """The channels subscribed to a topic, on any branch."""
    return {
        subscription.channel_id for subscription in subscriptions if topic in subscription.topics
    }


ALL_TOPICS = "all"


ALL_BRANCHES = "*"


ONLY = "only"
"""In front of the words of a subscription, it replaces an earlier one instead of adding to it."""


SUBSCRIPTION_WORD_LIMIT = 255
"""Longer than names of branches and logins are; a glob of any length would cost any time."""


NAMED_IN_A_SUBSCRIPTION = 20
"""Globs, and excepted logins, of one subscription."""


_DIGEST_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})")


_NEEDED = {
    "branch": "a branch or a pattern, for example branch:release/*",
    "except": "a login, for example except:renovate",
    "style": f"one of {', '.join(Style)}",
    "digest": "a time of day, for example digest:09:00 Europe/Paris",
}


class InvalidOptions(ValueError):
    """An unknown word or impossible combination; the text says what is possible."""


@dataclass(frozen=True, slots=True)
class SubscriptionOptions:
    """The options typed after the repository, empty or None if left out."""

    topics: frozenset[str] = frozenset()  #: added to the channel's topics
    branches: frozenset[str] = frozenset()
    except_logins: frozenset[str] = frozenset()
    style: Style | None = None
    digest_at: time | None = None
    digest_zone: str | None = None  #: an IANA name, None when only a time was typed
    level: Level | None = None  #: replaces the channel's topics
    is_exact: bool = False  #: nothing of an earlier subscription stays


def read_options(words: Iterable[str]) -> SubscriptionOptions:
    """Read a level, topics, event types, `branch:`, `except:`, `style:` and `digest:`.

    Raises InvalidOptions.
    """
    options = SubscriptionOptions()
    left = list(words)
    while left:
        word = left.pop(0)
        name, colon, value = word.partition(":")
        if word.lower() in {ONLY, *Level}:
            options = _with_keyword(options, word.lower())
        elif colon and name.lower() in _NEEDED:
            options = _with_option(options, name.lower(), value, left)
        else:
            options = replace(options, topics=options.topics | _topics(word))
    if options.digest_at is not None:
        if options.style not in {None, Style.DIGEST}:
            raise InvalidOptions(f"digest: is for style:digest, not for style:{options.style}.")
        options = replace(options, style=Style.DIGEST)
    if max(len(options.branches), len(options.except_logins)) > NAMED_IN_A_SUBSCRIPTION:
        raise InvalidOptions(
            f"At most {NAMED_IN_A_SUBSCRIPTION} branches and "
            f"{NAMED_IN_A_SUBSCRIPTION} logins can be named."
        )
    return options


def _with_keyword(options: SubscriptionOptions, word: str) -> SubscriptionOptions:
    if word == ONLY:
        return replace(options, is_exact=True)
    level = Level(word)
    if options.level not in {None, level}:
        raise InvalidOptions(f"Pick one level: {options.level} or {level}.")
    return replace(options, level=level)


def _with_option(
    options: SubscriptionOptions, name: str, value: str, following: list[str]
) -> SubscriptionOptions:
    if not value:
        raise InvalidOptions(f"{name}: needs {_NEEDED[name]}.")
    parts = frozenset(part for part in value.split(",") if part)
    if any(len(part) > SUBSCRIPTION_WORD_LIMIT for part in parts):
        raise InvalidOptions(f"{name}: at most {SUBSCRIPTION_WORD_LIMIT} characters.")
    if name == "digest":
        return _with_digest(options, value, following)
    if name == "style":
        return replace(options, style=_style(value))
    if name == "branch":
        return replace(options, branches=options.branches | parts)
    logins = {part.removeprefix("@").lower() for part in parts}
    return replace(options, except_logins=options.except_logins | logins)


def _with_digest(
    options: SubscriptionOptions, value: str, following: list[str]
) -> SubscriptionOptions:
    """With the time, and the time zone that may be the next word."""
    at = _time_of_day(value)
    if at is None:
        raise InvalidOptions(f"digest: needs {_NEEDED['digest']}.")
    if options.digest_at is not None:
        raise InvalidOptions("Use digest: only once.")
    is_zone = bool(following) and (following[0].upper() == UTC_ZONE or "/" in following[0])
    zone = _zone(following.pop(0)) if is_zone else None
    return replace(options, digest_at=at, digest_zone=zone)


def _time_of_day(value: str) -> time | None:
    found = _DIGEST_CLOCK.fullmatch(value)
    if found is None:
        return None
    try:
        return time(int(found[1]), int(found[2]))
    except ValueError:
        return None


def _zone(name: str) -> str:
    zone = zone_named(UTC_ZONE if name.upper() == UTC_ZONE else name)
    if zone is None:
        raise InvalidOptions(f"There is no time zone “{name}”. Try Europe/Paris or UTC.")
    return zone.key


def _style(value: str) -> Style:
    try:
        return Style(value.lower())
    except ValueError:
        raise InvalidOptions(
            f"There is no style “{value}”. Styles are {', '.join(Style)}."
        ) from None


def _topics(word: str) -> frozenset[str]:
    """The topics in a word, separated by commas; in the singular or the plural."""
    topics: set[str] = set()
    for part in filter(None, word.split(",")):
        topic = part.lower()
        forms = (topic, f"{topic}s", topic.removesuffix("s"))
        if topic == ALL_TOPICS:
            topics.update(topic.value for topic in Topic)
        elif is_known_event_type(topic):
            topics.add(topic)
        elif named := set(forms) & set(Topic):
            topics |= named
        else:
            raise _no_topic(part)
    if not topics:
        raise _no_topic(word)
    return frozenset(topics)


def _no_topic(word: str) -> InvalidOptions:
    choices = (*Topic, ALL_TOPICS)
    nearest = get_close_matches(word.lower(), (*choices, *Level), n=1, cutoff=0.75)
    hint = f" Did you mean {nearest[0]}?" if nearest else ""
    return InvalidOptions(
        f"There is no topic “{word}”.{hint} Topics are {', '.join(choices)}. "
        f"Levels are {', '.join(Level)}."
    )


def added(
    before: Subscription | None, new: Subscription, options: SubscriptionOptions
) -> Subscription:
    """The subscription after subscribing; `new` supplies the channel and the defaults.

    Topics, branches and excepted logins are added to the existing ones, except that the first
    branches restrict a subscription to all branches; `branch:*` restores all. A level replaces the
    topics and the style. Options not typed stay as they are; without any options the default topics
    are added. `only` replaces everything.
    """
    if options.is_exact:
        # The time zone of its digest stays, where none is typed.
        if before is not None and before.digest is not None:
            new = replace(new, digest=before.digest)
        exact = replace(options, style=options.style or Style.THREAD, is_exact=False)
        return added(None, new, exact)
    if options.level is not None and options.style is None:
        options = replace(options, style=Style.THREAD)
    known = before if before is not None else replace(new, topics=frozenset())
    style = options.style or known.style
    topics = _topics_after(known, options)
    return replace(
        new,
        topics=topics,
        branches=_branches_after(known, options),
        except_logins=options.except_logins | known.except_logins,
        style=style,
        digest=_digest_after(before, new, options) if _is_timed(style, topics) else None,
    )


def _is_timed(style: Style, topics: Collection[str]) -> bool:
    return style is Style.DIGEST or Topic.WEEKLY in topics


def _topics_after(known: Subscription, asked: SubscriptionOptions) -> frozenset[str]:
    """The topics followed: a level replaces them; without any, the default ones are added."""
    if asked.level is not None:
        return TOPICS_OF_LEVELS[asked.level] | asked.topics
    topics = known.topics | asked.topics
    if not topics or asked == SubscriptionOptions():
        return topics | DEFAULT_TOPICS
    return topics


def _branches_after(known: Subscription, asked: SubscriptionOptions) -> frozenset[str]:
    """The branches followed: those asked for are added; `branch:*` follows all again."""
    if ALL_BRANCHES in asked.branches:
        return frozenset()
    return known.branches | asked.branches


def _digest_after(
    before: Subscription | None, new: Subscription, asked: SubscriptionOptions
) -> DigestTime:
    """When its digest comes: what is typed, else what it was, else the default."""
    if before is not None and before.digest is not None:
        usual = before.digest
    else:
        zone = new.digest.zone if new.digest is not None else DigestTime(DIGEST_AT).zone
        usual = DigestTime(DIGEST_AT, zone)
    return DigestTime(asked.digest_at or usual.at, asked.digest_zone or usual.zone)


def removed(before: Subscription, options: SubscriptionOptions) -> Subscription | None:
    """The subscription after unsubscribing, which mirrors subscribing; None if nothing is left.

    Raises InvalidOptions if one subscription can't express the rest.
    """
    if options.style is not None:
        raise InvalidOptions("style: and digest: are for subscribe.")
    if options.is_exact:
        raise InvalidOptions(f"{ONLY} is for subscribe.")
    if options == SubscriptionOptions():
        return None
    left = replace(before, except_logins=before.except_logins - options.except_logins)
    if not options.topics and not options.branches:
        return left
    unknown = sorted(options.branches - left.branches - {ALL_BRANCHES})
    if unknown:
        known = ", ".join(sorted(left.branches)) or "all branches"
        raise InvalidOptions(f"This channel is subscribed to {known}, not {unknown[0]} by name.")
    branches = frozenset() if ALL_BRANCHES in options.branches else left.branches - options.branches
    topics = left.topics - options.topics
    if not options.topics:
        return replace(left, branches=branches) if branches else None
    if options.branches and branches:
        raise InvalidOptions("All branches have the same topics: leave out either of the two.")
    digest = left.digest if _is_timed(left.style, topics) else None
    return replace(left, topics=topics, digest=digest) if topics else None


def words_of(subscription: Subscription) -> str:
    """The words that would create it, for the audit, and for a command that restores it."""
    words = [
        *sorted(subscription.topics),
        *(f"branch:{branch}" for branch in sorted(subscription.branches)),
        *(f"except:{login}" for login in sorted(subscription.except_logins)),
    ]
    if subscription.style is not Style.THREAD:
        words.append(f"style:{subscription.style}")
    if subscription.style is Style.DIGEST:
        words.append(f"digest:{subscription.digest}")
    return " ".join(words)
