"""The menu behind the three dots of a card: taking over, changing the reason, and the rest."""

from functools import partial

from bot.acts.asked import Asked
from bot.acts.reason import check_reason
from bot.acts.record import Action
from bot.blocks import controls, modal
from bot.blocks.controls import Repeat
from bot.desk import dispatch
from bot.desk.registry import Accepted, Call, field_checked, handles
from bot.kernel.groups import Target, target_value
from bot.pauses import actions as pause_actions
from bot.pauses.handlers.commands import change_reason
from bot.pauses.handlers.watching import watch
from bot.pauses.pause import DrawnLine, read_drawn_line
from bot.pauses.rows import Pauses
from bot.pauses.texts import form as pause_form, replies as pause_replies
from bot.slack.payloads import Interaction


@handles.click(pause_actions.MORE)
async def choose_more(call: Call, click: Interaction) -> None:
    choice, _, value = click.chosen.partition(" ")
    control = call.control(value)
    match pause_actions.More(choice):
        case pause_actions.More.TAKE_OVER:
            await take_over(call, control.target, read_drawn_line(control.drawn_for))
        case pause_actions.More.REASON:
            await _open_reason_form(call, control, value)
        case pause_actions.More.NOTIFY:
            await watch(call, control.target)
        case pause_actions.More.LOG:
            await dispatch.run(call, f"log {target_value(control.target)}")


@handles.command("takeover")
async def take_over(call: Call, target: Target, expected: DrawnLine | None = None) -> None:
    outcome = await call.bot.use.take_over_pause.run(call.caller, target, expected)
    await call.reply(pause_replies.taken_over(outcome, target))


async def _open_reason_form(call: Call, control: controls.Control, value: str) -> None:
    """With the reason of now in it; if that is another pause, show that instead."""
    repository = control.repository
    await call.permit(Action.PAUSE, repository)
    found = await call.bot.sources.store.read(
        lambda transaction: Pauses(transaction).open([repository])
    )
    if not found:
        await call.reply(pause_replies.pause_is_over(repository))
    elif not found[0].says_still(read_drawn_line(control.drawn_for)):
        await call.reply(pause_replies.other_pause(repository, found[0]))
    else:
        view = pause_form.reason_form(repository, value, call.channel_id, found[0].line.reason)
        await call.open_modal(view)


@handles.form(pause_actions.REASON_VIEW)
async def submit_reason(call: Call, form: Interaction) -> Accepted:
    control = call.control(form.target)
    with field_checked(controls.REASON_BLOCK):
        asked = Asked(check_reason(form.reason))
    drawn = read_drawn_line(control.drawn_for)
    choice = pause_actions.PauseChoice(target_value(control.target), asked, drawn, keeps_end=True)
    repeat = Repeat(pause_actions.REPLACE, controls.value_of(choice))
    work = partial(change_reason, repository=control.repository, asked=asked, drawn=drawn)
    return Accepted(modal.working_modal(control.repository), work, repeat)
