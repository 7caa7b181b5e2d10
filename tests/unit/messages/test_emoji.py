"""Every emoji that the bot uses has a name that Slack knows, and a picture on the local page."""

import re
from pathlib import Path

BOT = Path(__file__).parents[3] / "bot"
STATIC = BOT / "sandbox" / "slack" / "static"
USED = re.compile(r"[\"' ]:([a-z][a-z_]*):[\"' ]")


def used() -> set[str]:
    sources = [*(BOT / "messages").rglob("*.py"), *(BOT / "slack").rglob("*.py")]
    return {name for one in sources for name in USED.findall(one.read_text())}


def test_slack_knows_every_emoji() -> None:
    table = (STATIC / "emoji-table.js").read_text()
    known = set(re.findall(r"[\"|]([a-z0-9_+'-]+) ", table))
    assert len(known) > 1900
    assert used() - known == set()


def test_every_emoji_has_a_picture_where_the_system_has_none() -> None:
    pictures = (STATIC / "emoji-pictures.js").read_text()
    pictured = set(re.findall(r"^  ([a-z_]+)(?::|,$)", pictures, re.MULTILINE))
    assert used() - pictured == set()
