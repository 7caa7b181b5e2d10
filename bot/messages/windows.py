"""Pauses of recurring windows: the plan, and that somebody skipped one."""

from bot.domain.audit import Action, AuditRecord
from bot.domain.message import Message
from bot.domain.pauses import REASON_LIMIT
from bot.messages import actions, blocks
from bot.messages.text import NAME_LIMIT, escape, local_time, quote, time_ago


def planned(plan: AuditRecord) -> Message:
    """The post ahead of the pause, with a button that skips it."""
    begins = local_time(plan.paused_at or plan.at)
    value = actions.occurrence_value(plan.repository, plan.setting_after or "")
    return blocks.post(
        f":alarm_clock: *Pause planned* {escape(plan.repository)}: "
        f"{quote(plan.reason or '', REASON_LIMIT)}",
        f"from {begins}",
        f"until {local_time(plan.resumes_at)}" if plan.resumes_at else "",
        f"by {quote(plan.actor.name, NAME_LIMIT)}",
        buttons=[blocks.button("Skip this one", action_id=actions.SKIP, value=value)],
    )


def skipped(act: AuditRecord) -> Message:
    """The post about it."""
    return blocks.post(
        f":fast_forward: *Planned pause skipped* {escape(act.repository)}",
        f"by {quote(act.actor.name, NAME_LIMIT)}",
    )


def skip_reply(settled: AuditRecord, *, is_new: bool) -> Message:
    """To the person who pressed the button."""
    name, repository = quote(settled.actor.name, NAME_LIMIT), escape(settled.repository)
    if is_new:
        return blocks.sentence(f"The planned pause of {repository} won't happen.")
    if settled.action is Action.SKIP:
        return blocks.sentence(
            f"{name} skipped the planned pause of {repository} {time_ago(settled.at)} already."
        )
    return blocks.sentence(
        f"The planned pause of {repository} began {time_ago(settled.at)}. Nothing was changed. "
        "You can resume the queue."
    )
