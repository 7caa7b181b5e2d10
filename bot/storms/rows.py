"""Storms of failures."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, select

from bot.kernel.repository import RepositoryName
from bot.store.statements import Part, as_row
from bot.storms.storm import FailureStorm
from bot.storms.tables import LASTS, storms

_OF_REPOSITORY = select(storms).where(storms.c.repository == bindparam("repository"))
_OF_BRANCH = _OF_REPOSITORY.where(storms.c.branch.is_not_distinct_from(bindparam("branch")))
_LATEST = _OF_BRANCH.order_by(storms.c.last_at.desc(), storms.c.key).limit(1)
_WITH_FAILURES = _OF_REPOSITORY.where(
    storms.c.began_at <= bindparam("until"), storms.c.last_at >= bindparam("since")
)
_LASTING = select(storms).where(LASTS)
_STORM = _OF_REPOSITORY.where(storms.c.key == bindparam("key"))


class Storms(Part):
    """Storms; the latest one of a branch may last."""

    def save(self, storm: FailureStorm) -> None:
        """Insert, or replace the row with the same key."""
        self._put(storms, as_row(storms, storm))

    def one(self, repository: RepositoryName, key: str) -> FailureStorm | None:
        return self._first(FailureStorm, _STORM, repository=repository, key=key)

    def latest(self, repository: RepositoryName, branch: str | None) -> FailureStorm | None:
        return self._first(FailureStorm, _LATEST, repository=repository, branch=branch)

    def lasting(self) -> Sequence[FailureStorm]:
        """Those of all repositories that haven't ended."""
        return self._records(FailureStorm, _LASTING)

    def around(
        self, repository: RepositoryName, since: datetime, until: datetime
    ) -> Sequence[FailureStorm]:
        """Those with failures in that time."""
        return self._records(
            FailureStorm, _WITH_FAILURES, repository=repository, since=since, until=until
        )
