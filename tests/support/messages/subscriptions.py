"""Subscriptions and defaults, as cases."""

from collections.abc import Sequence
from functools import partial

from bot.domain.groups import ALL, Group
from bot.domain.subscriptions import Level, Style, Subscription, SubscriptionSource, Topic
from bot.messages import subscriptions
from bot.ports import ChannelAccess
from tests.support.clock import NOON
from tests.support.make import API, SITE, make_subscription
from tests.support.messages.rendering import Case, Cases, cases_of
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

subscriptions_of = cases_of(subscriptions.subscriptions)
unsubscribed = cases_of(subscriptions.unsubscribed)
not_subscribed = cases_of(subscriptions.not_subscribed)

CASES: Cases = {
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
    "levels": partial(subscriptions.levels, SITE, (NOON, dict.fromkeys(Level, 1234))),
    "levels-without-an-hour": partial(subscriptions.levels, SITE, None),
    "unsubscribed": unsubscribed(SITE, [SITE], [], "/mq"),
    "unsubscribed-in-part": unsubscribed(SITE, [], (MERGES,), "/mq"),
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
    "subscriptions-with-a-default": subscriptions_of([WIDE], "/mq", SITE),
    "subscriptions-none": subscriptions_of([], "/mq"),
    "subscriptions-test": partial(
        subscriptions.samples,
        SITE,
        ((Topic.ENTER, []), (Topic.MERGE, [WIDE, MERGES]), (Topic.FAILURE, [WIDE])),
        "main",
    ),
    "default-set": partial(subscriptions.default_set, SITE),
    "default-forgotten": partial(subscriptions.default_set, None),
    "default-told": partial(subscriptions.default_reply, SITE, "/mq"),
    "default-none": partial(subscriptions.default_reply, None, "/mq"),
}
