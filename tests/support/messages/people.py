"""The Home tab, and what concerns one person, as cases."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from bot.domain.errors import PermissionDenied
from bot.domain.notices import Notice
from bot.domain.permissions import DenialReason, Denied, Right, WhoCan
from bot.domain.repository import RepositoryName
from bot.messages import choice, home, people
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
from tests.support.messages.events import reported
from tests.support.messages.rendering import Cases, cases_of, later
from tests.support.messages.values import BUSY, CHECKS, LEAVE, MERGED, QUEUED_AT, TIMED

ADA, MUTED = make_person("ada"), make_person("ada", mentions=False)

at_home = cases_of(home.home)
linked = cases_of(people.linked)
me = cases_of(people.me)

CASES: Cases = {
    "me-switched-off": me(MUTED, "/mq", later(people.switched, dict.fromkeys(Notice, False))),
    "home-refused": partial(
        home.refused,
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
        ),
        make_viewer("ada"),
        "/mq",
    ),
    "home-unreadable-and-more": at_home(
        make_home(SITE, left_out=4), make_viewer(may_pause=False), "/mq"
    ),
    "home-nothing-of-mine": at_home(make_home(make_snapshot()), make_viewer("zoe"), "/mq"),
    "home-not-well": at_home(
        make_home(
            outbox=make_outbox(
                waiting=12,
                in_doubt=1,
                oldest_at=NOON - timedelta(minutes=31),
                suspended=[("C0OLD", "is_archived")],
            )
        ),
        make_viewer(),
        "/mq",
    ),
    "home-database-away": partial(home.unavailable),
    "linked": linked(ADA, "/mq"),
    "linked-first": linked(make_person("ada", failures=True), "/mq", is_first=True),
    "unlinked": partial(people.unlinked, was_linked=True),
    "was-not-linked": partial(people.unlinked, was_linked=False),
    "linked-without-mentions": linked(MUTED, "/mq"),
    "login-taken": partial(people.taken, "ada"),
    "login-assigned": partial(people.assigned, "ada"),
    "login-wanted-by-another": partial(people.wanted_by, "U0BOB", "ada", "/mq"),
    "me": me(ADA, "/mq"),
    "me-unknown": me(make_person(), "/mq"),
    "merge-told-its-author": partial(people.direct, reported(MERGED), Notice.MERGE),
    "failure-told-its-author": partial(
        people.direct,
        reported(LEAVE, merged=False, code="CHECKS_FAILED", checks=CHECKS, queued_at=QUEUED_AT),
        Notice.FAILURE,
    ),
    "me-waiting": me(
        replace(ADA, awaited=[RepositoryName(f"acme/r{n:02}") for n in range(12)]), "/mq"
    ),
    "me-stopped-waiting": me(ADA, "/mq", later(people.stopped_waiting, is_new=True)),
    "me-switched": me(MUTED, "/mq", later(people.switched, {Notice.MENTION: False})),
    "me-switched-before": me(make_person(), "/mq", later(people.switched, {})),
    "question-expired": partial(choice.expired, "pause …", "/mq"),
    "which-paused-repository": partial(choice.which_repository, [API], "resume", running=SITE),
    "which-repository": partial(choice.which_repository, [SITE, API], "pause CI is down"),
}
