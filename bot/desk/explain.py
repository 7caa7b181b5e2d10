"""The only wording of failures: what went wrong, and how to fix it."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from bot.acts import errors as act_errors
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Action
from bot.acts.request_state import RequestState
from bot.acts.texts.permissions import denied
from bot.blocks import blocks, controls
from bot.blocks.controls import Repeat
from bot.blocks.explain import SENTENCE_LIMIT
from bot.blocks.message import Message
from bot.blocks.text import clean, code, duration, escape, listed, literal, quote, time_ago
from bot.kernel import errors as kernel_errors
from bot.kernel.durations import DurationProblem
from bot.merge_queue import errors as merge_queue_errors
from bot.pauses.texts import outcomes as pause_outcomes
from bot.slack import errors as slack_errors
from bot.store import errors as store_errors

SETTING_LIMIT = 120


OFFER_SHOWN = 80


REPOSITORIES_LISTED = 10


LONGEST_WAIT_SHOWN = timedelta(minutes=5).total_seconds()
"""If the service asks for a longer wait, the bot still retries after this time."""


CLOSE_THE_FORM = "This isn't available any more. Close the form and open it again."


def explain(error: Exception, *, command: str, reference: str, repeat: Repeat | None) -> Message:
    """The message for a failure.

    `reference` is the number that finds the failure in the log. `repeat` asks for the same again,
    for failures that may pass. After a failed act, its state comes first, then the cause, then
    what the bot does next.
    """
    act = kernel_errors.act_of(error)
    target = act.target if act is not None else "the repository"
    repository = getattr(error, "repository", None) or target
    said = _say(error, command, quote(repository, 150)) or _went_wrong(reference, command)
    if act is not None and _leaves_a_state(error, act):
        state, then = pause_outcomes.failed_act_in_words(act)
        cause = _causes_of_failed_acts(error, reference) or said
        said = " ".join(filter(None, [state, cause, then]))
    elif isinstance(error, kernel_errors.MergeQueueError) and error.repository is not None:
        name = quote(error.repository, 150)
        said = said if name in said else f"*{name}:* {said}"
    shown = [blocks.section(f":warning: {said}")]
    is_done = act is not None and act.state is kernel_errors.ActState.DONE
    may_pass = not is_done and _may_pass(error)
    buttons = [*_instead(error, command)]
    if repeat is not None and isinstance(error, slack_errors.NeedsClick):
        buttons.insert(0, ("Open form", repeat.action_id, repeat.value))
    elif repeat is not None and may_pass:
        buttons.insert(0, (pause_outcomes.again(act), repeat.action_id, repeat.value))
    fitting = [
        blocks.button(label, action_id=action_id, value=typed)
        for label, action_id, typed in buttons
        if len(typed) <= blocks.VALUE_LIMIT
    ]
    shown += [blocks.actions(fitting)] if fitting else []
    if may_pass:
        shown.append(blocks.context(f"reference {reference}"))
    message = blocks.message(*shown)
    return message if is_done else blocks.refusal(message)


def _may_pass(error: Exception) -> bool:
    """Whether the same may work if it is asked for again."""
    return kernel_errors.is_uncertain(error) or isinstance(
        error,
        (
            merge_queue_errors.MergeQueueUnavailable,
            act_errors.QueueBusy,
            store_errors.StoreUnavailable,
            slack_errors.CutOff,
            kernel_errors.ActDefect,
        ),
    )


def _instead(error: Exception, command: str) -> Iterator[tuple[str, str, str]]:
    """Label, action and command of each button that offers what may have been meant."""
    if not isinstance(error, kernel_errors.UserError):
        return
    for action_id, offer in zip(controls.INSTEAD, error.instead, strict=False):
        yield clean(f"Run {command} {offer}", blocks.BUTTON_LIMIT), action_id, offer


def _leaves_a_state(error: Exception, act: kernel_errors.FailedAct) -> bool:
    """Whether to say how the act left the queue; some sentences say that themselves."""
    if isinstance(error, merge_queue_errors.StateConflict) and error.pause is not None:
        return act.action != Action.PAUSE
    return isinstance(
        error, kernel_errors.MergeQueueError | store_errors.StoreError | kernel_errors.ActDefect
    )


def _causes_of_failed_acts(error: Exception, reference: str) -> str | None:
    """The cause alone, where the usual sentence also guesses what became of the request."""
    if isinstance(error, store_errors.StoreUnavailable):
        return "My database isn't available right now."
    if isinstance(error, kernel_errors.ActDefect):
        return f"Something went wrong on my side (reference {reference})."
    return None


def _went_wrong(reference: str, command: str) -> str:
    check = f"Check `{escape(command)} status`."
    return f"Something went wrong on my side (reference {reference}). {check}"


def sentence_of(error: kernel_errors.BotError, command: str) -> str:
    """Why something failed, within a message that says more; escaped."""
    repository = getattr(error, "repository", None) or "the repository"
    return _say(error, command, quote(repository, 150)) or "something went wrong on my side."


def beside_field(error: kernel_errors.UserError, block_id: str = controls.END_BLOCK) -> str:
    """Why a form is refused, to show at its field, which it names."""
    if isinstance(error, kernel_errors.InvalidDuration):
        # The field still shows the typed text.
        problem = DurationProblem(error.problem)
        sentence = _DURATIONS[problem]
        if problem is DurationProblem.TWO_ENDS and block_id == controls.END_BLOCK:
            sentence = "Fill in this field or pick a day and a time, not both."
        if block_id == controls.END_AT_BLOCK:
            return f"“{controls.END_AT_LABEL}”: {_PICKED.get(problem, sentence)}"
        return f"“{controls.END_LABEL}”: {sentence}" if block_id == controls.END_BLOCK else sentence
    if isinstance(error, (kernel_errors.RepositoryNotAllowed, kernel_errors.UnknownGroup)):
        # No list of what there is: a form is checked before anybody's rights are.
        return CLOSE_THE_FORM
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


def _syntax(error: kernel_errors.CommandSyntaxError, command: str, _repository: str) -> str:
    problem = quote(error.problem, SENTENCE_LIMIT)
    if error.instead:
        return problem if problem.endswith("?") else f"{problem}{_did_you_mean(error, command)}"
    if error.verb:
        return f"{problem} {code(f'{command} help {error.verb}')} shows how."
    return problem


def _did_you_mean(error: kernel_errors.UserError, command: str) -> str:
    """A question, if there is something to offer; escaped."""
    offers = " or ".join(code(f"{command} {offer}", OFFER_SHOWN) for offer in error.instead)
    return f" Did you mean {offers}?" if offers else ""


def _known(names: tuple[str, ...], command: str = "") -> str:
    if not names:
        return "No repository is configured (MQBOT_REPOSITORIES)."
    rest = f" (`{escape(command)} status all` lists them)" if command else ""
    shown = listed([escape(name) for name in names], most=REPOSITORIES_LISTED, rest=rest)
    return f"Available: {shown}."


_DURATIONS = {
    DurationProblem.UNREADABLE: (
        "I can't read that time. Write it like 45m, 1h30m, 2d, until 15:00, until tomorrow 9am or "
        "until Monday 9:00."
    ),
    DurationProblem.TOO_SHORT: "A pause lasts at least one minute, for example 45m or 2h.",
    DurationProblem.TOO_LONG: (
        "Pauses can last up to 30 days. Leave out the time to pause until someone resumes."
    ),
    DurationProblem.PAST: "That time is in the past. Add the day, such as tomorrow 9:00.",
    DurationProblem.UNCLEAR: (
        "That may mean several times. Write it like 30m, 2h, until 17:00, until 5pm or until "
        "Monday 9:00."
    ),
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


_PICKED = {
    DurationProblem.PAST: "That time is in the past. Pick a later one.",
    DurationProblem.TOO_SHORT: "That is less than a minute away. Pick a later time.",
    DurationProblem.TOO_LONG: "Pauses can last up to 30 days. Pick an earlier day.",
}
"""Of a time that was picked."""


def _unavailable(
    error: merge_queue_errors.MergeQueueUnavailable, _command: str, _repository: str
) -> str:
    if error.status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = timedelta(seconds=min(error.retry_after or 0.0, LONGEST_WAIT_SHOWN))
        when = f"in {duration(wait)}" if wait else "in a moment"
        return f"The merge queue service is limiting requests. Try again {when}."
    last = error.last_answer_at
    good = f" (last good answer {time_ago(last)})" if last is not None else ""
    answer = f" Its answer: {refusal(error)}." if error.status is not None else ""
    return f"The merge queue service isn't responding{good}.{answer}"


def refusal(
    error: kernel_errors.MergeQueueRefused | merge_queue_errors.MergeQueueUnavailable,
) -> str:
    """The status of a refusal, and the service's own sentence if it sent one."""
    status = str(error.status) if error.status is not None else ""
    sentence = (
        error.cause if isinstance(error, merge_queue_errors.MergeQueueUnavailable) else error.detail
    )
    # Without a sentence of the service's, the detail is its status line.
    if status and sentence.startswith(status):
        sentence = ""
    shown = f"“{quote(sentence, SENTENCE_LIMIT)}”" if sentence else ""
    return " ".join(filter(None, [status, shown]))


