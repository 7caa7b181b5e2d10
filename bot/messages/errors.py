"""The only wording of failures: what went wrong, and how to fix it."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from bot.domain import errors
from bot.domain.durations import DurationProblem
from bot.domain.message import Message
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks
from bot.messages.permissions import denied
from bot.messages.text import clean, code, duration, escape, listed, quote, time_ago

DETAIL_LIMIT = 300
SETTING_LIMIT = 120
LISTED = 10
LONGEST_WAIT = timedelta(minutes=5).total_seconds()
"""If the service asks for a longer wait, the bot still retries after this time."""

TOO_FAST = (
    "You're sending requests faster than I can handle. This one wasn't carried out: please wait a "
    "few seconds and try again."
)

BUSY = "I'm busy right now. Please try again in a moment."


def explain(error: Exception, *, command: str, reference: str, retry: str | None) -> Message:
    """The message for a failure.

    `reference` is the number that finds the failure in the log. `retry` is the command text that
    a *Try again* button repeats, for failures that may pass.
    """
    repository = getattr(error, "repository", None) or "the repository"
    said = _say(error, command, quote(repository, 150))
    shown = [blocks.section(f":warning: {said or _went_wrong(reference, command)}")]
    may_pass = isinstance(
        error,
        (errors.MergeQueueUnavailable, errors.QueueBusy, errors.StoreUnavailable, errors.CutOff),
    )
    needs_click = isinstance(error, errors.NeedsClick)
    buttons = []
    if (may_pass or needs_click) and retry is not None:
        buttons.append(("Open form" if needs_click else "Try again", actions.RETRY, retry))
    if isinstance(error, errors.CommandSyntaxError):
        # Each runs the command with one of the nearest verbs.
        labels = [clean(f"Run {command} {one}", blocks.BUTTON_LIMIT) for one in error.nearest]
        buttons += zip(labels, actions.INSTEAD, error.instead, strict=False)
    fitting = [
        blocks.button(label, action_id=action_id, value=typed)
        for label, action_id, typed in buttons
        if len(typed) <= blocks.VALUE_LIMIT
    ]
    shown += [blocks.actions(fitting)] if fitting else []
    if may_pass:
        shown.append(blocks.context(f"reference {reference}"))
    return blocks.message(*shown)


def unrendered(repository: RepositoryName, kind: str | None, *, updates: int) -> Message:
    """Replaces a post that could not be rendered because of a defect."""
    what = f"{updates} updates" if updates > 1 else kind.replace("_", " ") if kind else "an update"
    return Message(
        f"{escape(repository)}: {escape(what)}. I couldn't show the details because of a defect;"
        " my log has them.",
        updates=updates,
    )


def _went_wrong(reference: str, command: str) -> str:
    check = f"Check `{escape(command)} status`."
    return f"Something went wrong on my side (reference {reference}). {check}"


def beside_field(error: errors.UserError) -> str:
    """Why a form is refused, to show at its field."""
    if isinstance(error, errors.InvalidDuration):
        # The field still shows the typed text.
        return _DURATIONS[DurationProblem(error.problem)]
    return _say(error, "", "") or ""


def _say(error: Exception, command: str, repository: str) -> str | None:
    """The text for the error's nearest class; None for an unexpected error."""
    for kind in type(error).__mro__:
        said = _SENTENCES.get(kind)
        if isinstance(said, str):
            return said.format(error=error, command=escape(command), repository=repository)
        if said is not None:
            return said(error, command, repository)
    return None


def _syntax(error: errors.CommandSyntaxError, command: str, _repository: str) -> str:
    offered = " or ".join(code(f"{command} {one}", 200) for one in error.nearest)
    nearest = f" Did you mean {offered}?" if offered else ""
    usage = code(f"{command} {error.usage}", 200)
    return f"{quote(error.problem, DETAIL_LIMIT)}{nearest} Usage: {usage}"


def _known(names: tuple[str, ...], command: str = "") -> str:
    if not names:
        return "No repository is configured (MQBOT_REPOSITORIES)."
    rest = f" (`{escape(command)} status all` lists them)" if command else ""
    return f"Available: {listed([escape(name) for name in names], most=LISTED, rest=rest)}."


_DURATIONS = {
    DurationProblem.UNREADABLE: (
        "I can't read that duration. Write it like 45m, 2h, 1h30m, 2d, until 15:00, "
        "until fri 09:00 or until 2026-11-25 09:00."
    ),
    DurationProblem.TOO_SHORT: "A pause lasts at least one minute, for example 45m or 2h.",
    DurationProblem.TOO_LONG: "A timed pause lasts at most 30 days; without a duration it stays.",
    DurationProblem.PAST: "That time is in the past.",
    DurationProblem.NO_SUCH_TIME: "That time doesn't exist. Write it like until 15:00.",
    DurationProblem.TWO_ENDS: "Use a duration or an end time, not both.",
    DurationProblem.NO_SUCH_ZONE: (
        "I don't know that time zone. Write it like UTC or Europe/Paris, or leave it out for your "
        "own."
    ),
    DurationProblem.SKIPPED: (
        "That time doesn't exist on that day (clocks go forward). Pick another."
    ),
}


