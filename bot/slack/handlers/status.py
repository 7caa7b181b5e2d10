"""The live queue, and how it did lately."""

from collections.abc import Mapping
from datetime import timedelta

from typing_extensions import override

from bot.domain.repository import RepositoryName
from bot.messages import statistics, status
from bot.slack.conversation import Answers, Conversation
from bot.slack.handlers.subject import OnCommand, Subject
from bot.usecases.asking.statistics import statistics as count_statistics


class Status(Subject):
    """For the caller alone, until they share it."""

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {"status": self._status, "stats": self._statistics}

    async def _status(
        self,
        repository: RepositoryName,
        conversation: Conversation,
        *,
        branch: str | None,
        first: int,
    ) -> None:
        snapshot = await self.use.show_status.run(repository, branch)
        page = status.waiting_page(snapshot, first) if first else status.status(snapshot)
        await conversation.answer(page)

    async def _statistics(
        self,
        repository: RepositoryName,
        conversation: Conversation,
        *,
        since: timedelta,
        branch: str | None,
    ) -> None:
        zone = await self.use.check_permission.zone(conversation.actor)
        found = await count_statistics(repository, since, branch, zone, self.sources)
        is_shared = conversation.answers is Answers.TO_CHANNEL
        message = statistics.shared(found) if is_shared else statistics.statistics(found)
        await conversation.answer(message)
