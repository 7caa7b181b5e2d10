"""Log format: fixed sentences with fields, and never a secret."""

import logging
import re
import sys
from collections.abc import Callable, Iterable

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

# The part before a deciding end is bounded, because otherwise every word of a long text without one
# would be scanned to the end.
_SECRETS = re.compile(
    r"""
    x(?:ox[a-z]|app|wfp)(?:\.x[a-z]{3})?-[A-Za-z0-9-]{4,}   # Slack's tokens
    | gh[a-z]_[A-Za-z0-9]{16,} | [a-z]{1,40}_pat_[A-Za-z0-9_]{16,}
    | eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*   # JSON web tokens
    | (?i:bearer)\s+[^\s'",]+
    | (?i:authorization['"]?\s*[:=]\s*['"]?(?:basic|token)\s+)[^\s'",]+
    | (?i:['"](?:token|secret|password|ticket|signing_secret)['"]\s*:\s*['"])[^'"]+
    | (?i:\b(?:token|secret|password|ticket|signing_secret)=)['"]?[^\s'"&,;)]+
    | https?://[^\s'"<>]{0,500}?/(?:response|commands|actions|services|workflows|triggers)/[^\s'"<>]+
    | wss?://[^\s'"<>]+                                      # the ticket of a connection
    | \b\d{6,}\.\d{6,}\.[0-9a-f]{8,}\b                       # trigger ids
    | (?<=://)[^\s/:@]+:[^\s/@]+(?=@)                        # user and password in an address
    """,
    re.VERBOSE,
)

REDACTED = "[redacted]"

SHORTEST_KNOWN = 4
"""A shorter secret would be found in every other word."""

CHATTY = (
    "aiohttp",
    "alembic",
    "apscheduler",
    "asyncio",
    "httpcore",
    "httpx",
    "slack_bolt",
    "slack_sdk",
    "sqlalchemy",
    "websockets",
)
"""Loggers that print whole payloads, addresses and statements; the bot logs the important parts."""

Redact = Callable[[str], str]


def redact(text: str) -> str:
    """`text` without anything that looks like a credential."""
    return _SECRETS.sub(REDACTED, text)


def redactor(secrets: Iterable[str]) -> Redact:
    """Like `redact`, and also without these values."""
    known = sorted({one for one in secrets if len(one) >= SHORTEST_KNOWN}, key=len, reverse=True)
    if not known:
        return redact
    values = re.compile("|".join(re.escape(one) for one in known))
    return lambda text: redact(values.sub(REDACTED, text))


def _made_visible(text: str) -> str:
    """Escape control and direction characters, which a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else repr(one)[1:-1] for one in text)


def _redacting(redact_text: Redact) -> Processor:
    def redact_fields(_logger: WrappedLogger, _name: str, fields: EventDict) -> EventDict:
        for key, value in fields.items():
            if isinstance(value, str):
                fields[key] = redact_text(value)
            elif not isinstance(value, (int, float, bool, type(None))):
                fields[key] = redact_text(repr(value))
        return fields

    return redact_fields


def configure(level: str, form: str, secrets: Iterable[str] = ()) -> None:
    """Send all logs to standard error, as text for people or as JSON for machines.

    `secrets` are removed wherever they occur, and so is anything that looks like a credential.
    Messages of libraries below WARNING are always left out, even with DEBUG: they hold payloads.
    """
    is_json = form == "json"
    redact_text = redactor(secrets)
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            # JSON escapes control characters itself.
            _redacting(redact_text if is_json else lambda text: _made_visible(redact_text(text))),
            structlog.processors.JSONRenderer()
            if is_json
            else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