def _unavailable(error: errors.MergeQueueUnavailable, _command: str, _repository: str) -> str:
    if error.status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = timedelta(seconds=min(error.retry_after or 0.0, LONGEST_WAIT))
        when = f"in {duration(wait)}" if wait else "in a moment"
        return f"The merge queue service is limiting requests. Try again {when}."
    last = error.last_answer_at
    good = f" (last good answer {time_ago(last)})" if last is not None else ""
    return f"The merge queue service isn't responding{good}."


def _conflict(error: errors.StateConflict, command: str, repository: str) -> str:
    changed = f"The queue of {repository} changed in the meantime"
    if not error.is_state_known:
        return f"{changed}. Check `{escape(command)} status` for its state now."
    if error.pause is None:
        return f"{changed}: it isn't paused now."
    return f"{changed}: it's paused now: {quote(error.pause.reason, REASON_LIMIT)}"


def _second_person(error: errors.SecondPersonNeeded, _command: str, _repository: str) -> str:
    by = f" by {quote(error.by)}" if error.by else ""
    paused = f"{escape(error.repository)} is paused{by}"
    if not error.is_asked:
        return f"{paused}. Only they can change that pause; two people together can resume it."
    return (
        f"{paused}, so a second person has to confirm. I've asked in the channels that show the "
        "pause: it resumes when another person who may resume it does so within an hour."
    )


_SENTENCES: Mapping[type, str | Callable[[Any, str, str], str]] = {
    errors.CommandSyntaxError: _syntax,
    errors.RepositoryNotAllowed: lambda error, command, _: (
        f"I don't manage {code(error.repository, 150)}. {_known(error.configured, command)}"
    ),
    errors.RepositoryNotChosen: lambda error, command, _: (
        f"Which repository? {_known(error.candidates, command)}"
    ),
    errors.UnknownGroup: lambda error, *_: (
        f"There is no group {code(error.word, 60)}."
        + (f" Did you mean {code(f'@{error.nearest}', 60)}?" if error.nearest else "")
        + f" Available: {listed([quote(f'@{one}', 60) for one in error.known], most=LISTED)}."
    ),
    errors.QueueBusy: (
        "Someone else is changing the queue of {error.repository} right now. Your request wasn't "
        "carried out. Check `{command} status` and try again."
    ),
    errors.SecondPersonNeeded: _second_person,
    errors.PermissionDenied: lambda error, *_: denied(error),
    errors.NeedsClick: "Add a reason, or open the form. Slack opens forms only after a click.",
    errors.InvalidReason: lambda error, *_: (
        f"A reason has at most {REASON_LIMIT} characters; yours has {error.length}."
        if error.length
        else "Please enter a reason."
    ),
    errors.InvalidDuration: lambda error, *_: (
        f"{code(error.shown, 60)}: {_DURATIONS[DurationProblem(error.problem)]}"
    ),
    errors.InvalidCondition: lambda error, *_: f"{code(error.word, 60)}: needs {error.needs}.",
    errors.MergeQueueUnavailable: _unavailable,
    errors.MergeQueueProtocolError: "The merge queue service sent a response that I can't read.",
    errors.ServiceMoved: lambda error, *_: (
        f"The merge queue service redirects to {code(error.address, DETAIL_LIMIT)}, and I don't "
        "follow redirects. An operator can set MQBOT_API_URL to the new address."
    ),
    errors.CredentialRefused: lambda error, _, repository: (
        f"The merge queue service rejected the bot's key for {repository} ({error.status}). "
        f"The person who runs the bot can fix it ({code(error.setting, SETTING_LIMIT)})."
    ),
    errors.ResourceNotFound: (
        "{repository} has no merge queue, or the bot's key can't see it (404)."
    ),
    errors.NotOffered: "The merge queue service no longer offers this ({error.status}).",
    errors.MergeQueueRefused: lambda error, *_: (
        f"The merge queue service refused this{f' ({error.status})' if error.status else ''}: "
        f"{quote(error.detail, DETAIL_LIMIT)}"
    ),
    errors.PauseNotOffered: (
        "The merge queue service doesn't offer pausing, nor does it say whether a queue is paused. "
        "Pause or resume {repository} on the service's own pages."
    ),
    errors.FreezesNotOffered: (
        "The merge queue service doesn't offer freezes. `{command} pause` stops merging, and the "
        "checks too."
    ),
    errors.StateConflict: _conflict,
    errors.InvalidRequest: lambda error, *_: (
        f"The merge queue service rejected this: {quote(error.detail, DETAIL_LIMIT)}"
    ),
    errors.InvalidConfiguration: lambda error, _, repository: (
        f"The configuration file of {repository} is invalid. {quote(error.detail, DETAIL_LIMIT)}"
    ).rstrip(),
    errors.SlackRefused: lambda error, *_: (
        f"Slack didn't take my answer ({code(error.code, 60)}). Please try again."
    ),
    errors.CutOff: "I'm restarting and can't tell whether this finished. Check `{command} status`.",
    errors.StoreUnavailable: (
        "My database isn't available right now, so your request may be lost. Please try again."
    ),
}
"""By class: a sentence, or a function of the error, the slash command and the repository."""
