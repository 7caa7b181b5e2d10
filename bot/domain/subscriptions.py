"""What each channel is notified of, how and when, and the options people type for it."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from difflib import get_close_matches
from enum import StrEnum
from fnmatch import fnmatchcase

from typing_extensions import override

from bot.domain.durations import zone_named
from bot.domain.event_types import is_known_event_type
from bot.domain.repository import RepositoryName


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


LEVELS: Mapping[Level, frozenset[str]] = {
    Level.QUIET: QUIET,
    Level.NORMAL: DEFAULT_TOPICS,
    Level.EVERYTHING: frozenset(topic.value for topic in Topic),
}

LevelPreview = tuple[datetime, Mapping[Level, int]]
"""How many messages each level would have made in the hour until then."""


class Style(StrEnum):
    """How a channel is notified: a thread per queue entry, a post per event, or a summary."""

    THREAD = "thread"
    FEED = "feed"
    DIGEST = "digest"


class SubscriptionSource(StrEnum):
    """The source of a subscription; commands can't remove one from the configuration."""

    COMMAND = "command"
    CONFIGURATION = "configuration"


DIGEST_AT = time(9, 0)
"""The default time of day."""

UTC_ZONE = "UTC"


@dataclass(frozen=True, slots=True)
class DigestTime:
    """A time of day in a time zone: `zone` is an IANA name."""

    at: time
    zone: str = UTC_ZONE

    @override
    def __str__(self) -> str:
        """The time as typed: "09:00 Europe/Paris"."""
        return f"{self.at:%H:%M} {self.zone}"


NextDigest = Callable[[DigestTime, datetime], datetime]
"""When the next digest after a moment comes, in UTC."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One channel's subscription to one repository.

    `topics`: Topic values or single event types of the API document.
    `branches`: globs over base branches, empty for all.
    `except_logins`: authors whose pull requests are left out.
    `digest`: when summaries are posted; None unless the style is DIGEST or WEEKLY is a topic, for
    which only its zone counts.
    """

    channel_id: str
    repository: RepositoryName
    topics: frozenset[str] = DEFAULT_TOPICS
    branches: frozenset[str] = frozenset()
    except_logins: frozenset[str] = field(default_factory=frozenset)
    source: SubscriptionSource = SubscriptionSource.COMMAND
    created_by: str | None = None
    created_at: datetime | None = None
    style: Style = Style.THREAD
    digest: DigestTime | None = None

    def wants(
        self, *, topic: str | None, event_type: str, branch: str | None, author: str | None = None
    ) -> bool:
        """Whether an event matches. One without a branch concerns all branches."""
        if author is not None and author.lower() in self.except_logins:
            return False
        if branch is not None and self.branches:
            covered = any(fnmatchcase(branch, glob) for glob in self.branches)
            if not covered:
                return False
        return event_type in self.topics or (topic is not None and topic in self.topics)

    def has_same_options(self, other: "Subscription") -> bool:
        """Whether the channel gets the same notifications in the same way."""
        return replace(other, created_by=self.created_by, created_at=self.created_at) == self


def subscribed_channels(subscriptions: Iterable[Subscription], topic: Topic) -> set[str]:
    """The channels subscribed to a topic, on any branch."""
    return {one.channel_id for one in subscriptions if topic in one.topics}


ALL_TOPICS = "all"
ALL_BRANCHES = "*"
WORD_LIMIT = 255
"""Longer than names of branches and logins are; a glob of any length would cost any time."""

AT_MOST = 20
"""Globs, and excepted logins, of one subscription."""

_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})")
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
    """The options typed after the repository, empty or None if left out.

    `level`: replaces the channel's topics.
    `topics`: added to the channel's topics.
    `digest_zone`: an IANA name, None when only a time was typed.
    """

    topics: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    except_logins: frozenset[str] = frozenset()
    style: Style | None = None
    digest_at: time | None = None
    digest_zone: str | None = None
    level: Level | None = None


