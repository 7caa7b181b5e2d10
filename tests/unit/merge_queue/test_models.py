"""Responses read from bytes."""

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from bot.kernel.errors import InvalidRequest, MergeQueueRefused
from bot.merge_queue import models
from bot.merge_queue.errors import (
    CredentialRefused,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    NotOffered,
    RepositoryMoved,
    ResourceNotFound,
    ServiceMoved,
    StateConflict,
)
from bot.merge_queue.event_records import UnreadableEvent
from bot.merge_queue.models import detail, error_of, read_event_page, retry_after
from bot.merge_queue.queue import Application, Pause, PauseAnswer
from tests.support.make import SITE
from tests.support.samples import sample, sample_bytes

NOW = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)
ASKED = httpx.URL("https://queue.example/v1/application")
LOGS = "https://queue.example/v1/repos/acme/site/logs"


def answer(
    body: Any = b"", status: int = 200, content_type: str = "application/json", **headers: str
) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": content_type, **headers}
    encoded = {name.replace("_", "-").encode(): value.encode() for name, value in fields.items()}
    return httpx.Response(status, headers=encoded, content=content)


def event(event_id: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": event_id,
        "received_at": "2026-07-20T11:00:00Z",
        "trigger": "merge queue internal",
        "repository": "acme/site",
        "pull_request": 41,
        "base_ref": "main",
        "type": "action.queue.enter",
        "metadata": {},
    } | changes


def test_samples_of_every_resource_are_read() -> None:
    assert len(models.read_queue_status(answer(sample_bytes("status"))).batches) == 2
    rules = models.read_rules(answer(sample_bytes("configuration")))
    assert [rule.name for rule in rules] == ["hotfix", "default"]
    assert rules[0].config["batch_size"] == 1
    assert models.read_names(answer({"base_refs": ["main", "v1"]})) == ("main", "v1")
    assert (
        models.read_answer(Application, answer(sample_bytes("application"))).name == "control room"
    )
    sparse = models.read_answer(Application, answer({"id": {}, "account_scope": None}))
    assert (sparse.name, sparse.account.login) == ("", "")
    assert len(models.read_queues(answer(sample_bytes("queues")))[0].pull_requests) == 2


@pytest.mark.parametrize(
    ("body", "pause"),
    [
        (
            {"reason": "deploy", "paused_at": "2026-07-20T11:00:00Z"},
            Pause(reason="deploy", paused_at=datetime(2026, 7, 20, 11, tzinfo=UTC)),
        ),
        (
            {"paused": True, "reason": None, "paused_at": "2026-07-20T11:00:00Z"},
            Pause(reason="", paused_at=datetime(2026, 7, 20, 11, tzinfo=UTC)),
        ),
        ({"paused": False, "reason": None, "paused_at": None}, None),
        ({"paused": False, "reason": "old", "paused_at": "2026-07-20T11:00:00Z"}, None),
        ({}, None),
    ],
)
def test_pause_is_read_in_both_shapes(body: Any, pause: Pause | None) -> None:
    assert models.read_answer(PauseAnswer, answer(body)).in_force(NOW) == pause


def test_a_pause_without_a_time_is_still_a_pause() -> None:
    def in_force(body: Any) -> Pause | None:
        return models.read_answer(PauseAnswer, answer(body)).in_force(NOW)

    undated = Pause(reason="deploy", paused_at=NOW, is_dated=False)
    for reported in ({"paused": True, "reason": "deploy"}, {"reason": "deploy"}):
        assert in_force(reported) == undated
    # As the deprecated endpoint reports it.
    for old in ({"reason": "deploy"}, {"reason": "deploy", "pause_date": "soon"}):
        assert in_force({"queue_pause": [old]}) == undated
    assert in_force({"queue_pause": []}) is None
    with pytest.raises(MergeQueueProtocolError):
        in_force({"queue_pause": ["paused"]})


