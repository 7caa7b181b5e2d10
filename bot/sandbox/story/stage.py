"""The demo's stage: a checklist that ticks itself, and a panel that makes things happen."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from bot.sandbox.merge_queue.controls import NewPullRequest
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.state.acts import Act
from bot.sandbox.slack.state.workspace import Change
from bot.sandbox.slack.wire import ControlRefusal, Json
from bot.sandbox.story.steps import CAROL, MERGE_QUEUE, SITE, Say, Type
from bot.sandbox.story.tasks import (
    FREEZE,
    NOTHING_FAILED,
    PAUSE,
    SECOND,
    TASKS,
    WHY_MINE,
    Task,
    done_by,
    takes_over,
)
from bot.sandbox.story.telling import Teller

DASHBOARD_REASON = "The payment provider is down"
COLLEAGUES_REASON = "Staging is out of disk space"

_THROUGH_THE_APP = " via Slack)"
"""How the reasons end of what people did through the app, not on the dashboard."""

_FAILURES = ("CHECKS_FAILED", "CHECKS_TIMEOUT")

FAILURE_BRANCH = "release/4.2"
BISECTION_BRANCH = "release/5.0"
BATCH_BRANCH = "next"
"""Branches of their own: nothing ahead is in the way."""

_HOUR_MINUTES = 60
_SERVICE_UNAVAILABLE = 503
_SLACK_CALLS = 100_000
"""More than the app makes during an outage that somebody watches."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """Something that can be made to happen; one that lasts is ended the same way."""

    label: str
    detail: str
    run: Callable[[], Awaitable[None]]


class DemoStage:
    """Shows the checklist at once; its steps can be ticked when the story has ended."""

    def __init__(self, sandbox: Sandbox, teller: Teller, speed: float) -> None:
        self._service = sandbox.merge_queue
        self._slack = sandbox.slack
        self._workspace = sandbox.slack.installation.workspace
        self._teller = teller
        self._speed = speed
        self._done: set[str] = set()
        self._lasting: set[str] = set()
        self._last_before_pause: str | None = None
        self._is_open = False
        self._failed: int | None = None
        self._passing = asyncio.Lock()
        detail = {"detail": "Service unavailable"}
        self._outage = Fault("error", times=None, status=_SERVICE_UNAVAILABLE, body=detail)
        self._triggers: Mapping[str, Trigger] = {
            "failure": Trigger(
                "A pull request fails",
                "Alice's hotfix breaks lint, within half a minute",
                self._fail,
            ),
            "bisection": Trigger(
                "A batch fails and is bisected",
                "Three pull requests, and one breaks the unit tests",
                self._bisect,
            ),
            "batch": Trigger(
                "A batch merges", "Three pull requests, in a minute or two", self._merge_batch
            ),
            "dashboard": Trigger(
                "Dave pauses the queue on the dashboard",
                "Outside Slack; the bot sees it and posts the card",
                self._pause_elsewhere,
            ),
            "colleague": Trigger(
                "Carol pauses the queue and has to leave",
                "Take over in the card's … menu",
                self._pause_and_leave,
            ),
            "hour": Trigger(
                "An hour passes", "Pause the queue first to see its reminders", self._pass_hour
            ),
            "service": Trigger(
                "The merge queue service is down",
                "Lasts until you choose this again",
                self._switch_service,
            ),
            "slack": Trigger(
                "Slack takes no messages",
                "Lasts until you choose this again",
                self._switch_slack,
            ),
        }

    def open(self) -> None:
        """Let the visitor begin: from now on, what people do ticks the tasks."""
        self._is_open = True
        self._failed = self._newest_failure()
        self._slack.installation.acts.on_act(self._follow_act)
        self._workspace.on_change(self._follow_change)
        self._workspace.notify(Change("stage"))

    def state(self) -> Json:
        """`is_open`, `tasks` and `triggers`, as the page shows them."""
        tasks: list[Json] = [
            {
                "name": task.name,
                "title": task.title,
                "hint": task.hint if self._can_try(task) else NOTHING_FAILED,
                "command": self._command(task),
                "person": task.person,
                "is_done": task.name in self._done,
            }
            for task in TASKS
        ]
        triggers: list[Json] = [
            {
                "name": name,
                "label": trigger.label,
                "detail": trigger.detail,
                "is_on": name in self._lasting,
            }
            for name, trigger in self._triggers.items()
        ]
        return {"is_open": self._is_open, "tasks": tasks, "triggers": triggers}

    def _can_try(self, task: Task) -> bool:
        return task.name != WHY_MINE or self._failed is not None

    def _command(self, task: Task) -> str | None:
        if task.command is None or not self._can_try(task):
            return None
        return task.command.format(number=self._failed)

    def _newest_failure(self) -> int | None:
        """The pull request that failed last and hasn't come back; None if there is none."""
        back = set[int | None]()
        for event in reversed(self._service.events(SITE)):
            if event.type == "action.queue.enter":
                back.add(event.pull_request)
            is_failure = event.metadata.get("dequeue_code") in _FAILURES
            if is_failure and event.type == "action.queue.leave" and event.pull_request not in back:
                return event.pull_request
        return None

    async def bring_about(self, name: str) -> None:
        """Make something happen; raises ControlRefusal `unknown_trigger` or `not_open`."""
        if not self._is_open:
            raise ControlRefusal("not_open", "the demo is still playing its story")
        trigger = self._triggers.get(name)
        if trigger is None:
            raise ControlRefusal("unknown_trigger", f"there is no trigger {name}", status=404)
        await trigger.run()
        self._workspace.notify(Change("stage"))

    # What people do

    def _follow_act(self, act: Act) -> None:
        if self._service.repository(SITE).pause is None:
            self._last_before_pause = act.user
        elif takes_over(act.words) and not self._has_paused(act.user):
            self._tick(SECOND)
        done = done_by(act.words)
        if done is not None and (done != WHY_MINE or act.kind in ("command", "action")):
            self._tick(done)

    def _has_paused(self, user: str) -> bool:
        pause = self._service.repository(SITE).pause
        is_through_the_app = pause is not None and pause.reason.endswith(_THROUGH_THE_APP)
        return is_through_the_app and user == self._last_before_pause

    def _follow_change(self, change: Change) -> None:
        """The app shows what it has done: then the service has it."""
        if change.kind not in ("message", "message_changed"):
            return
        repositories = [self._service.repository(name) for name in self._service.repositories]
        pauses = [repository.pause.reason for repository in repositories if repository.pause]
        if any(_is_visitors(reason) for reason in pauses):
            self._tick(PAUSE)
        freezes = [freeze.reason for repository in repositories for freeze in repository.freezes]
        if any(_is_visitors(reason) for reason in freezes):
            self._tick(FREEZE)
        failed = self._newest_failure()
        if failed != self._failed:
            self._failed = failed
            self._workspace.notify(Change("stage"))

    def _tick(self, task: str) -> None:
        if task not in self._done:
            self._done.add(task)
            self._workspace.notify(Change("stage"))

    # What happens

    async def _fail(self) -> None:
        broken = NewPullRequest(
            "Fix the total on the receipt", "alice", FAILURE_BRANCH, broken_check="lint"
        )
        self._enter(broken)

    async def _bisect(self) -> None:
        self._enter(
            NewPullRequest("Fix the empty basket badge", "carol", BISECTION_BRANCH),
            NewPullRequest(
                "Use one query for the order history",
                "bob",
                BISECTION_BRANCH,
                broken_check="unit tests",
            ),
            NewPullRequest("Wrap long names in the address card", "erin-k", BISECTION_BRANCH),
        )

    async def _merge_batch(self) -> None:
        self._enter(
            NewPullRequest("Offer pick-up in store", "carol", BATCH_BRANCH),
            NewPullRequest("Scale the search workers by queue length", "dave", BATCH_BRANCH),
            NewPullRequest("Treat an empty coupon as no coupon", "bob", BATCH_BRANCH),
        )

    def _enter(self, *pulls: NewPullRequest) -> None:
        for pull in pulls:
            self._service.enqueue(SITE, pull)

    async def _pause_elsewhere(self) -> None:
        self._refuse_if_paused()
        self._service.pause(SITE, DASHBOARD_REASON, by="dave")

    async def _pause_and_leave(self) -> None:
        self._refuse_if_paused()
        paused = f"/mq pause now acme/site {COLLEAGUES_REASON}"
        await self._teller.take(Type(0, CAROL, MERGE_QUEUE, paused, COLLEAGUES_REASON))
        if self._service.repository(SITE).pause is None:
            raise ControlRefusal("not_paused", "Carol couldn't pause acme/site.")
        leaving = "I'm clearing it up, but I have to leave in a minute. Who takes over?"
        await self._teller.take(Say(0, CAROL, MERGE_QUEUE, leaving))

    def _refuse_if_paused(self) -> None:
        if self._service.repository(SITE).pause is not None:
            raise ControlRefusal("already_paused", "acme/site is paused already.")

    async def _pass_hour(self) -> None:
        async with self._passing:
            await self._teller.pass_time(_HOUR_MINUTES, self._speed)

    async def _switch_service(self) -> None:
        if self._switch("service"):
            self._service.faults.arm(self._outage)
        else:
            # A scenario may have armed another.
            self._service.faults.disarm(self._outage)

    async def _switch_slack(self) -> None:
        if self._switch("slack"):
            self._slack.faults.arm({"name": "http_500", "times": _SLACK_CALLS})
        else:
            self._slack.faults.disarm()

    def _switch(self, name: str) -> bool:
        """Begin what lasts, or end it; whether it is on now."""
        self._lasting ^= {name}
        return name in self._lasting


def _is_visitors(reason: str) -> bool:
    """Whether a visitor gave this reason, not somebody on the dashboard or the triggers' Carol."""
    return reason.endswith(_THROUGH_THE_APP) and not reason.startswith(COLLEAGUES_REASON)
