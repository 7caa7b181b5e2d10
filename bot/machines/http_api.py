"""The HTTP API: the use cases that people have, for machines with a token."""

import asyncio
import html
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from http import HTTPStatus

from aiohttp import web
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from bot.acts.asked import NOTHING_ASKED, Asked
from bot.acts.errors import PermissionDenied
from bot.acts.group_act import GroupAct, GroupOutcome
from bot.acts.group_acts import GroupActs
from bot.acts.permission import MACHINE, Right
from bot.acts.record import Action, ActResult
from bot.acts.unanswered import SOON, Unanswered
from bot.acts.unanswered_rows import UnansweredRequests
from bot.blocks.explain import TOO_FAST
from bot.blocks.message import Message
from bot.desk.explain import explain
from bot.desk.use_cases import UseCases
from bot.doctor import texts as doctor_texts
from bot.groups.telling_outcomes import known_outcome
from bot.http.server import read_body
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.clock import Clock
from bot.kernel.configured import AcceptedSecret, Configured
from bot.kernel.durations import Lasting, Until
from bot.kernel.ends.phrases import read_end
from bot.kernel.errors import BotError, UserError, is_uncertain
from bot.kernel.groups import Group, Groups, Target
from bot.kernel.repository import RepositoryName
from bot.pauses.group_work import ignore_progress
from bot.pauses.outcomes import AlreadyPaused, NotPaused, OtherPause, Outcome, PauseChange
from bot.pauses.texts import group_acts, outcomes as pause_outcomes, replies as pause_replies
from bot.queues.reading import read_queue, read_queues
from bot.queues.texts import group_status, status as queue_status
from bot.store.errors import StoreError
from bot.store.paces import Paces
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

PATH = "/api/v1/{what:pause|resume|status|why}"
OUTCOME = "/api/v1/outcome/"
WHY_TAKES_ONE = "Name one repository: owner/name."
COMMAND = "mqbot"
"""What the texts tell people to type."""

MACHINE_BURST = 20
"""Requests of one machine at once, and requests with a wrong token from all of the network."""

EACH_SECONDS = 1.0
"""After the burst, one request in so many seconds."""

LARGEST_MACHINE_REQUEST = 64 * 1024

REASON_READ = 4000
"""A longer reason is cut before its length is checked, as in forms."""

DRAIN_SECONDS = 5.0

REQUEST_UNDER_WAY = timedelta(minutes=2)
"""Longer than a request takes: then its process has died, and another looks what became of it."""

OUTCOME_SECONDS = 10.0
"""How long a question after an outcome waits for it, so that nobody has to ask often."""

LOOK_SECONDS = 0.5

NO_OWN_PAUSE = datetime.fromtimestamp(0, UTC)
"""The time of no pause."""


class Body(BaseModel):
    """A request."""

    model_config = ConfigDict(extra="forbid")

    target: str  #: `owner/name`, `@group` or `all`
    reason: str = ""
    end: str = ""  #: "45m" or "until 15:00", in UTC unless it names a zone; empty for none
    any: bool = False  #: resume somebody else's pause too


Named = Callable[[str], Awaitable[str]]


async def _unchanged(text: str) -> str:
    return text