def test_event_page_has_events_cursor_and_the_clock_of_the_service() -> None:
    sent = answer(
        {"size": 2, "per_page": 2, "events": [event(2), event(1)]},
        Link=f'<{LOGS}?cursor=abc&per_page=2>; rel="next"',
        Date="Mon, 20 Jul 2026 12:00:05 GMT",
    )

    page = read_event_page(sent, SITE, asked_cursor=None)

    assert [record.event_id for record in page.events] == [2, 1]
    assert page.next_cursor == "abc"
    assert page.served_at == datetime(2026, 7, 20, 12, 0, 5, tzinfo=UTC)
    assert page.unreadable == ()


def test_a_repeated_cursor_is_an_error() -> None:
    sent = answer({"events": []}, Link=f'<{LOGS}?cursor=abc>; rel="next"')

    with pytest.raises(MergeQueueProtocolError, match="cursor"):
        read_event_page(sent, SITE, asked_cursor="abc")


def test_nonsense_among_events_is_set_aside() -> None:
    odd: list[Any] = ["nonsense", None, [], event(7, received_at="soon"), event(2, id=None)]
    body: Any = {"events": [event(1), *odd, event(3, trigger="\\u0000")]}

    page = read_event_page(answer(body), SITE, asked_cursor=None)

    assert [record.event_id for record in page.events] == [1, 3]
    # An escaped backslash is no part of a NUL.
    assert page.events[1].details.trigger == "\\u0000"
    assert len(page.unreadable) == 5
    set_aside = next(one for one in page.unreadable if one.identity == 7)
    assert "received_at" in set_aside.problem
    assert "soon" not in set_aside.problem

    page = read_event_page(answer({"events": [1, {}]}), SITE, asked_cursor=None)
    assert page.events == ()
    assert all(isinstance(one, UnreadableEvent) for one in page.unreadable)
    assert len(page.unreadable) == 2


@pytest.mark.parametrize(
    "odd",
    [
        b'{"id": 2, "type": "x", "received_at": "2026-07-20T11:00:00Z", "trigger": "\\ud800"}',
        b'{"id": 2, "type": "x", "received_at": "2026-07-20T11:00:00Z", "trigger": "\\u0000"}',
        b'{"id": 2, "type": "x", "received_at": "2026-07-20T11:00:00Z", "trigger": "\xff"}',
        b'{"id": 2, "type": "x", "received_at": "2026-07-20T11:00:00Z", "metadata": NaN}',
        b'{"id": 2, "type": "x", "received_at": "2026-07-20T11:00:00Z", "metadata": '
        + b"9" * 5000
        + b"}",
        b'{"id": 2, "type": "x", "received_at": "2026-07-20T11:00:00Z", "metadata": '
        + b"[" * 300
        + b"]" * 300
        + b"}",
    ],
    ids=["half surrogate", "NUL", "not UTF-8", "NaN", "huge number", "deep"],
)
def test_odd_characters_and_numbers_do_no_harm(odd: bytes) -> None:
    body = b'{"events": [' + json.dumps(event(1)).encode() + b", " + odd + b"]}"

    page = read_event_page(answer(body), SITE, asked_cursor=None)

    assert [record.event_id for record in page.events] == [1, 2]
    trigger = page.events[1].details.trigger
    assert trigger in {"", "\ufffd"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"events": [{"id": 1',
        b"<!doctype html><p>maintenance</p>",
        b"[]",
        b"null",
        b'{"events": null}',
        b'{"events": {}}',
        b'{"size": 0}',
        b"[" * 100_000,
        b"\x1f\x8b\x08",
    ],
)
def test_a_response_that_is_not_an_event_log_is_a_protocol_error(body: bytes) -> None:
    with pytest.raises(MergeQueueProtocolError) as caught:
        read_event_page(answer(body), SITE, asked_cursor=None)

    assert 0 < len(caught.value.detail) <= 300
    assert "maintenance" not in caught.value.detail


def test_json_is_read_with_any_content_type_and_a_web_page_is_reported_as_such() -> None:
    sent = answer(sample_bytes("status"), content_type="text/plain")
    assert len(models.read_queue_status(sent).batches) == 2
    assert models.read_names(answer(b'\xef\xbb\xbf{"base_refs": ["main"]}')) == ("main",)
    with pytest.raises(MergeQueueProtocolError, match="web page"):
        models.read_queue_status(answer(b"<html>hello</html>", content_type="text/html"))


def test_one_bad_element_does_not_cost_a_status_the_others() -> None:
    sent = sample("status")
    (first, *_) = sent["batches"]
    first["pull_requests"].append({"number": 99})
    first["sub_batches"].append("nonsense")
    sent["batches"].append({"name": "nobody knows which"})
    sent["waiting_pull_requests"] = [None, *sent["waiting_pull_requests"], {"number": -1}]

    status = models.read_queue_status(answer(sent))

    whole = models.read_queue_status(answer(sample("status")))
    assert status == whole.model_copy(update={"unreadable": 5})


@pytest.mark.parametrize(("sent", "asked"), [(101, 100), (11, 10), (2, 1), (200_000, 100)])
def test_a_page_with_more_events_than_were_asked_for_is_not_read(sent: int, asked: int) -> None:
    body = b'{"events": [' + b",".join([b"{}"] * sent) + b"]}"
    began = time.monotonic()

    with pytest.raises(MergeQueueProtocolError, match=f"where {asked} were asked for"):
        read_event_page(answer(body), SITE, asked_cursor=None, per_page=asked)

    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("depth", "read", "unreadable"), [(1, 2, 0), (32, 33, 0), (33, 33, 1), (300, 33, 1)]
)
def test_pieces_are_read_to_a_bounded_depth(depth: int, read: int, unreadable: int) -> None:
    """The newest published schema nests them without an end."""
    sent: dict[str, Any] = {"id": "innermost"}
    for level in range(depth):
        sent = {"id": f"level-{level}", "sub_batches": [sent]}

    status = models.read_queue_status(answer({"batches": [sent], "waiting_pull_requests": []}))

    assert len(list(status.parts())) == read
    assert status.unreadable == unreadable


