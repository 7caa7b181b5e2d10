"""The App Home tab, published when somebody opens it and refreshed while they may look at it."""

import asyncio
import json
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from bot.acts.check_permission import CheckPermission
from bot.acts.errors import PermissionDenied
from bot.acts.permission import Right
from bot.acts.texts import permissions as permission_texts
from bot.blocks import blocks, modal
from bot.blocks.message import View
from bot.desk.registry import Bot, Call, RecentViewer, handles
from bot.home import actions as home_actions, texts as home_texts
from bot.home.choices import (
    HOME_BEGIN,
    CalendarPage,
    HomePage,
    HomePlace,
    HomeState,
    SubscriptionsState,
    Viewer,
)
from bot.home.reading import calendar_page, home_state, subscriptions_state, viewers
from bot.kernel.actor import Actor
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
        _opened(call).place = HOME_BEGIN
        await publish(call)


@handles.click(home_actions.HOME_ON, home_actions.HOME_BACK)
async def turn_page(call: Call, click: Interaction) -> None:
    """The tab is published again after any click on it."""
    recent = _opened(call)
    recent.place = recent.place._replace(first=int(click.chosen.rpartition(":")[2]) - 1)


@handles.click(home_actions.HOME_PAGE)
async def show_page(call: Call, click: Interaction) -> None:
    _opened(call).place = HomePlace(HomePage(click.chosen))


@handles.click(home_actions.WHO_MAY)
async def show_who_may(call: Call, _: Interaction) -> None:
    """Slack is asked for the names once the form is open: a trigger is valid for three seconds."""
    await call.admit()
    reading = modal.result_modal(blocks.sentence(permission_texts.READING_RIGHTS), None)
    turn = await call.open_modal(reading)
    check = call.bot.use.check_permission
    found = await check.who_may(permission_texts.SHOWN_RIGHTS, call.bot.repositories.names)
    await call.show_in_modal(turn, modal.result_modal(permission_texts.who_may(found), None))


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
        logger.info("the Home tab wasn't shown: no right", extra=extra)
        await _publish(call.bot, user_id, home_texts.refused(denied))
    except StoreUnavailable:
        await _publish(call.bot, user_id, home_texts.unavailable())
        raise
    else:
        await _publish(call.bot, user_id, tab.view)
        tab.viewer.seen = tab.seen
        tab.viewer.read_at = tab.read_at


def renew_soon(call: Call) -> None:
    """Have the tab drawn again for a person who has just sent a form, if they look at it."""
    recent = call.bot.viewers.get(call.actor.user_id)
    if recent is not None and recent.read_at is not None:
        recent.read_at -= RENEWED_EVERY


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
            logger.info("a Home tab couldn't be refreshed", extra=extra)
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
    rights = {person.actor.user_id: await _rights_of(check, person.actor) for person in people}
    proposals = await bot.use.proposals.answerable([person.actor for person in people])
    found = await viewers(rights, proposals, bot.sources)
    logins = {viewer.person.login for viewer in found.values() if viewer.person.login is not None}
    drawn: list[_Tab] = []
    states = dict[HomePlace, ShownState]()
    for person in people:
        # A click may turn the person's page while its queues are read.
        while (place := person.place) not in states:
            states[place] = await _read_page(bot, place, list(logins))
        state = states[place]
        viewer = found[person.actor.user_id]
        view = _view(state, viewer, bot.command)
        seen = json.dumps(_view(state.timeless(), viewer, bot.command).view)
        drawn.append(_Tab(person, view, seen, state.read_at))
    return drawn


async def _rights_of(check: CheckPermission, actor: Actor) -> frozenset[Right]:
    """Those whose buttons the person sees; each act asks again."""
    rights = (Right.PAUSE, Right.FREEZE, Right.SUBSCRIBE)
    answers = await asyncio.gather(*(check.may(actor, right) for right in rights))
    return frozenset(right for right, may in zip(rights, answers, strict=True) if may)


ShownState = HomeState | SubscriptionsState | CalendarPage


async def _read_page(bot: Bot, place: HomePlace, logins: Sequence[str]) -> ShownState:
    if place.page is HomePage.SUBSCRIPTIONS:
        return await subscriptions_state(bot.sources, place.first)
    names = bot.repositories.names
    read_calendar = bot.use.apply_windows.read_calendar
    if place.page is HomePage.CALENDAR:
        return await calendar_page(names, bot.sources, read_calendar, place.first)
    return await home_state(names, bot.use.examine_queue, read_calendar, place.first, logins)


def _view(state: ShownState, viewer: Viewer, command: str) -> View:
    if isinstance(state, SubscriptionsState):
        return home_texts.subscriptions(state, viewer)
    if isinstance(state, CalendarPage):
        return home_texts.calendar(state, viewer)
    return home_texts.home(state, viewer, command)


async def _publish(bot: Bot, user_id: str, view: View) -> None:
    client = bot.background.replies.client
    await show_view("views.publish", partial(client.views_publish, user_id=user_id), view)
