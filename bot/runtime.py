"""The composition root: connects adapters to use cases, opens and closes them in order."""

import logging
import os
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import SystemRandom

from bot.clock import SystemClock
from bot.config import ConfigurationError, Settings
from bot.domain.permissions import Policy
from bot.domain.repositories import Repositories
from bot.merge_queue.client import MergeQueueClient
from bot.ports import Clock
from bot.scheduler import Job, JobScheduler
from bot.slack.actions import ActionListeners
from bot.slack.answers import Answers
from bot.slack.app import App, build_app
from bot.slack.channels import SlackChannels
from bot.slack.clients import Client, Identity, TokenRefused, identify, open_session, web_client
from bot.slack.commands import CommandListeners
from bot.slack.errors import ErrorBoundary
from bot.slack.home import HomeTab
from bot.slack.inbox import Inbox
from bot.slack.modals import PauseModal
from bot.slack.poster import SlackPoster
from bot.slack.replies import Replies
from bot.slack.socket import SocketConnection
from bot.slack.views import ViewListeners
from bot.storage.engine import create_engine
from bot.storage.unit_of_work import SqlStore
from bot.usecases import UseCases
from bot.usecases.acts import ActLog
from bot.usecases.manage_subscriptions import ManageSubscriptions
from bot.usecases.pause_queue import PauseQueue
from bot.usecases.poll_due_repositories import PollDueRepositories
from bot.usecases.poll_event_log import PollEventLog
from bot.usecases.post_deliveries import PostDeliveries
from bot.usecases.prune_history import PruneHistory
from bot.usecases.show_home import ShowHome
from bot.usecases.show_status import ShowStatus
from bot.usecases.unpause_queue import UnpauseQueue

logger = logging.getLogger(__name__)

POST_SECONDS = 1.0
POLL_TICK_SECONDS = 0.25
PRUNE_SECONDS = 3600.0
DRAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Ports:
    """The adapters, open."""

    clock: Clock
    store: SqlStore
    merge_queue: MergeQueueClient
    slack: "SlackSide"


@dataclass(frozen=True, slots=True)
class SlackSide:
    """What is known and open on Slack's side."""

    client: Client
    identity: Identity
    channels: SlackChannels
    replies: Replies


@asynccontextmanager
async def build_runtime(settings: Settings) -> AsyncIterator[None]:
    """Run the bot within the context; on leaving, take no more, finish what is begun, close.

    Raises ConfigurationError when a credential is refused or the database is not migrated.
    """
    async with AsyncExitStack() as stack:
        ports = await _open_ports(settings, stack)
        scheduler = JobScheduler()
        jobs = _Jobs(settings, ports, scheduler)
        inbox = Inbox()
        app = _build_app(settings, ports, jobs, inbox)
        await _configure_subscriptions(settings, ports.store)
        stack.push_async_callback(jobs.drain)
        stack.push_async_callback(inbox.drain, DRAIN_SECONDS)
        app_token = settings.slack_app_token.get_secret_value()
        connection = SocketConnection(app, ports.slack.client, app_token, ports.clock)
        stack.push_async_callback(connection.close)
        scheduler.start()
        stack.callback(scheduler.stop_firing)
        try:
            await connection.open()
        except TokenRefused as refused:
            raise _refused("SLACK_APP_TOKEN", refused) from None
        logger.info(
            "ready",
            extra={"action": "ready", "repositories": len(settings.repositories)},
        )
        yield


async def _open_ports(settings: Settings, stack: AsyncExitStack) -> Ports:
    clock = SystemClock()
    store = SqlStore(create_engine(settings.database_url.get_secret_value()))
    stack.push_async_callback(store.close)
    merge_queue = await stack.enter_async_context(
        MergeQueueClient(
            base_url=settings.api_url,
            token=settings.api_token,
            clock=clock,
            deprecated_pause_endpoints=settings.deprecated_pause,
        )
    )
    session = await stack.enter_async_context(open_session())
    client = web_client(session, token=settings.slack_bot_token, base_url=settings.slack_api_url)
    try:
        identity = await identify(client, clock)
    except TokenRefused as refused:
        raise _refused("SLACK_BOT_TOKEN", refused) from None
    slack = SlackSide(client, identity, SlackChannels(client, clock), Replies(session))
    return Ports(clock, store, merge_queue, slack)


