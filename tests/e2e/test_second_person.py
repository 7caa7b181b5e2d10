"""Acts that take two people: who counts, the one request, and that it closes when it is settled."""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_freezes_by_people import frozen
from tests.e2e.test_policies import API, SITE, start
from tests.support.bot_tester import ALICE, BOB, CAROL, DAVE, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

GROUP = "S0RELEASERS"
TWO_PEOPLE = f'[MQBOT_POLICY."{SITE}"]\nsecond_person = true\n'
FROM_THE_GROUP = f'{TWO_PEOPLE}who_may_pause = ["{GROUP}", "{CAROL}"]\n'
A_MINUTE = 61.0
"""Slack's answers about people and groups are kept for a minute."""

BOTH_QUEUES = rf"\(({SITE}, {API}|{API}, {SITE})\)\. Someone else has to confirm\."
"""In the order in which they were acted upon, at the same time."""

REFUSED = "a second person has to confirm"


async def paused(bot: BotTester, *, by: str = ALICE) -> Shown:
    card = await bot.publish(f"/mq pause {SITE} incident", f"*{SITE} is paused*", by=by)
    return await bot.wait_for_change(card, "0 queued")


async def leaves_the_group(bot: BotTester) -> None:
    bot.slack.arrangement.set_group("releasers", [ALICE, DAVE])


async def becomes_a_guest(bot: BotTester) -> None:
    bot.slack.arrangement.change_user(BOB, {"kind": "guest"})


async def is_deactivated(bot: BotTester) -> None:
    bot.slack.arrangement.change_user(BOB, {"deleted": True})


@pytest.mark.parametrize("loses_it", [leaves_the_group, becomes_a_guest, is_deactivated])
async def test_a_first_person_who_has_lost_the_right_counts_no_more(
    start_bot: StartBot, tmp_path: Path, loses_it: Callable[[BotTester], Awaitable[None]]
) -> None:
    bot = await start(start_bot, tmp_path, FROM_THE_GROUP)
    bot.slack.arrangement.set_group("releasers", [ALICE, BOB, DAVE])
    card = await paused(bot)
    await bot.click(card, "Resume queue", by=BOB)
    assert REFUSED in await bot.wait_for_reply(by=BOB)
    request = await bot.wait_for_post("bob wants to resume")
    await loses_it(bot)
    await bot.pass_time(A_MINUTE)
    await bot.click(card, "Resume queue", by=CAROL)
    assert REFUSED in await bot.wait_for_reply(by=CAROL)
    closed = await bot.wait_for_change(request, "Nobody confirmed it")
    assert closed.labels == []
    await bot.wait_for_post("carol wants to resume")
    assert bot.pause_reason(SITE) == "incident (by alice via Slack)"
    await bot.click(card, "Resume queue", by=DAVE)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message(f"dave resumed {SITE}", by=ALICE)
    bot.slack.arrangement.change_user(BOB, {"deleted": False})


async def test_one_request_mentions_who_may_confirm_and_says_who_did(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, FROM_THE_GROUP)
    bot.slack.arrangement.set_group("releasers", [ALICE, BOB])
    card = await paused(bot)
    await bot.click(card, "Resume queue", by=BOB)
    await bot.wait_for_reply(by=BOB)
    request = await bot.wait_for_post(f"bob wants to resume {SITE}. Someone else has to confirm.")
    written = str(request.blocks)
    assert [f"<@{one}>" in written for one in (ALICE, CAROL, BOB)] == [True, True, False]
    assert f"<!subteam^{GROUP}>" in written
    assert request.labels == ["Resume queue"]
    await bot.click(request, "Resume queue", by=BOB)
    assert REFUSED in await bot.wait_for_reply(by=BOB)
    await bot.click(request, "Resume queue", by=CAROL)
    await bot.wait_for_post("has resumed")
    settled = await bot.wait_for_change(request, "bob asked for it, and carol confirmed")
    assert settled.labels == []
    await bot.wait_for_direct_message(f"carol resumed {SITE}", by=ALICE)
    audit = await bot.ask(f"/mq audit {SITE}")
    assert f"*bob* asked to resume {SITE}" in audit
    assert "asked for by bob, confirmed by carol" in audit


