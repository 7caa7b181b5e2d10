"""The HTTP API: the use cases that people have, for machines with a token."""

import asyncio
import html
import logging
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from hmac import compare_digest
from http import HTTPStatus

from aiohttp import web
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from bot.domain.asked import NOTHING, Asked
from bot.domain.audit import Action, Actor, Caller, Origin
from bot.domain.configured import Configured
from bot.domain.durations import Lasting, Until, read_end
from bot.domain.errors import BotError, PermissionDenied, UserError
from bot.domain.group_acts import GroupAct, GroupOutcome
from bot.domain.groups import Group, Groups, Target
from bot.domain.message import Message
from bot.domain.pacing import TokenBucket
from bot.domain.pauses import AlreadyPaused, NotPaused, OtherPause, PauseChange
from bot.domain.permissions import MACHINE, Right
from bot.domain.repository import RepositoryName
from bot.messages import group_acts, groups as group_messages, pause, status
from bot.messages.errors import TOO_FAST, explain
from bot.usecases import UseCases
from bot.usecases.asking.queues import read_queue, read_queues
from bot.usecases.pausing.group_work import ignore_progress

logger = logging.getLogger(__name__)

PATH = "/api/v1/{what:pause|resume|status}"
COMMAND = "mqbot"
"""What the texts tell people to type."""

BURST, PER_SECOND = 20, 1.0
"""Requests of one machine, and requests with a wrong token from all of the network."""

DRAIN_SECONDS = 5.0

NEVER = datetime.fromtimestamp(0, UTC)
"""The time of no pause."""


class Body(BaseModel):
    """A request.

    `target`: `owner/name`, `@group` or `all`.
    `end`: "45m" or "until 15:00", in UTC unless it names a zone; empty for none.
    `any`: resume somebody else's pause too.
    """

    model_config = ConfigDict(extra="forbid")

    target: str
    reason: str = ""
    end: str = ""
    any: bool = False


class MachineApi:
    """Answers 503 before `serve` and after `close`; without tokens it has no routes."""

    def __init__(self, machines: Mapping[str, str]) -> None:
        """`machines`: their names by their tokens."""
        self._machines = machines
        self._served: tuple[UseCases, Configured] | None = None
        self._running: set[asyncio.Task[web.Response]] = set()
        self._paces = defaultdict[str, TokenBucket](partial(TokenBucket, BURST, PER_SECOND))

    def routes(self) -> Iterable[web.RouteDef]:
        if self._machines:
            yield web.post(PATH, self._on_request)

    def serve(self, use: UseCases, configured: Configured) -> None:
        self._served = use, configured

    async def close(self) -> None:
        """Take no more requests, and end those that run."""
        self._served = None
        if self._running:
            _, left = await asyncio.wait(self._running, timeout=DRAIN_SECONDS)
            for task in left:
                task.cancel()

    async def _on_request(self, request: web.Request) -> web.Response:
        if self._served is None:
            raise web.HTTPServiceUnavailable
        use, configured = self._served
        name = self._name(request.headers.get("Authorization", ""))
        if not self._admits(name or "", use.sources.clock.now()):
            return _reply(TOO_FAST, HTTPStatus.TOO_MANY_REQUESTS)
        if name is None:
            extra = {"action": "machine_refused", "remote": request.remote}
            logger.warning("a request with a wrong token was refused", extra=extra)
            return _reply("The token is wrong.", HTTPStatus.UNAUTHORIZED)
        what, body = request.match_info["what"], await request.read()
        task = asyncio.create_task(_answer(use, configured.groups, name, what, body))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        # A caller that hangs up still gets what it asked for.
        return await asyncio.shield(task)

    def _name(self, authorization: str) -> str | None:
        # It may be no text at all.
        given = authorization.removeprefix("Bearer ").encode(errors="surrogateescape")
        known = [
            name for token, name in self._machines.items() if compare_digest(token.encode(), given)
        ]
        return next(iter(known), None)

    def _admits(self, name: str, now: datetime) -> bool:
        pace = self._paces[name]
        if pace.wait(now):
            return False
        pace.take(now)
        return True


def _reply(
    said: str | Message, status: HTTPStatus = HTTPStatus.OK, **facts: JsonValue
) -> web.Response:
    """What people read, and `facts` that say the same to programs."""
    text = html.unescape(said.text) if isinstance(said, Message) else said
    return web.json_response({"message": text, **facts}, status=status)


