"""Subscriptions and defaults, as cases."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot.acts.record import Action, ActResult, AuditRecord, PartOfGroup, SettingChange, Where
from bot.blocks.message import Message
from bot.channels.following import CHANNELS_RULE
from bot.channels.subscription import (
    TOPICS_OF_LEVELS,
    DefaultChange,
    Level,
    LevelPreview,
    ListedSubscription,
    Style,
    Subscription,
    SubscriptionSource,
    Topic,
)
from bot.channels.texts import followed, greeting, overview, subscriptions
from bot.kernel.actor import Origin
from bot.kernel.groups import ALL, Group
from bot.slack.ports import ChannelAccess
from tests.support.clock import NOON
from tests.support.make import ALICE, API, SITE, make_subscription
from tests.support.messages.rendering import Case, Cases, cases_of, later
from tests.support.messages.values import RELEASE, WIDE


def subscribed_to(
    one: Subscription,
    access: ChannelAccess = ChannelAccess.OPEN,
    configured: Sequence[Subscription] = (),
) -> Case:
    return partial(
        subscriptions.subscribed,
        SITE,
        [one],
        access,
        command="/mq",
        bot_name="merge-queue",
        configured=configured,
    )


HERE = make_subscription()
MERGES = make_subscription("merge")
OF_API = make_subscription(repository=API)

JOINED = AuditRecord(
    NOON,
    ALICE,
    Action.SUBSCRIBE,
    Where(Origin.RULE, "C0MERGEQ"),
    SITE,
    ActResult.DONE,
    group=PartOfGroup("release"),
    setting=SettingChange("", "enter failure merge"),
)
LEFT = replace(JOINED, action=Action.UNSUBSCRIBE, setting=SettingChange("merge", ""))

subscriptions_of = cases_of(subscriptions.subscriptions)
unsubscribed = cases_of(subscriptions.unsubscribed)
not_subscribed = cases_of(subscriptions.not_subscribed)

CASES: Cases = {
    "subscription-add": partial(overview.add_form, [RELEASE, SITE, API]),
    "subscription-add-to-one": partial(overview.add_form, [SITE]),
    "subscription-change": partial(
        overview.change_form,
        ListedSubscription(replace(HERE, topics=TOPICS_OF_LEVELS[Level.QUIET]), 1),
    ),
    "subscription-change-digest": partial(
        overview.change_form, ListedSubscription(replace(WIDE, through="all"), 12)
    ),
    "subscription-saving": partial(overview.saving),
    "subscription-saved": partial(overview.saved, "C0MERGEQ", SITE, [HERE], is_new=True),
    "subscription-saved-before": partial(overview.saved, "C0MERGEQ", RELEASE, [HERE], is_new=False),
    "subscription-ended-before": partial(overview.subscription_gone, "C0MERGEQ", "@release"),
    "subscribed-at-home": partial(overview.by_whom, later(subscribed_to(HERE)), "alice"),
    "channel-ended": partial(subscriptions.channel_ended, "C0MERGEQ", [SITE], [API]),
    "channel-ended-before": partial(subscriptions.channel_ended, "C0MERGEQ", [], []),
    "subscribed": subscribed_to(HERE),
    "subscribed-in-threads": subscribed_to(make_subscription(style=Style.THREAD)),
    "subscribed-between-people": subscribed_to(HERE, ChannelAccess.DIRECT),
    "subscribed-perhaps": subscribed_to(HERE, ChannelAccess.UNKNOWN),
    "subscribed-to-be-invited": subscribed_to(
        make_subscription("merge", "action.queue.change"), ChannelAccess.INVITE
    ),
    "subscribed-besides-the-configuration": subscribed_to(
        MERGES, ChannelAccess.INVITE, [make_subscription("failure", "pause")]
    ),
    "subscribed-with-all-options": subscribed_to(WIDE),
    "subscribed-together": partial(
        subscriptions.subscribed,
        RELEASE,
        [MERGES, make_subscription("merge", "failure", repository=API)],
        ChannelAccess.INVITE,
        bot_name="merge-queue",
        configured=[OF_API],
        command="/mq",
    ),
    "subscribed-already-so": partial(subscriptions.already_so, SITE, [WIDE], "/mq"),
    "subscribed-together-already-so": partial(
        subscriptions.already_so, Group(ALL, (SITE, API)), [HERE, OF_API], "/mq"
    ),
    "levels": partial(subscriptions.levels, SITE, LevelPreview(NOON, dict.fromkeys(Level, 1234))),
    "levels-without-an-hour": partial(subscriptions.levels, SITE, None),
    "subscribed-with-the-earlier-one": partial(
        subscriptions.with_earlier, Message("Subscribed"), SITE, [WIDE, MERGES, OF_API, HERE], "/mq"
    ),
    "subscribed-with-the-earlier-ones-alike": partial(
        subscriptions.with_earlier,
        Message("Subscribed"),
        Group(ALL, (SITE, API)),
        [MERGES, replace(MERGES, repository=API)],
        "/mq",
    ),
    "unsubscribed": unsubscribed(SITE, [SITE], [], "/mq"),
    "unsubscribed-in-part": unsubscribed(SITE, [], (MERGES,), "/mq"),
    "unsubscribed-but-configured": unsubscribed(
        SITE, [SITE], (make_subscription("ci", source=SubscriptionSource.CONFIGURATION),), "/mq"
    ),
    "unsubscribed-together": unsubscribed(RELEASE, [SITE, API], [], "/mq"),
    "unsubscribed-together-in-part": unsubscribed(
        RELEASE, [SITE], [make_subscription("merge", repository=API)], "/mq"
    ),
    "narrowed-together": unsubscribed(
        RELEASE, [], [MERGES, make_subscription("merge", repository=API)], "/mq"
    ),
    "was-not-subscribed": not_subscribed(SITE, [], "/mq"),
    "was-not-heard": not_subscribed(SITE, [make_subscription("merge", "failure")], "/mq"),
    "was-not-subscribed-together": not_subscribed(RELEASE, [], "/mq"),
    "was-not-heard-together": not_subscribed(RELEASE, [MERGES], "/mq"),
    "configured-stays": partial(subscriptions.still_configured, [SITE]),
    "subscriptions": subscriptions_of(
        [HERE, make_subscription("ci", source=SubscriptionSource.CONFIGURATION)], "/mq"
    ),
    "subscriptions-of-a-selection": subscriptions_of(
        [replace(HERE, through="@release"), replace(OF_API, through="@release"), WIDE], "/mq"
    ),
    "followed-new": partial(followed.subscriptions_changed, [JOINED]),
    "followed-several-new": partial(
        followed.subscriptions_changed,
        [
            replace(JOINED, repository=repository, group=PartOfGroup(ALL))
            for repository in (SITE, API)
        ],
    ),
    "followed-many-new": partial(followed.subscriptions_changed, [JOINED] * 4),
    "followed-new-by-the-configuration": partial(
        followed.subscriptions_changed,
        [replace(JOINED, group=PartOfGroup("acme/*"), actor=CHANNELS_RULE)],
    ),
    "followed-left": partial(
        followed.subscriptions_changed,
        [LEFT, replace(LEFT, repository=API, setting=SettingChange(after="merge failure"))],
    ),
    "subscriptions-with-a-default": subscriptions_of([WIDE], "/mq", SITE),
    "subscriptions-none": subscriptions_of([], "/mq"),
    "subscriptions-test": partial(
        subscriptions.samples,
        SITE,
        ((Topic.ENTER, []), (Topic.MERGE, [WIDE, MERGES]), (Topic.FAILURE, [WIDE])),
        "main",
    ),
    "greeting": partial(greeting.greeting, [SITE], [], "/mq"),
    "greeting-of-several": partial(greeting.greeting, [SITE, API], [], "/mq"),
    "greeting-where-subscribed": partial(greeting.greeting, [SITE, API], [HERE, OF_API], "/mq"),
    "default-set": partial(subscriptions.default_set, DefaultChange(None, SITE), "alice", "/mq"),
    "default-changed": partial(subscriptions.default_set, DefaultChange(API, SITE), "alice", "/mq"),
    "default-forgotten": partial(
        subscriptions.default_set, DefaultChange(SITE, None), "alice", "/mq"
    ),
    "default-told": partial(subscriptions.default_reply, SITE, "/mq"),
    "default-none": partial(subscriptions.default_reply, None, "/mq"),
}
