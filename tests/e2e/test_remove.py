"""Removing pull requests from the queue: the question, the rights, and what everybody sees."""

import asyncio
from pathlib import Path

import pytest

from bot.acts.ends import with_unknown_end
from bot.acts.record import Action, ActResult, Circumstance
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_policies import start
from tests.e2e.test_who_may_act import acts
from tests.support.bot_tester import ALICE, BOB, CAROL, MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until, until_true

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

SITE = "acme/site"
REMOVED = "*Removed from the queue* #{}"
LEAVING = f"#{{}} is being removed from the queue of {SITE}. I'll post here once it has left."
MERGED_FIRST = f"#{{}} of {SITE} merged before it was removed from the queue."
REFUSAL = "Only carol can remove other people's pull requests from a queue."
ONLY_CAROL = f"""
    MQBOT_LOGINS = "@{{}}"
    [MQBOT_POLICY."{SITE}"]
    who_may_remove = ["{CAROL}"]
"""


BY_FIELD = f"""
    MQBOT_LOGINS = "{CAROL}=carol"
    MQBOT_LOGIN_FIELD = "Xf0LOGIN"
    [MQBOT_POLICY."{SITE}"]
    who_may_remove = ["{CAROL}"]
"""


async def question(bot: BotTester, number: int, *, by: str = ALICE) -> Shown:
    return await bot.ask(f"/mq remove {number} {SITE}", by=by)


async def test_a_removal_shows_its_impact_asks_and_is_said_once(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"{SITE}={MERGE_QUEUE}:dequeue;{SITE}={RELEASES}:dequeue")
    number = bot.enqueue(title="Add search", author="ana", hangs=True)
    bot.enqueue(title="On top", stacked_on=number, hangs=True)
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    asked = await question(bot, number)
    assert f"*Remove from the queue of {SITE}?* #{number} Add search by ana" in asked
    assert "1 running batch stops" in asked
    assert "1 pull request is checked again" in asked
    assert "1 stacked pull request leaves with it" in asked
    assert bot.requests("/dequeue") == []
    await bot.click(asked, "Remove")
    post = await bot.wait_for_post(REMOVED.format(number))
    assert post.words.startswith(
        f":leftwards_arrow_with_hook: *Removed from the queue* #{number} Add search by alice"
    )
    await bot.wait_for_change(asked, f"#{number} was removed from the queue of {SITE}.")
    elsewhere = await bot.wait_for_post(REMOVED.format(number), RELEASES)
    assert "by alice" in elsewhere
    await bot.next_poll()
    await bot.has_posted()
    assert len(bot.posts()) == 1
    assert f"*alice* removed #{number} from the queue of {SITE}" in await bot.ask("/mq audit")
    assert "removed on request, by alice" in await bot.ask(f"/mq why {number}")
    assert "by alice" in await bot.ask(f"/mq log pr:{number} type:action.queue.leave")


async def test_people_remove_their_own_and_others_need_the_right(
    start_bot: StartBot, tmp_path: Path
) -> None:
    logins = tmp_path / "logins.csv"
    logins.write_text(f"{ALICE}=Ana", "utf-8")
    bot = await start(start_bot, tmp_path, ONLY_CAROL.format(logins))
    number = bot.enqueue(author="ana", hangs=True)
    assert REFUSAL in await question(bot, number, by=BOB)
    own = await question(bot, number)
    assert "Remove from the queue" in own
    await bot.stop_bot()
    logins.write_text(f"{BOB}=ana", "utf-8")
    await bot.start_bot()
    await bot.click(own, "Remove")
    assert REFUSAL in await bot.wait_for_reply()
    assert bot.merge_queue.queued(SITE, number).number == number
    asked = await question(bot, number, by=CAROL)
    await bot.click(asked, "Remove", by=CAROL)
    await bot.wait_for_post(REMOVED.format(number))
    await bot.wait_for_change(asked, "was removed", by=CAROL)
    removals = [act for act in await acts(bot) if act.action is Action.REMOVE]
    assert [(removal.actor.name, removal.result) for removal in removals] == [
        ("bob", ActResult.REFUSED),
        ("alice", ActResult.REFUSED),
        ("carol", ActResult.STARTED),
        ("carol", ActResult.DONE),
    ]


