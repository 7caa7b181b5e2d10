"""A board in a channel: posted once, kept up to date, edited only on changes."""

import pytest

from tests.e2e.conftest import LIMITED, OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, BOB, GENERAL, INCIDENTS, MERGE_QUEUE, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_HTTP, LIMITED]

STATUS = "/merge-queue/status"


async def put_up(bot: BotTester, channel: str = MERGE_QUEUE) -> Shown:
    await bot.type("/mq board", channel=channel)
    return await bot.wait_for_post("*acme/site*", channel)


def edits(bot: BotTester, board: Shown) -> int:
    """How often the message was edited."""
    return len(bot.calls("chat.update", since=lambda call: call["arguments"]["ts"] == board.ts))


async def reads(bot: BotTester, more: int) -> None:
    """Wait for so many more reads of the queue."""
    wanted = len(bot.requests(STATUS)) + more
    await until(lambda: len(bot.requests(STATUS)) >= wanted, f"{more} more readings")


async def settled(bot: BotTester, board: Shown) -> int:
    """The number of edits once five reads in a row changed nothing."""
    before = -1
    while before != edits(bot, board):
        before = edits(bot, board)
        await reads(bot, 5)
    return before


async def test_a_board_follows_the_queue(start_bot: StartBot) -> None:
    bot = await start_bot(speed=20.0)
    board = await put_up(bot)
    assert ":arrow_forward: *acme/site* is running, the queue is empty" in board
    assert board.labels == ["Pause queue…", "Show everything"]

    for number in range(22):
        bot.enqueue(title=f"Change number {number} & more", author="carol", hangs=True)
    board = await bot.wait_for_change(board, "22 queued: 15 in 5 batches, 7 waiting")
    board = await bot.wait_for_change(board, "testing · 2 of 3 checks passed · expected")
    assert "Change number 0 & more by carol" in board
    assert "*Next up*, waiting for room in a batch\n• " in board
    assert "*Waiting behind them:* #" in board
    assert "Next merge expected" in board

    await bot.pause("now CI runners are down", by=BOB)
    board = await bot.wait_for_change(board, "is paused")
    assert "is paused · CI runners are down" in board
    assert "*By* bob · *Since* " in board
    assert board.labels == ["Resume queue", "Show everything"]
    await bot.click(board, "Resume queue")
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("alice resumed acme/site", by=BOB)
    board = await bot.wait_for_change(board, "is running")
    await bot.click(board, "Show everything")
    await bot.wait_for_reply("*acme/site* is running")
    assert len(bot.posts()) == 3


async def test_an_unchanged_queue_causes_no_edit(start_bot: StartBot) -> None:
    bot = await start_bot(speed=1.0)
    bot.pause_elsewhere("Database migration", by="carol")
    board = await bot.wait_for_change(await put_up(bot), "*By* carol · *Since* ")
    before = await settled(bot, board)
    await bot.pass_time(3600)
    await reads(bot, 5)
    assert edits(bot, board) == before
    shown = bot.now(board)
    assert shown is not None
    assert "Updated " in shown
    bot.enqueue(hangs=True)
    await bot.wait_for_change(board, "waiting")
    await until(lambda: edits(bot, board) > before, "an edit")


