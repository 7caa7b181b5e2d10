"""Posts and replies about pausing and resuming a queue."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.acts.asked import Asked
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Action, ActResult, AuditRecord
from bot.blocks import blocks, controls
from bot.blocks.groups import name_of
from bot.blocks.message import Colour, Message
from bot.blocks.text import (
    NAME_LIMIT,
    escape,
    joined_with_and,
    literal,
    local_time,
    person,
    plural,
    quote,
    time_ago,
    time_and_age,
)
from bot.kernel.groups import Group, Target
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import QueueStatus
from bot.pauses import actions as pause_actions
from bot.pauses.outcomes import NotPaused, OtherEnd, OtherPause
from bot.pauses.pause import PauseRecord, drawn_line
from bot.pauses.taken_over import (
    AlreadyTheirs,
    NothingToTakeOver,
    TakenOver,
    TakeOverOutcome,
)
from bot.pauses.texts import ends as pause_ends
from bot.pauses.texts.card import PAUSED, by_whom, resume_button
from bot.pauses.texts.ends import ANSWER_SHOWN

TAKEN = ":raising_hand:"


def act_post(record: AuditRecord) -> Message:
    """The post about a new reason, another end, a taking over, or a timer that did nothing."""
    if record.action in {Action.EXTEND, Action.KEEP}:
        return pause_ends.extended(record)
    if record.action is Action.TAKE_OVER:
        return blocks.sentence(f"{TAKEN} *{_taken_over(record, 'the pause')}*")
    if record.action is not Action.PAUSE:
        is_void = record.result is ActResult.UNCHANGED and record.outcome.answer is None
        return pause_ends.void(record) if is_void else pause_ends.timer_refused(record)
    name = escape(record.repository)
    about = literal(record.reason or "", REASON_LIMIT)
    since = record.paused_at or record.at
    line = drawn_line(since, record.stored_reason or "")
    buttons = [
        resume_button(record.repository, line, record.reason or "", record.actor.name),
        pause_ends.extend_menu(record.repository, line, record.resumes_at),
    ]
    if record.previous.paused_at is not None:
        by = person(record.actor.name)
        state = f"*{by} replaced the pause of {name}*"
        was = ""
        if record.previous.reason != record.reason:
            state = f"*{by} changed why {name} is paused*"
            was = f"Reason was: {literal(record.previous.reason or '', REASON_LIMIT)}"
        return blocks.post(
            blocks.state_line(PAUSED, state, about),
            was,
            pause_ends.end_of_act(record),
            buttons=buttons,
        )
    shown = [
        blocks.section(blocks.state_line(PAUSED, f"*{name} is paused*", about)),
        *blocks.facts(
            ("By", person(record.actor.name)),
            ("Since", time_and_age(since, is_near=True)),
            ("Until", pause_ends.until(record.resumes_at, since=since)),
        ),
        blocks.actions(buttons),
    ]
    return blocks.coloured(Colour.YELLOW, blocks.message(*shown))


def changes_post(acts: Sequence[AuditRecord]) -> Message:
    """One entry for what one person changed within two minutes, oldest first."""
    reasons = [act for act in acts if act.action is Action.PAUSE]
    ends = [act for act in acts if act.action in {Action.EXTEND, Action.KEEP}]
    taken = [act for act in acts if act.action is Action.TAKE_OVER]
    first_reason = reasons[0].previous.reason if reasons else None
    if len(list(filter(None, (reasons, ends, taken)))) == 1:
        if not reasons:
            return act_post(acts[-1])
        previous = replace(acts[-1].previous, reason=first_reason)
        return act_post(replace(acts[-1], previous=previous))
    last = acts[-1]
    by = person(last.actor.name)
    end = pause_ends.until((ends or reasons)[-1].resumes_at) if ends or reasons else ""
    shown = [
        blocks.section(f"{PAUSED} *{by} changed the pause of {escape(last.repository)}*"),
        *blocks.facts(
            ("Reason", literal(reasons[-1].reason or "", REASON_LIMIT) if reasons else ""),
            ("Until", end),
            ("Taken over by", by if taken else ""),
        ),
    ]
    if first_reason:
        shown.append(blocks.context(f"Reason was: {literal(first_reason, REASON_LIMIT)}"))
    return blocks.message(*shown)


def _taken_over(record: AuditRecord, pause: str) -> str:
    """Who took over which pause, "the pause" or "your pause", as a sentence."""
    group = record.group.name
    what = name_of(group) if group is not None else escape(record.repository)
    return f"{person(record.actor.name)} took over {pause} of {what}."


def taken_over(outcome: TakeOverOutcome, target: Target) -> Message:
    """To the person who pressed *Take over*."""
    name = name_of(target.name) if isinstance(target, Group) else escape(target)
    match outcome:
        case TakenOver(before=before):
            names = joined_with_and([person(actor.name) for actor in before])
            whose = f"{name} from {names}" if before else name
            said = f"{TAKEN} You took over the pause of {whose}. Its reminders go to you now."
            return blocks.sentence(said)
        case AlreadyTheirs():
            return blocks.sentence(f"The pause of {name} is yours already. Nothing was changed.")
        case NothingToTakeOver(known=PauseRecord() as known):
            return other_pause(known.repository, known)
        case NothingToTakeOver():
            return blocks.sentence(f"The pause of {name} is over. Nothing was changed.")


def changed_by_other(record: AuditRecord) -> Message:
    """To the person responsible for the pause: what somebody else did to it."""
    name = escape(record.repository)
    by = person(record.actor.name)
    match record.action:
        case Action.TAKE_OVER:
            rest = "You get no more reminders of it."
            return blocks.sentence(f"{TAKEN} {_taken_over(record, 'your pause')} {rest}")
        case Action.KEEP:
            return blocks.sentence(
                f":alarm_clock: {by} removed the end of your pause of {name}. It stays paused "
                "until someone resumes it."
            )
        case Action.EXTEND:
            end = pause_ends.until(record.resumes_at)
            return blocks.sentence(
                f":alarm_clock: {by} changed the end of your pause of {name} to {end}."
            )
        case _:
            return replaced(record)


def not_paused_by_rule(record: AuditRecord) -> Message:
    """The post about a pause that a rule decided on and can't carry out."""
    answer = quote(record.outcome.answer or record.outcome.explanation, ANSWER_SHOWN)
    why = f" The merge queue service answered “{answer}”." if answer else ""
    reason = literal(record.reason or "", REASON_LIMIT)
    return blocks.sentence(
        f":warning: *{escape(record.repository)} should be paused, and isn't yet*: {reason}.{why} "
        "I'll keep trying while the failures last."
    )


