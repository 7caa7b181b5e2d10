"""The rich_text block: its sections and the elements inside them."""

from bot.sandbox.slack.block_kit.schema import (
    Check,
    Shape,
    anything,
    boolean,
    integer,
    items,
    one_of,
    string,
    typed,
)
from bot.sandbox.slack.block_kit.text_objects import IDENTIFIER, of_type

_STYLE_NAMES = ("bold", "italic", "strike", "code", "underline", "highlight", "unlink")
_STYLE = Shape({}, dict.fromkeys((*_STYLE_NAMES, "client_highlight"), boolean))
_STYLED: dict[str, Check] = {"style": _STYLE}
_TEXT = of_type({"text": string(40_000)}, _STYLED)
_LINK = of_type({"url": string(3000)}, {**_STYLED, "text": string(40_000, 0), "unsafe": boolean})

INLINE = typed(
    {
        "text": _TEXT,
        "link": _LINK,
        "user": of_type({"user_id": IDENTIFIER}, _STYLED),
        "usergroup": of_type({"usergroup_id": IDENTIFIER}, _STYLED),
        "channel": of_type({"channel_id": IDENTIFIER}, _STYLED),
        "team": of_type({"team_id": IDENTIFIER}, _STYLED),
        "broadcast": of_type({"range": one_of("here", "channel", "everyone")}, _STYLED),
        "emoji": of_type(
            {"name": string(255)}, {**_STYLED, "unicode": string(255), "skin_tone": integer(1, 6)}
        ),
        "color": of_type({"value": string(255)}, _STYLED),
        "date": of_type(
            {"timestamp": integer(0, 9_999_999_999), "format": string(255)},
            {**_STYLED, "url": string(3000), "fallback": string(3000)},
        ),
    }
)
_INLINES = items(INLINE, 10_000, 0)
_BORDER: dict[str, Check] = {"border": integer(0, 1)}
_SECTION = of_type({"elements": _INLINES})
# Code blocks and quotations hold text and links only.
_LITERAL = items(typed({"text": _TEXT, "link": _LINK}), 10_000, 0)

RICH_TEXT_PARTS = typed(
    {
        "rich_text_section": _SECTION,
        "rich_text_list": of_type(
            {
                "style": one_of("bullet", "ordered"),
                "elements": items(typed({"rich_text_section": _SECTION}), 1000, 0),
            },
            {**_BORDER, "indent": integer(0, 8), "offset": integer(0, 1_000_000)},
        ),
        "rich_text_preformatted": of_type(
            {"elements": _LITERAL}, {**_BORDER, "language": anything}
        ),
        "rich_text_quote": of_type({"elements": _INLINES}, _BORDER),
    }
)
RICH_TEXT = of_type(
    {"elements": items(RICH_TEXT_PARTS, 1000, 0)},
    {"block_id": IDENTIFIER},
)