class MachineApi:
    """Answers 404 without tokens, and 503 before `serve` and after `close`."""

    def __init__(self, tokens: Sequence[AcceptedSecret], clock: Clock) -> None:
        self._tokens = tokens
        self._clock = clock
        self._served: tuple[UseCases, Configured] | None = None
        self._named: Named = _unchanged
        self._running: set[asyncio.Task[web.Response]] = set()
        self.paces = Paces("machine", MACHINE_BURST, EACH_SECONDS, clock)

    def routes(self) -> Iterable[web.RouteDef]:
        yield web.post(PATH, self._on_request)
        yield web.get(f"{OUTCOME}{{request}}", self._on_outcome)

    def use(self, tokens: Sequence[AcceptedSecret]) -> None:
        """From now on, accept these."""
        self._tokens = tokens

    def serve(self, use: UseCases, configured: Configured, named: Named) -> None:
        """`named`: puts names in place of the ids of people, channels and user groups."""
        self._served = use, configured
        self._named = named

    async def close(self) -> None:
        """Take no more requests, and end those that run."""
        self._served = None
        if self._running:
            _, left = await asyncio.wait(self._running, timeout=DRAIN_SECONDS)
            for task in left:
                task.cancel()

    def _admit(self, request: web.Request) -> str | web.Response:
        """The name of the machine that sent the request, or the answer that refuses it."""
        if not self._tokens:
            raise web.HTTPNotFound
        token = self._token(request.headers.get("Authorization", ""))
        if not self.paces.admits(token.machine if token is not None else ""):
            return _reply(TOO_FAST, HTTPStatus.TOO_MANY_REQUESTS)
        if token is None:
            extra = {"action": "machine_refused", "remote": request.remote}
            logger.warning("a request with a wrong token was refused", extra=extra)
            return _reply("The token is wrong.", HTTPStatus.UNAUTHORIZED)
        fields: dict[str, object] = {
            "machine": token.machine,
            "entry": token.entry,
            "last_day": str(token.last_day),
        }
        if not token.counts(self._clock.now()):
            fields |= {"action": "machine_refused", "remote": request.remote}
            sentence = "a request with a token whose last day is over was refused"
            logger.warning("%s", sentence, extra=fields)
            return _reply("The last day of this token is over.", HTTPStatus.UNAUTHORIZED)
        if token.last_day is not None:
            # These show an operator whether the machine uses its new one yet.
            fields |= {"action": "machine_old_token"}
            logger.info("a machine uses a token that has a last day", extra=fields)
        return token.machine

    async def _on_outcome(self, request: web.Request) -> web.Response:
        if self._served is None:
            raise web.HTTPServiceUnavailable if self._tokens else web.HTTPNotFound
        use, _ = self._served
        name = self._admit(request)
        if isinstance(name, web.Response):
            return name
        return await _outcome(use, name, request.match_info["request"])

    async def _on_request(self, request: web.Request) -> web.Response:
        if self._served is None:
            raise web.HTTPServiceUnavailable if self._tokens else web.HTTPNotFound
        use, configured = self._served
        name = self._admit(request)
        if isinstance(name, web.Response):
            return name
        what = request.match_info["what"]
        body = await read_body(request, LARGEST_MACHINE_REQUEST)
        task = asyncio.create_task(_answer(use, configured.groups, self._named, name, what, body))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        # A caller that hangs up still gets what it asked for.
        return await asyncio.shield(task)

    def _token(self, authorization: str) -> AcceptedSecret | None:
        # It may be no text at all.
        given = authorization.removeprefix("Bearer ").encode(errors="surrogateescape")
        known: AcceptedSecret | None = None
        for token in self._tokens:
            # All of them are compared, so that the time says nothing.
            is_same = compare_digest(token.secret.get_secret_value().encode(), given)
            if is_same and known is None:
                known = token
        return known


def _reply(
    said: str | Message, status: HTTPStatus = HTTPStatus.OK, **facts: JsonValue
) -> web.Response:
    """What people read, and `facts` that say the same to programs."""
    text = html.unescape(said.text) if isinstance(said, Message) else said
    return web.json_response({"message": text, **facts}, status=status)


