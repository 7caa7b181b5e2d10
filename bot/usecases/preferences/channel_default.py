"""Say which repository is meant in a channel when none is typed."""

from dataclasses import dataclass, replace

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Origin
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import ActLog


@dataclass(frozen=True, slots=True)
class DefaultRequest:
    """For which channel; `repository` None forgets the one there is."""

    channel_id: str
    repository: RepositoryName | None
    actor: Actor
    origin: Origin


@dataclass(frozen=True, slots=True)
class ChannelDefault:
    """One for everybody in the channel, so a change of it is told and put on record."""

    acts: ActLog

    async def of(self, channel_id: str) -> RepositoryName | None:
        return await self.acts.store.run(
            lambda transaction: transaction.channel_defaults.of(channel_id)
        )

    async def change(self, request: DefaultRequest) -> bool:
        """Whether it was another, or none, before. Raises PermissionDenied."""
        before = await self.of(request.channel_id)
        about = request.repository or before
        if about is None:
            return False
        act = AuditRecord(
            at=self.acts.clock.now(),
            actor=request.actor,
            action=Action.DEFAULT,
            origin=request.origin,
            repository=about,
            result=ActResult.STARTED,
            channel_id=request.channel_id,
            heard_before=str(before or ""),
            heard_after=str(request.repository or ""),
        )
        await self.acts.permit(act)
        changed = before != request.repository
        result = ActResult.DONE if changed else ActResult.UNCHANGED
        await self.acts.store.run(_set, request, replace(act, result=result))
        return changed


def _set(transaction: Transaction, request: DefaultRequest, done: AuditRecord) -> None:
    if request.repository is None:
        transaction.channel_defaults.forget(request.channel_id)
    else:
        transaction.channel_defaults.set(request.channel_id, request.repository)
    transaction.audit.add(done)
