"""The listeners for people's actions in Slack, and the use cases behind them."""

from typing import NamedTuple

import bot.runtime.handlers  # noqa: F401 - registers all handlers
from bot.acts.check_permission import CheckPermission
from bot.acts.open_requests import OpenRequests
from bot.acts.recording import RecordActs
from bot.boards.keeping import ManageBoards
from bot.channels.settings import ChannelSettings
from bot.config.settings import Settings
from bot.desk.background import Background, Inbox, Once
from bot.desk.dispatch import Dispatch
from bot.desk.registry import Bot
from bot.desk.use_cases import UseCases
from bot.doctor.examining import ExamineQueue
from bot.freezes.applying_windows import ApplyWindows
from bot.freezes.freezing import FreezeQueue
from bot.groups.acting import ActOnGroups
from bot.groups.proposing import ProposeActs
from bot.kernel.cron import next_digest, next_start
from bot.log.sources import Sources
from bot.pauses.group_work import GroupWork
from bot.pauses.pausing import PauseQueue
from bot.pauses.reminding import RemindOfPauses
from bot.pauses.resuming import ResumeQueue
from bot.pauses.rows import is_paused
from bot.pauses.taking_over import TakeOverPause
from bot.posts.wake import Wake
from bot.queues.outlook import ForeseeQueue
from bot.removals.removing import RemovePullRequest
from bot.runtime.adapters import Ports
from bot.runtime.surroundings import Surroundings
from bot.runtime.upkeep.pruning import rename_channel
from bot.slack.app import App


class Listeners(NamedTuple):
    """What answers people's requests."""

    app: App
    bot: Bot


def build_listeners(
    settings: Settings,
    ports: Ports,
    use: UseCases,
    inbox: Inbox,
    once: Once,
    surroundings: Surroundings,
) -> Listeners:
    """All handlers in one Bolt app; requests they hand over wait in `inbox`."""
    slack = ports.slack
    open_requests = OpenRequests(ports.store, ports.clock)
    background = Background(inbox, once, open_requests, slack.replies, settings.command)
    bot = Bot(
        use=use,
        background=background,
        channels=slack.channels,
        configured=ports.configured,
        command=settings.command,
        name=slack.identity.name,
        progress_seconds=surroundings.every.progress,
    )
    app = App(
        slack.identity,
        Dispatch(bot).register,
        background,
        ports.clock,
        surroundings.pace,
        metrics=ports.metrics,
    )
    return Listeners(app, bot)


def build_use_cases(ports: Ports, wake: Wake) -> UseCases:
    slack = ports.slack
    check = CheckPermission(slack.people, ports.configured)
    acts = RecordActs(
        store=ports.store,
        clock=ports.clock,
        channels=slack.channels,
        check=check,
        wake=wake,
        is_paused=is_paused,
    )
    sources = Sources(ports.merge_queue, ports.store, ports.clock)
    foresee_queue = ForeseeQueue(sources)
    pause_queue = PauseQueue(ports.merge_queue, acts)
    resume_queue = ResumeQueue(ports.merge_queue, acts)
    freeze_queue = FreezeQueue(ports.merge_queue, acts)
    return UseCases(
        check_permission=check,
        sources=sources,
        pause_queue=pause_queue,
        resume_queue=resume_queue,
        take_over_pause=TakeOverPause(acts),
        remove_pull_request=RemovePullRequest(ports.merge_queue, acts),
        apply_windows=ApplyWindows(pause_queue, freeze_queue, ports.configured, next_start),
        freeze_queue=freeze_queue,
        groups=ActOnGroups(pause_queue, resume_queue, freeze_queue, GroupWork(acts)),
        proposals=ProposeActs(acts),
        remind_of_pauses=RemindOfPauses(ports.merge_queue, acts),
        channel_settings=ChannelSettings(acts, next_digest, rename_channel),
        manage_boards=ManageBoards(acts, sources),
        examine_queue=ExamineQueue(sources, foresee_queue),
        foresee_queue=foresee_queue,
    )
