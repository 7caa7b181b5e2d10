"""A channel's subscriptions and default repository, and what happens to the channel.

The channel sees changes, the caller the rest.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot.acts.record import Action
from bot.blocks import controls
from bot.blocks.message import Message
from bot.channels import actions as channel_actions
from bot.channels.settings import ChannelSettings, SubscriptionChange
from bot.channels.subscription import (
    Level,
    ListedSubscription,
    Style,
    Subscription,
    SubscriptionOptions,
)
from bot.channels.texts import greeting, overview, subscriptions
from bot.desk.registry import Accepted, Call, field_checked, handles
from bot.kernel.groups import Group, Target, repositories_of, target_value
from bot.kernel.repository import RepositoryName
from bot.questions.reading_log import preview_levels
from bot.slack.payloads import Interaction, Json


def _settings(call: Call) -> ChannelSettings:
    return call.bot.use.channel_settings


@handles.command("subscriptions")
async def show_all(call: Call, _: None, *, first: int) -> None:
    channel_id = call.caller.place
    found = await _settings(call).subscriptions(channel_id)
    default = await _settings(call).default(channel_id)
    await call.answer(subscriptions.subscriptions(found, call.bot.command, default, first))


@handles.command("subscriptions test")
async def show_samples(call: Call, repository: RepositoryName, *, branch: str | None) -> None:
    subscribed = await _settings(call).samples(repository, branch)
    await call.reply(subscriptions.samples(repository, subscribed, branch))


@handles.command("default")
async def set_default(call: Call, repository: RepositoryName | None) -> None:
    if repository is None:
        known = await _settings(call).default(call.caller.place)
        await call.reply(subscriptions.default_reply(known, call.bot.command))
    else:
        await change_default(call, repository)


@handles.command("default off")
async def change_default(call: Call, repository: RepositoryName | None) -> None:
    change = await _settings(call).change_default(repository, call.caller)
    if change.is_new:
        said = subscriptions.default_set(change, call.actor.name, call.bot.command)
        await call.post_in_channel(said)
    else:
        await call.reply(subscriptions.default_reply(repository, call.bot.command))


@handles.command("subscribe")
async def subscribe(call: Call, where: Target, *, options: SubscriptionOptions) -> None:
    names = repositories_of(where)
    done = await _settings(call).subscribe(call.caller, names, options, _through(where))
    if any(change.is_new for change in done):
        await call.post_in_channel(await _subscribed(call, where, done))
    else:
        found = _after(done)
        await call.reply(subscriptions.already_so(where, found, call.bot.command))


def _through(where: Target) -> str | None:
    return where.mention if isinstance(where, Group) else None


def _after(done: Sequence[SubscriptionChange]) -> list[Subscription]:
    """What the channel has after the changes."""
    return [change.after for change in done if change.after is not None]


async def _subscribed(call: Call, where: Target, done: Sequence[SubscriptionChange]) -> Message:
    """The post in the channel that was subscribed, which is the one of the call."""
    access = await call.bot.channels.access(call.caller.place)
    configured = [change.configured for change in done if change.configured is not None]
    message = subscriptions.subscribed(
        where,
        _after(done),
        access,
        command=call.bot.command,
        bot_name=call.bot.name,
        configured=configured,
    )
    before = [change.before for change in done if change.is_new and change.before is not None]
    return subscriptions.with_earlier(message, where, before, call.bot.command)


@handles.click(controls.LEVELS)
async def show_levels(call: Call, click: Interaction) -> None:
    await call.admit()
    repository = call.bot.repositories.allowed(click.chosen)
    preview = await preview_levels(repository, call.bot.sources)
    await call.reply(subscriptions.levels(repository, preview))


@handles.command("unsubscribe")
async def unsubscribe(call: Call, where: Target, *, options: SubscriptionOptions) -> None:
    names = repositories_of(where)
    done = await _settings(call).unsubscribe(call.caller, names, options, _through(where))
    changed = [change for change in done if change.is_new]
    configured = [change.repository for change in done if change.configured is not None]
    if changed:
        await call.post_in_channel(_unsubscribed(call, where, changed))
    if configured:
        await call.reply(subscriptions.still_configured(configured))
    elif not changed:
        await call.reply(subscriptions.not_subscribed(where, _after(done), call.bot.command))


def _unsubscribed(call: Call, where: Target, changed: Sequence[SubscriptionChange]) -> Message:
    """The post in the channel whose subscriptions changed."""
    ended = [change.repository for change in changed if change.after is None]
    still = [left for change in changed for left in change.left]
    before = [change.before for change in changed if change.before is not None]
    message = subscriptions.unsubscribed(where, ended, still, call.bot.command)
    return subscriptions.with_earlier(message, where, before, call.bot.command)


def _elsewhere(call: Call, channel_id: str) -> Call:
    """The same call for another channel than the one that it came from."""
    return replace(call, channel_id=channel_id, view_id=None)


@handles.click(channel_actions.SUBSCRIPTION_ADD)
async def open_add_form(call: Call, _: Interaction) -> None:
    await call.admit()
    await call.open_modal(overview.add_form(call.bot.targets))


@handles.click(channel_actions.SUBSCRIPTION_CHANGE)
async def open_change_form(call: Call, click: Interaction) -> None:
    channel_id, target = channel_actions.read_value(click.chosen)
    await call.permit(Action.SUBSCRIBE, call.bot.groups.target(target))
    found = await _settings(call).of_target(channel_id, target)
    if found:
        listed = ListedSubscription(found[0], len(found))
        await call.open_modal(overview.change_form(listed))
    else:
        await call.reply(overview.subscription_gone(channel_id, target))


@handles.form(channel_actions.SUBSCRIPTION_VIEW)
async def submit_subscription(call: Call, form: Interaction) -> Accepted:
    with field_checked(controls.TARGET_BLOCK):
        where = call.bot.groups.target(form.target)
    options = _options_of(form)
    channel_id = form.carried.channel
    if channel_id is not None:
        work = partial(_change_subscription, where=where, channel_id=channel_id, options=options)
    else:
        channel_id = form.chosen_channel(channel_actions.CHANNEL_BLOCK)
        work = partial(_subscribe, where=where, channel_id=channel_id, options=options)
    return Accepted(overview.saving(), work)


def _options_of(form: Interaction) -> SubscriptionOptions:
    """The level and the time of a digest; an empty time ends a digest."""
    level = form.filled_in(channel_actions.LEVEL_BLOCK, channel_actions.LEVEL_BLOCK)
    options = SubscriptionOptions(level=Level(level) if level else None)
    at = form.chosen_time(channel_actions.DIGEST_BLOCK)
    if at is None:
        was_digest = form.carried.action == Style.DIGEST
        return replace(options, style=Style.THREAD) if was_digest else options
    if f"{at:%H:%M}" == form.carried.seen:
        # In the time zone that it has.
        return replace(options, style=Style.DIGEST)
    return replace(options, style=Style.DIGEST, digest_at=at)


async def _subscribe(
    call: Call, where: Target, channel_id: str, options: SubscriptionOptions
) -> None:
    there = _elsewhere(call, channel_id)
    names = repositories_of(where)
    done = await _settings(call).subscribe(there.caller, names, options, _through(where))
    await _show_saved(call, where, channel_id, done)


async def _change_subscription(
    call: Call, where: Target, channel_id: str, options: SubscriptionOptions
) -> None:
    """Of a selection, only what the channel has through it."""
    found = await _settings(call).of_target(channel_id, target_value(where))
    if not found:
        await call.reply(overview.subscription_gone(channel_id, target_value(where)))
        return
    names = [subscription.repository for subscription in found]
    there = _elsewhere(call, channel_id)
    done = await _settings(call).subscribe(there.caller, names, options, _through(where))
    await _show_saved(call, where, channel_id, done)


async def _show_saved(
    call: Call, where: Target, channel_id: str, done: Sequence[SubscriptionChange]
) -> None:
    """In the form: what changed; in the channel: the post, with who did it."""
    there = _elsewhere(call, channel_id)
    is_new = any(change.is_new for change in done)
    await call.reply(overview.saved(channel_id, where, _after(done), is_new=is_new))
    if is_new:
        post = await _subscribed(there, where, done)
        await there.post_in_channel(overview.by_whom(post, call.actor.name))


@handles.click(channel_actions.SUBSCRIPTION_END)
async def end_subscription(call: Call, click: Interaction) -> None:
    """From the list on the Home tab: a post in the channel says who did it."""
    channel_id, target = channel_actions.read_value(click.chosen)
    where = call.bot.groups.target(target)
    there = _elsewhere(call, channel_id)
    done = await _settings(call).end_target(there.caller, target)
    changed = [change for change in done if change.is_new]
    if changed:
        post = _unsubscribed(call, where, changed)
        await there.post_in_channel(overview.by_whom(post, call.actor.name))
    else:
        await call.reply(overview.subscription_gone(channel_id, target))


@handles.click(controls.END_CHANNEL)
async def end_channel(call: Call, click: Interaction) -> None:
    """From the Home tab: nobody can type anything in an archived or deleted channel."""
    done = await _settings(call).end_all(call.caller, click.chosen)
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
    found = await _settings(call).subscriptions(call.caller.place)
    names = call.bot.repositories.names
    await call.post_in_channel(greeting.greeting(names, found, call.bot.command))


@handles.event("channel_shared", "channel_unshared")
async def on_sharing(call: Call, event: Json) -> None:
    """A channel that is unshared may still be shared with a third organisation.

    https://docs.slack.dev/reference/events/channel_shared
    """
    is_shared = event["type"] == "channel_shared" or bool(event.get("is_ext_shared"))
    channel_id = str(event.get("channel"))
    await _settings(call).note_sharing(channel_id, is_shared=is_shared)


@handles.event("channel_id_changed")
async def on_changed(call: Call, event: Json) -> None:
    """Slack changes the id of a channel, for example when it is about to be shared."""
    before = str(event["old_channel_id"])
    after = str(event["new_channel_id"])
    await _settings(call).rename(before, after)
