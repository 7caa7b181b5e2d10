"""Deliveries that are added together have ids that are theirs alone, and grow."""

from itertools import islice

from bot.usecases.routing.delivery_ids import delivery_ids


def test_ids_are_different_among_themselves_and_from_those_of_others() -> None:
    ids = list(islice(delivery_ids(), 1000))

    assert len(set(ids)) == 1000
    assert ids == sorted(ids)
    assert {len(one) for one in ids} == {32}
    assert not set(ids) & set(islice(delivery_ids(), 1000))
