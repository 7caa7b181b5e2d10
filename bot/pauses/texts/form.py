"""The form that pauses a queue or a group, and shows what that would stop."""

from collections.abc import Sequence

from bot.acts.asked import NOTHING_ASKED, Asked
from bot.acts.reason import REASON_LIMIT
from bot.blocks import blocks, controls, targets as target_menus
from bot.blocks.message import Block, View
from bot.blocks.text import escape
from bot.kernel.groups import Group, Target, target_value
from bot.kernel.repository import RepositoryName
from bot.pauses import actions as pause_actions
from bot.pauses.texts import ends as pause_ends

CHOOSE_FIRST = "Choose a repository or a group to see what a pause would stop."


QUEUE_UNREAD_PAUSE = "The queue couldn't be read just now; you can still pause it."


def pause_form(
    targets: Sequence[Target],
    *,
    chosen: Target | None,
    channel_id: str | None,
    notes: Sequence[str],
    asked: Asked = NOTHING_ASKED,
    question: pause_ends.EndQuestion | None = None,
) -> View:
    """Asks what to pause, why and until when.

    `notes`: what a pause would stop, or that this is being read.
    `asked`: the reason and the end that were already typed.
    `question`: what has to be answered about the end first.
    `channel_id` is where the person came from; it only decides where to reply.
    """
    end = Asked(lasting=asked.lasting).written or None
    at = pause_ends.instant(asked.lasting)
    what = target_menus.target_menu(targets, action_id=controls.PAUSE_TARGET, chosen=chosen)
    target = blocks.input_field(controls.TARGET_BLOCK, "What to pause", what, dispatch_action=True)
    if len(targets) == 1 and not isinstance(targets[0], Group) and chosen is not None:
        target = blocks.section(f"*{escape(targets[0])}*")
    shown = [
        target,
        *(blocks.context(note) for note in notes),
        *(question.shown if question is not None else []),
        reason_input("Shown to everyone who looks at the queue, with your name.", asked.reason),
        *pause_ends.end_fields(end if at is None else None, at, hint=pause_ends.WITHOUT_END),
    ]
    submit = "Pause queue"
    if isinstance(chosen, Group) and len(chosen.repositories) > 1:
        submit = f"Pause {len(chosen.repositories):,} queues"
    value = target_value(chosen) if chosen is not None else ""
    carried = {
        "target": value,
        "channel": channel_id,
        "end": end,
        "reason": asked.reason,
        "seen": question.seen if question is not None else "",
    }
    return blocks.modal(controls.PAUSE_VIEW, "Pause a merge queue", shown, carried, submit=submit)


def reason_form(
    repository: RepositoryName, target: str, channel_id: str | None, reason: str
) -> View:
    """Changes the reason of a pause in force; `target`: that pause."""
    shown = [
        blocks.section(f"*{escape(repository)}*"),
        reason_input("The pause keeps its start and its end.", reason),
    ]
    carried = {"target": target, "channel": channel_id}
    title = "Change the reason"
    return blocks.modal(pause_actions.REASON_VIEW, title, shown, carried, submit="Change")


def reason_input(hint: str, reason: str = "", example: str = "CI runners are down") -> Block:
    words = blocks.text_input(
        controls.REASON_ACTION,
        max_length=REASON_LIMIT,
        example=example,
        typed=reason,
        is_focused=True,
    )
    return blocks.input_field(controls.REASON_BLOCK, "Reason", words, hint=hint)
