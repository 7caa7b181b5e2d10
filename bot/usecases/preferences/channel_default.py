"""Set a channel's default repository."""

from dataclasses import dataclass, replace

from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import ActLog


@dataclass(frozen=True, slots=True)
class ChannelDefault:
    """Concerns everybody in the channel, so a change is posted and audited."""

    acts: ActLog

    async def of(self, channel_id: str) -> RepositoryName | None:
        return await self.acts.store.run(
            lambda transaction: transaction.channel_defaults.of(channel_id)
        )

    async def change(self, repository: RepositoryName | None, caller: Caller) -> bool:
        """Change or clear (None) it; return whether it changed. Raises PermissionDenied."""
        before = await self.of(caller.place)
        about = repository or before
        if about is None:
            return False
        act = replace(
            self.acts.record(caller, Action.DEFAULT, about),
            setting_before=str(before or ""),
            setting_after=str(repository or ""),
        )
        await self.acts.permit(act)
        changed = before != repository
        result = ActResult.DONE if changed else ActResult.UNCHANGED
        done = replace(act, result=result)
        await self.acts.store.run(_set, caller.place, repository, done)
        return changed


def _set(
    transaction: Transaction,
    channel_id: str,
    repository: RepositoryName | None,
    done: AuditRecord,
) -> None:
    if repository is None:
        transaction.channel_defaults.forget(channel_id)
    else:
        transaction.channel_defaults.set(channel_id, repository)
    transaction.audit.add(done)
