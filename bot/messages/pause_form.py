"""The form that pauses a queue or a group, and shows what that would stop."""

from collections.abc import Sequence

from bot.domain.groups import Group, Target, target_value
from bot.domain.message import Block, Message, View
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, blocks, choice, timers
from bot.messages.freezes import SHOWN, freeze_line
from bot.messages.pause import pause_times
from bot.messages.pause_card import by_whom
from bot.messages.text import escape, local_time, plural, quote

READING = "Reading the queue …"
CHOOSE_FIRST = "Choose a repository or a group to see what a pause would stop."
UNREADABLE = "The queue couldn't be read just now; you can still pause it."


def will_stop(running: int) -> str:
    """What pausing does to the running batches."""
    running_batches = plural(running, "running batch", "running batches")
    return f"{running_batches} will stop" if running else "no batch is running"


def queue_notes(snapshot: Snapshot) -> list[str]:
    """What pausing would stop, or who has already paused, and who has frozen the queue."""
    known, status = snapshot.pause, snapshot.status
    if known is not None:
        times = ", ".join(filter(None, pause_times(known)))
        note = f":double_vertical_bar: Already paused{by_whom(known)} {times}: "
        note += quote(known.reason, REASON_LIMIT)
    else:
        due = status.next_merge_at
        queued = f"{plural(len(status.queued), 'pull request')} in the queue"
        next_merge = f", next merge was due {local_time(due)}" if due is not None else ""
        note = f"{queued}, {will_stop(len(status.running))}{next_merge}."
    return [note, *(freeze_line(one) for one in snapshot.freezes[:SHOWN])]


def form(
    targets: Sequence[Target],
    *,
    chosen: Target | None,
    channel_id: str | None,
    notes: Sequence[str],
    end: str | None = None,
    reason: str = "",
) -> View:
    """Asks what to pause, why and until when.

    `notes`: what a pause would stop, or that this is being read.
    `end`: the end that was already typed.
    `reason`: the initial reason.
    `channel_id` is where the person came from; it only decides where to reply.
    """
    what = choice.target_menu(targets, action_id=actions.PAUSE_TARGET, chosen=chosen)
    target = blocks.input_field(actions.TARGET_BLOCK, "What to pause", what, dispatch_action=True)
    if len(targets) == 1 and not isinstance(targets[0], Group) and chosen is not None:
        target = blocks.section(f"*{escape(targets[0])}*")
    shown = [
        target,
        *(blocks.context(note) for note in notes),
        reason_input("Shown to everyone who looks at the queue, with your name.", reason),
        timers.lasting_input(),
        timers.end_input("Or another time", end),
    ]
    submit = "Pause queue"
    if isinstance(chosen, Group) and len(chosen.repositories) > 1:
        submit = f"Pause {len(chosen.repositories):,} queues"
    value = target_value(chosen) if chosen is not None else ""
    carried = {"target": value, "channel": channel_id, "end": end, "reason": reason}
    return blocks.modal(actions.PAUSE_VIEW, "Pause a merge queue", shown, carried, submit=submit)


def reason_input(hint: str, reason: str = "", example: str = "CI runners are down") -> Block:
    words = blocks.text_input(
        actions.REASON_ACTION,
        max_length=REASON_LIMIT,
        example=example,
        typed=reason,
        is_focused=True,
    )
    return blocks.input_field(actions.REASON_BLOCK, "Reason", words, hint=hint)


def working_modal(repository: RepositoryName) -> View:
    shown = [blocks.section(f":hourglass_flowing_sand: Pausing {escape(repository)} …")]
    return _result_view("Pause a merge queue", shown, None)


def result_modal(message: Message, channel_id: str | None) -> View:
    """The last view of the modal: what was done, refused or failed, possibly with buttons."""
    shown = message.blocks or (blocks.section(message.text),)
    return _result_view("Merge queue", shown, channel_id)


def _result_view(title: str, shown: Sequence[Block], channel_id: str | None) -> View:
    return blocks.modal(f"{actions.PAUSE_VIEW}_result", title, shown, {"channel": channel_id})