async def _answer(use: UseCases, groups: Groups, name: str, what: str, body: bytes) -> web.Response:
    reference = uuid.uuid4().hex[:8]
    extra = {"action": "machine_request", "machine": name, "what": what, "reference": reference}
    try:
        asked = Body.model_validate_json(body)
        target = groups.find(asked.target) or groups.repositories.allowed(asked.target)
        caller = Caller(Actor(f"{MACHINE}{name}", name), Origin.MACHINE)
        if what == "pause":
            response = await _pause(use, caller, target, asked)
        elif what == "resume":
            response = await _resume(use, caller, target, is_any=asked.any)
        else:
            response = await _status(use, caller.actor, target)
    except ValidationError:
        sentence = "The body has what this request doesn't take."
        return _reply(sentence, HTTPStatus.BAD_REQUEST)
    except Exception as error:
        unforeseen = not isinstance(error, BotError)
        level = logging.ERROR if unforeseen else logging.INFO
        fields = {**extra, "error": type(error).__name__, "detail": str(error)[:300]}
        logger.log(level, "a machine's request failed", extra=fields, exc_info=unforeseen)
        said = explain(error, command=COMMAND, reference=reference, retry=None)
        return _reply(said, _status_of(error))
    logger.info("a machine's request was answered", extra={**extra, "status": response.status})
    return response


def _status_of(error: Exception) -> HTTPStatus:
    if isinstance(error, PermissionDenied):
        return HTTPStatus.FORBIDDEN
    if isinstance(error, UserError):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    return HTTPStatus.SERVICE_UNAVAILABLE


async def _pause(use: UseCases, caller: Caller, target: Target, asked: Body) -> web.Response:
    end = _end(asked.end)
    if isinstance(target, Group):
        return await _act(use, caller, Action.PAUSE, target, Asked(asked.reason, end))
    match await use.pause_queue.run(caller, target, asked.reason, lasting=end):
        case PauseChange(act=act):
            return _reply(pause.paused_reply(act), changed=True)
        case AlreadyPaused(known=known):
            is_own = known.pauser == caller.actor.user_id
            is_repeated = is_own and known.reason == asked.reason.strip()
            code = HTTPStatus.OK if is_repeated else HTTPStatus.CONFLICT
            return _reply(pause.left_as_paused(known), code, changed=False)


def _end(text: str) -> Lasting | None:
    """Machines have no time zone of their own."""
    if not text:
        return None
    end = read_end(text)
    return replace(end, zone=end.zone or "UTC") if isinstance(end, Until) else end


async def _resume(use: UseCases, caller: Caller, target: Target, *, is_any: bool) -> web.Response:
    """Resume the machine's own pause: it can't know of a person's that has come since."""
    if isinstance(target, Group):
        return await _act(use, caller, Action.RESUME, target)
    expected = None if is_any else await _own(use, caller, target)
    match await use.resume_queue.run(caller, target, expected=expected):
        case PauseChange():
            return _reply(pause.resumed_reply(target), changed=True)
        case NotPaused(ended=ended):
            return _reply(pause.not_paused(target, ended), changed=False)
        case OtherPause(known=known):
            return _reply(pause.not_yours(known), HTTPStatus.CONFLICT, changed=False)


async def _own(use: UseCases, caller: Caller, repository: RepositoryName) -> datetime:
    """The time of the machine's own pause."""
    paused = await use.resume_queue.paused_instead(None, [repository])
    own = (one.paused_at for one in paused if one.pauser == caller.actor.user_id)
    return next(own, NEVER)


async def _act(
    use: UseCases, caller: Caller, action: Action, group: Group, asked: Asked = NOTHING
) -> web.Response:
    act = GroupAct.by(caller, use.sources.clock.now(), action, group, asked)
    ended = await use.groups.act(act, ignore_progress)
    if not isinstance(ended, GroupAct):  # only a retry, or an extension, ends so
        raise TypeError(ended)
    failed = ended.of(GroupOutcome.FAILED, GroupOutcome.NOT_TRIED)
    code = HTTPStatus.BAD_GATEWAY if failed else HTTPStatus.OK
    return _reply(group_acts.answer(ended, posted_here=True), code, changed=ended.has_changed)


async def _status(use: UseCases, actor: Actor, target: Target) -> web.Response:
    await use.check_permission.require(actor, Right.READ)
    if isinstance(target, Group):
        read = await read_queues(target.repositories, use.sources)
        return _reply(group_messages.status(target, read))
    snapshot = await read_queue(target, use.sources)
    queued = len(snapshot.status.queued)
    return _reply(status.status(snapshot), paused=snapshot.pause is not None, queued=queued)
