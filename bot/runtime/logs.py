"""Log format: fixed sentences with fields, and never a secret."""

import logging
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger
from typing_extensions import override

# The part before a deciding end is bounded, because otherwise every word of a long text without one
# would be scanned to the end.
_SECRETS = re.compile(
    r"""
    x(?:ox[a-z]|app|wfp)(?:\.x[a-z]{3})?-[A-Za-z0-9-]{4,}   # Slack's tokens
    | gh[a-z]_[A-Za-z0-9]{16,} | [a-z]{1,40}_pat_[A-Za-z0-9_]{16,}
    | eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*   # JSON web tokens
    | (?i:bearer)\s+(?!(?i:token|key|credential|auth)[a-z]*(?:[\s.,;:'")]|$))[^\s'",]+  # no prose
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

OUR_WORDS = frozenset({"mqbot", "postgres", "queue", "slack"})
"""Passwords of trials that are words of every other sentence: to hide them hides the sentence."""

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

REPEATED_SECONDS = 60.0
"""How long a record stands for those like it."""

SAID_ONCE = frozenset({"job_failed", "service_answers", "service_limited", "service_silent"})
"""Actions of records about a state that lasts. Their loggers already leave out the repeats."""

MOST_VARIANTS = 10
"""Records of one sentence in that time that differ, for example in their repository."""

MOST_SENTENCES = 1000

OWN_LOGGERS = "bot"

VARYING = frozenset({"detail", "left_out", "reference", "remote"})
"""Fields that don't make two records different."""

STANDARD_FIELDS = frozenset(logging.makeLogRecord({}).__dict__)

Redact = Callable[[str], str]


def redact(text: str) -> str:
    """`text` without anything that looks like a credential."""
    return _SECRETS.sub(REDACTED, text)


class Redactor:
    """Like `redact`, and also without the values that were added."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._values: re.Pattern[str] | None = None
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these too; what was hidden stays hidden."""
        self._known |= {
            secret
            for secret in secrets
            if len(secret) >= SHORTEST_KNOWN and secret not in OUR_WORDS
        }
        if self._known:
            longest_first = sorted(self._known, key=len, reverse=True)
            self._values = re.compile("|".join(re.escape(word) for word in longest_first))

    def __call__(self, text: str) -> str:
        return redact(self._values.sub(REDACTED, text) if self._values is not None else text)


def visible(text: str) -> str:
    """Escape control and direction characters, which a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in "\n\t" else repr(character)[1:-1]
        for character in text
    )


@dataclass
class _Minute:
    """The records of one sentence since the first one that was logged."""

    began_at: float
    seen: set[tuple[str, ...]] = field(default_factory=set)
    left_out: int = 0


class OnceAMinute(logging.Filter):
    """Lets each warning and error through once a minute, with the number left out before it.

    Strangers and broken services cause them as often as they like, in libraries too. A record with
    a reference always passes, because a person may ask for it, and so does one that is said once:
    without it, what fails again after it worked for a moment would seem to work.
    """

    def __init__(self) -> None:
        super().__init__()
        self._minutes: dict[tuple[str, ...], _Minute] = {}

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        is_rare = hasattr(record, "reference") or getattr(record, "action", None) in SAID_ONCE
        if record.levelno < logging.WARNING or is_rare:
            return True
        sentence = _what_repeats(record)
        minute = self._minutes.get(sentence)
        if minute is None or not 0 <= record.created - minute.began_at < REPEATED_SECONDS:
            if minute is not None and minute.left_out:
                record.left_out = minute.left_out
            self._begin(sentence, record)
            return True
        variant = _variant(record)
        if variant in minute.seen or len(minute.seen) >= MOST_VARIANTS:
            minute.left_out += 1
            return False
        minute.seen.add(variant)
        return True

    def _begin(self, sentence: tuple[str, ...], record: logging.LogRecord) -> None:
        self._minutes.pop(sentence, None)
        if len(self._minutes) >= MOST_SENTENCES:
            del self._minutes[next(iter(self._minutes))]
        self._minutes[sentence] = _Minute(record.created, {_variant(record)})


def _what_repeats(record: logging.LogRecord) -> tuple[str, ...]:
    """What repeats: a sentence of ours, or anything that a library's logger says."""
    if record.name.partition(".")[0] == OWN_LOGGERS:
        return record.name, record.levelname, str(record.msg)
    return record.name, record.levelname


def _variant(record: logging.LogRecord) -> tuple[str, ...]:
    """What distinguishes a record from others of its sentence: words, not numbers."""
    names = sorted(record.__dict__.keys() - STANDARD_FIELDS - VARYING)
    values = [record.__dict__[name] for name in names]
    return str(record.msg), *(str(value) for value in values if not isinstance(value, (int, float)))


def _redacting(redact_text: Redact) -> Processor:
    def redact_fields(_logger: WrappedLogger, _name: str, fields: EventDict) -> EventDict:
        for key, value in fields.items():
            if isinstance(value, str):
                fields[key] = redact_text(value)
            elif isinstance(value, datetime):
                # As the time of the record itself.
                fields[key] = value.astimezone(UTC).isoformat().replace("+00:00", "Z")
            elif not isinstance(value, (int, float, bool, type(None))):
                fields[key] = redact_text(repr(value))
        return fields

    return redact_fields


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to standard error what its redactor leaves."""

    def __init__(self, hidden: Redactor) -> None:
        super().__init__(sys.stderr)
        self.hidden = hidden


def hide(secrets: Iterable[str]) -> None:
    """Hide these values too, in every log that `configure` set up; call it before their first use.

    Values that were hidden before stay so: an old secret may still be valid elsewhere.
    """
    new = [*secrets]
    for handler in logging.getLogger().handlers:
        if isinstance(handler, _Handler):
            handler.hidden.add(new)


def configure(level: str, form: str, secrets: Iterable[str] = ()) -> None:
    """Send all logs to standard error, as text for people or as JSON for machines.

    `secrets` are removed wherever they occur, and so is anything that looks like a credential.
    Warnings that repeat are logged once a minute. Messages of libraries below WARNING are always
    left out, even with DEBUG: they hold payloads.
    """
    is_json = form == "json"
    redact_text = Redactor(secrets)
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
            _redacting(redact_text if is_json else lambda text: visible(redact_text(text))),
            structlog.processors.JSONRenderer()
            if is_json
            else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
    )
    handler = _Handler(redact_text)
    handler.setFormatter(formatter)
    handler.addFilter(OnceAMinute())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
