"""The form of the log: fixed sentences with fields, and no secret ever."""

import json
import logging
import re
import sys
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from typing_extensions import override

# What may stand before the end that decides is bounded, or a long text without such an end would be
# read to its end from each of its words.
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
"""These print whole payloads, addresses and statements; what matters of them is logged by us."""

Redact = Callable[[str], str]
Known = Callable[[], Mapping[str, str]]
_Render = Callable[[Mapping[str, Any]], str]


def redact(text: str) -> str:
    """`text` without anything that has the shape of a credential."""
    return _SECRETS.sub(REDACTED, text)


def redactor(secrets: Iterable[str]) -> Redact:
    """As `redact`, and without these values, whatever their shape."""
    known = sorted({one for one in secrets if len(one) >= SHORTEST_KNOWN}, key=len, reverse=True)
    if not known:
        return redact
    values = re.compile("|".join(re.escape(one) for one in known))
    return lambda text: redact(values.sub(REDACTED, text))


def _made_visible(text: str) -> str:
    """With control and direction characters spelt out: a terminal would obey them."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else repr(one)[1:-1] for one in text)


def _redacting(redact_text: Redact) -> structlog.typing.Processor:
    def redact_fields(
        _logger: Any,  # noqa: ANN401 - structlog's own signature
        _name: str,
        fields: MutableMapping[str, Any],
    ) -> MutableMapping[str, Any]:
        for key, value in fields.items():
            if isinstance(value, str):
                fields[key] = redact_text(value)
            elif not isinstance(value, (int, float, bool, type(None))):
                fields[key] = redact_text(repr(value))
        return fields

    return redact_fields


def _knowing(known: Known) -> structlog.typing.Processor:
    def add_known(
        _logger: Any,  # noqa: ANN401 - structlog's own signature
        _name: str,
        fields: MutableMapping[str, Any],
    ) -> MutableMapping[str, Any]:
        for key, value in known().items():
            fields.setdefault(key, value)
        return fields

    return add_known


_OF_EVERY_RECORD = frozenset(logging.makeLogRecord({}).__dict__)
_OF_ERRORS = frozenset({"exc_info", "exception", "stack", "logger_name"})
"""Fields that structlog's renderer knows and ours does not."""

_QUOTED = re.compile(r"""[ \t=\r\n"']""")


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """A record as structlog forms it, for a third of the CPU where it has no error to show.

    Most records have none: one is written with each post.
    """

    def __init__(
        self,
        redact_fields: structlog.typing.Processor,
        known: Known,
        render: _Render | None,
        *,
        before: Sequence[structlog.typing.Processor],
        processors: Sequence[structlog.typing.Processor],
    ) -> None:
        super().__init__(processors=processors, foreign_pre_chain=before)
        self._redact_fields = redact_fields
        self._known = known
        self._render = render

    @override
    def format(self, record: logging.LogRecord) -> str:
        render = self._render
        if render is None or record.exc_info or record.stack_info:
            return super().format(record)
        fields: dict[str, Any] = {
            "event": record.getMessage(),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        fields |= {k: v for k, v in record.__dict__.items() if k not in _OF_EVERY_RECORD}
        if not _OF_ERRORS.isdisjoint(fields):
            return super().format(record)
        for key, value in self._known().items():
            fields.setdefault(key, value)
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")
        fields["timestamp"] = at.replace("+00:00", "Z")
        self._redact_fields(None, "", fields)
        return render(fields)


def _as_text(fields: Mapping[str, Any]) -> str:
    """A line without colours."""
    own = ("timestamp", "level", "event", "logger")
    at, level, event, logger = (fields[name] for name in own)
    line = f"{at} [{level:<9}] {event:<30} [{logger}]"
    shown = [f"{key}={_shown(fields[key])}" for key in sorted(fields) if key not in own]
    return " ".join([line, *shown]).rstrip(" ")


def _shown(value: object) -> str:
    return value if isinstance(value, str) and not _QUOTED.search(value) else repr(value)


def _redactor_for(form: str, redact_text: Redact) -> Redact:
    """JSON spells control characters out by itself."""
    return redact_text if form == "json" else lambda text: _made_visible(redact_text(text))


def _renderers(form: str) -> tuple[structlog.typing.Processor, _Render | None]:
    """That of structlog, and ours for records without an error; None where colours are wanted."""
    if form == "json":
        return structlog.processors.JSONRenderer(), json.dumps
    coloured = sys.stderr.isatty()
    return structlog.dev.ConsoleRenderer(colors=coloured), None if coloured else _as_text


def configure(
    level: str, form: str, secrets: Iterable[str] = (), known: Known = dict[str, str]
) -> None:
    """Send all logs to standard error, as text for people or as JSON for machines.

    `secrets` are taken out wherever they occur, besides everything of a credential's shape. What
    the libraries say below WARNING is left out at every level, DEBUG included: it holds payloads.
    `known`: fields for every record that does not have them, asked when it is written.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        _knowing(known),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    redact_fields = _redacting(_redactor_for(form, redactor(secrets)))
    renderer, render = _renderers(form)
    formatter = _Formatter(
        redact_fields,
        known,
        render,
        before=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            redact_fields,
            renderer,
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