WHO_RUNS_THE_BOT = "The person who runs the bot"


def _key_refused(
    error: merge_queue_errors.CredentialRefused, _command: str, repository: str
) -> str:
    """401 is about the key itself, 403 about what it may do."""
    setting = code(error.setting, SETTING_LIMIT)
    if error.status == HTTPStatus.UNAUTHORIZED:
        return (
            f"The merge queue service doesn't accept the bot's key for {repository}: "
            f"{refusal(error)}. {WHO_RUNS_THE_BOT} can replace it ({setting})."
        )
    return (
        f"The merge queue service doesn't let the bot do this in {repository}: {refusal(error)}. "
        "The bot's key lacks the role or scope for it, or the service's app isn't installed there. "
        f"{WHO_RUNS_THE_BOT} can check both ({setting})."
    )


def _not_found(error: merge_queue_errors.ResourceNotFound, _command: str, repository: str) -> str:
    return (
        f"The merge queue service doesn't find this in {repository}: {refusal(error)}. If the "
        "repository was renamed, moved or deleted, or the bot's key can't see it, "
        f"{WHO_RUNS_THE_BOT.lower()} can fix it (`MQBOT_REPOSITORIES`)."
    )


def _moved(error: merge_queue_errors.RepositoryMoved, _command: str, repository: str) -> str:
    where = f" to {code(error.new_name, 150)}" if error.new_name is not None else ""
    return (
        f"{repository} was renamed or moved{where} ({error.status}). "
        f"{WHO_RUNS_THE_BOT} can put its new name into `MQBOT_REPOSITORIES`."
    )


