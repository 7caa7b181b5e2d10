"""A message for each kind of block, element and markup that the page must show."""

from typing import Any

from tests.support.block_kit import (
    DIVIDER,
    Json,
    actions,
    button,
    input_block as any_input,
    mrkdwn,
    option,
    plain,
    section,
)

MOMENT = 1_392_734_382  # 2014-02-18 14:39:42 UTC


def input_block(block_id: str, label: str, element: Json, **more: Any) -> Json:
    return any_input({"action_id": "entered", **element}, label, block_id=block_id, **more)


def words(text: str, **style: bool) -> Json:
    """Text within rich text."""
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def rich(*parts: Json, of: str = "section", **more: Any) -> Json:
    return {"type": f"rich_text_{of}", "elements": list(parts), **more}


REPOSITORIES = [
    option("acme/site", "site"),
    option("acme/api", "api", description=plain("the interface")),
]

CONFIRM = {
    "title": plain("Resume the queue?"),
    "text": mrkdwn("12 pull requests wait in *acme/site*."),
    "confirm": plain("Resume"),
    "deny": plain("Keep paused"),
}

RICH_TEXT: Json = {
    "type": "rich_text",
    "elements": [
        rich(
            words("Rich "),
            words("bold", bold=True),
            words("italic", italic=True),
            words("struck", strike=True),
            words("code", code=True),
            {"type": "user", "user_id": "U0BOB"},
            {"type": "channel", "channel_id": "C0RELEASE"},
            {"type": "broadcast", "range": "here"},
            {"type": "emoji", "name": "rocket"},
            {"type": "link", "url": "https://example.com/", "text": "a link"},
            {"type": "date", "timestamp": MOMENT, "format": "{date_num}", "fallback": "f"},
        ),
        rich(rich(words("outer")), of="list", style="bullet", indent=0),
        rich(rich(words("inner")), of="list", style="ordered", indent=1, offset=2),
        rich(words("quoted"), of="quote"),
        rich(words("as\n  typed"), of="preformatted"),
    ],
}

TABLE: Json = {
    "type": "table",
    "column_settings": [{}, {"is_wrapped": True}, {"align": "right"}],
    "rows": [
        [{"type": "raw_text", "text": text} for text in ("Pull request", "Checks", "Waits")],
        [{"type": "raw_text", "text": text} for text in ("#431", "3 of 4 done", "12 min")],
        [{"type": "raw_text", "text": text} for text in ("#432", "queued", "9 min")],
    ],
}

CHART: Json = {
    "type": "data_visualization",
    "title": "Merged and failed",
    "chart": {
        "type": "bar",
        "series": [
            {
                "name": name,
                "data": [{"label": "Mon 16", "value": a}, {"label": "Tue 17", "value": b}],
            }
            for name, a, b in (("Merged", 210, 192), ("Failed", 27, 0))
        ],
        "axis_config": {"categories": ["Mon 16", "Tue 17"]},
    },
}

MARKDOWN = """## Heading
Some **bold**, _italic_, ~~struck~~, `code` and [a link](https://example.com/).

1. first
2. second
   - nested

- [x] done
- [ ] open

> quoted

| Rule | Depth |
|------|------:|
| main | 12 |

```
as typed
```"""

MARKUP = (
    "*bold* _italic_ ~struck~ `code` <https://example.com/|a link> <@U0BOB> <#C0RELEASE> <!here>"
    f" :tada: :no_such_emoji: &lt;tag&gt; <!date^{MOMENT}^{{date_num}}|then>\n> quoted\n"
    "```as typed```"
)

MESSAGES: dict[str, list[Json]] = {
    "section": [
        section(MARKUP),
        {"type": "section", "fields": [mrkdwn("*Reason*\nCI is down"), mrkdwn("*Waiting*\n12")]},
        section("With a button", accessory=button("Open", "open", url="https://example.com/")),
    ],
    "header": [{"type": "header", "text": plain(":double_vertical_bar: The queue is paused")}],
    "context": [{"type": "context", "elements": [mrkdwn("acme/site · main"), plain("12 min")]}],
    "divider": [section("above"), DIVIDER, section("below")],
    "image": [
        {
            "type": "image",
            "image_url": "https://pictures.invalid/chart.png",
            "alt_text": "Merges a day",
            "title": plain("Merges"),
        }
    ],
    "rich_text": [RICH_TEXT],
    "table": [TABLE],
    "chart": [CHART],
    "markdown": [{"type": "markdown", "text": MARKDOWN}],
    "buttons": [
        actions(
            button("Resume queue", "resume", style="primary", confirm=CONFIRM),
            button("Remove", "remove", style="danger"),
            button("Refresh", "refresh"),
            {
                "type": "overflow",
                "action_id": "more",
                "options": [option("Extend", "extend"), option("Snooze", "snooze")],
            },
        )
    ],
    "selects": [
        actions(
            {"type": "static_select", "action_id": "repository", "options": REPOSITORIES},
            {"type": "users_select", "action_id": "person"},
            {"type": "channels_select", "action_id": "channel"},
            {"type": "conversations_select", "action_id": "conversation"},
        )
    ],
    "choices": [
        actions(
            {"type": "checkboxes", "action_id": "checks", "options": REPOSITORIES},
            {"type": "radio_buttons", "action_id": "radio", "options": REPOSITORIES},
            {"type": "datepicker", "action_id": "day", "initial_date": "2026-03-01"},
            {"type": "timepicker", "action_id": "hour", "initial_time": "15:00"},
        )
    ],
}

FORM: list[Json] = [
    section("*12* pull requests wait, *3* running batches will stop."),
    input_block(
        "repository",
        "Repository",
        {"type": "static_select", "options": REPOSITORIES, "initial_option": REPOSITORIES[0]},
    ),
    input_block(
        "reason",
        "Reason",
        {"type": "plain_text_input", "multiline": True, "max_length": 255},
        hint=plain("People in the channel will read it."),
    ),
    input_block("count", "Count", {"type": "number_input", "is_decimal_allowed": False}),
    input_block("mail", "E-mail", {"type": "email_text_input"}, optional=True),
    input_block("page", "Page", {"type": "url_text_input"}, optional=True),
    input_block("people", "Tell", {"type": "multi_users_select"}, optional=True),
    input_block("until", "Until", {"type": "datetimepicker"}, optional=True),
    input_block("also", "Also", {"type": "checkboxes", "options": REPOSITORIES}, optional=True),
]
