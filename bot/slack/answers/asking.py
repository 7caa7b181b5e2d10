"""Answers to questions about a queue."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.commands import (
    BranchesCommand,
    LogCommand,
    RepositoryCommand,
    RulesCommand,
    StatsCommand,
    StatusCommand,
    WhyCommand,
)
from bot.domain.repository import RepositoryName
from bot.messages import branches, event_log, rules, statistics, status, why
from bot.slack.answers.answer import RepositoryAnswer
from bot.slack.replying.conversation import Conversation
from bot.usecases.asking.explain_pull_request import ExplainPullRequest
from bot.usecases.asking.show_branches import ShowBranches
from bot.usecases.asking.show_event_log import LogQuestion, ShowEventLog
from bot.usecases.asking.show_rules import ShowRules
from bot.usecases.asking.show_statistics import ShowStatistics, StatisticsQuestion
from bot.usecases.asking.show_status import ShowStatus


@dataclass(frozen=True, slots=True)
class StatusAnswers:
    """The live queue, for the caller alone."""

    show_status: ShowStatus

    def answers(self) -> Mapping[type[RepositoryCommand], RepositoryAnswer]:
        return {StatusCommand: self._status}

    async def _status(
        self, command: StatusCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        snapshot = await self.show_status.run(repository, command.branch)
        await conversation.tell_actor(status.status(snapshot))


@dataclass(frozen=True, slots=True)
class StatisticsAnswers:
    """How the queue did lately, for the caller alone."""

    show_statistics: ShowStatistics

    def answers(self) -> Mapping[type[RepositoryCommand], RepositoryAnswer]:
        return {StatsCommand: self._statistics}

    async def _statistics(
        self, command: StatsCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        asked = StatisticsQuestion(command.since, command.branch)
        found = await self.show_statistics.run(repository, asked, conversation.actor)
        await conversation.tell_actor(statistics.statistics(found))


@dataclass(frozen=True, slots=True)
class QuestionAnswers:
    """What is read of the service, for the caller alone."""

    explain_pull_request: ExplainPullRequest
    show_event_log: ShowEventLog
    show_rules: ShowRules
    show_branches: ShowBranches

    def answers(self) -> Mapping[type[RepositoryCommand], RepositoryAnswer]:
        return {
            WhyCommand: self._why,
            LogCommand: self._log,
            RulesCommand: self._rules,
            BranchesCommand: self._branches,
        }

    async def _why(
        self, command: WhyCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        explanation = await self.explain_pull_request.run(repository, command.pull_request)
        await conversation.tell_actor(why.why(explanation))

    async def _log(
        self, command: LogCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        asked = LogQuestion(
            since=command.since,
            until=command.until,
            pull_request=command.pull_request,
            branch=command.branch,
            types=command.types,
            per_page=command.limit,
        )
        page = await self.show_event_log.newest(repository, asked)
        await conversation.tell_actor(event_log.event_log(page))

    async def _rules(
        self, _command: RulesCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        await conversation.tell_actor(rules.rules(await self.show_rules.run(repository)))

    async def _branches(
        self, command: BranchesCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        found = await self.show_branches.run(repository, command.since)
        await conversation.tell_actor(branches.branches(found))
