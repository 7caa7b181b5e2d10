"""The secrets of the settings: all their values, which no log may show, and when some end."""

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from bot.config.policies import own_tokens
from bot.config.settings import Settings
from bot.kernel.configured import AcceptedSecret

WARNED_DAYS = 7
"""How long before its last day a secret is warned of."""


def secrets_of(settings: Settings) -> frozenset[str]:
    """Every secret value, including the password in the database's address."""
    given = {value for value in vars(settings).values() if isinstance(value, SecretStr)}
    shown = {token.get_secret_value() for token in given}
    # The path of a file is no secret, and a part of other sentences.
    shown = {value for value in shown if not value.startswith("sqlite:")}
    own = {token.secret for token in own_tokens(settings).values()}
    own |= {secret.secret for secret in (*settings.machines, *settings.signing_secrets)}
    values = {token.get_secret_value() for token in own}
    return frozenset({*shown, *values, *_passwords(settings)})


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
    accepted = [*settings.signing_secrets, *settings.machines]
    alike = [other for other in accepted if _purpose(other) == _purpose(secret) and other != secret]
    left = secret.days_left(now)
    longer = [other.days_left(now) for other in alike]
    return any(days is None or (left is not None and days > left) for days in longer)


def _purpose(secret: AcceptedSecret) -> tuple[str, str]:
    return secret.setting, secret.machine
