"""Commands that link a person's account, and buttons that mute a pull request."""

from functools import partial

from bot.blocks import controls
from bot.blocks.message import Message
from bot.desk.registry import Accepted, Call, FormMistake, handles
from bot.home.about import about
from bot.kernel.actor import Origin
from bot.kernel.logins import LOGIN, LOGIN_RULE
from bot.kernel.repository import RepositoryName
from bot.people import actions as people_actions, texts as people_texts
from bot.people.linking import link_account, tell_again, unlink_account
from bot.people.muting import mute, unmute
from bot.slack.payloads import Interaction


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
    if linked.owners:
        is_told = False
        for owner in linked.notified:
            notice = people_texts.wanted_by(user_id, login, bot.command)
            if await call.send_direct_message(owner, notice):
                is_told = True
            else:
                await store.run(tell_again, user_id, login, owner)
        await call.reply(people_texts.taken(login, is_told=is_told))
        return
    person = await bot.sources.store.read(about, user_id)
    said = people_texts.linked(
        person, bot.command, is_first=linked.is_first, replaced=linked.replaced
    )
    await call.reply(said)


@handles.click(people_actions.LINK_BUTTON)
async def open_link_form(call: Call, _: Interaction) -> None:
    await call.admit()
    person = await call.bot.sources.store.read(about, call.actor.user_id)
    await call.open_modal(people_texts.link_form(person.login))


@handles.form(people_actions.LINK_VIEW)
async def submit_link(_: Call, form: Interaction) -> Accepted:
    typed = form.filled_in(people_actions.LOGIN_BLOCK, people_actions.LOGIN_BLOCK)
    login = typed.strip().removeprefix("@")
    if LOGIN.fullmatch(login) is None:
        raise FormMistake(people_actions.LOGIN_BLOCK, LOGIN_RULE)
    return Accepted(people_texts.linking(), partial(link, _=None, login=login))


@handles.command("link off")
async def unlink(call: Call, _: None) -> None:
    now = call.bot.clock.now()
    login = await call.bot.sources.store.run(unlink_account, call.caller, now)
    await call.reply(people_texts.unlinked(login, call.bot.command))


@handles.click(people_actions.MUTE)
async def press_mute(call: Call, click: Interaction) -> None:
    """Only for the person who pressed the button; only they see the answer."""
    await call.admit()
    about = _clicked_pull_request(call, click)
    await type_mute(call, about.repository, pull_request=about.number)


@handles.command("mute")
async def type_mute(call: Call, repository: RepositoryName, *, pull_request: int) -> None:
    about = people_actions.MutablePullRequest(repository, pull_request)
    now = call.bot.clock.now()
    until = await call.bot.sources.store.run(mute, call.actor.user_id, about, now)
    if call.origin is not Origin.HOME:
        await call.reply(people_texts.muted(repository, pull_request, until))


@handles.click(people_actions.UNMUTE)
async def press_unmute(call: Call, click: Interaction) -> None:
    await call.admit()
    said = await _unmute(call, _clicked_pull_request(call, click))
    if call.origin is not Origin.HOME:
        await call.replace_message(said)


@handles.command("unmute")
async def type_unmute(call: Call, repository: RepositoryName, *, pull_request: int) -> None:
    about = people_actions.MutablePullRequest(repository, pull_request)
    await call.reply(await _unmute(call, about))


async def _unmute(call: Call, about: people_actions.MutablePullRequest) -> Message:
    was_muted = await call.bot.sources.store.run(unmute, call.actor.user_id, about)
    return people_texts.unmuted(about.repository, about.number, was_muted=was_muted)


def _clicked_pull_request(call: Call, click: Interaction) -> people_actions.MutablePullRequest:
    """Raises RepositoryNotAllowed for a repository that is no longer configured."""
    return controls.read_value(
        people_actions.MutablePullRequest, click.chosen, call.bot.repositories
    )