def _conflict(error: merge_queue_errors.StateConflict, command: str, repository: str) -> str:
    refused = f"The merge queue service refused this for {repository}: {refusal(error)}."
    if not error.is_state_known:
        return f"{refused} Check `{escape(command)} status` for its state now."
    if error.pause is None:
        return f"{refused} The queue isn't paused now."
    return f"{refused} The queue is paused now: {literal(error.pause.reason, REASON_LIMIT)}"


def _second_person(error: act_errors.SecondPersonNeeded, _command: str, _repository: str) -> str:
    by = f" by {quote(error.by)}" if error.by else ""
    if error.is_frozen:
        state = "frozen"
        stop = "freeze"
        end = "end it"
    else:
        state = "paused"
        stop = "pause"
        end = "resume it"
    stopped = f"{escape(error.repository)} is {state}{by}"
    if not error.is_asked:
        return f"{stopped}. Only they can change that {stop}; two people together can {end}."
    if error.is_approval:
        return (
            f"{stopped}, so a second person has to approve this, too. Nothing has changed yet. The "
            "proposal stays open for them."
        )
    return (
        f"{stopped}, so a second person has to confirm. Nothing has changed yet. I've asked in the "
        f"channels that show the {stop}; the request is open for an hour."
    )


def _proposal_closed(error: act_errors.ProposalClosed, _command: str, _repository: str) -> str:
    by = quote(error.by) if error.by else "Someone"
    return _CLOSED_PROPOSALS[error.state].format(by=by)


