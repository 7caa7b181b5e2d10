"""The composition objects of Block Kit: texts, options and confirmations, with their limits."""

from collections.abc import Mapping

from bot.sandbox.slack.block_kit.schema import (
    Check,
    Problems,
    Shape,
    boolean,
    exactly_one,
    items,
    one_of,
    string,
    typed,
)

IDENTIFIER = string(255)
ADDRESS = string(3000)


def of_type(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Shape:
    """Describe an object that also carries its `type` (and may carry a `block_id`)."""
    return Shape(required, {"type": _any_type, **(optional or {})})


def _any_type(_value: object, _pointer: str, _problems: Problems) -> None:
    """Accept it: the type was read to find this shape."""


def plain_text(maximum: int) -> Check:
    """Accept a plain_text object of at most `maximum` characters."""
    shape = of_type({"text": string(maximum)}, {"emoji": boolean})
    return typed({"plain_text": shape})


def any_text(maximum: int) -> Check:
    """Accept a plain_text or mrkdwn object of at most `maximum` characters."""
    return typed(
        {
            "plain_text": of_type({"text": string(maximum)}, {"emoji": boolean}),
            "mrkdwn": of_type({"text": string(maximum)}, {"verbatim": boolean}),
        }
    )


CONFIRM = Shape(
    {
        "title": plain_text(100),
        "text": any_text(300),
        "confirm": plain_text(30),
        "deny": plain_text(30),
    },
    {"style": one_of("primary", "danger")},
)

# Menus take plain_text options; only radio buttons and checkboxes may carry mrkdwn.
MENU_OPTION = Shape(
    {"text": plain_text(75), "value": string(150)},
    {"description": plain_text(75)},
)
OVERFLOW_OPTION = Shape(
    {"text": plain_text(75), "value": string(150)},
    {"description": plain_text(75), "url": ADDRESS},
)
CHOICE_OPTION = Shape(
    {"text": any_text(75), "value": string(150)},
    {"description": any_text(75)},
)
OPTION_GROUP = Shape({"label": plain_text(75), "options": items(MENU_OPTION, 100)})
# What an app answers when somebody types into an external menu; nothing may match.
SUGGESTIONS = exactly_one(
    Shape({}, {"options": items(MENU_OPTION, 100, 0), "option_groups": items(OPTION_GROUP, 100)}),
    "options",
    "option_groups",
)
DISPATCH_CONFIG = Shape(
    {},
    {"trigger_actions_on": items(one_of("on_enter_pressed", "on_character_entered"), 2)},
)
CONVERSATION_FILTER = Shape(
    {},
    {
        "include": items(one_of("im", "mpim", "private", "public"), 4),
        "exclude_external_shared_channels": boolean,
        "exclude_bot_users": boolean,
    },
)
