"""A delivery is settled once, and never posted again without a lookup."""

import asyncio
from collections import Counter
from datetime import datetime, timedelta

from hypothesis import given, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from typing_extensions import override

from bot.posts import delivery as deliveries
from bot.posts.delivery import MAXIMUM_AGE, RECHECK_DELAYS, Delivery, DeliveryState
from bot.slack.ports import SURELY_SHOWN
from tests.support.clock import NOON, FakeClock
from tests.support.make import make_delivery
from tests.support.store import InMemoryStore
from tests.support.stored import add, claim, make_new, record

EVENTS = (1, 2, 3)
OUTCOMES = ("accepted", "refused", "postponed", "lost", "lost after", "crash")
LAST_SEND = timedelta(seconds=40)
"""Nothing is sent later than this after the claim."""


class DeliveryMachine(RuleBasedStateMachine):
    """The delivery state machine over an outbox; Slack posts, or not, and may not say.

    `posted` counts what Slack shows. `unsure` holds deliveries with a request whose outcome was
    never heard, `lookups` how often each was looked for since.
    """

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.store = InMemoryStore()
        self.loop = asyncio.new_event_loop()
        self.posted: Counter[str] = Counter()
        self.unsure: set[str] = set()
        self.lookups: Counter[str] = Counter()
        self.order: list[str] = []
        self.settled: dict[str, Delivery] = {}
        self.taken: list[Delivery] = []
        self.claimed_at = NOON
        self.sent_at: dict[str, datetime] = {}
        self.looked_at: dict[str, datetime] = {}
        new = [make_new(event, due_at=NOON) for event in EVENTS]
        self.loop.run_until_complete(self.store.run(add, *new))

    @override
    def teardown(self) -> None:
        self.loop.close()

    def record(self, after: Delivery) -> None:
        self.loop.run_until_complete(self.store.run(record, after))
        self.taken = []

    @property
    def head(self) -> Delivery:
        return self.taken[0]

    def send(self) -> None:
        """What a request of ours means: it must not be one too many."""
        delivery_id = self.head.delivery_id
        assert self.head.progress.attempted_at is None
        if delivery_id in self.unsure:
            looked_late = self.looked_at.get(delivery_id, NOON) - self.sent_at[delivery_id]
            assert self.lookups[delivery_id] >= len(RECHECK_DELAYS) or looked_late >= SURELY_SHOWN
        self.unsure.discard(delivery_id)
        self.lookups[delivery_id] = 0
        # A crash leaves no better record than the time of the claim.
        self.sent_at[delivery_id] = self.claimed_at

    def show(self) -> None:
        self.posted[self.head.delivery_id] += 1
        self.order.append(self.head.delivery_id)

    @rule(seconds=st.sampled_from([0.5, 2, 5, 10, 61, 400]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @precondition(lambda self: not self.taken)
    @rule()
    def claim(self) -> None:
        now = self.clock.now()
        self.claimed_at = now
        self.taken = list(self.loop.run_until_complete(self.store.run(claim, now, per_channel=1)))

    @precondition(lambda self: self.taken and self.head.progress.attempted_at is None)
    @rule(
        outcome=st.sampled_from(OUTCOMES),
        shows=st.booleans(),
    )
    def post(self, outcome: str, shows: bool) -> None:  # noqa: FBT001 - drawn
        now = self.clock.now()
        head = self.head
        if now - self.claimed_at >= LAST_SEND:
            self.taken = []
            return
        self.send()
        if outcome in {"accepted", "lost after"} or (outcome == "crash" and shows):
            self.show()
        if outcome in {"lost", "lost after", "crash"}:
            self.unsure.add(head.delivery_id)
        if outcome == "accepted":
            self.record(deliveries.delivered(head, "1.1", now))
        elif outcome == "refused":
            self.record(deliveries.failed(head, "no_text", now))
        elif outcome == "postponed":
            self.record(deliveries.postponed(head, "x", now=now, retry_after=None, jitter=1))
        elif outcome == "crash":
            self.crash()
        else:
            self.record(deliveries.in_doubt(deliveries.attempted(head, now), "lost", now))

    @precondition(lambda self: self.taken and self.head.progress.attempted_at is not None)
    @rule(outcome=st.sampled_from(["seen", "seen", "unreadable", "crash"]))
    def look(self, outcome: str) -> None:
        now = self.clock.now()
        head = self.head
        if outcome == "crash":
            self.crash()
        elif outcome == "unreadable":
            self.record(deliveries.postponed(head, "http_500", now=now, retry_after=None, jitter=1))
        elif self.posted[head.delivery_id]:
            self.record(deliveries.delivered(head, "1.1", now))
        else:
            self.lookups[head.delivery_id] += 1
            self.looked_at[head.delivery_id] = now
            self.record(deliveries.not_found(head, now))

    def crash(self) -> None:
        """Nobody records anything; the claim expires."""
        self.taken = []
        self.clock.advance(61)

    @invariant()
    def nothing_is_posted_twice(self) -> None:
        assert all(count <= 1 for count in self.posted.values())

    @invariant()
    def the_order_is_kept(self) -> None:
        assert self.order == sorted(self.order)

    @invariant()
    def what_is_settled_never_changes_and_nobody_passes_another(self) -> None:
        kept = sorted(self.store.database.contents.deliveries.values(), key=_sequence)
        open_ones = [
            delivery.sequence for delivery in kept if not delivery.progress.state.is_settled
        ]
        for delivery in kept:
            if delivery.delivery_id in self.settled:
                assert delivery == self.settled[delivery.delivery_id]
            elif delivery.progress.state.is_settled:
                self.settled[delivery.delivery_id] = delivery
            if delivery.progress.state is DeliveryState.DELIVERED:
                assert self.posted[delivery.delivery_id] == 1
                assert not open_ones or delivery.sequence < open_ones[0]


def _sequence(delivery: Delivery) -> int:
    return delivery.sequence


TestDeliveryMachine = DeliveryMachine.TestCase


@given(st.floats(0, 1), st.floats(0, 1e5), st.integers(0, 50))
def test_a_postponed_delivery_is_pending_again_and_needs_no_lookup(
    jitter: float, retry_after: float, failures: int
) -> None:
    before = make_delivery(
        state=DeliveryState.SENDING, attempted_at=None, lookups=2, failures=failures
    )

    after = deliveries.postponed(before, "not_connected", now=NOON, retry_after=None, jitter=jitter)
    hinted = deliveries.postponed(
        before, "ratelimited", now=NOON, retry_after=retry_after, jitter=jitter
    )

    assert (after.progress.state, after.progress.attempted_at, after.progress.lookups) == (
        DeliveryState.PENDING,
        None,
        0,
    )
    assert NOON < after.progress.due_at <= NOON + timedelta(seconds=300)
    assert hinted.progress.due_at >= NOON + timedelta(seconds=retry_after)


def test_a_delivery_too_old_to_post_or_find_is_dropped() -> None:
    aged = NOON + MAXIMUM_AGE
    late = aged + timedelta(seconds=1)
    sending = make_delivery(state=DeliveryState.SENDING, attempted_at=NOON)

    given_up = deliveries.postponed(sending, "is_archived", now=late, retry_after=120, jitter=0)
    doubted = deliveries.postponed(
        sending, "channel_not_found", now=aged, retry_after=None, jitter=0
    )
    never_known = deliveries.postponed(
        doubted, "channel_not_found", now=late, retry_after=None, jitter=0
    )

    assert (given_up.progress.state, given_up.progress.settled_at) == (DeliveryState.FAILED, late)
    assert (doubted.progress.state, doubted.progress.attempted_at) == (DeliveryState.IN_DOUBT, NOON)
    assert (never_known.progress.state, never_known.progress.settled_at) == (
        DeliveryState.FAILED,
        late,
    )


def test_only_consecutive_failures_lengthen_the_wait() -> None:
    """After ten rate limits and one failed lookup, the next lookup is immediate."""
    delivery = make_delivery(state=DeliveryState.SENDING, attempted_at=NOON)
    for _ in range(10):
        delivery = deliveries.attempted(delivery, None)
        delivery = deliveries.postponed(delivery, "ratelimited", now=NOON, retry_after=2, jitter=1)
    delivery = deliveries.in_doubt(deliveries.attempted(delivery, NOON), "http_500", NOON)

    waits = []
    for _ in range(3):
        delivery = deliveries.postponed(delivery, "lost", now=NOON, retry_after=None, jitter=1)
        waits.append((delivery.progress.due_at - NOON).total_seconds())
    delivery = deliveries.postponed(
        deliveries.not_found(delivery, NOON), "lost", now=NOON, retry_after=None, jitter=1
    )

    assert waits == [1, 2, 4]
    assert delivery.progress.due_at == NOON + timedelta(seconds=1)


def test_a_delivery_in_doubt_is_looked_up_three_times_before_a_retry() -> None:
    delivery = deliveries.in_doubt(
        make_delivery(state=DeliveryState.SENDING, attempted_at=NOON), "lost", NOON
    )
    waits = [delivery.progress.due_at - NOON]
    for _ in range(len(RECHECK_DELAYS) - 1):
        delivery = deliveries.not_found(delivery, NOON)
        assert (delivery.progress.state, delivery.progress.attempted_at) == (
            DeliveryState.IN_DOUBT,
            NOON,
        )
        waits.append(delivery.progress.due_at - NOON)

    delivery = deliveries.not_found(delivery, NOON)

    assert tuple(waits) == RECHECK_DELAYS
    assert (
        delivery.progress.state,
        delivery.progress.attempted_at,
        delivery.progress.times_absent,
    ) == (
        DeliveryState.PENDING,
        None,
        1,
    )
    assert delivery.progress.due_at == NOON


def test_a_post_that_stays_in_doubt_is_retried_less_often_and_then_dropped() -> None:
    delivery = make_delivery(state=DeliveryState.SENDING)
    now = NOON
    waits = []
    while delivery.progress.state is not DeliveryState.FAILED:
        delivery = deliveries.in_doubt(deliveries.attempted(delivery, now), "internal_error", now)
        while delivery.progress.state is DeliveryState.IN_DOUBT:
            now = delivery.progress.due_at
            delivery = deliveries.not_found(delivery, now)
        waits.append((delivery.progress.due_at - now).total_seconds())
        now = max(now, delivery.progress.due_at)

    assert waits[:5] == [0, 1, 2, 4, 8]
    assert max(waits) == 300
    assert MAXIMUM_AGE < now - NOON < MAXIMUM_AGE + timedelta(minutes=6)
    assert delivery.progress.error == "internal_error"