def paused_reply(record: AuditRecord) -> Message:
    """To the actor only, if there is no channel to post to."""
    end = f", {pause_ends.end_of_act(record)}" if record.resumes_at else ""
    return blocks.sentence(f":double_vertical_bar: {escape(record.repository)} is paused{end}.")


def replaced(record: AuditRecord) -> Message:
    """To the person whose pause it was; without a previous reason, it had ended unseen."""
    name = escape(record.repository)
    by = person(record.actor.name)
    what = f"{by} replaced your pause of {name}."
    was = literal(record.previous.reason or "", REASON_LIMIT)
    if record.previous.reason is None:
        what = f"Your pause of {name} had ended, and {by} paused it again."
    elif record.previous.reason == record.reason:
        was = ""
    return blocks.post(
        f":double_vertical_bar: {what} It now says: {literal(record.reason or '', REASON_LIMIT)}",
        f"Reason was: {was}" if was else "",
        pause_ends.end_of_act(record),
    )


def left_alone(repository: RepositoryName, found: NotPaused | OtherPause | OtherEnd) -> Message:
    """The reply to a person for whom nothing was changed: what is in force now."""
    match found:
        case NotPaused(is_answer_lost=True):
            return resumed_unseen(repository)
        case NotPaused(ended=ended):
            return not_paused(repository, ended)
        case OtherPause(known=known):
            return other_pause(repository, known)
        case OtherEnd(known=known):
            return pause_ends.other_end(repository, known)


