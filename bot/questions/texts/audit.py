"""A page of the audit: who did what, when, from where, with the change and the result."""

from dataclasses import replace

from bot.acts.permission import Right, is_machine
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import (
    RIGHT_OF_ACTION,
    Action,
    ActResult,
    AuditPage,
    AuditRecord,
    AuditSelection,
    Circumstance,
)
from bot.blocks import blocks, controls as block_controls
from bot.blocks.groups import name_of
from bot.blocks.message import Block, Message
from bot.blocks.text import NAME_LIMIT, cut_markup, escape, literal, local_time, quote
from bot.kernel.actor import Origin
from bot.questions import actions as question_actions

DETAIL_LIMIT = 120
RECORD_LIMIT = 900

_VERBS = {
    Action.PAUSE: ("paused", "pause", ""),
    Action.RESUME: ("resumed", "resume", ""),
    Action.EXTEND: ("extended", "extend", "the pause of"),
    Action.KEEP: ("removed", "remove", "the end of the pause of"),
    Action.TAKE_OVER: ("took over", "take over", "the pause of"),
    Action.SNOOZE: ("put off", "put off", "the reminders of the pause of"),
    Action.FREEZE: ("froze", "freeze", ""),
    Action.UNFREEZE: ("ended", "end", "the freeze of"),
    Action.CHANGE_FREEZE: ("changed", "change", "the end of the freeze of"),
    Action.MOVE_FREEZE: ("moved", "move", "the planned freeze of"),
    Action.ALLOW: ("let", "let", "a pull request through the freeze of"),
    Action.SUBSCRIBE: ("subscribed", "subscribe", "a channel to"),
    Action.UNSUBSCRIBE: ("unsubscribed", "unsubscribe", "a channel from"),
    Action.DEFAULT: ("changed", "change", "the default of a channel,"),
    Action.BOARD: ("added", "add", "a board for"),
    Action.END_BOARD: ("removed", "remove", "the board for"),
    Action.REMOVE: ("removed", "remove", "{pull_request} from the queue of"),
    Action.PLAN: ("planned", "plan", "a pause of"),
    Action.SKIP: ("skipped", "skip", "a planned pause of"),
    Action.LINK: ("linked", "link", "their login"),
    Action.UNLINK: ("unlinked", "unlink", "their login"),
    Action.FORGET: ("forgot", "forget", "a person"),
    Action.RENAME: ("renamed", "rename", "a repository, now"),
    Action.FORGET_REPOSITORY: ("forgot", "forget", "all but the audit of"),
}
"""What was done, what was tried if it failed or its result is unknown, and to what."""

_OF_NO_REPOSITORY = frozenset({Action.LINK, Action.UNLINK, Action.FORGET})

_RESULTS = {
    ActResult.STARTED: (":hourglass_flowing_sand:", "The result is unknown."),
    ActResult.DONE: (":white_check_mark:", ""),
    ActResult.ASKED: (":hourglass_flowing_sand:", ""),
    ActResult.UNCHANGED: (":heavy_minus_sign:", "Nothing changed."),
    ActResult.REFUSED: (":no_entry:", "That was refused."),
    ActResult.FAILED: (":warning:", "That failed."),
}

_WHERE = {
    Origin.COMMAND: "by command",
    Origin.BUTTON: "by button",
    Origin.MODAL: "in the form",
    Origin.SHORTCUT: "by shortcut",
    Origin.HOME: "in the Home tab",
    Origin.TIMER: "by timer",
    Origin.MACHINE: "by a machine",
    Origin.RULE: "by a rule",
    Origin.OPERATOR: "with mqbot on the command line",
    Origin.LOG: "as the event log says",
}


def audit(page: AuditPage) -> Message:
    """Newest first, with *Older* and *Newer* where there is more."""
    title = f"Actions in {_selected(page.selection)}"
    if not page.records:
        return blocks.sentence(f"{title}: none recorded.")
    entries = [cut_markup(_entry(record), RECORD_LIMIT) for record in page.records]
    shown: list[Block] = [blocks.section(f"*{title}*")]
    shown += [blocks.section(entry) for entry in entries]

    turns = []
    if page.has_newer:
        turns.append(_turn("Newer", question_actions.AUDIT_NEWER, page, page.records[0]))
    if page.has_older:
        turns.append(_turn("Older", question_actions.AUDIT_OLDER, page, page.records[-1]))
    if turns:
        shown.append(blocks.actions(turns))
    return blocks.message(*shown)


def _selected(selection: AuditSelection) -> str:
    """Of which repositories, and since when."""
    where = escape(selection.repository or "all repositories")
    if selection.group is not None:
        where = name_of(selection.group)
    if selection.since is None:
        return where
    return f"{where}, since {local_time(selection.since)}"