async def test_a_service_that_does_not_answer_is_reported_and_so_is_its_recovery(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(speed=1.0)
    number = bot.enqueue(title="Add search", hangs=True)
    board = await put_up(bot)
    await settled(bot, board)
    bot.break_service("error", path=STATUS, status=503)
    await reads(bot, 2)
    await bot.pass_time(45)
    board = await bot.wait_for_change(board, "hasn't responded since")
    assert ":warning: *The merge queue service hasn't responded since* " in board
    assert "*acme/site* was running" in board
    assert f"#{number} Add search" in board
    # That it was edited is on record before the clock jumps again.
    await reads(bot, 2)
    notice = edits(bot, board)
    await bot.pass_time(120)
    await reads(bot, 2)
    assert edits(bot, board) == notice

    bot.fix_service()
    await bot.pass_time(120)
    board = await bot.wait_for_change(board, "*acme/site* is running")
    assert "responded" not in board
    assert "Updated " in board
    assert len(bot.posts()) == 1


async def test_asking_again_says_where_the_board_is(bot: BotTester) -> None:
    board = await put_up(bot)
    # Slack's answer, which says where it is, may not have been read yet.
    await reads(bot, 2)
    answer = await bot.ask("/mq board", by=BOB)
    assert "This channel already has its board of acme/site" in answer
    assert f"/archives/{MERGE_QUEUE}/p{board.ts.replace('.', '')}" in str(answer.blocks)
    other = await put_up(bot, GENERAL)
    bot.pause_elsewhere("Database migration")
    await bot.wait_for_change(board, "is paused · Database migration")
    await bot.wait_for_change(other, "is paused · Database migration")
    assert [len(bot.posts(each)) for each in (MERGE_QUEUE, GENERAL)] == [1, 1]


async def test_board_off_ends_the_only_board_of_a_channel(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"})
    await bot.ask("/mq board off")
    await bot.publish("/mq board acme/api", "acme/api")
    answer = await bot.ask("/mq board off")
    assert "The board of acme/api in this channel has ended." in answer
    assert "End the board of which queue?" in await bot.ask("/mq board off")


async def test_a_person_can_end_a_board_and_start_another(bot: BotTester) -> None:
    answer = await bot.ask("/mq board off")
    assert "This channel has no board of acme/site. Nothing to do." in answer
    board = await put_up(bot)
    answer = await bot.ask("/mq board off", by=BOB)
    assert "The board of acme/site in this channel has ended." in answer
    assert answer.labels == ["Start it again"]
    over = await bot.wait_for_change(board, "*The board of acme/site has ended*")
    assert "by bob" in over
    assert over.labels == []
    record = await bot.ask("/mq audit")
    assert "*alice* added a board for acme/site" in record
    assert "*bob* removed the board for acme/site" in record
    await bot.click(answer, "Start it again", by=BOB)
    other = await bot.wait_for_post("acme/site")
    assert other.ts != board.ts
    bot.pause_elsewhere("Database migration")
    await bot.wait_for_change(other, "is paused")
    assert "has ended" in (bot.now(board) or over)


async def test_a_deleted_board_is_posted_again_once(bot: BotTester) -> None:
    bot.expected_refusals = {"chat.update message_not_found"}
    board = await put_up(bot)
    bot.delete(board)
    bot.pause_elsewhere("Database migration")
    again = await bot.wait_for_post("is paused · Database migration")
    bot.delete(again)
    bot.merge_queue.resume("acme/site", by="carol")
    await until(lambda: bot.logged_actions().count("live_message_lost") == 2, "both boards lost")
    bot.pause_elsewhere("Deploying 4.2")
    for _ in range(3):
        await bot.next_poll()
    assert bot.posts() == []

    other = await put_up(bot)
    assert "is paused · Deploying 4.2" in other


async def test_a_restarted_bot_keeps_the_same_board_up_to_date(start_bot: StartBot) -> None:
    bot = await start_bot()
    board = await put_up(bot)
    await bot.stop_bot()
    bot.pause_elsewhere("Database migration")
    await bot.start_bot()
    board = await bot.wait_for_change(board, "is paused · Database migration")
    await bot.stop_bot()
    bot.merge_queue.resume("acme/site", by="carol")
    await bot.start_bot()
    await bot.wait_for_change(board, "is running")
    assert len(bot.posts()) == 1


async def test_without_a_board_the_queue_is_not_read(bot: BotTester) -> None:
    board = await put_up(bot)
    await reads(bot, 2)
    await bot.ask("/mq board off")
    await bot.wait_for_change(board, "has ended")
    await bot.next_poll()
    before = len(bot.requests(STATUS))
    for _ in range(3):
        await bot.next_poll()
    assert len(bot.requests(STATUS)) == before


async def test_a_direct_message_can_have_a_board(bot: BotTester) -> None:
    workspace = bot.slack.installation.workspace
    alone = workspace.direct_channel(bot.slack.installation.bot_user_id, ALICE).id
    board = await put_up(bot, alone)
    bot.pause_elsewhere("Database migration")
    await bot.wait_for_change(board, "is paused · Database migration")


async def test_the_reply_says_why_there_is_no_board(bot: BotTester) -> None:
    bot.expected_refusals = {"conversations.info channel_not_found"}
    answer = await bot.ask("/mq board", by=BOB, channel=INCIDENTS)
    assert "I can't add a board of acme/site here: I'm not in this channel" in answer
    assert "/invite @" in answer

    guest: str = bot.slack.arrangement.add_user("gus", "guest", None)["user"]
    bot.slack.arrangement.set_member(MERGE_QUEUE, guest, is_member=True)
    answer = await bot.ask("/mq board", by=guest)
    assert "you're a guest here" in answer
    assert bot.posts() == []

    bot.break_service("error", path=STATUS, status=503)
    answer = await bot.ask("/mq board")
    assert "isn't responding" in answer
    assert "Try again" in answer.labels
    bot.fix_service()
    await bot.click(answer, "Try again")
    await bot.wait_for_post("*acme/site* is running")

    assert "you're a guest here" in await bot.ask("/mq board off", by=guest)
    # What a guest tries is in the log, and nowhere else.
    assert "gus" not in await bot.ask("/mq audit")
