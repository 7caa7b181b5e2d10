"""Help, and the buttons and menus that run a command as if it were typed."""

from dataclasses import replace

from bot.domain.audit import Origin
from bot.domain.commands import command_called
from bot.domain.errors import CommandSyntaxError
from bot.messages import actions, choice, help as help_messages
from bot.slack.background import Json
from bot.slack.conversation import Answers
from bot.slack.handlers.dispatch import run
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction, Said


@handles.command("help")
async def show_help(call: Call, _: None, *, verb: str | None) -> None:
    await call.reply(help_messages.help_text(call.bot.command, verb))


@handles.event("app_mention", "message")
def on_message(call: Call, body: Json) -> None:
    """A mention and a direct message are commands; edits and what apps write are not.

    What a mention asks for is answered in its thread, where everybody sees it.
    """
    said = Said.model_validate(body["event"])
    if not said.is_a_persons or (said.type == "message" and not said.is_direct):
        return
    typed = said.typed_to(_bot_id(body))
    answers = Answers.TO_ACTOR if said.is_direct else Answers.TO_CHANNEL
    call = replace(call, channel_id=said.channel, asked=said, answers=answers)
    call.bot.background.start(body, _run_said(call, typed), call, retry=typed)


async def _run_said(call: Call, typed: str) -> None:
    """Run a command from a message; what begins with no command gets help."""
    name = await call.bot.use.check_permission.name(call.actor.user_id)
    call = replace(call, actor=replace(call.actor, name=name))
    await run(call, typed if _begins_with_command(typed) else "help")


def _begins_with_command(typed: str) -> bool:
    """Whether the first word is a command, or close enough to one to offer it."""
    try:
        command_called(next(iter(typed.split()), "status"))
    except CommandSyntaxError as error:
        return any(one != "help" for one in error.nearest)
    return True


def _bot_id(body: Json) -> str:
    """Our own user id, https://docs.slack.dev/apis/events-api/#authorizations."""
    return str(next(iter(body.get("authorizations") or [{}])).get("user_id"))


@handles.click(*actions.TYPED, actions.FREEZE_CONFIRMED, actions.FREEZE_FOR)
async def run_carried(call: Call, click: Interaction) -> None:
    await run(call, click.chosen)


@handles.click(*actions.IN_PLACE)
async def run_in_place(call: Call, click: Interaction) -> None:
    if call.origin is not Origin.HOME:
        # After any click on the Home tab, all of it is drawn again.
        await run(replace(call, answers=Answers.IN_PLACE), click.chosen)


@handles.click(actions.SHARE)
async def share(call: Call, click: Interaction) -> None:
    await run(replace(call, answers=Answers.TO_CHANNEL), click.chosen)


@handles.click(actions.CHOOSE)
async def choose_repository(call: Call, click: Interaction) -> None:
    """The menu goes once it is answered; after a failure another choice may do."""
    await run(call, choice.continued(click.block_id, click.chosen))
    await call.remove_message()