def _turn(label: str, action_id: str, page: AuditPage, edge: AuditRecord) -> blocks.Element:
    """The button for the page beyond `edge`, the first or last record of this one."""
    # A button doesn't carry the repositories of a group, which may change meanwhile.
    selection = replace(page.selection, repositories=())
    target = question_actions.AuditTarget(selection, edge.position)
    return blocks.button(label, action_id=action_id, value=block_controls.value_of(target))


def _entry(record: AuditRecord) -> str:
    """Two lines: who did what with which result; when, from where, and the facts."""
    mark, result = _RESULTS[record.result]
    if record.times > 1:
        result = f"{result.removesuffix('.')}, {record.times:,} times within a minute."
    reason = f": {literal(record.reason, REASON_LIMIT)}" if record.reason else ""
    sentence = f"{mark} *{_who(record)}* {_did(record)}{reason}"
    if result:
        sentence += f". {result}"

    facts = [local_time(record.at), _WHERE[record.where.origin], *_act_facts(record)]
    return f"{sentence}\n{' · '.join(filter(None, facts))}"


def _who(record: AuditRecord) -> str:
    who = quote(record.actor.name, NAME_LIMIT) or escape(record.actor.user_id)
    return f"{who}'s timer" if record.where.origin is Origin.TIMER else who


def _did(record: AuditRecord) -> str:
    """What they did, or tried, to which repository."""
    done, tried, to_what = _VERBS[record.action]
    verb = f"tried to {tried}"
    if record.result is ActResult.DONE:
        verb = done
    elif record.is_declined:
        verb = f"refused to {tried}"
    elif record.is_proposal:
        verb = f"proposed to {tried}"
    elif record.waits_for_second:
        verb = f"asked to {tried}"
    number = record.pull_request
    what = to_what.format(pull_request=f"#{number}" if number is not None else "a pull request")
    repository = escape(record.repository)
    if not record.repository and record.action not in _OF_NO_REPOSITORY:
        # One row counts many refusals.
        repository = "a repository"
    return " ".join(filter(None, [verb, what, repository]))


def _act_facts(record: AuditRecord) -> list[str]:
    """The facts that the record has; empty texts for those that it hasn't."""
    group = record.group.name
    part = f"as part of {name_of(group)}" if group is not None else ""
    return [
        _channel(record),
        part,
        _what_was_before(record),
        _ends_by_itself(record),
        *_outcome_facts(record),
        _two_people(record),
    ]


def _channel(record: AuditRecord) -> str:
    channel_id = record.where.channel_id or ""
    # Direct conversations have no name to show.
    is_named = channel_id.startswith(("C", "G"))
    return f"in <#{escape(channel_id)}>" if is_named else ""


def _what_was_before(record: AuditRecord) -> str:
    """What was there before."""
    setting = record.setting
    if setting.after is not None:
        before = quote(setting.before or "", DETAIL_LIMIT) or "none"
        after = quote(setting.after, DETAIL_LIMIT) or "none"
        return f"before: {before}, now: {after}"
    if record.previous.reason:
        return f"previous reason: {literal(record.previous.reason, DETAIL_LIMIT)}"
    return ""


def _ends_by_itself(record: AuditRecord) -> str:
    """When the pause or freeze ends by itself."""
    if record.resumes_at is None:
        return ""
    is_freeze = RIGHT_OF_ACTION[record.action] is Right.FREEZE
    return f"{'ends' if is_freeze else 'resumes'} {local_time(record.resumes_at)}"


def _outcome_facts(record: AuditRecord) -> list[str]:
    """The service's answer, and what is known beside it."""
    outcome = record.outcome
    shown = []
    if outcome.answer and record.result not in {ActResult.DONE, ActResult.UNCHANGED}:
        shown.append(f"the service's response: {quote(outcome.answer, DETAIL_LIMIT)}")
    # The detail of an act with an answer mostly repeats the answer.
    is_as_author = outcome.circumstance is Circumstance.AS_AUTHOR and outcome.detail is None
    if not outcome.answer or is_as_author:
        shown.append(quote(outcome.explanation, DETAIL_LIMIT))
    return shown


def _two_people(record: AuditRecord) -> str:
    """Who else takes part in an act that takes two people."""
    if record.is_proposal:
        return "a machine's proposal, waiting for approval"
    first_actor = record.confirmation.asked_by if record.confirmation is not None else None
    if first_actor is None:
        return "waiting for a second person" if record.waits_for_second else ""
    first = quote(first_actor.name, NAME_LIMIT)
    second = quote(record.actor.name, NAME_LIMIT)
    if record.is_declined:
        return f"proposed by {first}, refused by {second}"
    if record.waits_for_second:
        return f"proposed by {first}, approved by {second}, waiting for a second person"
    if is_machine(first_actor.user_id):
        return f"proposed by {first}, approved by {second}"
    return f"asked for by {first}, confirmed by {second}"
