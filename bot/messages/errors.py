"""The only wording of failures: what went wrong, and what mends it."""

from datetime import timedelta
from functools import singledispatch
from http import HTTPStatus

from bot.domain.durations import DurationProblem
from bot.domain.errors import (
    CommandSyntaxError,
    CredentialRefused,
    CutOff,
    InvalidConfiguration,
    InvalidDuration,
    InvalidReason,
    InvalidRequest,
    MergeQueueProtocolError,
    MergeQueueRefused,
    MergeQueueUnavailable,
    NotOffered,
    PauseNotOffered,
    PermissionDenied,
    QueueBusy,
    ReasonProblem,
    RepositoryNotAllowed,
    RepositoryNotChosen,
    ResourceNotFound,
    SlackRefused,
    StateConflict,
    StoreUnavailable,
    UnknownGroup,
)
from bot.domain.message import Message
from bot.domain.pauses import REASON_LIMIT
from bot.messages import actions, blocks
from bot.messages.permissions import denied
from bot.messages.text import code, duration, escape, listed, quote, time_ago

DETAIL_LIMIT = 300
LISTED = 10
LONGEST_WAIT = timedelta(minutes=5).total_seconds()
"""A service that asks for more is tried again sooner."""

TOO_FAST = (
    "You're sending requests faster than I can handle. This one wasn't carried out: please wait a "
    "few seconds and try again."
)

BUSY = "I have too much to do at this moment. Please try again in a few seconds."


def explain(
    error: Exception, *, command: str, reference: str, repository: str | None, retry: str | None
) -> Message:
    """The message for a failure.

    `reference` is the number that finds the failure in the log. `retry` is the command text that
    a *Try again* button repeats, for failures that may pass.
    """
    sentence = _say(error, command, quote(repository or "the repository", 150))
    expected = sentence is not None
    text = sentence or _went_wrong(reference)
    shown = [blocks.section(f":warning: {text}")]
    may_pass = isinstance(error, (MergeQueueUnavailable, QueueBusy, StoreUnavailable, CutOff))
    if may_pass and retry is not None and len(retry) <= blocks.VALUE_LIMIT:
        button = blocks.button("Try again", action_id=actions.RETRY, value=retry)
        shown.append(blocks.actions([button]))
    if expected and may_pass:
        shown.append(blocks.context(f"reference {reference}"))
    return Message(text=text, blocks=tuple(shown))


def defect(reference: str) -> Message:
    """The message for what nobody has foreseen."""
    return blocks.sentence(f":warning: {_went_wrong(reference)}")


def _went_wrong(reference: str) -> str:
    return (
        f"Something went wrong on my side (reference {reference}). "
        "Check the queue's status to see what was done."
    )


@singledispatch
def _say(_error: Exception, _command: str, _repository: str) -> str | None:
    return None


@_say.register
def _(error: CommandSyntaxError, command: str, _repository: str) -> str:
    nearest = ""
    if error.nearest is not None:
        nearest = f" Did you mean `{escape(command)} {escape(error.nearest)}`?"
    usage = code(f"{command} {error.usage}", 200)
    return f"{quote(error.problem, DETAIL_LIMIT)}{nearest} Usage: {usage}"


@_say.register
def _(error: RepositoryNotAllowed, command: str, _repository: str) -> str:
    return _not_allowed(error, command)


def _not_allowed(error: RepositoryNotAllowed, command: str = "") -> str:
    return f"I do not look after {code(error.repository, 150)}. {_known(error.configured, command)}"


@_say.register
def _(error: RepositoryNotChosen, command: str, _repository: str) -> str:
    return f"Which repository? {_known(error.candidates, command)}"


@_say.register
def _(error: UnknownGroup, _command: str, _repository: str) -> str:
    return _unknown_group(error)


def _unknown_group(error: UnknownGroup) -> str:
    mentions = [f"@{one}" for one in error.known]
    nearest = f" Did you mean {code(f'@{error.nearest}', 60)}?" if error.nearest else ""
    known = listed([quote(one, 60) for one in mentions], most=LISTED)
    return f"There is no group {code(error.word, 60)}.{nearest} I know {known}."


def _known(names: tuple[str, ...], command: str = "") -> str:
    if not names:
        return "No repository is configured (MQBOT_REPOSITORIES)."
    rest = f" (`{escape(command)} status all` lists them)" if command else ""
    return f"I know {listed([escape(name) for name in names], most=LISTED, rest=rest)}."


@_say.register
def _(error: QueueBusy, _command: str, _repository: str) -> str:
    return (
        f"Somebody else is pausing or unpausing {escape(error.repository)} at this moment. "
        "Nothing of yours was done; look at the status and try again."
    )


@_say.register
def _(error: PermissionDenied, _command: str, _repository: str) -> str:
    return denied(error)


@_say.register
def _(error: InvalidReason, _command: str, _repository: str) -> str:
    return _invalid_reason(error)


