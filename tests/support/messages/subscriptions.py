"""Subscriptions and defaults, as cases."""

from collections.abc import Sequence
from functools import partial

from bot.domain.groups import ALL, Group
from bot.domain.subscriptions import Level, Style, Subscription, SubscriptionSource, Topic
from bot.messages import subscriptions
from bot.ports import ChannelAccess
from tests.support.clock import NOON
from tests.support.make import API, SITE, make_subscription
from tests.support.messages.rendering import Case, Cases
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


CASES: Cases = {
    "subscribed-in-threads": subscribed_to(make_subscription(style=Style.THREAD)),
    "subscribed-between-people": subscribed_to(make_subscription(), ChannelAccess.DIRECT),
    "subscribed-perhaps": subscribed_to(make_subscription(), ChannelAccess.UNKNOWN),
    "levels": partial(subscriptions.levels, SITE, (NOON, dict.fromkeys(Level, 1234))),
    "levels-without-an-hour": partial(subscriptions.levels, SITE, None),
    "subscribed": subscribed_to(make_subscription()),
    "subscribed-to-be-invited": subscribed_to(
        make_subscription("merge", "action.queue.change"), ChannelAccess.INVITE
    ),
    "subscribed-besides-the-configuration": subscribed_to(
        make_subscription("merge"), ChannelAccess.INVITE, [make_subscription("failure", "pause")]
    ),
    "subscribed-with-all-options": subscribed_to(WIDE),
    "subscribed-together": partial(
        subscriptions.subscribed,
        RELEASE,
        [make_subscription("merge"), make_subscription("merge", "failure", repository=API)],
        ChannelAccess.INVITE,
        bot_name="merge-queue",
        configured=[make_subscription(repository=API)],
        command="/mq",
    ),
    "subscribed-together-already-so": partial(
        subscriptions.already_so,
        Group(ALL, (SITE, API)),
        [make_subscription(), make_subscription(repository=API)],
        "/mq",
    ),
    "unsubscribed-together": partial(subscriptions.unsubscribed, RELEASE, [SITE, API], [], "/mq"),
    "unsubscribed-together-in-part": partial(
        subscriptions.unsubscribed,
        RELEASE,
        [SITE],
        [make_subscription("merge", repository=API)],
        "/mq",
    ),
    "narrowed-together": partial(
        subscriptions.unsubscribed,
        RELEASE,
        [],
        [make_subscription("merge"), make_subscription("merge", repository=API)],
        "/mq",
    ),
    "was-not-subscribed-together": partial(subscriptions.not_subscribed, RELEASE, [], "/mq"),
    "was-not-heard-together": partial(
        subscriptions.not_subscribed, RELEASE, [make_subscription("merge")], "/mq"
    ),
    "subscribed-already-so": partial(subscriptions.already_so, SITE, [WIDE], "/mq"),
    "subscriptions-with-a-default": partial(subscriptions.subscriptions, [WIDE], "/mq", SITE),
    "default-set": partial(subscriptions.default_set, SITE),
    "default-forgotten": partial(subscriptions.default_set, None),
    "default-told": partial(subscriptions.default_reply, SITE, "/mq"),
    "default-none": partial(subscriptions.default_reply, None, "/mq"),
    "subscriptions-test": partial(
        subscriptions.samples,
        SITE,
        (
            (Topic.ENTER, []),
            (Topic.MERGE, [WIDE, make_subscription("merge")]),
            (Topic.FAILURE, [WIDE]),
        ),
        "main",
    ),
    "unsubscribed": partial(subscriptions.unsubscribed, SITE, [SITE], [], "/mq"),
    "unsubscribed-in-part": partial(
        subscriptions.unsubscribed, SITE, [], (make_subscription("merge"),), "/mq"
    ),
    "was-not-heard": partial(
        subscriptions.not_subscribed, SITE, [make_subscription("merge", "failure")], "/mq"
    ),
    "was-not-subscribed": partial(subscriptions.not_subscribed, SITE, [], "/mq"),
    "configured-stays": partial(subscriptions.still_configured, [SITE]),
    "subscriptions": partial(
        subscriptions.subscriptions,
        [make_subscription(), make_subscription("ci", source=SubscriptionSource.CONFIGURATION)],
        "/mq",
    ),
    "subscriptions-none": partial(subscriptions.subscriptions, [], "/mq"),
}