@pytest.mark.parametrize("claim", ["erin-k", "@erin-k", "ERIN-K"])
async def test_a_login_that_a_person_claims_gives_no_right_to_remove(
    start_bot: StartBot, tmp_path: Path, claim: str
) -> None:
    """Anybody can type anybody's login, so it only says who is notified."""
    logins = tmp_path / "logins.csv"
    logins.touch()
    bot = await start(start_bot, tmp_path, ONLY_CAROL.format(logins))
    number = bot.enqueue(author="erin-k", hangs=True)
    assert "erin-k" in (await bot.ask(f"/mq link {claim}")).words.lower()
    refused = await question(bot, number)
    assert REFUSAL in refused
    assert "You linked erin-k yourself. Only logins in MQBOT_LOGINS count here." in refused
    assert bot.requests("/dequeue") == []


FIELD = "Xf0LOGIN"


@pytest.mark.parametrize("held", ["erin-k", " @Erin-K ", "https://github.com/erin-k/"])
async def test_a_profile_field_that_people_cannot_edit_gives_the_right(
    start_bot: StartBot, tmp_path: Path, held: str
) -> None:
    bot = await start(start_bot, tmp_path, BY_FIELD)
    bot.slack.arrangement.change_user(ALICE, {"profile_fields": {FIELD: held, "Xf0OTHER": "bob"}})
    number = bot.enqueue(author="erin-k", hangs=True)
    asked = await question(bot, number)
    await bot.click(asked, "Remove")
    await bot.wait_for_post(REMOVED.format(number))
    await bot.wait_for_change(asked, "was removed from the queue")


@pytest.mark.parametrize(
    ("field", "held", "author"),
    [
        ("Xf0OTHER", "erin-k", "erin-k"),
        (FIELD, "erin-k2", "erin-k"),
        (FIELD, "", "erin-k"),
        (FIELD, "carol", "carol"),
        (FIELD, "renovate", "renovate[bot]"),
        (FIELD, "renovate[bot]", "renovate[bot]"),
    ],
)
async def test_another_field_an_assigned_login_or_a_bots_gives_no_right(
    start_bot: StartBot, tmp_path: Path, field: str, held: str, author: str
) -> None:
    """What an operator assigned to somebody else counts more than a profile."""
    bot = await start(start_bot, tmp_path, BY_FIELD)
    bot.slack.arrangement.change_user(ALICE, {"profile_fields": {field: held}})
    number = bot.enqueue(author=author, hangs=True)
    assert REFUSAL in await question(bot, number)
    assert bot.requests("/dequeue") == []


async def test_a_profile_that_slack_does_not_show_gives_no_right(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, BY_FIELD)
    bot.slack.arrangement.change_user(ALICE, {"profile_fields": {FIELD: "erin-k"}})
    number = bot.enqueue(author="erin-k", hangs=True)
    bot.break_slack("refuse", "users.profile.get", code="missing_scope")
    bot.expected_refusals.add("users.profile.get missing_scope")
    assert REFUSAL in await question(bot, number)
    assert "Remove" in (await question(bot, number)).labels


