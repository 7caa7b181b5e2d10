"""Help, and the buttons and menus that run a command as if it were typed."""

from dataclasses import replace

from bot.domain.audit import Origin
from bot.messages import actions, choice, help as help_messages
from bot.slack.background import Json
from bot.slack.conversation import Answers
from bot.slack.handlers.dispatch import run
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction


@handles.command("help")
async def show_help(call: Call, _: None, *, verb: str | None) -> None:
    await call.tell_actor(help_messages.help_text(call.bot.command, verb))


@handles.event("message")
def on_message(call: Call, body: Json) -> None:
    """A direct message gets the list of commands; edits and what the bot writes get nothing."""
    event = body["event"]
    is_a_persons = event.get("user") and not (event.get("subtype") or event.get("bot_id"))
    if event.get("channel_type") != "im" or not is_a_persons:
        return
    call.bot.background.start(body, run(call, "help"), call)


@handles.click(
    actions.RETRY,
    actions.LOG_OF,
    actions.WHY,
    actions.LEVEL_QUIET,
    actions.LEVEL_NORMAL,
    actions.LEVEL_EVERYTHING,
)
async def run_carried(call: Call, click: Interaction) -> None:
    await run(call, click.chosen)


@handles.click(actions.REFRESH, actions.BACK, actions.NEXT)
async def run_in_place(call: Call, click: Interaction) -> None:
    if call.origin is not Origin.HOME:
        # After any click on the Home tab, all of it is drawn again.
        await run(replace(call, answers=Answers.IN_PLACE), click.chosen)


@handles.click(actions.SHARE)
async def share(call: Call, click: Interaction) -> None:
    await run(replace(call, answers=Answers.TO_CHANNEL), click.chosen)


@handles.click(actions.CHOOSE)
async def choose_repository(call: Call, click: Interaction) -> None:
    await run(call, choice.continued(click.action.block_id, click.chosen))
