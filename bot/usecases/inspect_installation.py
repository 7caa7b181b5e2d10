"""Check everything the bot depends on; a failure never stops the other checks."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from bot.domain.errors import (
    MergeQueueError,
    PauseNotOffered,
    StoreUnavailable,
    StoreUnusable,
)
from bot.domain.event_log import BELIEVED_ALONE, Window
from bot.domain.inspection import Area, CheckResult, InspectionFailed
from bot.domain.outages import OutageCause
from bot.domain.policies import OwnToken
from bot.domain.queue import QueueStatus
from bot.domain.repository import RepositoryName
from bot.messages.inspection import findings, of_machine, of_service, of_slack
from bot.ports import Clock, MergeQueue, SlackInspection
from bot.store.transactions import Store, Transaction

logger = logging.getLogger(__name__)

CONCURRENCY = 8
"""Repositories, or channels, checked concurrently."""

SECONDS = 20.0
"""For one part of the inspection."""

GROUP_SECONDS = 60.0
"""For all repositories, and for all channels, and more where there are many of them."""

REPOSITORY_SECONDS = 0.25
"""Additional time for each repository: three requests, partly concurrent."""

JUMPS_SHOWN = timedelta(days=1)
AUTHORS_SHOWN = timedelta(days=7)

CHANNEL_SECONDS = 1.5
"""Additional time for each channel: Slack allows fifty such requests a minute."""

T = TypeVar("T")

Work = Callable[[], Awaitable[Iterable[CheckResult]]]


async def guarded(
    area: Area, subject: str, work: Work, seconds: float = SECONDS
) -> Sequence[CheckResult]:
    """The results of `work`; a timeout or a defect becomes a result too."""
    try:
        async with asyncio.timeout(seconds):
            return list(await work())
    except TimeoutError:
        return [findings.no_time(area, subject, seconds)]
    except Exception as error:
        # A failing check must not stop the others.
        logger.debug(
            "a part of the inspection failed", extra={"action": "inspection_failed"}, exc_info=error
        )
        return [findings.defect(area, subject, error)]


async def together(
    items: Sequence[T],
    area: Area,
    inspect: Callable[[T], Awaitable[Iterable[CheckResult]]],
    *,
    seconds: float = SECONDS,
    group_seconds: float = GROUP_SECONDS,
) -> Sequence[CheckResult]:
    """Check the items, some at a time; those without time left get a result saying so."""
    concurrency = asyncio.Semaphore(CONCURRENCY)
    deadline = asyncio.get_running_loop().time() + group_seconds

    async def one(item: T) -> Sequence[CheckResult]:
        async with concurrency:
            left = deadline - asyncio.get_running_loop().time()

            async def work() -> Iterable[CheckResult]:
                return await inspect(item)

            return await guarded(area, str(item), work, max(0.0, min(seconds, left)))

    found = await asyncio.gather(*(one(item) for item in items))
    return [finding for some in found for finding in some]


@dataclass(frozen=True, slots=True)
class InspectStore:
    """Deliveries, jumps of the bot's clock, and the subscribed channels."""

    store: Store
    clock: Clock

    async def deliveries(self) -> Sequence[CheckResult]:
        """Raises StoreUnavailable."""
        now = self.clock.now()
        slack, summary, doubtful, jumps = await self.store.read(
            lambda transaction: (
                transaction.outages.active(OutageCause.SLACK),
                transaction.outbox.summary(),
                transaction.outbox.in_doubt(limit=1),
                transaction.clock_jumps.since(now - JUMPS_SHOWN),
            )
        )
        since = (doubtful[0].attempted_at or doubtful[0].created_at) if doubtful else None
        return [
            *(of_machine.slack_outage(one, now) for one in slack),
            *of_machine.deliveries(summary, since, now),
            of_machine.clock_jumps(jumps),
        ]

    async def logins(self) -> CheckResult:
        """How many of the last authors are linked; raises StoreUnavailable."""

        def read(transaction: Transaction) -> CheckResult:
            authors = transaction.pull_requests.authors(self.clock.now() - AUTHORS_SHOWN)
            return of_machine.logins(authors, transaction.accounts.people(authors))

        return await self.store.read(read)

    async def channels(self, repositories: Sequence[RepositoryName]) -> set[str]:
        """The channels subscribed by command or configuration; raises StoreUnavailable."""
        found = await self.store.read(
            lambda transaction: transaction.subscriptions.of_repositories(repositories)
        )
        return {one.channel_id for some in found.values() for one in some}


