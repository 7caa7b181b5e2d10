"""Freezes, and the button on the plan of a pause: commands, buttons and forms."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from bot.acts.asked import NOTHING_ASKED, Asked, TypedEnds, read_conditions, read_times
from bot.acts.reason import check_reason
from bot.acts.record import Action
from bot.blocks import controls, groups as block_groups, modal
from bot.blocks.blocks import Option, sentence
from bot.blocks.controls import Repeat
from bot.blocks.message import Message, View
from bot.desk import end_questions
from bot.desk.explain import sentence_of
from bot.desk.registry import Accepted, Call, FormMistake, field_checked, handles
from bot.freezes import actions as freeze_actions
from bot.freezes.actions import MoveChoice, UnfreezeChoice
from bot.freezes.calendar import CalendarEntry, EntryState, calendar as calendar_of
from bot.freezes.freeze import Freeze
from bot.freezes.outcomes import FreezeOutcome, FreezesAsTheyWere, Times
from bot.freezes.texts import calendar, cards as freeze_cards, forms as freeze_forms
from bot.freezes.windows import read_key
from bot.groups import handlers as group_handlers
from bot.kernel.actor import Origin
from bot.kernel.durations import DurationProblem, at_instant
from bot.kernel.ends.phrases import read_end
from bot.kernel.errors import InvalidDuration, MergeQueueError, is_uncertain
from bot.kernel.groups import Group, Target, repositories_of, target_value
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import FreezesNotOffered
from bot.merge_queue.freezes import FreezeTerms
from bot.pauses import actions as pause_actions
from bot.pauses.handlers import commands
from bot.queues.reading import QUEUES_PER_PAGE, group_answers, read_queues
from bot.queues.snapshot import Snapshot
from bot.slack.payloads import Interaction


@handles.command("freeze")
async def type_freeze(call: Call, target: Target, *, asked: Asked, is_confirmed: bool) -> None:
    """Without a reason, open the form; ask first if the freeze is long, or of several queues."""
    await call.permit(Action.FREEZE, target)
    if not asked.reason:
        await open_form(call, target, asked)
        return
    check_reason(asked.reason)
    # The same times whenever the person answers a question.
    typed = await call.typed_ends(asked)
    is_settled = is_confirmed and asked.is_exact
    asks_when = typed.is_doubt or (typed.is_far and not is_settled)
    settled = typed.with_end(asked)
    terms = await call.bot.use.freeze_queue.terms(call.caller, settled)
    try:
        if asks_when or (not is_confirmed and await _asks_first(call, target, terms)):
            await call.reply(await _question(call, target, asked, typed, asks_when=asks_when))
        else:
            await freeze(call, target, settled)
    except FreezesNotOffered:
        await call.reply(freeze_forms.not_offered(target, asked, call.bot.command))


async def _asks_first(call: Call, target: Target, terms: FreezeTerms) -> bool:
    """Whether the freeze is confirmed first: one of several queues always is."""
    if isinstance(target, Group):
        return True
    return await call.bot.use.freeze_queue.asks_first(call.caller, terms)


async def _question(
    call: Call, target: Target, asked: Asked, typed: TypedEnds, *, asks_when: bool
) -> Message:
    """Until when, or whether at all; raises FreezesNotOffered.

    No question where nothing would change.
    """
    use = call.bot.use.freeze_queue
    settled = typed.with_end(asked)
    terms = await use.terms(call.caller, settled)
    queued = await _queued(call, target)
    left: list[Freeze] = []
    if not typed.is_doubt:
        # Of a doubtful end nobody knows yet what would be in its way.
        left = await use.in_the_way(repositories_of(target), terms)
    if len(left) == len(repositories_of(target)):
        return _all_in_the_way(call, target, left)

    note = freeze_forms.in_the_way(left, call.bot.clock.now())
    if not asks_when:
        return freeze_forms.confirm_freeze(target, settled, terms, queued, call.bot.command, note)
    impact = freeze_forms.would_wait(queued) if queued is not None else ""
    facts = [fact for fact in (note, impact) if fact]
    return end_questions.which_end(target, asked, typed, facts, is_freeze=True)


@handles.click(
    freeze_actions.FREEZE_CONFIRMED,
    *freeze_actions.FREEZE_READINGS,
    freeze_actions.FREEZE_WITHOUT_END,
)
async def answer_question(call: Call, click: Interaction) -> None:
    """Whether to freeze, or until when."""
    choice = controls.read_value(pause_actions.PauseChoice, click.chosen, call.bot.repositories)
    target = call.bot.groups.target(choice.target)
    if choice.asked.reason:
        await freeze(call, target, choice.asked)
        return
    await open_form(call, target, choice.asked)
    await call.remove_message()


@handles.click(freeze_actions.FREEZE_OTHER_TIME)
async def choose_other_time(call: Call, click: Interaction) -> None:
    choice = controls.read_value(pause_actions.PauseChoice, click.chosen, call.bot.repositories)
    await open_form(call, call.bot.groups.target(choice.target), choice.asked)
    await call.remove_message()


def _all_in_the_way(call: Call, target: Target, left: Sequence[Freeze]) -> Message:
    """Nothing would change."""
    outcome = FreezeOutcome(left, FreezesAsTheyWere.FROZEN)
    if not isinstance(target, Group):
        return answer_unchanged(call, target, outcome)
    return freeze_forms.all_in_the_way(left, call.bot.clock.now())


async def _queued(call: Call, target: Target) -> int | None:
    """How many pull requests would wait; None if unknown. Raises FreezesNotOffered."""
    if isinstance(target, Group):
        await call.bot.use.freeze_queue.require_offered(target.repositories[0])
        read = await read_queues(target.repositories, call.bot.sources)
        return sum(len(queue.status.queued) for queue in read if isinstance(queue, Snapshot))
    await call.bot.use.freeze_queue.freezes(target)
    return await call.bot.use.freeze_queue.queued(target)


async def freeze(call: Call, target: Target, asked: Asked) -> None:
    if isinstance(target, Group):
        await group_handlers.act_on_group(call, Action.FREEZE, target, asked)
        return
    outcome = await call.bot.use.freeze_queue.freeze(call.caller, target, asked)
    if outcome.because is not None:
        await call.reply_in_place(answer_unchanged(call, target, outcome))
        return
    (made,) = outcome.freezes
    now = call.bot.clock.now()
    said = freeze_forms.frozen_reply(made, now, outcome.beside)
    post = freeze_forms.freeze_post(made, now, outcome.beside)
    await _answer_and_post(call, said, post, posted_here=outcome.posted_here)


async def _answer_and_post(call: Call, said: Message, post: Message, *, posted_here: bool) -> None:
    """To the actor where the channel has a card; to the channel, as a reply, where it has none."""
    if posted_here or call.view_id is not None or call.on_private_message:
        await call.reply_in_place(said)
    if not posted_here and (call.response_url or call.asked):
        await call.post_without_card(post)


def answer_unchanged(
    call: Call, where: RepositoryName, outcome: FreezeOutcome, pull_request: int | None = None
) -> Message:
    return freeze_forms.why_unchanged(where, outcome, call.bot.clock.now(), pull_request)


async def open_form(call: Call, target: Target, asked: Asked) -> None:
    """A trigger is valid for three seconds, so the queue is read once the form is open."""
    form = partial(freeze_forms.freeze_form, target, asked, channel_id=call.channel_id)
    turn = await call.open_modal(form([modal.READING_THE_QUEUE]))
    note = freeze_forms.QUEUE_UNREAD_FREEZE
    try:
        queued = await _queued(call, target)
        if queued is not None:
            note = freeze_forms.would_wait(queued)
    except FreezesNotOffered:
        message = freeze_forms.not_offered(target, asked, call.bot.command)
        await call.show_in_modal(turn, modal.result_modal(message, call.channel_id))
        return
    except MergeQueueError:
        pass
    await call.show_in_modal(turn, form([note]))


@handles.click(freeze_actions.PLAN)
async def plan(call: Call, click: Interaction) -> None:
    """From the Home tab, of a queue or of any."""
    if click.chosen != freeze_forms.ANY_QUEUE:
        target = call.bot.groups.target(click.chosen)
        await call.permit(Action.FREEZE, target)
        await open_form(call, target, NOTHING_ASKED)
        return
    await call.admit()
    targets = call.bot.targets
    only = targets[0] if len(targets) == 1 else None
    await call.open_modal(freeze_forms.plan_form(targets, only))


@handles.click(pause_actions.HOLD)
async def choose_what_to_stop(call: Call, click: Interaction) -> None:
    """To stop the checks too takes a pause: the form becomes that one."""
    if click.chosen == freeze_forms.STOP_CHECKS:
        await commands.show_form(call, click, Asked(click.reason))


@handles.form(freeze_actions.FREEZE_VIEW)
async def submit_freeze(call: Call, form: Interaction) -> Accepted:
    """The reason may hold the end, as in the command."""
    with field_checked(controls.REASON_BLOCK):
        target = call.bot.groups.target(form.target)
    with field_checked(form.end_block):
        times = _read_times_field(form)
    asked, question = await call.asked_in_form(times, form)
    with field_checked(form.end_block):
        await call.bot.use.freeze_queue.terms(call.caller, asked)
    with field_checked(freeze_actions.BRANCH_BLOCK):
        branches = _conditions(form, freeze_actions.BRANCH_BLOCK).branches
    with field_checked(freeze_actions.EXCEPT_BLOCK):
        excepted = _conditions(form, freeze_actions.EXCEPT_BLOCK).excepted
    if question is not None:
        again = Asked(form.reason, branches=branches, excepted=excepted)
        return Accepted(freeze_forms.freeze_form(target, again, [], call.channel_id, question))
    asked = replace(asked, branches=branches, excepted=excepted)
    choice = pause_actions.PauseChoice(target_value(target), asked)
    return Accepted(
        freeze_forms.freeze_under_way("Freezing", target),
        partial(freeze, target=target, asked=asked),
        Repeat(freeze_actions.FREEZE_CONFIRMED, controls.value_of(choice)),
    )


def _read_times_field(form: Interaction) -> Asked:
    """In words or from the picker; raises InvalidDuration."""
    end = form.end
    words = end.split()
    times, taken = read_times(words)
    if words and not times.is_timed:
        # "until" may be left out in a field that asks for an end.
        return Asked(lasting=read_end(end))
    if taken < len(words):
        raise InvalidDuration(DurationProblem.UNREADABLE, end)
    return times


def _conditions(form: Interaction, block_id: str) -> Asked:
    return read_conditions(freeze_forms.words_of(block_id, form.words_in(block_id)))[0]


@handles.command("freezes")
async def show_freezes(call: Call, target: Target, *, first: int = 0) -> None:
    read = call.bot.use.freeze_queue.freezes
    now = call.bot.clock.now()
    if isinstance(target, Group):
        found = await group_answers(target, first, QUEUES_PER_PAGE, read)
        await call.answer(freeze_forms.freezes_of_group(target, found, now))
    else:
        await call.answer(freeze_forms.freezes(target, await read(target), now))


@handles.command("unfreeze")
async def type_unfreeze(
    call: Call, target: Target, *, reason: str, freeze_id: str | None = None
) -> None:
    """Without a reason, a form asks for it. `freeze_id`: of the freeze in whose thread it is."""
    control = controls.Control(target, freeze_id or "")
    if reason:
        await unfreeze(call, control, reason)
        return
    value = target_value(target)
    if freeze_id is not None:
        value = controls.control_value(control.repository, freeze_id)
    await _ask_why(call, target, value)


@handles.click(freeze_actions.UNFREEZE)
async def press_unfreeze(call: Call, click: Interaction) -> None:
    await _ask_why(call, call.control(click).target, click.chosen)


async def _ask_why(call: Call, target: Target, value: str) -> None:
    await call.permit(Action.FREEZE, target)
    name = block_groups.named(target)
    form = partial(freeze_forms.unfreeze_form, name, value, call.channel_id)
    if isinstance(target, Group):
        await call.open_modal(form())
        return
    # Where only a click opens a form, the click is about the same freeze.
    call.progress.repeat = Repeat(freeze_actions.UNFREEZE, value)
    # A trigger is valid for three seconds, so the freezes are read once the form is open.
    turn = await call.open_modal(form(freeze_forms.READING_FREEZES))
    which = freeze_forms.UNREADABLE_FREEZES
    choices: Sequence[Option] = ()
    with suppress(MergeQueueError):
        control = call.control(value)
        freeze_id = control.drawn_for or None
        known = await call.bot.use.freeze_queue.meant(target, freeze_id)
        if not known:
            outcome = await call.bot.use.freeze_queue.not_frozen(call.caller, target, freeze_id)
            message = answer_unchanged(call, target, outcome)
            await call.show_in_modal(turn, modal.result_modal(message, call.channel_id))
            return
        which = freeze_forms.of_which(known, call.bot.clock.now())
        choices = freeze_forms.which_freeze(known)
    await call.show_in_modal(turn, form(which, choices))


@handles.form(freeze_actions.UNFREEZE_VIEW)
async def submit_unfreeze(call: Call, form: Interaction) -> Accepted:
    with field_checked(controls.REASON_BLOCK):
        name = freeze_actions.WHICH_BLOCK
        chosen = form.filled_in(name, name) or form.target
        control = call.control(chosen)
        reason = check_reason(form.reason)
    shown = freeze_forms.freeze_under_way("Unfreezing", control.target)
    # A typed command would end whichever freeze is left.
    choice = UnfreezeChoice(chosen, reason)
    repeat = Repeat(freeze_actions.UNFREEZE_AGAIN, controls.value_of(choice))
    return Accepted(shown, partial(unfreeze, control=control, reason=reason), repeat)


@handles.click(freeze_actions.UNFREEZE_AGAIN)
async def unfreeze_again(call: Call, click: Interaction) -> None:
    choice = controls.read_value(UnfreezeChoice, click.chosen, call.bot.repositories)
    await unfreeze(call, call.control(choice.control), choice.reason)


async def unfreeze(call: Call, control: controls.Control, reason: str) -> None:
    target = control.target
    if isinstance(target, Group):
        await group_handlers.act_on_group(call, Action.UNFREEZE, target, Asked(reason))
        return
    outcome = await call.bot.use.freeze_queue.unfreeze(
        call.caller, target, reason, freeze_id=control.drawn_for or None
    )
    if outcome.because is not None:
        await call.reply(answer_unchanged(call, target, outcome))
        return
    said = freeze_forms.unfrozen_reply(outcome.freezes, outcome.beside)
    post = freeze_forms.unfrozen(outcome.freezes, call.actor.name, reason, outcome.beside)
    await _answer_and_post(call, said, post, posted_here=outcome.posted_here)


@handles.command("allow")
async def allow(
    call: Call,
    repository: RepositoryName,
    *,
    pull_request: int,
    reason: str,
    is_confirmed: bool = False,
) -> None:
    """Ask first about a pull request that neither the queue nor the log knows."""
    await call.permit(Action.ALLOW, repository)
    check_reason(reason)
    use = call.bot.use.freeze_queue
    is_frozen = bool(await use.meant(repository))
    if is_frozen and not is_confirmed and not await use.knows(repository, pull_request):
        await call.reply(freeze_forms.allow_unknown(repository, pull_request, reason))
        return
    outcome = await call.bot.use.freeze_queue.allow(call.caller, repository, pull_request, reason)
    if outcome.because is not None:
        await call.reply(answer_unchanged(call, repository, outcome, pull_request))
        return
    if outcome.error is not None:
        failure = sentence_of(outcome.error, call.bot.command)
        repeat = call.progress.repeat
        await call.reply(freeze_forms.partly_allowed(pull_request, outcome, failure, repeat))
        if is_uncertain(outcome.error):
            call.promise_outcome()
        return
    name = call.actor.name
    await call.post_in_channel(freeze_forms.allowed(pull_request, outcome.freezes, name, reason))


@handles.click(freeze_actions.SKIP)
async def skip(call: Call, click: Interaction) -> None:
    """Skip the planned pause of a recurring window."""
    control = call.control(click)
    key = read_key(control.repository, control.drawn_for)
    skipped, is_new = await call.bot.use.apply_windows.skip(call.caller, key)
    # The calendar in the Home tab shows it.
    if not (is_new and call.origin is Origin.HOME):
        await call.reply(freeze_cards.skip_reply(skipped, is_new=is_new))


@handles.click(freeze_actions.FREEZE_MOVE, freeze_actions.WINDOW_MOVE)
async def open_move_form(call: Call, click: Interaction) -> None:
    """With the times as they are now; without a form where there is nothing to move any more."""
    control = call.control(click)
    await call.permit(Action.FREEZE, control.target)
    if click.action_id == freeze_actions.WINDOW_MOVE:
        await call.permit(Action.SKIP, control.target)
    entry = await _stored_entry(call, control)
    if entry is not None:
        await call.open_modal(_move_form(call, click, entry))
    elif click.action_id == freeze_actions.FREEZE_MOVE:
        await _open_listed_move_form(call, click, control)
    else:
        await call.reply(freeze_forms.gone(control.repository))


def _move_form(call: Call, click: Interaction, entry: CalendarEntry) -> View:
    return calendar.move_form(entry, click.action_id, click.chosen, call.channel_id)


async def _open_listed_move_form(call: Call, click: Interaction, control: controls.Control) -> None:
    """The service lists a freeze before it is stored.

    A trigger is valid for three seconds, so the service is asked once a form is open.
    """
    reading = sentence(freeze_forms.READING_FREEZES)
    turn = await call.open_modal(modal.result_modal(reading, call.channel_id))
    try:
        entry = await _listed_entry(call, control)
    except MergeQueueError as error:
        failure = sentence(sentence_of(error, call.bot.command))
        await call.show_in_modal(turn, modal.result_modal(failure, call.channel_id))
        return
    if entry is None:
        gone = freeze_forms.gone(control.repository)
        await call.show_in_modal(turn, modal.result_modal(gone, call.channel_id))
        return
    await call.show_in_modal(turn, _move_form(call, click, entry))


async def _stored_entry(call: Call, control: controls.Control) -> CalendarEntry | None:
    """What the calendar shows of it."""
    windows = call.bot.use.apply_windows
    now = call.bot.clock.now()
    entries = await call.bot.sources.store.read(windows.read_calendar, [control.repository], now)
    return _planned_entry(entries, control.drawn_for)


async def _listed_entry(call: Call, control: controls.Control) -> CalendarEntry | None:
    """The same of a freeze as the service lists it; raises MergeQueueError."""
    listed = await call.bot.use.freeze_queue.meant(control.repository, control.drawn_for)
    next_start = call.bot.use.apply_windows.next_start
    entries = calendar_of(listed, (), {}, call.bot.clock.now(), next_start)
    return _planned_entry(entries, control.drawn_for)


def _planned_entry(entries: Sequence[CalendarEntry], drawn_for: str) -> CalendarEntry | None:
    for entry in entries:
        is_freeze = entry.freeze_id == drawn_for
        is_occurrence = entry.occurrence is not None and entry.occurrence.name == drawn_for
        if (is_freeze or is_occurrence) and entry.state is EntryState.PLANNED:
            return entry
    return None


@handles.form(freeze_actions.MOVE_VIEW)
async def submit_move(call: Call, form: Interaction) -> Accepted:
    with field_checked(freeze_actions.START_BLOCK):
        control = call.control(form.target)
    start = form.picked_time(freeze_actions.START_BLOCK)
    end = form.picked_end
    if start is None or start <= call.bot.clock.now():
        raise FormMistake(freeze_actions.START_BLOCK, calendar.PAST_START)
    if end is not None and end <= start:
        raise FormMistake(controls.END_AT_BLOCK, calendar.END_BEFORE_START)
    drawn_for = None
    if form.carried.action == freeze_actions.FREEZE_MOVE:
        begins, *ends = map(datetime.fromisoformat, form.carried.seen.split())
        drawn_for = Times(begins, ends[0] if ends else None)
    choice = MoveChoice(form.target, Times(start, end), drawn_for)
    return Accepted(
        freeze_forms.freeze_under_way("Moving", control.target),
        partial(_move, choice=choice),
        Repeat(freeze_actions.MOVE_AGAIN, controls.value_of(choice)),
    )


@handles.click(freeze_actions.MOVE_AGAIN)
async def move_again(call: Call, click: Interaction) -> None:
    choice = controls.read_value(MoveChoice, click.chosen, call.bot.repositories)
    if choice.times.start <= call.bot.clock.now():
        await call.reply(freeze_forms.start_passed(call.control(choice.control).repository))
        return
    await _move(call, choice)


async def _move(call: Call, choice: MoveChoice) -> None:
    control = call.control(choice.control)
    if choice.drawn_for is None:
        await _move_occurrence(call, control, choice.times)
    else:
        await _move_freeze(call, control, choice.times, drawn_for=choice.drawn_for)


async def _move_freeze(
    call: Call, control: controls.Control, times: Times, *, drawn_for: Times
) -> None:
    outcome = await call.bot.use.freeze_queue.move(
        call.caller, control.repository, control.drawn_for, times, drawn_for=drawn_for
    )
    if outcome.because is not None:
        await call.reply(answer_unchanged(call, control.repository, outcome))
    else:
        await call.reply(freeze_forms.end_changed(outcome.freezes[0], outcome.beside))


async def _move_occurrence(call: Call, control: controls.Control, times: Times) -> None:
    """A freeze in its place first: if only one of the two is done, merging waits longer."""
    await call.permit(Action.SKIP, control.target)
    windows = call.bot.use.apply_windows
    key = read_key(control.repository, control.drawn_for)
    planned = windows.planned(key)
    if planned is None or not await windows.is_to_come(key):
        await call.reply(freeze_forms.gone(control.repository))
        return
    lasting = at_instant(times.end) if times.end is not None else None
    asked = Asked(planned.window.reason, start=at_instant(times.start), lasting=lasting)
    outcome = await call.bot.use.freeze_queue.freeze(call.caller, control.repository, asked)
    if outcome.because is not None:
        await call.reply(answer_unchanged(call, control.repository, outcome))
        return
    (made,) = outcome.freezes
    skipped, is_new = await windows.skip(call.caller, key)
    now = call.bot.clock.now()
    if is_new:
        await call.reply(freeze_forms.window_moved(made, now))
    else:
        await call.reply(freeze_forms.window_not_skipped(made, skipped, now))
