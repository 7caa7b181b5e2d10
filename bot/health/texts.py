"""Posts about the beginning and end of queue alerts and outages."""

from collections.abc import Mapping
from datetime import timedelta

from bot.blocks import blocks, controls
from bot.blocks.message import Colour, Message
from bot.blocks.text import (
    by_count,
    duration,
    escape,
    listed,
    local_time,
    mention_group,
    pull_request,
    quote,
)
from bot.health.alert import Alert, AlertKind
from bot.health.cause import ToldCause
from bot.health.outage import Outage, OutageCause, SlackOutage
from bot.merge_queue.event_records import PullRequestRecord
from bot.queues.texts.parts import pause_button

OUTAGE_REPOSITORIES_NAMED = 5
SAID_LIMIT = 200

_HINTS = {
    AlertKind.HEAD: "Look at its checks: everything behind it waits until it merges or leaves.",
    AlertKind.BATCH: "One of its checks may be hanging. Everything behind it waits.",
    AlertKind.DEPTH: (
        "Pull requests enter faster than they merge. Look for slow checks, or postpone what can "
        "wait."
    ),
    AlertKind.FAILURES: (
        "If they share a cause, such as CI or the base branch, pause the queue until it's fixed."
    ),
    AlertKind.CAUSE: "*Why?* shows what I know about it.",
}
_OUTAGE_CAUSES: Mapping[OutageCause | None, str] = {
    OutageCause.SILENT: "the merge queue service isn't responding",
    OutageCause.FAILING: "the merge queue service has a problem",
    OutageCause.UNREADABLE: "I can't read the merge queue service's answers",
    OutageCause.KEY: "the merge queue service doesn't let the bot's key read it",
    OutageCause.GONE: "the merge queue service doesn't find the repository",
    OutageCause.REFUSED: "the merge queue service refuses the request",
}

_CATCHES_UP = "I keep trying, and will catch up once it can be read again."
_UNTIL_FIXED = "Nothing is posted until the person who runs the bot fixes it."
_REMEDIES: Mapping[OutageCause | None, str] = {
    OutageCause.KEY: f"{_UNTIL_FIXED} Is the key valid, and is the service's app installed there?",
    OutageCause.GONE: (
        f"{_UNTIL_FIXED} Was the repository renamed, moved or deleted (`MQBOT_REPOSITORIES`)? Or "
        "can't the bot's key see it?"
    ),
    OutageCause.REFUSED: f"{_UNTIL_FIXED} `mqbot check` says more.",
    OutageCause.UNREADABLE: f"{_UNTIL_FIXED} `mqbot check` says more.",
}

_OVER = {
    AlertKind.HEAD: "the queue is moving again",
    AlertKind.BATCH: "no batch is stuck any more",
    AlertKind.DEPTH: "the queue is short again",
    AlertKind.FAILURES: "the queue is merging again",
    AlertKind.CAUSE: "nothing keeps the queue from merging any more",
}


def alert(raised: Alert, seen: PullRequestRecord | None = None) -> Message:
    """To channels subscribed to queue health; `seen` is the pull request it is about."""
    name = raised.repository
    buttons = [
        blocks.button("Why?", action_id=controls.WHY_BUTTON, value=f"why {name}"),
        blocks.button("Show status", action_id=controls.RETRY, value=f"status {name}"),
    ]
    if raised.kind in {AlertKind.FAILURES, AlertKind.CAUSE}:
        buttons.append(pause_button(name))
    elif raised.pull_request is not None:
        label = f"Log of #{raised.pull_request}"
        value = f"log {name} pr:{raised.pull_request}"
        buttons.append(blocks.button(label, action_id=controls.LOG_OF, value=value))
    called = f" {mention_group(raised.mention)}" if raised.mention is not None else ""
    which = ""
    if seen is not None:
        which = pull_request(seen.number, seen.title, seen.url)
    elif raised.pull_request is not None:
        which = f"#{raised.pull_request}"
    state = _alert_state(raised)
    title = state
    measured = ""
    next_step = _HINTS[raised.kind]
    if raised.cause is not None:
        # On a phone the cause is in the first lines.
        title = raised.cause.said
        measured = state
        next_step = raised.cause.evidence or next_step
    about = (("Measured", measured), (_WHICH[raised.kind], which), ("Limit", _limit(raised)))
    shown = [
        blocks.section(f":rotating_light: *{escape(name)}: {title}*{called}"),
        *blocks.facts(*about),
        blocks.section(next_step),
        blocks.actions(buttons),
    ]
    return blocks.coloured(Colour.RED, blocks.message(*shown))


