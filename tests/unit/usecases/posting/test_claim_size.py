"""Less is claimed where transactions take long, and as much as ever where they do not."""

from datetime import timedelta

from bot.domain.pacing import ClaimSize

LAST_SEND = timedelta(seconds=8)
SLOW, QUICK = timedelta(seconds=5), timedelta(seconds=4)


def test_the_claim_size_shrinks_to_one_and_grows_back() -> None:
    size = ClaimSize()
    seen = []
    for took in (SLOW, SLOW, SLOW, SLOW, QUICK, QUICK, QUICK, QUICK):
        size.learn(took, LAST_SEND)
        seen.append((size.of(50), size.of(10)))
    assert seen[:4] == [(12, 2), (3, 1), (1, 1), (1, 1)]
    assert seen[4:] == [(3, 1), (12, 2), (50, 10), (50, 10)]
