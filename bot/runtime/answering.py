"""What answers what is typed, and does what a click asks for, made of the use cases."""

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.groups import Groups
from bot.domain.repositories import Repositories
from bot.ports import Clock
from bot.slack.answers import Answers
from bot.slack.answers.answer import GeneralAnswers, RepositoryAnswers
from bot.slack.answers.asking import QuestionAnswers, StatisticsAnswers, StatusAnswers
from bot.slack.answers.auditing import AuditAnswers
from bot.slack.answers.boarding import BoardAnswers
from bot.slack.answers.grouping import GroupAnswers
from bot.slack.answers.help import HelpAnswers
from bot.slack.answers.modals import PauseModal
from bot.slack.answers.pausing import PauseAnswers
from bot.slack.answers.people import AccountAnswers
from bot.slack.answers.subscribing import SubscriptionAnswers
from bot.slack.listeners.actions.asking import (
    CommandActions,
    QuestionActions,
    StatisticsActions,
    StatusActions,
)
from bot.slack.listeners.actions.auditing import AuditActions
from bot.slack.listeners.actions.click import Actions, OnClick
from bot.slack.listeners.actions.grouping import GroupActions
from bot.slack.listeners.actions.pausing import PauseActions
from bot.slack.listeners.actions.people import NoticeActions
from bot.slack.listeners.actions.watching import WatchActions
from bot.usecases import UseCases


@dataclass(frozen=True, slots=True)
class Answering:
    """Those that typed words, clicks and forms share are made once."""

    use_cases: UseCases
    command: str
    bot_name: str
    clock: Clock
    repositories: Repositories
    pausing: PauseAnswers
    grouping: GroupAnswers
    accounts: AccountAnswers

    @classmethod
    def of(
        cls,
        use_cases: UseCases,
        command: str,
        bot_name: str,
        clock: Clock,
        repositories: Repositories,
    ) -> "Answering":
        modal = PauseModal(use_cases.pause_queue, use_cases.show_status, repositories)
        return cls(
            use_cases,
            command,
            bot_name,
            clock,
            repositories,
            PauseAnswers(
                use_cases.pause_queue, use_cases.unpause_queue, modal, use_cases.extend_pause
            ),
            GroupAnswers(
                use_cases.pause_group,
                use_cases.unpause_group,
                use_cases.extend_group,
                use_cases.show_group,
                clock,
            ),
            AccountAnswers(use_cases.link_account, use_cases.choose_notices, command),
        )

    def answers(self, groups: Groups) -> Answers:
        """What answers each verb, of a repository or of none."""
        use = self.use_cases
        subscribing = SubscriptionAnswers(
            use.manage_subscriptions,
            use.channel_default,
            use.show_hearing,
            self.command,
            self.bot_name,
        )
        of_repository: tuple[RepositoryAnswers, ...] = (
            StatusAnswers(use.show_status),
            QuestionAnswers(
                use.explain_pull_request, use.show_event_log, use.show_rules, use.show_branches
            ),
            StatisticsAnswers(use.show_statistics),
            self.pausing,
            subscribing,
            BoardAnswers(use.manage_boards, self.bot_name),
        )
        general: tuple[GeneralAnswers, ...] = (
            HelpAnswers(self.command),
            self.accounts,
            subscribing,
            self.grouping,
            AuditAnswers(use.show_audit, self.clock),
        )
        return Answers(
            check_permission=use.check_permission,
            manage_subscriptions=use.manage_subscriptions,
            channel_default=use.channel_default,
            manage_boards=use.manage_boards,
            unpause_queue=self.pausing.unpause_queue,
            repositories=self.repositories,
            groups=groups,
            general=dict(ChainMap(*(dict(one.general()) for one in general))),
            answers=dict(ChainMap(*(dict(one.answers()) for one in of_repository))),
        )

    def clicks(self, answers: Answers, groups: Groups) -> Mapping[str, OnClick]:
        """What each element of ours does, by its action id."""
        use, repositories = self.use_cases, self.repositories
        actions: tuple[Actions, ...] = (
            StatusActions(use.show_status, answers, repositories),
            QuestionActions(
                use.explain_pull_request,
                use.show_event_log,
                use.show_rules,
                use.show_branches,
                answers,
                repositories,
            ),
            StatisticsActions(use.show_statistics, answers, repositories),
            CommandActions(answers),
            PauseActions(
                self.pausing,
                use.show_status,
                use.check_permission,
                repositories,
                use.snooze_reminders,
            ),
            GroupActions(self.grouping, groups, use.check_permission),
            AuditActions(use.show_audit, use.check_permission, repositories),
            WatchActions(use.watch_resume, repositories),
            NoticeActions(self.accounts, use.check_permission),
        )
        return dict(ChainMap(*(dict(one.clicks()) for one in actions)))