async def _answer(
    use: UseCases, groups: Groups, named: Named, name: str, what: str, body: bytes
) -> web.Response:
    reference = uuid.uuid4().hex[:8]
    extra = {"action": "machine_request", "machine": name, "what": what, "reference": reference}
    actor = Actor(f"{MACHINE}{name}", name)
    caller = Caller(actor, Origin.MACHINE, request=uuid.uuid4().hex)
    try:
        asked = Body.model_validate_json(body)
        target = groups.find(asked.target) or groups.repositories.allowed(asked.target)
        if what == "status":
            response = await _status(use, caller.actor, target)
        elif what == "why":
            response = await _why(use, caller.actor, target)
        else:
            reason = await named(asked.reason[:REASON_READ])
            asked = asked.model_copy(update={"reason": reason})
            response = await _change(use, caller, what, target, asked)
    except ValidationError:
        sentence = "The body has what this request doesn't take."
        return _reply(sentence, HTTPStatus.BAD_REQUEST)
    except Exception as error:
        unforeseen = not isinstance(error, BotError)
        level = logging.ERROR if unforeseen else logging.INFO
        fields = {**extra, "error": type(error).__name__, "detail": str(error)[:300]}
        logger.log(level, "a machine's request failed", extra=fields, exc_info=unforeseen)
        said = explain(error, command=COMMAND, reference=reference, repeat=None)
        if is_uncertain(error):
            return _uncertain(said, caller)
        return _reply(said, _status_of(error))
    logger.info("a machine's request was answered", extra={**extra, "status": response.status})
    return response


def _status_of(error: Exception) -> HTTPStatus:
    if isinstance(error, PermissionDenied):
        return HTTPStatus.FORBIDDEN
    if isinstance(error, UserError):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    return HTTPStatus.SERVICE_UNAVAILABLE


async def _change(
    use: UseCases, caller: Caller, what: str, target: Target, asked: Body
) -> web.Response:
    """Act, and keep the request's row while its outcome is unknown."""
    store = use.sources.store
    clock = use.sources.clock
    request = caller.request or ""
    now = clock.now()
    row = Unanswered(request, caller.actor.user_id, None, None, now, now + REQUEST_UNDER_WAY)
    await store.run(lambda transaction: UnansweredRequests(transaction).add(row))
    follows = False
    try:
        if what == "pause":
            response = await _pause(use, caller, target, asked)
        else:
            response = await _resume(use, caller, target, is_any=asked.any)
        follows = response.status == HTTPStatus.ACCEPTED
    except Exception as error:
        follows = is_uncertain(error)
        raise
    finally:
        with suppress(StoreError):
            await store.run(_end_request, request, clock.now(), follows=follows)
    return response


def _end_request(transaction: Transaction, request: str, now: datetime, *, follows: bool) -> None:
    if follows:
        UnansweredRequests(transaction).left(request, now + SOON)
    else:
        UnansweredRequests(transaction).answered([request])


def _uncertain(said: str | Message, caller: Caller) -> web.Response:
    """Nobody can tell yet; the machine may ask again at the address."""
    address = f"{OUTCOME}{caller.request}"
    response = _reply(said, HTTPStatus.ACCEPTED, changed=None, outcome=address)
    response.headers["Location"] = address
    return response


async def _outcome(use: UseCases, name: str, request: str) -> web.Response:
    """What became of a request whose answer was 202, waiting a while for it."""
    store = use.sources.store
    clock = use.sources.clock
    until = clock.monotonic() + OUTCOME_SECONDS
    while True:
        row = await store.read(lambda transaction: UnansweredRequests(transaction).of(request))
        if row is None or row.user_id != f"{MACHINE}{name}":
            return _reply("I don't know of such a request.", HTTPStatus.NOT_FOUND)
        if row.due_at is None:
            break
        if clock.monotonic() >= until:
            said = "I can't tell yet. I keep checking."
            return _reply(said, HTTPStatus.ACCEPTED, changed=None, outcome=f"{OUTCOME}{request}")
        await clock.sleep(LOOK_SECONDS)
    became = await store.read(_outcome_of, row)
    if isinstance(became, GroupAct):
        is_done = not became.of(GroupOutcome.FAILED, GroupOutcome.NOT_TRIED)
        message = group_acts.answer(became, posted_here=True)
    else:
        is_done = became.act is not None and became.act.result is ActResult.DONE
        message = pause_outcomes.outcome(became)
    return _reply(message, changed=is_done, done=is_done)


