"""Removing a pull request from the queue: its command and its button."""

from bot.domain.removals import NotRemoved
from bot.domain.repository import RepositoryName
from bot.messages import actions, removals
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction


@handles.command("remove")
async def type_remove(call: Call, repository: RepositoryName, *, pull_request: int) -> None:
    """Nothing is removed without a click."""
    found = await call.bot.use.remove_pull_request.ask(call.caller, repository, pull_request)
    if isinstance(found, NotRemoved):
        await call.reply(removals.not_removed(found))
    else:
        await call.reply(removals.question(found))


@handles.click(actions.REMOVE)
async def press_remove(call: Call, click: Interaction) -> None:
    target = actions.read_value(actions.QueuedTarget, click.chosen, call.bot.repositories)
    outcome = await call.bot.use.remove_pull_request.run(
        call.caller, target.repository, target.number, target.queued_at
    )
    if isinstance(outcome, NotRemoved):
        await call.replace_message(removals.not_removed(outcome))
        return
    await call.replace_message(removals.answer(outcome))
    if not outcome.posted_here:
        await call.post_in_channel(removals.done(outcome.act, outcome.pull_request))
