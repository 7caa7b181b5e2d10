"""The form that asks why the queues of a group are to stop, and shows what that would stop."""

import json
from collections.abc import Sequence

from bot.domain.audit import Action
from bot.domain.groups import ALL, Group
from bot.domain.message import Message, View
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, blocks, pause_form, timers
from bot.messages.groups import group_acts, group_question
from bot.messages.groups.names import name_of, names, queues
from bot.messages.text import escape

READING = "Reading the queues …"


def form(
    group: Group,
    *,
    command: str,
    channel_id: str | None,
    read: Sequence[Snapshot | RepositoryName] | None = None,
    lasting: str | None = None,
) -> View:
    """`read` is None while the queues are being read; `lasting` is the duration typed already.

    `channel_id` is where the person came from; it is only ever used to choose where to speak.
    """
    count = queues(len(group.repositories))
    which = f"All {count}" if group.name == ALL else f"{count} of {name_of(group.name)}"
    rest = f" (`{escape(command)} status {name_of(group.name)}` lists them all)"
    facts = [READING] if read is None else group_question.impact(read)
    shown = [
        blocks.section(f"*{which}*"),
        blocks.context(names(group.repositories, rest)),
        blocks.context("\n".join(fact for fact in facts if fact)),
        pause_form.reason_input(),
        timers.lasting_input(lasting),
    ]
    return View(
        {
            "type": "modal",
            "callback_id": actions.PAUSE_GROUP_VIEW,
            "title": blocks.plain("Pause merge queues", 24),
            "submit": blocks.plain(f"Pause {count}", 24),
            "close": blocks.plain("Cancel", 24),
            "private_metadata": json.dumps({"group": group.name, "channel": channel_id}),
            "blocks": [dict(block) for block in shown],
        }
    )


def extend_form(group: Group, channel_id: str | None, *, had_end: bool = True) -> View:
    """Asks for the new end of all that is paused for the group."""
    return timers.extend_form(
        name_of(group.name),
        group.name,
        channel_id,
        actions.EXTEND_GROUP_VIEW,
        had_end=had_end,
    )


def begun(group: Group, action: Action, channel_id: str | None) -> View:
    """What a form becomes when it is submitted."""
    message: Message = group_acts.progress(group.name, action, 0, len(group.repositories))
    return pause_form.result_modal(message, channel_id)
