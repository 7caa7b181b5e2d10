"""The ports of polls, accounts and timers, in dictionaries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from typing_extensions import override

from bot.domain.bisections import Bisection
from bot.domain.event_log import LastPoll
from bot.domain.pause_records import PauseRecord
from bot.domain.reminders import ReminderPlan
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import SAME_PAUSE
from bot.domain.staleness import Staleness
from bot.domain.stays import Stay
from bot.domain.timers import Timer, TimerState
from bot.ports import Accounts, Bisections, ChannelDefaults, Polls, Stalenesses, Stays
from bot.ports.reminders import Reminders
from bot.ports.timers import Timers
from tests.support.as_stored import as_stored

PRUNE_SLICE = 1000


class InMemoryPolls(Polls):
    def __init__(self, polls: dict[RepositoryName, LastPoll]) -> None:
        self._polls = polls

    @override
    async def save(self, polled: Mapping[RepositoryName, LastPoll]) -> None:
        for name, one in polled.items():
            self._polls[name] = LastPoll(as_stored(one.at), frozenset(one.types))

    @override
    async def latest(
        self, repositories: Sequence[RepositoryName]
    ) -> Mapping[RepositoryName, LastPoll]:
        return {each: self._polls[each] for each in repositories if each in self._polls}


class InMemoryChannelDefaults(ChannelDefaults):
    def __init__(self, defaults: dict[str, RepositoryName]) -> None:
        self._defaults = defaults

    @override
    async def set(self, channel_id: str, repository: RepositoryName) -> None:
        self._defaults[channel_id] = repository

    @override
    async def forget(self, channel_id: str) -> None:
        self._defaults.pop(channel_id, None)

    @override
    async def of(self, channel_id: str) -> RepositoryName | None:
        return self._defaults.get(channel_id)


class InMemoryStalenesses(Stalenesses):
    def __init__(self, stalenesses: dict[int, Staleness]) -> None:
        self._stalenesses = stalenesses

    @override
    async def add(self, begun: Staleness) -> int:
        number = max(self._stalenesses, default=0) + 1
        self._stalenesses[number] = replace(as_stored(begun), staleness_id=number)
        return number

    @override
    async def hold(self) -> None:
        """One transaction at a time, as everywhere in this store."""

    @override
    async def save(self, changed: Staleness) -> bool:
        if self._stalenesses[changed.staleness_id].ended_at is not None:
            return False
        self._stalenesses[changed.staleness_id] = as_stored(changed)
        return True

    @override
    async def last_end(self) -> datetime | None:
        ended = [one.ended_at for one in self._stalenesses.values()]
        return max((at for at in ended if at is not None), default=None)

    @override
    async def active(self) -> Sequence[Staleness]:
        return [one for one in self._stalenesses.values() if one.ended_at is None]

    @override
    async def get(self, staleness_ids: Collection[int]) -> Mapping[int, Staleness]:
        return {
            each: self._stalenesses[each] for each in staleness_ids if each in self._stalenesses
        }

    @override
    async def delete_before(self, ended_before: datetime) -> int:
        old = [
            each
            for each, one in self._stalenesses.items()
            if one.ended_at is not None and one.ended_at < ended_before
        ]
        for each in old:
            del self._stalenesses[each]
        return len(old)


class InMemoryStays(Stays):
    def __init__(self, stays: dict[tuple[str, str], Stay]) -> None:
        self._stays = stays

    @override
    async def save(self, changed: Sequence[Stay]) -> None:
        self._stays.update({(one.repository, one.key): as_stored(one) for one in changed})

    @override
    async def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[Stay]:
        return [
            one
            for one in self._stays.values()
            if one.repository == repository and one.pull_request in numbers and one.last_at >= since
        ]

    @override
    async def lasting(self, repository: RepositoryName, since: datetime) -> Sequence[Stay]:
        found = [
            one
            for one in self._stays.values()
            if one.repository == repository and one.ended_at is None and one.last_at >= since
        ]
        return sorted(found, key=lambda one: (one.began_at, one.key))

    @override
    async def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Stay]:
        found = {key: self._stays.get((repository, key)) for key in keys}
        return {key: one for key, one in found.items() if one is not None}

    @override
    async def delete_before(self, last_before: datetime) -> int:
        old = [key for key, one in self._stays.items() if one.last_at < last_before]
        for key in old:
            del self._stays[key]
        return len(old)


class InMemoryBisections(Bisections):
    def __init__(self, bisections: dict[tuple[str, str], Bisection]) -> None:
        self._bisections = bisections

    @override
    async def save(self, changed: Sequence[Bisection]) -> None:
        self._bisections.update({(one.repository, one.key): as_stored(one) for one in changed})

    @override
    async def since(self, repository: RepositoryName, since: datetime) -> Sequence[Bisection]:
        return [
            one
            for one in self._bisections.values()
            if one.repository == repository and one.last_at >= since
        ]

    @override
    async def get(
        self, repository: RepositoryName, keys: Collection[str]
    ) -> Mapping[str, Bisection]:
        found = {key: self._bisections.get((repository, key)) for key in keys}
        return {key: one for key, one in found.items() if one is not None}

    @override
    async def delete_before(self, last_before: datetime) -> int:
        old = [key for key, one in self._bisections.items() if one.last_at < last_before]
        for key in old[:PRUNE_SLICE]:
            del self._bisections[key]
        return len(old[:PRUNE_SLICE])


class InMemoryAccounts(Accounts):
    def __init__(self, logins: dict[str, str]) -> None:
        self._logins = logins

    @override
    async def link(self, user_id: str, login: str, at: datetime) -> bool:
        if set((await self.people([login])).get(login, ())) - {user_id}:
            return False
        self._logins.pop(user_id, None)
        self._logins[user_id] = login
        return True

    @override
    async def unlink(self, user_id: str) -> bool:
        return self._logins.pop(user_id, None) is not None

    @override
    async def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        return {each: self._logins[each] for each in user_ids if each in self._logins}

    @override
    async def people(self, logins: Collection[str]) -> Mapping[str, Sequence[str]]:
        found = {
            login: [each for each, known in self._logins.items() if known.lower() == login.lower()]
            for login in logins
        }
        return {login: people for login, people in found.items() if people}


class InMemoryTimers(Timers):
    def __init__(self, timers: dict[tuple[RepositoryName, datetime], Timer]) -> None:
        self._timers = timers

    @override
    async def save(self, timer: Timer) -> None:
        stored = as_stored(timer)
        self._timers[stored.repository, stored.paused_at] = stored

    @override
    async def of(self, repository: RepositoryName, paused_at: datetime) -> Timer | None:
        found = [
            timer
            for (name, at), timer in self._timers.items()
            if name == repository and abs(at - paused_at) < SAME_PAUSE
        ]
        found.sort(key=lambda timer: timer.state is not TimerState.RUNNING)
        return next(iter(found), None)

    @override
    async def locked(self, repository: RepositoryName, paused_at: datetime) -> Timer | None:
        return await self.of(repository, paused_at)

    @override
    async def due(self, now: datetime, limit: int) -> Sequence[Timer]:
        due = [one for one in self._running() if one.due_at <= now]
        return sorted(due, key=lambda one: (one.due_at, one.repository))[:limit]

    @override
    async def running(self, repositories: Collection[RepositoryName]) -> Sequence[Timer]:
        found = [one for one in self._running() if one.repository in repositories]
        return sorted(found, key=lambda one: (one.lifts_at, one.repository))

    def _running(self) -> list[Timer]:
        return [one for one in self._timers.values() if one.state is TimerState.RUNNING]

    @override
    async def delete_before(self, lifts_before: datetime) -> int:
        old = [
            key
            for key, one in self._timers.items()
            if one.state is not TimerState.RUNNING and one.lifts_at < lifts_before
        ]
        for key in old:
            del self._timers[key]
        return len(old)


class InMemoryReminders(Reminders):
    def __init__(self, plans: dict[int, ReminderPlan], pauses: Mapping[int, PauseRecord]) -> None:
        self._plans = plans
        self._pauses = pauses

    @override
    async def get(self, pause_ids: Collection[int]) -> Mapping[int, ReminderPlan]:
        return {each: self._plans[each] for each in pause_ids if each in self._plans}

    @override
    async def locked(self, pause_ids: Collection[int]) -> Mapping[int, ReminderPlan]:
        return await self.get(pause_ids)

    @override
    async def save(self, plan: ReminderPlan) -> None:
        self._plans[plan.pause_id] = as_stored(plan)

    @override
    async def delete_ended(self) -> int:
        in_force = {one.pause_id for one in self._pauses.values() if one.is_open}
        ended = [each for each in self._plans if each not in in_force]
        for each in ended:
            del self._plans[each]
        return len(ended)