_CLOSED_PROPOSALS = {
    RequestState.CONFIRMED: "{by} already approved this.",
    RequestState.UNDER_WAY: "{by} approved this a moment ago, and I'm carrying it out.",
    RequestState.REFUSED: "{by} already refused this.",
    RequestState.EXPIRED: "This proposal has expired. Nothing was changed.",
    RequestState.OVER: (
        "Nothing is left to approve: the queue has changed since, or the machine has lost its "
        "right. Nothing was changed."
    ),
}


def _own_proposal(error: act_errors.OwnProposal, _command: str, _repository: str) -> str:
    return f"You run {quote(error.machine)}, so someone else has to approve this."


def _too_many_proposals(error: act_errors.TooManyProposals, _command: str, _repository: str) -> str:
    return (
        f"{quote(error.machine)} has as many open proposals as it may ({error.most}). Wait until "
        "somebody answers one."
    )


def _nobody_to_approve(error: act_errors.NobodyToApprove, _command: str, _repository: str) -> str:
    name = escape(error.repository)
    if error.is_about_freezes:
        return (
            f"No channel follows freezes of {name}, so nobody would see the proposal. Subscribe "
            "a channel to them first."
        )
    return (
        f"No channel follows pauses of {name}, so nobody would see the proposal. Subscribe a "
        "channel to them first."
    )


def _not_allowed(error: kernel_errors.RepositoryNotAllowed, command: str, _repository: str) -> str:
    word = code(error.repository, 150)
    if error.alike is not None:
        right = code(error.alike, 150)
        why = f"{word} only looks like {right}: some of its letters belong to another alphabet."
        return why + (_did_you_mean(error, command) or f" Type {right} instead.")
    known = _did_you_mean(error, command) or f" {_known(error.configured, command)}"
    return f"I don't manage {word}.{known}"


def _target_not_clear(error: kernel_errors.TargetNotClear, command: str, _repository: str) -> str:
    example = code(f"{command} {error.action} {error.readings[0].target} …", 250)
    return (
        f"I can't tell which queue you mean by {code(error.word, 150)}. Type its whole name, for "
        f"example {example}"
    )


def _not_chosen(error: kernel_errors.RepositoryNotChosen, command: str, _repository: str) -> str:
    return f"Which repository? {_known(error.candidates, command)}"


def _unknown_group(error: kernel_errors.UnknownGroup, command: str, _repository: str) -> str:
    missing = f"There is no group {code(error.word, 60)}."
    if error.instead:
        return f"{missing}{_did_you_mean(error, command)}"
    nearest = f" Did you mean {code(f'@{error.nearest}', 60)}?" if error.nearest else ""
    known = listed([quote(f"@{group}", 60) for group in error.known], most=REPOSITORIES_LISTED)
    return f"{missing}{nearest} Available: {known}."


def _denied(error: act_errors.PermissionDenied, _command: str, _repository: str) -> str:
    return denied(error)


def _invalid_reason(error: act_errors.InvalidReason, _command: str, _repository: str) -> str:
    if not error.length:
        return "Please enter a reason."
    return f"A reason has at most {REASON_LIMIT} characters; yours has {error.length}."


def _invalid_duration(error: kernel_errors.InvalidDuration, _command: str, _repository: str) -> str:
    return f"{code(error.shown, 60)}: {_DURATIONS[DurationProblem(error.problem)]}"


def _invalid_condition(error: act_errors.InvalidCondition, _command: str, _repository: str) -> str:
    return f"{code(error.word, 60)}: needs {error.needs}."


def _service_moved(error: merge_queue_errors.ServiceMoved, _command: str, _repository: str) -> str:
    return (
        f"The merge queue service redirects to {code(error.address, SENTENCE_LIMIT)}, and I don't "
        "follow redirects. An operator can set MQBOT_API_URL to the new address."
    )


