"""Parsers for the values of settings.

Each raises ValueError with a sentence for the person who set it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, get_args
from urllib.parse import urlsplit

from pydantic import BeforeValidator, SecretStr, ValidationInfo

from bot.acts.permission import MACHINE, Everyone, Listed, WhoMayPause
from bot.channels.subscription import Subscription, SubscriptionSource, added, read_options
from bot.config.file import is_special, path_in, split
from bot.kernel.configured import AcceptedSecret
from bot.kernel.errors import InvalidRequest
from bot.kernel.groups import ALL, OF_OWNER, Group, Groups, Repositories, distance, read_groups
from bot.kernel.logins import APP, ENDING, LOGIN
from bot.kernel.repository import RepositoryName

EVERYONE_WORD = "everyone"

_CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{2,}")
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+(%\w+)?")
"""A name, or an address of IPv6 as urlsplit gives it."""

_BOT_LOGIN = re.compile(rf"(?:{re.escape(ENDING)}[-._])?{LOGIN.pattern}", re.ASCII)
"""An ending begins with a separator: `*bot` would be abbot too."""

_PROFILE_FIELD = re.compile(r"Xf[A-Z0-9]{2,30}")
_PERSON_ID = re.compile(r"[UW][A-Z0-9]{2,30}")
_MACHINE_NAME = r"[a-z0-9][a-z0-9._-]{0,39}"
_WHO = re.compile(rf"[UWS][A-Z0-9]{{2,30}}|{MACHINE}{_MACHINE_NAME}")
MACHINE_NAME_IS = "a machine's name has up to 40 of a-z, 0-9, ., _ and -"
SHORTEST_MACHINE_TOKEN = 24
"""Nobody guesses 24 characters: a token needs no other protection from being tried."""

_MACHINE_TOKEN = re.compile(rf"({_MACHINE_NAME})=(.*)")
_SECRET = re.compile(r"([\x21-\x3a\x3c-\x7e]+)(?:\s+until\s+(\S+))?")

TOKENS_OF_A_MACHINE = 2
"""Secrets for one purpose: the new one and the old one."""

TWO_TOKENS = "write two tokens of one machine as name=NEW;name=OLD until 2030-01-31"
TWO_SECRETS = "write two secrets as NEW;OLD until 2030-01-31"

MACHINE_TOKENS = "MQBOT_MACHINE_TOKENS"
SIGNING_SECRET = "SLACK_SIGNING_SECRET"  # noqa: S105 - the variable's name

_ADDRESS_OF_REPOSITORY = re.compile(r"(?:https?://|git@)[^/:]+[/:]([\w-]+/[\w.-]+?)(?:\.git)?/?")

MOST_BYTES = 64 * 1024
"""More is no secret, and a device file never ends."""

NOT_PLAIN = "names no plain text file; give the path of one that holds the secret and nothing else"


_IN_QUOTATION_MARKS = re.compile(r"([\"'`]).*\1|“.*”", re.DOTALL)


def typed(value: object) -> object:
    """The value without blanks around it, such as a line end of Windows.

    Raises ValueError for a text in quotation marks: Docker, for one, doesn't take them off.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if _IN_QUOTATION_MARKS.fullmatch(text):
        raise ValueError("a value in quotation marks; leave them out")
    return text


def no_switch(value: object, wanted: object) -> object:
    """The value; raises ValueError for true or false where a number or text is `wanted`."""
    if isinstance(value, bool):
        types = set(_types(wanted))
        if bool not in types:
            raise ValueError("not text" if types.isdisjoint({int, float}) else "not a number")
    return value


def _types(annotation: object) -> Iterator[object]:
    yield annotation
    for inner in get_args(annotation):
        yield from _types(inner)


def _checked_text(value: object) -> str:
    if isinstance(value, (list, Mapping)):
        raise ValueError("not text")  # noqa: TRY004 - pydantic reports ValueError
    return str(value)


