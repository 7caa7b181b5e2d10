"""Runs commands: typed, said to the bot, or carried by a button or a menu; and help."""

from collections.abc import Sequence
from dataclasses import replace

from bot.domain.audit import Origin
from bot.domain.commands import command_called, parse_command
from bot.domain.errors import CommandSyntaxError, RepositoryNotChosen
from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName
from bot.messages import actions, choice, help as help_messages, pause
from bot.slack.conversation import Answers
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


async def run_said(call: Call, typed: str) -> None:
    """Run a command from a message; what begins with nothing like a command gets help."""
    name = await call.bot.use.check_permission.name(call.actor.user_id)
    try:
        command_called(next(iter(typed.split()), "status"))
    except CommandSyntaxError as error:
        if not set(error.nearest) - {"help"}:
            typed = "help"
    await run(replace(call, actor=replace(call.actor, name=name)), typed)


async def run(call: Call, typed: str) -> None:
    """Run a command. Raises what parsing and the use cases raise.

    The right to read is checked here; the use case checks and records any other right.
    """
    command, request = parse_command(typed, call.bot.repositories, call.bot.groups)
    if command.right is Right.READ:
        await call.admit()
    where = request.where
    if where is None and request.needs_repository:
        where = await _repository(call, request.action)
        if request.action == "resume":
            where = await _paused_one(call, where, typed)
        elif where is None:
            await _ask(call, call.bot.repositories.names, typed)
        if where is None:
            return
    await handles.command[request.action](call, where, **request.options)


async def _repository(call: Call, action: str) -> RepositoryName | None:
    """The repository meant when none is typed, if it is clear.

    That is the only one configured, the one whose board is ended, the channel's default, or the
    only one the channel is subscribed to.
    """
    configured, use = call.bot.repositories.names, call.bot.use
    if len(configured) == 1:
        return configured[0]
    if call.channel_id is None:
        return None
    if action == "board off":
        boards = await use.manage_boards.in_channel(call.channel_id, configured)
        if len(boards) == 1:
            return boards[0]
    default = await use.channel_settings.default(call.channel_id)
    if default in configured:
        return default
    heard = await use.channel_settings.subscriptions(call.channel_id)
    names = {one.repository for one in heard}.intersection(configured)
    return names.pop() if len(names) == 1 else None


async def _paused_one(
    call: Call, meant: RepositoryName | None, typed: str
) -> RepositoryName | None:
    """The queue to resume: the one `meant`, or the only paused one; None if the person is asked.

    They are asked before another queue than the one `meant` is resumed.
    """
    names = call.bot.repositories.names
    paused = await call.bot.use.resume_queue.paused_instead(meant, names)
    if not paused and meant is not None:
        return meant
    if len(paused) == 1:
        if meant is None:
            return paused[0].repository
        await call.admit()
        await call.reply(pause.resume_other(meant, paused[0]))
        return None
    await _ask(call, sorted(one.repository for one in paused) or names, typed, running=meant)
    return None


async def _ask(
    call: Call,
    names: Sequence[RepositoryName],
    typed: str,
    *,
    running: RepositoryName | None = None,
) -> None:
    """Ask which repository is meant; the names are only for people who may read."""
    await call.admit()
    if not names or not choice.can_carry(typed):
        raise RepositoryNotChosen(tuple(names))
    await call.reply(choice.which_repository(names, typed, running=running))
