"""Parsers for the values of settings.

Each raises ValueError with a sentence for the person who set it.
"""

import re
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BeforeValidator, SecretStr

from bot.domain.commands.readers import LOGIN
from bot.domain.errors import InvalidRequest
from bot.domain.permissions import Everyone, Listed, WhoMayPause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, SubscriptionSource, added, read_options

EVERYONE = "everyone"

_CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{2,}")
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+(%\w+)?")
"""A name, or an address of IPv6 as urlsplit gives it."""

_PERSON_ID = re.compile(r"[UW][A-Z0-9]{2,30}")
_PERSON_OR_GROUP_ID = re.compile(r"[UWS][A-Z0-9]{2,30}")


def api_url(value: object) -> str:
    text = _address(value).rstrip("/")
    if not text.endswith("/v1"):
        raise ValueError("not such an address")
    return text


def slack_url(value: object) -> str:
    return _address(value).rstrip("/") + "/"


def _address(value: object) -> str:
    """A service's address without query or fragment."""
    text = str(value)
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        # The error may quote a part of a password.
        raise ValueError("not such an address") from None
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(parts.hostname or ""):
        raise ValueError("not such an address")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("an address without a user, query or fragment is wanted")
    return text


def repositories(value: object) -> tuple[RepositoryName, ...]:
    words = _of_file(value[1:]) if isinstance(value, str) and value.startswith("@") else value
    if isinstance(words, str):
        words = words.split(",")
    if not isinstance(words, (list, tuple)):
        raise ValueError("not a list")  # noqa: TRY004 - pydantic reports ValueError
    names = [_repository(str(word).strip()) for word in words if str(word).strip()]
    if not names:
        raise ValueError("no repository is named")
    return tuple(dict.fromkeys(names))


def _repository(word: str) -> RepositoryName:
    try:
        return RepositoryName.parse(word)
    except InvalidRequest as error:
        raise ValueError(f"“{word[:80]}” is no repository: {error.detail}") from error


def _of_file(path: str) -> list[str]:
    """The lines of a file; # begins a comment."""
    try:
        text = Path(path.strip()).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path.strip()} can't be read ({error.strerror})") from error
    except ValueError as error:
        raise ValueError(f"{path.strip()} isn't a text file") from error
    return [line.partition("#")[0] for line in text.splitlines()]


def channels(value: object) -> tuple[Subscription, ...]:
    return tuple(_channel(part.strip()) for part in str(value).split(";") if part.strip())


def _channel(part: str) -> Subscription:
    repository, equals, target = part.partition("=")
    channel_id, _, topics = target.partition(":")
    if not equals or not _CHANNEL_ID.fullmatch(channel_id.strip()):
        raise ValueError(f"“{part[:80]}” is not owner/name=C123:topic,topic")
    try:
        name = RepositoryName.parse(repository.strip())
        wish = read_options(topics.replace(",", " ").split())
    except InvalidRequest as error:
        raise ValueError(error.detail) from error
    new = Subscription(channel_id.strip(), name, source=SubscriptionSource.CONFIGURATION)
    return added(None, new, wish)


def who_may_pause(value: object) -> WhoMayPause:
    if isinstance(value, (Everyone, Listed)):
        return value
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)):
        raise ValueError("not a list")  # noqa: TRY004 - pydantic reports ValueError
    ids = [str(word).strip() for word in words if str(word).strip()]
    if ids == [EVERYONE]:
        return Everyone()
    for one in ids:
        if not _PERSON_OR_GROUP_ID.fullmatch(one):
            raise ValueError(f"“{one[:80]}” is no id of a person or user group")
    if not ids:
        raise ValueError("nobody is named")
    groups = frozenset(one for one in ids if one.startswith("S"))
    return Listed(people=frozenset(ids) - groups, groups=groups)


def logins(value: object) -> tuple[tuple[str, str], ...]:
    """People's Slack ids with their logins at the code host; each person and login once."""
    pairs = []
    for part in (part.strip() for part in str(value).split(",") if part.strip()):
        user_id, _, login = (word.strip() for word in part.partition("="))
        if not _PERSON_ID.fullmatch(user_id) or not LOGIN.fullmatch(login):
            raise ValueError(f"“{part[:80]}” is not U123=login")
        pairs.append((user_id, login))
    named = [name.lower() for pair in pairs for name in pair]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"“{twice}” is named twice")
    return tuple(pairs)


def command(value: object) -> str:
    if not re.fullmatch(r"/[a-z0-9_\-]{1,31}", str(value)):
        raise ValueError("not such a command")
    return str(value)


def one_line(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().isprintable():
        raise ValueError("not an address: it has a line break or another control character")
    return value


def token(prefix: str) -> BeforeValidator:
    def check(value: object) -> object:
        text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        if not re.fullmatch(rf"{prefix}[\x21-\x7e]+", text.strip()):
            raise ValueError("not such a token, which is one word without spaces and line breaks")
        return text.strip()

    return BeforeValidator(check)
