"""Commands that link a person's account."""

from bot.desk.registry import Call, handles
from bot.home.about import about
from bot.people import texts as people_texts
from bot.people.linking import link_account, unlink_account


@handles.command("link")
async def link(call: Call, _: None, *, login: str) -> None:
    user_id = call.actor.user_id
    bot = call.bot
    now = bot.clock.now()
    store = bot.sources.store
    linked = await store.run(link_account, call.caller, login, bot.configured, now)
    if linked.is_bots:
        await call.reply(people_texts.of_a_bot(login))
        return
    if linked.is_assigned:
        await call.reply(people_texts.assigned(login))
        return
    if linked.holders:
        await call.reply(people_texts.taken(login))
        for holder in linked.notified:
            await call.send_direct_message(
                holder, people_texts.wanted_by(user_id, login, bot.command)
            )
        return
    person = await bot.sources.store.read(about, user_id)
    said = people_texts.linked(
        person, bot.command, is_first=linked.is_first, replaced=linked.replaced
    )
    await call.reply(said)


@handles.command("link off")
async def unlink(call: Call, _: None) -> None:
    now = call.bot.clock.now()
    login = await call.bot.sources.store.run(unlink_account, call.caller, now)
    await call.reply(people_texts.unlinked(login, call.bot.command))
