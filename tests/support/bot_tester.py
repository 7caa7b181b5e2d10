"""BotTester: the real bot in this process on both local services, with the verbs of people."""

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import yaml
from sqlalchemy import select
from typing_extensions import override

from bot.cli.manifest import EVENTS_PATH, over_http, with_required_scopes
from bot.config.settings import RunSettings, Settings, WebSettings
from bot.desk.background import Inbox
from bot.kernel.attribute_docstrings import attribute_docstrings
from bot.log.tables import repositories
from bot.runtime.adapters import OpenStore, open_store
from bot.runtime.intervals import Intervals
from bot.runtime.process import build_runtime, build_web, build_worker
from bot.runtime.surroundings import Surroundings
from bot.sandbox.merge_queue.controls import NewPullRequest, SentEvent
from bot.sandbox.merge_queue.credentials import Credential
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.merge_queue.simulation.event_log import Event
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.delivering.request_url import RequestUrlRefused
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.web_api.rate_limits import RateLimits
from bot.slack.app import PersonalPace
from bot.store.transaction import Transaction
from tests.support.at_rest import moved_at_rest
from tests.support.clock import MovedClock
from tests.support.settings import between, settings_in
from tests.support.shown import Blocks, Element, Json, Shown, ShownView, message_shown, view_shown
from tests.support.waiting import DEADLINE_SECONDS, PATIENT_SECONDS, until, until_true

MANIFEST = Path(__file__).parents[2] / "manifest.yml"
REPOSITORY = "acme/site"
ALICE = "U0ALICE"
BOB = "U0BOB"
CAROL = "U0CAROL"
DAVE = "U0DAVE"
MERGE_QUEUE = "C0MERGEQ"
RELEASES = "C0RELEASE"
GENERAL = "C0GENERAL"
INCIDENTS = "C0INCIDENT"

HURRIED = Intervals(
    polls=0.2,
    posts=0.5,
    pauses=0.5,
    home=1.0,
    outages=1.0,
    storms=1.0,
    cut_short=1.0,
    weekly=1.0,
    # How long a test takes doesn't decide whether it sees one.
    reminders=3600.0,
    # A busy machine is no slow service: see `test_slow_service`.
    progress=3600.0,
    shortest_poll=0.25,
    pauses_read=0.25,
    new_pause_read=0.25,
    thread_edits=0.25,
    board_edits=0.25,
)
"""Several times as often as for people, but not more: looking is a third of what a bot computes."""

# What a setting takes is read from source code: once here, rather than by a reload in a thread.
# There Python 3.11 may fail while pytest parses something, too:
# https://github.com/python/cpython/issues/106905
attribute_docstrings(Settings)

Mode = Literal["socket", "http"]
"""Socket Mode as `mqbot run`, or signed requests as `mqbot web` and `mqbot worker`."""


