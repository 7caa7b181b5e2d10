"""The endpoints of scheduled freezes, which the hosted service has beyond the API document."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from aiohttp import web

from bot.sandbox.merge_queue.controls import Controls, FreezeTerms, Reached
from bot.sandbox.merge_queue.credentials import Refusal
from bot.sandbox.merge_queue.parameters import json_body
from bot.sandbox.merge_queue.simulation.moments import Moment, to_datetime
from bot.sandbox.merge_queue.simulation.state import Freeze, Repository

REASON_LIMIT = 10_000
FIELDS = ("reason", "start", "end", "timezone", "matching_conditions", "exclude_conditions")
REQUIRED = ("reason", "start", "timezone")

Reach = Callable[..., Reached]


class FreezeApi:
    """Lists, creates, changes and deletes freezes; times are local to a freeze's own zone."""

    def __init__(self, controls: Controls, reach: Reach) -> None:
        self._controls = controls
        self._reach = reach

    def routes(self, repository: str) -> list[web.RouteDef]:
        every = f"{repository}/scheduled_freeze"
        one_freeze = f"{every}/{{freeze_id}}"
        return [
            web.get(every, self.read),
            web.post(every, self.create),
            web.patch(one_freeze, self.change),
            web.post(f"{one_freeze}/delete", self.delete),
            web.delete(one_freeze, self.delete_deprecated),
        ]

    async def read(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        now = self._controls.service.now
        left = [freeze for freeze in repository.freezes if freeze.end is None or now < freeze.end]
        return web.json_response({"scheduled_freezes": [_written(freeze) for freeze in left]})

    async def create(self, request: web.Request) -> web.Response:
        caller, repository = self._reach(request, write=True)
        sent = await _fields(request, FIELDS)
        for name in REQUIRED:
            if name not in sent:
                raise Refusal(422, f"{name}: is required")
        terms = _changed(FreezeTerms(""), sent)
        freeze_id = _valid(lambda: self._controls.freeze(repository.name, terms, caller.actor))
        return web.json_response(_written(_found(repository, freeze_id)), status=201)

    async def change(self, request: web.Request) -> web.Response:
        caller, repository = self._reach(request, write=True)
        freeze = self._named(request, repository)
        sent = await _fields(request, FIELDS)
        # In a change, null leaves a field as it is, but for a time: none, or now.
        sent = {
            name: value
            for name, value in sent.items()
            if value is not None or name in {"start", "end"}
        }
        terms = _changed(_terms(freeze), sent)
        has_begun = freeze.start <= self._controls.service.now
        if has_begun and terms.start != to_datetime(freeze.start):
            raise Refusal(400, "The start of a freeze can't change after it has begun")
        change = self._controls.change_freeze
        _valid(lambda: change(repository.name, freeze.id, terms, caller.actor))
        return web.json_response(_written(_found(repository, freeze.id)))

    async def delete(self, request: web.Request) -> web.Response:
        """Delete one for a reason.

        The published schema has no required body, but the hosted service answers 422 without a
        reason, also before the freeze has begun (`tests/live_smoke` of
        https://github.com/Mergifyio/mergify-cli).
        """
        caller, repository = self._reach(request, write=True)
        freeze = self._named(request, repository)
        sent = await _fields(request, ("delete_reason",)) if request.can_read_body else {}
        reason = sent.get("delete_reason", "")
        if not isinstance(reason, str):
            raise Refusal(422, "delete_reason: a string is required")
        if not reason.strip():
            raise Refusal(422, "delete_reason: is required")
        self._controls.unfreeze(repository.name, freeze.id, reason, caller.actor)
        return web.Response(status=204)

    async def delete_deprecated(self, request: web.Request) -> web.Response:
        caller, repository = self._reach(request, write=True)
        freeze = self._named(request, repository)
        self._controls.unfreeze(repository.name, freeze.id, "", caller.actor)
        return web.Response(status=204)

    def _named(self, request: web.Request, repository: Repository) -> Freeze:
        try:
            freeze_id = str(UUID(request.match_info["freeze_id"]))
        except ValueError as error:
            raise Refusal(422, "freeze_id: a UUID is required") from error
        return _found(repository, freeze_id)


def _found(repository: Repository, freeze_id: str) -> Freeze:
    for freeze in repository.freezes:
        if freeze.id == freeze_id:
            return freeze
    raise Refusal(404, "Scheduled freeze not found")


def _valid(act: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the act returns
    try:
        return act()
    except ValueError as error:
        raise Refusal(422, f"body: {error}") from error


async def _fields(request: web.Request, known: tuple[str, ...]) -> Mapping[str, Any]:
    sent = await json_body(request)
    if sent is None and known == ("delete_reason",):
        return {}
    if not isinstance(sent, dict):
        raise Refusal(422, "body: a JSON object is required")
    for name in sent:
        if name not in known:
            raise Refusal(422, f"{name}: is not a field of this request")
    return sent


def _terms(freeze: Freeze) -> FreezeTerms:
    return FreezeTerms(
        freeze.reason,
        to_datetime(freeze.start),
        None if freeze.end is None else to_datetime(freeze.end),
        freeze.timezone,
        freeze.matching_conditions,
        freeze.exclude_conditions,
    )


def _changed(terms: FreezeTerms, sent: Mapping[str, Any]) -> FreezeTerms:
    """The terms with the fields of the request, each checked; times are in the zone they leave."""
    zone = _zone(sent.get("timezone", terms.timezone))
    changed: dict[str, Any] = {"timezone": zone.key}
    if "reason" in sent:
        changed["reason"] = _reason(sent["reason"])
    for name in ("start", "end"):
        if name in sent:
            changed[name] = _time(name, sent[name], zone)
    for name in ("matching_conditions", "exclude_conditions"):
        if name in sent:
            changed[name] = _conditions(name, sent[name])
    return replace(terms, **changed)


def _reason(sent: object) -> str:
    if not isinstance(sent, str) or len(sent) > REASON_LIMIT:
        raise Refusal(422, f"reason: a string of at most {REASON_LIMIT} characters is required")
    return sent


def _zone(sent: object) -> ZoneInfo:
    try:
        return ZoneInfo(str(sent))
    except (ValueError, OSError, LookupError) as error:
        raise Refusal(422, "timezone: the name of a time zone is required") from error


def _time(name: str, sent: object, zone: ZoneInfo) -> datetime | None:
    if sent is None:
        return None
    try:
        at = datetime.fromisoformat(sent) if isinstance(sent, str) else None
    except ValueError:
        at = None
    if at is None or at.tzinfo is not None:
        raise Refusal(422, f"{name}: a date-time without an offset is required")
    return at.replace(tzinfo=zone)


def _conditions(name: str, sent: object) -> tuple[Any, ...]:
    if not isinstance(sent, list) or not all(
        isinstance(condition, str | dict) for condition in sent
    ):
        raise Refusal(422, f"{name}: a list of conditions is required")
    return tuple(sent)


def _written(freeze: Freeze) -> dict[str, object]:
    zone = ZoneInfo(freeze.timezone)

    def local(moment: Moment | None) -> str | None:
        at = None if moment is None else to_datetime(moment).astimezone(zone)
        return None if at is None else at.replace(tzinfo=None).isoformat()

    return {
        "id": freeze.id,
        "reason": freeze.reason,
        "start": local(freeze.start),
        "end": local(freeze.end),
        "timezone": freeze.timezone,
        "matching_conditions": list(freeze.matching_conditions),
        "exclude_conditions": list(freeze.exclude_conditions),
    }
