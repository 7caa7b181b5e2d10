"""Removing a pull request from the queue: the question, the post, and the answers."""

from bot.acts.record import AuditRecord
from bot.blocks import blocks, controls
from bot.blocks.message import Message
from bot.blocks.text import NAME_LIMIT, by_count, escape, pull_request, quote, time_ago
from bot.merge_queue.event_records import PullRequestRecord
from bot.removals import actions as removal_actions
from bot.removals.removal import NotRemoved, Removed, Unremovable, WouldRemove, is_doubtful

REMOVAL_MARK = ":leftwards_arrow_with_hook:"
UNKNOWN = "The service doesn't say what else this stops"

_BECAUSE_UNREMOVABLE = {
    Unremovable.GONE: "isn't in the queue of {name}",
    Unremovable.LEAVING: "is leaving the queue of {name} already: somebody asked for its removal",
    Unremovable.QUEUED_AGAIN: "left the queue of {name} and was queued again since I asked you",
}


def question(would: WouldRemove) -> Message:
    """Asks before a removal, with what the service says that it does."""
    queued = would.pull_request
    impact = would.impact
    linked = pull_request(queued.number, queued.title, queued.url)
    by = f" by {quote(queued.author.login, NAME_LIMIT)}" if queued.author.login else ""
    target = removal_actions.QueuedTarget(would.repository, queued.number, queued.queued_at)
    batches = impact.interrupted_batches
    again = impact.rechecked_pull_requests
    stacked = impact.cascaded_pull_requests
    said = [
        by_count(batches, "{count} running batch stops", "{count} running batches stop")
        if batches
        else "",
        by_count(
            again,
            "{count} pull request is checked again",
            "{count} pull requests are checked again",
        )
        if again
        else "",
        by_count(
            stacked,
            "{count} stacked pull request leaves with it",
            "{count} stacked pull requests leave with it",
        )
        if stacked
        else "",
    ]
    if not any(said):
        is_known = all(count is not None for count in (batches, again, stacked))
        said = ["Nothing else in the queue changes" if is_known else UNKNOWN]
    value = controls.value_of(target)
    return blocks.post(
        f"{REMOVAL_MARK} *Remove from the queue of {escape(would.repository)}?* {linked}{by}",
        *said,
        buttons=[
            blocks.button("Remove", action_id=removal_actions.REMOVE, value=value, style="danger"),
            blocks.button("Leave it in the queue", action_id=controls.DISMISS, value="no"),
        ],
    )


def done(record: AuditRecord, seen: PullRequestRecord | None) -> Message:
    linked = f"#{record.pull_request}"
    if seen is not None:
        linked = pull_request(seen.number, seen.title, seen.url)
    name = quote(record.actor.name, NAME_LIMIT)
    repository = escape(record.repository)
    if is_doubtful(record):
        return blocks.post(
            f"{REMOVAL_MARK} *Left the queue* {linked}: {name} removed it, or it left by itself",
            repository,
            "The service's answer was lost",
        )
    return blocks.post(f"{REMOVAL_MARK} *Removed from the queue* {linked} by {name}", repository)


def removal_answer(removed: Removed) -> Message:
    """Takes the place of the question."""
    number = f"#{removed.pull_request.number}"
    name = escape(removed.act.repository)
    said = f"{number} was removed from the queue of {name}."
    if is_doubtful(removed.act):
        said = (
            f"{number} has left the queue of {name}. The service's answer was lost, so I can't "
            "tell whether your request removed it."
        )
    return blocks.sentence(f"{REMOVAL_MARK} {said}")


def leaving(removed: Removed) -> Message:
    """Takes the place of the question while the service carries out the removal."""
    number = f"#{removed.pull_request.number}"
    name = escape(removed.act.repository)
    then = "post here once" if removed.posted_here else "tell you when"
    return blocks.sentence(
        f"{REMOVAL_MARK} {number} is being removed from the queue of {name}. I'll {then} it has "
        "left."
    )


def not_removed(outcome: NotRemoved) -> Message:
    """Says why nothing was done, and leads to what is known of the pull request."""
    number = outcome.number
    name = escape(outcome.repository)
    said = _BECAUSE_UNREMOVABLE[outcome.because].format(name=name)
    if outcome.by is not None:
        by = quote(outcome.by.actor.name, NAME_LIMIT)
        ago = time_ago(outcome.by.at)
        said = f"isn't in the queue of {name} any more: {by} removed it {ago}"
    why = f"why {number} {outcome.repository}"
    buttons = [blocks.button("Why?", action_id=controls.WHY_BUTTON, value=why)]
    return blocks.post(f"#{number} {said}. Nothing was changed.", buttons=buttons)
