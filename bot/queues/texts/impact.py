"""The queues of a group: by name, at a glance, and in the question before they are paused."""

from collections.abc import Sequence
from datetime import datetime

from bot.acts.asked import Asked
from bot.acts.reason import REASON_LIMIT
from bot.blocks import blocks, controls, modal
from bot.blocks.groups import name_of, names, queues, show_all
from bot.blocks.message import Message
from bot.blocks.text import by_count, escape, listed, literal, local_time
from bot.kernel.groups import ALL, Group, Target, target_value
from bot.kernel.repository import RepositoryName
from bot.pauses import actions as pause_actions
from bot.pauses.texts import form as pause_form
from bot.pauses.texts.card import by_whom
from bot.queues.estimate import NO_OUTLOOK, Outlook
from bot.queues.snapshot import Snapshot
from bot.queues.texts import notes as queue_notes
from bot.queues.texts.group_status import READING_THE_QUEUES


def confirm_group_pause(
    group: Group,
    asked: Asked,
    read: Sequence[Snapshot | RepositoryName],
    resumes_at: datetime | None = None,
) -> Message:
    """The question before a group is paused: what would stop, and what stays as it is.

    `resumes_at` is when the pause ends.
    """
    size = len(group.repositories)
    count = queues(size)
    which = f"{count} of {group.mention}"
    if group.name == ALL:
        which = f"{count}, {escape(group.repositories[0])}" if size == 1 else f"all {count}"
    ending = by_count(
        size,
        "It stays paused until someone resumes it.",
        "They stay paused until someone resumes them.",
    )
    if resumes_at is not None:
        resumes = by_count(size, "It resumes automatically", "They resume automatically")
        ending = f"{resumes} {local_time(resumes_at)}."
    label = f"Pause {count}"
    value = controls.value_of(pause_actions.PauseChoice(target_value(group), asked))
    return blocks.post(
        f":double_vertical_bar: *Pause {which}?* Reason: {literal(asked.reason, REASON_LIMIT)}",
        names(group.repositories),
        details=["\n".join([ending, *impact(read)])],
        buttons=[
            blocks.button(
                label, action_id=pause_actions.PAUSE_CONFIRMED, value=value, style="danger"
            ),
            blocks.button("Leave it", action_id=controls.DISMISS, value=group.name),
            *show_all(group.name, len(group.repositories)),
        ],
    )


def impact(read: Sequence[Snapshot | RepositoryName]) -> list[str]:
    """What would stop, what stays as it is, and what couldn't be read; may be empty."""
    snapshots = [queue for queue in read if isinstance(queue, Snapshot)]
    running = [snapshot.status for snapshot in snapshots if snapshot.pause is None]
    facts = []
    if running:
        queued = sum(len(queue.queued) for queue in running)
        batches = sum(len(queue.running) for queue in running)
        bisecting = sum(len(queue.bisecting) for queue in running)
        expected = [snapshot.merge_expected_at for snapshot in snapshots]
        due = min((at for at in expected if at is not None), default=None)
        facts.append(queue_notes.would_stop(f"{queued:,} queued", batches, bisecting, due))
    paused = [
        f"{escape(snapshot.repository)}{by_whom(snapshot.pause)}"
        for snapshot in snapshots
        if snapshot.pause
    ]
    if paused:
        left = by_count(
            len(paused),
            "{count} queue is already paused and stays as it is",
            "{count} queues are already paused and stay as they are",
        )
        facts.append(f"{left}: {listed(paused)}.")
    unread = len(read) - len(snapshots)
    if unread:
        facts.append(
            by_count(
                unread,
                "{count} queue couldn't be read just now; I'll try to pause it anyway.",
                "{count} queues couldn't be read just now; I'll try to pause them anyway.",
            )
        )
    return facts


def notes(
    target: Target | None,
    command: str,
    read: Sequence[Snapshot | RepositoryName] = (),
    outlook: Outlook = NO_OUTLOOK,
) -> list[str]:
    """The form's notes on what would be paused; `read` is empty while the queues are being read.

    `outlook`: what the past of a single queue says of it.
    """
    if isinstance(target, Group):
        count = queues(len(target.repositories))
        which = f"All {count}" if target.name == ALL else f"{count} of {name_of(target.name)}"
        rest = f" (`{escape(command)} status {escape(target.mention)}` lists them all)"
        facts = impact(read) if read else [READING_THE_QUEUES]
        return [f"*{which}*: {names(target.repositories, rest)}", "\n".join(facts)]
    if target is None:
        return [pause_form.CHOOSE_FIRST]
    snapshots = [queue for queue in read if isinstance(queue, Snapshot)]
    if snapshots:
        return queue_notes.queue_notes(snapshots[0], outlook)
    return [pause_form.QUEUE_UNREAD_PAUSE if read else modal.READING_THE_QUEUE]
