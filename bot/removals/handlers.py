"""Removing a pull request from the queue: its command and its button."""

from bot.blocks import controls
from bot.desk.registry import Call, handles
from bot.kernel.repository import RepositoryName
from bot.removals import actions as removal_actions, texts as removal_texts
from bot.removals.removal import NotRemoved
from bot.slack.payloads import Interaction


@handles.command("remove")
async def type_remove(call: Call, repository: RepositoryName, *, pull_request: int) -> None:
    """Nothing is removed without a click."""
    found = await call.bot.use.remove_pull_request.ask(call.caller, repository, pull_request)
    if isinstance(found, NotRemoved):
        await call.reply(removal_texts.not_removed(found))
    else:
        await call.reply(removal_texts.question(found))


@handles.click(removal_actions.REMOVE)
async def press_remove(call: Call, click: Interaction) -> None:
    target = controls.read_value(removal_actions.QueuedTarget, click.chosen, call.bot.repositories)
    outcome = await call.bot.use.remove_pull_request.run(
        call.caller, target.repository, target.number, target.queued_at
    )
    if isinstance(outcome, NotRemoved):
        await call.replace_message(removal_texts.not_removed(outcome))
        return
    if not outcome.has_left:
        call.promise_outcome()
        await call.replace_message(removal_texts.leaving(outcome))
        return
    await call.replace_message(removal_texts.removal_answer(outcome))
    if not outcome.posted_here:
        await call.post_in_channel(removal_texts.done(outcome.act, outcome.pull_request))
