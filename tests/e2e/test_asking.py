"""Questions about a pull request, the event log, the rules and the branches; seen by the asker."""

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BOB, BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]


async def test_why_shows_what_a_pull_request_waits_for_and_who_removed_it(bot: BotTester) -> None:
    number = bot.enqueue(title="Add search", author="ana", hangs=True)
    await bot.checks_run(1)
    answer = await bot.ask(f"/mq why #{number}")
    assert f"#{number} Add search" in answer
    assert "*In a batch*" in answer
    assert "*Waits for:* the checks `" in answer
    assert "`end-to-end tests` of its batch (" in answer
    assert "*Next step:* no action needed" in answer
    assert "Checks started" in answer
    assert bot.replies(by=BOB) == []

    bot.merge_queue.dequeue("acme/site", number, by="bob")
    answer = await bot.ask(f"/mq why {number}")
    assert "*Removed from the queue*" in answer
    assert "removed on request, by @bob" in answer


async def test_why_shows_the_place_and_the_timeout_where_the_service_says_them(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(lacks=("queues",))
    bot.enqueue(hangs=True)
    number = bot.enqueue(hangs=True)
    await bot.checks_run(1)
    answer = await bot.ask(f"/mq why {number}")
    assert "`end-to-end tests` of its batch (" in answer
    assert "*Ahead* 1 pull request" in answer
    assert "*Checks time out* " in answer
    bot.break_service("error", path="/merge-queue/pull/", status=500)
    answer = await bot.ask(f"/mq why {number}")
    assert "*Waits for:* the checks of its batch (" in answer
    assert "time out" not in answer


async def test_why_names_the_pause_that_holds_everything(bot: BotTester) -> None:
    await bot.publish("/mq pause acme/site CI runners are down", "paused")
    number = bot.enqueue()
    answer = await bot.ask(f"/mq why {number}")
    assert "*Waiting in line*" in answer
    assert "the pause by alice to end" in answer
    assert "CI runners are down" in answer
    assert "*Next step for alice:* resume the queue" in answer


async def test_why_shows_the_reason_for_leaving_and_the_next_step(bot: BotTester) -> None:
    number = bot.enqueue(author="ana", broken_check="unit tests")
    await bot.happens("action.queue.leave", number)
    answer = await bot.ask(f"/mq why https://code.example/acme/site/pull/{number}")
    assert "*Left the queue*" in answer
    assert "unit tests failed · open the run" in answer
    assert "fix it, then comment `@mergifyio queue`" in answer
    assert "https://ci.example.com/" in str(answer.blocks)


async def test_why_lists_no_checks_when_the_service_no_longer_has_them(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    await bot.checks_run(1)
    bot.break_service("error", path="/queues", status=404)
    bot.break_service("error", path="/merge-queue/pull/", status=410)
    assert "*Waits for:* the checks of its batch (" in await bot.ask(f"/mq why {number}")


async def test_why_of_a_merged_pull_request_links_to_its_log(bot: BotTester) -> None:
    number = await bot.merge()
    answer = await bot.ask(f"/mq why {number} acme/site")
    assert "*Merged*" in answer
    await bot.click(answer, "Its event log")
    log = await bot.wait_for_reply(f"Event log · acme/site · #{number}")
    assert "*Queued*" in log
    await bot.click(answer, "Refresh")
    await bot.wait_for_change(answer, "*Merged*")


async def test_an_unknown_pull_request_gets_a_clear_reply(bot: BotTester) -> None:
    answer = await bot.ask("/mq why 99999")
    assert answer.words == (
        "#99999 is not in the merge queue of acme/site, and the event log doesn't mention it. "
        "Is the number right?"
    )
    answer = await bot.ask("/mq remove")
    assert "Which pull request? Type its number or its address." in answer
    assert "`/mq help remove` shows how." in answer
    assert "Nothing is queued in acme/site" in await bot.ask("/mq why")
    answer = await bot.ask("/mq why https://code.example/acme/other/pull/3")
    assert "I don't manage `acme/other`" in answer


async def test_the_log_is_read_page_by_page_in_both_directions(bot: BotTester) -> None:
    number = await bot.merge()
    log = newest = await bot.ask(f"/mq log pr:{number} limit:2")
    assert "*Merged*" in newest
    older = [newest.line]
    newer = []
    while "Older" in log.labels:
        await bot.click(log, "Older")
        log = await bot.wait_for_other(log)
        older.append(log.line)
    assert "*Queued*" in log
    assert len(older) > 2
    newer.append(log.line)
    while "Newer" in log.labels:
        await bot.click(log, "Newer")
        log = await bot.wait_for_other(log)
        newer.append(log.line)
    assert "*Merged*" in log
    assert len(newer) == len(older)

    bot.break_service("stale_cursor", path="/logs")
    await bot.click(log, "Older")
    log = await bot.wait_for_change(log, "That page has expired")
    assert "*Merged*" in log


async def test_the_log_and_the_audit_name_who_acted_on_the_dashboard_and_in_slack(
    bot: BotTester,
) -> None:
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.happens("queue.pause.create")
    bot.merge_queue.resume("acme/site", by="dave")
    await bot.happens("queue.pause.delete")
    await bot.next_poll()
    await bot.pause("now CI is down")
    await bot.resume(by=BOB)
    await bot.wait_for_direct_message("bob resumed acme/site")

    log = await bot.ask("/mq log type:queue.pause.create,queue.pause.delete")
    by_whom = [line.partition(" · ")[0] for line in log.line.splitlines() if line.startswith("by ")]
    assert by_whom == ["by bob", "by alice", "by dave", "by carol"]
    assert "CI is down\nby alice" in log.line
    assert "mqbot" not in log.line

    audit = await bot.ask("/mq audit")
    assert "carol paused acme/site: Database migration\n" in audit.line
    assert "dave resumed acme/site\n" in audit.line
    assert audit.line.count("as the event log says") == 2
    assert "mqbot" not in audit.line


async def test_every_filter_of_the_log_reaches_the_service(bot: BotTester) -> None:
    number = await bot.merge(base_ref="release/4.2")
    log = await bot.ask(
        f"/mq log acme/site pr:{number} branch:release/4.2 type:leave,merged since:90d limit:5"
    )
    assert f"*Event log · acme/site* · #{number} · `release/4.2` · `action.queue.leave`, " in log
    assert "*Merged*" in log
    asked = next(request for request in bot.requests("/logs") if "pull_request=" in request)
    for part in (
        f"pull_request={number}",
        "base_ref=release%2F4.2",
        "event_type=action.queue.leave",
        "event_type=action.queue.merged",
        "received_from=",
        "received_to=",
        "per_page=5",
    ):
        assert part in asked
    empty = await bot.ask(f"/mq log pr:{number} branch:main since:2h until:1h")
    assert "No events from " in empty


async def test_rules_are_shown_in_processing_order_or_with_what_is_wrong(bot: BotTester) -> None:
    answer = await bot.ask("/mq rules")
    names = [rule.name for rule in bot.merge_queue.repository("acme/site").rules]
    places = [answer.words.index(f"{place}. {name}") for place, name in enumerate(names, 1)]
    assert places == sorted(places)
    assert "default*: batch size 3, waits 30 s for a batch to fill, checks time out after" in answer
    assert "batch_size" not in answer
    await bot.click(answer, "Show all")
    whole = await bot.wait_for_change(answer, "`batch_size`: 3")
    assert "Show all" not in whole.labels

    bot.merge_queue.break_configuration("acme/site", "batch_size must be at least 1")
    answer = await bot.ask("/mq rules")
    assert answer.words.startswith(
        ":warning: The configuration file of acme/site is invalid. batch_size must be at least 1"
    )


async def test_branches_are_listed_with_their_depth_and_their_last_merge(bot: BotTester) -> None:
    await bot.merge(base_ref="release/4.2", title="Backport the fix")
    number = await bot.merge(base_ref="release/4.2", title="Bump the version")
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    answer = await bot.ask("/mq branches since:24h")
    assert "2 base branches with queue activity in the last 24 h" in answer
    main, release = (line for line in answer.words.splitlines() if line[0].isdigit())
    assert main.endswith("`main` · 1 queued")
    assert f"`release/4.2` · queue empty · last merge #{number}" in release


async def test_branches_are_listed_while_their_queues_cannot_be_read(bot: BotTester) -> None:
    await bot.merge(base_ref="release/4.2")
    bot.break_service("error", path="/merge-queue/status", status=503)
    answer = await bot.ask("/mq branches")
    assert "1. `release/4.2` · last merge #" in answer


async def test_statistics_show_merges_and_failures_with_a_chart(bot: BotTester) -> None:
    await bot.merge()
    await bot.merge(base_ref="release/4.2")
    broken = bot.enqueue(broken_check="unit tests")
    await bot.happens("action.queue.leave", broken)
    answer = await bot.ask("/mq stats")
    assert "*acme/site*: 2 merges in 7 days" in answer
    assert "Time in the queue: median " in answer
    assert "Failed: 1 of 3 (33.3%)" in answer
    assert "2 merged · 1 failed" in answer
    assert [block["type"] for block in answer.blocks].count("data_visualization") == 1
    of_branch = await bot.ask("/mq stats branch:release/4.2 since:30d")
    assert "*acme/site* on `release/4.2`: 1 merge in 30 days" in of_branch
    await bot.click(of_branch, "Share in channel")
    shared = await bot.wait_for_post("on `release/4.2`: 1 merge in 30 days")
    assert shared.labels == []


async def test_statistics_of_checks_show_what_throws_pull_requests_out(bot: BotTester) -> None:
    broken = bot.enqueue(broken_check="unit tests")
    await bot.happens("action.queue.leave", broken)
    removed = bot.enqueue(hangs=True)
    bot.merge_queue.dequeue("acme/site", removed)
    await bot.happens("action.queue.leave", removed)
    answer = await bot.ask("/mq stats checks since:14d")
    assert "*acme/site*: 2 pull requests left the queue unmerged (0 in the 14 days" in answer
    assert "Failed checks: unit tests 1 (was 0)" in answer
    assert "its checks failed 1 (was 0), removed on request 1 (was 0)" in answer
    assert [block["type"] for block in answer.blocks].count("data_visualization") == 1
    await bot.click(answer, "Share in channel")
    shared = await bot.wait_for_post("Failed checks: unit tests 1")
    assert shared.labels == []


async def test_statistics_of_a_quiet_queue(bot: BotTester) -> None:
    answer = await bot.ask("/mq stats since:6h")
    assert "*acme/site*: 0 merges in the last 6 h" in answer
    refused = await bot.ask("/mq stats since:yesterday")
    assert "since: " in refused
    assert "`/mq help stats` shows how." in refused


async def test_an_unavailable_service_is_never_shown_as_an_empty_queue(bot: BotTester) -> None:
    bot.break_service("error", status=503)
    answers = [
        await bot.ask(f"/mq {word}") for word in ("why 41", "log", "rules", "branches", "stats")
    ]
    bot.fix_service()
    for answer in answers:
        assert "The merge queue service isn't responding" in answer
        await bot.click(answer, "Try again")
        await bot.wait_for_reply("acme/site")


async def test_a_question_without_a_repository_continues_with_the_chosen_one(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    question = await bot.ask("/mq why 41")
    await bot.click(question, "acme/api")
    await bot.wait_for_reply("#41 is not in the merge queue of acme/api")


async def test_words_and_options_work_in_any_order(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/repo0": "quiet"}, channels="")
    await bot.merge("acme/repo0", base_ref="release/4.2")
    for typed, in_full, answered in (
        (
            "subscriptions branch:main test",
            "subscriptions branch:main acme/repo0 test",
            "Who would be notified of an event in acme/repo0 on `main`*",
        ),
        (
            "stats since:30d branch:release/4.2",
            "stats branch:release/4.2 acme/repo0 since:30d",
            "acme/repo0* on `release/4.2`: 1 merge in 30 days",
        ),
        (
            "stats branch:main",
            "stats branch:main acme/repo0",
            "acme/repo0* on `main`: 0 merges in 7 days",
        ),
    ):
        assert answered in await bot.ask(f"/mq {in_full}")
        question = await bot.ask(f"/mq {typed}")
        await bot.click(question, "acme/repo0")
        await bot.wait_for_reply(answered)


@pytest.mark.parametrize("status", [404, 410])
async def test_deprecated_endpoints_that_are_gone_are_replaced_or_reported(
    start_bot: StartBot, status: int
) -> None:
    bot = await start_bot(lacks=("queues", "queue") if status == 404 else ())
    for path in ("/queues", "/queue/") if status == 410 else ():
        bot.break_service("error", path=path, status=410)
    gone = f"The merge queue service no longer offers this: {status} “"
    said = "Not Found" if status == 404 else "Armed failure"
    assert (await bot.ask("/mq rules")).words == f":warning: *acme/site:* {gone}{said}”."
    empty = "No base branch of acme/site has a queue now."
    assert empty in await bot.ask("/mq branches")
    number = bot.enqueue(title="Add search", hangs=True)
    await bot.checks_run(1)
    answer = await bot.ask("/mq branches")
    assert "1 base branch with a queue now" in answer
    assert "`main` · 1 queued" in answer
    assert "The service no longer offers earlier activity." in answer
    assert f"#{number} Add search" in await bot.ask("/mq status")
    board = await bot.publish("/mq board", "#")
    assert f"#{number} Add search" in board
    assert "`end-to-end tests` of its batch" in await bot.ask(f"/mq why {number}")
    bot.break_service("error", path="/merge-queue/branches", status=status)
    assert gone in await bot.ask("/mq branches")
    await bot.stop_bot()
    bot.replies()
    bot.posts()