def read_options(words: Iterable[str]) -> SubscriptionOptions:
    """Read a level, topics, event types, `branch:`, `except:`, `style:` and `digest:`.

    Raises InvalidOptions.
    """
    options = SubscriptionOptions()
    left = list(words)
    while left:
        word = left.pop(0)
        name, colon, value = word.partition(":")
        if word.lower() in set(Level):
            level = Level(word.lower())
            if options.level not in {None, level}:
                raise InvalidOptions(f"Pick one level: {options.level} or {level}.")
            options = replace(options, level=level)
        elif colon and name.lower() in _NEEDED:
            options = _with_option(options, name.lower(), value, left)
        else:
            options = replace(options, topics=options.topics | _topics(word))
    if options.digest_at is not None:
        if options.style not in {None, Style.DIGEST}:
            raise InvalidOptions(f"digest: is for style:digest, not for style:{options.style}.")
        options = replace(options, style=Style.DIGEST)
    if max(len(options.branches), len(options.except_logins)) > AT_MOST:
        raise InvalidOptions(f"At most {AT_MOST} branches and {AT_MOST} logins can be named.")
    return options


def _with_option(
    options: SubscriptionOptions, name: str, value: str, following: list[str]
) -> SubscriptionOptions:
    if not value:
        raise InvalidOptions(f"{name}: needs {_NEEDED[name]}.")
    parts = frozenset(part for part in value.split(",") if part)
    if any(len(part) > WORD_LIMIT for part in parts):
        raise InvalidOptions(f"{name}: at most {WORD_LIMIT} characters.")
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
    found = _CLOCK.fullmatch(value)
    try:
        at = time(int(found[1]), int(found[2])) if found else None
    except ValueError:
        at = None
    if at is None:
        raise InvalidOptions(f"digest: needs {_NEEDED['digest']}.")
    if options.digest_at is not None:
        raise InvalidOptions("Use digest: only once.")
    is_zone = bool(following) and (following[0].upper() == UTC_ZONE or "/" in following[0])
    zone = _zone(following.pop(0)) if is_zone else None
    return replace(options, digest_at=at, digest_zone=zone)


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
            topics.update(one.value for one in Topic)
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
    are added.
    """
    if options.level is not None and options.style is None:
        options = replace(options, style=Style.THREAD)
    known, style = (
        before or replace(new, topics=frozenset()),
        options.style or (before or new).style,
    )
    topics = known.topics | options.topics
    if options.level is not None:
        topics = LEVELS[options.level] | options.topics
    elif not topics or options == SubscriptionOptions():
        topics |= DEFAULT_TOPICS
    digest = known.digest or new.digest or DigestTime(DIGEST_AT)
    at = options.digest_at or (digest.at if before is not None and before.digest else DIGEST_AT)
    return replace(
        new,
        topics=topics,
        branches=frozenset()
        if ALL_BRANCHES in options.branches
        else options.branches | known.branches,
        except_logins=options.except_logins | known.except_logins,
        style=style,
        digest=DigestTime(at, options.digest_zone or digest.zone)
        if style is Style.DIGEST or Topic.WEEKLY in topics
        else None,
    )


def removed(before: Subscription, options: SubscriptionOptions) -> Subscription | None:
    """The subscription after unsubscribing, which mirrors subscribing; None if nothing is left.

    Raises InvalidOptions if one subscription can't express the rest.
    """
    if options.style is not None:
        raise InvalidOptions("style: and digest: are for subscribe.")
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
    return replace(left, topics=topics) if topics else None


def words_of(subscription: Subscription) -> str:
    """The words that would create it, for the audit."""
    words = [
        *sorted(subscription.topics),
        *(f"branch:{one}" for one in sorted(subscription.branches)),
        *(f"except:{one}" for one in sorted(subscription.except_logins)),
    ]
    if subscription.style is not Style.THREAD:
        words.append(f"style:{subscription.style}")
    if subscription.style is Style.DIGEST:
        words.append(f"digest:{subscription.digest}")
    return " ".join(words)
