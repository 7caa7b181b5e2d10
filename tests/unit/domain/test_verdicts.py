"""Why a pull request left: from facts to a verdict, and from a verdict to words."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given, strategies as st
from pydantic import JsonValue

from bot.blocks.blocks import SECTION_LIMIT
from bot.feed.texts import event_posts
from bot.log.classification import EventKind
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import DEQUEUE_CODES, CodeClass
from bot.merge_queue.queue import FAILED
from bot.verdicts.texts.verdict import VerdictParts, said
from bot.verdicts.verdict import STORM_SIZE, Cause, Facts, Hold, Verdict, judge
from tests.support.clock import NOON
from tests.support.make import make_event_record, make_pull_request_record

ENTER = "action.queue.enter"
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"
CHECKS_START = "action.queue.checks_start"
CHECKS_END = "action.queue.checks_end"
NOT_STARTED = "action.queue.checks_not_started"
BISECTION_END = "action.queue.batch_bisection_end"
RUN = "https://ci.example/1"
AGAIN = "comment `@mergifyio queue`"
FIX = f"fix it, then {AGAIN}"
LOOK = f"look at the run, then {AGAIN}"
SEE = "see the pull request"
NOTHING = "no action needed"


def check(name: str, *, required: bool | None = True, **fields: Any) -> dict[str, JsonValue]:
    return {"name": name, "url": RUN, "state": "failure", "is_required": required, **fields}


def left(
    code: str | None = "CHECKS_FAILED", *checks: dict[str, Any], **details: Any
) -> EventRecord:
    return make_event_record(
        LEAVE, event_id=500, code=code, merged=False, checks=list(checks), **details
    )


def earlier(type_: str, number: int = 41, *, minutes: float = 5, **details: Any) -> EventRecord:
    """An event of #41 or another pull request, before its leave."""
    at = NOON - timedelta(minutes=minutes)
    event_id = 100 + number + round(minutes)
    return make_event_record(
        type_, event_id=event_id, received_at=at, pull_request=number, **details
    )


def others_failed(
    *checks: str,
    first: int = 50,
    minutes: float = 10,
    code: str | None = "CHECKS_FAILED",
    state: str = "failure",
    **details: Any,
) -> list[EventRecord]:
    """One pull request for each name of a check."""
    return [
        earlier(
            LEAVE,
            first + place,
            minutes=minutes,
            code=code,
            merged=False,
            checks=[check(name, state=state)],
            **details,
        )
        for place, name in enumerate(checks)
    ]


def others_merged(count: int, first: int = 70, *, minutes: float = 10) -> list[EventRecord]:
    return [earlier(MERGED, first + place, minutes=minutes) for place in range(count)]


def others_passed(count: int, first: int = 80, *, minutes: float = 10) -> list[EventRecord]:
    """They wait for a freeze, say, and haven't merged."""
    passed = {"aborted": False, "conclusion": "success"}
    return [earlier(CHECKS_END, first + place, minutes=minutes, **passed) for place in range(count)]


def ended_alone(number: int, **details: Any) -> EventRecord:
    fields = {"code": "CHECKS_FAILED", "aborted": True, "abort_status": "DEFINITIVE", **details}
    return earlier(CHECKS_END, number, members=[number], **fields)


BATCH: dict[str, Any] = {"batch": "b1", "members": [41, 42, 43]}
END_OF_BATCH = earlier(
    CHECKS_END, code="CHECKS_FAILED", aborted=True, abort_status="DEFINITIVE", **BATCH
)


def bisected(*culprits: int, **details: Any) -> EventRecord:
    fields = {"pull_requests": [41, 42, 43], "culprits": list(culprits), **details}
    return earlier(BISECTION_END, 41, **fields)


class Row(NamedTuple):
    """One case: the facts, and what is said of them."""

    facts: Facts
    cause: Cause
    words: str
    step: str
    evidence: str = ""


LINT = left("CHECKS_FAILED", check("lint"))
IN_BATCH = left("CHECKS_FAILED", check("lint"), batch="b1")
STORM_OF_ONE = others_failed(*["lint"] * STORM_SIZE)
STORM_OF_MANY = others_failed("unit", "e2e", "types", "docs")

