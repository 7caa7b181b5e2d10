"""The HTTP API: the use cases that people have, for machines with a token."""

import asyncio
import json
import logging
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from hmac import compare_digest
from http import HTTPStatus

from aiohttp import web
from pydantic import ValidationError

from bot.acts.errors import InvalidReason
from bot.acts.group_act import GroupAct, GroupOutcome
from bot.acts.group_acts import GroupActs
from bot.acts.permission import MACHINE
from bot.acts.record import ActResult
from bot.acts.unanswered import SOON, Unanswered
from bot.acts.unanswered_rows import UnansweredRequests
from bot.blocks.explain import TOO_FAST
from bot.desk.explain import explain
from bot.desk.use_cases import UseCases
from bot.groups.telling_outcomes import known_outcome
from bot.http.server import read_body
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.clock import Clock
from bot.kernel.configured import AcceptedSecret, Configured
from bot.kernel.errors import BotError, may_have_changed
from bot.kernel.groups import Groups, Target
from bot.kernel.storable import storable
from bot.machines.acting import COMMAND, act_for_machine, may_act
from bot.machines.answers import OutcomeShape, ProblemKind
from bot.machines.asking import answer_machine as answer_question
from bot.machines.document import DOCUMENT, OPERATIONS, OUTCOME_PATH, PREFIX, Operation, document
from bot.machines.replying import (
    Reply,
    WrongField,
    pending,
    plain,
    problem,
    problem_of_error,
    proposed,
    wrong_body,
)
from bot.machines.requests import MachineRequest
from bot.machines.shapes import repository_shapes
from bot.pauses.outcomes import ActOutcome
from bot.pauses.texts import group_acts, outcomes as pause_outcomes
from bot.store.errors import StoreError
from bot.store.paces import Paces
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

OPERATION_NAMED: Mapping[str, Operation] = {operation.name: operation for operation in OPERATIONS}
PATH = f"{PREFIX}{{what:{'|'.join(OPERATION_NAMED)}}}"

MACHINE_BURST = 20
"""Requests of one machine at once, and requests with a wrong or old token from everybody."""

EACH_SECONDS = 1.0
"""After the burst, one request in so many seconds."""

LARGEST_MACHINE_REQUEST = 64 * 1024

REASON_READ = 4000
"""A longer reason is refused before anybody is looked up."""

DRAIN_SECONDS = 5.0

REQUEST_UNDER_WAY = timedelta(minutes=2)
"""Longer than a request takes: then its process has died, and another looks what became of it."""

OUTCOME_SECONDS = 10.0
"""How long a question after an outcome waits for it, so that nobody has to ask often."""

