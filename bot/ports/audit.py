"""What the use cases need of the audit."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.audit import Action, AuditPlace, AuditRecord, AuditSelection
from bot.domain.repository import RepositoryName


class Audit(Protocol):
    """Acts, append-only but for old refusals."""

    async def add(self, record: AuditRecord) -> int:
        """Store and return the record's id."""
        ...

    async def get(self, record_ids: Collection[int]) -> Mapping[int, AuditRecord]: ...

    async def latest(
        self, repository: RepositoryName, action: Action, limit: int = 1
    ) -> Sequence[AuditRecord]:
        """The latest acts that changed the queue (result DONE), newest first."""
        ...

    async def since(self, repository: RepositoryName, at: datetime) -> Sequence[AuditRecord]:
        """All records of the repository from `at` on, oldest first."""
        ...

    async def of_group_act(self, group_act_id: int, at: datetime) -> Sequence[AuditRecord]:
        """All records of the parts of an act on a group, which began at `at`; oldest first."""
        ...

    async def newest(
        self, selection: AuditSelection, limit: int, *, before: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        """The newest of a selection, or those next older than `before`; newest first."""
        ...

    async def oldest(
        self, selection: AuditSelection, limit: int, *, after: AuditPlace | None = None
    ) -> Sequence[AuditRecord]:
        """The oldest of a selection, or those next newer than `after`; oldest first."""
        ...
