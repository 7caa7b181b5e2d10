"""A channel's subscriptions, default repository and board, and what happens to the channel.

The channel sees changes, the caller the rest.
"""

from bot.blocks import controls
from bot.channels.subscription import SubscriptionOptions
from bot.channels.texts import greeting, subscriptions
from bot.desk.registry import Call, handles
from bot.kernel.groups import Group, Target, repositories_of
from bot.kernel.repository import RepositoryName
from bot.questions.reading_log import preview_levels
from bot.slack.payloads import Interaction, Json


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
    change = await call.bot.use.channel_settings.change_default(repository, call.caller)
    if change.is_new:
        said = subscriptions.default_set(change, call.actor.name, call.bot.command)
        await call.post_in_channel(said)
    else:
        await call.reply(subscriptions.default_reply(repository, call.bot.command))


@handles.command("subscribe")
async def subscribe(call: Call, where: Target, *, options: SubscriptionOptions) -> None:
    names = repositories_of(where)
    through = where.mention if isinstance(where, Group) else None
    done = await call.bot.use.channel_settings.subscribe(call.caller, names, options, through)
    found = [change.after for change in done if change.after is not None]
    if not any(change.is_new for change in done):
        await call.reply(subscriptions.already_so(where, found, call.bot.command))
        return
    message = subscriptions.subscribed(
        where,
        found,
        await call.bot.channels.access(call.caller.place),
        command=call.bot.command,
        bot_name=call.bot.name,
        configured=[change.configured for change in done if change.configured is not None],
    )
    before = [change.before for change in done if change.is_new and change.before is not None]
    await call.post_in_channel(subscriptions.with_earlier(message, before, call.bot.command))


@handles.click(controls.LEVELS)
async def show_levels(call: Call, click: Interaction) -> None:
    await call.admit()
    repository = call.bot.repositories.allowed(click.chosen)
    preview = await preview_levels(repository, call.bot.sources)
    await call.reply(subscriptions.levels(repository, preview))


@handles.command("unsubscribe")
async def unsubscribe(call: Call, where: Target, *, options: SubscriptionOptions) -> None:
    names = repositories_of(where)
    through = where.mention if isinstance(where, Group) else None
    done = await call.bot.use.channel_settings.unsubscribe(call.caller, names, options, through)
    changed = [change for change in done if change.is_new]
    configured = [change.repository for change in done if change.configured is not None]
    if changed:
        ended = [change.repository for change in changed if change.after is None]
        still = [left for change in changed for left in change.left]
        before = [change.before for change in changed if change.before is not None]
        message = subscriptions.unsubscribed(where, ended, still, call.bot.command)
        await call.post_in_channel(subscriptions.with_earlier(message, before, call.bot.command))
    if configured:
        await call.reply(subscriptions.still_configured(configured))
    elif not changed:
        left = [change.after for change in done if change.after is not None]
        await call.reply(subscriptions.not_subscribed(where, left, call.bot.command))


@handles.click(controls.END_CHANNEL)
async def end_channel(call: Call, click: Interaction) -> None:
    """From the Home tab: nobody can type anything in an archived or deleted channel."""
    done = await call.bot.use.channel_settings.end_all(call.caller, click.chosen)
    ended = [change.repository for change in done if change.is_new and not change.left]
    configured = [change.repository for change in done if change.configured is not None]
    await call.reply(subscriptions.channel_ended(click.chosen, ended, configured))


@handles.event("member_joined_channel")
async def on_invited(call: Call, _: Json) -> None:
    """The bot itself joined a channel; by itself it joins those that were subscribed before.

    https://docs.slack.dev/reference/events/member_joined_channel
    """
    if not call.actor.user_id:
        return
    await call.admit()
    found = await call.bot.use.channel_settings.subscriptions(call.caller.place)
    names = call.bot.repositories.names
    await call.post_in_channel(greeting.greeting(names, found, call.bot.command))


@handles.event("channel_shared", "channel_unshared")
async def on_sharing(call: Call, event: Json) -> None:
    """A channel that is unshared may still be shared with a third organisation.

    https://docs.slack.dev/reference/events/channel_shared
    """
    is_shared = event["type"] == "channel_shared" or bool(event.get("is_ext_shared"))
    channel_id = str(event.get("channel"))
    await call.bot.use.channel_settings.note_sharing(channel_id, is_shared=is_shared)


@handles.event("channel_id_changed")
async def on_changed(call: Call, event: Json) -> None:
    """Slack changes the id of a channel, for example when it is about to be shared."""
    await call.bot.use.channel_settings.rename(
        str(event["old_channel_id"]), str(event["new_channel_id"])
    )
