"""Pausing a queue or a group: the command, the questions that it asks back, and the form."""

from collections.abc import Sequence
from functools import partial

from bot.acts.asked import NOTHING_ASKED, Asked, TypedEnds
from bot.acts.reason import check_reason
from bot.acts.record import Action
from bot.blocks import controls, modal
from bot.blocks.controls import Repeat
from bot.blocks.message import View
from bot.desk import end_questions
from bot.desk.registry import Accepted, Call, field_checked, handles
from bot.groups import handlers as group_handlers
from bot.kernel.ends.phrases import read_end
from bot.kernel.groups import Group, Target, repositories_of, target_value
from bot.kernel.repository import RepositoryName
from bot.pauses import actions as pause_actions
from bot.pauses.outcomes import AlreadyPaused, NotPaused, PauseOutcome
from bot.pauses.pause import DrawnLine
from bot.pauses.texts import form as pause_form, replies as pause_replies
from bot.pauses.texts.ends import EndQuestion
from bot.queues.estimate import NO_OUTLOOK, Outlook
from bot.queues.reading import read_queues, unpaused
from bot.queues.snapshot import ReadQueue, Snapshot
from bot.queues.texts import group_status, impact as queue_impact, parts as queue_parts
from bot.slack.forms import FormTurn
from bot.slack.payloads import Interaction


@handles.command("pause")
async def type_pause(call: Call, target: Target, *, asked: Asked, is_confirmed: bool) -> None:
    """Without a reason, open the form.

    Ask first if that stops something, or if the reason may end with a duration.
    """
    if not asked.reason:
        await open_form(call, target, asked)
        return
    await call.permit(Action.PAUSE, target, asked)
    # The same end whenever the person answers a question.
    typed = await call.typed_ends(asked)
    asks_when = typed.is_doubt or (typed.is_far and not (is_confirmed and asked.is_exact))
    if is_confirmed and not asks_when:
        await pause_target(call, target, typed.with_end(asked), in_place=False)
        return
    check_reason(asked.reason)
    if isinstance(target, Group):
        await _ask_about_group(call, target, asked, typed, asks_when=asks_when)
        return
    impact = await call.bot.use.pause_queue.impact(call.caller, target)
    if asks_when:
        stops = pause_replies.stops(impact)
        await call.reply(end_questions.which_end(target, asked, typed, [stops] if stops else []))
    elif impact is not None:
        snapshot = await unpaused(target, impact, call.bot.sources)
        outlook = await call.bot.use.foresee_queue.of(snapshot)
        await call.reply(
            pause_replies.confirm_pause(
                target,
                typed.with_end(asked),
                impact,
                call.bot.command,
                merge_expected_at=snapshot.merge_expected_at,
                by_past=queue_parts.by_past(outlook, snapshot.read_at),
            )
        )
    else:
        await pause_target(call, target, typed.with_end(asked), in_place=False)


async def _ask_about_group(
    call: Call, group: Group, asked: Asked, typed: TypedEnds, *, asks_when: bool
) -> None:
    read = await read_queues(group.repositories, call.bot.sources)
    snapshots = [queue for queue in read if isinstance(queue, Snapshot)]
    paused = [snapshot for snapshot in snapshots if snapshot.pause is not None]
    if len(paused) == len(read):
        await call.reply(group_status.all_paused(group, paused))
        return
    if asks_when:
        await call.reply(end_questions.which_end(group, asked, typed, queue_impact.impact(read)))
        return
    at = typed.ends[0].at if typed.ends else None
    await call.reply(queue_impact.confirm_group_pause(group, typed.with_end(asked), read, at))


async def pause_target(
    call: Call,
    target: Target,
    asked: Asked,
    *,
    replacing: DrawnLine | None = None,
    in_place: bool = True,
) -> None:
    """`in_place`: the result replaces the question, or the form."""
    if isinstance(target, Group):
        await group_handlers.act_on_group(call, Action.PAUSE, target, asked)
        return
    outcome = await call.bot.use.pause_queue.run(
        call.caller, target, asked.reason, lasting=asked.lasting, replacing=replacing
    )
    await _show_outcome(call, target, asked, outcome, in_place=in_place)


async def change_reason(
    call: Call, repository: RepositoryName, asked: Asked, drawn: DrawnLine | None
) -> None:
    """Of the pause as it was drawn, and of no other."""
    outcome = await call.bot.use.pause_queue.change_reason(
        call.caller, repository, asked.reason, drawn=drawn
    )
    if isinstance(outcome, NotPaused):
        await call.replace_message(pause_replies.pause_is_over(repository))
        return
    await _show_outcome(call, repository, asked, outcome, in_place=True)


async def _show_outcome(
    call: Call,
    target: RepositoryName,
    asked: Asked,
    outcome: PauseOutcome,
    *,
    in_place: bool,
) -> None:
    if isinstance(outcome, AlreadyPaused):
        show = call.replace_message if in_place else call.reply
        known = outcome.known
        await show(pause_replies.already_paused(target, known, asked, is_same=outcome.is_same))
        return
    if in_place:
        await call.replace_message(pause_replies.paused_reply(outcome.act))
    elif outcome.posted_here and call.in_thread:
        await call.answer(pause_replies.paused_reply(outcome.act))
    if not outcome.posted_here and (call.response_url or call.asked):
        await call.post_without_card(pause_replies.act_post(outcome.act))


