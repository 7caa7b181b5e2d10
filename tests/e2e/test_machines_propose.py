"""Machines that only propose: people approve or refuse, once, with their rights of that moment."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_freezes_by_people import frozen
from tests.e2e.test_machines import DEPLOY, NIGHTLY, WITH_MACHINES, Shell, get, post, shell
from tests.support.bot_tester import ALICE, BOB, CAROL, MERGE_QUEUE, BotTester
from tests.support.shown import Shown

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

__all__ = ["shell"]

SITE = "acme/site"
APPROVAL = f'[MQBOT_POLICY."{SITE}".approval.deploy-job]\n'
FOLLOWED = f"{SITE}={MERGE_QUEUE}:pause,freeze"


async def start(start_bot: StartBot, folder: Path, table: str = APPROVAL) -> BotTester:
    file = folder / "mqbot.toml"
    file.write_text(table, "utf-8")
    file.chmod(0o600)
    environment = {**WITH_MACHINES, "MQBOT_CONFIG": str(file)}
    return await start_bot(environment=environment, channels=FOLLOWED)


async def propose(bot: BotTester, what: str = "pause", **asked: Any) -> tuple[str, Shown]:
    """The address of the outcome, and the request in the channel."""
    status, answer = await post(bot, what, DEPLOY, target=SITE, **asked)
    assert (status, answer["changed"]) == (202, None)
    assert answer["proposal"]["state"] == "open"
    request = await bot.wait_for_post("deploy-job proposes to")
    assert request.labels == ["Approve", "Refuse"]
    return answer["outcome"], request


async def test_a_person_approves_what_a_machine_proposes(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    reason = "<!channel> *urgent* <https://evil.example|click>"
    address, request = await propose(bot, reason=reason, end="45m")
    assert "<!channel>" not in str(request.blocks)
    assert "“@channel *urgent*" in request
    assert "45 min after the approval" in request
    assert bot.pause_reason() is None
    assert (await get(bot, address, NIGHTLY))[0] == 404
    waiting = asyncio.ensure_future(get(bot, address, DEPLOY))
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_post("*acme/site is paused*")
    await bot.wait_for_reply("is paused", by=BOB)
    assert str(bot.pause_reason()).endswith("|click> (by bob via Slack)")
    status, outcome = await waiting
    if status == 202:
        status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["done"]) == (200, True)
    assert (outcome["proposal"]["state"], outcome["proposal"]["by"]) == ("confirmed", "bob")
    settled = await bot.wait_for_change(request, "*bob approved it.*")
    assert settled.labels == []
    audit = await bot.ask("/mq audit")
    assert "*deploy-job* proposed to pause acme/site" in audit
    assert "proposed by deploy-job, approved by bob" in audit


async def test_a_refused_proposal_changes_nothing(
    start_bot: StartBot, tmp_path: Path, shell: Shell
) -> None:
    bot = await start(start_bot, tmp_path)
    address, request = await propose(bot, reason="deploying")
    await bot.click(request, "Refuse", by=BOB)
    settled = await bot.wait_for_change(request, "*bob refused it*, and nothing changed.")
    assert settled.labels == []
    status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["done"]) == (200, False)
    assert (outcome["proposal"]["state"], outcome["proposal"]["by"]) == ("refused", "bob")
    ended = await shell(bot, "outcome", address.rpartition("/")[2])
    assert ended.code == 1
    assert "bob refused it" in ended.complaints
    await bot.click(request, "Approve", by=CAROL)
    assert "bob already refused this." in await bot.wait_for_reply(by=CAROL)
    assert bot.pause_reason() is None
    assert "proposed by deploy-job, refused by bob" in await bot.ask("/mq audit")


async def test_a_proposal_expires_and_can_be_made_again(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, f"{APPROVAL}minutes = 10\nmost_open = 1\n")
    address, request = await propose(bot, reason="deploying")
    status, again = await post(bot, "pause", DEPLOY, target=SITE, reason="deploying")
    assert (status, again["outcome"]) == (202, address)
    status, refused = await post(bot, "pause", DEPLOY, target=SITE, reason="something else")
    assert (status, refused["error"]) == (429, "too_many")
    await bot.pass_time(601)
    settled = await bot.wait_for_change(request, "Nobody answered in time, and nothing changed.")
    assert settled.labels == []
    status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["proposal"]["state"]) == (200, "expired")
    await bot.click(request, "Approve", by=BOB)
    assert "has expired" in await bot.wait_for_reply(by=BOB)
    assert bot.pause_reason() is None
    again_at, request = await propose(bot, reason="deploying")
    assert again_at != address
    await bot.click(request, "Refuse", by=BOB)
    await bot.wait_for_change(request, "*bob refused it*")


async def test_the_person_who_runs_the_machine_does_not_approve_alone(
    start_bot: StartBot, tmp_path: Path
) -> None:
    second = f'[MQBOT_POLICY."{SITE}"]\nsecond_person = true\nwho_may_pause = ["{ALICE}", '
    second += f'"{BOB}", "machine:deploy-job"]\n{APPROVAL}run_by = ["{ALICE}"]\n'
    bot = await start(start_bot, tmp_path, second)
    _, request = await propose(bot, reason="deploying")
    assert [f"<@{person}>" in str(request.blocks) for person in (ALICE, BOB)] == [False, True]
    await bot.click(request, "Approve", by=ALICE)
    assert "You run deploy-job, so someone else has to approve this." in await bot.wait_for_reply()
    await bot.click(request, "Approve", by=CAROL)
    assert "can pause" in await bot.wait_for_reply(by=CAROL)
    await bot.click(request, "Refuse", by=CAROL)
    assert "can pause" in await bot.wait_for_reply(by=CAROL)
    assert bot.pause_reason() is None
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_post("*acme/site is paused*")
    await bot.wait_for_reply("is paused", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")


TWO_PEOPLE = f'[MQBOT_POLICY."{SITE}"]\nsecond_person = true\n{APPROVAL}'


async def test_to_end_somebody_elses_pause_two_people_approve_the_same_proposal(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    await bot.pause("now CI runners are down")
    address, request = await propose(bot, "resume", any=True)
    await bot.click(request, "Approve", by=BOB)
    assert "a second person has to approve" in await bot.wait_for_reply(by=BOB)
    by_one = await bot.wait_for_change(
        request, "bob approved it. Someone else has to approve it too"
    )
    assert by_one.labels == ["Approve", "Refuse"]
    status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["proposal"]["state"]) == (202, "open")
    await bot.open_home(by=BOB)
    assert "Waits for you" not in await bot.home("is paused", by=BOB)
    await bot.click(by_one, "Approve", by=BOB)
    assert "a second person has to approve" in await bot.wait_for_reply(by=BOB)
    assert bot.pause_reason() is not None
    await bot.click(by_one, "Approve", by=CAROL)
    await bot.wait_for_reply("has resumed", by=CAROL)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("carol resumed acme/site")
    settled = await bot.wait_for_change(request, "*bob and carol approved it.*")
    assert settled.labels == []
    status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["done"], outcome["proposal"]["state"]) == (200, True, "confirmed")
    assert "asked for by bob, confirmed by carol" in await bot.ask("/mq audit")


async def test_who_paused_approves_alone_and_a_typed_command_counts_as_the_second(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    await bot.pause("now CI runners are down")
    _, request = await propose(bot, "resume", any=True)
    await bot.click(request, "Approve")
    await bot.wait_for_reply("has resumed")
    await bot.wait_for_post("has resumed")
    await bot.wait_for_change(request, "*alice approved it.*")
    await bot.pause("now CI runners are down")
    address, request = await propose(bot, "resume", any=True)
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_reply("a second person has to approve", by=BOB)
    await bot.type(f"/mq resume {SITE}", by=CAROL)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("carol resumed acme/site")
    await bot.wait_for_change(request, "*bob and carol approved it.*")
    status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["done"], outcome["proposal"]["by"]) == (200, True, "carol")
    await bot.pause("now CI runners are down")
    _, request = await propose(bot, "resume", any=True)
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_reply("a second person has to approve", by=BOB)
    await bot.click(request, "Refuse", by=CAROL)
    await bot.wait_for_change(request, "*carol refused it*, and nothing changed.")
    # So what bob approved counts no more.
    await bot.type(f"/mq resume {SITE}", by=CAROL)
    assert "a second person has to confirm" in await bot.wait_for_reply(by=CAROL)
    await bot.wait_for_post("carol wants to resume acme/site")
    assert bot.pause_reason() is not None


async def test_home_shows_proposals_to_those_who_may_answer(
    start_bot: StartBot, tmp_path: Path
) -> None:
    may_pause = f'[MQBOT_POLICY."{SITE}"]\nwho_may_pause = ["{BOB}", "machine:deploy-job"]\n'
    bot = await start(start_bot, tmp_path, may_pause + APPROVAL)
    _, request = await propose(bot, reason="<!channel> deploying")
    await bot.open_home(by=CAROL)
    assert "Waits for you" not in await bot.home(by=CAROL)
    await bot.open_home(by=BOB)
    home = await bot.home("*Waits for you*", by=BOB)
    assert "deploy-job proposes to pause acme/site" in home
    assert "“@channel deploying”" in home
    await bot.click(home, "Approve", by=BOB)
    await bot.wait_for_post("*acme/site is paused*")
    await bot.wait_for_direct_message("acme/site is paused", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")
    await bot.home("*acme/site* is paused", by=BOB, without="Waits for you")
    await bot.resume(by=BOB)
    _, request = await propose(bot, reason="deploying again")
    await bot.open_home(by=BOB)
    await bot.click(await bot.home("deploying again", by=BOB), "Refuse", by=BOB)
    await bot.wait_for_change(request, "*bob refused it*")
    await bot.home("*acme/site* is running", by=BOB, without="Waits for you")
    assert bot.pause_reason() is None


async def test_two_people_who_approve_at_once_pause_once(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    _, request = await propose(bot, reason="deploying")
    presses = [bot.click(request, "Approve", by=person) for person in (ALICE, BOB, CAROL)]
    await asyncio.gather(*presses)
    answers = [await bot.wait_for_reply(by=person) for person in (ALICE, BOB, CAROL)]
    # A person who presses while it is carried out reads that, too.
    assert sum("approved this" in answer for answer in answers) == 2
    sent = [line for line in bot.requests("/merge-queue/pause") if line.startswith("PUT")]
    assert len(sent) == 1
    await bot.wait_for_post("*acme/site is paused*")
    await bot.wait_for_change(request, "approved it.*")


async def test_a_machine_proposes_to_freeze_to_let_through_and_to_end_it(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    _, request = await propose(
        bot, "freeze", reason="main is red", end="2h", exceptions=["fix-main"], branches=["main"]
    )
    assert "only main, except label=fix-main" in request
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_reply("is frozen from", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")
    card = await bot.wait_for_post("*acme/site is frozen*")
    (made,) = frozen(bot)
    assert made.reason == "main is red (by bob via Slack)"
    _, request = await propose(bot, "allow", pull_request=41, reason="fixes main")
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_reply("may merge during the freeze", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")
    assert "number=41" in str(frozen(bot)[0].exclude_conditions)
    await bot.wait_for_post("*Freeze changed*")
    status, refused = await post(bot, "unfreeze", DEPLOY, target=SITE, reason="green")
    assert (status, refused["changed"]) == (409, False)
    _, request = await propose(bot, "unfreeze", reason="green", any=True)
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_reply("The freeze of acme/site has ended", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")
    assert frozen(bot) == []
    await bot.wait_for_post("*Freeze ended*")
    await bot.wait_for_change(card, "was frozen*")


async def test_a_proposal_to_resume_is_over_once_the_pause_is(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    card = await bot.pause("now CI runners are down", by=BOB)
    address, request = await propose(bot, "resume", any=True)
    await bot.click(card, "Resume queue", by=BOB)
    await bot.wait_for_post("has resumed")
    settled = await bot.wait_for_change(request, "Nothing is left to approve.")
    assert settled.labels == []
    status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["proposal"]["state"]) == (200, "over")
    await bot.pause("now CI runners are down", by=BOB)
    _, request = await propose(bot, "resume", any=True)
    await bot.click(request, "Approve", by=CAROL)
    await bot.wait_for_reply("has resumed", by=CAROL)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("carol resumed acme/site", by=BOB)
    await bot.wait_for_change(request, "*carol approved it.*")
    assert bot.pause_reason() is None


async def test_a_machine_proposes_to_end_a_pause_that_the_bot_has_not_heard_of(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    bot.break_service("error", path="/logs", status=503)
    bot.merge_queue.pause(SITE, "Night", by="carol")
    status, answer = await post(bot, "resume", DEPLOY, target=SITE)
    assert (status, answer["changed"]) == (409, False)
    assert answer["pause"]["reason"] == "Night"
    _, request = await propose(bot, "resume", any=True)
    assert "*Paused because* “Night”" in request
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_reply("has resumed", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")
    assert bot.pause_reason() is None
    await bot.stop_bot()
    bot.posts()


async def test_what_the_policy_does_not_name_the_machine_does_itself(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, f'{APPROVAL}acts = ["freeze", "allow"]\n')
    status, answer = await post(bot, "pause", DEPLOY, target=SITE, reason="deploying")
    assert (status, answer["changed"]) == (200, True)
    await bot.wait_for_post("*acme/site is paused*")
    status, answer = await post(
        bot, "allow", DEPLOY, target="all", pull_request=41, reason="fixes main"
    )
    assert (status, answer["field"]) == (422, "target")
    status, answer = await post(bot, "freeze", NIGHTLY, target=SITE, reason="nightly")
    assert (status, answer["changed"]) == (200, True)
    await bot.wait_for_post("*acme/site is frozen*")
