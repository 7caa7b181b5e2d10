"""Commands and buttons that ask for a notification when a queue resumes."""

from bot.desk.registry import Call, handles
from bot.home.about import stop_waiting as forget_waiting
from bot.kernel.actor import Origin
from bot.kernel.groups import Group, Target
from bot.pauses.outcomes import WatchOutcome
from bot.pauses.texts import group_acts, replies as pause_replies
from bot.people import actions as people_actions, texts as people_texts
from bot.slack.payloads import Interaction


@handles.command("notify")
async def watch(call: Call, target: Target) -> None:
    outcome = await call.bot.use.resume_queue.watch(target, call.actor)
    if outcome is not WatchOutcome.NOT_PAUSED:
        is_new = outcome is WatchOutcome.NEW
        await call.reply(group_acts.will_notify(target, is_new=is_new))
    elif isinstance(target, Group):
        await call.reply(group_acts.nothing_held(target.name))
    else:
        await call.reply(pause_replies.not_paused(target))


@handles.click(people_actions.STOP_WAITING)
async def stop_waiting(call: Call, _click: Interaction) -> None:
    await call.admit()
    stopped = await call.bot.sources.store.run(forget_waiting, call.actor.user_id)
    if call.origin is not Origin.HOME:
        said = people_texts.stopped_waiting(is_new=stopped.had_any)
        await call.replace_message(people_texts.me(stopped.person, call.bot.command, said))
