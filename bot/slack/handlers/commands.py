"""Help, and the buttons and menus that run a command as if it were typed."""

from dataclasses import replace

from bot.domain.audit import Origin
from bot.messages import actions, choice, help as help_messages
from bot.slack.conversation import Answers
from bot.slack.handlers.dispatch import run
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction


@handles.command("help")
async def show_help(call: Call, _: None, *, verb: str | None) -> None:
    await call.reply(help_messages.help_text(call.bot.command, verb))


@handles.click(*actions.CARRY_COMMAND, actions.FREEZE_CONFIRMED, actions.FREEZE_FOR)
async def run_carried(call: Call, click: Interaction) -> None:
    answers = Answers.TO_ACTOR
    if click.action_id in actions.IN_PLACE:
        answers = Answers.IN_PLACE
    elif click.action_id == actions.SHARE:
        answers = Answers.TO_CHANNEL
    # After any click on the Home tab, all of it is drawn again.
    if answers is not Answers.IN_PLACE or call.origin is not Origin.HOME:
        await run(replace(call, answers=answers), click.chosen)


@handles.click(actions.CHOOSE)
async def choose_repository(call: Call, click: Interaction) -> None:
    """The menu goes once it is answered; after a failure another choice may do."""
    await run(call, choice.continued(click.block_id, click.chosen))
    await call.remove_message()
