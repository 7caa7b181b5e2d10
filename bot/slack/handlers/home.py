"""The App Home tab, published when somebody opens it and again while they may still look at it."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from typing_extensions import override

from bot.domain.audit import Actor, Origin
from bot.domain.denials import Right
from bot.domain.errors import PermissionDenied, StoreUnavailable
from bot.domain.home import HomeState, Viewer
from bot.domain.message import View
from bot.messages import actions, home
from bot.slack.conversation import Conversation
from bot.slack.handlers.home_viewers import RecentViewer, RecentViewers
from bot.slack.handlers.subject import OnClick, Shared, Subject
from bot.slack.payloads import BlockActions, HomeOpened
from bot.slack.web_api.failures import FAILURES, read_failure

logger = logging.getLogger(__name__)

HOME = "home"


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
        opened = HomeOpened.model_validate(body["event"])
        if opened.tab != HOME:
            return
        conversation = self.background.conversation(
            # The event names no team of the person's: Slack's answer about them decides.
            actor=Actor(opened.user, opened.user, body.get("team_id")),
            origin=Origin.HOME,
            trigger_id="",
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
            _log_refusal(actor, denied)
            await conversation.publish_home(home.refused(denied))
            return
        recent = self.viewers.opened(actor, self.clock.now())
        try:
            viewer = await self._viewer(actor)
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
        may = await asyncio.gather(
            *(self.use.check_permission.may(one.actor, Right.READ) for one in due)
        )
        for recent in (one for one, may_read in zip(due, may, strict=True) if not may_read):
            if await self.use.check_permission.is_refused(recent.actor, Right.READ):
                self.viewers.forget(recent)
            else:
                recent.saw(recent.seen, self.clock.now())
        admitted = [one for one, may_read in zip(due, may, strict=True) if may_read]
        pause = await asyncio.gather(
            *(self.use.check_permission.may(one.actor, Right.PAUSE) for one in admitted)
        )
        may_pause = {
            one.actor.user_id: allowed for one, allowed in zip(admitted, pause, strict=True)
        }
        viewers = await self.use.show_home.viewers(may_pause)
        return [(one, viewers[one.actor.user_id]) for one in admitted]

    async def _state(self, first: int, viewers: Sequence[Viewer]) -> HomeState:
        logins = {one.person.login for one in viewers}
        return await self.use.show_home.run(
            self.repositories.names, first, [one for one in logins if one is not None]
        )

    async def _viewer(self, actor: Actor) -> Viewer:
        may_pause = await self.use.check_permission.may(actor, Right.PAUSE)
        return (await self.use.show_home.viewers({actor.user_id: may_pause}))[actor.user_id]

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


def _log_refusal(actor: Actor, denied: PermissionDenied) -> None:
    logger.info(
        "a person was refused the Home tab",
        extra={"action": "home_refused", "actor": actor.user_id, "detail": str(denied)},
    )
