"""Recurring windows: the button on the plan of a pause."""

from bot.messages import actions, windows
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction


@handles.click(actions.SKIP)
async def skip(call: Call, click: Interaction) -> None:
    repository, key = actions.read_occurrence_value(click.chosen, call.bot.repositories)
    settled, is_new = await call.bot.use.hold_windows.skip(call.caller, repository, key)
    await call.reply(windows.skip_reply(settled, is_new=is_new))
