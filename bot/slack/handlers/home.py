"""The App Home tab, published when somebody opens it and refreshed while they may look at it."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.audit import Origin
from bot.domain.errors import PermissionDenied, StoreUnavailable
from bot.domain.home import HomeState
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
async def on_opened(call: Call, event: Json) -> None:
    """Slack also sends this event for the messages tab."""
    if (event.get("tab") or HOME) == HOME:
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
    user_id = call.actor.user_id
    try:
        await call.admit()
        ((recent, view, seen, read_at),) = await _draw(call.bot, [_opened(call)])
    except PermissionDenied as denied:
        extra = {"action": "home_refused", "actor": user_id, "detail": str(denied)}
        logger.info("a person was refused the Home tab", extra=extra)
        await _publish(call.bot, user_id, home.refused(denied))
    except StoreUnavailable:
        await _publish(call.bot, user_id, home.unavailable())
        raise
    else:
        await _publish(call.bot, user_id, view)
        recent.seen, recent.read_at = seen, read_at


async def refresh(bot: Bot) -> None:
    """Publish it again for people who opened it recently and would see a change.

    Raises StoreUnavailable.
    """
    readers = [one for one in list(bot.viewers.values()) if await _is_due(bot, one)]
    for recent, view, seen, read_at in await _draw(bot, readers) if readers else ():
        # If Slack refuses it, it is due again as usual, and not sooner.
        recent.read_at = read_at
        if seen != recent.seen:
            try:
                await _publish(bot, recent.actor.user_id, view)
            except FAILURES as error:
                extra = {"action": "home_not_renewed", "error": read_failure(error).code}
                logger.info("a Home tab was not renewed", extra=extra)
            else:
                recent.seen = seen


async def _is_due(bot: Bot, recent: RecentViewer) -> bool:
    """Forget a person who opened it long ago, or who may not read."""
    now, check, actor = bot.clock.now(), bot.use.check_permission, recent.actor
    if now - recent.opened_at > RECENT:
        bot.viewers.pop(actor.user_id, None)
    elif recent.read_at is not None and now - recent.read_at >= RENEWED_EVERY:
        if await check.may(actor, Right.READ):
            return True
        if await check.is_refused(actor):
            bot.viewers.pop(actor.user_id, None)
        # Without an answer from Slack, it is due again as usual.
        recent.read_at = now
    return False


async def _draw(
    bot: Bot, people: Sequence[RecentViewer]
) -> list[tuple[RecentViewer, View, str, datetime]]:
    """Each person's tab, what it shows apart from times, and when it was read.

    The queues are read once for everybody on the same page.
    """
    may = await asyncio.gather(
        *(bot.use.check_permission.may(one.actor, Right.PAUSE) for one in people)
    )
    ids = [one.actor.user_id for one in people]
    found = await viewers(dict(zip(ids, may, strict=True)), bot.sources)
    logins = {one.person.login for one in found.values() if one.person.login is not None}
    drawn, states = [], dict[int, HomeState]()
    for one in people:
        # A click may turn the person's page while its queues are read.
        while (first := one.first) not in states:
            names, sources = bot.repositories.names, bot.sources
            states[first] = await home_state(names, sources, first, list(logins))
        state, viewer = states[first], found[one.actor.user_id]
        view = home.home(state, viewer, bot.command)
        seen = json.dumps(home.home(state.timeless(), viewer, bot.command).view)
        drawn.append((one, view, seen, state.read_at))
    return drawn


async def _publish(bot: Bot, user_id: str, view: View) -> None:
    client = bot.background.replies.client
    await client.views_publish(user_id=user_id, view=dict(view.view))