@handles.click(
    pause_actions.PAUSE_CONFIRMED,
    *pause_actions.PAUSE_READINGS,
    pause_actions.PAUSE_WITHOUT_END,
    pause_actions.REPLACE,
)
async def answer_question(call: Call, click: Interaction) -> None:
    """Whether to stop what runs or replace a pause, or which end is meant."""
    choice = controls.read_value(pause_actions.PauseChoice, click.chosen, call.bot.repositories)
    target = call.bot.groups.target(choice.target)
    if choice.keeps_end:
        (repository,) = repositories_of(target)
        await change_reason(call, repository, choice.asked, choice.replacing)
        return
    if choice.asked.reason:
        await pause_target(call, target, choice.asked, replacing=choice.replacing)
        return
    await open_form(call, target, choice.asked)
    await call.remove_message()


@handles.click(pause_actions.PAUSE_OTHER_TIME)
async def choose_other_time(call: Call, click: Interaction) -> None:
    choice = controls.read_value(pause_actions.PauseChoice, click.chosen, call.bot.repositories)
    await open_form(call, call.bot.groups.target(choice.target), choice.asked)
    await call.remove_message()


@handles.click(controls.DISMISS)
async def dismiss(call: Call, _click: Interaction) -> None:
    await call.admit()
    await call.remove_message()


@handles.shortcut(pause_actions.PAUSE_SHORTCUT, pause_actions.PAUSE_BECAUSE_SHORTCUT)
async def open_from_shortcut(call: Call, shortcut: Interaction) -> None:
    """On a message, the reason begins with its address."""
    names = call.bot.repositories.names
    address = await call.address_of(shortcut.message_ts)
    await open_form(call, names[0] if len(names) == 1 else None, Asked(address or ""))


@handles.click(pause_actions.PAUSE)
async def press_pause(call: Call, click: Interaction) -> None:
    await open_form(call, call.control(click).target)


@handles.click(controls.PAUSE_TARGET)
async def choose_in_form(call: Call, click: Interaction) -> None:
    carried = click.carried
    asked = Asked(carried.reason, read_end(carried.end) if carried.end else None)
    await show_form(call, click, asked)


async def open_form(call: Call, target: Target | None, asked: Asked = NOTHING_ASKED) -> None:
    """A trigger is valid for three seconds, so the queues are read once the form is open.

    Raises PermissionDenied before the form opens. The check takes two seconds at most.
    """
    await call.permit(Action.PAUSE, target)
    turn = await call.open_modal(_form(call, target, asked))
    if target is not None:
        await _show_impact(call, target, turn, asked)


async def show_form(call: Call, click: Interaction, asked: Asked) -> None:
    """Turn the form of the click into this one; raises PermissionDenied before.

    Until the queues are read, the form says that of those chosen last, and of no others.
    """
    turn = call.turn_of(click)
    target = call.bot.groups.target(click.target)
    await call.permit(Action.PAUSE, target)
    await call.show_in_modal(turn, _form(call, target, asked))
    await _show_impact(call, target, turn, asked)


async def _show_impact(call: Call, target: Target, turn: FormTurn, asked: Asked) -> None:
    """Show in the form what pausing `target` would stop."""
    read = await read_queues(repositories_of(target), call.bot.sources)
    outlook = NO_OUTLOOK
    if isinstance(read[0], Snapshot) and not isinstance(target, Group):
        outlook = await call.bot.use.foresee_queue.of(read[0])
    await call.show_in_modal(turn, _form(call, target, asked, read, outlook=outlook))


def _form(
    call: Call,
    target: Target | None,
    asked: Asked,
    read: Sequence[ReadQueue] = (),
    question: EndQuestion | None = None,
    outlook: Outlook = NO_OUTLOOK,
) -> View:
    """What pausing would stop is left out while a question is open."""
    notes: list[str] = []
    if question is None:
        notes = queue_impact.notes(target, call.bot.command, read, outlook)
    return pause_form.pause_form(
        call.bot.targets,
        chosen=target,
        channel_id=call.channel_id,
        notes=notes,
        asked=asked,
        question=question,
    )


@handles.form(controls.PAUSE_VIEW)
async def submit_pause(call: Call, form: Interaction) -> Accepted:
    """The reason may hold the end, as in the command."""
    is_menu = form.filled_in(controls.TARGET_BLOCK, controls.PAUSE_TARGET)
    with field_checked(controls.TARGET_BLOCK if is_menu else controls.REASON_BLOCK):
        target = call.bot.groups.target(form.target)
    with field_checked(form.end_block):
        times = Asked(lasting=read_end(form.end)) if form.end else NOTHING_ASKED
    asked, question = await call.asked_in_form(times, form)
    if question is not None:
        return Accepted(_form(call, target, Asked(form.reason), question=question))
    choice = pause_actions.PauseChoice(target_value(target), asked)
    repeat = Repeat(pause_actions.PAUSE_CONFIRMED, controls.value_of(choice))
    if isinstance(target, Group):
        return group_handlers.accept(call, Action.PAUSE, target, asked, repeat)
    work = partial(pause_target, target=target, asked=asked)
    return Accepted(modal.working_modal(target), work, repeat)
