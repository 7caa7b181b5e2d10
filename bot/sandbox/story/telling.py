"""Tells a story: people act in both services, and time passes between."""

import asyncio
import time
from collections.abc import Callable, Sequence

from bot.sandbox.server import Sandbox
from bot.sandbox.slack.block_kit.blocks import elements_of
from bot.sandbox.slack.block_kit.elements import options_of
from bot.sandbox.slack.state.workspace import Change, Message
from bot.sandbox.slack.wire import Json
from bot.sandbox.story.steps import Choose, Enter, Happen, React, Rest, Say, Step, Type

MINUTE = 60.0

_GRAIN_SECONDS = 15.0
"""The longest time that passes at once; what happens within it is posted at its end."""

_GOES_ON_AFTERWARDS = -3.0
_STRIDE_MINUTES = 5

_POLL_SECONDS = 5.0
"""After this time the app reads a log again, whenever it read it last."""

_POSTED_ABOUT = ("action.queue.enter", "action.queue.leave", "queue.pause.", "scheduled_freeze.")
_NEWEST_EVENTS = 40
"""More than happen within a grain."""

_LOOK_SECONDS = 0.02
_QUIET_SECONDS = 0.12
_SETTLING_SECONDS = 3.0
_ANSWER_SECONDS = 15.0

MoveClock = Callable[[float], None]
"""Lets so many seconds pass on the app's clock."""


