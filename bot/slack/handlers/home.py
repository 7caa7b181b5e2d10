"""The App Home tab, published when somebody opens it and refreshed while they may look at it."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.audit import Actor, Origin
from bot.domain.errors import PermissionDenied, StoreUnavailable
from bot.domain.home import HomeState, Viewer
from bot.domain.message import View
from bot.domain.permissions import Right
from bot.messages import actions, home
from bot.slack.background import Json
from bot.slack.handlers.registry import Bot, Call, RecentViewer, handles
from bot.slack.payloads import HOME, Interaction
from bot.slack.web_api.failures import FAILURES, read_failure
from bot.usecases.asking.home import home_state, viewers

logger = logging.getLogger(__name__)

RECENT = timedelta(hours=1)
"""Slack doesn't say when somebody closes the tab."""

RENEWED_EVERY = timedelta(minutes=1)


@handles.event("app_home_opened")
async def on_opened(call: Call, body: Json) -> None:
    """Slack also sends this event for the messages tab."""
    if (body["event"].get("tab") or HOME) == HOME:
        _opened(call).first = 0
        await publish(replace(call, origin=Origin.HOME))


@handles.click(actions.HOME_ON, actions.HOME_BACK)
async def turn_page(call: Call, click: Interaction) -> None:
    """The tab is published again after any click on it."""
    _opened(call).first = int(click.chosen.rpartition(":")[2]) - 1


def _opened(call: Call) -> RecentViewer:
    viewers, actor, now = call.bot.viewers, call.actor, call.bot.clock.now()
    recent = viewers.get(actor.user_id) or RecentViewer(actor, now)
    recent.actor, recent.opened_at = actor, now
    viewers[actor.user_id] = recent
    return recent


async def publish(call: Call) -> None:
    """Publish the tab for a person who opened it or clicked on it."""
    bot, actor = call.bot, call.actor
    try:
        await bot.use.check_permission.require(actor, Right.READ)
    except PermissionDenied as denied:
        extra = {"action": "home_refused", "actor": actor.user_id, "detail": str(denied)}
        logger.info("a person was refused the Home tab", extra=extra)
        await call.publish_home(home.refused(denied))
        return
    recent = _opened(call)
    try:
        (viewer,) = await _viewers(bot, [actor])
        state = await _state(bot, recent.first, [viewer])
    except StoreUnavailable:
        await call.publish_home(home.unavailable())
        raise
    await call.publish_home(home.home(state, viewer, bot.command))
    recent.seen, recent.read_at = _fingerprint(bot, state, viewer), state.read_at


async def refresh(bot: Bot) -> None:
    """Publish it again for people who opened it recently and would see a change.

    The queues are read once for everybody on the same page. Raises StoreUnavailable.
    """
    due = _due(bot, bot.clock.now())
    if not due:
        return
    may = await asyncio.gather(*(_may_still_read(bot, one) for one in due))
    readers = [one for one, is_reader in zip(due, may, strict=True) if is_reader]
    found = await _viewers(bot, [one.actor for one in readers])
    admitted = list(zip(readers, found, strict=True))
    states = {
        first: await _state(bot, first, [viewer for _, viewer in admitted])
        for first in {recent.first for recent, _ in admitted}
    }
    for recent, viewer in admitted:
        state = states[recent.first]
        seen = _fingerprint(bot, state, viewer)
        view = home.home(state, viewer, bot.command)
        if seen == recent.seen or await _show(bot, recent, view):
            recent.seen = seen
        recent.read_at = state.read_at


def _due(bot: Bot, now: datetime) -> Sequence[RecentViewer]:
    """People whose tab may be renewed now; forgets those who opened it long ago."""
    for one in [each for each in bot.viewers.values() if now - each.opened_at > RECENT]:
        del bot.viewers[one.actor.user_id]
    return [
        one
        for one in bot.viewers.values()
        if one.read_at is not None and now - one.read_at >= RENEWED_EVERY
    ]


async def _may_still_read(bot: Bot, recent: RecentViewer) -> bool:
    """Forget a person who may not. If Slack doesn't say, the tab is due again as usual."""
    check = bot.use.check_permission
    if await check.may(recent.actor, Right.READ):
        return True
    if await check.is_refused(recent.actor):
        bot.viewers.pop(recent.actor.user_id, None)
    else:
        recent.read_at = bot.clock.now()
    return False


async def _state(bot: Bot, first: int, viewers: Sequence[Viewer]) -> HomeState:
    logins = {one.person.login for one in viewers}
    return await home_state(
        bot.repositories.names, bot.sources, first, [one for one in logins if one is not None]
    )


async def _viewers(bot: Bot, actors: Sequence[Actor]) -> Sequence[Viewer]:
    check = bot.use.check_permission
    may = await asyncio.gather(*(check.may(one, Right.PAUSE) for one in actors))
    ids = [one.user_id for one in actors]
    found = await viewers(dict(zip(ids, may, strict=True)), bot.sources)
    return [found[one] for one in ids]


async def _show(bot: Bot, recent: RecentViewer, view: View) -> bool:
    """Whether Slack took the tab. If not, it is due again as usual, and not sooner."""
    try:
        await bot.background.client.views_publish(
            user_id=recent.actor.user_id, view=dict(view.view)
        )
    except FAILURES as error:
        logger.info(
            "a Home tab was not renewed",
            extra={"action": "home_not_renewed", "error": read_failure(error).code},
        )
        return False
    return True


def _fingerprint(bot: Bot, state: HomeState, viewer: Viewer) -> str:
    return json.dumps(home.home(state.timeless(), viewer, bot.command).view)
