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
from bot.usecases.asking.show_event_log import LogQuestion


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
        explanation = await self.use.explain_pull_request.run(repository, pull_request)
        await conversation.tell_actor(why.why(explanation))

    async def _log(
        self,
        repository: RepositoryName,
        conversation: Conversation,
        **asked: Any,  # noqa: ANN401 - the fields of a LogQuestion
    ) -> None:
        page = await self.use.show_event_log.newest(repository, LogQuestion(**asked))
        await conversation.tell_actor(event_log.event_log(page))

    async def _rules(self, repository: RepositoryName, conversation: Conversation) -> None:
        await conversation.tell_actor(rules.rules(await self.use.show_rules.run(repository)))

    async def _branches(
        self, repository: RepositoryName, conversation: Conversation, *, since: timedelta
    ) -> None:
        found = await self.use.show_branches.run(repository, since)
        await conversation.tell_actor(branches.branches(found))

    async def _turn_log(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        place = actions.read_log_value(click.action.chosen, self.repositories)
        page = await self.use.show_event_log.at(place)
        await conversation.put_in_place(event_log.event_log(page))

    async def _log_of(self, click: BlockActions, conversation: Conversation) -> None:
        """In a message of its own: the explanation stays above it."""
        await self.admit(conversation)
        repository, number = actions.read_pull_request_value(click.action.chosen, self.repositories)
        asked = LogQuestion(since=LONGEST_LOOKBACK, pull_request=number)
        page = await self.use.show_event_log.newest(repository, asked)
        await conversation.tell_actor(event_log.event_log(page))

    async def _why_pressed(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        repository, number = actions.read_pull_request_value(click.action.chosen, self.repositories)
        explanation = await self.use.explain_pull_request.run(repository, number)
        await conversation.put_in_place(why.why(explanation))

    async def _turn_rules(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        first, _, name = click.action.chosen.partition(" ")
        found = await self.use.show_rules.run(self.repositories.allowed(name))
        await conversation.put_in_place(rules.rules(found, int(first)))

    async def _turn_branches(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        first, since, name = click.action.chosen.split(" ", 2)
        repository = self.repositories.allowed(name)
        found = await self.use.show_branches.run(repository, timedelta(seconds=int(since)))
        await conversation.put_in_place(branches.branches(found, int(first)))
