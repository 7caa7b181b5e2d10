"""A message for each kind of block, element and markup that the page must show."""

from typing import Any

Block = dict[str, Any]

MOMENT = 1_392_734_382  # 2014-02-18 14:39:42 UTC


def plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": text}


def section(text: str, **more: Any) -> Block:
    return {"type": "section", "text": mrkdwn(text), **more}


def option(text: str, value: str, description: str = "") -> Block:
    extra = {"description": plain(description)} if description else {}
    return {"text": plain(text), "value": value, **extra}


def button(text: str, action_id: str, **more: Any) -> Block:
    return {"type": "button", "text": plain(text), "action_id": action_id, "value": "v", **more}


def actions(*elements: Block, block_id: str = "actions") -> Block:
    return {"type": "actions", "block_id": block_id, "elements": list(elements)}


def input_block(block_id: str, label: str, element: Block, **more: Any) -> Block:
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain(label),
        "element": {"action_id": "entered", **element},
        **more,
    }


REPOSITORIES = [option("acme/site", "site"), option("acme/api", "api", "the interface")]

CONFIRM = {
    "title": plain("Resume the queue?"),
    "text": mrkdwn("12 pull requests wait in *acme/site*."),
    "confirm": plain("Resume"),
    "deny": plain("Keep paused"),
}

RICH_TEXT: Block = {
    "type": "rich_text",
    "elements": [
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "text", "text": "Rich "},
                {"type": "text", "text": "bold", "style": {"bold": True}},
                {"type": "text", "text": " "},
                {"type": "text", "text": "italic", "style": {"italic": True}},
                {"type": "text", "text": " "},
                {"type": "text", "text": "struck", "style": {"strike": True}},
                {"type": "text", "text": " "},
                {"type": "text", "text": "code", "style": {"code": True}},
                {"type": "text", "text": " "},
                {"type": "user", "user_id": "U0BOB"},
                {"type": "text", "text": " "},
                {"type": "channel", "channel_id": "C0RELEASE"},
                {"type": "text", "text": " "},
                {"type": "broadcast", "range": "here"},
                {"type": "text", "text": " "},
                {"type": "emoji", "name": "rocket"},
                {"type": "text", "text": " "},
                {"type": "link", "url": "https://example.com/", "text": "a link"},
                {"type": "text", "text": " "},
                {"type": "date", "timestamp": MOMENT, "format": "{date_num}", "fallback": "f"},
            ],
        },
        {
            "type": "rich_text_list",
            "style": "bullet",
            "indent": 0,
            "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "outer"}]}
            ],
        },
        {
            "type": "rich_text_list",
            "style": "ordered",
            "indent": 1,
            "offset": 2,
            "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "inner"}]}
            ],
        },
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "quoted"}]},
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "as\n  typed"}]},
    ],
}

TABLE: Block = {
    "type": "table",
    "column_settings": [{}, {"is_wrapped": True}, {"align": "right"}],
    "rows": [
        [{"type": "raw_text", "text": text} for text in ("Pull request", "Checks", "Waits")],
        [{"type": "raw_text", "text": text} for text in ("#431", "3 of 4 done", "12 min")],
        [{"type": "raw_text", "text": text} for text in ("#432", "queued", "9 min")],
    ],
}

CHART: Block = {
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

MESSAGES: dict[str, list[Block]] = {
    "section": [
        section(MARKUP),
        {"type": "section", "fields": [mrkdwn("*Reason*\nCI is down"), mrkdwn("*Waiting*\n12")]},
        section("With a button", accessory=button("Open", "open", url="https://example.com/")),
    ],
    "header": [{"type": "header", "text": plain(":double_vertical_bar: The queue is paused")}],
    "context": [{"type": "context", "elements": [mrkdwn("acme/site · main"), plain("12 min")]}],
    "divider": [section("above"), {"type": "divider"}, section("below")],
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

FORM: list[Block] = [
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