LOOK_SECONDS = 0.5


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
        self._running: set[asyncio.Task[Reply]] = set()
        self.paces = Paces("machine", MACHINE_BURST, EACH_SECONDS, clock)

    def routes(self) -> Iterable[web.RouteDef]:
        yield web.post(PATH, self._on_request)
        yield web.get(OUTCOME_PATH, self._on_outcome)
        yield web.get(DOCUMENT, self._on_document)
        yield web.route("*", f"{PREFIX}{{other:.*}}", self._on_other)

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

    def _admit(self, request: web.Request) -> str | Reply:
        """The name of the machine that sent the request, or the reply that refuses it."""
        if not self._tokens:
            raise web.HTTPNotFound
        token = self._token(request.headers.get("Authorization", ""))
        counts = token is not None and token.counts(self._clock.now())
        # Somebody with an old token can't use up the requests of its machine.
        if not self.paces.admits(token.machine if token is not None and counts else ""):
            return problem(ProblemKind.TOO_MANY, TOO_FAST)
        if token is None:
            extra = {"action": "machine_refused", "remote": request.remote}
            logger.warning("refused a request with a wrong token", extra=extra)
            return _not_let_in("The token is wrong.")
        fields: dict[str, object] = {
            "machine": token.machine,
            "entry": token.entry,
            "last_day": str(token.last_day),
        }
        if not counts:
            fields |= {"action": "machine_refused", "remote": request.remote}
            sentence = "a request with a token whose last day is over was refused"
            logger.warning("%s", sentence, extra=fields)
            return _not_let_in("The last day of this token is over.")
        if token.last_day is not None:
            # These show an operator whether the machine uses its new one yet.
            fields |= {"action": "machine_old_token"}
            logger.info("a machine uses a token that has a last day", extra=fields)
        return token.machine

    async def _on_document(self, request: web.Request) -> web.Response:
        name = self._admit(request)
        return _response(name) if isinstance(name, Reply) else web.json_response(document())

    async def _on_other(self, request: web.Request) -> web.Response:
        """No such address, or another method than it takes."""
        name = self._admit(request)
        if isinstance(name, Reply):
            return _response(name)
        if request.match_info["other"] in OPERATION_NAMED:
            said = "Send this as a POST."
            status = HTTPStatus.METHOD_NOT_ALLOWED
            return _response(problem(ProblemKind.NOT_ACCEPTED, said, status=status))
        names = ", ".join(OPERATION_NAMED)
        said = f"There is no such address. POST: {names}. GET: outcome/ID, openapi.json."
        return _response(problem(ProblemKind.NOT_FOUND, said))

    async def _on_outcome(self, request: web.Request) -> web.Response:
        if self._served is None:
            return self._not_served()
        use, _ = self._served
        name = self._admit(request)
        if isinstance(name, Reply):
            return _response(name)
        asked = storable(request.match_info["request"])
        return _response(
            await _or_failure(_wait_for_outcome(use, name, asked), name, "outcome", asked)
        )

    async def _on_request(self, request: web.Request) -> web.Response:
        if self._served is None:
            return self._not_served()
        use, configured = self._served
        name = self._admit(request)
        if isinstance(name, Reply):
            return _response(name)
        operation = OPERATION_NAMED[request.match_info["what"]]
        try:
            body = await read_body(request, LARGEST_MACHINE_REQUEST)
        except web.HTTPException as error:
            return _response(_body_not_read(error))
        answering = _reply(use, configured.groups, self._named, name, operation, body)
        task = asyncio.create_task(answering)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        # A caller that hangs up still gets what it asked for.
        return _response(await asyncio.shield(task))

    def _not_served(self) -> web.Response:
        if not self._tokens:
            raise web.HTTPNotFound
        return _response(problem(ProblemKind.UNAVAILABLE, "I'm starting or stopping. Try again."))

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


def _not_let_in(sentence: str) -> Reply:
    return problem(ProblemKind.NOT_ACCEPTED, sentence, status=HTTPStatus.UNAUTHORIZED)


def _body_not_read(error: web.HTTPException) -> Reply:
    """The body was too large, came too slowly, or gave way to others."""
    status = HTTPStatus(error.status)
    is_large = status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    kind = ProblemKind.NOT_ACCEPTED if is_large else ProblemKind.UNAVAILABLE
    most = f"{LARGEST_MACHINE_REQUEST:,}"
    said = f"The body is larger than {most} bytes." if is_large else "The body didn't arrive."
    return problem(kind, said, status=status)


def _response(reply: Reply) -> web.Response:
    response = web.json_response(reply.answer.model_dump(mode="json"), status=reply.status)
    if reply.follows is not None:
        response.headers["Location"] = reply.follows
    return response


async def _reply(
    use: UseCases, groups: Groups, named: Named, name: str, operation: Operation, body: bytes
) -> Reply:
    caller = Caller(Actor(f"{MACHINE}{name}", name), Origin.MACHINE, request=uuid.uuid4().hex)
    try:
        asked = operation.body.model_validate_json(body)
    except ValidationError as error:
        return wrong_body(error, operation.body)
    repeated = _repeated_field(body)
    if repeated is not None:
        said = "This field is there twice. Send it once."
        status = HTTPStatus.BAD_REQUEST
        return problem(ProblemKind.WRONG_FIELD, said, field=repeated, status=status)
    replying = _carried_out(use, groups, named, caller, operation, asked)
    return await _or_failure(replying, name, operation.name, caller.request)


def _repeated_field(body: bytes) -> str | None:
    """A field that the object has twice: nobody knows which value is meant."""
    fields: list[tuple[str, object]] = json.loads(body, object_pairs_hook=list)
    count = Counter(name for name, _ in fields)
    return next((name for name, times in count.items() if times > 1), None)


async def _carried_out(
    use: UseCases,
    groups: Groups,
    named: Named,
    caller: Caller,
    operation: Operation,
    asked: MachineRequest,
) -> Reply:
    target = groups.find(asked.target) or groups.repositories.allowed(asked.target)
    if operation.is_act:
        # Slack isn't asked anything for a machine that may not act.
        if await may_act(use, caller, asked):
            asked = await _with_names(asked, named)
        return await _act_and_keep_row(use, caller, target, asked)
    return await answer_question(use, caller, target, asked)