async def test_a_request_closes_when_the_pause_ends_otherwise(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    card = await paused(bot)
    await bot.click(card, "Resume queue", by=BOB)
    await bot.wait_for_reply(by=BOB)
    request = await bot.wait_for_post("bob wants to resume")
    await bot.click(card, "Resume queue", by=ALICE)
    await bot.wait_for_post("has resumed")
    closed = await bot.wait_for_change(request, "Nothing is left to confirm: alice ended that")
    assert closed.labels == []


async def test_a_request_that_nobody_confirms_closes(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE + "reminder_minutes = 0\n")
    card = await paused(bot)
    await bot.click(card, "Resume queue", by=BOB)
    await bot.wait_for_reply(by=BOB)
    request = await bot.wait_for_post("bob wants to resume")
    await bot.pass_time(3601)
    closed = await bot.wait_for_change(request, "Nobody confirmed it, and nothing changed.")
    assert closed.labels == []
    assert bot.pause_reason(SITE) is not None


async def test_a_group_has_one_request_with_one_button(start_bot: StartBot, tmp_path: Path) -> None:
    both = '[MQBOT_POLICY."@release"]\nsecond_person = true\n'
    bot = await start(start_bot, tmp_path, both)
    card = await bot.publish("/mq pause now @release incident", "2 of 2 queues", by=ALICE)
    await bot.click(card, "Resume @release", by=BOB)
    answer = await bot.wait_for_reply("waiting for a second person", by=BOB)
    assert "failed" not in answer
    assert "Retry the rest" not in answer.labels
    request = await bot.wait_for_post("bob wants to resume @release")
    assert re.search(BOTH_QUEUES, request.words)
    assert request.labels == ["Resume @release"]
    await bot.has_posted()
    assert len(bot.posts()) == 2
    await bot.click(request, "Resume @release", by=CAROL)
    settled = await bot.wait_for_change(request, "bob asked for it, and carol confirmed")
    assert settled.labels == []
    await bot.wait_for_change(card, "*@release was paused*")
    await bot.wait_for_post("@release: 2 of 2 queues resumed")
    await bot.wait_for_direct_message("Everything paused for @release has resumed", by=ALICE)
    assert [bot.pause_reason(repository) for repository in (SITE, API)] == [None, None]


async def freeze(bot: BotTester) -> Shown:
    post = await bot.publish(f"/mq freeze 2h {SITE} release day", "release day", by=ALICE)
    await bot.wait_for_reply("is frozen from", by=ALICE)
    return post


async def test_two_people_end_somebody_elses_freeze(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    await freeze(bot)
    refused = await bot.ask(f"/mq unfreeze {SITE} it is out", by=BOB)
    assert f"{SITE} is frozen by alice, so a second person has to confirm." in refused
    request = await bot.wait_for_post(f"bob wants to end the freeze of {SITE}")
    assert "*bob's reason* it is out" in request
    assert request.labels == ["End freeze…"]
    assert len(frozen(bot)) == 1
    await bot.click(request, "End freeze…", by=CAROL)
    form = await bot.modal("In force: release day", by=CAROL)
    await bot.submit(form, by=CAROL, reason="yes, it is")
    settled = await bot.wait_for_change(request, "bob asked for it, and carol confirmed")
    assert settled.labels == []
    await bot.wait_for_post("*Freeze ended*")
    assert frozen(bot) == []


async def test_two_people_let_a_pull_request_through_somebody_elses_freeze(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    number = bot.enqueue(SITE, hangs=True)
    card = await freeze(bot)
    typed = f"/mq allow {number} {SITE} fixes the outage"
    assert REFUSED in await bot.ask(typed, by=BOB)
    request = await bot.wait_for_post(f"bob wants to let #{number} of {SITE} through")
    assert frozen(bot)[0].exclude_conditions in ([], ())
    await bot.click(request, "Let it through", by=CAROL)
    await bot.wait_for_change(request, "bob asked for it, and carol confirmed")
    await bot.wait_for_post(f"*#{number} of acme/site may merge during the freeze:*")

    def is_told() -> bool:
        shown = [*bot.posts(), *bot.thread(card)]
        return any("*Freeze changed*" in text for text in shown)

    await until(is_told, "the change of the freeze")
    assert f"number={number}" in str(frozen(bot)[0].exclude_conditions)


async def test_only_its_maker_shortens_a_freeze_and_ends_it_alone(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    await freeze(bot)
    end = frozen(bot)[0].end
    shown = await bot.ask(f"/mq freezes {SITE}", by=BOB)
    await bot.choose(shown, "Another time…", menu="Extend…", by=BOB)
    sooner = datetime.now(ZoneInfo("Europe/London")) + timedelta(minutes=20)
    form = await bot.modal("Until when", by=BOB)
    await bot.submit(form, by=BOB, end=f"until {sooner:%H:%M}")
    assert "Only they can change that freeze" in await bot.modal("Only they", by=BOB)
    assert frozen(bot)[0].end == end
    await bot.ask(f"/mq unfreeze {SITE} it is out", by=ALICE)
    await bot.wait_for_post("*Freeze ended*")
    assert frozen(bot) == []


async def test_a_request_closes_when_the_pause_ends_on_the_dashboard(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    card = await paused(bot)
    await bot.click(card, "Resume queue", by=BOB)
    await bot.wait_for_reply(by=BOB)
    request = await bot.wait_for_post("bob wants to resume")
    bot.merge_queue.resume(SITE, by="erin")
    closed = await bot.wait_for_change(request, "Nothing is left to confirm")
    assert closed.labels == []
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message(SITE, by=ALICE)


async def test_a_request_closes_when_the_freeze_ends_on_the_dashboard(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    await freeze(bot)
    await bot.ask(f"/mq unfreeze {SITE} it is out", by=BOB)
    request = await bot.wait_for_post(f"bob wants to end the freeze of {SITE}")
    bot.merge_queue.unfreeze(SITE, frozen(bot)[0].id, "done here", by="erin")
    closed = await bot.wait_for_change(
        request, "Nothing is left to confirm: erin ended that freeze"
    )
    assert closed.labels == []
    await bot.wait_for_post("*Freeze ended*")


async def test_a_group_has_one_request_to_end_its_freezes(
    start_bot: StartBot, tmp_path: Path
) -> None:
    both = '[MQBOT_POLICY."@release"]\nsecond_person = true\n'
    bot = await start(start_bot, tmp_path, both)
    bot.expected_refusals = {"views.update hash_conflict"}
    await bot.publish("/mq freeze now @release 2h cutting 4.2", "2 of 2 queues frozen", by=ALICE)
    answer = await bot.ask("/mq unfreeze @release it is out", by=BOB)
    assert "waiting for a second person" in answer
    assert "failed" not in answer
    request = await bot.wait_for_post("bob wants to end the freeze of @release")
    assert re.search(BOTH_QUEUES, request.words)
    assert "*bob's reason* it is out" in request
    assert request.labels == ["End freeze…"]
    assert [len(frozen(bot, repository)) for repository in (SITE, API)] == [1, 1]
    await bot.click(request, "End freeze…", by=BOB)
    own = await bot.modal("@release", by=BOB)
    await bot.submit(own, by=BOB, reason="again")
    await bot.click(request, "End freeze…", by=CAROL)
    form = await bot.modal("@release", by=CAROL)
    await bot.submit(form, by=CAROL, reason="yes, it is")
    settled = await bot.wait_for_change(request, "bob asked for it, and carol confirmed")
    assert settled.labels == []
    await bot.wait_for_post("2 of 2")
    assert [frozen(bot, repository) for repository in (SITE, API)] == [[], []]