def api_url(value: object) -> str:
    text = _address(value).rstrip("/")
    if not text.endswith("/v1"):
        raise ValueError("an address that doesn't end in /v1")
    return text


def slack_url(value: object) -> str:
    return _address(value).rstrip("/") + "/"


def _address(value: object) -> str:
    """A service's address without query or fragment."""
    text = _checked_text(value).strip()
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        # The error may quote a part of a password.
        raise ValueError("not such an address") from None
    if not re.match("https?://", text, re.IGNORECASE):
        raise ValueError("an address that begins with neither https:// nor http://")
    if not _HOST.fullmatch(parts.hostname or ""):
        raise ValueError("not such an address")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("an address without a user, query or fragment is wanted")
    return text


def repositories(value: object) -> tuple[RepositoryName, ...]:
    names = [_checked_repository(word) for word in _listed_words(value)]
    if not names:
        raise ValueError("no repository is named")
    first = {name.casefold(): name for name in reversed(names)}
    return tuple(name for name in dict.fromkeys(names) if first[name.casefold()] == name)


def _checked_repository(word: str) -> RepositoryName:
    try:
        return RepositoryName.parse(word)
    except InvalidRequest as error:
        hint = _repository_hint(word) or error.detail
        raise ValueError(f"“{word[:80]}” isn't a repository: {hint}") from error


def _repository_hint(word: str) -> str | None:
    """What people write in place of a repository, and what to write instead."""
    address = _ADDRESS_OF_REPOSITORY.fullmatch(word)
    if address:
        return f"write {address[1]}"
    if "*" in word:
        return "name each repository, without a pattern"
    if word.startswith(("[", '"', "'")):
        return "write names without brackets and quotation marks"
    if "," in word:
        return "write each name on its own line, or as its own entry of the list"
    if re.search(r"[\s;]", word):
        return "separate repositories by commas"
    return None


def _listed_words(value: object) -> list[str]:
    """The words of a list or of a text with commas; `@path` is the lines of that file."""
    words = []
    for word in _as_list(value):
        path = path_in(word)
        words += [word] if path is None else _as_list(_of_file(path))
    return words


def _as_list(value: object) -> list[str]:
    words = split(value)
    if not all(isinstance(word, str) for word in words):
        raise ValueError("neither text nor a list of texts")
    stripped = [str(word).strip() for word in words]
    return [word for word in stripped if word]


def _entries(value: object) -> list[str]:
    """The entries `name=value` of a text with semicolons, of a list, or of a table of the file.

    A name in a table may have several values, as a list or as a table.
    """
    if isinstance(value, Mapping):
        return [f"{name}={text}" for name, named in value.items() for text in _table_values(named)]
    texts = re.split(r"[;\n]", value) if isinstance(value, str) else _as_list(value)
    return [text.strip() for text in texts if text.strip()]


def _table_values(value: object) -> list[str]:
    """The values of one name in a table: `C123 = ["merge"]` in it is C123:merge."""
    if isinstance(value, Mapping):
        return [f"{name}:{','.join(_as_list(inner))}" for name, inner in value.items()]
    return [value] if isinstance(value, str) else _as_list(value)


def _of_file(path: str) -> list[str]:
    """The lines of a file; # begins a comment."""
    if is_special(Path(path)):
        raise ValueError(f"{path} isn't a plain file")
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path} can't be read ({error.strerror})") from error
    except ValueError as error:
        raise ValueError(f"{path} isn't a text file") from error
    return [line.partition("#")[0] for line in text.splitlines()]


def groups(value: object, info: ValidationInfo) -> tuple[Group, ...]:
    """Raises GroupsProblem."""
    if isinstance(value, Mapping):
        value = [f"{name}={','.join(_as_list(named))}" for name, named in value.items()]
    return read_groups(";".join(_entries(value)), info.data.get("repositories"))