async def _or_failure(
    replying: Awaitable[Reply], name: str, what: str, request: str | None
) -> Reply:
    """The reply, or the one that says why there is none."""
    reference = uuid.uuid4().hex[:8]
    extra = {"action": "machine_request", "machine": name, "what": what, "reference": reference}
    try:
        reply = await replying
    except WrongField as error:
        return problem(ProblemKind.WRONG_FIELD, error.problem, field=error.field)
    except Exception as error:
        unforeseen = not isinstance(error, BotError)
        level = logging.ERROR if unforeseen else logging.INFO
        fields = {**extra, "error": type(error).__name__, "detail": str(error)[:300]}
        logger.log(level, "a machine's request failed", extra=fields, exc_info=unforeseen)
        said = explain(error, command=COMMAND, reference=reference, repeat=None)
        return pending(said, request) if may_have_changed(error) else problem_of_error(error, said)
    logger.info("answered a machine's request", extra={**extra, "status": reply.status})
    return reply


async def _with_names(asked: MachineRequest, named: Named) -> MachineRequest:
    """The request with the names of people and channels in its reason, in place of their ids.

    Raises InvalidReason for one that is too long to be looked through.
    """
    reason = getattr(asked, "reason", None)
    if reason is None:
        return asked
    if len(reason) > REASON_READ:
        raise InvalidReason(len(reason))
    return asked.model_copy(update={"reason": await named(reason)})


async def _act_and_keep_row(
    use: UseCases, caller: Caller, target: Target, asked: MachineRequest
) -> Reply:
    """Act, and keep the request's row while its outcome is unknown."""
    store = use.sources.store
    clock = use.sources.clock
    request = caller.request or ""
    now = clock.now()
    row = Unanswered(request, caller.actor.user_id, None, None, now, now + REQUEST_UNDER_WAY)
    await store.run(lambda transaction: UnansweredRequests(transaction).add(row))
    follows = False
    try:
        reply = await act_for_machine(use, caller, target, asked)
        # A proposal waits for people, and no look at the queue shows its outcome.
        follows = reply.follows is not None and not reply.is_proposal
    except Exception as error:
        follows = may_have_changed(error)
        raise
    finally:
        with suppress(StoreError):
            await store.run(_end_request, request, clock.now(), follows=follows)
    return reply


def _end_request(transaction: Transaction, request: str, now: datetime, *, follows: bool) -> None:
    if follows:
        UnansweredRequests(transaction).left(request, now + SOON)
    else:
        UnansweredRequests(transaction).answered([request])


async def _wait_for_outcome(use: UseCases, name: str, request: str) -> Reply:
    """What became of a request whose answer was 202, waiting a while for it."""
    store = use.sources.store
    clock = use.sources.clock
    until = clock.monotonic() + OUTCOME_SECONDS
    machine = f"{MACHINE}{name}"
    while found := await use.proposals.find(machine, request):
        reply = proposed(found)
        if reply.follows is None or clock.monotonic() >= until:
            return reply
        await clock.sleep(LOOK_SECONDS)
    while True:
        row = await store.read(lambda transaction: UnansweredRequests(transaction).of(request))
        if row is None or row.user_id != machine:
            return problem(ProblemKind.NOT_FOUND, "I don't know of such a request.")
        if row.due_at is None:
            break
        if clock.monotonic() >= until:
            return pending("I can't tell yet. I keep checking.", request)
        await clock.sleep(LOOK_SECONDS)
    became = await store.read(_outcome_of, row)
    if isinstance(became, GroupAct):
        answer = OutcomeShape(
            message=plain(group_acts.answer_to_actor(became, posted_here=True)),
            changed=became.has_changed,
            done=not became.of(GroupOutcome.FAILED, GroupOutcome.NOT_TRIED),
            proposal=None,
            repositories=repository_shapes(became.results),
        )
    else:
        is_done = became.act is not None and became.act.result is ActResult.DONE
        answer = OutcomeShape(
            message=plain(pause_outcomes.outcome(became)),
            changed=is_done,
            done=is_done,
            proposal=None,
            repositories=[],
        )
    return Reply(answer)


def _outcome_of(transaction: Transaction, row: Unanswered) -> ActOutcome | GroupAct:
    """What became of the request's act, or its act on a group, if it was one."""
    group = GroupActs(transaction).of_request(row.request)
    if group is not None:
        return group
    return known_outcome(transaction, row)
