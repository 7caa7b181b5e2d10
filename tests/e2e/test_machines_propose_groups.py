"""Machines that propose for a group: one request, and the outcome of each repository by id."""

import asyncio
import re
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_freezes_by_people import frozen
from tests.e2e.test_machines import DEPLOY, WITH_MACHINES, Shell, get, post, shell
from tests.support.bot_tester import ALICE, BOB, CAROL, MERGE_QUEUE, BotTester
from tests.support.shown import Shown

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

__all__ = ["shell"]

SITE = "acme/site"
API = "acme/api"
NAMES = {ALICE: "alice", BOB: "bob", CAROL: "carol"}
BOTH = r"@release \(acme/site, acme/api\)"
APPROVAL = '[MQBOT_POLICY."@release".approval.deploy-job]\n'
FOLLOWED = f"{SITE}={MERGE_QUEUE}:pause,freeze;{API}={MERGE_QUEUE}:pause,freeze"


async def start(start_bot: StartBot, folder: Path, table: str = APPROVAL) -> BotTester:
    file = folder / "mqbot.toml"
    file.write_text(table, "utf-8")
    file.chmod(0o600)
    environment = {
        **WITH_MACHINES,
        "MQBOT_CONFIG": str(file),
        "MQBOT_GROUPS": "release=acme/site,acme/api",
    }
    return await start_bot(
        environment=environment,
        channels=FOLLOWED,
        repositories={SITE: "quiet", API: "quiet"},
    )


async def propose(
    bot: BotTester, what: str = "pause", *, target: str = "@release", **asked: Any
) -> tuple[str, Shown]:
    """The address of the outcome, and the one request in the channel."""
    status, answer = await post(bot, what, DEPLOY, target=target, **asked)
    assert (status, answer["changed"]) == (202, None)
    assert states(answer) == {SITE: "open", API: "open"}
    request = await bot.wait_for_post("deploy-job proposes to")
    assert request.labels == ["Approve", "Refuse"]
    return answer["outcome"], request


def states(answer: Any) -> dict[str, str]:
    """What became of each repository."""
    return {part["repository"]: part["state"] for part in answer["proposal"]["repositories"]}


async def is_settled(bot: BotTester, address: str, state: str, *, by: str = "bob") -> None:
    """Whether the same has become of both repositories."""
    status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["done"]) == (200, state == "confirmed")
    assert states(outcome) == {SITE: state, API: state}
    assert outcome["proposal"]["by"] == by


def reasons(bot: BotTester) -> list[str | None]:
    return [bot.pause_reason(repository) for repository in (SITE, API)]