_WHICH = {
    AlertKind.HEAD: "First in the queue",
    AlertKind.BATCH: "In the batch",
    AlertKind.DEPTH: "Latest",
    AlertKind.FAILURES: "Latest",
    AlertKind.CAUSE: "Pull request",
}
"""The label of the pull request that it is about."""


def cause_found(told: ToldCause) -> Message:
    """In the thread of an alert, when its cause is found or is another one."""
    name = escape(told.repository)
    return blocks.sentence(f":mag_right: *{name}* · The cause now: {told.said}.")


def alert_over(raised: Alert) -> Message:
    """The end of it."""
    lasted = duration((raised.ended_at or raised.began_at) - raised.began_at)
    state = f"*{escape(raised.repository)}: {_OVER[raised.kind]}*"
    ended = blocks.post(f":white_check_mark: {state}", f"The alert lasted {lasted}")
    return blocks.coloured(Colour.GREEN, ended)


def _alert_state(raised: Alert) -> str:
    match raised.kind:
        case AlertKind.HEAD:
            waited = duration(timedelta(seconds=raised.value))
            return f"the first pull request has waited for {waited}"
        case AlertKind.BATCH:
            lasted = duration(timedelta(seconds=raised.value))
            return f"a batch has been running checks for {lasted}"
        case AlertKind.DEPTH:
            return by_count(
                raised.value,
                "{count} pull request is in the queue",
                "{count} pull requests are in the queue",
            )
        case AlertKind.FAILURES:
            return by_count(
                raised.value,
                "{count} pull request failed and left the queue",
                "{count} pull requests in a row failed and left the queue",
            )
        case AlertKind.CAUSE:
            return f"the queue has been stuck for {duration(timedelta(seconds=raised.value))}"


def _limit(raised: Alert) -> str:
    if raised.kind in {AlertKind.HEAD, AlertKind.BATCH, AlertKind.CAUSE}:
        return duration(timedelta(seconds=raised.threshold))
    return f"{raised.threshold:,}"


def outage(begun: Outage) -> Message:
    """To channels subscribed to any of its repositories, so that silence doesn't look fine."""
    said = quote(begun.said or "", SAID_LIMIT)
    shown = [
        blocks.section(f":warning: {_outage_in_words(begun)}"),
        *blocks.facts(("Cause", _OUTAGE_CAUSES.get(begun.cause, "")), ("Answer", said)),
        blocks.section(_REMEDIES.get(begun.cause, _CATCHES_UP)),
    ]
    return blocks.coloured(Colour.RED, blocks.message(*shown))


def _outage_in_words(outage: Outage) -> str:
    since = local_time(outage.began_at)
    return f"*The event log of {_logs(outage)} can't be read*, last read {since}"


def ongoing(outage: Outage) -> str:
    """Which logs can't be read, since when and why."""
    why = _OUTAGE_CAUSES.get(outage.cause, "")
    said = quote(outage.said or "", SAID_LIMIT)
    answer = f" ({said})" if said else ""
    return f"{_outage_in_words(outage)}: {why}{answer}" if why else _outage_in_words(outage)


def slack_silent(outage: SlackOutage) -> str:
    """Since when Slack has answered no call."""
    return f"*Slack has taken no posts* since {local_time(outage.began_at)}"


def slack_outage_over(ended: SlackOutage) -> Message:
    """Nobody was notified of its beginning, so it also says since when."""
    late = by_count(ended.late or 0, "{count} message is late.", "{count} messages are late.")
    over = blocks.sentence(
        f":white_check_mark: Slack can be reached again{_lasted(ended)}. It hadn't responded since "
        f"{local_time(ended.began_at)}. {late}"
    )
    return blocks.coloured(Colour.GREEN, over)


def outage_over(ended: Outage) -> Message:
    logs = _logs(ended)
    return blocks.sentence(
        f":white_check_mark: The event log of {logs} can be read again{_lasted(ended)}."
    )


def _lasted(ended: Outage | SlackOutage) -> str:
    if ended.ended_at is None:
        return ""
    return f", after {duration(ended.ended_at - ended.began_at)}"


def _logs(outage: Outage) -> str:
    return listed(
        [escape(name) for name in sorted(outage.repositories)], most=OUTAGE_REPOSITORIES_NAMED
    )
