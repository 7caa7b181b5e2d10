"""Refuses blocks that Slack would refuse, and completes the ones it takes."""

import copy
import random
import string as characters
from collections.abc import Iterator
from typing import Literal, NamedTuple

from bot.sandbox.slack.block_kit.elements import (
    ACCESSORIES,
    ACTIONS,
    CONTEXT_ACTIONS,
    ELEMENTS,
    INPUTS,
    element,
)
from bot.sandbox.slack.block_kit.newer_blocks import NEWER_BLOCKS
from bot.sandbox.slack.block_kit.rich_text import RICH_TEXT
from bot.sandbox.slack.block_kit.schema import (
    Check,
    Problems,
    anything,
    at_least_one,
    boolean,
    exactly_one,
    items,
    string,
    typed,
)
from bot.sandbox.slack.block_kit.text_objects import (
    ADDRESS,
    IDENTIFIER,
    any_text,
    of_type,
    plain_text,
)
from bot.sandbox.slack.wire import Json

Surface = Literal["message", "modal", "home"]

BLOCKS_PER_SURFACE: dict[Surface, int] = {"message": 50, "modal": 100, "home": 100}
# Undocumented: refusals were seen from about 11,300 to 13,200 characters in one message. Taken
# here is only what Slack has always taken.
MESSAGE_TEXT_BUDGET = 11_000
MARKDOWN_BUDGET = 12_000
_ONE_PER_MESSAGE = {"table": 1, "data_table": 1, "data_visualization": 2}
_ID_LENGTH = 5

_ID: dict[str, Check] = {"block_id": IDENTIFIER}
_CONTEXT_ELEMENT = typed(
    {
        "image": ELEMENTS["image"],
        "plain_text": of_type({"text": string(3000)}, {"emoji": boolean}),
        "mrkdwn": of_type({"text": string(3000)}, {"verbatim": boolean}),
    }
)

_BLOCKS: dict[str, Check] = {
    "section": at_least_one(
        of_type(
            {},
            {
                **_ID,
                "text": any_text(3000),
                "fields": items(any_text(2000), 10),
                "accessory": element(ACCESSORIES),
                "expand": boolean,
            },
        ),
        "text",
        "fields",
    ),
    "header": of_type({"text": plain_text(150)}, {**_ID, "level": anything}),
    "divider": of_type({}, _ID),
    "context": of_type({"elements": items(_CONTEXT_ELEMENT, 10)}, _ID),
    "actions": of_type({"elements": items(element(ACTIONS), 25)}, _ID),
    "context_actions": of_type({"elements": items(element(CONTEXT_ACTIONS), 5)}, _ID),
    "image": exactly_one(
        of_type(
            {"alt_text": string(2000)},
            {**_ID, "image_url": ADDRESS, "slack_file": anything, "title": plain_text(2000)},
        ),
        "image_url",
        "slack_file",
    ),
    "input": of_type(
        {"label": plain_text(2000), "element": element(INPUTS)},
        {**_ID, "hint": plain_text(2000), "optional": boolean, "dispatch_action": boolean},
    ),
    "rich_text": RICH_TEXT,
    **NEWER_BLOCKS,
}

_CLASSIC = {"section", "header", "divider", "context", "actions", "image", "input", "rich_text"}
_MESSAGE_ONLY = {"markdown", "context_actions", "task_card", "plan"}
_RICHER = {"card", "carousel", "container", "data_table", "data_visualization", "table"}
_ALLOWED: dict[Surface, set[str]] = {
    "message": _CLASSIC | _MESSAGE_ONLY | _RICHER | {"video"},
    "modal": _CLASSIC | {"alert", "video"},
    "home": _CLASSIC | _RICHER | {"video"},
}


