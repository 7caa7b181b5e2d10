"""The forms that freeze a queue, and that ask why a freeze ends."""

import json
from collections.abc import Sequence

from bot.domain.groups import Group, Target, target_value
from bot.domain.message import Block, View
from bot.domain.typed_freezes import EXCEPTIONS, TypedFreeze
from bot.messages import actions, blocks, pause_form, timers
from bot.messages.groups.names import name_of
from bot.messages.text import escape, plural

FREEZE, PAUSE = "freeze", "pause"
READING = pause_form.READING
UNREADABLE = "The queue couldn't be read just now; you can still freeze it."
LISTED_LIMIT = 500
"""Characters of the fields for branches and exceptions."""


def impact(queued: int) -> str:
    return f"{plural(queued, 'pull request')} in the queue; checks go on, and merging waits."


def form(
    target: Target,
    typed: TypedFreeze,
    notes: Sequence[str],
    channel_id: str | None,
) -> View:
    """Asks what to stop first; `typed`: what was typed already."""
    shown = [
        blocks.section(f"*{named(target)}*"),
        _hold_input(),
        *(blocks.context(note) for note in notes),
        pause_form.reason_input(
            "Shown to everyone who looks at the queue, with your name.",
            typed.reason,
            "Cutting release 4.2",
        ),
        timers.lasting_input("Stays frozen until somebody ends it"),
        _when_input(typed),
        _words(actions.BRANCH_BLOCK, "Only these branches", "main", typed.branches),
        _words(actions.EXCEPT_BLOCK, "Except", f"hotfix @alice #41: {EXCEPTIONS}", typed.excepted),
    ]
    title, submit = "Freeze a merge queue", "Freeze"
    value = target_value(target)
    return _view(actions.FREEZE_VIEW, title, submit, shown, value, channel_id)


def named(target: Target) -> str:
    """Escaped."""
    return name_of(target.name) if isinstance(target, Group) else escape(target)


def _hold_input() -> Block:
    """Stop checks too, or only merging? The other choice shows the other form."""
    only = blocks.option("Only merging: checks go on", FREEZE)
    both = blocks.option("Checks too: pause the queue", PAUSE)
    return {
        "type": "input",
        "block_id": actions.HOLD_BLOCK,
        "dispatch_action": True,
        "label": blocks.plain("Stop checks too, or only merging?", 2000),
        "element": {
            "type": "radio_buttons",
            "action_id": actions.HOLD,
            "options": [only, both],
            "initial_option": only,
        },
    }


def _when_input(typed: TypedFreeze) -> Block:
    shown = TypedFreeze(start=typed.start, lasting=typed.lasting).written
    block = timers.end_input("Or from when, until when", shown or None)
    hint = "until 15:00, or from fri 18:00 until mon 08:00, in your own time zone"
    return {**block, "hint": blocks.plain(hint, 2000)}


def _words(block_id: str, label: str, example: str, typed: Sequence[str]) -> Block:
    begun = {"initial_value": " ".join(typed)} if typed else {}
    return {
        "type": "input",
        "block_id": block_id,
        "optional": True,
        "label": blocks.plain(label, 2000),
        "element": {
            "type": "plain_text_input",
            "action_id": block_id,
            "placeholder": blocks.plain(example, 150),
            "max_length": LISTED_LIMIT,
            **begun,
        },
    }


def unfreeze_form(what: str, target: str, channel_id: str | None) -> View:
    """Asks why the freeze of `what` (escaped) ends, as the service does.

    `target`: the freeze, the repository or the group that the form is for.
    """
    shown = [
        blocks.section(f"*{what}*"),
        pause_form.reason_input(
            "The service keeps it, with your name.", example="Release 4.2 is out"
        ),
    ]
    return _view(actions.UNFREEZE_VIEW, "End a freeze", "End freeze", shown, target, channel_id)


def working_modal(doing: str, target: Target) -> View:
    text = f":hourglass_flowing_sand: {doing} {named(target)} …"
    return pause_form.result_modal(blocks.sentence(text), None)


def _view(
    callback_id: str,
    title: str,
    submit: str,
    shown: Sequence[Block],
    target: str,
    channel_id: str | None,
) -> View:
    return View(
        {
            "type": "modal",
            "callback_id": callback_id,
            "title": blocks.plain(title, 24),
            "submit": blocks.plain(submit, 24),
            "close": blocks.plain("Cancel", 24),
            "private_metadata": json.dumps({"target": target, "channel": channel_id}),
            "blocks": [dict(block) for block in shown],
        }
    )


def words_of(block_id: str, typed: str) -> list[str]:
    """The words of a field as the command takes them: `branch:main`, `except:hotfix`."""
    return [f"{block_id}:{one}" for one in typed.replace(",", " ").split()]