TABLE = {
    "removed by a person": Row(
        Facts(left("PR_MANUALLY_DEQUEUED", trigger="@bob")),
        Cause.REMOVED,
        "removed on request",
        NOTHING,
    ),
    "removed by a rule": Row(
        Facts(left("PR_DEQUEUED", trigger="Rule: no drafts <b>", unmet=["label=ready"])),
        Cause.REMOVED,
        "removed by the rule “no drafts &lt;b&gt;”",
        "check its queue conditions",
        "Not met: `label=ready`.",
    ),
    "conditions not met any more": Row(
        Facts(left("PR_DEQUEUED", unmet=["label=ready", "#approved-reviews-by>=1"])),
        Cause.REMOVED,
        "the queue conditions no longer match",
        "check its queue conditions",
        "Not met: `label=ready`, `#approved-reviews-by&gt;=1`.",
    ),
    "pushed to": Row(
        Facts(left("PULL_REQUEST_UPDATED")),
        Cause.CHANGED,
        "new commits were pushed to it",
        f"make sure it's ready, then {AGAIN}",
    ),
    "closed": Row(
        Facts(left(None), own=[earlier("action.close")]), Cause.CHANGED, "it was closed", SEE
    ),
    "conflict with the base branch": Row(
        Facts(left("CONFLICT_WITH_BASE_BRANCH")),
        Cause.CONFLICT,
        "it conflicts with its base branch",
        f"resolve the conflict, then {AGAIN}",
    ),
    "conflict with one ahead, which an event names": Row(
        Facts(
            left("CONFLICT_WITH_PULL_AHEAD"),
            own=[earlier("action.queue.conflict_deferred", blocking=[39, 40])],
        ),
        Cause.CONFLICT,
        "it conflicts with #39, #40, ahead of it",
        f"update it once that one merges, then {AGAIN}",
    ),
    "a required check failed for others too": Row(
        Facts(LINT, others=[*others_failed("lint", "unit", "lint"), *others_merged(7)]),
        Cause.FAILS_FOR_OTHERS,
        "lint failed",
        LOOK,
        "lint also failed for 2 of 10 other pull requests on `main` within a day of it.",
    ),
    "a required check failed here only": Row(
        Facts(LINT, others=[*others_failed("unit"), *others_merged(7)]),
        Cause.FAILED,
        "lint failed",
        FIX,
        "lint failed for none of 8 other pull requests on `main` within a day of it.",
    ),
    "two others say nothing about whose fault it is": Row(
        Facts(LINT, others=others_merged(2)), Cause.FAILED, "lint failed", FIX
    ),
    "nothing is known of others": Row(Facts(LINT), Cause.FAILED, "lint failed", FIX),
    "other branches and older failures don't count": Row(
        Facts(
            LINT,
            others=[
                *others_failed("lint", base_ref="release/4.2"),
                *others_failed("lint", first=60, minutes=25 * 60),
            ],
        ),
        Cause.FAILED,
        "lint failed",
        FIX,
    ),
    "a check that isn't required failed too": Row(
        Facts(left("CHECKS_FAILED", check("docs", required=False), check("lint"))),
        Cause.FAILED,
        "lint failed",
        FIX,
    ),
    "a check that hadn't ended when another failed": Row(
        Facts(left("CHECKS_FAILED", check("lint"), check("unit", state="pending"))),
        Cause.FAILED,
        "lint failed",
        FIX,
    ),
    "it left without a reason while its checks ran": Row(
        Facts(left(None, check("lint", state="pending"))),
        Cause.UNKNOWN,
        "the service gave no reason",
        SEE,
    ),
    "two required checks failed": Row(
        Facts(left("CHECKS_FAILED", check("lint"), check("unit"))),
        Cause.FAILED,
        "lint and unit failed",
        FIX,
    ),
    "many checks failed, nobody knows which are required": Row(
        Facts(
            left(
                "CHECKS_FAILED",
                *(check(name, required=None) for name in ("lint", "unit", "e2e", "docs")),
                checks_left_out=3,
            )
        ),
        Cause.FAILED,
        "checks lint, unit, e2e and 4 more failed",
        FIX,
    ),
    "one check failed, nobody knows whether it is required": Row(
        Facts(left("CHECKS_FAILED", check("lint", required=None))),
        Cause.FAILED,
        "check lint failed",
        FIX,
    ),
    "the service names no check": Row(
        Facts(left("CHECKS_FAILED")),
        Cause.FAILED,
        "its checks failed",
        FIX,
        "The service names no failed check.",
    ),
    "a failed check without a run": Row(
        Facts(left("CHECKS_FAILED", check("lint", url=None)), others=others_failed("lint")),
        Cause.FAILS_FOR_OTHERS,
        "lint failed",
        f"see what failed, then {AGAIN}",
        "lint also failed for 1 of 1 other pull request on `main` within a day of it. "
        "The service gives no link to a run.",
    ),
    "it failed again after retries": Row(
        Facts(LINT, own=[ended_alone(41, retry_attempt=2, max_retry=2)]),
        Cause.FAILED,
        "lint failed",
        FIX,
        "It failed again after 2 retries.",
    ),
    "another pull request broke its batch, says the bisection": Row(
        Facts(IN_BATCH, own=[END_OF_BATCH], others=[bisected(42)]),
        Cause.OTHER_OF_BATCH,
        "#42 broke its batch",
        AGAIN,
        "lint failed in their batch of 3. The bisection found #42; this one was only in its batch.",
    ),
    "another pull request failed alone": Row(
        Facts(IN_BATCH, own=[END_OF_BATCH], others=[ended_alone(43, batch="b1")]),
        Cause.OTHER_OF_BATCH,
        "#43 broke its batch",
        AGAIN,
    ),
    "it broke its batch itself": Row(
        Facts(IN_BATCH, own=[END_OF_BATCH], others=[bisected(41)]),
        Cause.FAILED,
        "lint failed",
        FIX,
        "It broke its batch of 3: the bisection found it.",
    ),
    "what broke its batch when it was in the queue before doesn't count": Row(
        Facts(LINT, own=[earlier(ENTER, minutes=20)], others=[bisected(42, minutes=21)]),
        Cause.FAILED,
        "lint failed",
        FIX,
    ),
    "nor does it if only the leave says since when it is queued": Row(
        Facts(
            left("CHECKS_FAILED", check("lint"), queued_at=NOON - timedelta(minutes=4)),
            others=[bisected(42)],
        ),
        Cause.FAILED,
        "lint failed",
        FIX,
    ),
    "nor does it if nobody knows since when it is queued": Row(
        Facts(LINT, others=[bisected(42, minutes=360)]), Cause.FAILED, "lint failed", FIX
    ),
    "a bisection after which it stayed in the queue": Row(
        Facts(IN_BATCH, own=[earlier(ENTER, minutes=20)], others=[bisected(42, remaining=[41])]),
        Cause.FAILED,
        "lint failed",
        FIX,
    ),
    "the batch that it was in first doesn't count": Row(
        Facts(
            IN_BATCH,
            own=[earlier(ENTER, minutes=60), END_OF_BATCH],
            others=[bisected(45, pull_requests=[41, 44, 45], minutes=30), bisected(42)],
        ),
        Cause.OTHER_OF_BATCH,
        "#42 broke its batch",
        AGAIN,
        "lint failed in their batch of 3. The bisection found #42; this one was only in its batch.",
    ),
    "of two batches without a bisection the last is its own": Row(
        Facts(
            left("BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS", check("lint"), batch="b1"),
            own=[
                earlier(CHECKS_END, members=[41, 44, 45], minutes=30),
                END_OF_BATCH,
                earlier(CHECKS_END, members=[41, 42], minutes=1),
            ],
        ),
        Cause.AS_SAID,
        "its batch failed, and splitting it didn't find the culprit",
        FIX,
        "It was tested only in a batch of 3, never alone.",
    ),
    "it was dropped by elimination": Row(
        Facts(
            left("DROPPED_BY_BISECTION_ELIMINATION"),
            own=[END_OF_BATCH],
            others=[bisected(41, 42, unverified=[41])],
        ),
        Cause.OTHER_OF_BATCH,
        "#42 broke its batch",
        AGAIN,
    ),
    "nobody found out who broke its batch": Row(
        Facts(
            left("BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS", check("lint"), batch="b1"),
            own=[END_OF_BATCH],
        ),
        Cause.AS_SAID,
        "its batch failed, and splitting it didn't find the culprit",
        FIX,
        "It was tested only in a batch of 3, never alone.",
    ),
    "its checks never started, says an event": Row(
        Facts(left(None), own=[earlier(NOT_STARTED, reason="No <runner> is free.")]),
        Cause.NOT_STARTED,
        "its checks never started",
        AGAIN,
        "The service says: No &lt;runner&gt; is free. There is no run to open.",
    ),
    "its checks started after all": Row(
        Facts(left(None), own=[earlier(NOT_STARTED, reason="no"), earlier(CHECKS_START)]),
        Cause.UNKNOWN,
        "the service gave no reason",
        SEE,
    ),
    "its checks never started, says the code": Row(
        Facts(left("DRAFT_PULL_REQUEST_CREATION_FAILED", reason="422 from the host")),
        Cause.NOT_STARTED,
        "the pull request for its checks couldn't be created",
        AGAIN,
        "The service says: 422 from the host. There is no run to open.",
    ),
    "the merge failed, and the service says why": Row(
        Facts(
            left("PR_UNEXPECTEDLY_FAILED_TO_MERGE", reason="Resource not accessible\nby <the app>.")
        ),
        Cause.AS_SAID,
        "the merge itself failed",
        AGAIN,
        "The service says: Resource not accessible by &lt;the app&gt;.",
    ),
    "a code that nobody knows, and the service says why": Row(
        Facts(left("A_NEW_CODE", reason="It snows.")),
        Cause.AS_SAID,
        "a new code",
        SEE,
        "The service says: It snows.",
    ),
    "a code that says enough": Row(
        Facts(left("CONFLICT_WITH_BASE_BRANCH", reason="conflict")),
        Cause.CONFLICT,
        "it conflicts with its base branch",
        f"resolve the conflict, then {AGAIN}",
    ),
    "a check was cancelled because another failed": Row(
        Facts(left("CHECKS_FAILED", check("e2e", state="cancelled"), check("lint"))),
        Cause.FAILED,
        "lint failed",
        FIX,
    ),
    "only the end of its checks names the one that failed": Row(
        Facts(
            left("CHECKS_FAILED"),
            own=[ended_alone(41, checks=[check("lint", required=None)])],
        ),
        Cause.FAILED,
        "check lint failed",
        FIX,
    ),
    "an earlier end of its checks says nothing about the last ones": Row(
        Facts(
            left("CHECKS_FAILED"),
            own=[ended_alone(41, checks=[check("lint")]), earlier(CHECKS_START, minutes=2)],
        ),
        Cause.FAILED,
        "its checks failed",
        FIX,
        "The service names no failed check.",
    ),
    "a check timed out": Row(
        Facts(left("CHECKS_TIMEOUT", check("e2e", state="pending"), check("lint"))),
        Cause.TIMED_OUT,
        "e2e timed out",
        f"find out why it hangs, then {AGAIN}",
    ),
    "the checks timed out, says the code alone": Row(
        Facts(left("CHECKS_TIMEOUT")),
        Cause.TIMED_OUT,
        "its checks took too long",
        f"find the hanging check, then {AGAIN}",
        "The service names no failed check.",
    ),
    "a check was cancelled": Row(
        Facts(left("CHECKS_INTERRUPTED", check("lint", state="cancelled"))),
        Cause.CANCELLED,
        "lint was cancelled",
        AGAIN,
    ),
    "a check was cancelled, and the code doesn't say so": Row(
        Facts(left("CHECKS_FAILED", check("lint", state="cancelled"))),
        Cause.CANCELLED,
        "lint was cancelled",
        AGAIN,
    ),
    "the same check fails everywhere": Row(
        Facts(LINT, others=STORM_OF_ONE, is_storm=True),
        Cause.FAILS_FOR_OTHERS,
        "lint failed",
        "look at the run, but don't queue it again yet: wait until other pull requests merge",
        "lint also failed for 4 of 4 other pull requests on `main` within a day of it. "
        "4 other pull requests failed within 30 minutes of it, all by the same check.",
    ),
    "many different checks fail everywhere": Row(
        Facts(LINT, others=STORM_OF_MANY, is_storm=True),
        Cause.STORM,
        "checks failed for many pull requests",
        "look at the run, but don't queue it again yet: wait until other pull requests merge",
        "lint failed for none of 4 other pull requests on `main` within a day of it. "
        "4 other pull requests failed within 30 minutes of it, by 4 different checks.",
    ),
    "a storm that is over": Row(
        Facts(LINT, others=STORM_OF_MANY),
        Cause.STORM,
        "checks failed for many pull requests",
        LOOK,
        "lint failed for none of 4 other pull requests on `main` within a day of it. "
        "4 other pull requests failed within 30 minutes of it, by 4 different checks.",
    ),
    "as many pass as fail, but a freeze keeps them from merging": Row(
        Facts(LINT, others=[*STORM_OF_MANY, *others_passed(4)]),
        Cause.FAILED,
        "lint failed",
        FIX,
        "lint failed for none of 8 other pull requests on `main` within a day of it.",
    ),
    "one that passed before it failed has failed": Row(
        Facts(LINT, others=[*others_passed(3, 50, minutes=20), *others_failed("lint")]),
        Cause.FAILS_FOR_OTHERS,
        "lint failed",
        LOOK,
        "lint also failed for 1 of 3 other pull requests on `main` within a day of it.",
    ),
    "it conflicts in a storm": Row(
        Facts(left("CONFLICT_WITH_BASE_BRANCH"), is_storm=True),
        Cause.CONFLICT,
        "it conflicts with its base branch",
        "resolve the conflict, but don't queue it again yet: wait until other pull requests merge",
    ),
    "many that were removed while their checks ran": Row(
        Facts(
            LINT,
            others=[
                *others_failed("lint", "unit", "e2e", code="PR_MANUALLY_DEQUEUED", state="pending"),
                *others_failed("types", "docs", code="PR_MANUALLY_DEQUEUED", first=60),
                *others_failed("lint", "unit", code=None, state="pending", first=65),
                *others_merged(3),
            ],
        ),
        Cause.FAILED,
        "lint failed",
        FIX,
        "lint failed for none of 3 other pull requests on `main` within a day of it.",
    ),
    "a whole batch that left is one failure": Row(
        Facts(
            LINT,
            others=[
                *others_failed(
                    *["lint", "unit", "e2e", "types"] * 2,
                    code="BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS",
                    batch="b9",
                ),
                *others_merged(3),
            ],
        ),
        Cause.FAILS_FOR_OTHERS,
        "lint failed",
        LOOK,
        "lint also failed for 1 of 4 other pull requests on `main` within a day of it.",
    ),
    "those that left with its own batch are no others": Row(
        Facts(
            left("BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS", check("lint"), batch="b1"),
            own=[END_OF_BATCH],
            others=others_failed(
                *["lint", "unit", "e2e", "types"],
                code="BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS",
                batch="b1",
            ),
        ),
        Cause.AS_SAID,
        "its batch failed, and splitting it didn't find the culprit",
        FIX,
        "It was tested only in a batch of 3, never alone.",
    ),
    "others that timed out": Row(
        Facts(LINT, others=others_failed("lint", code="CHECKS_TIMEOUT", state="pending")),
        Cause.FAILS_FOR_OTHERS,
        "lint failed",
        LOOK,
        "lint also failed for 1 of 1 other pull request on `main` within a day of it.",
    ),
    "as many merge as fail": Row(
        Facts(LINT, others=[*STORM_OF_MANY, *others_merged(4)]),
        Cause.FAILED,
        "lint failed",
        FIX,
        "lint failed for none of 8 other pull requests on `main` within a day of it.",
    ),
    "no requeueing in a pause": Row(
        Facts(LINT, is_paused=True),
        Cause.FAILED,
        "lint failed",
        "fix it, then queue it again once the queue has resumed",
    ),
    "no requeueing in a freeze": Row(
        Facts(left("CHECKS_INTERRUPTED"), is_frozen=True),
        Cause.CANCELLED,
        "a required check was cancelled before it finished",
        "queue it again after the freeze",
    ),
    "an administrator's turn in a pause": Row(
        Facts(left("QUEUE_RULE_MISSING"), is_paused=True),
        Cause.AS_SAID,
        "its queue rule no longer exists",
        "an administrator has to fix the configuration",
    ),
    "an unknown code": Row(
        Facts(left("NEW_CODE", check("lint", required=None))), Cause.AS_SAID, "new code", SEE
    ),
    "an unknown code, and a required check failed": Row(
        Facts(left("NEW_CODE", check("lint"))), Cause.FAILED, "lint failed", FIX
    ),
    "the service's own words": Row(
        Facts(left(None, reason="Rule `x` is gone.\n<!here>")),
        Cause.AS_SAID,
        "Rule `x` is gone. &lt;!here&gt;",
        SEE,
    ),
    "words that cannot be shown": Row(
        Facts(left(None, reason="\x1b")), Cause.AS_SAID, "the service gave no reason", SEE
    ),
    "a failed check without any code or words": Row(
        Facts(left(None, check("lint", required=None))), Cause.FAILED, "check lint failed", FIX
    ),
    "nothing at all": Row(
        Facts(make_event_record(LEAVE)), Cause.UNKNOWN, "the service gave no reason", SEE
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_facts_lead_to_a_verdict(name: str) -> None:
    facts, cause, words, step, evidence = TABLE[name]

    verdict = judge(facts)

    assert verdict.cause is cause
    found = said(verdict)
    assert (found.cause, found.next_step) == (words, step)
    if evidence or cause is Cause.FAILED:
        assert " ".join(found.evidence) == evidence


def test_the_table_covers_every_cause() -> None:
    assert {row.cause for row in TABLE.values()} == set(Cause)
    assert len(TABLE) >= 25


def test_the_only_failed_check_is_linked_in_the_headline_and_others_in_lines() -> None:
    one = said(judge(Facts(LINT)))
    assert (one.run, one.checks) == (f"<{RUN}|open the run>", ())

    two = said(judge(Facts(left("CHECKS_FAILED", check("lint"), check("e2e", url="ftp://x")))))
    assert two.run == ""
    assert two.checks == ("Required checks that failed:", f"• <{RUN}|lint>\n• e2e")


def test_what_cannot_throw_it_out_is_one_grey_line() -> None:
    checks = [check("docs <b>", required=False), check("lint")]
    found = said(judge(Facts(left("CHECKS_FAILED", *checks, checks_passed=9))))

    assert found.aside == "Failed too, not required: docs &lt;b&gt; · 9 other checks passed"
    assert "docs" not in f"{found.cause} {found.evidence} {found.checks}"


def test_a_later_start_of_checks_says_why_they_run_again() -> None:
    first = make_event_record(CHECKS_START, start_reason="First time checking pull request #41")
    again = make_event_record(CHECKS_START, start_reason="Pull request #40 left the queue.")

    assert event_posts.in_words(first) == "Checks started"
    assert event_posts.in_words(again) == "Checks started: Pull request #40 left the queue"


ODD = st.text(max_size=300) | st.sampled_from(
    ["<!channel>", "<@U1>", "*bold*", "&lt;", "`", "| >", "\x00\u202e", "😀" * 300, "x" * 2000]
)
STATES = st.sampled_from([*sorted(FAILED), "pending", "success <?>"]) | st.none()
CHECKS = st.lists(
    st.builds(
        check,
        ODD,
        required=st.booleans() | st.none(),
        url=st.sampled_from([RUN, "javascript:alert(1)", f"https://ci.example/{'z' * 590}", None]),
        state=STATES,
    ),
    max_size=5,
)
CODES = st.sampled_from([*sorted(DEQUEUE_CODES), "NEW_CODE <b>"]) | st.none()
NUMBERS = st.lists(st.integers(40, 45), max_size=4)


@st.composite
def any_facts(draw: st.DrawFn) -> Facts:
    record = left(
        draw(CODES),
        *draw(CHECKS),
        reason=draw(ODD | st.none()),
        trigger=draw(st.sampled_from(["", "@bob <b>", "Rule: <!here>"])),
        checks_left_out=draw(st.integers(0, 9)),
        checks_passed=draw(st.integers(0, 9) | st.none()),
        batch=draw(st.sampled_from(["b1", None])),
        unmet=draw(st.lists(ODD, max_size=5)),
    )
    own = draw(st.lists(st.builds(_own, NUMBERS, ODD, st.integers(0, 3)), max_size=3))
    others: list[EventRecord] = []
    for _ in range(draw(st.integers(0, 2))):
        others += others_failed(*draw(st.lists(ODD, max_size=5)), first=draw(st.integers(42, 60)))
    others += others_merged(draw(st.integers(0, 5)))
    others += draw(st.lists(st.builds(bisected, st.integers(40, 45)), max_size=2))
    return Facts(
        record,
        own,
        others,
        is_paused=draw(st.booleans()),
        is_frozen=draw(st.booleans()),
        is_storm=draw(st.booleans()),
    )


def _own(members: Sequence[int], reason: str, retries: int) -> EventRecord:
    if len(members) % 2:
        return earlier(NOT_STARTED, reason=reason)
    return earlier(CHECKS_END, members=list(members), retry_attempt=retries, aborted=True)


def parts(found: VerdictParts) -> str:
    return "\n".join(
        [found.cause, found.run, *found.evidence, *found.checks, found.aside, found.next_step]
    )


@given(any_facts())
def test_a_verdict_names_only_failed_checks_and_required_ones_where_they_are_known(
    facts: Facts,
) -> None:
    verdict = judge(facts)

    failed = facts.record.details.checks
    checks = verdict.found.checks
    assert set(checks.named) <= set(failed)
    assert set(checks.named).isdisjoint(checks.not_required)
    if checks.named and any(each.is_required is not None for each in failed):
        assert checks.are_required
        assert all(each.is_required is not False for each in checks.named)
    if checks.record is not None:
        assert 0 <= checks.record.failed <= checks.record.total
        assert checks.record.name in {each.name for each in checks.named}


@given(any_facts())
def test_a_verdict_is_never_empty_and_hostile_text_stays_text(facts: Facts) -> None:
    found = said(judge(facts))

    assert found.cause.strip()
    assert found.next_step.strip()
    markup = re.findall(r"<[^>]*>?", parts(found))
    assert all(re.fullmatch(r"<https://ci\.example/[1z]+\|[^<>|]*>", link) for link in markup)
    assert "@mergifyio requeue" not in parts(found)


@given(any_facts())
def test_nobody_is_asked_to_queue_it_again_while_that_is_in_vain(facts: Facts) -> None:
    verdict = judge(facts)

    assert (verdict.next.hold is Hold.PAUSE) == facts.is_paused
    if verdict.next.hold is not None:
        assert "@mergifyio" not in said(verdict).next_step


@given(any_facts())
def test_a_post_with_a_verdict_fits(facts: Facts) -> None:
    address = f"https://code.example/{'z' * 570}"
    seen = replace(make_pull_request_record(), title="&" * 300, url=address)
    for kind in (EventKind.FAILURE, EventKind.DEQUEUE):
        post = event_posts.event(facts.record, seen, kind, verdict=judge(facts))
        assert all(len(text) <= SECTION_LIMIT for text in section_texts(post.blocks))
        assert post.text.strip()


def section_texts(blocks: Sequence[Any]) -> list[str]:
    return [block["text"]["text"] for block in blocks if block["type"] == "section"]


@given(any_facts())
def test_the_same_facts_give_the_same_verdict(facts: Facts) -> None:
    assert judge(facts) == judge(facts)
    code = facts.record.details.code
    if DEQUEUE_CODES.get(code or "") is CodeClass.TECHNICAL:
        assert judge(facts).found.checks.named == ()


def test_a_verdict_of_the_event_alone_is_what_the_log_says() -> None:
    verdict: Verdict = judge(Facts(LINT))
    assert event_posts.in_words(LINT) == f"Left the queue: {said(verdict).cause}"
