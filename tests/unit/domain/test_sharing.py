"""Shares: each repository once, evenly, and little changes hands."""

from hypothesis import given, strategies as st

from bot.domain.leases import share_of
from bot.domain.repository import RepositoryName

REPOSITORIES = [RepositoryName(f"acme/r{number}") for number in range(97)]
WORKERS = st.sets(st.text(min_size=1, max_size=8), min_size=1, max_size=7)


def shares(workers: set[str]) -> dict[str, frozenset[RepositoryName]]:
    return {one: share_of(one, workers, REPOSITORIES) for one in workers}


@given(workers=WORKERS)
def test_each_repository_has_one_worker_and_no_worker_exceeds_its_share(workers: set[str]) -> None:
    found = shares(workers)
    assert sorted(name for share in found.values() for name in share) == sorted(REPOSITORIES)
    assert max(len(share) for share in found.values()) <= -(-len(REPOSITORIES) // len(workers))


def test_the_order_of_inputs_changes_nothing() -> None:
    assert share_of("b", ["a", "b", "c"], REPOSITORIES) == share_of(
        "b", ["c", "b", "a"], REPOSITORIES[::-1]
    )


def test_most_repositories_stay_where_they_are_when_a_worker_joins() -> None:
    before, after = shares({"a", "b", "c"}), shares({"a", "b", "c", "d"})
    stayed = sum(len(before[one] & after[one]) for one in before)
    # A fourth has to move; the room of each moves a few more.
    assert stayed >= len(REPOSITORIES) * 0.55


def test_a_process_that_does_not_poll_has_no_share() -> None:
    assert share_of("z", {"a"}, REPOSITORIES) == frozenset()
    assert share_of("a", {"a"}, []) == frozenset()
