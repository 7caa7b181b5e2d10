"""The secrets of the settings: all their values, which no log may show, and when some end."""

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from bot.config.settings import Settings
from bot.kernel.configured import AcceptedSecret

WARNED_DAYS = 7
"""How long before its last day a secret is warned of."""


def secrets_of(settings: Settings) -> frozenset[str]:
    """Every secret value, including the password in the database's address."""
    values = _passwords(settings)
    for setting in vars(settings).values():
        if isinstance(setting, SecretStr):
            value = setting.get_secret_value()
            # The path of a file is no secret, and a part of other sentences.
            if not value.startswith("sqlite:"):
                values.add(value)
    # Those of repositories that aren't configured any more, too: the bot may still use them.
    for table in settings.policy.values():
        if table.api_token is not None:
            values.add(table.api_token.get_secret_value())
    for secret in (*settings.machines, *settings.signing_secrets):
        values.add(secret.secret.get_secret_value())
    return frozenset(values)


def _passwords(settings: Settings) -> set[str]:
    try:
        password = urlsplit(settings.database_url.get_secret_value()).password
    except ValueError:  # invalid; opening the database reports it
        return set()
    return {password, unquote(password)} if password else set()


def with_last_day(settings: Settings) -> Sequence[AcceptedSecret]:
    """The secrets that end, or have ended."""
    accepted = [*settings.signing_secrets, *settings.machines]
    return [token for token in accepted if token.last_day is not None]


def has_successor(secret: AcceptedSecret, settings: Settings, now: datetime) -> bool:
    """Whether another one for the same purpose counts longer."""
    left = secret.days_left(now)
    for other in (*settings.signing_secrets, *settings.machines):
        if other == secret or not _is_alike(other, secret):
            continue
        days = other.days_left(now)
        if days is None or (left is not None and days > left):
            return True
    return False


def _is_alike(first: AcceptedSecret, second: AcceptedSecret) -> bool:
    """Whether both are for the same purpose."""
    return first.setting == second.setting and first.machine == second.machine
