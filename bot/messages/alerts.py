"""Posts about the beginning and end of queue alerts and outages."""

from datetime import timedelta

from bot.domain.event_records import PullRequestRecord
from bot.domain.message import Message
from bot.domain.outages import Outage
from bot.domain.queue_health import Alert, AlertKind
from bot.messages import actions, blocks
from bot.messages.queue_parts import pause_button
from bot.messages.text import (
    duration,
    escape,
    listed,
    local_time,
    mention_group,
    plural,
    pull_request,
    quote,
)

BATCH_LIMIT = 40
NAMED = 5

_HINTS = {
    AlertKind.HEAD: "Look at its checks: everything behind it waits until it merges or leaves.",
    AlertKind.BATCH: "One of its checks may be hanging, and everything behind it is waiting.",
    AlertKind.DEPTH: (
        "Pull requests enter faster than they merge: look for slow checks, "
        "or postpone what can wait."
    ),
    AlertKind.FAILURES: (
        "If they share a cause, such as CI or the base branch, pause the queue until it's fixed."
    ),
}
_OVER = {
    AlertKind.HEAD: "the head of the queue is moving again",
    AlertKind.BATCH: "no batch is stuck any more",
    AlertKind.DEPTH: "the queue is short again",
    AlertKind.FAILURES: "the queue is merging again",
}


def alert(raised: Alert, seen: PullRequestRecord | None = None) -> Message:
    """To channels subscribed to queue health; `seen` is the pull request it is about."""
    name = raised.repository
    buttons = [blocks.button("Show status", action_id=actions.RETRY, value=f"status {name}")]
    if raised.kind is AlertKind.FAILURES:
        buttons.append(pause_button(name))
    elif raised.pull_request is not None:
        value, label = f"log {name} pr:{raised.pull_request}", f"Log of #{raised.pull_request}"
        buttons.append(blocks.button(label, action_id=actions.LOG_OF, value=value))
    called = f" {mention_group(raised.mention)}" if raised.mention is not None else ""
    which = f"#{raised.pull_request}"
    if seen is not None:
        which = pull_request(seen.number, seen.title, seen.url)
    sentence = f"{_sentence(raised, which)} ({_limit(raised)})"
    head = f":rotating_light: *Queue alert* {escape(name)}: {sentence}.{called}"
    return blocks.post(head, _HINTS[raised.kind], buttons=buttons)


def over(raised: Alert) -> Message:
    """The end of it."""
    lasted = duration((raised.ended_at or raised.began_at) - raised.began_at)
    said = f"{escape(raised.repository)}: {_OVER[raised.kind]}, after {lasted}."
    return blocks.sentence(f":white_check_mark: *Alert over* {said}")


def _sentence(raised: Alert, which: str) -> str:
    match raised.kind:
        case AlertKind.HEAD:
            waited = duration(timedelta(seconds=raised.value))
            return f"the head of the queue, {which}, has waited for {waited}"
        case AlertKind.BATCH:
            lasted = duration(timedelta(seconds=raised.value))
            batch = quote(raised.batch or "", BATCH_LIMIT)
            return f"batch {batch} with {which} has been running checks for {lasted}"
        case AlertKind.DEPTH:
            return f"{plural(raised.value, 'pull request is', 'pull requests are')} in the queue"
        case AlertKind.FAILURES:
            count = plural(raised.value, "pull request")
            return f"{count} in a row failed and left the queue, most recently {which}"


def _limit(raised: Alert) -> str:
    if raised.kind in {AlertKind.HEAD, AlertKind.BATCH}:
        return f"limit {duration(timedelta(seconds=raised.threshold))}"
    return f"limit {raised.threshold:,}"


def outage(begun: Outage) -> Message:
    """To channels subscribed to any of its repositories, so that silence doesn't look fine."""
    hint = "Once it's back, I'll post everything that happened meanwhile."
    return blocks.post(f":warning: {ongoing(begun)}.", hint)


def ongoing(outage: Outage) -> str:
    """What can't be reached, and since when."""
    since = local_time(outage.began_at)
    if outage.is_of_slack:
        return f"*Slack has taken no posts* since {since}"
    return f"*The event log of {_logs(outage)} can't be read*, last read {since}"


def outage_over(ended: Outage) -> Message:
    """The end of it. Of Slack's, which nobody was notified of, it also says since when."""
    lasted = ""
    if ended.ended_at is not None:
        lasted = f", after {duration(ended.ended_at - ended.began_at)}"
    if ended.is_of_slack:
        late = plural(ended.late or 0, "message is", "messages are")
        return blocks.sentence(
            f":white_check_mark: Slack can be reached again{lasted}. It hadn't responded since "
            f"{local_time(ended.began_at)}, so {late} late."
        )
    logs = _logs(ended)
    return blocks.sentence(f":white_check_mark: The event log of {logs} can be read again{lasted}.")


def _logs(one: Outage) -> str:
    return listed([escape(name) for name in sorted(one.repositories)], most=NAMED)