def test_a_nesting_beyond_all_reason_is_a_protocol_error() -> None:
    body = b'{"batches": [' + b'{"sub_batches": [' * 20_000 + b"]}" * 20_000 + b"]}"
    with pytest.raises(MergeQueueProtocolError):
        models.read_queue_status(answer(body))


@pytest.mark.parametrize("bad", [None, 7, [], {}, {"name": None}])
def test_one_bad_element_does_not_cost_a_list_the_others(bad: Any) -> None:
    rules = [{"name": "default", "config": {}}, bad, {"name": "odd", "config": 3}]
    read = models.read_rules(answer({"configuration": rules, "new": 1}))
    assert [(rule.name, rule.config) for rule in read] == [("default", {}), ("odd", {})]

    queues = {"queues": [{"branch": bad, "pull_requests": [bad, {"number": 3}]}]}
    (queue,) = models.read_queues(answer(queues))
    assert [pull_request.number for pull_request in queue.pull_requests] == [3]


def test_entirely_unreadable_lists_are_errors_and_not_empty() -> None:
    for read, body in (
        (models.read_rules, {"configuration": [None]}),
        (models.read_names, {"base_refs": [{}]}),
        (models.read_queues, {"queues": [3]}),
    ):
        with pytest.raises(MergeQueueProtocolError):
            read(answer(body))


