"""No secret of any shape reaches a log, wherever in a record it stands."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from structlog.contextvars import bound_contextvars

from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.silence import FAILURES_IN_A_ROW, Silence
from bot.runtime import logs
from bot.runtime.logs import CHATTY, REDACTED, Redactor, redact
from bot.runtime.scheduler import Job
from bot.store.errors import StoreUnavailable
from tests.support.capturing import logging_restored
from tests.support.clock import FakeClock

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
    known = Redactor(["sesame", "sesame-open", "hush", "abc"])
    assert known("sesame-open, then sesame, hush; abc is too short to be one") == (
        f"{REDACTED}, then {REDACTED}, {REDACTED}; abc is too short to be one"
    )


def test_a_secret_that_comes_later_is_hidden_too_and_the_old_one_stays_hidden(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with configured("text", "sesame-of-before"):
        logs.hide(["sesame-of-now", "abc"])
        logging.getLogger("bot.test").info("sesame-of-before, sesame-of-now, abc")
    written = capsys.readouterr().err
    assert "sesame" not in written
    assert "abc" in written


def test_a_password_that_is_the_programs_name_hides_no_sentence() -> None:
    known = Redactor(["mqbot", "sesame"])
    assert known("mqbot has sesame") == f"mqbot has {REDACTED}"


@pytest.mark.parametrize(
    "text",
    [
        "poll of acme/site failed",
        "https://ci.example.com/acme/site/jobs/12",
        "2026-11-21T00:22:03.123456Z",
        "1795221757.788662",
        "xoxb and xapp are prefixes",
        "A valid Bearer token is required",
        "bearer authentication failed.",
        "3f2a8b17-95d2-4a4b-8a6b-31fb2d8a9c11",
    ],
)
def test_harmless_text_is_unchanged(text: str) -> None:
    assert redact(text) == text


@contextmanager
def configured(form: str, *secrets: str) -> Iterator[None]:
    """Logging as the commands set it up; as it was before afterwards."""
    with logging_restored():
        logs.configure("DEBUG", form, secrets)
        yield


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
    assert all(text.isprintable() or text == "\n" for text in written), ascii(written)
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


@pytest.mark.parametrize("form", ["text", "json"])
def test_times_are_written_as_those_of_the_records(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    end = datetime(2026, 3, 1, 16, 17, 21, 311557, tzinfo=UTC)
    with configured(form):
        elsewhere = end.astimezone(timezone(timedelta(hours=2)))
        extra = {"resumes_at": end, "began_at": elsewhere}
        logging.getLogger("bot.test").info("Paused", extra=extra)
    line = capsys.readouterr().err
    assert line.count("2026-03-01T16:17:21.311557Z") == 2
    assert "datetime" not in line


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def at(name: str, message: str, seconds: float, **fields: object) -> None:
    """A warning at this time."""
    logger = logging.getLogger(name)
    record = logger.makeRecord(name, logging.WARNING, "", 0, message, (), None, extra=fields)
    record.created = seconds
    logger.handle(record)


def test_what_repeats_is_logged_once_a_minute_with_the_number_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with configured("json"):
        for number in range(1000):
            at("bot.test", "refused", number * 0.05, action="refused", length=number, remote="::1")
        at("bot.test", "refused", 61, action="refused", length=3)
        at("bot.test", "refused", 200, action="refused", length=3)
    found = logged(capsys)
    assert [one.get("left_out") for one in found] == [None, 999, None]


@pytest.mark.parametrize("name", ["asyncio", "aiohttp.server", "slack_sdk.web", "httpx", "urllib3"])
def test_a_library_that_repeats_itself_is_logged_once_a_minute(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with configured("json"):
        for number in range(500):
            at(name, "socket.accept() out of system resource", number / 100)
            at(name, f"connection {number} was lost", number / 100)
    assert len(logged(capsys)) <= logs.MOST_VARIANTS


def test_warnings_about_other_things_and_those_with_a_reference_are_not_repetitions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with configured("json"):
        for second in range(3):
            for repository in ("acme/site", "acme/api"):
                at("bot.test", "poll failed", second, repository=repository)
            at("bot.test", "request failed", second, reference=f"e07{second}")
    found = [record.get("repository") or record["reference"] for record in logged(capsys)]
    assert sorted(map(str, found)) == ["acme/api", "acme/site", "e070", "e071", "e072"]


def test_repetitions_of_ordinary_records_are_all_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with configured("json"):
        for _ in range(5):
            logging.getLogger("bot.test").info("Posted", extra={"action": "posted"})
    assert len(logged(capsys)) == 5


async def test_a_job_that_fails_again_within_a_minute_is_not_left_said_to_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcomes = [StoreUnavailable("the disk is full"), None, StoreUnavailable("the disk is full")]

    async def work() -> None:
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise outcome

    job = Job("poll repositories", work)
    with configured("json"):
        while outcomes:
            job.wake()
            await job.drain()
    actions = [record["action"] for record in logged(capsys)]
    assert actions == ["job_failed", "job_recovered", "job_failed"]


def test_an_outage_that_comes_back_within_a_minute_is_logged_each_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    silence = Silence(FakeClock())
    with configured("json"):
        for _ in range(2):
            for _ in range(FAILURES_IN_A_ROW):
                with suppress(MergeQueueUnavailable), silence.watched():
                    raise MergeQueueUnavailable("down")
            with silence.watched():
                pass
    actions = [record["action"] for record in logged(capsys)]
    assert actions == ["service_silent", "service_answers"] * 2


def test_the_memory_of_what_repeats_is_bounded_and_survives_a_clock_set_back() -> None:
    repeats = logs.OnceAMinute()

    def passes(message: str, seconds: float) -> bool:
        record = logging.makeLogRecord(
            {"name": "bot.test", "levelno": logging.WARNING, "msg": message, "created": seconds}
        )
        return repeats.filter(record)

    assert all(passes(f"sentence {number}", 1000) for number in range(logs.MOST_SENTENCES + 5))
    assert not passes(f"sentence {logs.MOST_SENTENCES}", 1001)
    assert passes(f"sentence {logs.MOST_SENTENCES}", 10)
    assert passes("sentence 0", 1001)
