"""Parsers for the values of settings.

Each raises ValueError with a sentence for the person who set it.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BeforeValidator, SecretStr

from bot.domain.commands.readers import LOGIN
from bot.domain.errors import InvalidRequest
from bot.domain.groups import Repositories
from bot.domain.permissions import MACHINE, Everyone, Listed, WhoMayPause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, SubscriptionSource, added, read_options

EVERYONE = "everyone"

_CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{2,}")
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+(%\w+)?")
"""A name, or an address of IPv6 as urlsplit gives it."""

_PERSON_ID = re.compile(r"[UW][A-Z0-9]{2,30}")
_MACHINE_NAME = r"[a-z0-9][a-z0-9._-]{0,39}"
_WHO = re.compile(rf"[UWS][A-Z0-9]{{2,30}}|{MACHINE}{_MACHINE_NAME}")
_MACHINE_TOKEN = re.compile(rf"({_MACHINE_NAME})=([\x21-\x3a\x3c-\x7e]{{24,}})")
"""Nobody guesses 24 characters: a token needs no other protection from being tried."""

MOST_BYTES = 64 * 1024
"""More is no secret, and a device file never ends."""

NOT_PLAIN = "names no plain text file; give the path of one that holds the secret and nothing else"


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
    names = [_repository(word) for word in _words(value)]
    if not names:
        raise ValueError("no repository is named")
    return tuple(dict.fromkeys(names))


def _repository(word: str) -> RepositoryName:
    try:
        return RepositoryName.parse(word)
    except InvalidRequest as error:
        raise ValueError(f"“{word[:80]}” is no repository: {error.detail}") from error


def _words(value: object) -> list[str]:
    """The words of a list, of a text with commas, or of the lines of the file after `@`."""
    if isinstance(value, str) and value.startswith("@"):
        return _listed(_of_file(value[1:]))
    return _listed(value)


def _listed(value: object) -> list[str]:
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)):
        raise ValueError("not a list")  # noqa: TRY004 - pydantic reports ValueError
    return [str(word).strip() for word in words if str(word).strip()]


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
        options = read_options(topics.replace(",", " ").split())
    except InvalidRequest as error:
        raise ValueError(error.detail) from error
    new = Subscription(channel_id.strip(), name, source=SubscriptionSource.CONFIGURATION)
    return added(None, new, options)


def check_channels(channels: Iterable[Subscription], known: Repositories) -> None:
    for one in channels:
        if known.find(one.repository) is None:
            raise ValueError(f"{one.repository} is not in MQBOT_REPOSITORIES")


def who_may_pause(value: object) -> WhoMayPause:
    if isinstance(value, (Everyone, Listed)):
        return value
    ids = _listed(value)
    if ids == [EVERYONE]:
        return Everyone()
    for one in ids:
        if not _WHO.fullmatch(one):
            raise ValueError(f"“{one[:80]}” is no id of a person, user group or machine")
    if not ids:
        raise ValueError("nobody is named")
    groups = frozenset(one for one in ids if one.startswith("S"))
    return Listed(people=frozenset(ids) - groups, groups=groups)


def logins(value: object) -> tuple[tuple[str, str], ...]:
    """People's Slack ids with their logins at the code host; each person and login once."""
    pairs = []
    for word in _words(value):
        # A comma in a line of a file: the file is a table.
        user_id, login = (part.strip() for part in word.replace(",", "=", 1).partition("=")[::2])
        if not _PERSON_ID.fullmatch(user_id) or not LOGIN.fullmatch(login):
            raise ValueError(f"“{word[:80]}” is not U123=login")
        pairs.append((user_id, login))
    counts = Counter(name.lower() for pair in pairs for name in pair)
    if counts and counts.most_common(1)[0][1] > 1:
        raise ValueError(f"“{counts.most_common(1)[0][0]}” is named twice")
    return tuple(pairs)


def machine_tokens(value: SecretStr) -> SecretStr:
    machines(value)
    return value


def machines(value: SecretStr) -> dict[str, str]:
    """The names of machines by their tokens; no problem repeats an entry, which is a secret."""
    entries = [one.strip() for one in re.split(r"[;\n]", value.get_secret_value()) if one.strip()]
    found: dict[str, str] = {}
    for number, entry in enumerate(entries, 1):
        named = _MACHINE_TOKEN.fullmatch(entry)
        if named is None:
            raise ValueError(f"entry {number} is not name=token")
        if named[1] in found.values() or named[2] in found:
            raise ValueError(f"entry {number} repeats a name or a token")
        found[named[2]] = named[1]
    return found


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


def read_secret_file(named: str) -> str:
    """The content without its last line break; raises ValueError.

    No problem repeats the path, which may be the secret itself, typed there by mistake.
    """
    try:
        with Path(named).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode()
    except OSError as error:
        raise ValueError(
            f"names a file that can't be read ({error.strerror}); "
            "give the path of a file that the bot's user may read"
        ) from None
    except ValueError:  # the path has a null byte, or the content is not UTF-8
        raise ValueError(NOT_PLAIN) from None
    if len(content) > MOST_BYTES:
        raise ValueError(NOT_PLAIN)
    if not text.strip():
        raise ValueError("names an empty file; write the secret into it")
    return text.removesuffix("\n").removesuffix("\r")