@pytest.mark.parametrize("element", [b"{}", b"1", b"[[]]", b'{"number":-1}'])
@pytest.mark.parametrize(
    ("read", "name"),
    [
        (models.read_queue_status, b"waiting_pull_requests"),
        (models.read_queue_status, b"batches"),
        (models.read_rules, b"configuration"),
        (models.read_freezes, b"scheduled_freezes"),
    ],
)
def test_reading_ends_when_too_much_is_unreadable(
    read: Callable[[httpx.Response], object], name: bytes, element: bytes
) -> None:
    """A mebibyte of such elements stopped the bot for 14 to 27 seconds."""
    body = b'{"%s":[%s]}' % (name, b",".join([element] * (1024 * 1024 // (len(element) + 1))))
    begun = time.process_time()
    with pytest.raises(MergeQueueProtocolError) as caught:
        read(answer(body))
    assert time.process_time() - begun < 3
    assert "1,000 elements can't be read" in caught.value.detail


def test_missing_required_field_is_named_and_nothing_is_quoted() -> None:
    sent = sample("status")
    sent = {"batches": [sent["batches"][0]], "waiting_pull_requests": []}
    del sent["batches"][0]["id"]
    sent["batches"][0]["pull_requests"][0]["queued_at"] = "secret"

    with pytest.raises(MergeQueueProtocolError) as caught:
        models.read_queue_status(answer(sent))

    assert caught.value.detail.startswith("id: ")
    assert "secret" not in caught.value.detail
    assert caught.value.__cause__ is None


ERRORS: Mapping[type[Exception], tuple[int, ...]] = {
    InvalidRequest: (400, 422),
    CredentialRefused: (401, 403),
    ResourceNotFound: (404,),
    NotOffered: (405, 410, 501),
    StateConflict: (409,),
    MergeQueueRefused: (451,),
    MergeQueueUnavailable: (408, 429, 500, 503, 599),
    MergeQueueProtocolError: (202, 204, 206, 302, 304),
}


@pytest.mark.parametrize(
    ("status", "kind"), [(status, kind) for kind in ERRORS for status in ERRORS[kind]]
)
def test_each_status_has_its_error(status: int, kind: type[Exception]) -> None:
    error = error_of(answer({"detail": "because"}, status), NOW, ASKED)

    assert type(error) is kind
    if isinstance(error, MergeQueueRefused):
        assert (error.status, error.detail) == (status, "because")


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        (b'{"detail": "not paused"}', "application/json", "not paused"),
        (
            b'{"detail": [{"loc": ["body", "reason"], "msg": "too long"}, {"msg": "and more"}]}',
            "application/json",
            "reason: too long; and more",
        ),
        (b'{"message": "no such thing"}', "application/json", "no such thing"),
        (b'{"error": {"message": "nested"}}', "application/json", "nested"),
        (b'{"detail":' * 900 + b"1" + b"}" * 900, "application/json", "422 Unprocessable"),
        (b'{"detail": ["one", 2, {"msg": 3}]}', "application/json", "one"),
        (
            b'{"detail": {"code": "not_installed", "message": "App is missing"}}',
            "",
            "App is missing",
        ),
        (b'{"detail": {"why": "The app is not installed"}}', "", "why: The app is not installed"),
        (b'{"detail": {"errors": ["first", {"message": "second"}]}}', "", "first; second"),
        (b'{"errors": {"end": ["is too early", "is odd"]}}', "", "end: is too early; end: is odd"),
        (b'{"type": "about:blank", "title": "Gone", "detail": "moved"}', "", "moved"),
        (b'{"detail": "", "message": "second best"}', "", "second best"),
        (b'{"detail": [], "title": "Conflict"}', "", "Conflict"),
        (b'{"detail": 7}', "", "422 Unprocessable"),
        (b'{"detail": [{"loc": ["query", "event_type", 3], "msg": "Bad"}]}', "", "event_type: Bad"),
        (b'{"detail": [{"loc": "body", "msg": ["one"]}]}', "", "one"),
        (b"[]", "", "422 Unprocessable"),
        (b'["a", "b", "c", "d", "e", "f"]', "", "a; b; c; d; e"),
        (b'"just text"', "application/json", "just text"),
        (b"plain\r\n  text\x1b[31m", "text/plain", "plain text [31m"),
        (b"<html><script>alert(1)</script>", "text/html", "422 Unprocessable"),
        (b"  <!DOCTYPE html>", "application/json", "422 Unprocessable"),
        (b"", "application/json", "422 Unprocessable"),
        (b'{"detail": null}', "application/json", "422 Unprocessable"),
        (b'{"detail": "\\ud800"}', "application/json", "?"),
        (b"[" * 50_000, "application/json", "[[["),
        (b"\xff\xfe", "text/plain", "\ufffd\ufffd"),
    ],
)
def test_detail_is_one_short_safe_line(body: bytes, content_type: str, said: str) -> None:
    line = detail(answer(body, 422, content_type))

    assert line.startswith(said)
    assert len(line) <= 300
    assert line.isprintable()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, RepositoryMoved),
        (308, RepositoryMoved),
        (302, MergeQueueProtocolError),
        (307, MergeQueueProtocolError),
    ],
)
def test_what_is_moved_for_good_to_nobody_knows_where_is_moved(
    status: int, kind: type[Exception]
) -> None:
    asked = httpx.URL("https://queue.example/v1/repos/acme/site/merge-queue/status")
    error = error_of(answer({"detail": "Moved"}, status), NOW, asked)
    assert type(error) is kind
    elsewhere = httpx.URL("https://queue.example/v1/application")
    assert type(error_of(answer({}, status), NOW, elsewhere)) is MergeQueueProtocolError


