"""The live queue, and how it did lately."""

from collections.abc import Mapping
from datetime import timedelta

from typing_extensions import override

from bot.domain.audit import Origin
from bot.domain.queue_statistics import QueueStatistics
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, statistics, status
from bot.slack.conversation import Conversation
from bot.slack.handlers.subject import OnClick, OnCommand, Subject
from bot.slack.payloads import BlockActions
from bot.usecases.asking.statistics import statistics as count_statistics


class Status(Subject):
    """For the caller alone, until they share it."""

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {"status": self._status, "stats": self._statistics}

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        return {
            actions.REFRESH: self._refresh,
            actions.SHARE: self._share,
            actions.MORE: self._more,
            actions.STATISTICS_SHARE: self._share_statistics,
        }

    async def _status(
        self, repository: RepositoryName, conversation: Conversation, *, branch: str | None
    ) -> None:
        snapshot = await self.use.show_status.run(repository, branch)
        await conversation.tell_actor(status.status(snapshot))

    async def _statistics(
        self,
        repository: RepositoryName,
        conversation: Conversation,
        *,
        since: timedelta,
        branch: str | None,
    ) -> None:
        found = await self._counted(repository, since, branch, conversation)
        await conversation.tell_actor(statistics.statistics(found))

    async def _refresh(self, click: BlockActions, conversation: Conversation) -> None:
        if conversation.origin is Origin.HOME:
            return
        await conversation.put_in_place(
            status.status(await self._read(click.action.chosen, conversation))
        )

    async def _share(self, click: BlockActions, conversation: Conversation) -> None:
        await conversation.tell_channel(
            status.status(await self._read(click.action.chosen, conversation))
        )

    async def _more(self, click: BlockActions, conversation: Conversation) -> None:
        first, _, queue = click.action.chosen.partition(" ")
        message = status.waiting_page(await self._read(queue, conversation), int(first))
        await conversation.put_in_place(message)

    async def _read(self, value: str, conversation: Conversation) -> Snapshot:
        await self.admit(conversation)
        name, _, branch = value.partition(" ")
        repository = self.repositories.allowed(name)
        return await self.use.show_status.run(repository, branch or None)

    async def _share_statistics(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        value = click.action.chosen
        repository, since, branch = actions.read_statistics_value(value, self.repositories)
        found = await self._counted(repository, since, branch, conversation)
        await conversation.tell_channel(statistics.shared(found))

    async def _counted(
        self,
        repository: RepositoryName,
        since: timedelta,
        branch: str | None,
        conversation: Conversation,
    ) -> QueueStatistics:
        zone = await self.use.check_permission.zone(conversation.actor)
        return await count_statistics(repository, since, branch, zone, self.sources)
