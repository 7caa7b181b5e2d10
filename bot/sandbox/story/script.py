"""The story: last night's incident, a morning of merges, and a release."""

from collections.abc import Sequence

from bot.sandbox.merge_queue.controls import NewPullRequest as Pull
from bot.sandbox.merge_queue.troubles import TROUBLES, length
from bot.sandbox.story.steps import (
    ALICE,
    API,
    BOB,
    CAROL,
    DAVE,
    GENERAL,
    INCIDENTS,
    MERGE_QUEUE,
    RELEASES,
    SITE,
    Choose,
    Enter,
    Happen,
    React,
    Rest,
    Say,
    Step,
    Type,
)

RELEASE = "release/4.2"
FAILURE = "Remove the old price table"
"""The title of the pull request that failed this morning; Alice wrote it."""

_SET_UP: tuple[Step, ...] = (
    Type(-836, ALICE, MERGE_QUEUE, "/mq subscribe acme/site normal batch freeze", "Subscribed"),
    Type(-835, CAROL, RELEASES, "/mq subscribe acme/api normal", "Subscribed"),
)

_NIGHT: tuple[Step, ...] = (
    Enter(-796, SITE, Pull("Show the order history newest first", "carol", scopes=["frontend"])),
    Enter(-790, SITE, Pull("Cache exchange rates for ten minutes", "erin-k", scopes=["backend"])),
    Say(-765, ALICE, INCIDENTS, "Every image pull times out. The end-to-end tests can't start."),
    Say(-763, BOB, INCIDENTS, "Same here. The registry's status page has just turned red."),
    Enter(-762, SITE, Pull("Send invoices as PDF/A", "dave", scopes=["backend"])),
    Type(-761, BOB, INCIDENTS, "/mq pause now acme/site The image registry is down", "is paused"),
    Enter(-757, SITE, Pull("Fix the price filter on phones", "alice", scopes=["frontend"])),
    Say(
        -752,
        ALICE,
        INCIDENTS,
        "The vendor says a fix is being rolled out. I'll keep an eye on it.",
        below="acme/site",
    ),
    Enter(-745, SITE, Pull("Log slow queries", "bob", scopes=["infra"])),
    Say(-741, BOB, INCIDENTS, "I have to leave. Carol, can you take it from here?"),
    Say(-740, CAROL, INCIDENTS, "Sure, I'm taking over."),
    Choose(-739.5, CAROL, INCIDENTS, "Take over", below="acme/site is paused"),
    Say(
        -719,
        CAROL,
        INCIDENTS,
        "Pulls work again on all runners. Resuming.",
        below="acme/site",
        is_broadcast=True,
    ),
    Type(-718, CAROL, INCIDENTS, "/mq resume acme/site", "acme/site has resumed"),
    Say(-714, ALICE, INCIDENTS, "Thank you both. The times are in the card's thread."),
    React(-713, (BOB, CAROL), INCIDENTS, "white_check_mark", "Thank you both"),
)

_MORNING: tuple[Step, ...] = (
    Say(-212, DAVE, GENERAL, "Good morning! Is the registry well again?"),
    Say(-210, ALICE, GENERAL, "Yes, since last night. Carol resumed the queue.", below="registry"),
    Enter(-204, SITE, Pull("Offer gift wrapping at checkout", "carol", scopes=["frontend"])),
    Enter(-203.8, SITE, Pull("Bump the linters group with 3 updates", "dependabot[bot]")),
    Rest(-202),
    Enter(-188, SITE, Pull("Use one query for the order history", "bob", scopes=["backend"])),
    Enter(-177, SITE, Pull("Fix focus order in the sign-in form", "erin-k", scopes=["frontend"])),
    Enter(-164, SITE, Pull("Run database migrations in their own job", "dave", scopes=["infra"])),
    Enter(-151, SITE, Pull("Retry webhooks that answer 502", "bob", scopes=["backend"])),
    Enter(-150.8, SITE, Pull("Rotate logs daily", "dave", scopes=["infra"])),
    Say(-149, CAROL, RELEASES, "I'm releasing 4.2.0 of acme/api today. Two changes are left."),
    Enter(-146, API, Pull("Retry webhooks that answer 502 (4.2)", "bob", base_ref=RELEASE)),
    Enter(-144, API, Pull("Set the version to 4.2.0", "carol", base_ref=RELEASE)),
    Enter(-136, SITE, Pull("Load product pictures lazily", "carol", scopes=["frontend"])),
    Enter(
        -122,
        SITE,
        Pull(
            "Validate VAT numbers when an account is created",
            "erin-k",
            scopes=["backend"],
            broken_check="unit tests",
            broken_runs=2,
        ),
    ),
    Enter(-121.9, SITE, Pull("Index orders by their delivery date", "bob", scopes=["backend"])),
    Say(-118, CAROL, RELEASES, "Both are merged. 4.2.0 is on staging now."),
    Say(
        -104,
        CAROL,
        RELEASES,
        "4.2.0 is live. The notes are attached.",
        files=("release-notes-4.2.0.md",),
    ),
    React(-103, (ALICE, BOB, DAVE), RELEASES, "white_check_mark", "4.2.0 is live"),
    Say(-101, DAVE, RELEASES, "Response times look as before.", below="4.2.0 is live"),
    Enter(-96, SITE, Pull("Close idle database connections", "dave", scopes=["infra"])),
    Enter(-84, SITE, Pull("Show stock levels on the product page", "carol", scopes=["frontend"])),
    Enter(-70, API, Pull("Add an endpoint for partial refunds", "bob", scopes=["backend"])),
    Enter(-61, SITE, Pull("Don't log card fingerprints", "erin-k", labels=["hotfix"])),
    Say(-49, DAVE, MERGE_QUEUE, "The queue is fast today."),
    Enter(
        -44,
        SITE,
        Pull(FAILURE, "alice", scopes=["frontend"], broken_check="unit tests", by="alice"),
    ),
    Enter(-33, SITE, Pull("Move static files to the CDN", "dave", scopes=["infra"])),
    Enter(-24, SITE, Pull("Fix rounding in the price filter", "carol", scopes=["frontend"])),
    Enter(-16, API, Pull("Expose the tax rate in the invoice API", "bob", scopes=["backend"])),
    Enter(-14, SITE, Pull("Remember the chosen currency", "erin-k", scopes=["frontend"])),
)

_JUST_NOW: tuple[Step, ...] = (
    Enter(-1.6, SITE, Pull("Let guests save an address", "carol", scopes=["frontend"])),
    Enter(-1.2, SITE, Pull("Queue e-mails instead of sending them inline", "bob")),
    Enter(-0.5, SITE, Pull("Build the images for arm64 too", "dave", scopes=["infra"])),
)

STORY = (*_SET_UP, *_NIGHT, *_MORNING, *_JUST_NOW)


def ending_in(trouble: str) -> Sequence[Step]:
    """The story, but for its last hours, in which the queue gets into a trouble."""
    begins = -length(trouble) - _BETWEEN
    acts = [Happen(act.minute - length(trouble), SITE, act.do) for act in TROUBLES[trouble]]
    return [*(step for step in STORY if step.minute < begins), *acts]


_BETWEEN = 30.0
"""Minutes in which what entered before merges."""
