"""Clicks that only read: each shows the state now."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.audit import Origin
from bot.domain.denials import Right
from bot.domain.log_pages import LONGEST_LOOKBACK
from bot.domain.repositories import Repositories
from bot.domain.snapshots import Snapshot
from bot.messages import actions, branches, choice, event_log, rules, statistics, status, why
from bot.slack.answers import Answers
from bot.slack.listeners.actions.click import OnClick
from bot.slack.payloads import BlockActions
from bot.slack.replying.conversation import Conversation
from bot.usecases.asking.explain_pull_request import ExplainPullRequest
from bot.usecases.asking.show_branches import ShowBranches
from bot.usecases.asking.show_event_log import LogQuestion, ShowEventLog
from bot.usecases.asking.show_rules import ShowRules
from bot.usecases.asking.show_statistics import ShowStatistics, StatisticsQuestion
from bot.usecases.asking.show_status import ShowStatus


@dataclass(frozen=True, slots=True)
class StatusActions:
    """*Refresh*, *Share in channel* and *Show more* of a status."""

    show_status: ShowStatus
    answers: Answers
    repositories: Repositories

    def clicks(self) -> Mapping[str, OnClick]:
        return {
            actions.REFRESH: self._refresh,
            actions.SHARE: self._share,
            actions.MORE: self._more,
        }

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
        await self.answers.admit(conversation, Right.READ)
        name, _, branch = value.partition(" ")
        repository = self.repositories.allowed(name)
        return await self.show_status.run(repository, branch or None)


@dataclass(frozen=True, slots=True)
class StatisticsActions:
    """*Share in channel* of a count, which is made anew."""

    show_statistics: ShowStatistics
    answers: Answers
    repositories: Repositories

    def clicks(self) -> Mapping[str, OnClick]:
        return {actions.STATISTICS_SHARE: self._share}

    async def _share(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.admit(conversation)
        value = click.action.chosen
        repository, since, branch = actions.read_statistics_value(value, self.repositories)
        asked = StatisticsQuestion(since, branch)
        found = await self.show_statistics.run(repository, asked, conversation.actor)
        await conversation.tell_channel(statistics.shared(found))


@dataclass(frozen=True, slots=True)
class QuestionActions:
    """*Older*, *Newer* and their like: the answer that was pressed becomes the next one."""

    explain_pull_request: ExplainPullRequest
    show_event_log: ShowEventLog
    show_rules: ShowRules
    show_branches: ShowBranches
    answers: Answers
    repositories: Repositories

    def clicks(self) -> Mapping[str, OnClick]:
        return {
            actions.LOG_OLDER: self._log,
            actions.LOG_NEWER: self._log,
            actions.LOG_OF: self._log_of,
            actions.WHY: self._why,
            actions.RULES_ON: self._rules,
            actions.RULES_BACK: self._rules,
            actions.BRANCHES_ON: self._branches,
            actions.BRANCHES_BACK: self._branches,
        }

    async def _log(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.admit(conversation)
        place = actions.read_log_value(click.action.chosen, self.repositories)
        page = await self.show_event_log.at(place)
        await conversation.put_in_place(event_log.event_log(page))

    async def _log_of(self, click: BlockActions, conversation: Conversation) -> None:
        """In a message of its own: the explanation stays above it."""
        await self.answers.admit(conversation)
        repository, number = actions.read_pull_request_value(click.action.chosen, self.repositories)
        asked = LogQuestion(since=LONGEST_LOOKBACK, pull_request=number)
        page = await self.show_event_log.newest(repository, asked)
        await conversation.tell_actor(event_log.event_log(page))

    async def _why(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.admit(conversation)
        repository, number = actions.read_pull_request_value(click.action.chosen, self.repositories)
        explanation = await self.explain_pull_request.run(repository, number)
        await conversation.put_in_place(why.why(explanation))

    async def _rules(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.admit(conversation)
        first, _, name = click.action.chosen.partition(" ")
        found = await self.show_rules.run(self.repositories.allowed(name))
        await conversation.put_in_place(rules.rules(found, int(first)))

    async def _branches(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.admit(conversation)
        first, since, name = click.action.chosen.split(" ", 2)
        repository = self.repositories.allowed(name)
        found = await self.show_branches.run(repository, timedelta(seconds=int(since)))
        await conversation.put_in_place(branches.branches(found, int(first)))


@dataclass(frozen=True, slots=True)
class CommandActions:
    """*Try again* and the choice of a repository: the command goes on as if it were typed."""

    answers: Answers

    def clicks(self) -> Mapping[str, OnClick]:
        return {actions.RETRY: self._retry, actions.CHOOSE: self._choose}

    async def _retry(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.run(click.action.chosen, conversation)

    async def _choose(self, click: BlockActions, conversation: Conversation) -> None:
        typed = choice.continued(click.action.block_id, click.action.chosen)
        await self.answers.run(typed, conversation)