def find_problems(blocks: object, surface: Surface, pointer: str = "/blocks") -> Problems:
    """Say all that is wrong with a list of blocks on this surface."""
    problems = Problems()
    check = items(typed(_BLOCKS, _ALLOWED[surface]), BLOCKS_PER_SURFACE[surface], 0)
    check(blocks, pointer, problems)
    if not problems.found and isinstance(blocks, list):
        _find_repeated_ids(blocks, pointer, problems)
        if surface == "message":
            _find_excess(blocks, pointer, problems)
    return problems


def _find_repeated_ids(blocks: list[Json], pointer: str, problems: Problems) -> None:
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        block_id = block.get("block_id")
        if block_id in seen:
            problems.add(f'block_id "{block_id}" already exists', f"{pointer}/{index}/block_id")
        if block_id:
            seen.add(block_id)
        inside: set[str] = set()
        for place, part in _elements_of(block):
            action_id = part.get("action_id")
            if action_id in inside:
                where = f"{pointer}/{index}{place}/action_id"
                problems.add(f'`action_id` "{action_id}" already exists', where)
            if action_id:
                inside.add(action_id)


def _find_excess(blocks: list[Json], pointer: str, problems: Problems) -> None:
    for kind, most in _ONE_PER_MESSAGE.items():
        if sum(each["type"] == kind for each in blocks) > most:
            problems.add(f"only {most} {kind} allowed", pointer)
    markdown = sum(len(each["text"]) for each in blocks if each["type"] == "markdown")
    if markdown > MARKDOWN_BUDGET:
        problems.add(f"markdown text must be less than {MARKDOWN_BUDGET + 1} characters", pointer)


class _Element(NamedTuple):
    """An element of a block."""

    pointer: str  #: to it, from the block
    element: Json


def _elements_of(block: Json) -> Iterator[_Element]:
    """Walk the elements of a block."""
    for key in ("accessory", "element"):
        if isinstance(block.get(key), dict):
            yield _Element(f"/{key}", block[key])
    if block["type"] in {"actions", "context_actions"}:
        for index, each in enumerate(block["elements"]):
            yield _Element(f"/elements/{index}", each)


def elements_of(block: Json) -> list[Json]:
    """List the elements of a block that may be interactive."""
    return [part.element for part in _elements_of(block)]


def text_length(value: object) -> int:
    """Count the characters of every text inside blocks: what Slack's hidden budget is made of."""
    if isinstance(value, list):
        return sum(text_length(each) for each in value)
    if not isinstance(value, dict):
        return 0
    own = value.get("text")
    counted = len(own) if isinstance(own, str) and value.get("type") != "markdown" else 0
    inside = (each for key, each in value.items() if key != "text" or not isinstance(each, str))
    return counted + sum(text_length(each) for each in inside)


def completed(blocks: list[Json], chance: random.Random) -> list[Json]:
    """Give the blocks as Slack stores them: ids where none were given, defaults written out."""
    stored = copy.deepcopy(blocks)
    for block in stored:
        block.setdefault("block_id", new_id(chance))
        for part in elements_of(block):
            if part["type"] in ELEMENTS and part["type"] != "image":
                part.setdefault("action_id", new_id(chance))
        _complete_texts(block)
    return stored


def _complete_texts(value: object) -> None:
    if isinstance(value, list):
        for each in value:
            _complete_texts(each)
    elif isinstance(value, dict):
        if value.get("type") == "plain_text":
            value.setdefault("emoji", True)
        elif value.get("type") == "mrkdwn":
            value.setdefault("verbatim", False)
        for each in value.values():
            _complete_texts(each)


def new_id(chance: random.Random) -> str:
    return "".join(chance.choices(characters.ascii_letters + characters.digits, k=_ID_LENGTH))


def spoken_text(blocks: list[Json]) -> str:
    """Build the fallback text of a message that was sent with blocks alone."""
    return " ".join(_texts(blocks))[:MESSAGE_TEXT_BUDGET]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        own = value.get("text")
        if isinstance(own, str):
            yield own
        for key, each in value.items():
            if key in {"text", "fields", "elements"}:
                yield from _texts(each)
