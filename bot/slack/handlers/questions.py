"""What is read of the service: a pull request, the log, rules and branches."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from typing_extensions import override

from bot.domain.event_log import LONGEST_LOOKBACK
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
        return {
            actions.LOG_OLDER: self._turn_log,
            actions.LOG_NEWER: self._turn_log,
            actions.LOG_OF: self._log_of,
            actions.WHY: self._why_pressed,
            actions.RULES_ON: self._turn_rules,
            actions.RULES_BACK: self._turn_rules,
            actions.BRANCHES_ON: self._turn_branches,
            actions.BRANCHES_BACK: self._turn_branches,
        }

    async def _why(
        self, repository: RepositoryName, conversation: Conversation, *, pull_request: int
    ) -> None:
        explanation = await explain(repository, pull_request, self.use.show_status, self.sources)
        await conversation.tell_actor(why.why(explanation))

    async def _log(
        self,
        repository: RepositoryName,
        conversation: Conversation,
        **asked: Any,  # noqa: ANN401 - the fields of a LogQuestion
    ) -> None:
        page = await newest_page(repository, LogQuestion(**asked), self.sources)
        await conversation.tell_actor(event_log.event_log(page))

    async def _rules(self, repository: RepositoryName, conversation: Conversation) -> None:
        found = await queue_rules(repository, self.sources)
        await conversation.tell_actor(rules.rules(found))

    async def _branches(
        self, repository: RepositoryName, conversation: Conversation, *, since: timedelta
    ) -> None:
        found = await active_branches(repository, since, self.sources)
        await conversation.tell_actor(branches.branches(found))

    async def _turn_log(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        place = actions.read_log_value(click.action.chosen, self.repositories)
        page = await page_at(place, self.sources)
        await conversation.put_in_place(event_log.event_log(page))

    async def _log_of(self, click: BlockActions, conversation: Conversation) -> None:
        """In a message of its own: the explanation stays above it."""
        await self.admit(conversation)
        repository, number = actions.read_pull_request_value(click.action.chosen, self.repositories)
        asked = LogQuestion(since=LONGEST_LOOKBACK, pull_request=number)
        page = await newest_page(repository, asked, self.sources)
        await conversation.tell_actor(event_log.event_log(page))

    async def _why_pressed(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        repository, number = actions.read_pull_request_value(click.action.chosen, self.repositories)
        explanation = await explain(repository, number, self.use.show_status, self.sources)
        await conversation.put_in_place(why.why(explanation))

    async def _turn_rules(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        first, _, name = click.action.chosen.partition(" ")
        found = await queue_rules(self.repositories.allowed(name), self.sources)
        await conversation.put_in_place(rules.rules(found, int(first)))

    async def _turn_branches(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        first, since, name = click.action.chosen.split(" ", 2)
        repository = self.repositories.allowed(name)
        found = await active_branches(repository, timedelta(seconds=int(since)), self.sources)
        await conversation.put_in_place(branches.branches(found, int(first)))