class LogKeeper(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    @contextmanager
    def listening(self) -> Iterator[None]:
        root = logging.getLogger()
        ours = logging.getLogger("bot")
        root.addHandler(self)
        ours.setLevel(logging.INFO)
        try:
            yield
        finally:
            ours.setLevel(logging.NOTSET)
            root.removeHandler(self)

    def actions(self) -> list[str]:
        return [str(getattr(record, "action", None)) for record in self.records]

    def errors(self) -> list[str]:
        """The actions of errors, or their texts where they have none."""
        return [
            str(getattr(record, "action", record.getMessage()))
            for record in self.records
            if record.levelno >= logging.ERROR
        ]


@dataclass
class BotTester:
    """A workspace with people, a merge queue service, and the bot between them.

    It is strict: when it ends, every message of the bot must have been read by the test, every
    error in the log and every refused call to Slack must have been expected.
    """

    database_url: str
    repositories: Mapping[str, str] = field(default_factory=lambda: {REPOSITORY: "quiet"})
    channels: str = "acme/site=C0RELEASE:freeze"
    speed: float = 200.0
    rate_limits: RateLimits = "off"
    refusals_use_triggers: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[Credential, ...] = ()
    pause_lag: float = 0.02
    removal_lag: float = 0.0
    logs_pauses: bool = True
    dialect: str = "document"
    queue_mode: str = "serial"
    pause_endpoints: str = "both"
    deprecated_creates: bool = True
    lacks: tuple[str, ...] = ()
    waits_for_begin: bool = True
    mode: Mode = "socket"
    is_minimal: bool = False
    every: Intervals = HURRIED
    clock: MovedClock = field(default_factory=MovedClock)
    pace: PersonalPace = field(default_factory=PersonalPace)
    open_store: OpenStore = open_store
    open_inbox: Callable[[], Inbox] = Inbox
    expected_errors: set[str] = field(default_factory=set)
    expected_refusals: set[str] = field(default_factory=set)
    log: LogKeeper = field(default_factory=LogKeeper, init=False)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)
    _bot: AbstractAsyncContextManager[None] | None = field(default=None, init=False)
    _read: set[tuple[str, str]] = field(default_factory=set, init=False)

    async def __aenter__(self) -> Self:
        self.merge_queue = MergeQueueSandbox(
            repositories=self.repositories,
            speed=self.speed,
            credentials=self.credentials,
            pause_lag=self.pause_lag,
            removal_lag=self.removal_lag,
            logs_pauses=self.logs_pauses,
            dialect=self.dialect,
            mode=self.queue_mode,
            pause_endpoints=self.pause_endpoints,
            deprecated_creates=self.deprecated_creates,
            lacks=self.lacks,
        )
        self.slack = SlackSandbox(
            _manifest(self.mode, is_minimal=self.is_minimal),
            rate_limits=self.rate_limits,
            event_retry_seconds=(0.0,),
            ack_seconds=PATIENT_SECONDS,
            trigger_seconds=PATIENT_SECONDS,
            refusals_use_triggers=self.refusals_use_triggers,
        )
        sandbox = Sandbox(self.merge_queue, self.slack)
        self.addresses = (await self._stack.enter_async_context(sandbox)).addresses
        self._stack.enter_context(self.log.listening())
        try:
            await self.start_bot()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self.stop_bot()
            if exc_type is None:
                self.assert_nothing_unexpected()
        finally:
            await self._stack.aclose()

    def settings_environment(self) -> dict[str, str]:
        """What `mqbot run` would find in its environment."""
        settings = between(
            self.addresses,
            self.database_url,
            MQBOT_REPOSITORIES=",".join(self.repositories),
            MQBOT_CHANNELS=self.channels,
            MQBOT_QUIET_POLL_SECONDS="1",
            SLACK_SIGNING_SECRET=self.addresses.slack_signing_secret,
            MQBOT_HTTP_PORT="0",
        )
        return {**settings, **self.environment}

    async def start_bot(self) -> None:
        """Start the bot and wait until it has found its place in every event log."""
        is_first = not self.merge_queue.requests
        await self._open_bot()
        await until(lambda: self.slack.delivery.connections, "a connection of the bot")
        if is_first and self.waits_for_begin:
            await self._wait_for_begin()

    async def _open_bot(self) -> None:
        environ = self.settings_environment()
        if self.mode == "http":
            self._bot = self._over_http(settings_in(environ, WebSettings))
        else:
            self._bot = build_runtime(settings_in(environ, RunSettings), self.surroundings())
        await self._bot.__aenter__()

    def surroundings(self) -> Surroundings:
        return Surroundings(self.clock, self.every, self.pace, self.open_store, self.open_inbox)

    async def _wait_for_begin(self) -> None:
        store = self.open_store(self.database_url)
        self._stack.push_async_callback(store.close)
        await until_true(lambda: store.read(self._has_places), "a place in every event log")
        # The first look at a repository ends with one at its titles.
        await until(self._has_titles, "the titles of every repository")

    def _has_places(self, transaction: Transaction) -> bool:
        # Before that a bot which is stopped, and started again, hears nothing of the time between.
        placed = select(repositories.c.repository).where(repositories.c.origin.is_not(None))
        found = {str(row.repository) for row in transaction.connection.execute(placed)}
        return found.issuperset(self.repositories)

    def _has_titles(self) -> bool:
        asked = {
            request.path.partition("?")[0]
            for request in self.merge_queue.requests
            if request.status
        }
        return all(
            any(path.endswith(f"/repos/{name}/merge-queue/status") for path in asked)
            for name in self.repositories
        )

    @asynccontextmanager
    async def _over_http(self, settings: WebSettings) -> AsyncIterator[None]:
        given = (settings, self.surroundings())
        async with build_web(*given) as web, build_worker(*given):
            await self.give_request_url(f"http://127.0.0.1:{web.port}{EVENTS_PATH}")
            yield

    async def give_request_url(self, url: str) -> None:
        """Slack doesn't wait long for an answer; whoever sets the app up presses Retry."""

        async def is_verified() -> bool:
            try:
                await self.slack.request_url.use(url)
            except RequestUrlRefused as refused:
                if str(refused) != "http_timeout":
                    raise
                return False
            return True

        await until_true(is_verified, "a verified request URL")

    async def stop_bot(self) -> None:
        bot = self._bot
        self._bot = None
        if bot is not None:
            await bot.__aexit__(None, None, None)

    async def pass_time(self, seconds: float) -> None:
        """Move the bot's clock and the service's, once nothing is being posted or answered.

        What is only due, or waits for something, is met by the move as by an idle machine's time.
        """

        def move() -> None:
            self.clock.advance(seconds)
            self.merge_queue.skip(seconds)

        await until(
            lambda: moved_at_rest(move, self.database_url),
            "a moment at which nothing is being posted or answered",
        )

    async def has_posted(self) -> None:
        """Wait until the bot knows what became of all that it is posting."""
        await self.pass_time(0)

    # What people do

    async def type(self, text: str, *, by: str = ALICE, channel: str = MERGE_QUEUE) -> None:
        """Type a slash command; it must be acknowledged."""
        answer = await self.slack.people.command(by, channel, text)
        assert answer["acknowledged"], answer

    async def ask(self, text: str, *, by: str = ALICE, channel: str = MERGE_QUEUE) -> Shown:
        """Type a slash command and read the answer that only this person sees."""
        await self.type(text, by=by, channel=channel)
        return await self.wait_for_reply(by=by, channel=channel)

    async def publish(
        self, text: str, containing: str, *, by: str = ALICE, channel: str = MERGE_QUEUE
    ) -> Shown:
        """Type a slash command and read the post that everybody in the channel sees."""
        await self.type(text, by=by, channel=channel)
        return await self.wait_for_post(containing, channel)

    async def pause(self, asked: str, *, by: str = ALICE, channel: str = MERGE_QUEUE) -> Shown:
        return await self.publish(f"/mq pause {asked}", "is paused", by=by, channel=channel)

    async def resume(self, *, by: str = ALICE, channel: str = MERGE_QUEUE) -> Shown:
        return await self.publish("/mq resume", "has resumed", by=by, channel=channel)

    async def click(self, shown: Blocks, label: str, *, by: str = ALICE) -> None:
        """Press a button, confirming what Slack may ask.

        `shown` is what the person's client shows, which may have been edited since.
        """
        element = shown.element(label)
        answer = await self._act(shown, element.block_id, element.body, by)
        assert answer["acknowledged"], answer

    async def choose(self, shown: Blocks, option: str, *, by: str = ALICE, menu: str) -> None:
        """Choose an option of a menu, a suggested one where the menu has none of its own."""
        element = shown.element(menu)
        chosen = await self._option(shown, element, option, by)
        body = {**element.body, "selected_option": chosen}
        answer = await self._act(shown, element.block_id, body, by)
        assert answer["acknowledged"], answer

    async def choose_all(
        self, shown: Blocks, options: Collection[str], *, menu: str, by: str = ALICE
    ) -> None:
        """Choose these options, and no other, of a menu that takes several."""
        element = shown.element(menu)
        chosen = [element.option(option) for option in options]
        body = {**element.body, "selected_options": chosen}
        answer = await self._act(shown, element.block_id, body, by)
        assert answer["acknowledged"], answer

    async def suggestions(
        self, shown: Blocks, typed: str, *, menu: str, by: str = ALICE
    ) -> list[str]:
        """The options that the app offers in a menu for what is typed into it."""
        found = await self._suggested(shown, shown.element(menu), typed, by)
        return [message["text"]["text"] for message in found]

    async def _suggested(self, shown: Blocks, element: Element, typed: str, by: str) -> list[Json]:
        answer = await self.slack.people.suggestions(
            by,
            container=_container(shown),
            block_id=element.block_id,
            action_id=element.body["action_id"],
            value=typed,
        )
        assert answer["acknowledged"], answer
        found: list[Json] = answer["options"]
        return found

    async def _option(self, shown: Blocks, element: Element, label: str, by: str) -> Json:
        if element.body["type"] != "external_select":
            return element.option(label)
        return (await self._suggested(shown, element, label, by))[0]

    async def _act(self, shown: Blocks, block_id: str, element: Json, by: str) -> Json:
        chosen = ("selected_option", "selected_options")
        given = {name: element[name] for name in chosen if name in element}
        return await self.slack.people.action(
            by,
            container=_container(shown),
            block_id=block_id,
            action_id=element["action_id"],
            not_redrawn=True,
            **given,
        )

    async def submit(
        self,
        view: ShownView,
        *,
        by: str = ALICE,
        repository: str | None = None,
        **inputs: str | datetime,
    ) -> Json:
        """Submit the modal on top; the inputs are named by their blocks.

        A menu is given a label of its options; one that has a choice made for the person keeps it.
        """
        values: Json = _chosen_already(view)
        values |= {name: {name: _filled(view, name, value)} for name, value in inputs.items()}
        if repository is not None:
            menu = view.element("Choose a repository or a group")
            values[menu.block_id] = {
                menu.body["action_id"]: {
                    "type": "static_select",
                    "selected_option": menu.option(repository),
                }
            }
        return await self.slack.people.submit(by, view.view_id, values)

    async def open_home(self, *, by: str = ALICE) -> None:
        answer = await self.slack.people.home(by)
        assert answer["acknowledged"], answer

    async def see_home(self, containing: str = "", *, by: str = ALICE) -> ShownView:
        """Open the Home tab and read it."""
        await self.open_home(by=by)
        return await self.home(containing, by=by)

    async def see_home_with_freezes(self, containing: str = "", *, by: str = ALICE) -> ShownView:
        """The same, once the bot has found out that the service offers freezes."""
        found: list[ShownView] = []

        async def look() -> bool:
            found.append(await self.see_home(containing, by=by))
            return "Plan a freeze…" in found[-1].labels

        await until_true(look, "buttons that freeze in the Home tab")
        return found[-1]

    async def shortcut(self, *, by: str = ALICE) -> None:
        answer = await self.slack.people.shortcut(by, "pause_queue")
        assert answer["acknowledged"], answer

    # What people see

    def _bot_messages(self, viewer: str, channel: str) -> list[Shown]:
        found = self.slack.sight.messages(viewer, channel, limit=1000)["messages"]
        return [message_shown(one) for one in found if one["is_bot"] and not one.get("deleted")]

    def replies(self, *, by: str = ALICE, channel: str = MERGE_QUEUE) -> list[Shown]:
        """What only this person sees, oldest first; all of it counts as read."""
        return self._reading(
            [message for message in self._bot_messages(by, channel) if message.ephemeral]
        )

    def posts(self, channel: str = MERGE_QUEUE, *, by: str = ALICE) -> list[Shown]:
        """What everybody in the channel sees of the bot, oldest first; it counts as read."""
        return self._reading(
            [message for message in self._bot_messages(by, channel) if not message.ephemeral]
        )

    def _reading(self, found: list[Shown]) -> list[Shown]:
        self._read.update((message.channel, message.ts) for message in found)
        return found

    async def wait_for_reply(
        self, containing: str = "", *, by: str = ALICE, channel: str = MERGE_QUEUE
    ) -> Shown:
        """The oldest reply to this person that was not read before.

        That something takes longer than a moment is no answer yet.
        """
        return await self._unread(containing, by, channel, ephemeral=True)

    async def wait_for_post(
        self,
        containing: str = "",
        channel: str = MERGE_QUEUE,
        *,
        by: str = ALICE,
        seconds: float = DEADLINE_SECONDS,
    ) -> Shown:
        """The oldest post in the channel that was not read before."""
        return await self._unread(containing, by, channel, ephemeral=False, seconds=seconds)

    async def wait_for_direct_message(self, containing: str = "", *, by: str = ALICE) -> Shown:
        """The oldest message to this person alone, in their conversation with the bot."""
        workspace = self.slack.installation.workspace
        channel = workspace.direct_channel(self.slack.installation.bot_user_id, by)
        return await self._unread(containing, by, channel.id, ephemeral=False)

    def direct_messages(self, *, by: str) -> list[Shown]:
        """All messages to this person alone, oldest first; they count as read."""
        workspace = self.slack.installation.workspace
        channel = workspace.direct_channel(self.slack.installation.bot_user_id, by)
        return self._reading(self._bot_messages(by, channel.id))

    async def _unread(
        self,
        containing: str,
        by: str,
        channel: str,
        *,
        ephemeral: bool,
        seconds: float = DEADLINE_SECONDS,
    ) -> Shown:
        def look() -> Shown | None:
            for message in self._bot_messages(by, channel):
                fits = (
                    message.ephemeral is ephemeral
                    and containing in message
                    and not _is_progress(message)
                )
                if fits and (channel, message.ts) not in self._read:
                    return message
            return None

        kind = "reply" if ephemeral else "post"
        what = f"an unread {kind} with “{containing}” for {by} in {channel}"
        found = await until(look, what, seconds)
        assert found is not None
        self._read.add((channel, found.ts))
        return found

    def thread(self, root: Shown, *, by: str = ALICE) -> list[Shown]:
        """The bot's replies in the thread of a message, oldest first."""
        found = self.slack.sight.messages(by, root.channel, thread_ts=root.ts, limit=1000)
        replies = [
            message
            for message in found["messages"]
            if message["ts"] != root.ts and message["is_bot"]
        ]
        return [message_shown(reply) for reply in replies]

    async def wait_in_thread(self, root: Shown, containing: str, *, by: str = ALICE) -> Shown:
        """The first reply in the thread that contains the words."""

        def look() -> Shown | None:
            return next((one for one in self.thread(root, by=by) if containing in one), None)

        found = await until(look, f"a reply with “{containing}” to “{root.line}”")
        assert found is not None
        return found

    def delete(self, shown: Shown) -> None:
        """Somebody who may deletes the message."""
        workspace = self.slack.installation.workspace
        message = workspace.channels[shown.channel].messages.get(shown.ts)
        assert message is not None
        workspace.delete(message)

    async def wait_for_change(self, shown: Shown, containing: str, *, by: str = ALICE) -> Shown:
        """The same message once it contains the words."""

        def look() -> Shown | None:
            found = self.now(shown, by=by)
            return found if found is not None and containing in found else None

        found = await until(look, f"“{containing}” in place of “{shown.line}”")
        assert found is not None
        return found

    async def wait_for_other(self, shown: Shown, *, by: str = ALICE) -> Shown:
        """The same message once it reads otherwise."""

        def look() -> Shown | None:
            found = self.now(shown, by=by)
            return found if found is not None and found.words != shown.words else None

        found = await until(look, f"anything else in place of “{shown.line}”")
        assert found is not None
        return found

    def now(self, shown: Shown, *, by: str = ALICE) -> Shown | None:
        """The message as it is now, None when it has gone."""
        found = self._bot_messages(by, shown.channel)
        return next((message for message in found if message.ts == shown.ts), None)

    async def wait_until_gone(self, shown: Shown, *, by: str = ALICE) -> None:
        await until(lambda: self.now(shown, by=by) is None, f"“{shown.line}” taken away")

    async def modal(self, containing: str = "", *, by: str = ALICE) -> ShownView:
        """The modal on top of this person's screen, once it contains the words."""

        def look() -> ShownView | None:
            views = self.slack.sight.views(by)["views"]
            top = view_shown(views[-1]) if views else None
            return top if top is not None and containing in top else None

        found = await until(look, f"a modal with “{containing}” for {by}")
        assert found is not None
        return found

    def open_modals(self, *, by: str = ALICE) -> list[ShownView]:
        return [view_shown(view) for view in self.slack.sight.views(by)["views"]]

    async def home(
        self, containing: str = "", *, by: str = ALICE, without: str | None = None
    ) -> ShownView:
        """This person's Home tab, once it contains the words, and not those of `without`."""

        def look() -> ShownView | None:
            body = self.slack.sight.views(by)["home"]
            found = view_shown(body) if body else None
            if found is None or containing not in found:
                return None
            return None if without is not None and without in found else found

        found = await until(look, f"a Home tab with “{containing}” for {by}")
        assert found is not None
        return found

    async def logged(self, action: str) -> None:
        """Wait until the bot has logged this."""
        await until(lambda: action in self.logged_actions(), f"“{action}” in the log")

    def logged_actions(self) -> list[str]:
        return self.log.actions()

    def logged_errors(self) -> list[str]:
        return self.log.errors()

    # The merge queue

    def enqueue(self, repository: str = REPOSITORY, **pull_request: Any) -> int:
        """Let a pull request enter the queue; the keywords are those of NewPullRequest.

        One that `hangs` stays as it is: what the test has yet to see does not pass meanwhile.
        """
        if pull_request.get("hangs"):
            self._wait_for_checks_for_ever(repository)
        return self.merge_queue.enqueue(repository, NewPullRequest(**pull_request))

    def _wait_for_checks_for_ever(self, repository: str) -> None:
        queues = self.merge_queue.repository(repository)
        hour = 3600 * self.speed
        queues.rules = tuple(replace(rule, checks_timeout=hour) for rule in queues.rules)

    def stand_still(self) -> None:
        """Let nothing more happen in the queues by itself, until they go on."""
        self.merge_queue.real_time = False

    def go_on(self) -> None:
        """Let happen what was due meanwhile, as soon as the bot asks, and all else in its time."""
        self.merge_queue.real_time = True

    async def merge(self, repository: str = REPOSITORY, **pull_request: Any) -> int:
        """Let a pull request enter and wait until the service has merged it."""
        number = self.enqueue(repository, **pull_request)
        await self.happens("action.queue.merged", number, repository)
        return number

    async def happens(
        self, event_type: str, pull_request: int | None = None, repository: str = REPOSITORY
    ) -> Event:
        """Wait until the service's log has such an event."""

        def look() -> Event | None:
            for event in self.events(repository):
                if event.type == event_type and pull_request in {None, event.pull_request}:
                    return event
            return None

        found = await until(look, f"{event_type} of {pull_request}")
        assert found is not None
        return found

    async def next_poll(self, repository: str = REPOSITORY) -> None:
        """Wait until the bot has read the repository's event log once more, from now on."""

        def polls() -> int:
            paths = [request.path for request in self.merge_queue.requests if request.status]
            return sum(f"/{repository}/" in path and "/logs" in path for path in paths)

        # The first of the two may have begun before.
        wanted = polls() + 2
        await until(lambda: polls() >= wanted, f"the next poll of {repository}")

    async def checks_run(self, batches: int, repository: str = REPOSITORY) -> None:
        """Wait until the status calls so many batches running."""

        def running() -> bool:
            lines = self.merge_queue.repository(repository).lines.values()
            return sum(batch.is_running for line in lines for batch in line.batches) == batches

        await until(running, f"{batches} running batches")

    def events(self, repository: str = REPOSITORY) -> list[Event]:
        """The service's whole log, oldest first."""
        return self.merge_queue.events(repository)

    def pause_elsewhere(
        self,
        reason: str,
        *,
        by: str = "carol",
        repository: str = REPOSITORY,
        seconds_from_now: int = 0,
    ) -> None:
        """Pause on the dashboard; the service's clock need not agree with anybody's."""
        self.merge_queue.pause(repository, reason, by=by)
        paused = self.merge_queue.repository(repository)
        assert paused.pause is not None
        paused_at = paused.pause.paused_at + seconds_from_now * 1_000_000
        paused.pause = replace(paused.pause, paused_at=paused_at)

    def emit(self, event_type: str, pull_request: int, **details: Any) -> int:
        """Put an event into the log now."""
        details = {"base_ref": "main", **details}
        sent = SentEvent(event_type, pull_request=pull_request, **details)
        return self.merge_queue.emit(REPOSITORY, sent)

    def emit_late(self, event_type: str, pull_request: int, *, after: Event) -> int:
        """Put an event into the log at an old place, as a service does that is slow to write."""
        at = datetime.fromtimestamp(after.received_at / 1e6, UTC) + timedelta(milliseconds=1)
        sent = SentEvent(event_type, pull_request=pull_request, base_ref="main", received_at=at)
        return self.merge_queue.emit(REPOSITORY, sent)

    def pause_reason(self, repository: str = REPOSITORY) -> str | None:
        """The reason the service holds, None when the queue is not paused."""
        pause = self.merge_queue.repository(repository).pause
        return pause.reason if pause is not None else None

    def break_service(self, kind: str, *, path: str = "", **how: Any) -> None:
        """Arm a fault of the merge queue service, for good unless `times` is given."""
        self.merge_queue.faults.arm(Fault(kind, path=path, **{"times": None, **how}))

    def fix_service(self) -> None:
        self.merge_queue.faults.disarm()

    def break_slack(self, name: str, method: str, **how: object) -> None:
        """Arm a fault of Slack, for one call unless `times` is given."""
        self.slack.faults.arm({"name": name, "method": method, **how})

    async def struck(self, name: str, times: int = 1) -> None:
        """Wait until a fault of Slack has struck so many calls, though they may go on."""

        def hits() -> int:
            armed = self.slack.faults.listing()["faults"]
            return sum(fault["hits"] for fault in armed if fault["name"] == name)

        await until(lambda: hits() >= times, f"“{name}” striking")

    def requests(self, path: str) -> list[str]:
        """The requests that the service answered, whose path ends so."""
        made = [
            f"{request.method} {request.path}"
            for request in self.merge_queue.requests
            if request.status
        ]
        return [text for text in made if text.partition("?")[0].endswith(path)]

    def calls(self, method: str, *, since: Callable[[Json], bool] | None = None) -> list[Json]:
        """The calls of a Web API method that Slack received."""
        made = [call for call in self.slack.calls.since(0) if call["method"] == method]
        return [one for one in made if since is None or since(one)]

    # The end

    def assert_nothing_unexpected(self) -> None:
        """Fail for messages the test did not read, errors and refusals it did not expect."""
        unread = [
            (viewer, message.line)
            for viewer in (ALICE, BOB, CAROL, DAVE)
            for channel in self.slack.sight.workspace(viewer)["channels"]
            for message in self._bot_messages(viewer, channel["id"])
            if (message.channel, message.ts) not in self._read and not _is_progress(message)
        ]
        assert unread == [], f"not read: {unread}"
        unexpected = [error for error in self.logged_errors() if error not in self.expected_errors]
        assert unexpected == [], f"logged: {unexpected}"
        refused = {
            f"{call['method']} {call['error']}"
            for call in self.slack.calls.since(0)
            if call["error"]
        }
        unexpected_refusals = refused - self.expected_refusals
        assert not unexpected_refusals, f"refused by Slack: {unexpected_refusals}"