def not_paused(repository: RepositoryName, ended: PauseRecord | None = None) -> Message:
    """The reply to resuming a running queue. `ended` is the last pause, if its end is known."""
    if ended is None or ended.ended_at is None:
        return blocks.sentence(f"{escape(repository)} is not paused. Nothing to do.")
    how = "it resumed"
    if ended.ended_by is not None and ended.is_ended_by_timer:
        how = f"it resumed by itself at the time {quote(ended.ended_by.name, NAME_LIMIT)} set,"
    elif ended.ended_by is not None:
        how = f"{quote(ended.ended_by.name, NAME_LIMIT)} resumed it"
    return blocks.sentence(
        f"{escape(repository)} is already running: {how} {time_ago(ended.ended_at)}."
    )


def resumed_unseen(repository: RepositoryName) -> Message:
    """The reply to a resume whose answer was lost, once the queue runs."""
    return blocks.sentence(
        f":arrow_forward: {escape(repository)} is not paused any more. The service's answer was "
        "lost, so I can't tell whether your request resumed it."
    )


def resumed_reply(repository: RepositoryName) -> Message:
    """To a machine, which sees no channel."""
    return blocks.sentence(f":arrow_forward: {escape(repository)} has resumed.")


def left_as_paused(known: PauseRecord) -> Message:
    """To a machine that can't be asked whether to replace the pause."""
    return blocks.sentence(f":double_vertical_bar: {_still_paused(known)}. Nothing was changed.")


def not_your_pause(known: PauseRecord) -> Message:
    """To a machine that resumes only what it paused, unless it says otherwise."""
    return blocks.sentence(
        f":double_vertical_bar: {_still_paused(known)}. That isn't your pause, so nothing was "
        "changed; `--any` (in JSON: `any`) resumes it."
    )


def _still_paused(known: PauseRecord) -> str:
    facts = ", ".join(filter(None, pause_times(known)))
    reason = literal(known.line.reason, REASON_LIMIT)
    return f"{escape(known.repository)} is already paused{by_whom(known)} ({facts}): {reason}"


def already_paused(
    repository: RepositoryName, known: PauseRecord, asked: Asked, *, is_same: bool = False
) -> Message:
    """The reply to a second pause: by whom, since when and why, and a button to replace it.

    `is_same`: it is their own pause, with that reason and that end. Without an end, the replacement
    keeps the current one.
    """
    paused = f"{escape(repository)} is already paused{by_whom(known)}"
    shown = [
        blocks.section(
            f":double_vertical_bar: {paused}: {literal(known.line.reason, REASON_LIMIT)}"
        ),
        blocks.context(*pause_times(known)),
    ]
    if is_same:
        return blocks.message(*shown, blocks.context("This is your own pause."))
    label = "Replace reason"
    end = pause_ends.UNTIL_RESUMED if known.is_overdue else ""
    choice = pause_actions.PauseChoice(repository, asked, known.drawn)
    if asked.lasting is not None:
        label = "Replace end" if known.line.reason == asked.reason else "Replace reason and end"
        end = pause_ends.typed_ending(asked)
    elif known.resumes_at is not None and not known.is_overdue:
        label = "Replace reason, keep end"
        end = f"still {pause_ends.resumes(known.resumes_at)}"
        choice = replace(choice, keeps_end=True)
    value = controls.value_of(choice)
    buttons = [
        blocks.button(label, action_id=pause_actions.REPLACE, value=value),
        blocks.button("Leave it", action_id=controls.DISMISS, value=repository),
    ]
    yours = blocks.context(f"your reason: {literal(asked.reason, REASON_LIMIT)}", end)
    return blocks.message(*shown, yours, blocks.actions(buttons))


