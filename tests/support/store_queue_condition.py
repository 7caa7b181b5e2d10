"""The port of alerts and failures in a row, in dictionaries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from typing_extensions import override

from bot.domain.alerts import Alert
from bot.domain.queue_condition import FailureStreak
from bot.domain.repository import RepositoryName
from bot.ports.queue_condition import QueueCondition
from tests.support.as_stored import as_stored


class InMemoryQueueCondition(QueueCondition):
    def __init__(
        self, alerts: dict[int, Alert], streaks: dict[RepositoryName, FailureStreak]
    ) -> None:
        self._alerts = alerts
        self._streaks = streaks

    @override
    async def begin(self, alert: Alert) -> int | None:
        if any(one.kind is alert.kind for one in await self.active(alert.repository)):
            return None
        number = max(self._alerts, default=0) + 1
        self._alerts[number] = replace(as_stored(alert), alert_id=number)
        return number

    @override
    async def end(self, alert_id: int, at: datetime) -> bool:
        known = self._alerts[alert_id]
        if known.ended_at is not None:
            return False
        self._alerts[alert_id] = replace(known, ended_at=as_stored(at))
        return True

    @override
    async def active(self, repository: RepositoryName) -> Sequence[Alert]:
        ours = [one for one in self._alerts.values() if one.repository == repository]
        return [one for one in ours if one.ended_at is None]

    @override
    async def get(self, alert_ids: Collection[int]) -> Mapping[int, Alert]:
        return {each: self._alerts[each] for each in alert_ids if each in self._alerts}

    @override
    async def streak(self, repository: RepositoryName) -> FailureStreak:
        return self._streaks.get(repository, FailureStreak())

    @override
    async def save_streak(self, repository: RepositoryName, streak: FailureStreak) -> None:
        self._streaks[repository] = as_stored(streak)

    @override
    async def forget(self, repositories: Collection[RepositoryName], at: datetime) -> None:
        for each in repositories:
            self._streaks.pop(each, None)
            for one in await self.active(each):
                await self.end(one.alert_id, at)

    @override
    async def delete_before(self, ended_before: datetime) -> int:
        old = [
            each
            for each, one in self._alerts.items()
            if one.ended_at is not None and one.ended_at < ended_before
        ]
        for each in old:
            del self._alerts[each]
        return len(old)
