"""The blocks that Slack added lately, held to the limits that are published for them."""

from bot.sandbox.slack.block_kit.charts import CHART, number
from bot.sandbox.slack.block_kit.elements import element
from bot.sandbox.slack.block_kit.rich_text import RICH_TEXT
from bot.sandbox.slack.block_kit.schema import (
    Check,
    Problems,
    Shape,
    anything,
    boolean,
    items,
    one_of,
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

TABLE_CHARACTERS = 10_000
_ID: dict[str, Check] = {"block_id": IDENTIFIER}
_BUTTON = element({"button"})


_CELL = typed(
    {
        "raw_text": of_type({"text": string(TABLE_CHARACTERS, 0)}),
        "raw_number": of_type({"value": number}, {"text": string(TABLE_CHARACTERS, 0)}),
        "rich_text": RICH_TEXT,
    }
)
_COLUMN = Shape({}, {"align": one_of("left", "center", "right"), "is_wrapped": boolean})


def _within_table_budget(shape: Check) -> Check:
    def check(value: object, pointer: str, problems: Problems) -> None:
        shape(value, pointer, problems)
        if isinstance(value, dict) and _cell_characters(value.get("rows")) > TABLE_CHARACTERS:
            problems.add(f"table must be less than {TABLE_CHARACTERS + 1} characters", pointer)

    return check


def _cell_characters(value: object) -> int:
    if isinstance(value, list):
        return sum(_cell_characters(each) for each in value)
    if not isinstance(value, dict):
        return 0
    own = value.get("text")
    return (len(own) if isinstance(own, str) else 0) + _cell_characters(value.get("elements"))


def _carded() -> dict[str, Check]:
    return {
        **_ID,
        "title": any_text(150),
        "subtitle": any_text(150),
        "body": any_text(200),
        "subtext": any_text(200),
        "icon": anything,
        "slack_icon": anything,
        "hero_image": anything,
        "actions": items(_BUTTON, 3),
    }


_CARD = of_type({}, _carded())

NEWER_BLOCKS: dict[str, Check] = {
    "markdown": of_type({"text": string(12_000)}, _ID),
    "table": _within_table_budget(
        of_type(
            {"rows": items(items(_CELL, 20), 100)},
            {**_ID, "column_settings": items(_COLUMN, 20, 0)},
        )
    ),
    "alert": of_type(
        {"text": any_text(200)},
        {**_ID, "level": one_of("default", "info", "warning", "error", "success")},
    ),
    "card": _CARD,
    "carousel": of_type({"elements": items(typed({"card": _CARD}), 10)}, _ID),
    "container": of_type(
        {"child_blocks": items(anything, 10)},
        {
            **_ID,
            "title": any_text(150),
            "subtitle": any_text(150),
            "icon": anything,
            "width": anything,
            "is_collapsible": boolean,
            "default_collapsed": boolean,
        },
    ),
    "data_table": of_type(
        {"caption": string(2000), "rows": items(items(_CELL, 20), 200)},
        {**_ID, "columns": anything, "page_size": anything, "row_header_column_index": anything},
    ),
    "data_visualization": of_type(
        {"title": string(50), "chart": CHART},
        _ID,
    ),
    "video": of_type(
        {
            "alt_text": string(2000),
            "title": plain_text(199),
            "thumbnail_url": ADDRESS,
            "video_url": ADDRESS,
        },
        {
            **_ID,
            "title_url": ADDRESS,
            "description": plain_text(200),
            "author_name": string(49),
            "provider_name": string(255),
            "provider_icon_url": ADDRESS,
        },
    ),
    "task_card": of_type(
        {"task_id": string(255), "title": string(255)},
        {**_ID, "status": anything, "details": anything, "output": anything, "sources": anything},
    ),
    "plan": of_type({"title": string(255)}, {**_ID, "tasks": anything}),
}
