"""Pull requests as last seen in the queue's status."""

from bot.log.rows import PullRequests
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.stored import SHOP, SITE, after, make_pull_request


def test_a_transaction_reads_its_own_later_writes(transaction: Transaction) -> None:
    newer = make_pull_request(7, title="New title", seen_at=after(5))
    pull_requests = PullRequests(transaction)
    pull_requests.save([make_pull_request(7)])
    assert pull_requests.get(SITE, [7, 8]) == {7: make_pull_request(7)}
    pull_requests.save([newer, make_pull_request(8)])
    assert pull_requests.get(SITE, [8, 7]) == {7: newer, 8: make_pull_request(8)}
    assert pull_requests.get(SHOP, [7]) == {}
    Upkeep(transaction).prune(after(1))
    assert pull_requests.get(SITE, [7, 8]) == {7: newer}


def test_the_latest_sighting_prefers_the_repository_over_others(transaction: Transaction) -> None:
    ours = make_pull_request(8, seen_at=after(2))
    pull_requests = PullRequests(transaction)
    assert pull_requests.last_seen(SITE) is None
    pull_requests.save([make_pull_request(7), make_pull_request(6, seen_at=after(2)), ours])
    theirs = make_pull_request(3, repository=SHOP, seen_at=after(1))
    assert pull_requests.last_seen(SHOP) == ours
    pull_requests.save([theirs])
    assert pull_requests.last_seen(SITE) == ours
    assert pull_requests.last_seen(SHOP) == theirs


def test_the_later_observation_wins(transaction: Transaction) -> None:
    newer = make_pull_request(7, title="New title", seen_at=after(5))
    PullRequests(transaction).save([newer, make_pull_request(7)])
    PullRequests(transaction).save([make_pull_request(7, seen_at=after(4))])
    PullRequests(transaction).save([])
    assert PullRequests(transaction).get(SITE, [7]) == {7: newer}


def test_repositories_with_recent_pull_requests_of_some_authors_are_listed(
    transaction: Transaction,
) -> None:
    PullRequests(transaction).save(
        [
            make_pull_request(7, author="Ada", seen_at=after(2)),
            make_pull_request(8, author="ada", seen_at=after(3), repository=SHOP),
            make_pull_request(9, author="zoe", seen_at=after(4)),
            make_pull_request(10, author="eve", seen_at=after(1)),
        ]
    )
    pull_requests = PullRequests(transaction)
    assert list(pull_requests.repositories_of(["ADA"], after(0))) == [SHOP, SITE]
    assert list(pull_requests.repositories_of(["ada", "zoe"], after(0))) == [SITE, SHOP]
    assert list(pull_requests.repositories_of(["eve"], after(2))) == []
    assert list(pull_requests.repositories_of([], after(0))) == []


def test_the_authors_are_those_of_the_last_pull_requests(transaction: Transaction) -> None:
    PullRequests(transaction).save(
        [
            make_pull_request(7, author="Ada", seen_at=after(2)),
            make_pull_request(8, author="zoe", seen_at=after(3), repository=SHOP),
            make_pull_request(9, author="renovate[bot]", seen_at=after(4)),
            make_pull_request(10, author="eve", seen_at=after(1)),
        ]
    )
    pull_requests = PullRequests(transaction)
    assert list(pull_requests.authors(after(0))) == ["Ada", "eve", "zoe"]
    assert list(pull_requests.authors(after(2))) == ["Ada", "zoe"]
    assert list(pull_requests.authors(after(0), limit=2)) == ["zoe"]
