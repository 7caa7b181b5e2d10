"""All subscriptions in one list, and the forms that add and change one."""

from collections.abc import Sequence

from bot.blocks import blocks, controls, modal
from bot.blocks.message import Block, Message, View
from bot.blocks.targets import target_menu
from bot.blocks.text import NAME_LIMIT, by_count, channel, escape, quote
from bot.channels import actions
from bot.channels.subscription import (
    Level,
    ListedSubscription,
    Style,
    Subscription,
    SubscriptionSource,
    level_of,
)
from bot.channels.texts.subscriptions import LEVEL_MEANINGS, all_of, options_text, origin
from bot.kernel.groups import Target, target_value

DIGEST_HINT = (
    "Failures, pauses, freezes and alerts still come when they happen. "
    "Leave it empty for a message about each pull request."
)
END_QUESTION = "The channel gets no more posts about it, and waiting posts are dropped."


def subscription_line(listed: ListedSubscription) -> str:
    """The channel, what it is subscribed to, at which level, and how it gets its posts.

    A link to the channel: Slack shows the name only to people who may see it.
    """
    return f"{_subscription_headline(listed)}\n{_options(listed.options)}"


def short_subscription_line(listed: ListedSubscription) -> str:
    """The same in one line, among others."""
    return f"• {_subscription_headline(listed)} · {_options(listed.options)}"


def _subscription_headline(listed: ListedSubscription) -> str:
    return f"{channel(listed.options.channel_id)} · *{_target(listed)}*"


def _options(options: Subscription) -> str:
    level = level_of(options)
    named = f"*{level.capitalize()}*: " if level is not None else ""
    return f"{named}{options_text(options)}{origin(options)}"


def _target(listed: ListedSubscription) -> str:
    through = listed.options.through
    if through is None:
        return escape(listed.options.repository)
    count = by_count(listed.repositories, "{count} repository", "{count} repositories")
    return f"{all_of(through)} ({count})"


def subscription_rows(found: Sequence[ListedSubscription], *, may_change: bool) -> list[Block]:
    """Each with its buttons, for people who may change it; the settings' own have none."""
    shown: list[Block] = []
    for listed in found:
        shown += [blocks.divider(), blocks.section(subscription_line(listed))]
        is_configured = listed.options.source is SubscriptionSource.CONFIGURATION
        if may_change and not is_configured:
            shown.append(blocks.actions(_subscription_buttons(listed)))
    return shown


def _subscription_buttons(listed: ListedSubscription) -> list[blocks.Element]:
    value = actions.value(listed.options.channel_id, listed.options.target)
    return [
        blocks.button(
            "Change…",
            action_id=actions.SUBSCRIPTION_CHANGE,
            value=value,
            spoken=f"Change the subscription to {listed.options.target}",
        ),
        blocks.button(
            "End",
            action_id=actions.SUBSCRIPTION_END,
            value=value,
            spoken=f"End the subscription to {listed.options.target}",
            confirm=blocks.confirmation(
                "End this subscription?",
                END_QUESTION,
                confirm="End it",
                deny="Keep it",
                style="danger",
            ),
        ),
    ]


def add_form(targets: Sequence[Target]) -> View:
    """Asks which channel gets what."""
    chosen = targets[0] if len(targets) == 1 else None
    menu = target_menu(targets, action_id=controls.PAUSE_TARGET, chosen=chosen)
    channels = blocks.channel_menu("Choose a channel", action_id=actions.CHANNEL_BLOCK)
    shown = [
        blocks.input_field(actions.CHANNEL_BLOCK, "Channel", channels),
        blocks.input_field(controls.TARGET_BLOCK, "Repository or group", menu),
        *_level_fields(Level.NORMAL, None),
    ]
    return blocks.modal(actions.SUBSCRIPTION_VIEW, "Add a channel", shown, {}, submit="Subscribe")


def change_form(listed: ListedSubscription) -> View:
    """Asks for another level or a digest; says what it replaces."""
    options = listed.options
    level = level_of(options)
    shown = [
        blocks.section(subscription_line(listed)),
        *_level_fields(level, options),
    ]
    if level is None:
        shown.insert(1, blocks.context("A level replaces these topics. Without one, they stay."))
    at = _digest_at(options)
    carried = {
        "target": listed.options.target,
        "channel": options.channel_id,
        "seen": f"{at}",
        "action": options.style.value,
    }
    return blocks.modal(
        actions.SUBSCRIPTION_VIEW, "Change a subscription", shown, carried, submit="Save"
    )


def _digest_at(options: Subscription) -> str:
    is_digest = options.style is Style.DIGEST and options.digest is not None
    return f"{options.digest.at:%H:%M}" if is_digest and options.digest is not None else ""


def _level_fields(level: Level | None, before: Subscription | None) -> list[Block]:
    options = {
        each: blocks.option(each.capitalize(), each, description=LEVEL_MEANINGS[each])
        for each in Level
    }
    chosen = options[level] if level is not None else None
    digest = before.digest if before is not None and before.style is Style.DIGEST else None
    levels = blocks.radio_buttons(actions.LEVEL_BLOCK, list(options.values()), chosen)
    clock = blocks.time_picker(actions.DIGEST_BLOCK, digest.at if digest is not None else None)
    return [
        blocks.input_field(actions.LEVEL_BLOCK, "Level", levels, optional=level is None),
        blocks.input_field(
            actions.DIGEST_BLOCK,
            "One summary a day at",
            clock,
            hint=DIGEST_HINT,
            optional=True,
        ),
    ]


def saving() -> View:
    return modal.result_modal(blocks.sentence(":hourglass_flowing_sand: Saving …"), None)


def saved(
    channel_id: str, where: Target, found: Sequence[Subscription], *, is_new: bool
) -> Message:
    """In the form: what the channel gets from now on; a post in the channel says it too."""
    options = options_text(found[0]) if found else ""
    name = quote(target_value(where), NAME_LIMIT)
    to = f"{channel(channel_id)} is now subscribed to {name}: {options}."
    if not is_new:
        to = f"{channel(channel_id)} was already subscribed to {name} like that. Nothing to do."
    return blocks.sentence(f":bell: {to}")


def by_whom(said: Message, name: str) -> Message:
    """The post in a channel about a change that somebody made elsewhere."""
    return blocks.message(*said.blocks, blocks.context(f"by {quote(name)}, in my Home tab"))


def subscription_gone(channel_id: str, target: str) -> Message:
    """To a person who ends or changes a subscription that somebody else has ended."""
    name = quote(target, NAME_LIMIT)
    return blocks.sentence(
        f"{channel(channel_id)} isn't subscribed to {name} any more. Nothing was changed."
    )
