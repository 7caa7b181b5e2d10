"""A page of the audit: who did what, when, from where, with the change and the result."""

from dataclasses import replace

from bot.acts.permission import Right
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import RIGHT_OF_ACTION, Action, ActResult, AuditPage, AuditRecord, Circumstance
from bot.blocks import blocks, controls as block_controls
from bot.blocks.groups import name_of
from bot.blocks.message import Block, Message
from bot.blocks.text import NAME_LIMIT, cut_markup, escape, local_time, quote
from bot.kernel.actor import Origin
from bot.questions import actions as question_actions

DETAIL_LIMIT = 120
RECORD_LIMIT = 900

_VERBS = {
    Action.PAUSE: ("paused", "pause", ""),
    Action.RESUME: ("resumed", "resume", ""),
    Action.EXTEND: ("extended", "extend", "the pause of"),
    Action.KEEP: ("removed", "remove", "the end of the pause of"),
    Action.SNOOZE: ("put off", "put off", "the reminders of the pause of"),
    Action.FREEZE: ("froze", "freeze", ""),
    Action.UNFREEZE: ("ended", "end", "the freeze of"),
    Action.CHANGE_FREEZE: ("changed", "change", "the end of the freeze of"),
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
    of = escape(page.selection.repository or "all repositories")
    if page.selection.group is not None:
        of = name_of(page.selection.group)
    since = page.selection.since
    back = f", since {local_time(since)}" if since is not None else ""
    if not page.records:
        return blocks.sentence(f"Actions in {of}{back}: none recorded.")
    shown: list[Block] = [blocks.section(f"*Actions in {of}{back}*")]
    shown += [blocks.section(cut_markup(_record(record), RECORD_LIMIT)) for record in page.records]
    turns = (
        (page.has_newer, "Newer", question_actions.AUDIT_NEWER, page.records[0]),
        (page.has_older, "Older", question_actions.AUDIT_OLDER, page.records[-1]),
    )
    selection = replace(page.selection, repositories=())
    controls = [
        blocks.button(
            label,
            action_id=action_id,
            value=block_controls.value_of(question_actions.AuditTarget(selection, edge.position)),
        )
        for is_there, label, action_id, edge in turns
        if is_there
    ]
    return blocks.message(*shown, *([blocks.actions(controls)] if controls else []))


def _record(record: AuditRecord) -> str:
    mark, result = _RESULTS[record.result]
    who = quote(record.actor.name, NAME_LIMIT) or escape(record.actor.user_id)
    who = f"{who}'s timer" if record.origin is Origin.TIMER else who
    done, tried, to_what = _VERBS[record.action]
    verb = done if record.result is ActResult.DONE else f"tried to {tried}"
    if record.waits_for_second:
        verb = f"asked to {tried}"
    did = f"{verb} {to_what.format(pull_request=f'#{record.pull_request}')}".rstrip()
    reason = f": {quote(record.reason, REASON_LIMIT)}" if record.reason else ""
    if record.times > 1:
        result = f"{result.removesuffix('.')}, {record.times:,} times within a minute."
    where = f" {escape(record.repository)}" if record.repository else ""
    sentence = f"{mark} *{who}* {did}{where}{reason}"
    line = " · ".join(filter(None, [local_time(record.at), _WHERE[record.origin], *_facts(record)]))
    return f"{sentence}. {result}\n{line}" if result else f"{sentence}\n{line}"


def _facts(record: AuditRecord) -> list[str]:
    # Direct conversations have no name to show.
    is_named = (record.channel_id or "").startswith(("C", "G"))
    channel = f"in <#{escape(record.channel_id or '')}>" if is_named else ""
    group = ""
    end = ""
    answer = ""
    change = ""
    if record.group.name is not None:
        group = f"as part of {name_of(record.group.name)}"
    if record.resumes_at is not None:
        word = "ends" if RIGHT_OF_ACTION[record.action] is Right.FREEZE else "resumes"
        end = f"{word} {local_time(record.resumes_at)}"
    outcome = record.outcome
    if outcome.answer and record.result not in {ActResult.DONE, ActResult.UNCHANGED}:
        answer = f"the service's response: {quote(outcome.answer, DETAIL_LIMIT)}"
    is_as_author = outcome.circumstance is Circumstance.AS_AUTHOR and outcome.detail is None
    is_shown = not outcome.answer or is_as_author
    detail = quote(outcome.explanation, DETAIL_LIMIT) if is_shown else ""
    if record.setting.after is not None:
        before = quote(record.setting.before or "", DETAIL_LIMIT)
        after = quote(record.setting.after, DETAIL_LIMIT)
        change = f"before: {before or 'none'}, now: {after or 'none'}"
    elif record.previous_reason:
        change = f"previous reason: {quote(record.previous_reason, DETAIL_LIMIT)}"
    return [channel, group, change, end, answer, detail, _two_people(record)]


def _two_people(record: AuditRecord) -> str:
    """Who else takes part in an act that takes two people."""
    if record.waits_for_second:
        return "waiting for a second person"
    if record.confirmation is None or record.confirmation.asked_by is None:
        return ""
    first = record.confirmation.asked_by
    second = record.actor
    asked, confirmed = (quote(person.name, NAME_LIMIT) for person in (first, second))
    return f"asked for by {asked}, confirmed by {confirmed}"
