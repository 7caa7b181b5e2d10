"""The App Home tab, published when somebody opens it and again while they may still look at it."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from typing_extensions import override

from bot.domain.audit import Actor, Origin
from bot.domain.errors import PermissionDenied, StoreUnavailable
from bot.domain.home import HomeState, Viewer
from bot.domain.message import View
from bot.domain.permissions import Right
from bot.messages import actions, home
from bot.slack.conversation import Conversation
from bot.slack.handlers.subject import OnClick, Shared, Subject
from bot.slack.payloads import BlockActions
from bot.slack.web_api.failures import FAILURES, read_failure

logger = logging.getLogger(__name__)

HOME = "home"

RECENT = timedelta(hours=1)
"""Slack does not tell when somebody looks away."""

RENEWED_EVERY = timedelta(minutes=1)
VIEWERS = 50
"""Half of the hundred tabs a minute that Slack lets a workspace's app publish.

https://docs.slack.dev/reference/methods/views.publish
"""


@dataclass(slots=True)
class RecentViewer:
    """One person: `seen` is what the tab showed them, without the times on it, as of `read_at`.

    `first`: where the page begins that they look at.
    """

    actor: Actor
    opened_at: datetime
    first: int = 0
    read_at: datetime | None = None
    seen: str = ""

    def saw(self, seen: str, read_at: datetime) -> None:
        self.seen, self.read_at = seen, read_at


class RecentViewers:
    """At most VIEWERS people; those who opened the tab last are kept."""

    def __init__(self) -> None:
        self.people: dict[str, RecentViewer] = {}

    def opened(self, actor: Actor, now: datetime) -> RecentViewer:
        recent = self.people.pop(actor.user_id, None) or RecentViewer(actor, now)
        recent.actor, recent.opened_at = actor, now
        self.people[actor.user_id] = recent
        while len(self.people) > VIEWERS:
            del self.people[next(iter(self.people))]
        return recent

    def forget(self, recent: RecentViewer) -> None:
        self.people.pop(recent.actor.user_id, None)

    def due(self, now: datetime) -> Sequence[RecentViewer]:
        """Those whose tab may be renewed now; people who looked long ago are forgotten."""
        for one in [each for each in self.people.values() if now - each.opened_at > RECENT]:
            self.forget(one)
        return [
            one
            for one in self.people.values()
            if one.read_at is not None and now - one.read_at >= RENEWED_EVERY
        ]


class HomeTab(Subject):
    """Slack sends `app_home_opened` for the messages tab as well; only the Home tab is drawn."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.viewers = RecentViewers()

    @override
    def register(self, app: AsyncApp) -> None:
        app.event("app_home_opened")(self.on_opened)

    async def on_opened(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        if (body["event"].get("tab") or HOME) != HOME:
            return
        user_id = str(body["event"]["user"])
        conversation = self.background.conversation(
            # The event names no team of the person's: Slack's answer about them decides.
            actor=Actor(user_id, user_id, body.get("team_id")),
            origin=Origin.HOME,
        )
        self.background.start(body, self._open(conversation), conversation)

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        return {actions.HOME_ON: self._turn, actions.HOME_BACK: self._turn}

    async def _turn(self, click: BlockActions, conversation: Conversation) -> None:
        """The tab is drawn after any click on it."""
        first = int(click.action.chosen.rpartition(":")[2]) - 1
        self.viewers.opened(conversation.actor, self.clock.now()).first = first

    async def _open(self, conversation: Conversation) -> None:
        self.viewers.opened(conversation.actor, self.clock.now()).first = 0
        await self.publish(conversation)

    async def publish(self, conversation: Conversation) -> None:
        """Draw the tab for the person who opened it or pressed something on it."""
        actor = conversation.actor
        try:
            await self.use.check_permission.require(actor, Right.READ)
        except PermissionDenied as denied:
            extra = {"action": "home_refused", "actor": actor.user_id, "detail": str(denied)}
            logger.info("a person was refused the Home tab", extra=extra)
            await conversation.publish_home(home.refused(denied))
            return
        recent = self.viewers.opened(actor, self.clock.now())
        try:
            (viewer,) = await self._viewers([actor])
            state = await self._state(recent.first, [viewer])
        except StoreUnavailable:
            await conversation.publish_home(home.unavailable())
            raise
        await conversation.publish_home(home.home(state, viewer, self.command))
        recent.saw(self._fingerprint(state, viewer), state.read_at)

    async def refresh(self) -> None:
        """Draw it again for those who looked lately and would see something else by now.

        One reading of the queues serves all who look at the same page. Raises StoreUnavailable.
        """
        due = self.viewers.due(self.clock.now())
        if not due:
            return
        admitted = await self._admitted(due)
        states = {
            first: await self._state(first, [viewer for _, viewer in admitted])
            for first in {recent.first for recent, _ in admitted}
        }
        for recent, viewer in admitted:
            state = states[recent.first]
            seen = self._fingerprint(state, viewer)
            if seen != recent.seen and not await self._show(
                recent, home.home(state, viewer, self.command)
            ):
                seen = recent.seen
            recent.saw(seen, state.read_at)

    async def _admitted(self, due: Sequence[RecentViewer]) -> list[tuple[RecentViewer, Viewer]]:
        """Those who still may look; the tab of the others is left as it was.

        Who may not is forgotten; of whom Slack does not say, the tab is due again as any is.
        """
        check = self.use.check_permission
        may = await asyncio.gather(*(check.may(one.actor, Right.READ) for one in due))
        admitted = []
        for recent, may_read in zip(due, may, strict=True):
            if may_read:
                admitted.append(recent)
            elif await check.is_refused(recent.actor, Right.READ):
                self.viewers.forget(recent)
            else:
                recent.saw(recent.seen, self.clock.now())
        viewers = await self._viewers([one.actor for one in admitted])
        return list(zip(admitted, viewers, strict=True))

    async def _state(self, first: int, viewers: Sequence[Viewer]) -> HomeState:
        logins = {one.person.login for one in viewers}
        return await self.use.show_home.run(
            self.repositories.names, first, [one for one in logins if one is not None]
        )

    async def _viewers(self, actors: Sequence[Actor]) -> Sequence[Viewer]:
        check = self.use.check_permission
        may = await asyncio.gather(*(check.may(one, Right.PAUSE) for one in actors))
        ids = [one.user_id for one in actors]
        found = await self.use.show_home.viewers(dict(zip(ids, may, strict=True)))
        return [found[one] for one in ids]

    async def _show(self, recent: RecentViewer, view: View) -> bool:
        """Whether it is shown. Somebody who cannot be shown the tab now is shown it the next time.

        Then it is due again as any tab is, so that Slack is not asked more often for refusing.
        """
        try:
            await self.background.client.views_publish(
                user_id=recent.actor.user_id, view=dict(view.view)
            )
        except FAILURES as error:
            logger.info(
                "a Home tab was not renewed",
                extra={"action": "home_not_renewed", "error": read_failure(error).code},
            )
            return False
        return True

    def _fingerprint(self, state: HomeState, viewer: Viewer) -> str:
        return json.dumps(home.home(state.timeless(), viewer, self.command).view)
