"""Control over HTTP, for the demo and for tests in another process; loopback names only."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, TypeVar

from aiohttp import web

from bot.sandbox.merge_queue.controls import (
    Controls,
    FreezeTerms,
    NewPullRequest,
    SentEvent,
)
from bot.sandbox.merge_queue.credentials import Refusal
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.moments import rfc3339

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_REPOSITORY = "/sandbox/repositories/{owner}/{repository}"

Body = dict[str, Any]
Made = TypeVar("Made", Fault, NewPullRequest, FreezeTerms, SentEvent)


class ControlApi:
    """Turns control requests into the methods of `Controls`."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/sandbox", self.describe),
            web.get("/sandbox/faults", self.list_faults),
            web.post("/sandbox/faults", self.arm_fault),
            web.delete("/sandbox/faults", self.disarm_faults),
            web.get("/sandbox/requests", self.list_requests),
            web.post("/sandbox/advance", self.advance),
            web.post(f"{_REPOSITORY}/pull-requests", self.enqueue),
            web.post(f"{_REPOSITORY}/pull-requests/{{number}}/fail", self.fail),
            web.post(f"{_REPOSITORY}/pull-requests/{{number}}/dequeue", self.dequeue),
            web.post(f"{_REPOSITORY}/pause", self.pause),
            web.delete(f"{_REPOSITORY}/pause", self.unpause),
            web.post(f"{_REPOSITORY}/freezes", self.freeze),
            web.delete(f"{_REPOSITORY}/freezes/{{freeze_id}}", self.unfreeze),
            web.post(f"{_REPOSITORY}/events", self.emit),
            web.post(f"{_REPOSITORY}/configuration", self.break_configuration),
        ]

    async def describe(self, request: web.Request) -> web.Response:
        _guard(request)
        self._controls.catch_up()
        return _done(
            now=rfc3339(self._controls.service.now),
            speed=self._controls.speed,
            seed=self._controls.seed,
            repositories=dict(self._controls.repositories),
            requests=self._controls.request_count,
        )

    async def list_faults(self, request: web.Request) -> web.Response:
        _guard(request)
        return _done(faults=[asdict(fault) for fault in self._controls.faults.armed])

    async def arm_fault(self, request: web.Request) -> web.Response:
        fault = _made(Fault, await _body(request))
        self._controls.faults.arm(fault)
        return _done()

    async def disarm_faults(self, request: web.Request) -> web.Response:
        _guard(request)
        self._controls.faults.disarm()
        return _done()

    async def list_requests(self, request: web.Request) -> web.Response:
        _guard(request)
        seen = [asdict(one) for one in self._controls.requests]
        return _done(count=self._controls.request_count, requests=seen)

    async def advance(self, request: web.Request) -> web.Response:
        body = await _body(request)
        try:
            events = self._controls.advance(_number(body, "seconds"))
        except RuntimeError as error:
            raise Refusal(409, str(error)) from error
        return _done(now=rfc3339(self._controls.service.now), events=len(events))

    async def enqueue(self, request: web.Request) -> web.Response:
        new = _made(NewPullRequest, await _body(request))
        return _done(number=self._controls.enqueue(self._name(request), new))

    async def fail(self, request: web.Request) -> web.Response:
        check, name = (await _body(request)).get("check"), self._name(request)
        with _Lookup():
            self._controls.make_checks_fail(name, int(request.match_info["number"]), check)
        return _done()

    async def dequeue(self, request: web.Request) -> web.Response:
        by, name = (await _body(request)).get("by", "alice"), self._name(request)
        with _Lookup():
            self._controls.dequeue(name, int(request.match_info["number"]), by)
        return _done()

    async def pause(self, request: web.Request) -> web.Response:
        body = await _body(request)
        reason, by = str(body.get("reason", "")), str(body.get("by", "carol"))
        made = self._controls.pause(self._name(request), reason, by)
        return _done(reason=made.reason, paused_at=rfc3339(made.paused_at))

    async def unpause(self, request: web.Request) -> web.Response:
        _guard(request)
        removed = self._controls.unpause(self._name(request), request.query.get("by", "carol"))
        return _done(was_paused=removed)

    async def freeze(self, request: web.Request) -> web.Response:
        body = await _body(request)
        by = str(body.pop("by", "carol"))
        terms = _made(FreezeTerms, _with_times(body, "start", "end"))
        try:
            return _done(id=self._controls.freeze(self._name(request), terms, by))
        except ValueError as error:
            raise Refusal(400, str(error)) from error

    async def unfreeze(self, request: web.Request) -> web.Response:
        _guard(request)
        query, freeze_id = request.query, request.match_info["freeze_id"]
        with _Lookup():
            self._controls.unfreeze(
                self._name(request),
                freeze_id,
                query.get("reason", ""),
                query.get("by", "carol"),
            )
        return _done()

    async def emit(self, request: web.Request) -> web.Response:
        sent = _made(SentEvent, _with_times(await _body(request), "received_at"))
        return _done(id=self._controls.emit(self._name(request), sent))

    async def break_configuration(self, request: web.Request) -> web.Response:
        problem = (await _body(request)).get("problem")
        self._controls.break_configuration(self._name(request), problem)
        return _done()

    def _name(self, request: web.Request) -> str:
        name = f"{request.match_info['owner']}/{request.match_info['repository']}"
        if name not in self._controls.service.repositories:
            raise Refusal(404, f"no repository {name!r}")
        return name


class _Lookup:
    """Answers 404 when what is asked for is not there."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: object, _trace: object) -> None:
        if kind is not None and issubclass(kind, LookupError):
            raise Refusal(404, str(error))


def _done(**fields_of_answer: object) -> web.Response:
    return web.json_response({"ok": True} | fields_of_answer)


def _guard(request: web.Request) -> None:
    """Refuse who does not call this machine by a loopback name, or comes from a foreign page."""
    host = request.host.rpartition(":")[0] if request.host[-1:].isdigit() else request.host
    if request.host in _LOOPBACK:
        host = request.host
    origin = request.headers.get("Origin")
    if host not in _LOOPBACK or origin not in (None, f"http://{request.host}"):
        raise Refusal(403, "Only by a loopback name, from this machine")


async def _body(request: web.Request) -> Body:
    _guard(request)
    if request.content_type != "application/json":
        raise Refusal(400, "Content-Type must be application/json")
    try:
        body = json.loads(await request.read())
    except ValueError as error:
        raise Refusal(400, "not valid JSON") from error
    if not isinstance(body, dict):
        raise Refusal(400, "a JSON object is required")
    return body


def _number(body: Body, name: str) -> float:
    value = body.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise Refusal(400, f"{name}: a number, not negative, is required")
    return value


def _with_times(body: Body, *names: str) -> Body:
    try:
        times = {name: datetime.fromisoformat(body[name]) for name in names if body.get(name)}
    except (TypeError, ValueError) as error:
        raise Refusal(400, "a time is an RFC 3339 date-time") from error
    if any(when.tzinfo is None for when in times.values()):
        raise Refusal(400, "a time needs its offset")
    return body | times


def _made(kind: type[Made], body: Mapping[str, Any]) -> Made:
    """Build a dataclass from a body; refuse fields it has not and values it does not take."""
    known = {one.name for one in fields(kind)} - {"hits"}
    unknown = sorted(set(body) - known)
    if unknown:
        raise Refusal(400, f"unknown fields: {', '.join(unknown)}")
    try:
        return kind(**body)
    except (TypeError, ValueError) as error:
        raise Refusal(400, str(error)) from error
