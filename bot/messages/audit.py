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
    of = escape(page.selection.repository or "all repositories")
    since = page.selection.since
    back = f", since {local_time(since)}" if since is not None else ""
    headline = f"Actions in {of}{back}"
    if not page.records:
        return blocks.sentence(f"{headline}: none recorded.")
    shown: list[Block] = [blocks.section(f"*{headline}*")]
    shown += [blocks.section(cut_markup(_record(one), RECORD_LIMIT)) for one in page.records]
    controls = _controls(page)
    if controls:
        shown.append(blocks.actions(controls))
    return blocks.message(*shown)


def _controls(page: AuditPage) -> list[blocks.Element]:
    controls = []
    if page.has_newer:
        target = actions.AuditTarget(page.selection, page.records[0].place)
        controls.append(_button("Newer", actions.AUDIT_NEWER, target))
    if page.has_older:
        target = actions.AuditTarget(page.selection, page.records[-1].place)
        controls.append(_button("Older", actions.AUDIT_OLDER, target))
    return controls


def _button(label: str, action_id: str, target: actions.AuditTarget) -> blocks.Element:
    return blocks.button(label, action_id=action_id, value=actions.value_of(target))


def _record(record: AuditRecord) -> str:
    facts = [
        local_time(record.at),
        _WHERE[record.origin],
        _channel(record.channel_id),
        _group(record),
        _change(record),
        _end(record),
        _answer(record),
        quote(record.detail, DETAIL_LIMIT) if record.detail and not record.answer else "",
    ]
    line = " · ".join(fact for fact in facts if fact)
    mark, result = _RESULTS[record.result]
    sentence = f"{mark} *{_who(record)}* {_what(record)}"
    return f"{sentence}. {result}\n{line}" if result else f"{sentence}\n{line}"


def _end(record: AuditRecord) -> str:
    if record.resumes_at is None:
        return ""
    word = "ends" if RIGHTS[record.action] is Right.FREEZE else "resumes"
    return f"{word} {local_time(record.resumes_at)}"


def _answer(record: AuditRecord) -> str:
    """The service's response to an action that was refused or failed."""
    if not record.answer or record.result in {ActResult.DONE, ActResult.UNCHANGED}:
        return ""
    return f"the service's response: {quote(record.answer, DETAIL_LIMIT)}"


def _who(record: AuditRecord) -> str:
    name = quote(record.actor.name, NAME_LIMIT) or escape(record.actor.user_id)
    return f"{name}'s timer" if record.origin is Origin.TIMER else name


def _what(record: AuditRecord) -> str:
    reason = f": {quote(record.reason, REASON_LIMIT)}" if record.reason else ""
    done, tried, to_what = _VERBS[record.action]
    verb = done if record.result is ActResult.DONE else f"tried to {tried}"
    to_what = to_what.format(pull_request=f"#{record.pull_request}")
    did = " ".join(filter(None, [verb, to_what]))
    return f"{did} {escape(record.repository)}{reason}"


def _channel(channel_id: str | None) -> str:
    """Direct conversations have no name to show."""
    if channel_id is None or not channel_id.startswith(("C", "G")):
        return ""
    return f"in <#{escape(channel_id)}>"


def _group(record: AuditRecord) -> str:
    if record.group is None:
        return ""
    return "as part of all" if record.group == ALL else f"as part of @{escape(record.group)}"


def _change(record: AuditRecord) -> str:
    if record.setting_after is not None:
        before = quote(record.setting_before or "", DETAIL_LIMIT)
        after = quote(record.setting_after, DETAIL_LIMIT)
        return f"before: {before or 'none'}, now: {after or 'none'}"
    if record.previous_reason:
        return f"previous reason: {quote(record.previous_reason, DETAIL_LIMIT)}"
    return ""
