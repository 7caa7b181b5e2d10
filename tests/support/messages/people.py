"""The Home tab, and what concerns one person, as cases."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from bot.acts.confirmation import ConfirmationRequest
from bot.acts.errors import PermissionDenied
from bot.acts.permission import Permitted, Right, WhoCan
from bot.acts.texts import permissions as permission_texts
from bot.channels.subscription import ListedSubscription, Style, SubscriptionSource
from bot.desk import choice
from bot.doctor.diagnosis import QueueVerdict
from bot.health.outage import SlackOutage
from bot.home import texts as home_texts
from bot.home.choices import CalendarPage, QueueHeadline, SubscriptionsState
from bot.kernel.errors import TargetNotClear, TypedMeaning
from bot.kernel.repository import RepositoryName
from bot.people import texts as people_texts
from bot.people.actions import MutablePullRequest
from bot.people.notices import Notice
from bot.slack.person import DenialReason, Denied
from tests.support.clock import NOON
from tests.support.make import (
    API,
    SITE,
    make_home,
    make_known_pause,
    make_outbox,
    make_person,
    make_snapshot,
    make_subscription,
    make_viewer,
)
from tests.support.messages.confirmations import GROUP_PROPOSED, PAUSE
from tests.support.messages.events import reported
from tests.support.messages.rendering import A_HEADLINE, Cases, cases_of, later
from tests.support.messages.values import (
    BUSY,
    CALENDAR,
    CHECKS,
    LEAVE,
    MERGED,
    OUTLOOK,
    QUEUED_AT,
    RELEASE,
    TIMED,
    WIDE,
    WINDOW_ENTRY,
)

ADA = make_person("ada")
MUTED = make_person("ada", mentions=False)


def proposed(number: int) -> ConfirmationRequest:
    """The request of that number."""
    return ConfirmationRequest.opened([replace(PAUSE, record_id=number)])


at_home = cases_of(home_texts.home)
linked = cases_of(people_texts.linked)
me = cases_of(people_texts.me)

UNCLEAR = TargetNotClear(
    "pause",
    "api",
    (
        TypedMeaning("acme/api", "gateway is <down>", "pause acme/api gateway is <down>"),
        TypedMeaning("@all", "api gateway is <down>", "pause @all api gateway is <down>"),
        TypedMeaning(None, "api gateway is <down>", "pause api gateway is <down>"),
    ),
)

CASES: Cases = {
    "me-switched-off": me(MUTED, "/mq", later(people_texts.switched, dict.fromkeys(Notice, False))),
    "home-refused": partial(
        home_texts.refused,
        PermissionDenied(Right.READ, Denied(DenialReason.UNVERIFIABLE, "ratelimited"), WhoCan()),
    ),
    "home": at_home(
        make_home(
            make_snapshot(BUSY, pause=make_known_pause()),
            make_snapshot(repository=API),
            polled={SITE: NOON - timedelta(seconds=8), API: NOON - timedelta(minutes=9)},
            subscriptions=[
                make_subscription("merge", "failure"),
                make_subscription(channel_id="D0ALICE", repository=API),
            ],
            timed=[TIMED],
            calendar=CALENDAR,
        ),
        make_viewer("ada"),
        "/mq",
    ),
    "home-proposals": at_home(
        make_home(),
        make_viewer(proposals=[proposed(4), ConfirmationRequest.opened(GROUP_PROPOSED)]),
        "/mq",
    ),
    "home-more-proposals": at_home(
        make_home(), make_viewer(proposals=[proposed(number) for number in range(4, 9)]), "/mq"
    ),
    "home-how-long": at_home(
        make_home(make_snapshot(BUSY), outlooks={SITE: OUTLOOK}), make_viewer(), "/mq"
    ),
    "home-muted": at_home(
        make_home(make_snapshot(BUSY)),
        make_viewer("ana", muted=frozenset({MutablePullRequest(SITE, 41)})),
        "/mq",
    ),
    "home-subscriptions": partial(
        home_texts.subscriptions,
        SubscriptionsState(
            [
                ListedSubscription(make_subscription(style=Style.THREAD), 1),
                ListedSubscription(replace(WIDE, through="@release"), 2),
                ListedSubscription(
                    make_subscription(
                        "failure", repository=API, source=SubscriptionSource.CONFIGURATION
                    ),
                    1,
                ),
            ],
            first=20,
            total=24,
            read_at=NOON,
        ),
        make_viewer("ada"),
    ),
    "home-calendar": partial(
        home_texts.calendar,
        CalendarPage([*CALENDAR], 15, 40, NOON, offers_freezes=True),
        make_viewer("ada"),
    ),
    "home-calendar-of-a-reader": partial(
        home_texts.calendar,
        CalendarPage([*CALENDAR], 0, 6, NOON, offers_freezes=True),
        make_viewer(may_pause=False),
    ),
    "home-calendar-without-freezes": partial(
        home_texts.calendar, CalendarPage([WINDOW_ENTRY], 0, 1, NOON), make_viewer()
    ),
    "home-nothing-planned": partial(
        home_texts.calendar, CalendarPage([], 0, 0, NOON), make_viewer()
    ),
    "home-no-subscriptions": partial(
        home_texts.subscriptions, SubscriptionsState([], 0, 0, NOON), make_viewer(may_pause=False)
    ),
    "me-who-may": partial(
        permission_texts.who_may,
        [
            Permitted(Right.PAUSE, WhoCan(("@oncall",), ("Alice Martin", "Bob"), 2)),
            Permitted(Right.RESUME, WhoCan(), (SITE,)),
            Permitted(Right.RESUME, WhoCan((), ("Bob",)), (API,)),
        ],
    ),
    "me-link-form": partial(people_texts.link_form, "ada"),
    "me-link-form-saving": partial(people_texts.linking),
    "home-unreadable-and-more": at_home(
        make_home(SITE, API, left_out=4), make_viewer(may_pause=False), "/mq"
    ),
    "home-of-a-queue-that-something-keeps-from-merging": at_home(
        replace(
            make_home(make_snapshot(BUSY)),
            headlines={SITE: QueueHeadline(QueueVerdict.SAME_CHECK, A_HEADLINE)},
        ),
        make_viewer(),
        "/mq",
    ),
    "home-nothing-of-mine": at_home(make_home(make_snapshot()), make_viewer("zoe"), "/mq"),
    "home-not-well": at_home(
        make_home(
            outbox=make_outbox(
                waiting=12,
                in_doubt=1,
                oldest_at=NOON - timedelta(minutes=31),
                suspended=[("C0OLD", "is_archived")],
            ),
            slack_outage=SlackOutage(NOON - timedelta(minutes=31)),
        ),
        make_viewer(),
        "/mq",
    ),
    "home-database-away": partial(home_texts.unavailable),
    "linked": linked(ADA, "/mq"),
    "linked-first": linked(make_person("ada", failures=True), "/mq", is_first=True),
    "linked-in-place-of-another": linked(ADA, "/mq", replaced="grace"),
    "unlinked": partial(people_texts.unlinked, "ada", "/mq"),
    "was-not-linked": partial(people_texts.unlinked, "", "/mq"),
    "linked-without-mentions": linked(MUTED, "/mq"),
    "login-taken": partial(people_texts.taken, "ada", is_told=True),
    "login-taken-and-owner-not-told": partial(people_texts.taken, "ada", is_told=False),
    "login-assigned": partial(people_texts.assigned, "ada"),
    "login-of-a-bot": partial(people_texts.of_a_bot, "dependabot[bot]"),
    "login-wanted-by-another": partial(people_texts.wanted_by, "U0BOB", "ada", "/mq"),
    "me": me(ADA, "/mq"),
    "me-unknown": me(make_person(), "/mq"),
    "muted-pull-request": partial(people_texts.muted, SITE, 41, NOON + timedelta(days=30)),
    "unmuted-pull-request": partial(people_texts.unmuted, SITE, 41, was_muted=True),
    "unmuted-before": partial(people_texts.unmuted, SITE, 41, was_muted=False),
    "merge-told-its-author": partial(people_texts.direct, reported(MERGED), Notice.MERGE),
    "failure-told-its-author": partial(
        people_texts.direct,
        reported(LEAVE, merged=False, code="CHECKS_FAILED", checks=CHECKS, queued_at=QUEUED_AT),
        Notice.FAILURE,
    ),
    "me-waiting": me(
        replace(ADA, awaited=[RepositoryName(f"acme/r{n:02}") for n in range(12)]), "/mq"
    ),
    "me-stopped-waiting": me(ADA, "/mq", later(people_texts.stopped_waiting, is_new=True)),
    "me-switched": me(MUTED, "/mq", later(people_texts.switched, {Notice.MENTION: False})),
    "me-switched-before": me(make_person(), "/mq", later(people_texts.switched, {})),
    "question-expired": partial(choice.expired, "pause …", "/mq"),
    "which-paused-repository": partial(
        choice.which_repository,
        "resume",
        [API],
        "resume",
        fits=1,
        about=later(choice.paused_elsewhere, "resume", SITE),
    ),
    "which-of-a-group": partial(
        choice.which_repository,
        "resume",
        [RELEASE, SITE],
        "resume",
        fits=1,
        about=later(choice.paused_together, "extend", SITE, RELEASE),
    ),
    "which-of-unchecked": partial(
        choice.which_repository,
        "resume",
        [API, SITE],
        "resume",
        fits=1,
        about=later(choice.not_all_checked, "resume", 1, 2),
    ),
    "which-of-none-checked": partial(
        choice.which_repository,
        "extend",
        [API, SITE],
        "extend 2h",
        about=later(choice.not_all_checked, "extend", 0, 2),
    ),
    "nothing-paused": partial(choice.nothing_paused, 3),
    "stop-which": partial(choice.stop_which, "mute", Notice.FAILURE, SITE),
    "stop-which-subscription": partial(choice.stop_which, "stop", None, SITE),
    "which-of-many": partial(
        choice.which_repository,
        "resume",
        [RELEASE, *(RepositoryName(f"acme/r{number}") for number in range(9))],
        "resume",
        fits=2,
    ),
    "question-answered-elsewhere": partial(choice.answered_elsewhere, "pause CI is down"),
    "which-target": partial(choice.which_target, UNCLEAR, SITE),
    "which-target-without-own": partial(choice.which_target, UNCLEAR, None),
    "which-of-the-same-name": partial(
        choice.which_target,
        TargetNotClear("status", "docs", (TypedMeaning("acme/docs", "", "status acme/docs"),)),
        None,
    ),
    "which-of-a-list": partial(
        choice.which_target,
        TargetNotClear(
            "pause",
            "acme/api",
            (
                TypedMeaning("acme/site", "CI is down", "pause acme/site CI is down"),
                TypedMeaning("acme/api", "CI is down", "pause acme/api CI is down"),
                TypedMeaning("@docs", "CI is down", "pause @docs CI is down"),
            ),
        ),
        None,
        "pause acme/site, acme/api and @docs CI is down",
    ),
    "which-of-a-list-or-a-reason": partial(
        choice.which_target,
        TargetNotClear(
            "pause",
            "site",
            (
                TypedMeaning("@release", "", "pause @release"),
                TypedMeaning("acme/site", "", "pause acme/site"),
                TypedMeaning("acme/api", "", "pause acme/api"),
                TypedMeaning(None, "site and api", "pause site and api"),
            ),
        ),
        SITE,
        "pause site and api",
    ),
    "which-repository": partial(
        choice.which_repository, "pause", [SITE, API], "pause CI is <down>"
    ),
}
