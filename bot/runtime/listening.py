"""The listeners for people's actions in Slack, and the use cases behind them."""

from bot.config.settings import Settings
from bot.ports import Wake
from bot.runtime.adapters import Ports
from bot.scheduler import next_digest, next_start
from bot.slack.app import App
from bot.slack.background import Background, Inbox, Once
from bot.slack.handlers.dispatch import Dispatch
from bot.slack.handlers.registry import Bot
from bot.slack.web_api.people import SlackPeople
from bot.usecases import UseCases
from bot.usecases.asking import Sources
from bot.usecases.boards import ManageBoards
from bot.usecases.channel_settings import ChannelSettings
from bot.usecases.check_permission import CheckPermission
from bot.usecases.freezing import FreezeQueue
from bot.usecases.groups import ActOnGroups
from bot.usecases.hold_windows import HoldWindows
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.group_work import GroupWork
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.pausing.reminders import RemindOfPauses
from bot.usecases.pausing.resume_queue import ResumeQueue
from bot.usecases.remove_pull_request import RemovePullRequest


def build_listeners(
    settings: Settings, ports: Ports, use: UseCases, inbox: Inbox, once: Once
) -> tuple[App, Bot]:
    """All handlers in one Bolt app; requests they hand over wait in `inbox`."""
    slack = ports.slack
    background = Background(inbox, once, slack.replies, settings.command)
    bot = Bot(
        use=use,
        background=background,
        channels=slack.channels,
        configured=ports.configured,
        command=settings.command,
        name=slack.identity.name,
    )
    app = App(
        slack.identity,
        Dispatch(bot).register,
        background,
        signing_secret=settings.slack_signing_secret,
        metrics=ports.metrics,
    )
    return app, bot


def build_use_cases(ports: Ports, wake: Wake) -> UseCases:
    slack = ports.slack
    check = CheckPermission(SlackPeople(slack.client, ports.clock), ports.configured)
    acts = ActLog(
        store=ports.store, clock=ports.clock, channels=slack.channels, check=check, wake=wake
    )
    sources = Sources(ports.merge_queue, ports.store, ports.clock)
    pause_queue = PauseQueue(ports.merge_queue, acts)
    resume_queue = ResumeQueue(ports.merge_queue, acts)
    freeze_queue = FreezeQueue(ports.merge_queue, acts)
    return UseCases(
        check_permission=check,
        sources=sources,
        pause_queue=pause_queue,
        resume_queue=resume_queue,
        remove_pull_request=RemovePullRequest(ports.merge_queue, acts),
        hold_windows=HoldWindows(pause_queue, freeze_queue, ports.configured, next_start),
        freeze_queue=freeze_queue,
        groups=ActOnGroups(pause_queue, resume_queue, freeze_queue, GroupWork(acts)),
        remind_of_pauses=RemindOfPauses(ports.merge_queue, acts),
        channel_settings=ChannelSettings(acts, next_digest),
        manage_boards=ManageBoards(acts, sources),
    )
