"""What is typed, chosen from a menu or tried again: read, and run to its answer."""

from dataclasses import replace

from bot.domain.audit import Actor, Origin
from bot.domain.commands import parse_command
from bot.domain.commands.readers import Request
from bot.domain.errors import RepositoryNotChosen, UserError
from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName
from bot.messages import actions, choice, help as help_messages
from bot.slack.background import Json
from bot.slack.conversation import Answers
from bot.slack.handlers.registry import Bot, Call, handles
from bot.slack.payloads import Interaction


async def run(call: Call, typed: str) -> None:
    """Raises what parsing and the use cases raise; nothing is half said by then."""
    request = await _parse(call, typed)
    where = request.where
    if where is None and request.needs_repository:
        where = await _repository(call, request.action)
        if where is None:
            await call.admit()
            await _ask(call, typed)
            return
    await handles.commands[request.action](call, where, **request.options)


async def _parse(call: Call, typed: str) -> Request:
    """For an act the permission is asked for, and put on record, where it is carried out."""
    try:
        command, request = parse_command(typed, call.bot.repositories, call.bot.groups)
    except UserError:
        await call.admit()
        raise
    if command.right is Right.READ:
        await call.admit()
    return request


async def _repository(call: Call, action: str) -> RepositoryName | None:
    """The only one there is, that whose board ends, or the channel's own.

    To resume, also the only one that is paused.
    """
    configured, use = call.bot.repositories.names, call.bot.use
    if len(configured) == 1:
        return configured[0]
    if call.channel_id is None:
        return None
    if action == "board off":
        boards = await use.manage_boards.kept_here(call.channel_id, configured)
        if len(boards) == 1:
            return boards[0]
    default = await use.channel_default.of(call.channel_id)
    if default in configured:
        return default
    heard = await use.manage_subscriptions.subscriptions(call.channel_id)
    names = {one.repository for one in heard}.intersection(configured)
    if len(names) != 1 and action == "resume":
        names = await use.unpause_queue.paused(configured)
    return names.pop() if len(names) == 1 else None


async def _ask(call: Call, typed: str) -> None:
    names = call.bot.repositories.names
    if not names or not choice.can_carry(typed):
        raise RepositoryNotChosen(names)
    await call.tell_actor(choice.which_repository(names, typed))


@handles.command("help")
async def show_help(call: Call, _: None, *, verb: str | None) -> None:
    await call.tell_actor(help_messages.help_text(call.bot.command, verb))


@handles.event("message")
def on_message(bot: Bot, body: Json) -> None:
    """A direct message gets the list of commands; edits and what the bot writes get nothing."""
    event = body["event"]
    is_a_persons = event.get("user") and not (event.get("subtype") or event.get("bot_id"))
    if event.get("channel_type") != "im" or not is_a_persons:
        return
    user_id = str(event["user"])
    # The event names no team of the person's: Slack's answer about them decides.
    call = bot.call(Actor(user_id, user_id, body.get("team_id")), Origin.COMMAND)
    bot.background.start(body, run(call, "help"), call)


@handles.click(actions.RETRY, actions.LOG_OF, actions.WHY)
async def run_carried(call: Call, click: Interaction) -> None:
    """A command goes on as if it were typed: one that a button carries, or with a choice."""
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
