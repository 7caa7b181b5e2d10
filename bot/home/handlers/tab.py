"""The App Home tab, published when somebody opens it and refreshed while they may look at it."""

import asyncio
import json
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from bot.acts.errors import PermissionDenied
from bot.acts.permission import Right
from bot.blocks.message import View
from bot.desk.registry import Bot, Call, RecentViewer, handles
from bot.home import actions as home_actions, texts as home_texts
from bot.home.choices import HomeState
from bot.home.reading import home_state, viewers
from bot.slack.conversation import show_view
from bot.slack.payloads import HOME, Interaction, Json
from bot.slack.web_api.failures import FAILURES, read_failure
from bot.store.errors import StoreUnavailable

logger = logging.getLogger(__name__)

RECENTLY_OPENED = timedelta(hours=1)
"""Slack doesn't say when somebody closes the tab."""

RENEWED_EVERY = timedelta(minutes=1)


HOME_OPENED = "app_home_opened"


@handles.event("app_home_opened")
async def on_opened(call: Call, event: Json) -> None:
    """Slack also sends this event for the messages tab."""
    if (event.get("tab") or HOME) == HOME:
        _opened(call).first = 0
        await publish(call)


@handles.click(home_actions.HOME_ON, home_actions.HOME_BACK)
async def turn_page(call: Call, click: Interaction) -> None:
    """The tab is published again after any click on it."""
    _opened(call).first = int(click.chosen.rpartition(":")[2]) - 1


def _opened(call: Call) -> RecentViewer:
    viewers = call.bot.viewers
    actor = call.actor
    now = call.bot.clock.now()
    recent = viewers.get(actor.user_id) or RecentViewer(actor, now)
    recent.actor = actor
    recent.opened_at = now
    viewers[actor.user_id] = recent
    return recent


async def publish(call: Call) -> None:
    """Publish the tab for a person who opened it or clicked on it."""
    user_id = call.actor.user_id
    try:
        await call.admit()
        (tab,) = await _draw(call.bot, [_opened(call)])
    except PermissionDenied as denied:
        extra = {"action": "home_refused", "actor": user_id, "detail": str(denied)}
        logger.info("a person was refused the Home tab", extra=extra)
        await _publish(call.bot, user_id, home_texts.refused(denied))
    except StoreUnavailable:
        await _publish(call.bot, user_id, home_texts.unavailable())
        raise
    else:
        await _publish(call.bot, user_id, tab.view)
        tab.viewer.seen = tab.seen
        tab.viewer.read_at = tab.read_at


async def refresh(bot: Bot) -> None:
    """Publish it again for people who opened it recently and would see a change.

    Raises StoreUnavailable.
    """
    readers = [viewer for viewer in list(bot.viewers.values()) if await _is_due(bot, viewer)]
    if not readers:
        return
    for tab in await _draw(bot, readers):
        # If Slack refuses it, it is due again as usual, and not sooner.
        tab.viewer.read_at = tab.read_at
        if tab.seen == tab.viewer.seen:
            continue
        try:
            await _publish(bot, tab.viewer.actor.user_id, tab.view)
        except FAILURES as error:
            extra = {"action": "home_not_renewed", "error": read_failure(error).code}
            logger.info("a Home tab was not renewed", extra=extra)
        else:
            tab.viewer.seen = tab.seen


async def _is_due(bot: Bot, recent: RecentViewer) -> bool:
    """Forget a person who opened it long ago, or who may not read."""
    now = bot.clock.now()
    check = bot.use.check_permission
    actor = recent.actor
    if now - recent.opened_at > RECENTLY_OPENED:
        bot.viewers.pop(actor.user_id, None)
    elif recent.read_at is not None and now - recent.read_at >= RENEWED_EVERY:
        if await check.may(actor, Right.READ):
            return True
        if await check.is_refused(actor):
            bot.viewers.pop(actor.user_id, None)
        # Without an answer from Slack, it is due again as usual.
        recent.read_at = now
    return False


class _Tab(NamedTuple):
    """One person's Home tab."""

    viewer: RecentViewer
    view: View
    seen: str  #: what it shows apart from times
    read_at: datetime


async def _draw(bot: Bot, people: Sequence[RecentViewer]) -> list[_Tab]:
    """Each person's tab; the queues are read once for everybody on the same page."""
    check = bot.use.check_permission
    answers = await asyncio.gather(*(check.may(person.actor, Right.PAUSE) for person in people))
    ids = [person.actor.user_id for person in people]
    may_pause = dict(zip(ids, answers, strict=True))
    found = await viewers(may_pause, bot.sources)
    logins = {viewer.person.login for viewer in found.values() if viewer.person.login is not None}
    drawn: list[_Tab] = []
    states = dict[int, HomeState]()
    for person in people:
        # A click may turn the person's page while its queues are read.
        while (first := person.first) not in states:
            names = bot.repositories.names
            states[first] = await home_state(names, bot.sources, first, list(logins))
        state = states[first]
        viewer = found[person.actor.user_id]
        view = home_texts.home(state, viewer, bot.command)
        seen = json.dumps(home_texts.home(state.timeless(), viewer, bot.command).view)
        drawn.append(_Tab(person, view, seen, state.read_at))
    return drawn


async def _publish(bot: Bot, user_id: str, view: View) -> None:
    client = bot.background.replies.client
    await show_view("views.publish", partial(client.views_publish, user_id=user_id), view)