def confirm_pause(
    repository: RepositoryName,
    asked: Asked,
    status: QueueStatus,
    command: str,
    *,
    merge_expected_at: datetime | None,
    by_past: str = "",
) -> Message:
    """The question before a typed pause stops running batches, with the numbers.

    `merge_expected_at`: None where no merge can be expected. `by_past`: what the queue's own past
    says of that; may be empty.
    """
    count = len(status.waiting_pull_requests)
    expected = ""
    if merge_expected_at is not None:
        expected = f"Next merge expected {local_time(merge_expected_at)}"
    waiting = f" {plural(count, 'pull request')} waiting." if count else ""
    value = controls.value_of(pause_actions.PauseChoice(repository, asked))
    return blocks.message(
        blocks.section(
            f":double_vertical_bar: *Pause {escape(repository)}?* {stops(status)}{waiting}"
        ),
        blocks.context(
            expected,
            by_past,
            f"Reason: {literal(asked.reason, REASON_LIMIT)}",
            pause_ends.ending(asked) or pause_ends.UNTIL_RESUMED,
        ),
        blocks.actions(
            [
                blocks.button(
                    "Pause queue",
                    action_id=pause_actions.PAUSE_CONFIRMED,
                    value=value,
                    style="danger",
                ),
                blocks.button("Don't pause", action_id=controls.DISMISS, value="no"),
            ]
        ),
        blocks.context(
            f"Skip this question: `{escape(command)} pause now …`, "
            f"always: `{escape(command)} me confirmations off`"
        ),
    )


def stops(status: QueueStatus | None) -> str:
    """The batches and bisections that a pause stops, and their checks; empty if none is known."""
    if status is None:
        return ""
    running = len(status.running)
    bisecting = len(status.bisecting)
    verb = "stops" if running + bisecting == 1 else "stop"
    stop = f"{stopped_work(running, bisecting)} {verb}"
    runs = [run for batch in status.batches for run in batch.runs()]
    checks = sum(run.checks_summary.total for run in runs)
    if not checks:
        return f"{stop}, and the checks start over later."
    start = plural(checks, "check starts", "checks start")
    return f"{stop}, and {start} over after the pause."


def resume_other(running: RepositoryName, known: PauseRecord) -> Message:
    """The question before resuming another queue than the channel's own, which is running."""
    value = controls.control_value(known.repository, known.drawn.written)
    return blocks.post(
        f":double_vertical_bar: {escape(running)} is running. {escape(known.repository)} is "
        f"paused{by_whom(known)}: {literal(known.line.reason, REASON_LIMIT)}. *Resume it?*",
        *pause_times(known),
        buttons=[
            blocks.button("Resume queue", action_id=pause_actions.RESUME_OTHER, value=value),
            blocks.button("Leave it paused", action_id=controls.DISMISS, value="no"),
        ],
    )


def other_pause(repository: RepositoryName, known: PauseRecord) -> Message:
    """Reply to a stale button: the pause in force now, with a button for it."""
    return blocks.post(
        f":double_vertical_bar: That pause is over. {escape(repository)} is now "
        f"paused{by_whom(known)}: {literal(known.line.reason, REASON_LIMIT)}",
        *pause_times(known),
        buttons=[resume_button(repository, known.drawn, known.line.reason, known.by_name)],
    )


def pause_times(known: PauseRecord) -> tuple[str, str]:
    return (
        f"since {local_time(known.line.paused_at)}",
        pause_ends.resumes(known.resumes_at, is_overdue=known.is_overdue),
    )


def pause_is_over(repository: RepositoryName) -> Message:
    return blocks.sentence(f":arrow_forward: {escape(repository)} is no longer paused.")


def stopped_work(running: int, bisecting: int) -> str:
    """The work that a pause stops; empty for none."""
    batches = plural(running, "running batch", "running batches") if running else ""
    bisections = plural(bisecting, "bisection") if bisecting else ""
    return " and ".join(filter(None, [batches, bisections]))
