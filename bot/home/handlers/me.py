"""A person's login and notifications. Only they see the answers.

A button on an old card, or pressed twice, updates the card to the current state.
"""

from collections.abc import Collection, Mapping

from bot.blocks.message import Message
from bot.desk.registry import Call, handles
from bot.home.about import Switched, about, switch, switch_all
from bot.kernel.actor import Origin
from bot.people import actions as people_actions, texts as people_texts
from bot.people.notices import Notice
from bot.slack.payloads import Interaction


@handles.command("me")
async def show_me(
    call: Call, _: None, *, chosen: Collection[Notice] = (), is_on: bool = False
) -> None:
    if chosen:
        card = await _switch(call, dict.fromkeys(chosen, is_on))
    else:
        person = await call.bot.sources.store.read(about, call.actor.user_id)
        card = people_texts.me(person, call.bot.command)
    await call.reply(card)


@handles.click(people_actions.NOTICE_BUTTON)
async def choose_notices(call: Call, click: Interaction) -> None:
    """The menu has everything that is on, also on an old card."""
    await call.admit()
    chosen = {Notice(option["value"]) for option in click.selected_options}
    switched = await call.bot.sources.store.run(switch_all, call.actor.user_id, chosen)
    if call.origin is not Origin.HOME:
        await call.replace_message(_me_card(call, switched))


@handles.click(people_actions.NOTICE_STOP)
async def stop_notice(call: Call, click: Interaction) -> None:
    """The notification stays, and the answer comes below it."""
    await call.admit()
    notice = Notice(click.chosen.removesuffix(people_actions.OFF_SUFFIX))
    await call.reply(await _switch(call, {notice: False}))


async def _switch(call: Call, choices: Mapping[Notice, bool]) -> Message:
    """What the person's card says then."""
    switched = await call.bot.sources.store.run(switch, call.actor.user_id, choices)
    return _me_card(call, switched)


def _me_card(call: Call, switched: Switched) -> Message:
    note = people_texts.switched(switched.changed)
    return people_texts.me(switched.person, call.bot.command, note)
