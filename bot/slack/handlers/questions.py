"""What is read of the service: a pull request, the log, rules and branches."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from typing_extensions import override

from bot.domain.repository import RepositoryName
from bot.messages import actions, branches, event_log, rules, why
from bot.slack.conversation import Conversation
from bot.slack.handlers.subject import OnClick, OnCommand, Subject
from bot.slack.payloads import BlockActions
from bot.usecases.asking.event_log import LogQuestion, newest_page, page_at
from bot.usecases.asking.rules_and_branches import active_branches, queue_rules
from bot.usecases.asking.why import explain


class Questions(Subject):
    """For the caller alone; the answer whose button was pressed becomes the next one."""

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {
            "why": self._why,
            "log": self._log,
            "rules": self._rules,
            "branches": self._branches,
        }

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        return {actions.LOG_OLDER: self._turn_log, actions.LOG_NEWER: self._turn_log}

    async def _why(
        self, repository: RepositoryName, conversation: Conversation, *, pull_request: int
    ) -> None:
        found = await explain(repository, pull_request, self.use.show_status, self.sources)
        await conversation.answer(why.why(found))

    async def _log(
        self,
        repository: RepositoryName,
        conversation: Conversation,
        **asked: Any,  # noqa: ANN401 - the fields of a LogQuestion
    ) -> None:
        page = await newest_page(repository, LogQuestion(**asked), self.sources)
        await conversation.answer(event_log.event_log(page))

    async def _turn_log(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        place = actions.read_log_value(click.action.chosen, self.repositories)
        page = await page_at(place, self.sources)
        await conversation.put_in_place(event_log.event_log(page))

    async def _rules(
        self, repository: RepositoryName, conversation: Conversation, *, first: int
    ) -> None:
        found = await queue_rules(repository, self.sources)
        await conversation.answer(rules.rules(repository, found, first))

    async def _branches(
        self,
        repository: RepositoryName,
        conversation: Conversation,
        *,
        since: timedelta,
        first: int,
    ) -> None:
        found = await active_branches(repository, since, self.sources)
        await conversation.answer(branches.branches(repository, since, found, first))
