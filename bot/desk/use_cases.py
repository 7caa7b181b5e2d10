"""One file per request of a person or job of the schedule; UseCases bundles them."""

from dataclasses import dataclass

from bot.acts.check_permission import CheckPermission
from bot.boards.keeping import ManageBoards
from bot.channels.settings import ChannelSettings
from bot.doctor.examining import ExamineQueue
from bot.freezes.applying_windows import ApplyWindows
from bot.freezes.freezing import FreezeQueue
from bot.groups.acting import ActOnGroups
from bot.groups.proposing import ProposeActs
from bot.log.sources import Sources
from bot.pauses.pausing import PauseQueue
from bot.pauses.reminding import RemindOfPauses
from bot.pauses.resuming import ResumeQueue
from bot.pauses.taking_over import TakeOverPause
from bot.queues.outlook import ForeseeQueue
from bot.removals.removing import RemovePullRequest


@dataclass(frozen=True, slots=True)
class UseCases:
    """Everything that a person or Slack can request."""

    check_permission: CheckPermission
    sources: Sources
    pause_queue: PauseQueue
    resume_queue: ResumeQueue
    take_over_pause: TakeOverPause
    remove_pull_request: RemovePullRequest
    apply_windows: ApplyWindows
    freeze_queue: FreezeQueue
    groups: ActOnGroups
    proposals: ProposeActs
    remind_of_pauses: RemindOfPauses
    channel_settings: ChannelSettings
    manage_boards: ManageBoards
    examine_queue: ExamineQueue
    foresee_queue: ForeseeQueue
