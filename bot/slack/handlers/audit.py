"""The audit, newest first. Only the caller sees it."""

from datetime import timedelta

from bot.domain.audit import AuditSelection
from bot.domain.repository import RepositoryName
from bot.messages import actions, audit
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking import audit as show_audit


@handles.command("audit")
async def newest(call: Call, repository: RepositoryName | None, *, since: timedelta) -> None:
    selection = AuditSelection(repository, call.bot.clock.now() - since)
    page = await show_audit.newest(call.bot.sources.store, selection)
    await call.reply(audit.audit(page))


@handles.click(actions.AUDIT_OLDER, actions.AUDIT_NEWER)
async def turn_page(call: Call, click: Interaction) -> None:
    """Raises PermissionDenied."""
    await call.admit()
    target = actions.read_value(actions.AuditTarget, click.chosen, call.bot.repositories)
    is_older = click.action.action_id == actions.AUDIT_OLDER
    turn = show_audit.older if is_older else show_audit.newer
    page = await turn(call.bot.sources.store, target.selection, target.place)
    await call.replace_message(audit.audit(page))