_DURATIONS = {
    DurationProblem.UNREADABLE: (
        "I cannot read that duration; write it like 45m, 2h, 1h30m, 2d, until 15:00 "
        "or until 2026-11-25 09:00."
    ),
    DurationProblem.TOO_SHORT: "A pause lasts at least one minute, for example 45m or 2h.",
    DurationProblem.TOO_LONG: "A timed pause lasts at most 30 days; without a duration it stays.",
    DurationProblem.PAST: "That time has passed already.",
    DurationProblem.NO_SUCH_TIME: "There is no such time; write it like until 15:00.",
    DurationProblem.TWO_ENDS: "That is two ends; say how long or until when, not both.",
    DurationProblem.NO_SUCH_ZONE: (
        "I know no such time zone; write it like UTC or Europe/Paris, or leave it out for your own."
    ),
    DurationProblem.SKIPPED: "The clocks go forward over that time on that day; take another.",
}


@_say.register
def _(error: InvalidDuration, _command: str, _repository: str) -> str:
    return f"{code(error.shown, 60)}: {_DURATIONS[DurationProblem(error.problem)]}"


def beside_field(
    error: InvalidReason | InvalidDuration | RepositoryNotAllowed | UnknownGroup,
) -> str:
    """Why a form is refused, shown beside a field of it."""
    match error:
        case InvalidReason():
            return _invalid_reason(error)
        case InvalidDuration():
            # What was written stands in the field.
            return _DURATIONS[DurationProblem(error.problem)]
        case RepositoryNotAllowed():
            return _not_allowed(error)
        case UnknownGroup():
            return _unknown_group(error)


def _invalid_reason(error: InvalidReason) -> str:
    if error.problem is ReasonProblem.BLANK:
        return "A reason needs at least one character that can be seen."
    return f"A reason has at most {error.limit} characters; yours has {error.length}."


@_say.register
def _(error: MergeQueueUnavailable, _command: str, _repository: str) -> str:
    if error.status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = timedelta(seconds=min(error.retry_after or 0.0, LONGEST_WAIT))
        when = f"in {duration(wait)}" if wait else "in a moment"
        return (
            f"The merge queue service is limiting requests. Nothing was changed; try again {when}."
        )
    last = error.last_answer_at
    good = f" (last good answer {time_ago(last)})" if last is not None else ""
    return f"The merge queue service does not answer{good}. Nothing was changed that I know of."


@_say.register
def _(_error: MergeQueueProtocolError, _command: str, _repository: str) -> str:
    return "The merge queue service gave an answer that I cannot read."


@_say.register
def _(error: CredentialRefused, _command: str, repository: str) -> str:
    if error.status == HTTPStatus.UNAUTHORIZED:
        return (
            "The merge queue service rejected the bot's key (401). "
            "The person who runs the bot can set a valid one (MQBOT_API_TOKEN)."
        )
    return (
        f"The bot's key isn't allowed to do this in {repository} (403). "
        "The person who runs the bot can give it the permission (MQBOT_API_TOKEN)."
    )


@_say.register
def _(_error: ResourceNotFound, _command: str, repository: str) -> str:
    return f"{repository} has no merge queue, or the bot's key can't see it (404)."


@_say.register
def _(error: NotOffered, _command: str, _repository: str) -> str:
    return f"The merge queue service doesn't offer this, or no longer does ({error.status})."


@_say.register
def _(error: MergeQueueRefused, _command: str, _repository: str) -> str:
    status = f" ({error.status})" if error.status else ""
    return f"The merge queue service refused this{status}: {quote(error.detail, DETAIL_LIMIT)}"


@_say.register
def _(_error: PauseNotOffered, _command: str, repository: str) -> str:
    return (
        "The merge queue service doesn't offer pausing, nor does it say whether a queue is paused. "
        f"Pause or resume {repository} on the service's own pages."
    )


@_say.register
def _(error: StateConflict, command: str, repository: str) -> str:
    changed = f"The queue of {repository} changed in the meantime"
    if not error.is_state_known:
        return f"{changed}. Check `{escape(command)} status` for its state now."
    if error.pause is None:
        return f"{changed}: it isn't paused now."
    return f"{changed}: it's paused now: {quote(error.pause.reason, REASON_LIMIT)}"


@_say.register
def _(error: InvalidRequest, _command: str, _repository: str) -> str:
    field = f" ({code(error.field, 60)})" if error.field else ""
    return f"The merge queue service cannot take this{field}: {quote(error.detail, DETAIL_LIMIT)}"


@_say.register
def _(error: InvalidConfiguration, _command: str, repository: str) -> str:
    detail = f" {quote(error.detail, DETAIL_LIMIT)}" if error.detail else ""
    return f"The configuration file of {repository} is invalid.{detail}"


@_say.register
def _(error: SlackRefused, _command: str, _repository: str) -> str:
    return f"Slack did not take my answer ({code(error.code, 60)}). Please try again."


@_say.register
def _(_error: CutOff, _command: str, _repository: str) -> str:
    return (
        "I am being stopped and do not know how this ends. "
        "Look at the status in a moment, and try again if it is not done."
    )


@_say.register
def _(_error: StoreUnavailable, _command: str, _repository: str) -> str:
    return "My database cannot be used just now, so I cannot be sure of keeping what you asked."
