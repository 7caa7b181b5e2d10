"""Boards, one kept in a channel of a repository, and what they say."""

from dataclasses import replace

from bot.domain.boards import Board, Outage, Sight, seen, unseen
from bot.ports import Store
from tests.support.make import (
    make_batch,
    make_known_pause,
    make_queued,
    make_snapshot,
    make_status,
    make_timer,
)
from tests.support.stored import NOW, SHOP, SITE, after

HERE, THERE = "C0MERGEQ", "C0RELEASE"
BOARD = Board(HERE, SITE, "alice", NOW)


def sight() -> Sight:
    """As full as it gets, with what no database stores as text."""
    waiting = [make_queued(number, title="\x00\ud800 title") for number in range(20)]
    batch = make_batch(estimated_merge_at=NOW)
    snapshot = make_snapshot(
        make_status(batch, waiting=waiting),
        repository=SITE,
        pause=make_known_pause("CI is down"),
    )
    return seen(None, snapshot, make_timer(failures=1))


async def test_a_channel_has_one_board_of_a_repository(store: Store) -> None:
    async with store.begin() as transaction:
        boards = transaction.boards
        first = await boards.add(BOARD)
        assert first is not None
        assert await boards.add(replace(BOARD, made_by="bob")) is None
        other = await boards.add(replace(BOARD, repository=SHOP))
        there = await boards.add(replace(BOARD, channel_id=THERE))
    assert len({first, other, there, None}) == 4
    async with store.begin() as transaction:
        boards = transaction.boards
        kept = replace(BOARD, board_id=first)
        assert await boards.kept_in(HERE, SITE) == kept
        assert await boards.kept_in("C0GENERAL", SITE) is None
        assert await boards.get([first, 999]) == {first: kept}
        assert [one.board_id for one in await boards.kept([SITE])] == [first, there]
        assert [one.board_id for one in await boards.kept([SHOP, SITE])] == [first, other, there]
        assert await boards.kept([]) == []
        assert await boards.count_kept() == 3
        assert [one.board_id for one in await boards.strays([SITE])] == [other]
        assert await boards.strays([SITE, SHOP]) == []


async def test_a_board_ends_once_and_makes_room_for_another(store: Store) -> None:
    async with store.begin() as transaction:
        first = await transaction.boards.add(BOARD)
        assert first is not None
        assert await transaction.boards.end(first, after(60), "bob")
        assert not await transaction.boards.end(first, after(61))
        assert await transaction.boards.kept_in(HERE, SITE) is None
        second = await transaction.boards.add(BOARD)
        assert second is not None
        assert second != first
    async with store.begin() as transaction:
        boards = transaction.boards
        found = await boards.get([first])
        assert found[first].ended_at == after(60)
        assert found[first].ended_by == "bob"
        assert await boards.count_kept() == 1
        assert (await transaction.prune(after(60)))["boards"] == 0
        assert (await transaction.prune(after(61)))["boards"] == 1
        assert list(await boards.get([first, second])) == [second]


async def test_what_boards_say_is_kept_once_a_repository(store: Store) -> None:
    known = sight()
    out = unseen(known, Outage.SILENT, after(60), after(30))
    async with store.begin() as transaction:
        assert await transaction.boards.sights([SITE]) == {}
        await transaction.boards.save_sight(known)
        await transaction.boards.save_sight(replace(known, repository=SHOP))
    async with store.begin() as transaction:
        assert await transaction.boards.sights([SITE]) == {SITE: known}
        await transaction.boards.save_sight(out)
    async with store.begin() as transaction:
        found = await transaction.boards.sights([SITE, SHOP])
        assert found == {SITE: out, SHOP: replace(known, repository=SHOP)}
        assert await transaction.boards.sights([]) == {}