def _is_progress(shown: Shown) -> bool:
    """How far an act has come is told only when it takes longer than a moment.

    What waits for its checks has the same mark, in an answer that ends otherwise. So has, as text
    without blocks, that Slack is slow to tell who somebody is.
    """
    words = shown.words or shown.line
    return shown.ephemeral and words.startswith(":hourglass_flowing_sand: ") and words[-1] == "…"


_CHOSEN = {
    "initial_option": "selected_option",
    "initial_date_time": "selected_date_time",
    "initial_time": "selected_time",
}
"""What a form has chosen for the person, and how it is sent."""


def _chosen_already(view: ShownView) -> Json:
    chosen: Json = {}
    for element in view.elements():
        for initial, sent in _CHOSEN.items():
            if initial in element.body:
                given = {"type": element.body["type"], sent: element.body[initial]}
                chosen[element.block_id] = {element.body["action_id"]: given}
    return chosen


_PICKED = {"conversations_select": "selected_conversation", "timepicker": "selected_time"}


def _filled(view: ShownView, name: str, value: str | datetime) -> Json:
    if isinstance(value, datetime):
        return {"type": "datetimepicker", "selected_date_time": int(value.timestamp())}
    fields = {element.block_id: element for element in view.elements()}
    kind = fields[name].body["type"]
    if kind in _PICKED:
        # An empty one was cleared.
        return {"type": kind, _PICKED[kind]: value or None}
    if "options" not in fields[name].body:
        return {"type": "plain_text_input", "value": value}
    return {"type": kind, "selected_option": fields[name].option(value)}


def _container(shown: Blocks) -> Json:
    if isinstance(shown, ShownView):
        return {"type": "view", "view_id": shown.view_id}
    assert isinstance(shown, Shown)
    return {"type": "message", "channel": shown.channel, "ts": shown.ts}


@cache
def _manifest(mode: Mode, *, is_minimal: bool) -> Mapping[str, object]:
    text = MANIFEST.read_text(encoding="utf-8")
    if is_minimal:
        text = with_required_scopes(text)
    if mode == "http":
        text = over_http(text, f"https://mqbot.example{EVENTS_PATH}")
    manifest: Mapping[str, object] = yaml.safe_load(text)
    return manifest