class Teller:
    """Moves the clocks of both services and of the app together, as fast as the app follows."""

    def __init__(self, sandbox: Sandbox, behind: float, move_clock: MoveClock) -> None:
        """`behind`: how many seconds the service and the app are behind this machine's clock."""
        self._service = sandbox.merge_queue
        self._slack = sandbox.slack
        self._workspace = sandbox.slack.installation.workspace
        self._move_clock = move_clock
        self._behind = behind
        self._ends_at = time.time()
        self._workspace.move_clock(-behind)

    async def tell(self, steps: Sequence[Step], speed: float) -> None:
        """Carry the steps out in order, each at its minute; then all clocks are this machine's.

        Durations are as in life at first. What begins in the last minutes goes on afterwards, and
        has the speed of that time.
        """
        await self.settle(list(self._service.repositories))
        for step in sorted(steps, key=lambda step: step.minute):
            await self._pass_until(step.minute)
            if step.minute > _GOES_ON_AFTERWARDS:
                self._service.set_speed(speed)
            await self.take(step)
        self._move(self._behind)
        await self.settle(list(self._service.repositories))

    async def pass_time(self, minutes: int, speed: float) -> None:
        """Let time pass as in life, whatever the speed before and after."""
        self._service.set_speed(1.0)
        for _ in range(0, minutes, _STRIDE_MINUTES):
            self._move(_STRIDE_MINUTES * MINUTE)
            await self.settle(list(self._service.repositories))
        self._service.set_speed(speed)

    async def _pass_until(self, minute: float) -> None:
        """Let time pass up to a minute of the story; the app sees all that happens on the way."""
        target = self._ends_at + minute * MINUTE
        while (left := target - self._workspace.now()) > 0:
            before = self._service.service.next_event_id
            self._move(min(left, _GRAIN_SECONDS))
            changed = self._with_news(before)
            if changed:
                await self.settle(changed)

    def _move(self, seconds: float) -> None:
        self._behind -= seconds
        self._move_clock(seconds)
        self._service.skip(seconds)
        self._service.catch_up()
        self._workspace.move_clock(-self._behind)

    def _with_news(self, first_event: int) -> list[str]:
        """The repositories with an event, from that number on, which the app posts about."""
        return [
            name
            for name in self._service.repositories
            if any(
                event.id >= first_event and event.type.startswith(_POSTED_ABOUT)
                for event in self._service.events(name)[-_NEWEST_EVENTS:]
            )
        ]

    async def settle(self, repositories: Sequence[str]) -> None:
        """Wait until the app has read their logs, and posts and edits nothing more.

        Goes on after a few seconds: a slow machine may tell the story less well, but to its end.
        """
        # The page shows times by the workspace's clock, which has moved.
        self._workspace.notify(Change("app"))
        asked = self._service.request_count
        await _wait_for(lambda: self._has_read_logs(repositories, asked), _SETTLING_SECONDS)
        for _ in range(round(_SETTLING_SECONDS / _QUIET_SECONDS)):
            calls = self._slack.calls.count
            await asyncio.sleep(_QUIET_SECONDS)
            if self._slack.calls.count == calls:
                return

    def _has_read_logs(self, repositories: Sequence[str], asked: int) -> bool:
        count = self._service.request_count - asked
        newest = list(self._service.requests)[-count:] if count else []
        read = [request.path for request in newest if request.status and "/logs" in request.path]
        return all(any(name in path for path in read) for name in repositories)

    async def take(self, step: Step) -> None:
        """Carry out one step now, whatever its minute."""
        match step:
            case Enter():
                self._service.enqueue(step.repository, step.pull)
                self._move(_POLL_SECONDS)
                await self.settle([step.repository])
            case Happen():
                step.act(self._service, step.repository)
                self._move(_POLL_SECONDS)
                await self.settle([step.repository])
            case Say():
                self._say(step)
            case Type():
                await self._type(step)
            case Choose():
                await self._choose(step)
            case React():
                self._react(step)
            case Rest():
                await self.settle(list(self._service.repositories))

    async def _type(self, step: Type) -> None:
        """Type a command, and wait for the app's answer that everybody in the channel sees."""
        before = self._count_of_app(step.channel, step.answer)
        await self._slack.people.command(step.person, step.channel, step.text)
        await _wait_for(
            lambda: self._count_of_app(step.channel, step.answer) > before, _ANSWER_SECONDS
        )
        self._move(_POLL_SECONDS)
        await self.settle(list(self._service.repositories))

    async def _choose(self, step: Choose) -> None:
        message = self._find(step.channel, step.below)
        use = None if message is None else _use_of_option(message, step.option)
        if use is None:
            return
        await self._slack.people.action(step.person, **use)
        self._move(_POLL_SECONDS)
        await self.settle(list(self._service.repositories))

    def _count_of_app(self, channel: str, text: str) -> int:
        """How many messages of the app contain the text."""
        messages = self._workspace.channels[channel].messages.newest_first()
        return sum(message.from_app and text in message.text for message in messages)

    def _say(self, step: Say) -> None:
        root = None if step.below is None else self._find(step.channel, step.below)
        self._slack.people.message(
            step.person,
            step.channel,
            step.text,
            root.ts if root else None,
            broadcast=step.is_broadcast,
            files=step.files,
        )

    def _react(self, step: React) -> None:
        message = self._find(step.channel, step.below)
        if message is None:
            return
        for person in step.people:
            self._workspace.react(message, person, step.emoji)

    def _find(self, channel: str, text: str) -> Message | None:
        """The newest message that the channel shows and that contains the text."""
        for message in self._workspace.channels[channel].messages.newest_first():
            if text in message.text and message.is_listed:
                return message
        return None


def _use_of_option(message: Message, label: str) -> Json | None:
    """What the page sends when somebody chooses this option; None where no menu has it."""
    for block in message.drawn:
        for element in elements_of(block):
            for option in options_of(element):
                if option["text"]["text"] == label:
                    container = {"type": "message", "channel": message.channel, "ts": message.ts}
                    return {
                        "container": container,
                        "block_id": block["block_id"],
                        "action_id": element["action_id"],
                        "selected_option": option,
                    }
    return None


async def _wait_for(condition: Callable[[], bool], seconds: float) -> None:
    for _ in range(round(seconds / _LOOK_SECONDS)):
        if condition():
            return
        await asyncio.sleep(_LOOK_SECONDS)
