"""Every module that has handlers. Importing it registers them."""

import bot.boards.handlers
import bot.channels.handlers
import bot.desk.dispatch
import bot.doctor.handlers
import bot.freezes.handlers
import bot.groups.handlers
import bot.home.handlers.me
import bot.home.handlers.tab
import bot.pauses.handlers.commands
import bot.pauses.handlers.ends
import bot.pauses.handlers.more
import bot.pauses.handlers.watching
import bot.people.handlers
import bot.questions.handlers
import bot.removals.handlers  # noqa: F401 - all of them are imported to register their handlers
