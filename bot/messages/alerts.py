"""Alerts about queue health, and outages: what is posted when one begins and when it is over."""

from datetime import timedelta

from bot.domain.event_records import PullRequestRecord
from bot.domain.message import Message
from bot.domain.outages import Outage
from bot.domain.queue_health import Alert, AlertKind
from bot.messages import actions, blocks
from bot.messages.status import pause_button
from bot.messages.text import (
    duration,
    escape,
    link,
    listed,
    local_time,
    plural,
    quote,
    utc_time,
)

TITLE_LIMIT = 80
BATCH_LIMIT = 40
NAMED = 5

_HINTS = {
    AlertKind.HEAD: "Look at its checks: until it merges or leaves, everything behind it waits.",
    AlertKind.BATCH: "One of its checks may hang, and everything behind it waits.",
    AlertKind.DEPTH: (
        "Pull requests enter faster than they merge: look for slow checks, "
        "or postpone what can wait."
    ),
    AlertKind.FAILURES: (
        "If one cause is behind them, such as CI or the base branch, pause the queue until it is "
        "found."
    ),
}
_OVER = {
    AlertKind.HEAD: "the head of the queue is moving again",
    AlertKind.BATCH: "no batch is stuck any more",
    AlertKind.DEPTH: "the queue is short again",
    AlertKind.FAILURES: "the queue is merging again",
}


def alert(told: Alert, seen: PullRequestRecord | None = None) -> Message:
    """To channels subscribed to queue health; `seen` is the pull request it is about."""
    repository = escape(told.repository)
    hint = _HINTS[told.kind]
    buttons = [_status_button(told)]
    if told.kind is AlertKind.FAILURES:
        buttons.append(pause_button(told.repository))
    elif told.pull_request is not None:
        value = f"log {told.repository} pr:{told.pull_request}"
        label = f"Log of #{told.pull_request}"
        buttons.append(blocks.button(label, action_id=actions.LOG_OF, value=value))
    plain, linked = _pull_request(told, seen)
    return Message(
        text=f"Queue alert, {repository}: {_sentence(told, plain)}. {hint}",
        blocks=(
            blocks.section(
                f":rotating_light: *Queue alert* {repository}: {_sentence(told, linked)}."
            ),
            blocks.context(hint),
            blocks.actions(buttons),
        ),
    )


def over(told: Alert) -> Message:
    """The end of it."""
    lasted = duration((told.ended_at or told.began_at) - told.began_at)
    said = f"{escape(told.repository)}: {_OVER[told.kind]}, after {lasted}."
    return Message(
        text=f"Alert over, {said}",
        blocks=(blocks.section(f":white_check_mark: *Alert over* {said}"),),
    )


def _sentence(told: Alert, pull_request: str) -> str:
    match told.kind:
        case AlertKind.HEAD:
            waited = duration(timedelta(seconds=told.value))
            return (
                f"the head of the queue, {pull_request}, has waited for {waited} ({_limit(told)})"
            )
        case AlertKind.BATCH:
            lasted = duration(timedelta(seconds=told.value))
            batch = quote(told.batch or "", BATCH_LIMIT)
            return (
                f"batch {batch} with {pull_request} has been checked for {lasted} ({_limit(told)})"
            )
        case AlertKind.DEPTH:
            count = plural(told.value, "pull request is", "pull requests are")
            return f"{count} in the queue ({_limit(told)})"
        case AlertKind.FAILURES:
            count = plural(told.value, "pull request")
            return (
                f"{count} in a row left the queue on failures, {pull_request} last ({_limit(told)})"
            )


def _limit(told: Alert) -> str:
    if told.kind in {AlertKind.HEAD, AlertKind.BATCH}:
        return f"limit {duration(timedelta(seconds=told.threshold))}"
    return f"limit {told.threshold:,}"


def _pull_request(told: Alert, seen: PullRequestRecord | None) -> tuple[str, str]:
    """In plain words, and as a link."""
    if seen is None:
        number = f"#{told.pull_request}"
        return number, number
    label = f"#{seen.number} {quote(seen.title, TITLE_LIMIT)}"
    return label, link(seen.url, label)


def _status_button(told: Alert) -> blocks.Element:
    """As if `status` were typed, for whoever presses it alone."""
    value = f"status {told.repository}"
    return blocks.button("Show status", action_id=actions.RETRY, value=value)


def outage(begun: Outage) -> Message:
    """To channels subscribed to any of its repositories: silence is not good news."""
    head = f"The event log of {_logs(begun)} can't be read"
    hint = "Once it's back, I'll post what happened meanwhile; nothing is lost."
    since = begun.began_at
    return Message(
        text=f"{head}, last read {utc_time(since)}. {hint}",
        blocks=(
            blocks.section(f":warning: *{head}*, last read {local_time(since)}."),
            blocks.context(hint),
        ),
    )


def outage_over(ended: Outage) -> Message:
    """The end of it."""
    lasted = ""
    if ended.ended_at is not None:
        lasted = f", after {duration(ended.ended_at - ended.began_at)}"
    text = f"The event log of {_logs(ended)} can be read again{lasted}."
    return Message(text=text, blocks=(blocks.section(f":white_check_mark: {text}"),))


def _logs(one: Outage) -> str:
    return listed([escape(name) for name in sorted(one.repositories)], most=NAMED)
