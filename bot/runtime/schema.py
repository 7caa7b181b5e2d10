"""All tables: importing it makes the schema complete."""

import bot.acts.tables
import bot.boards.tables
import bot.channels.tables
import bot.desk.tables
import bot.feed.tables
import bot.freezes.tables
import bot.health.tables
import bot.log.tables
import bot.pauses.tables
import bot.people.tables
import bot.posts.tables
import bot.store.tables
import bot.storms.tables  # noqa: F401 - all of them are imported to make their tables known
from bot.store.schema import metadata

metadata.info["is_complete"] = True