OTHER = "https://queue.example/v1/repos/acme/website/merge-queue/status"


@pytest.mark.parametrize(
    ("location", "kind", "new_name"),
    [
        (OTHER, RepositoryMoved, "acme/website"),
        ("/v1/repos/globex/site/merge-queue/status", RepositoryMoved, "globex/site"),
        ("/v1/repositories/4711/merge-queue/status", RepositoryMoved, None),
        # Another service, version or page: not the repository's new name.
        (OTHER.replace("queue.example", "evil.example"), ServiceMoved, None),
        (OTHER.replace("https", "http"), ServiceMoved, None),
        ("/v2/repos/acme/site/merge-queue/status", ServiceMoved, None),
        ("/login?next=/repos/acme/website", ServiceMoved, None),
        ("", MergeQueueProtocolError, None),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_of_a_renamed_repository_is_told_from_others(
    location: str, kind: type[Exception], new_name: str | None, status: int
) -> None:
    asked = httpx.URL("https://queue.example/v1/repos/acme/site/merge-queue/status")

    error = error_of(answer({}, status, Location=location), NOW, asked)

    assert type(error) is kind
    assert getattr(error, "new_name", None) == new_name


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (
            {
                "detail": [
                    {"loc": ["query", "event_type", 3], "msg": "x"},
                    {"loc": ["query", "event_type", 0], "msg": "x"},
                    {"loc": ["query", "per_page"], "msg": "x"},
                    {"loc": ["body", "reason", "text"]},
                    {"loc": ["query", 1, 2]},
                    {"loc": 7},
                    7,
                ]
            },
            {"event_type": [3, 0]},
        ),
        ({"detail": "event_type: no"}, {}),
        ({"detail": {"loc": ["query", "event_type", 3]}}, {}),
        (None, {}),
        ([], {}),
    ],
)
def test_the_indexes_of_refused_values_are_read(body: object, wrong: dict[str, list[int]]) -> None:
    error = error_of(answer(body, 422), NOW, ASKED)
    assert isinstance(error, InvalidRequest)
    assert error.wrong == wrong


def test_long_detail_is_truncated_and_an_unnamed_status_is_reported_by_its_number() -> None:
    line = detail(answer({"detail": "x" * 5000}, 422))

    assert len(line) == 300
    assert line.endswith("…")
    assert detail(answer(b"", 599)) == "599"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "Mon, 20 Jul 2026 12:00:30 GMT"}, 30.0),
        (
            {
                "Retry-After": "Mon, 20 Jul 2026 13:00:30 GMT",
                "Date": "Mon, 20 Jul 2026 13:00:00 GMT",
            },
            30.0,
        ),
        ({"Retry-After": "Mon, 20 Jul 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "\u0663"}, None),
        ({"Retry-After": "9" * 400}, 999999999.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{NOW.timestamp() + 12:.0f}"}, 12.0),
        ({"X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "1"}, None),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1e400"}, None),
        ({}, None),
    ],
)
def test_the_services_requested_wait_is_read(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(answer(b"", 429, **headers), NOW) == seconds


def test_a_403_rate_limit_is_temporary() -> None:
    refused = error_of(answer({"detail": "slow down"}, 403, Retry_After="3"), NOW, ASKED)

    assert isinstance(refused, MergeQueueUnavailable)
    assert (refused.status, refused.retry_after) == (403, 3.0)