def channels(value: object, info: ValidationInfo) -> tuple[Subscription, ...]:
    """One for each repository; of two entries of a channel about it, the nearer counts."""
    entries = [_channel(entry) for entry in _entries(value)]
    if not {"repositories", "groups"} <= info.data.keys():
        return ()
    known = Groups(info.data["groups"], Repositories(info.data["repositories"]))
    found: dict[tuple[str, str], Subscription] = {}
    farthest_first = sorted(entries, key=lambda entry: distance(entry.named), reverse=True)
    for entry in farthest_first:
        for subscription in _of_each(entry.named, entry.subscription, known):
            key = (subscription.channel_id, subscription.repository.casefold())
            found[key] = subscription
    return tuple(found.values())


def _of_each(named: str, new: Subscription, known: Groups) -> Iterator[Subscription]:
    """The subscription, or one for each repository of a selection; raises ValueError."""
    if not _is_selection(named):
        check_channel(new.repository, known.repositories)
        yield new
        return
    selected = known.known(named.removeprefix("@"))
    if selected is None:
        near = get_close_matches(named, [f"@{name}" for name in known.names], 1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"“{named[:80]}” isn't a repository or group of the settings{guess}")
    for repository in selected.repositories:
        yield replace(new, repository=repository, through=selected.mention)


def _is_selection(named: str) -> bool:
    return named.lower() == ALL or named.startswith("@") or named.endswith(OF_OWNER)


class _ChannelEntry(NamedTuple):
    """One entry of the setting."""

    named: str  #: the repository or selection
    subscription: Subscription  #: of a channel to it


def _channel(part: str) -> _ChannelEntry:
    repository, equals, target = part.partition("=")
    channel_id, _, topics = target.partition(":")
    if "=" in target:
        raise ValueError(f"“{part[:80]}” holds several entries; separate them by semicolons")
    if not equals or not _CHANNEL_ID.fullmatch(channel_id.strip()):
        raise ValueError(f"“{part[:80]}” is not owner/name=C123:topic,topic{_channel_hint(part)}")
    named = repository.strip()
    name = RepositoryName.none() if _is_selection(named) else _checked_repository(named)
    try:
        options = read_options(topics.replace(",", " ").split())
    except InvalidRequest as error:
        raise ValueError(error.detail) from error
    new = Subscription(channel_id.strip(), name, source=SubscriptionSource.CONFIGURATION)
    return _ChannelEntry(named, added(None, new, options))


def _channel_hint(part: str) -> str:
    repository, _, target = part.partition("=")
    if _CHANNEL_ID.fullmatch(repository.strip()):
        return "; the repository comes first"
    if target and not target.strip().startswith("C"):
        return "; a channel's id is at the end of its details in Slack"
    return ""


def check_channel(repository: RepositoryName, known: Repositories) -> None:
    if known.find(repository) is None:
        near = get_close_matches(repository, known.names, 1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"{repository} is not in MQBOT_REPOSITORIES{guess}")


def who_may_pause(value: object) -> WhoMayPause:
    if isinstance(value, (Everyone, Listed)):
        return value
    ids = _as_list(value)
    if [user_id.lower() for user_id in ids] == [EVERYONE_WORD]:
        return Everyone()
    for user_id in ids:
        if not _WHO.fullmatch(user_id):
            where = "Slack has it as Copy member ID in a profile, or Copy group ID"
            hint = MACHINE_NAME_IS if user_id.startswith(MACHINE) else where
            raise ValueError(
                f"“{user_id[:80]}” isn't the id of a person, user group or machine; {hint}"
            )
    if not ids:
        raise ValueError("nobody is named")
    groups = frozenset(user_id for user_id in ids if user_id.startswith("S"))
    return Listed(people=frozenset(ids) - groups, groups=groups)


def people(value: object) -> frozenset[str]:
    if isinstance(value, frozenset):
        return value
    ids = _as_list(value)
    for user_id in ids:
        if not _PERSON_ID.fullmatch(user_id):
            raise ValueError(
                f"“{user_id[:80]}” isn't the id of a person; Slack has it as Copy member ID in a "
                "profile"
            )
    return frozenset(ids)


