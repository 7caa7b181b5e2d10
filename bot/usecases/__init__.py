"""One file per intention of a person or of the schedule; UseCases is their bundle."""

from dataclasses import dataclass

from bot.usecases.channel_default import ChannelDefault
from bot.usecases.check_permission import CheckPermission
from bot.usecases.choose_notices import ChooseNotices
from bot.usecases.explain_pull_request import ExplainPullRequest
from bot.usecases.extend_group import ExtendGroup
from bot.usecases.extend_pause import ExtendPause
from bot.usecases.link_account import LinkAccount
from bot.usecases.manage_boards import ManageBoards
from bot.usecases.manage_subscriptions import ManageSubscriptions
from bot.usecases.pause_group import PauseGroup
from bot.usecases.pause_queue import PauseQueue
from bot.usecases.remind_of_pauses import RemindOfPauses
from bot.usecases.show_audit import ShowAudit
from bot.usecases.show_branches import ShowBranches
from bot.usecases.show_event_log import ShowEventLog
from bot.usecases.show_group import ShowGroup
from bot.usecases.show_hearing import ShowHearing
from bot.usecases.show_home import ShowHome
from bot.usecases.show_rules import ShowRules
from bot.usecases.show_statistics import ShowStatistics
from bot.usecases.show_status import ShowStatus
from bot.usecases.snooze_reminders import SnoozeReminders
from bot.usecases.unpause_group import UnpauseGroup
from bot.usecases.unpause_queue import UnpauseQueue
from bot.usecases.watch_resume import WatchResume


@dataclass(frozen=True, slots=True)
class UseCases:
    """What a person can ask for."""

    check_permission: CheckPermission
    show_status: ShowStatus
    show_home: ShowHome
    pause_queue: PauseQueue
    unpause_queue: UnpauseQueue
    pause_group: PauseGroup
    unpause_group: UnpauseGroup
    show_group: ShowGroup
    show_audit: ShowAudit
    extend_pause: ExtendPause
    extend_group: ExtendGroup
    remind_of_pauses: RemindOfPauses
    snooze_reminders: SnoozeReminders
    manage_subscriptions: ManageSubscriptions
    channel_default: ChannelDefault
    manage_boards: ManageBoards
    show_hearing: ShowHearing
    link_account: LinkAccount
    choose_notices: ChooseNotices
    watch_resume: WatchResume
    explain_pull_request: ExplainPullRequest
    show_event_log: ShowEventLog
    show_rules: ShowRules
    show_branches: ShowBranches
    show_statistics: ShowStatistics
