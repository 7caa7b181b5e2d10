"""The form of the log: fixed sentences with fields, and no secret ever."""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

_SECRETS = re.compile(
    r"""
    x(?:ox[a-z]|app)(?:\.x[a-z]{3})?-[A-Za-z0-9-]{8,}   # Slack's tokens
    | gh[a-z]_[A-Za-z0-9]{16,} | [a-z]+_pat_[A-Za-z0-9_]{16,}
    | (?i:bearer)\s+[^\s'",]+
    | https?://[^\s'"]*/(?:response|commands|actions|services|workflows)/[^\s'"]+   # response_url
    | \b\d{9,}\.\d{9,}\.[0-9a-f]{32}\b                   # trigger ids
    | (?<=://)[^\s/:@]+:[^\s/@]+(?=@)                    # user and password in an address
    """,
    re.VERBOSE,
)

REDACTED = "[redacted]"


def redact(text: str) -> str:
    """`text` without anything that has the shape of a credential."""
    return _SECRETS.sub(REDACTED, text)


def _redact_fields(
    _logger: Any,  # noqa: ANN401 - structlog's own signature
    _name: str,
    fields: MutableMapping[str, Any],
) -> MutableMapping[str, Any]:
    for key, value in fields.items():
        if isinstance(value, str):
            fields[key] = redact(value)
        elif not isinstance(value, (int, float, bool, type(None))):
            fields[key] = redact(repr(value))
    return fields


def configure(level: str, form: str) -> None:
    """Send all logs to standard error, as text for people or as JSON for machines."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _redact_fields,
            renderer,
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    # These print whole payloads and addresses; what matters of them is logged by us.
    for chatty in ("httpx", "httpcore", "apscheduler", "aiosqlite", "websockets"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, logging.getLevelName(level)))
