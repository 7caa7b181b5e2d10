"""The form that asks why to pause a queue, and shows what a pause would stop."""

import json
from collections.abc import Sequence

from bot.domain.message import Block, Message, View
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Impact, Snapshot
from bot.messages import actions, blocks, choice, timers
from bot.messages.pause import pause_times
from bot.messages.pause_card import by_whom
from bot.messages.text import escape, local_time, plural, quote

READING = "Reading the queue …"
CHOOSE_FIRST = "Choose a repository to see what a pause would stop."
UNREADABLE = "The queue could not be read just now; you can pause it all the same."


def will_stop(running: int) -> str:
    """What pausing does to the batches that run."""
    if not running:
        return "no batch is running"
    return f"{plural(running, 'running batch', 'running batches')} will stop"


def impact_note(snapshot: Snapshot) -> str:
    """What pausing would stop, before it is done; who has paused, if somebody has."""
    if snapshot.pause is not None:
        known = snapshot.pause
        return (
            f":double_vertical_bar: Already paused{by_whom(known)} "
            f"{', '.join(fact for fact in pause_times(known) if fact)}: "
            f"{quote(known.reason, REASON_LIMIT)}"
        )
    return _impact_text(snapshot.impact())


def _impact_text(impact: Impact) -> str:
    parts = [
        f"{plural(impact.queued, 'pull request')} in the queue",
        will_stop(impact.running_batches),
    ]
    if impact.next_merge_at is not None:
        parts.append(f"next merge was due {local_time(impact.next_merge_at)}")
    return ", ".join(parts) + "."


def reason_modal(
    repositories: Sequence[RepositoryName],
    *,
    chosen: RepositoryName | None,
    channel_id: str | None,
    note: str,
    lasting: str | None = None,
) -> View:
    """The form that asks for the reason. `note` tells the impact, or that it is being read.

    `lasting` is the duration that was typed already.

    `channel_id` is where the person came from; it is only ever used to choose where to speak.
    """
    shown: list[Block] = []
    if len(repositories) == 1 and chosen is not None:
        shown.append(blocks.section(f"*{escape(chosen)}*"))
    else:
        shown.append(_repository_input(repositories, chosen))
    shown.append(blocks.context(note))
    shown += [reason_input(), timers.lasting_input(lasting)]
    return View(
        {
            "type": "modal",
            "callback_id": actions.PAUSE_VIEW,
            "title": blocks.plain("Pause a merge queue", 24),
            "submit": blocks.plain("Pause queue", 24),
            "close": blocks.plain("Cancel", 24),
            "private_metadata": json.dumps(
                {"repository": chosen, "channel": channel_id, "lasting": lasting}
            ),
            "blocks": [dict(block) for block in shown],
        }
    )


def _repository_input(
    repositories: Sequence[RepositoryName], chosen: RepositoryName | None
) -> Block:
    return {
        "type": "input",
        "block_id": actions.REPOSITORY_BLOCK,
        "dispatch_action": True,
        "label": blocks.plain("Repository", 2000),
        "element": choice.repository_menu(
            repositories, action_id=actions.PAUSE_REPOSITORY, chosen=chosen
        ),
    }


def reason_input() -> Block:
    return {
        "type": "input",
        "block_id": actions.REASON_BLOCK,
        "label": blocks.plain("Reason", 2000),
        "hint": blocks.plain("Everybody who looks at the queue sees it, with your name.", 2000),
        "element": {
            "type": "plain_text_input",
            "action_id": actions.REASON_ACTION,
            "placeholder": blocks.plain("CI runners are down", 150),
            "max_length": REASON_LIMIT,
            "focus_on_load": True,
        },
    }


def working_modal(repository: RepositoryName) -> View:
    return _result_view(f":hourglass_flowing_sand: Pausing {escape(repository)} …")


def result_modal(message: Message, channel_id: str | None) -> View:
    """The end of the modal: what was done, refused or failed; it may have buttons of its own."""
    return _result_view(message.text, message.blocks, channel_id, "Merge queue")


def _result_view(
    text: str,
    shown: tuple[Block, ...] = (),
    channel_id: str | None = None,
    title: str = "Pause a merge queue",
) -> View:
    return View(
        {
            "type": "modal",
            "callback_id": f"{actions.PAUSE_VIEW}_result",
            "title": blocks.plain(title, 24),
            "close": blocks.plain("Close", 24),
            "private_metadata": json.dumps({"channel": channel_id}),
            "blocks": [dict(block) for block in shown or (blocks.section(text),)],
        }
    )
