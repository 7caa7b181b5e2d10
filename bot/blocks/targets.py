"""Menus of queues and groups."""

import json
from collections.abc import Sequence

from pydantic import JsonValue
from slack_sdk.models.blocks import InputInteractiveElement, Option

from bot.blocks import blocks
from bot.blocks.text import clean, plural
from bot.kernel.groups import Group, Target, target_value

LARGEST_ANSWER = 18_000
"""Bytes of the options, or of the view, in one answer to a request of Slack's.

Slack closes a Socket Mode connection for a frame over 20,480 bytes, which has the envelope's id too
(https://github.com/revelrylabs/slax/pull/614).
"""


def target_menu(
    targets: Sequence[Target],
    *,
    action_id: str,
    chosen: Target | None = None,
    placeholder: str = "Choose a repository or a group",
) -> InputInteractiveElement:
    """A menu of groups and repositories; with more than fit, Slack asks for `suggestions`."""
    initial = None if chosen is None else _option(chosen)
    if len(targets) > blocks.OPTIONS_LIMIT:
        count = sum(not isinstance(target, Group) for target in targets)
        placeholder = f"Type part of a name ({count:,} repositories)"
        return blocks.external_select(placeholder, action_id=action_id, initial=initial)
    options = [_option(target) for target in targets]
    return blocks.select(placeholder, action_id=action_id, options=options, initial=initial)


def suggestions(targets: Sequence[Target], typed: str) -> list[dict[str, JsonValue]]:
    """The names that contain the typed text, as many as Slack takes in one answer."""
    part = typed.strip().casefold()
    found = [target for target in targets if part in name_shown(target).casefold()]
    options: list[dict[str, JsonValue]] = []
    room = LARGEST_ANSWER
    for target in found[: blocks.OPTIONS_LIMIT]:
        option = _option(target).to_dict()
        room -= len(json.dumps(option)) + len(", ")
        if room < 0:
            break
        options.append(option)
    return options


def _option(target: Target) -> Option:
    return blocks.option(clean(name_shown(target), blocks.OPTION_LIMIT), target_value(target))


def name_shown(target: Target) -> str:
    if isinstance(target, Group):
        return f"{target.mention} ({plural(len(target.repositories), 'queue')})"
    return target
