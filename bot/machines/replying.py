"""A reply to a machine: an answer in its documented shape, and its status."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from pydantic import BaseModel, ValidationError
from typing_extensions import override

from bot.acts.confirmation import ConfirmationRequest
from bot.acts.errors import InvalidReason, PermissionDenied, TooManyProposals
from bot.acts.request_state import RequestState
from bot.blocks.message import Message
from bot.groups import confirmations
from bot.kernel.actor import Actor
from bot.kernel.attribute_docstrings import attribute_docstrings
from bot.kernel.errors import (
    BotError,
    InvalidDuration,
    MergeQueueRefused,
    RepositoryNotAllowed,
    UnknownGroup,
    UserError,
)
from bot.machines.answers import (
    Answer,
    OutcomeShape,
    Pending,
    Problem,
    ProblemKind,
    ProposalShape,
    ProposedRepositoryShape,
)
from bot.machines.document import PREFIX

OUTCOME_ADDRESS = f"{PREFIX}outcome/"

STATUS_OF_PROBLEM: Mapping[ProblemKind, HTTPStatus] = {
    ProblemKind.WRONG_FIELD: HTTPStatus.UNPROCESSABLE_ENTITY,
    ProblemKind.NOT_ACCEPTED: HTTPStatus.UNPROCESSABLE_ENTITY,
    ProblemKind.NOT_PERMITTED: HTTPStatus.FORBIDDEN,
    ProblemKind.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ProblemKind.TOO_MANY: HTTPStatus.TOO_MANY_REQUESTS,
    ProblemKind.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}


@dataclass(eq=False)
class WrongField(BotError):
    """A field of the body is missing, unknown or has a value that it can't have."""

    field: str
    problem: str

    @override
    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the machine gets."""

    answer: Answer
    status: HTTPStatus = HTTPStatus.OK
    follows: str | None = None  #: the address of the outcome, if that isn't known yet

    @property
    def is_proposal(self) -> bool:
        """Whether people have to approve it first."""
        return isinstance(self.answer, Pending) and self.answer.proposal is not None


def plain(said: str | Message) -> str:
    """The text of a message without markup's escapes."""
    return html.unescape(said.text) if isinstance(said, Message) else said


def pending(said: str | Message, request: str | None) -> Reply:
    """Nobody can tell yet; the machine may ask again at the address."""
    address = f"{OUTCOME_ADDRESS}{request}"
    answer = Pending(message=plain(said), changed=None, outcome=address, proposal=None)
    return Reply(answer, HTTPStatus.ACCEPTED, address)


def proposed(found: ConfirmationRequest, left_out: Message | None = None) -> Reply:
    """What the machine proposed, and what became of it.

    `left_out`: what it leaves out of the group.
    """
    request = found.asked[0].where.request or ""
    address = f"{OUTCOME_ADDRESS}{request}"
    shape = _proposal_shape(found, request)
    message = plain(confirmations.request(found))
    if left_out is not None:
        message = f"{message}\n{plain(left_out)}"
    if found.state in {RequestState.OPEN, RequestState.UNDER_WAY}:
        waiting = Pending(message=message, changed=None, outcome=address, proposal=shape)
        return Reply(waiting, HTTPStatus.ACCEPTED, address)
    changed = found.repositories(RequestState.CONFIRMED)
    answer = OutcomeShape(
        message=message,
        changed=bool(changed),
        done=len(changed) == len(found.asked),
        proposal=shape,
        repositories=[],
    )
    return Reply(answer)


def _proposal_shape(found: ConfirmationRequest, request: str) -> ProposalShape:
    parts = [
        ProposedRepositoryShape(
            repository=act.repository,
            state=outcome.state,
            by=_actor_name(outcome.by),
        )
        for act, outcome in zip(found.asked, found.outcomes, strict=True)
    ]
    return ProposalShape(
        id=request,
        state=found.state,
        ends_at=found.ends_at,
        by=_actor_name(found.by),
        repositories=parts if found.group is not None else [],
    )


def _actor_name(actor: Actor | None) -> str | None:
    return actor.name if actor is not None else None


def problem(
    kind: ProblemKind,
    said: str | Message,
    *,
    field: str | None = None,
    status: HTTPStatus | None = None,
) -> Reply:
    """A refusal or a failure: one sentence, which begins with the field if one is wrong."""
    message = plain(said) if field is None else f"{field}: {plain(said)}"
    answer = Problem(message=message, error=kind, field=field)
    return Reply(answer, status or STATUS_OF_PROBLEM[kind])


def wrong_body(error: ValidationError, expected: type[BaseModel]) -> Reply:
    """Names the first field that is wrong, and says what it takes."""
    first = error.errors(include_url=False, include_input=False)[0]
    path = ".".join(str(part) for part in first["loc"])
    if not path:
        said = f"{_NO_OBJECT} Fields: {', '.join(expected.model_fields)}."
        return problem(ProblemKind.WRONG_FIELD, said, status=HTTPStatus.BAD_REQUEST)
    name = str(first["loc"][0])
    if name not in expected.model_fields:
        said = f"This request has no such field. It has {', '.join(expected.model_fields)}."
    else:
        problem_of_field = _OF_FIELDS.get(first["type"], "The value doesn't fit.")
        wrong = problem_of_field.format(**first.get("ctx", {}))
        described = attribute_docstrings(expected).get(name, "")
        said = f"{wrong} {described}".rstrip()
    return problem(ProblemKind.WRONG_FIELD, said, field=path, status=HTTPStatus.BAD_REQUEST)


_NO_OBJECT = 'Send a JSON object in UTF-8, for example {"target": "acme/site"}.'

_OF_FIELDS = {
    "missing": "This field is missing.",
    "string_type": "Write a text in quotes.",
    "string_too_short": "Write at least one character, or leave the field out.",
    "string_too_long": "At most {max_length} characters.",
    "int_type": "Write a whole number.",
    "greater_than_equal": "Write a number from {ge}.",
    "less_than_equal": "Write a number up to {le}.",
    "less_than": "Write a number below {lt}.",
    "bool_type": "Write true or false.",
    "tuple_type": 'Write a list of texts, for example ["main"].',
}
"""By pydantic's name of the problem."""


def problem_of_error(error: Exception, said: Message) -> Reply:
    """`said`: the sentence that people read about it."""
    if isinstance(error, PermissionDenied):
        return problem(ProblemKind.NOT_PERMITTED, said)
    if isinstance(error, TooManyProposals):
        return problem(ProblemKind.TOO_MANY, said)
    if isinstance(error, UserError):
        field = _field_of(error)
        kind = ProblemKind.NOT_ACCEPTED if field is None else ProblemKind.WRONG_FIELD
        return problem(kind, said, field=field)
    if isinstance(error, MergeQueueRefused):
        # The service would refuse the same request again.
        return problem(ProblemKind.NOT_ACCEPTED, said)
    return problem(ProblemKind.UNAVAILABLE, said)


def _field_of(error: UserError) -> str | None:
    return next((field for kind, field in _FIELDS.items() if isinstance(error, kind)), None)


_FIELDS: Mapping[type[UserError], str] = {
    RepositoryNotAllowed: "target",
    UnknownGroup: "target",
    InvalidReason: "reason",
    InvalidDuration: "end",
}
