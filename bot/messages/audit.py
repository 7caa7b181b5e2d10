"""A page of the audit: who did what, when, from where, with the change and the result."""

from bot.domain.audit import RIGHTS, Action, ActResult, AuditPage, AuditRecord, Origin
from bot.domain.groups import ALL
from bot.domain.message import Block, Message
from bot.domain.pauses import REASON_LIMIT
from bot.domain.permissions import Right
from bot.messages import actions, blocks
from bot.messages.text import NAME_LIMIT, cut_markup, escape, local_time, quote

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
    Action.BOARD: ("put up", "put up", "the board of"),
    Action.END_BOARD: ("took down", "take down", "the board of"),
    Action.REMOVE: ("removed", "remove", "{pull_request} from the queue of"),
    Action.PLAN: ("planned", "plan", "a pause of"),
    Action.SKIP: ("skipped", "skip", "a planned pause of"),
}
"""What was done, what was tried if it failed or its result is unknown, and to what."""

_RESULTS = {
    ActResult.STARTED: (":hourglass_flowing_sand:", "The result isn't known."),
    ActResult.DONE: (":white_check_mark:", ""),
    ActResult.UNCHANGED: (":heavy_minus_sign:", "Nothing had to change."),
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
}


def audit(page: AuditPage) -> Message:
    """Newest first, with *Older* and *Newer* where there is more."""
    of, since = escape(page.selection.repository or "all repositories"), page.selection.since
    back = f", since {local_time(since)}" if since is not None else ""
    if not page.records:
        return blocks.sentence(f"Actions in {of}{back}: none recorded.")
    shown: list[Block] = [blocks.section(f"*Actions in {of}{back}*")]
    shown += [blocks.section(cut_markup(_record(one), RECORD_LIMIT)) for one in page.records]
    turns = (
        (page.has_newer, "Newer", actions.AUDIT_NEWER, page.records[0]),
        (page.has_older, "Older", actions.AUDIT_OLDER, page.records[-1]),
    )
    controls = [
        blocks.button(
            label,
            action_id=action_id,
            value=actions.value_of(actions.AuditTarget(page.selection, edge.place)),
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
    did = f"{verb} {to_what.format(pull_request=f'#{record.pull_request}')}".rstrip()
    reason = f": {quote(record.reason, REASON_LIMIT)}" if record.reason else ""
    sentence = f"{mark} *{who}* {did} {escape(record.repository)}{reason}"
    line = " · ".join(filter(None, [local_time(record.at), _WHERE[record.origin], *_facts(record)]))
    return f"{sentence}. {result}\n{line}" if result else f"{sentence}\n{line}"


def _facts(record: AuditRecord) -> list[str]:
    # Direct conversations have no name to show.
    is_named = (record.channel_id or "").startswith(("C", "G"))
    channel = f"in <#{escape(record.channel_id or '')}>" if is_named else ""
    group, end, answer, change = "", "", "", ""
    if record.group is not None:
        group = "as part of all" if record.group == ALL else f"as part of @{escape(record.group)}"
    if record.resumes_at is not None:
        word = "ends" if RIGHTS[record.action] is Right.FREEZE else "resumes"
        end = f"{word} {local_time(record.resumes_at)}"
    if record.answer and record.result not in {ActResult.DONE, ActResult.UNCHANGED}:
        answer = f"the service's response: {quote(record.answer, DETAIL_LIMIT)}"
    detail = "" if record.answer else quote(record.detail or "", DETAIL_LIMIT)
    if record.setting_after is not None:
        before = quote(record.setting_before or "", DETAIL_LIMIT)
        after = quote(record.setting_after, DETAIL_LIMIT)
        change = f"before: {before or 'none'}, now: {after or 'none'}"
    elif record.previous_reason:
        change = f"previous reason: {quote(record.previous_reason, DETAIL_LIMIT)}"
    return [channel, group, change, end, answer, detail]
