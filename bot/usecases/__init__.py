"""One file per request of a person or job of the schedule; UseCases bundles them."""

from dataclasses import dataclass

from bot.usecases.asking import Sources
from bot.usecases.boards import ManageBoards
from bot.usecases.channel_settings import ChannelSettings
from bot.usecases.check_permission import CheckPermission
from bot.usecases.freezing import FreezeQueue
from bot.usecases.groups import ActOnGroups
from bot.usecases.hold_windows import HoldWindows
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.pausing.reminders import RemindOfPauses
from bot.usecases.pausing.resume_queue import ResumeQueue
from bot.usecases.remove_pull_request import RemovePullRequest


@dataclass(frozen=True, slots=True)
class UseCases:
    """Everything that a person or Slack can request."""

    check_permission: CheckPermission
    sources: Sources
    pause_queue: PauseQueue
    resume_queue: ResumeQueue
    remove_pull_request: RemovePullRequest
    hold_windows: HoldWindows
    freeze_queue: FreezeQueue
    groups: ActOnGroups
    remind_of_pauses: RemindOfPauses
    channel_settings: ChannelSettings
    manage_boards: ManageBoards
