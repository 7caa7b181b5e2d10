"""Control over HTTP, for the demo and for tests in another process; loopback names only."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from aiohttp import web

from bot.sandbox.merge_queue.control_bodies import (
    guard,
    made,
    number,
    optional_text,
    read_body,
    text,
    with_times,
)
from bot.sandbox.merge_queue.controls import Controls, FreezeTerms, NewPullRequest, SentEvent
from bot.sandbox.merge_queue.credentials import Refusal
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.simulation.moments import rfc3339

_REPOSITORY = "/sandbox/repositories/{owner}/{repository}"


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
            web.post(f"{_REPOSITORY}/pull-requests/{{number:[0-9]{{1,18}}}}/fail", self.fail),
            web.post(f"{_REPOSITORY}/pull-requests/{{number:[0-9]{{1,18}}}}/dequeue", self.dequeue),
            web.post(f"{_REPOSITORY}/pause", self.pause),
            web.delete(f"{_REPOSITORY}/pause", self.resume),
            web.post(f"{_REPOSITORY}/freezes", self.freeze),
            web.delete(f"{_REPOSITORY}/freezes/{{freeze_id}}", self.unfreeze),
            web.post(f"{_REPOSITORY}/events", self.emit),
            web.post(f"{_REPOSITORY}/merge-hours", self.set_merge_hours),
            web.post(f"{_REPOSITORY}/configuration", self.break_configuration),
        ]

    async def describe(self, request: web.Request) -> web.Response:
        """Answer `now`, `speed`, `seed`, `repositories` and `requests`, their number."""
        guard(request)
        self._controls.catch_up()
        return _done(
            now=rfc3339(self._controls.service.now),
            speed=self._controls.speed,
            seed=self._controls.seed,
            repositories=dict(self._controls.repositories),
            requests=self._controls.request_count,
        )

    async def list_faults(self, request: web.Request) -> web.Response:
        """Answer the `faults` armed, with `hits`."""
        guard(request)
        return _done(faults=[asdict(fault) for fault in self._controls.faults.armed])

    async def arm_fault(self, request: web.Request) -> web.Response:
        """Take a fault's fields, and arm it."""
        fault = made(Fault, await read_body(request))
        self._controls.faults.arm(fault)
        return _done()

    async def disarm_faults(self, request: web.Request) -> web.Response:
        """Disarm all faults."""
        guard(request)
        self._controls.faults.disarm()
        return _done()

    async def list_requests(self, request: web.Request) -> web.Response:
        """Answer `count` and `requests`: `method`, `path`, `status`.

        Status 0: closed without an answer.
        """
        guard(request)
        seen = [asdict(received) for received in self._controls.requests]
        return _done(count=self._controls.request_count, requests=seen)

    async def advance(self, request: web.Request) -> web.Response:
        """Take `seconds`; answer `now`, `events`. Status 409 in real time."""
        body = await read_body(request)
        try:
            events = self._controls.advance(number(body, "seconds"))
        except RuntimeError as error:
            raise Refusal(409, str(error)) from error
        return _done(now=rfc3339(self._controls.service.now), events=len(events))

    async def enqueue(self, request: web.Request) -> web.Response:
        """Take `title?`, `author?`, `base_ref?`, `labels?`, `scopes?`, `by?`; answer `number`.

        What goes wrong: `broken_check?`, `broken_runs?`, `broken_state?`,
        `optional_check?`, `hangs?`, `conflict?`.
        """
        new = made(NewPullRequest, await read_body(request))
        try:
            return _done(number=self._controls.enqueue(self._name(request), new))
        except ValueError as error:
            raise Refusal(400, str(error)) from error

    async def set_merge_hours(self, request: web.Request) -> web.Response:
        """Take `opens`, `closes` in hours UTC, or nothing for always."""
        body = await read_body(request)
        hours = None
        if body.get("opens") is not None or body.get("closes") is not None:
            hours = (int(number(body, "opens")), int(number(body, "closes")))
        try:
            self._controls.set_merge_hours(self._name(request), hours)
        except ValueError as error:
            raise Refusal(400, str(error)) from error
        return _done()

    async def fail(self, request: web.Request) -> web.Response:
        """Take `check?`."""
        check = optional_text(await read_body(request), "check")
        name = self._name(request)
        with _not_found():
            self._controls.make_checks_fail(name, int(request.match_info["number"]), check)
        return _done()

    async def dequeue(self, request: web.Request) -> web.Response:
        """Take `by?`."""
        by = text(await read_body(request), "by", "alice")
        name = self._name(request)
        with _not_found():
            self._controls.dequeue(name, int(request.match_info["number"]), by)
        return _done()

    async def pause(self, request: web.Request) -> web.Response:
        """Take `reason`, `by`, and pause as a person does on the dashboard."""
        body = await read_body(request)
        reason = text(body, "reason", "")
        by = text(body, "by", "carol")
        pause = self._controls.pause(self._name(request), reason, by)
        return _done(reason=pause.reason, paused_at=rfc3339(pause.paused_at))

    async def resume(self, request: web.Request) -> web.Response:
        """Take `?by=`; answer `was_paused`."""
        guard(request)
        removed = self._controls.resume(self._name(request), request.query.get("by", "carol"))
        return _done(was_paused=removed)

    async def freeze(self, request: web.Request) -> web.Response:
        """Take `reason`, `start?`, `end?`, `timezone?`, `by?`; answer `id`.

        Conditions (`matching_conditions?`, `exclude_conditions?`) are `base=`, `label=`, `author=`
        (or `!=`), combined with `{"and": […]}`, `{"or": […]}`, `{"not": …}`.
        """
        body = await read_body(request)
        by = text(body, "by", "carol")
        body.pop("by", None)
        terms = made(FreezeTerms, with_times(body, "start", "end"))
        try:
            return _done(id=self._controls.freeze(self._name(request), terms, by))
        except ValueError as error:
            raise Refusal(400, str(error)) from error

    async def unfreeze(self, request: web.Request) -> web.Response:
        """Take `?reason=&by=`."""
        guard(request)
        query = request.query
        freeze_id = request.match_info["freeze_id"]
        with _not_found():
            self._controls.unfreeze(
                self._name(request),
                freeze_id,
                query.get("reason", ""),
                query.get("by", "carol"),
            )
        return _done()

    async def emit(self, request: web.Request) -> web.Response:
        """Take `type`, `metadata?`, `pull_request?`, `base_ref?`, `trigger?`; answer `id`.

        `received_at?` may be in the past, and `id?` may repeat.
        """
        sent = made(SentEvent, with_times(await read_body(request), "received_at"))
        return _done(id=self._controls.emit(self._name(request), sent))

    async def break_configuration(self, request: web.Request) -> web.Response:
        """Take `problem`, a sentence; null for none."""
        problem = optional_text(await read_body(request), "problem")
        self._controls.break_configuration(self._name(request), problem)
        return _done()

    def _name(self, request: web.Request) -> str:
        name = f"{request.match_info['owner']}/{request.match_info['repository']}"
        if name not in self._controls.service.repositories:
            raise Refusal(404, f"no repository {name!r}")
        return name


@contextmanager
def _not_found() -> Iterator[None]:
    """Answer 404 when what is asked for is not there."""
    try:
        yield
    except LookupError as error:
        raise Refusal(404, str(error)) from error


def _done(**fields_of_answer: object) -> web.Response:
    return web.json_response({"ok": True} | fields_of_answer)