async def test_one_freeze_of_a_group_is_not_proposed_to_end_as_all_of_them(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    for freeze in ("no-such-id", "1", "Release"):
        status, answer = await post(
            bot, "unfreeze", DEPLOY, target="@release", reason="green", freeze=freeze
        )
        assert status == HTTPStatus.UNPROCESSABLE_ENTITY
        assert "freeze: Name its repository as the target: owner/name." in str(answer)


async def test_a_machine_proposes_to_pause_and_to_resume_a_group(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    address, request = await propose(bot, reason="releasing", end="45m")
    assert re.search(f"proposes to pause {BOTH}", request.words)
    await bot.has_posted()
    assert len(bot.posts()) == 1
    status, again = await post(
        bot, "pause", DEPLOY, target="@release", reason="releasing", end="45m"
    )
    assert (status, again["outcome"]) == (202, address)
    assert reasons(bot) == [None, None]
    await bot.click(request, "Approve", by=BOB)
    card = await bot.wait_for_post("*@release: 2 of 2 queues paused*")
    settled = await bot.wait_for_change(request, "*bob approved it.*")
    assert settled.labels == []
    assert reasons(bot) == ["releasing (by bob via Slack)"] * 2
    await is_settled(bot, address, "confirmed")
    audit = await bot.ask("/mq audit")
    assert audit.words.count("proposed by deploy-job, approved by bob") == 2
    address, request = await propose(bot, "resume", any=True)
    await bot.click(request, "Approve", by=CAROL)
    await bot.wait_for_post("@release: 2 of 2 queues resumed")
    await bot.wait_for_change(request, "*carol approved it.*")
    await bot.wait_for_change(card, "*@release was paused*")
    await bot.wait_for_direct_message("Everything paused for @release has resumed", by=BOB)
    assert reasons(bot) == [None, None]
    await is_settled(bot, address, "confirmed", by="carol")
    status, answer = await post(bot, "resume", DEPLOY, target="@release")
    assert (status, answer["changed"]) == (200, False)
    assert [part["outcome"] for part in answer["repositories"]] == ["not_paused"] * 2


async def test_a_machine_is_told_which_queues_stay_paused_or_frozen(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    bot.merge_queue.freeze(API, FreezeTerms("made elsewhere"))
    await bot.publish("/mq pause now @release CI is down", "2 of 2 queues paused", by=BOB)
    status, answer = await post(bot, "resume", DEPLOY, target="@release")
    assert (status, answer["changed"]) == (409, False)
    assert [(part["outcome"], part["by"]) for part in answer["repositories"]] == [
        ("not_ours", "bob"),
        ("not_ours", "bob"),
    ]
    assert "2 still paused: acme/site by bob, acme/api by bob" in answer["message"]
    status, answer = await post(bot, "unfreeze", DEPLOY, target="@release", reason="green")
    assert (status, answer["changed"]) == (409, False)
    outcomes = {part["repository"]: part["outcome"] for part in answer["repositories"]}
    assert outcomes == {SITE: "not_paused", API: "not_ours"}
    await bot.stop_bot()
    bot.posts()


async def test_a_refused_proposal_for_a_group_changes_nothing(
    start_bot: StartBot, tmp_path: Path, shell: Shell
) -> None:
    bot = await start(start_bot, tmp_path)
    address, request = await propose(bot, target="all", reason="releasing")
    await bot.click(request, "Refuse", by=BOB)
    settled = await bot.wait_for_change(request, "*bob refused it*, and nothing changed.")
    assert settled.labels == []
    await is_settled(bot, address, "refused")
    ended = await shell(bot, "outcome", address.rpartition("/")[2])
    assert (ended.code, "bob refused it" in ended.complaints) == (1, True)
    await bot.click(request, "Approve", by=CAROL)
    assert "bob already refused this." in await bot.wait_for_reply(by=CAROL)
    assert reasons(bot) == [None, None]


async def test_what_failed_of_an_approved_proposal_can_be_approved_again(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    address, request = await propose(bot, reason="releasing")
    bot.break_service("error", path=f"/{API}/merge-queue/pause", method="PUT", status=409)
    await bot.click(request, "Approve", by=BOB)
    card = await bot.wait_for_post("*@release: 1 of 2 queues paused*")
    left = await bot.wait_for_change(request, "Done: acme/site")
    assert re.search(r"proposes to pause @release \(acme/api\)", left.words)
    assert left.labels == ["Approve", "Refuse"]
    bot.fix_service()
    await bot.click(left, "Approve", by=CAROL)
    settled = await bot.wait_for_change(request, "approved it.*")
    assert settled.labels == []
    await bot.wait_for_post("*@release: 1 of 1 queue paused*")
    assert reasons(bot) == ["releasing (by bob via Slack)", "releasing (by carol via Slack)"]
    assert "acme/api: 409 conflict" in card
    status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["done"]) == (200, True)
    assert [part["by"] for part in outcome["proposal"]["repositories"]] == ["bob", "carol"]


async def test_what_failed_of_an_approved_proposal_is_tried_again_by_whoever_approved_it(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    address, request = await propose(bot, reason="releasing")
    bot.break_service("error", path=f"/{API}/merge-queue/pause", method="PUT", status=409)
    await bot.click(request, "Approve", by=BOB)
    card = await bot.wait_for_post("*@release: 1 of 2 queues paused*")
    await bot.wait_for_change(request, "Done: acme/site")
    bot.fix_service()
    await bot.click(card, "Retry the rest", by=BOB)
    await bot.wait_for_post("*@release: 1 of 1 queue paused*")
    settled = await bot.wait_for_change(request, "*bob approved it.*")
    assert settled.labels == []
    await is_settled(bot, address, "confirmed")
    assert reasons(bot) == ["releasing (by bob via Slack)"] * 2
    audit = await bot.ask("/mq audit")
    assert audit.words.count("proposed by deploy-job, approved by bob") == 3


async def test_what_a_lost_request_left_undone_of_a_proposal_is_open_again(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    address, request = await propose(bot, reason="releasing")
    bot.break_service("drop_before", path=f"/{API}/merge-queue/pause", method="PUT")
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_post("*@release: 1 of 2 queues paused*")
    await bot.wait_for_change(request, "I'm carrying it out")
    _, outcome = await get(bot, address, DEPLOY)
    assert states(outcome) == {SITE: "confirmed", API: "under_way"}
    bot.fix_service()
    await bot.pass_time(61)
    left = await bot.wait_for_change(request, r"proposes to pause @release (acme/api)")
    assert left.labels == ["Approve", "Refuse"]
    await bot.wait_for_direct_message("@release: 1 of 2 queues paused", by=BOB)
    await bot.click(left, "Approve", by=CAROL)
    await bot.wait_for_post("*@release: 1 of 1 queue paused*")
    await bot.wait_for_change(request, "approved it.*")
    _, outcome = await get(bot, address, DEPLOY)
    assert states(outcome) == {SITE: "confirmed", API: "confirmed"}


async def test_a_proposal_for_a_group_that_expires_says_what_was_done(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, f"{APPROVAL}minutes = 10\nmost_open = 1\n")
    address, request = await propose(bot, reason="releasing")
    status, refused = await post(bot, "pause", DEPLOY, target="@release", reason="another")
    assert (status, refused["error"]) == (429, "too_many")
    bot.break_service("error", path=f"/{API}/merge-queue/pause", method="PUT", status=409)
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_post("*@release: 1 of 2 queues paused*")
    await bot.wait_for_change(request, "Done: acme/site")
    bot.fix_service()
    await bot.pass_time(601)
    settled = await bot.wait_for_change(request, "Nobody answered in time: acme/api")
    assert settled.labels == []
    status, outcome = await get(bot, address, DEPLOY)
    assert (status, outcome["changed"], outcome["done"]) == (200, True, False)
    assert states(outcome) == {SITE: "confirmed", API: "expired"}
    await bot.click(request, "Approve", by=CAROL)
    assert "has expired" in await bot.wait_for_reply(by=CAROL)
    assert reasons(bot) == ["releasing (by bob via Slack)", None]


async def test_people_who_approve_for_a_group_at_once_pause_each_queue_once(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    address, request = await propose(bot, reason="releasing")
    presses = [bot.click(request, "Approve", by=person) for person in (ALICE, BOB, CAROL)]
    await asyncio.gather(*presses)
    await bot.wait_for_post("*@release: 2 of 2 queues paused*")
    await bot.wait_for_change(request, "approved it.*")
    _, outcome = await get(bot, address, DEPLOY)
    approver = outcome["proposal"]["by"]
    others = [person for person in (ALICE, BOB, CAROL) if NAMES[person] != approver]
    answers = [await bot.wait_for_reply(by=person) for person in others]
    assert all("approved this" in answer for answer in answers)
    sent = [line for line in bot.requests("/merge-queue/pause") if line.startswith("PUT")]
    assert len(sent) == 2


async def test_a_machine_proposes_to_freeze_a_group_and_to_end_that(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    _, request = await propose(bot, "freeze", reason="main is red", end="2h")
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_post("2 of 2 queues frozen")
    await bot.wait_for_change(request, "*bob approved it.*")
    await bot.publish(f"/mq freeze 5h {API} Night", "Night", by=CAROL)
    await bot.wait_for_reply("is frozen from", by=CAROL)
    assert [len(frozen(bot, name)) for name in (SITE, API)] == [1, 2]
    address, request = await propose(bot, "unfreeze", reason="main is green", any=True)
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")
    await is_settled(bot, address, "confirmed")
    assert frozen(bot) == []
    assert [freeze.reason for freeze in frozen(bot, API)] == ["Night (by carol via Slack)"]
    await bot.stop_bot()
    bot.posts()


async def test_a_proposal_names_the_queues_that_it_leaves_out_because_they_cannot_be_read(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    await bot.publish("/mq freeze now @release 2h Night", "2 of 2 queues frozen", by=BOB)
    bot.break_service("error", path=f"/{API}/scheduled_freeze", status=503)
    asked = {"target": "@release", "reason": "main is green", "any": True}
    status, answer = await post(bot, "unfreeze", DEPLOY, **asked)
    assert (status, states(answer)) == (202, {SITE: "open"})
    said = f"The proposal leaves out {API}: I couldn't read the freezes there."
    assert said in answer["message"]
    request = await bot.wait_for_post("deploy-job proposes to end the freeze")
    await bot.click(request, "Approve", by=CAROL)
    await bot.wait_for_change(request, "*carol approved it.*")
    assert [len(frozen(bot, name)) for name in (SITE, API)] == [0, 1]
    status, answer = await post(bot, "unfreeze", DEPLOY, **asked)
    assert status == 502
    outcomes = {part["repository"]: part["outcome"] for part in answer["repositories"]}
    assert outcomes == {SITE: "not_paused", API: "failed"}
    await bot.stop_bot()
    bot.posts()


async def test_to_end_somebody_elses_pauses_two_people_approve_the_same_proposal(
    start_bot: StartBot, tmp_path: Path
) -> None:
    second = '[MQBOT_POLICY."@release"]\nsecond_person = true\n'
    bot = await start(start_bot, tmp_path, second + APPROVAL)
    await bot.publish("/mq pause now @release deploying", "2 of 2 queues paused")
    address, request = await propose(bot, "resume", any=True)
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_reply("2 waiting for a second person", by=BOB)
    by_one = await bot.wait_for_change(
        request, "bob approved it. Someone else has to approve it too"
    )
    assert by_one.labels == ["Approve", "Refuse"]
    await bot.click(by_one, "Approve", by=CAROL)
    await bot.wait_for_post("@release: 2 of 2 queues resumed")
    await bot.wait_for_change(request, "*bob and carol approved it.*")
    await bot.wait_for_direct_message("Everything paused for @release has resumed")
    await is_settled(bot, address, "confirmed", by="carol")
    assert reasons(bot) == [None, None]


async def test_a_proposal_for_a_group_is_approved_on_the_home_tab(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    address, request = await propose(bot, reason="releasing")
    await bot.open_home(by=BOB)
    home = await bot.home("*Waits for you*", by=BOB)
    assert re.search(f"proposes to pause {BOTH}", home.words)
    await bot.click(home, "Approve", by=BOB)
    await bot.wait_for_post("*@release: 2 of 2 queues paused*")
    await bot.wait_for_direct_message("2 of 2 queues paused", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")
    await is_settled(bot, address, "confirmed")


async def test_a_person_who_may_not_act_on_one_of_them_approves_nothing(
    start_bot: StartBot, tmp_path: Path
) -> None:
    table = f'[MQBOT_POLICY."{API}"]\nwho_may_pause = ["{BOB}", "machine:deploy-job"]\n{APPROVAL}'
    bot = await start(start_bot, tmp_path, table)
    _, request = await propose(bot, reason="releasing")
    await bot.click(request, "Approve", by=CAROL)
    assert "can pause" in await bot.wait_for_reply(by=CAROL)
    await bot.click(request, "Refuse", by=CAROL)
    assert "can pause" in await bot.wait_for_reply(by=CAROL)
    assert reasons(bot) == [None, None]
    await bot.click(request, "Approve", by=BOB)
    await bot.wait_for_post("*@release: 2 of 2 queues paused*")
    await bot.wait_for_change(request, "*bob approved it.*")