def _refused(variable: str, refused: TokenRefused) -> ConfigurationError:
    return ConfigurationError({variable: f"Slack refuses it ({refused.code})"})


async def _configure_subscriptions(settings: Settings, store: SqlStore) -> None:
    async with store.begin() as transaction:
        await transaction.subscriptions.replace_configured(settings.channels)


class _Jobs:
    """What runs on the schedule, and how it is told to hurry."""

    def __init__(self, settings: Settings, ports: Ports, scheduler: JobScheduler) -> None:
        holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        chance = SystemRandom()
        slack = ports.slack
        self._post = Job(
            "post deliveries",
            PostDeliveries(
                store=ports.store,
                poster=SlackPoster(slack.client, slack.channels, slack.identity.bot_id),
                clock=ports.clock,
                nudge=self.nudge,
                holder=holder,
                jitter=chance.random,
            ).run,
        )
        self._polls = PollDueRepositories(
            poll=PollEventLog(
                ports.store,
                ports.merge_queue,
                ports.clock,
                self.nudge,
                overlap=timedelta(seconds=settings.overlap_seconds),
                backfill=timedelta(minutes=settings.backfill_minutes),
            ),
            store=ports.store,
            clock=ports.clock,
            repositories=settings.repositories,
            interval=timedelta(seconds=settings.poll_seconds),
            holder=holder,
        )
        prune = PruneHistory(ports.store, ports.clock, timedelta(days=settings.retention_days))
        scheduler.every(POST_SECONDS, self._post)
        scheduler.every(POLL_TICK_SECONDS, Job("poll due repositories", self._polls.run))
        scheduler.every(PRUNE_SECONDS, Job("prune history", prune.run))
        self._scheduler = scheduler

    def nudge(self, after: float = 0.0) -> None:
        self._post.nudge(after)

    async def drain(self) -> None:
        """Finish the polls and posts under way."""
        await self._scheduler.drain()
        await self._polls.drain()
        await self._scheduler.drain()


def _build_app(settings: Settings, ports: Ports, jobs: _Jobs, inbox: Inbox) -> App:
    slack = ports.slack
    repositories = Repositories(settings.repositories)
    use_cases = _use_cases(ports, jobs)
    boundary = ErrorBoundary(settings.command)
    answers = Answers(
        use_cases=use_cases,
        repositories=repositories,
        modal=PauseModal(use_cases.show_status, repositories),
        command=settings.command,
        bot_name=slack.identity.name,
    )
    home = HomeTab(
        show_home=use_cases.show_home,
        repositories=repositories,
        inbox=inbox,
        boundary=boundary,
        client=slack.client,
        replies=slack.replies,
        command=settings.command,
    )
    actions = ActionListeners(
        answers, home, repositories, inbox, boundary, slack.client, slack.replies
    )
    views = ViewListeners(answers, repositories, inbox, boundary, slack.client, slack.replies)
    commands = CommandListeners(
        settings.command, answers, inbox, boundary, slack.client, slack.replies
    )
    return build_app(slack.client, slack.identity, (commands, actions, views, home))


def _use_cases(ports: Ports, jobs: _Jobs) -> UseCases:
    slack = ports.slack
    acts = ActLog(
        store=ports.store,
        clock=ports.clock,
        channels=slack.channels,
        policy=Policy(slack.identity.home_ids),
        nudge=jobs.nudge,
    )
    show_status = ShowStatus(ports.merge_queue, ports.store, ports.clock)
    return UseCases(
        show_status=show_status,
        show_home=ShowHome(show_status),
        pause_queue=PauseQueue(ports.merge_queue, acts),
        unpause_queue=UnpauseQueue(ports.merge_queue, acts),
        manage_subscriptions=ManageSubscriptions(ports.store, slack.channels, ports.clock),
    )
