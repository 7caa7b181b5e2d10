"""A channel's subscriptions, default repository and board, and what happens to the channel.

The channel sees changes, the caller the rest.
"""

from bot.domain.groups import Target, repositories_of
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import SubscriptionOptions
from bot.messages import actions, board, subscriptions
from bot.slack.background import Json
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.event_log import preview_levels
from bot.usecases.boards import NoPlace, ThereAlready


@handles.command("subscriptions")
async def show_all(call: Call, _: None, *, first: int) -> None:
    channel_id = call.caller.place
    found = await call.bot.use.channel_settings.subscriptions(channel_id)
    default = await call.bot.use.channel_settings.default(channel_id)
    await call.answer(subscriptions.subscriptions(found, call.bot.command, default, first))


@handles.command("subscriptions test")
async def show_samples(call: Call, repository: RepositoryName, *, branch: str | None) -> None:
    subscribed = await call.bot.use.channel_settings.samples(repository, branch)
    await call.reply(subscriptions.samples(repository, subscribed, branch))


@handles.command("default")
async def set_default(call: Call, repository: RepositoryName | None) -> None:
    if repository is None:
        known = await call.bot.use.channel_settings.default(call.caller.place)
        await call.reply(subscriptions.default_reply(known, call.bot.command))
    else:
        await change_default(call, repository)


@handles.command("default off")
async def change_default(call: Call, repository: RepositoryName | None) -> None:
    if await call.bot.use.channel_settings.change_default(repository, call.caller):
        await call.post_in_channel(subscriptions.default_set(repository))
    else:
        await call.reply(subscriptions.default_reply(repository, call.bot.command))


@handles.command("subscribe")
async def subscribe(call: Call, where: Target, *, options: SubscriptionOptions) -> None:
    names = repositories_of(where)
    done = await call.bot.use.channel_settings.subscribe(call.caller, names, options)
    found = [one.after for one in done if one.after is not None]
    if not any(one.is_new for one in done):
        await call.reply(subscriptions.already_so(where, found, call.bot.command))
        return
    message = subscriptions.subscribed(
        where,
        found,
        await call.bot.channels.access(call.caller.place),
        command=call.bot.command,
        bot_name=call.bot.name,
        configured=[one.configured for one in done if one.configured is not None],
    )
    await call.post_in_channel(message)


@handles.click(actions.LEVELS)
async def show_levels(call: Call, click: Interaction) -> None:
    await call.admit()
    repository = call.bot.repositories.allowed(click.chosen)
    preview = await preview_levels(repository, call.bot.sources)
    await call.reply(subscriptions.levels(repository, preview))


@handles.command("unsubscribe")
async def unsubscribe(call: Call, where: Target, *, options: SubscriptionOptions) -> None:
    names = repositories_of(where)
    done = await call.bot.use.channel_settings.unsubscribe(call.caller, names, options)
    changed = [one for one in done if one.is_new]
    configured = [one.repository for one in done if one.configured is not None]
    if changed:
        ended = [one.repository for one in changed if not one.left]
        still = [left for one in changed for left in one.left]
        message = subscriptions.unsubscribed(where, ended, still, call.bot.command)
        await call.post_in_channel(message)
    if configured:
        await call.reply(subscriptions.still_configured(configured))
    elif not changed:
        left = [one.after for one in done if one.after is not None]
        await call.reply(subscriptions.not_subscribed(where, left, call.bot.command))


@handles.command("board")
async def put_up(call: Call, repository: RepositoryName) -> None:
    match await call.bot.use.manage_boards.put_up(repository, call.caller):
        case NoPlace(access=access):
            await call.reply(board.no_place(repository, access, call.bot.name))
        case ThereAlready(message_ts=message_ts):
            address = await call.address_of(message_ts)
            await call.reply(board.there_already(repository, address))
        case None:
            return


@handles.command("board off")
async def take_down(call: Call, repository: RepositoryName) -> None:
    was_there = await call.bot.use.manage_boards.take_down(repository, call.caller)
    said = board.ended_reply(repository) if was_there else board.not_there(repository)
    await call.reply(said)


@handles.event("channel_shared", "channel_unshared")
async def on_sharing(call: Call, event: Json) -> None:
    """A channel that is unshared may still be shared with a third organisation.

    https://docs.slack.dev/reference/events/channel_shared
    """
    is_shared = event["type"] == "channel_shared" or bool(event.get("is_ext_shared"))
    call.bot.channels.remember_shared(str(event.get("channel")), is_shared=is_shared)


@handles.event("channel_id_changed")
async def on_changed(call: Call, event: Json) -> None:
    """Slack changes the id of a channel, for example when it is about to be shared."""
    await call.bot.use.channel_settings.rename(
        str(event["old_channel_id"]), str(event["new_channel_id"])
    )