def group_id(value: str) -> str:
    if not re.fullmatch(r"S[A-Z0-9]{2,30}", value):
        raise ValueError(
            f"“{value[:80]}” isn't the id of a user group; Slack has it as Copy group ID"
        )
    return value


def logins(value: object) -> tuple[tuple[str, str], ...]:
    """People's Slack ids with their logins at the code host; each person and login once."""
    pairs: list[tuple[str, str]] = []
    words = _entries(value) if isinstance(value, Mapping) else _listed_words(value)
    for word in words:
        # A comma in a line of a file: the file is a table.
        before, _, after = word.replace(",", "=", 1).partition("=")
        user_id = before.strip()
        login = after.strip()
        if not _PERSON_ID.fullmatch(user_id) or not LOGIN.fullmatch(login):
            hint = "; the Slack id comes first" if _PERSON_ID.fullmatch(login) else ""
            raise ValueError(f"“{word[:80]}” is not U123=login{hint}")
        pairs.append((user_id, login))
    counts = Counter(name.lower() for pair in pairs for name in pair)
    for name, count in counts.most_common(1):
        if count > 1:
            raise ValueError(f"“{name}” is named twice")
    return tuple(pairs)


def profile_field(value: object) -> str | None:
    word = str(value or "").strip()
    if word and not _PROFILE_FIELD.fullmatch(word):
        raise ValueError(f"“{word[:80]}” is not the id of a profile field, such as Xf0123ABCD")
    return word or None


def bot_logins(value: object) -> tuple[str, ...]:
    """In lower case and without `[bot]`, which always counts."""
    words = _as_list(value)
    for word in words:
        if not _BOT_LOGIN.fullmatch(word):
            raise ValueError(f"“{word[:80]}” is neither a login nor an ending such as *-bot")
    return tuple(word.lower().removesuffix(APP) for word in words)


def machine_tokens(value: object) -> object:
    """As text, from a table of the file too."""
    text = value if isinstance(value, SecretStr) else SecretStr("\n".join(_entries(value)))
    machines(text)
    return text


def machines(value: SecretStr) -> Sequence[AcceptedSecret]:
    """The tokens of machines; no problem repeats an entry, which is a secret."""
    found: list[AcceptedSecret] = []
    for number, entry in enumerate(_entries(value.get_secret_value()), 1):
        named = _MACHINE_TOKEN.fullmatch(entry)
        if named is None:
            raise ValueError(f"entry {number} is not name=token; {MACHINE_NAME_IS}")
        machine = _accepted(MACHINE_TOKENS, number, named[2], TWO_TOKENS, named[1])
        if len(machine.secret) < SHORTEST_MACHINE_TOKEN:
            raise ValueError(
                f"the token of entry {number} has fewer than {SHORTEST_MACHINE_TOKEN} characters"
            )
        found.append(machine)
    _check_accepted(found)
    return found


def signing_secret(value: object) -> SecretStr:
    """As text, from a list of the file too."""
    if isinstance(value, Mapping):
        raise ValueError("not text")  # noqa: TRY004 - pydantic reports ValueError
    text = value if isinstance(value, SecretStr) else SecretStr("\n".join(_entries(value)))
    found = signing_secrets(text)
    if not found:
        raise ValueError("no secret is given")
    if all(secret.last_day for secret in found):
        raise ValueError("each secret has a last day; leave it out at the new one")
    return text


def signing_secrets(value: SecretStr) -> Sequence[AcceptedSecret]:
    """The signing secrets; no problem repeats one."""
    found = [
        _accepted(SIGNING_SECRET, number, entry, TWO_SECRETS)
        for number, entry in enumerate(_entries(value.get_secret_value()), 1)
    ]
    _check_accepted(found)
    return found