@dataclass(frozen=True, slots=True)
class InspectMergeQueue:
    """The credentials, each repository, and the service's clock.

    `own_tokens`: the credentials of repositories that have their own.
    """

    service: MergeQueue
    repositories: Sequence[RepositoryName]
    clock: Clock
    own_tokens: Mapping[RepositoryName, OwnToken] = field(default_factory=dict)

    async def _is_paused(self, name: RepositoryName, status: QueueStatus) -> bool | None:
        """Whether it is paused; None when the service has no way to say so."""
        try:
            return await self.service.current_pause(name) is not None or bool(status.paused)
        except PauseNotOffered:
            return status.paused

    async def run(self) -> Sequence[CheckResult]:
        readable: list[RepositoryName] = []

        async def inspect(name: RepositoryName) -> Iterable[CheckResult]:
            try:
                status: QueueStatus = await self.service.status(name)
                paused = await self._is_paused(name, status)
            except MergeQueueError as error:
                return [of_service.repository_failed(name, error)]
            readable.append(name)
            read = of_service.repository_read(name, paused=paused)
            return [read, *await self._times(name)]

        allowed = GROUP_SECONDS + REPOSITORY_SECONDS * len(self.repositories)
        found, skew = await asyncio.gather(
            together(self.repositories, Area.MERGE_QUEUE, inspect, group_seconds=allowed),
            guarded(Area.CLOCK, "merge queue service", self._clock),
        )

        async def credential(used: of_service.Credential) -> Iterable[CheckResult]:
            reads_something = not set(readable).isdisjoint(used.repositories)
            return [await self._credential(used, reads_something=reads_something)]

        known = await together(self._credentials(), Area.MERGE_QUEUE, credential)
        return [*known, *found, *skew]

    def _credentials(self) -> Sequence[of_service.Credential]:
        """The one that most repositories share, and then each repository's own, by setting."""
        shared = [name for name in self.repositories if name not in self.own_tokens]
        users = defaultdict[str, list[RepositoryName]](list)
        for name, own in self.own_tokens.items():
            users[own.setting].append(name)
        credentials = [of_service.Credential(names, setting) for setting, names in users.items()]
        return [of_service.Credential(shared), *credentials]

    async def _times(self, name: RepositoryName) -> Sequence[CheckResult]:
        """Whether the newest events of the log have times in the future."""
        now = self.clock.now()
        window = Window(now - timedelta(hours=1), now + timedelta(days=1))
        try:
            page = await self.service.event_page(name, window)
        except MergeQueueError as error:
            return [of_service.log_failed(name, error)]
        served_at = max(page.served_at or now, now)
        ahead = max((one.received_at for one in page.events), default=served_at) - served_at
        return [of_service.stamped_ahead(name, ahead)] if ahead > BELIEVED_ALONE else []

    async def _credential(
        self, used: of_service.Credential, *, reads_something: bool
    ) -> CheckResult:
        named = None if used.is_shared else used.repositories[0]
        try:
            return of_service.application(used, await self.service.application(named))
        except MergeQueueError as error:
            return of_service.application_failed(used, error, reads_something=reads_something)

    async def _clock(self) -> Iterable[CheckResult]:
        try:
            ahead = await self.service.clock_ahead()
        except MergeQueueError:
            ahead = None
        return [of_machine.clock("merge queue service", ahead)]


@dataclass(frozen=True, slots=True)
class InspectSlack:
    """Both tokens, the granted scopes, Slack's clock, and each subscribed channel."""

    slack: SlackInspection
    wanted_scopes: Collection[str]

    async def run(self, channels: Collection[str]) -> Sequence[CheckResult]:
        bot, app, seen = await asyncio.gather(
            guarded(Area.SLACK, "bot token", self._bot),
            guarded(Area.SLACK, "app-level token", self._app),
            self._channels(sorted(channels)),
        )
        return [*bot, *app, *(seen or [of_slack.no_channels()])]

    async def _bot(self) -> Iterable[CheckResult]:
        try:
            found = await self.slack.bot()
        except InspectionFailed as error:
            return [
                of_slack.token_failed("bot token", error),
                of_machine.clock("Slack", None),
            ]
        return [
            of_slack.bot_token(found),
            *of_slack.scopes(found, self.wanted_scopes),
            of_slack.guests(found),
            of_machine.clock("Slack", found.ahead),
        ]

    async def _app(self) -> Iterable[CheckResult]:
        try:
            is_used = await self.slack.app_token()
        except InspectionFailed as error:
            return [of_slack.token_failed("app-level token", error)]
        return [of_slack.app_token()] if is_used else []

    async def _channels(self, channels: Sequence[str]) -> Sequence[CheckResult]:
        """List the channels that the bot is in, and ask Slack about each of the others."""
        listed = await self.slack.channels() if channels else {}
        found = [of_slack.channel(one, listed[one]) for one in channels if one in listed]
        others = [one for one in channels if one not in listed]
        allowed = GROUP_SECONDS + CHANNEL_SECONDS * len(others)
        return found + list(
            await together(
                others, Area.CHANNEL, self._channel, seconds=allowed, group_seconds=allowed
            )
        )

    async def _channel(self, channel_id: str) -> Iterable[CheckResult]:
        try:
            return [of_slack.channel(channel_id, await self.slack.channel(channel_id))]
        except InspectionFailed as error:
            return [of_slack.channel_failed(channel_id, error)]


async def inspect_database(
    current: Callable[[], Awaitable[str | None]], wanted: str, *, at_start: bool
) -> Sequence[CheckResult]:
    """Check that the database is reachable and has this program's schema.

    `wanted`: the revision of that schema.
    `at_start`: whether the program migrates the database when it starts.
    """
    try:
        revision = await current()
    except StoreUnusable as error:
        return [of_machine.database_not_to_be_opened(error.cause)]
    except StoreUnavailable as error:
        return [of_machine.database_unusable(error.cause)]
    except ValueError as error:
        return [of_machine.database_not_to_be_opened(str(error))]
    if revision == wanted:
        return [of_machine.database_current(revision)]
    if at_start:
        return [of_machine.database_next_start(revision, wanted)]
    return [of_machine.database_behind(revision, wanted)]
