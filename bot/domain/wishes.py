"""What somebody types to subscribe and to unsubscribe, and what becomes of a subscription by it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import time
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.event_types import is_known_event_type
from bot.domain.subscriptions import (
    DEFAULT_TOPICS,
    DIGEST_AT,
    UTC_ZONE,
    DigestTime,
    Style,
    Subscription,
    Topic,
)

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


class InvalidWish(ValueError):
    """A word that cannot be understood, or asks for what cannot be; the text says what can."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What was typed behind the repository; what was left out is empty or None.

    `digest_zone` is an IANA name, None when only a time was typed.
    """

    topics: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    except_logins: frozenset[str] = frozenset()
    style: Style | None = None
    digest_at: time | None = None
    digest_zone: str | None = None


def read_wish(words: Iterable[str]) -> Wish:
    """Topics, single event types, and `branch:`, `except:`, `style:`, `digest:`.

    Raises InvalidWish.
    """
    wish = Wish()
    left = iter(list(words))
    for word in left:
        name, colon, value = word.partition(":")
        if not colon or name.lower() not in _NEEDED:
            wish = replace(wish, topics=wish.topics | _topics(word))
            continue
        if not value:
            raise InvalidWish(f"{name.lower()}: needs {_NEEDED[name.lower()]}.")
        wish = _with_option(wish, name.lower(), value, left)
    if wish.digest_at is not None and wish.style not in {None, Style.DIGEST}:
        raise InvalidWish(f"digest: is for style:digest, not for style:{wish.style}.")
    if wish.digest_at is not None:
        wish = replace(wish, style=Style.DIGEST)
    if max(len(wish.branches), len(wish.except_logins)) > AT_MOST:
        raise InvalidWish(f"At most {AT_MOST} branches and {AT_MOST} logins can be named.")
    return wish


def _with_option(wish: Wish, name: str, value: str, left: Iterator[str]) -> Wish:
    parts = frozenset(part for part in value.split(",") if part)
    if any(len(part) > WORD_LIMIT for part in parts):
        raise InvalidWish(f"{name}: at most {WORD_LIMIT} characters.")
    match name:
        case "branch":
            return replace(wish, branches=wish.branches | parts)
        case "except":
            logins = {part.removeprefix("@").lower() for part in parts}
            return replace(wish, except_logins=wish.except_logins | logins)
        case "style":
            return replace(wish, style=_style(value))
        case _:
            return _with_digest(wish, value, left)


def _with_digest(wish: Wish, value: str, left: Iterator[str]) -> Wish:
    """The time zone, if there is one, is the word behind the time."""
    found = _CLOCK.fullmatch(value)
    try:
        at = time(int(found[1]), int(found[2])) if found else None
    except ValueError:
        at = None
    if at is None:
        raise InvalidWish(f"digest: needs {_NEEDED['digest']}.")
    behind = list(left)
    zone = None
    if behind and (behind[0] == UTC_ZONE or "/" in behind[0]):
        zone = _zone(behind.pop(0))
    following = read_wish(behind)
    if following.digest_at is not None:
        raise InvalidWish("digest: is said once.")
    return Wish(
        wish.topics | following.topics,
        wish.branches | following.branches,
        wish.except_logins | following.except_logins,
        following.style or wish.style,
        at,
        zone,
    )


def _zone(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidWish(f"There is no time zone “{name}”. Try Europe/Paris or UTC.") from None


def _style(value: str) -> Style:
    try:
        return Style(value.lower())
    except ValueError:
        raise InvalidWish(f"There is no style “{value}”. Styles are {', '.join(Style)}.") from None


def _topics(word: str) -> frozenset[str]:
    """The topics that a word names; commas part them too."""
    topics: set[str] = set()
    for part in word.split(","):
        topic = part.lower()
        if topic == ALL_TOPICS:
            topics.update(one.value for one in Topic)
        elif topic in set(Topic) or is_known_event_type(topic):
            topics.add(topic)
        elif topic:
            raise _no_topic(part)
    if not topics:
        raise _no_topic(word)
    return frozenset(topics)


def _no_topic(word: str) -> InvalidWish:
    choices = ", ".join((*Topic, ALL_TOPICS))
    return InvalidWish(f"There is no topic “{word}”. Topics are {choices}.")


def granted(before: Subscription | None, new: Subscription, wish: Wish) -> Subscription:
    """The subscription after subscribing; `new` says for whom, and has the default of the rest.

    Topics and excepted logins are added to those there are; so are branches, except that the
    first ones narrow a subscription that heard of all. `branch:*` means all again. What was not
    typed stays; somebody who types nothing at all wants the default topics.
    """
    return replace(
        new,
        topics=_granted_topics(before, wish),
        branches=_granted_branches(before, wish),
        except_logins=wish.except_logins | (before.except_logins if before else frozenset()),
        style=wish.style or (before.style if before else new.style),
        digest=_granted_digest(before, new, wish),
    )


def _granted_topics(before: Subscription | None, wish: Wish) -> frozenset[str]:
    if before is None:
        return wish.topics or DEFAULT_TOPICS
    return before.topics | (DEFAULT_TOPICS if wish == Wish() else wish.topics)


def _granted_branches(before: Subscription | None, wish: Wish) -> frozenset[str]:
    if ALL_BRANCHES in wish.branches:
        return frozenset()
    return wish.branches | (before.branches if before else frozenset())


def _granted_digest(
    before: Subscription | None, new: Subscription, wish: Wish
) -> DigestTime | None:
    style = wish.style or (before.style if before else new.style)
    if style is not Style.DIGEST:
        return None
    kept = before.digest if before is not None else None
    zone = wish.digest_zone or (kept or new.digest or DigestTime(DIGEST_AT)).zone
    at = wish.digest_at or (kept.at if kept is not None else DIGEST_AT)
    return DigestTime(at, zone)


def withdrawn(before: Subscription, wish: Wish) -> Subscription | None:
    """The subscription after unsubscribing, the mirror of subscribing; None when nothing is left.

    Raises InvalidWish when what is left could not be said in one subscription.
    """
    if wish.style is not None:
        raise InvalidWish("style: and digest: are for subscribe.")
    if wish == Wish():
        return None
    left = replace(before, except_logins=before.except_logins - wish.except_logins)
    if wish.topics or wish.branches:
        return _without_what_is_heard(left, wish)
    return left


def _without_what_is_heard(left: Subscription, wish: Wish) -> Subscription | None:
    unheard = sorted(wish.branches - left.branches - {ALL_BRANCHES})
    if unheard:
        heard = ", ".join(sorted(left.branches)) or "all branches"
        raise InvalidWish(f"This channel hears about {heard}, not {unheard[0]} by name.")
    branches = frozenset() if ALL_BRANCHES in wish.branches else left.branches - wish.branches
    topics = left.topics - wish.topics
    if not wish.topics:
        return replace(left, branches=branches) if branches else None
    if wish.branches and branches:
        raise InvalidWish("All branches have the same topics: leave out either of the two.")
    return replace(left, topics=topics) if topics else None


def words_of(subscription: Subscription) -> str:
    """What could be typed to get it, for the record."""
    style = f"style:{subscription.style}" if subscription.style is not Style.THREAD else ""
    digest = f"digest:{subscription.digest}" if subscription.digest is not None else ""
    return " ".join(
        word
        for word in (
            *sorted(subscription.topics),
            *_options("branch", subscription.branches),
            *_options("except", subscription.except_logins),
            style,
            digest,
        )
        if word
    )


def _options(name: str, values: Iterable[str]) -> Sequence[str]:
    return [f"{name}:{value}" for value in sorted(values)]