def _accepted(
    setting: str, entry: int, text: str, remedy: str, machine: str = ""
) -> AcceptedSecret:
    """A secret with its last day, if it has one. `remedy`: how to write two of them."""
    problem = _other_token(text, "")
    if problem is not None:
        raise ValueError(problem if entry == 1 else f"in entry {entry}: {problem}")
    if "," in text:
        raise ValueError(f"entry {entry} has a comma; {remedy}")
    read = _SECRET.fullmatch(text)
    if read is None:
        what = "name=token" if machine else "one word"
        raise ValueError(f"entry {entry} is not {what}; {remedy}")
    try:
        last_day = date.fromisoformat(read[2]) if read[2] else None
    except ValueError:
        raise ValueError(f"entry {entry} has no such last day; write it as 2030-01-31") from None
    return AcceptedSecret(setting, entry, SecretStr(read[1]), last_day, machine)


def _check_accepted(found: Sequence[AcceptedSecret]) -> None:
    """Raise ValueError for a secret that is there twice, or a third one for the same purpose."""
    secrets: set[str] = set()
    purposes = Counter[str]()
    for machine in found:
        if machine.secret.get_secret_value() in secrets:
            raise ValueError(f"entry {machine.entry} repeats an earlier one; give a new one")
        secrets.add(machine.secret.get_secret_value())
        purposes[machine.machine] += 1
        if purposes[machine.machine] > TOKENS_OF_A_MACHINE:
            whose = " of its machine" if machine.machine else ""
            raise ValueError(f"entry {machine.entry} is the third{whose}; remove the oldest")


def command(value: object) -> str:
    if not re.fullmatch(r"/[a-z0-9_\-]{1,31}", str(value)):
        raise ValueError("not such a command")
    return str(value)


def one_line(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().isprintable():
        raise ValueError("not an address: it has a line break or another control character")
    return value


def token(prefix: str) -> BeforeValidator:
    """One word that begins with `prefix`; a problem says what it is instead."""

    def check(value: object) -> object:
        text = value.get_secret_value() if isinstance(value, SecretStr) else _checked_text(value)
        text = text.strip()
        problem = _other_token(text, prefix)
        if problem is None and not re.fullmatch(rf"{prefix}[\x21-\x7e]+", text):
            problem = "not such a token, which is one word without spaces and line breaks"
        if problem is not None:
            raise ValueError(problem)
        return text

    return BeforeValidator(check)


_OTHER_TOKENS = (
    ("xoxb-", "a bot token, which belongs in SLACK_BOT_TOKEN"),
    ("xapp-", "an app-level token, which belongs in SLACK_APP_TOKEN"),
    ("xoxp-", "a person's token of Slack"),
    ("xoxe", "a token of Slack that configures apps"),
    ("xox", "a token of a browser's session in Slack"),
)
"""By their beginnings: https://docs.slack.dev/authentication/tokens."""


_SIGNING_SECRET = re.compile(r"[0-9a-f]{32}")


def _other_token(text: str, prefix: str) -> str | None:
    """What it is instead of the wanted token; repeats nothing of it."""
    if text[:1] in {'"', "'", "“", "`"}:
        return "a token in quotation marks; leave them out"
    if text.lower().startswith("bearer "):
        return "a token after the word Bearer; leave the word out"
    if "…" in text or "..." in text or text.startswith("<"):
        return "a placeholder for the token"
    if prefix and text.startswith(prefix):
        return None
    if prefix and _SIGNING_SECRET.fullmatch(text):
        return "a signing secret, which belongs in SLACK_SIGNING_SECRET"
    others = [what for start, what in _OTHER_TOKENS if text.startswith(start)]
    return others[0] if others else None


def read_secret_file(named: str, *, may_be_pipe: bool = True) -> str:
    """The content without its last line break; raises ValueError.

    No problem repeats the path, which may be the secret itself, typed there by mistake.
    `may_be_pipe`: not of a file that is read more than once; nobody may write into it again.
    """
    path = Path(named)
    if not may_be_pipe and is_special(path):
        raise ValueError(NOT_PLAIN)
    try:
        with path.open("rb") as file:
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
