"""No secret of any shape reaches a log, wherever in a record it stands."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from structlog.contextvars import bound_contextvars

from bot import logs
from bot.logs import CHATTY, REDACTED, redact, redactor

TWELVE = "AbC123456789"
SECRETS = {
    "bot token": f"xoxb-123456789012-123456789012-{TWELVE}",
    "user token": f"xoxp-123456789012-123456789012-{TWELVE}",
    "legacy token": f"xoxa-2-{TWELVE}",
    "refresh token": f"xoxe-1-{TWELVE}",
    "rotating token": f"xoxe.xoxb-1-{TWELVE}",
    "app-level token": f"xapp-1-A0MQBOT-123456789012-{TWELVE}{TWELVE}",
    "classic personal token": f"ghp_{TWELVE}{TWELVE}{TWELVE}",
    "server token": f"ghs_{TWELVE}{TWELVE}{TWELVE}",
    "fine-grained personal token": f"github_pat_{TWELVE}_{TWELVE}{TWELVE}",
    "bearer header": "Bearer 3f2a-any.thing~else",
    "lower-case bearer": "bearer 3f2a-any.thing~else",
    "response_url": f"https://hooks.slack.com/commands/T123/456/{TWELVE}",
    "interaction response_url": f"https://hooks.slack.com/actions/T123/456/{TWELVE}",
    "local response_url": f"http://127.0.0.1:8400/response/{TWELVE}",
    "trigger id": "13345224609.738474920.8088930838d88f008e0a3fb5a9c6a5ab",
    "short trigger id": "13345224609.738474920.8088930838d88f008e0",
    "workflow token": f"xwfp-{TWELVE}-{TWELVE}",
    "JSON web token": f"eyJhbGciOiJIUzI1NiJ9.{TWELVE}{TWELVE}.{TWELVE}",
    "ticket": f"wss://wss-primary.slack.com/link/?ticket={TWELVE}&app_id=A1",
    "local ticket": f"ws://127.0.0.1:8400/socket/{TWELVE}?app_id=A1",
    "incoming webhook": f"https://hooks.slack.com/services/T1/B1/{TWELVE}",
}


@pytest.mark.parametrize("shape", SECRETS)
def test_a_secret_is_removed_and_the_rest_stays(shape: str) -> None:
    secret = SECRETS[shape]
    for text in (f"before {secret} after", f"'{secret}'", f'{{"token": "{secret}"}}', secret):
        cleaned = redact(text)
        assert secret not in cleaned
        assert TWELVE not in cleaned
        assert REDACTED in cleaned
    assert redact(f"before {secret} after") == f"before {REDACTED} after"


def test_the_password_of_a_database_address_is_removed() -> None:
    text = redact("cannot connect to postgresql://mqbot:s3same@db.example:5432/mqbot")
    assert "s3same" not in text
    assert "db.example:5432/mqbot" in text


@pytest.mark.parametrize(
    "text",
    [
        f"token={TWELVE}",
        f"'token': '{TWELVE}'",
        f'{{"password":"{TWELVE}"}}',
        f"ticket={TWELVE}&a=b",
    ],
)
def test_a_field_named_like_a_secret_is_removed_in_any_form(text: str) -> None:
    assert TWELVE not in redact(text)


def test_known_secrets_are_removed_in_any_form() -> None:
    known = redactor(["sesame", "sesame-open", "hush", "abc"])
    assert known("sesame-open, then sesame, hush; abc is too short to be one") == (
        f"{REDACTED}, then {REDACTED}, {REDACTED}; abc is too short to be one"
    )


@pytest.mark.parametrize(
    "text",
    [
        "poll of acme/site failed",
        "https://ci.example.com/acme/site/jobs/12",
        "2026-11-21T00:22:03.123456Z",
        "1795221757.788662",
        "xoxb and xapp are prefixes",
        "3f2a8b17-95d2-4a4b-8a6b-31fb2d8a9c11",
    ],
)
def test_harmless_text_is_unchanged(text: str) -> None:
    assert redact(text) == text


@contextmanager
def configured(form: str) -> Iterator[None]:
    """Logging as the commands set it up; as it was before afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    levels = {name: logging.getLogger(name).level for name in CHATTY}
    try:
        logs.configure("DEBUG", form)
        yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
        for name, before in levels.items():
            logging.getLogger(name).setLevel(before)


@pytest.mark.parametrize("form", ["text", "json"])
def test_every_part_of_a_record_is_cleaned(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    secret = SECRETS["bot token"]
    with configured(form):
        try:
            int(f"no token {secret}")
        except ValueError:
            logging.getLogger("bot.test").exception(
                "a request with %s failed",
                secret,
                extra={"action": "tested", "detail": secret, "headers": {"Authorization": secret}},
            )
    written = capsys.readouterr().err
    assert secret not in written
    assert written.count(REDACTED) >= 4
    assert "tested" in written
    assert "ValueError" in written


@pytest.mark.parametrize(
    "text",
    ["http://a/" * 10_000, "https://" * 10_000, "eyJ" * 40_000, "a" * 60_000 + "_pat_"],
    ids=["paths", "starts", "JSON web tokens", "personal tokens"],
)
def test_no_text_takes_long_to_clean(text: str) -> None:
    begun = time.process_time()
    assert redact(text) == text
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_text_can_control_the_terminal(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    orders = "\x1b[2J\x1b]0;title\x07 \x9b1m \u202egnp.exe \u2028next\x85\r"
    with configured(form):
        logging.getLogger("bot").error(
            orders, extra={"detail": orders.replace(" ", "")}, exc_info=ValueError(orders)
        )
    written = capsys.readouterr().err
    assert all(one.isprintable() or one == "\n" for one in written), ascii(written)
    assert "title" in written


def test_loggers_that_would_print_addresses_and_payloads_are_silenced() -> None:
    with configured("text"):
        levels = {logging.getLogger(name).getEffectiveLevel() for name in CHATTY}
    assert min(levels) >= logging.WARNING


def test_json_records_have_their_fields_and_those_of_the_context_that_they_lack(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with configured("json"), bound_contextvars(request="4f2a", delivery_id="d1"):
        extra = {"action": "posted", "delivery_id": "d2"}
        logging.getLogger("bot.test").info("Posted", extra=extra)
    record = json.loads(capsys.readouterr().err)
    said = {"event": "Posted", "level": "info", "logger": "bot.test"}
    assert record.items() >= {**said, **extra, "request": "4f2a"}.items()
    assert record["timestamp"].endswith("Z")