async def test_a_claimed_login_replaces_no_assigned_one_in_rights(
    start_bot: StartBot, tmp_path: Path
) -> None:
    """Notifications follow what she chose; her rights what the operator assigned."""
    logins = tmp_path / "logins.csv"
    logins.write_text(f"{ALICE}=ana", "utf-8")
    bot = await start(start_bot, tmp_path, ONLY_CAROL.format(logins))
    await bot.ask("/mq link erin-k")
    others, own = (bot.enqueue(author=word, hangs=True) for word in ("erin-k", "ana"))
    assert REFUSAL in await question(bot, others)
    await bot.ask("/mq link off")
    asked = await question(bot, own)
    await bot.click(asked, "Remove")
    await bot.wait_for_post(REMOVED.format(own))
    await bot.wait_for_change(asked, "was removed")
    audit = await bot.ask("/mq audit")
    assert "allowed as the author" in audit
    assert "*alice* linked their login" in audit
    assert "before: ana, now: erin-k" in audit
    assert "*alice* unlinked their login" in audit
    assert "before: erin-k, now: none" in audit


@pytest.mark.parametrize(
    "login",
    ["dependabot[bot]", "Renovate[bot]", "renovate", "dependabot", "mergify", "release-bot"],
)
async def test_a_bots_login_is_linked_to_nobody(bot: BotTester, login: str) -> None:
    answer = await bot.ask(f"/mq link {login}")
    assert f"{login} is a bot's login" in answer
    assert "Linked" not in await bot.ask("/mq me")
    audit = await bot.ask("/mq audit")
    assert "*alice* tried to link their login" in audit
    assert "a bot's login" in audit