def _not_offered(error: merge_queue_errors.NotOffered, _command: str, _repository: str) -> str:
    return f"The merge queue service no longer offers this: {refusal(error)}."


def _service_refused(
    error: kernel_errors.MergeQueueRefused, _command: str, _repository: str
) -> str:
    return f"The merge queue service refused this: {refusal(error)}."


def _rejected(error: kernel_errors.InvalidRequest, _command: str, _repository: str) -> str:
    return f"The merge queue service rejected this: {refusal(error)}."


def _invalid_configuration(
    error: merge_queue_errors.InvalidConfiguration, _command: str, repository: str
) -> str:
    detail = quote(error.detail, SENTENCE_LIMIT)
    return f"The configuration file of {repository} is invalid. {detail}".rstrip()


def _slack_refused(error: slack_errors.SlackRefused, _command: str, _repository: str) -> str:
    return f"Slack didn't take my answer ({code(error.code, 60)}). Please try again."


def _cut_off(error: slack_errors.CutOff, command: str, _repository: str) -> str:
    if error.is_told_later:
        return "I'm restarting before this has finished. I'll tell you the outcome in a moment."
    check = f"Check `{escape(command)} status`."
    return f"I'm restarting and can't tell whether this finished. {check}"


_SENTENCES: Mapping[type, str | Callable[[Any, str, str], str]] = {
    kernel_errors.CommandSyntaxError: _syntax,
    kernel_errors.RepositoryNotAllowed: _not_allowed,
    kernel_errors.TargetNotClear: _target_not_clear,
    kernel_errors.RepositoryNotChosen: _not_chosen,
    kernel_errors.UnknownGroup: _unknown_group,
    act_errors.QueueBusy: (
        "Someone else is changing the queue of {error.repository} right now. Your request wasn't "
        "carried out. Check `{command} status` and try again."
    ),
    act_errors.SecondPersonNeeded: _second_person,
    act_errors.PermissionDenied: _denied,
    act_errors.ProposalClosed: _proposal_closed,
    act_errors.OwnProposal: _own_proposal,
    act_errors.TooManyProposals: _too_many_proposals,
    act_errors.NobodyToApprove: _nobody_to_approve,
    slack_errors.NeedsClick: (
        "Add a reason, or open the form. Slack opens forms only after a click."
    ),
    act_errors.InvalidReason: _invalid_reason,
    kernel_errors.InvalidDuration: _invalid_duration,
    act_errors.InvalidCondition: _invalid_condition,
    merge_queue_errors.MergeQueueUnavailable: _unavailable,
    merge_queue_errors.MergeQueueProtocolError: (
        "The merge queue service sent a response that I can't read."
    ),
    merge_queue_errors.ServiceMoved: _service_moved,
    merge_queue_errors.CredentialRefused: _key_refused,
    merge_queue_errors.ResourceNotFound: _not_found,
    merge_queue_errors.RepositoryMoved: _moved,
    merge_queue_errors.NotOffered: _not_offered,
    kernel_errors.MergeQueueRefused: _service_refused,
    merge_queue_errors.PauseNotOffered: (
        "The merge queue service doesn't offer pausing, nor does it say whether a queue is paused. "
        "Pause or resume {repository} on the service's own pages."
    ),
    merge_queue_errors.FreezesNotOffered: (
        "The merge queue service doesn't offer freezes. `{command} pause` stops merging, and the "
        "checks too."
    ),
    merge_queue_errors.StateConflict: _conflict,
    kernel_errors.InvalidRequest: _rejected,
    merge_queue_errors.InvalidConfiguration: _invalid_configuration,
    slack_errors.SlackRefused: _slack_refused,
    slack_errors.CutOff: _cut_off,
    store_errors.StoreUnavailable: (
        "My database isn't available right now, so your request may be lost. Please try again."
    ),
}
"""By class: a sentence, or a function of the error, the slash command and the repository."""