def _outcome_of(transaction: Transaction, row: Unanswered) -> Outcome | GroupAct:
    """What became of the request's act, or its act on a group, if it was one."""
    group = GroupActs(transaction).of_request(row.request)
    if group is not None:
        return group
    return known_outcome(transaction, row)


async def _pause(use: UseCases, caller: Caller, target: Target, asked: Body) -> web.Response:
    end = _end(asked.end)
    if isinstance(target, Group):
        return await _act(use, caller, Action.PAUSE, target, Asked(asked.reason, end))
    match await use.pause_queue.run(caller, target, asked.reason, lasting=end):
        case PauseChange(act=act):
            return _reply(pause_replies.paused_reply(act), changed=True)
        case AlreadyPaused(known=known):
            is_own = known.pauser == caller.actor.user_id
            is_repeated = is_own and known.reason == asked.reason.strip()
            code = HTTPStatus.OK if is_repeated else HTTPStatus.CONFLICT
            return _reply(pause_replies.left_as_paused(known), code, changed=False)


def _end(text: str) -> Lasting | None:
    """Machines have no time zone of their own."""
    if not text:
        return None
    end = read_end(text)
    if isinstance(end, Until):
        return replace(end, zone=end.zone or "UTC")
    return end


async def _resume(use: UseCases, caller: Caller, target: Target, *, is_any: bool) -> web.Response:
    """Resume the machine's own pause: it can't know of a person's that has come since."""
    if isinstance(target, Group):
        return await _act(use, caller, Action.RESUME, target)
    expected = None if is_any else await _own(use, caller, target)
    match await use.resume_queue.run(caller, target, expected=expected):
        case PauseChange():
            return _reply(pause_replies.resumed_reply(target), changed=True)
        case NotPaused(ended=ended):
            return _reply(pause_replies.not_paused(target, ended), changed=False)
        case OtherPause(known=known):
            return _reply(pause_replies.not_yours(known), HTTPStatus.CONFLICT, changed=False)


async def _own(use: UseCases, caller: Caller, repository: RepositoryName) -> datetime:
    """The time of the machine's own pause."""
    paused = await use.resume_queue.paused_instead(None, [repository])
    for pause in paused:
        if pause.pauser == caller.actor.user_id:
            return pause.paused_at
    return NO_OWN_PAUSE


async def _act(
    use: UseCases, caller: Caller, action: Action, group: Group, asked: Asked = NOTHING_ASKED
) -> web.Response:
    act = GroupAct.by(caller, use.sources.clock.now(), action, group, asked)
    ended = await use.groups.act(act, ignore_progress)
    if not isinstance(ended, GroupAct):  # only a retry, or an extension, ends so
        raise TypeError(ended)
    if ended.of(GroupOutcome.UNCERTAIN):
        return _uncertain(group_acts.answer(ended, posted_here=True), caller)
    failed = ended.of(GroupOutcome.FAILED, GroupOutcome.NOT_TRIED)
    code = HTTPStatus.BAD_GATEWAY if failed else HTTPStatus.OK
    return _reply(group_acts.answer(ended, posted_here=True), code, changed=ended.has_changed)


async def _status(use: UseCases, actor: Actor, target: Target) -> web.Response:
    await use.check_permission.require(actor, Right.READ)
    if isinstance(target, Group):
        read = await read_queues(target.repositories, use.sources)
        return _reply(group_status.status(target, read))
    snapshot = await read_queue(target, use.sources)
    queued = len(snapshot.status.queued)
    return _reply(queue_status.status(snapshot), paused=snapshot.pause is not None, queued=queued)


async def _why(use: UseCases, actor: Actor, target: Target) -> web.Response:
    await use.check_permission.require(actor, Right.READ)
    if isinstance(target, Group):
        return _reply(WHY_TAKES_ONE, HTTPStatus.UNPROCESSABLE_ENTITY)
    diagnosis = await use.examine_queue.run(target)
    verdicts: list[JsonValue] = [verdict.value for verdict in diagnosis.verdicts]
    return _reply(doctor_texts.why_queue(diagnosis), verdicts=verdicts)
