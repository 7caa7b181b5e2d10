"""A person's login and notifications. Only they see the answers.

A button on an old card, or pressed twice, updates the card to the current state.
"""

from collections.abc import Collection, Mapping

from bot.domain.audit import Origin
from bot.domain.groups import Group
from bot.domain.message import Message
from bot.domain.notices import Notice
from bot.messages import actions, group_acts, pause, people
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.people import (
    about,
    link_account,
    stop_waiting as forget_waiting,
    switch,
    switch_all,
)


@handles.command("link")
async def link(call: Call, _: None, *, login: str) -> None:
    user_id, bot = call.actor.user_id, call.bot
    owner, now = bot.configured.owners.get(login.lower()), bot.clock.now()
    linked = await bot.sources.store.run(link_account, user_id, login, owner, now)
    if linked.is_assigned:
        await call.reply(people.assigned(login))
        return
    if linked.holders:
        await call.reply(people.taken(login))
        for holder in linked.holders:
            await call.send_direct_message(holder, people.wanted_by(user_id, login, bot.command))
        return
    person = await bot.sources.store.run(about, user_id)
    await call.reply(people.linked(person, bot.command, is_first=linked.is_first))


@handles.command("link off")
async def unlink(call: Call, _: None) -> None:
    user_id, now = call.actor.user_id, call.bot.clock.now()
    was_linked = await call.bot.sources.store.run(
        lambda transaction: transaction.people.unlink(user_id, now)
    )
    await call.reply(people.unlinked(was_linked=was_linked))


@handles.command("me")
async def show_me(
    call: Call, _: None, *, chosen: Collection[Notice] = (), is_on: bool = False
) -> None:
    if chosen:
        card = await _switch(call, dict.fromkeys(chosen, is_on))
    else:
        person = await call.bot.sources.store.run(about, call.actor.user_id)
        card = people.me(person, call.bot.command)
    await call.reply(card)


@handles.click(actions.NOTICE)
async def choose_notices(call: Call, click: Interaction) -> None:
    """The menu holds everything that is on, also on an old card."""
    await call.admit()
    chosen = {Notice(option["value"]) for option in click.selected_options}
    changed, person = await call.bot.sources.store.run(switch_all, call.actor.user_id, chosen)
    if call.origin is not Origin.HOME:
        card = people.me(person, call.bot.command, people.switched(changed))
        await call.replace_message(card)


@handles.click(actions.NOTICE_STOP)
async def stop_notice(call: Call, click: Interaction) -> None:
    """The notification stays, and the answer comes below it."""
    await call.admit()
    notice = Notice(click.chosen.removesuffix(actions.OFF))
    await call.reply(await _switch(call, {notice: False}))


async def _switch(call: Call, choices: Mapping[Notice, bool]) -> Message:
    """What the person's card says then."""
    changed, person = await call.bot.sources.store.run(switch, call.actor.user_id, choices)
    return people.me(person, call.bot.command, people.switched(changed))


@handles.click(actions.WATCH)
async def watch(call: Call, click: Interaction) -> None:
    target = call.held(click).target
    is_new = await call.bot.use.resume_queue.watch(target, call.actor)
    if is_new is not None:
        await call.reply(group_acts.will_notify(target, is_new=is_new))
    elif isinstance(target, Group):
        await call.reply(group_acts.nothing_held(target.name))
    else:
        await call.reply(pause.not_paused(target))


@handles.click(actions.STOP_WAITING)
async def stop_waiting(call: Call, _click: Interaction) -> None:
    await call.admit()
    is_new, person = await call.bot.sources.store.run(forget_waiting, call.actor.user_id)
    if call.origin is not Origin.HOME:
        said = people.stopped_waiting(is_new=is_new)
        await call.replace_message(people.me(person, call.bot.command, said))