async def test_of_two_people_at_once_one_removes_and_the_other_sees_who(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    asked = {one: await question(bot, number, by=one) for one in (ALICE, BOB)}
    await asyncio.gather(*(bot.click(asked[one], "Remove", by=one) for one in asked))
    await bot.wait_for_post(REMOVED.format(number))
    answers = [await bot.wait_for_other(asked[one], by=one) for one in asked]
    late = next(answer for answer in answers if "any more" in answer)
    first = "bob" if late is answers[0] else "alice"
    assert f"#{number} isn't in the queue of {SITE} any more: {first} removed it" in late
    assert late.labels == ["Why?"]
    assert len(bot.requests("/dequeue")) == 1
    assert len(bot.posts()) == 1


async def test_nobody_removed_what_was_queued_again_since_and_merged(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    asked = await question(bot, number, by=BOB)
    await bot.click(asked, "Remove", by=BOB)
    await bot.wait_for_post(REMOVED.format(number))
    await bot.wait_for_change(asked, "was removed", by=BOB)
    assert "any more: bob removed it" in await question(bot, number)
    bot.merge_queue.skip(60)
    bot.emit("action.queue.enter", number)
    bot.emit("action.queue.merged", number)
    await bot.next_poll()
    assert f"#{number} isn't in the queue of {SITE}. Nothing" in await question(bot, number)


async def test_a_button_removes_only_the_queue_entry_it_was_drawn_for(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    asked = await question(bot, number)
    (entry,) = bot.merge_queue.repository(SITE).line("main").queued()
    entry.queued_at += 1
    await bot.click(asked, "Remove")
    await bot.wait_for_change(asked, "was queued again since I asked you. Nothing was changed.")
    asked = await question(bot, number)
    bot.merge_queue.dequeue(SITE, number)
    await bot.click(asked, "Remove")
    await bot.wait_for_change(asked, f"#{number} isn't in the queue of {SITE}. Nothing")
    assert bot.requests("/dequeue") == []


@pytest.mark.parametrize("lacks", ["merge-queue/pull", None])
async def test_a_service_without_removals_is_reported_in_one_sentence(
    start_bot: StartBot, lacks: str | None
) -> None:
    bot = await start_bot(lacks=(lacks,) if lacks else ())
    if lacks is None:
        bot.break_service("error", path="/dequeue-impact", status=410)
    number = bot.enqueue(hangs=True)
    answer = await question(bot, number)
    status = 404 if lacks else 410
    said = (
        f":warning: *#{number} of acme/site was not removed from the queue.* "
        f"The merge queue service no longer offers this: {status} “"
    )
    assert answer.words.startswith(said)
    assert answer.words.count(". ") == 0
    assert bot.merge_queue.queued(SITE, number).number == number


@pytest.mark.parametrize("seconds", [20, 90])
async def test_a_pull_request_that_takes_a_while_to_leave_is_said_to_have_left_once_it_has(
    start_bot: StartBot, seconds: float
) -> None:
    bot = await start_bot(
        channels=f"{SITE}={MERGE_QUEUE}:dequeue", dialect="live", removal_lag=seconds
    )
    number = bot.enqueue(title="Add search", author="ana", hangs=True)
    asked = await question(bot, number)
    await bot.click(asked, "Remove")
    await bot.wait_for_change(asked, LEAVING.format(number))
    await bot.has_posted()
    assert bot.posts() == []
    await bot.checks_run(1)
    again = await question(bot, number, by=BOB)
    assert again.words.startswith(f"#{number} is leaving the queue of {SITE} already")
    assert len(bot.requests("/dequeue")) == 1
    assert "its removal, which was asked for" in (await bot.ask(f"/mq why {number}")).words
    await bot.pass_time(seconds)
    await bot.happens("action.queue.leave", number)
    await bot.pass_time(60)
    post = await bot.wait_for_post(REMOVED.format(number))
    assert "Add search by alice" in post
    await bot.next_poll()
    await bot.has_posted()
    assert len(bot.posts()) == 1
    assert "removed on request, by alice" in await bot.ask(f"/mq why {number}")


async def test_after_a_restart_the_bot_still_says_when_a_pull_request_has_left(
    start_bot: StartBot,
) -> None:
    """Also where no channel follows removals, so that no poll reads of it."""
    bot = await start_bot(channels=f"{SITE}={MERGE_QUEUE}:pause", dialect="live", removal_lag=90)
    number = bot.enqueue(hangs=True)
    asked = await question(bot, number)
    await bot.click(asked, "Remove")
    await bot.wait_for_change(asked, LEAVING.format(number))
    await bot.has_posted()
    await bot.stop_bot()
    await bot.start_bot()
    await bot.pass_time(90)
    await bot.happens("action.queue.leave", number)
    await bot.pass_time(60)
    assert "by alice" in await bot.wait_for_post(REMOVED.format(number))
    await bot.has_posted()
    assert len(bot.posts()) == 1


async def test_a_pull_request_that_merges_before_it_is_removed_is_said_to_have_merged(
    start_bot: StartBot,
) -> None:
    """Also to a channel that doesn't follow merges."""
    bot = await start_bot(channels=f"{SITE}={MERGE_QUEUE}:pause", dialect="live", removal_lag=600)
    bot.stand_still()
    number = bot.enqueue()
    asked = await question(bot, number)
    await bot.click(asked, "Remove")
    await bot.wait_for_change(asked, LEAVING.format(number))
    bot.go_on()
    await bot.pass_time(300)
    await bot.happens("action.queue.merged", number)
    await bot.pass_time(60)
    post = await bot.wait_for_post(MERGED_FIRST.format(number))
    assert "alice asked for it" in post
    assert post.labels == []
    await bot.has_posted()
    assert len(bot.posts()) == 1
    assert "merged before it left the queue" in await bot.ask("/mq audit")


async def test_one_that_merges_while_its_removal_is_answered_is_not_said_to_be_removed(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"{SITE}={MERGE_QUEUE}:pause", dialect="live", removal_lag=600)
    bot.stand_still()
    number = bot.enqueue()
    asked = await question(bot, number)
    bot.break_service("slow", path="/merge-queue/status", method="GET", seconds=1.0)
    await bot.click(asked, "Remove")
    await until(lambda: bot.requests("/dequeue"), "the removal at the service")
    bot.go_on()
    bot.merge_queue.skip(300)
    await bot.wait_for_change(asked, LEAVING.format(number))
    bot.fix_service()
    await bot.happens("action.queue.merged", number)
    await bot.pass_time(60)
    await bot.wait_for_post(MERGED_FIRST.format(number))
    await bot.has_posted()
    assert len(bot.posts()) == 1


async def test_a_pull_request_that_stays_although_the_service_took_its_removal_is_reported(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"{SITE}={MERGE_QUEUE}:dequeue", dialect="live", removal_lag=600)
    number = bot.enqueue(hangs=True)
    asked = await question(bot, number)
    await bot.click(asked, "Remove")
    await bot.wait_for_change(asked, LEAVING.format(number))
    (entry,) = bot.merge_queue.repository(SITE).line("main").queued()
    entry.dequeue_requested = False
    await bot.pass_time(60)
    post = await bot.wait_for_post(f"#{number} of {SITE} is still in the queue.")
    assert post.labels == ["Try removing it again"]


async def test_a_lost_answer_is_reported_as_it_is(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    asked = await question(bot, number)
    bot.break_service("drop_after_accept", path="/dequeue", method="POST")
    await bot.click(asked, "Remove")
    post = await bot.wait_for_post(f"*Left the queue* #{number}")
    assert "alice removed it, or it left by itself" in post
    assert "The service's answer was lost" in post
    await bot.wait_for_change(asked, "I can't tell whether your request removed it.")
    assert "its answer was lost" not in await bot.ask("/mq audit")


async def test_a_removal_that_nobody_wants_or_that_did_not_arrive_changes_nothing(
    bot: BotTester,
) -> None:
    answer = await question(bot, 4711)
    assert answer.words.startswith(f"#4711 isn't in the queue of {SITE}. Nothing was changed.")
    await bot.click(answer, "Why?")
    await bot.wait_for_reply("#4711 is not in the merge queue")

    number = bot.enqueue(hangs=True)
    asked = await question(bot, number)
    await bot.click(asked, "Leave it in the queue")
    await bot.wait_until_gone(asked)
    assert bot.merge_queue.queued(SITE, number).number == number

    asked = await question(bot, number)
    bot.break_service("error", path="/dequeue", method="POST", status=503)
    await bot.click(asked, "Remove")
    await bot.wait_for_reply("The merge queue service isn't responding")
    bot.fix_service()
    await bot.click(asked, "Remove")
    await bot.wait_for_post(REMOVED.format(number))
    await bot.wait_for_change(asked, "was removed")
    assert "tried to remove" in await bot.ask("/mq audit")


async def test_a_removal_that_succeeds_the_second_time_is_posted_once(
    start_bot: StartBot,
) -> None:
    """The first request's answer is lost: what became of it is no second removal."""
    bot = await start_bot(channels="")
    number = bot.enqueue(hangs=True)
    asked = await question(bot, number)
    bot.break_service("error", path="/dequeue", method="POST", status=503)
    await bot.click(asked, "Remove")
    await bot.wait_for_reply("The merge queue service isn't responding")
    bot.fix_service()
    await bot.click(asked, "Remove")
    await bot.wait_for_post(REMOVED.format(number))
    await bot.wait_for_change(asked, "was removed")

    async def are_both_known() -> bool:
        return not with_unknown_end(await acts(bot))

    await until_true(are_both_known, "what became of the first request")
    await bot.has_posted()
    assert len(bot.posts()) == 1
    results = [(act.result, act.outcome.circumstance) for act in await acts(bot)]
    assert (ActResult.FAILED, Circumstance.REMOVED_LATER) in results


async def test_where_the_bot_cannot_post_the_channel_sees_the_answer(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    secret = bot.slack.arrangement.add_channel("secret", [ALICE], is_private=True)["channel"]
    bot.expected_refusals = {"conversations.info channel_not_found"}
    asked = await bot.ask(f"/mq remove {number}", channel=secret)
    await bot.click(asked, "Remove")
    await bot.wait_for_post(REMOVED.format(number), secret)
    await bot.wait_for_change(asked, "was removed")
