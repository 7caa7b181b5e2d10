"""Freezes made, changed and ended by people: typed, clicked and in forms."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.acts.record import ActResult
from bot.acts.rows import Audit
from bot.kernel.actor import Origin
from bot.kernel.repository import RepositoryName
from bot.log.types import FREEZE_UPDATE
from bot.sandbox.merge_queue.controls import FreezeTerms, SeenRequest
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.simulation.moments import to_datetime
from bot.sandbox.merge_queue.simulation.state import Freeze
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.e2e.conftest import NAMES, OVER_SOCKET_MODE, StartBot
from tests.e2e.test_mentions import mention
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import Shown
from tests.support.transactions import begin
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

MINUTE = timedelta(minutes=1)
LATER = datetime(2100, 1, 1, tzinfo=UTC)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
MAIN = FreezeTerms("made elsewhere", matching_conditions=("base=main",))


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    """No channel is subscribed to freezes."""
    return await start_bot(channels=f"acme/site={RELEASES}:ci")


def frozen(bot: BotTester, repository: str = "acme/site") -> list[Freeze]:
    """The freezes that the service has."""
    return list(bot.merge_queue.repository(repository).freezes)


def lasts(freeze: Freeze) -> timedelta:
    """From now on."""
    assert freeze.end is not None
    return to_datetime(freeze.end) - datetime.now(UTC)


def frozen_from(bot: BotTester) -> datetime:
    """When the service's first freeze begins."""
    return min(to_datetime(freeze.start) for freeze in frozen(bot))


async def acts(bot: BotTester) -> list[tuple[str, ActResult, str | None]]:
    """What was done through the bot; when the log tells of what others did is not certain."""
    store = Store(create_engine(bot.database_url))
    try:
        with begin(store) as transaction:
            found = Audit(transaction).since(RepositoryName.parse("acme/site"), LONG_AGO)
            return [
                (act.action.value, act.result, act.setting.after)
                for act in found
                if act.where.origin is not Origin.LOG
            ]
    finally:
        await store.close()


async def froze(bot: BotTester, typed: str, stage: str = "in force") -> Shown:
    """The card of a freeze that alice types."""
    await bot.type(typed)
    said = "acme/site is frozen from" if stage == "in force" else "A freeze of acme/site is planned"
    assert said in await bot.wait_for_reply()
    state = "acme/site is frozen" if stage == "in force" else "A freeze of acme/site is planned"
    return await bot.wait_for_post(f"*{state}*")


async def is_over(bot: BotTester, card: Shown, *, by: str = ALICE) -> Shown:
    """The card of a freeze that `by` has just ended by command, and its post about that."""
    assert "The freeze of acme/site has ended" in await bot.wait_for_reply(by=by)
    await bot.wait_for_post("*Freeze ended*")
    return await bot.wait_for_change(card, "was frozen*")


async def test_a_typed_freeze_holds_merging_until_somebody_says_why_it_ends(bot: BotTester) -> None:
    card = await froze(bot, "/mq freeze 2h branch:main except:hotfix cutting 4.2")
    assert card.words.startswith(":snowflake: *acme/site is frozen* · cutting 4.2")
    assert "*By* alice ·" in card
    assert "*Only* branch main · *Except* label=hotfix" in card
    assert card.labels == ["End now…", "Extend…"]
    (made,) = frozen(bot)
    assert made.reason == "cutting 4.2 (by alice via Slack)"
    assert abs(lasts(made) - timedelta(hours=2)) < MINUTE
    listed = await bot.ask("/mq freezes")
    assert "*In force:* cutting 4.2\n*By* alice ·" in listed
    shown = await bot.ask("/mq status")
    assert "Frozen by alice: cutting 4.2 · from" in shown
    shown = await bot.ask("/mq status all")
    assert "frozen by alice, from" in shown
    assert ": cutting 4.2 · 0 queued" in shown
    await bot.type("/mq unfreeze 4.2 is out", by=BOB)
    over = await is_over(bot, card, by=BOB)
    assert "Ended by bob" in over
    assert "Reason for ending it: 4.2 is out" in over
    assert frozen(bot) == []
    audit = await bot.ask("/mq audit")
    assert "alice* froze acme/site: cutting 4.2" in audit
    assert "now: only main, except label=hotfix · ends" in audit
    assert "bob* ended the freeze of acme/site: 4.2 is out" in audit


async def test_the_next_freeze_is_counted_down_in_status_board_and_home(bot: BotTester) -> None:
    board = await bot.publish("/mq board", "running, the queue is empty")
    later = datetime.now(UTC) + timedelta(hours=5)
    times = f"from {later:%H:%M} UTC until {later + timedelta(hours=2):%H:%M} UTC"
    await froze(bot, f"/mq freeze {times} cutting 4.3", "planned")
    bot.merge_queue.freeze("acme/site", FreezeTerms("much later", LATER, LATER + MINUTE))

    shown = await bot.ask("/mq status")

    assert "Next freeze" in shown
    assert ": cutting 4.3" in shown
    assert "much later" not in shown
    # Each reader's client counts down; what can't do so shows the time.
    (line,) = re.findall(r"Next freeze <!date\^\d+\^[^|]*\|([^>]*)>", str(shown.blocks))
    assert line == f"{frozen_from(bot):%Y-%m-%d %H:%M} UTC"
    assert "{ago}" in str(shown.blocks)
    assert ": cutting 4.3" in await bot.wait_for_change(board, "Next freeze")
    home = await bot.see_home("Next freeze")
    assert ": cutting 4.3" in home


async def test_a_long_freeze_is_confirmed_first_unless_the_person_says_now(bot: BotTester) -> None:
    question = await bot.ask("/mq freeze release day 2h")
    assert "Freeze acme/site until when?" in question
    assert "0 queued" in question
    assert question.labels == [
        "End in 2 h",
        "Another time…",
        "No end; the reason is “release day 2h”",
    ]
    assert frozen(bot) == []
    await bot.click(question, "End in 2 h")
    card = await bot.wait_for_post("*acme/site is frozen* · release day")
    await bot.wait_for_change(question, "acme/site is frozen from")
    await bot.type("/mq unfreeze over")
    await is_over(bot, card)
    assert "*Until* someone ends it" in await froze(bot, "/mq freeze now release day")


async def test_a_long_planned_freeze_is_shown_with_its_start(bot: BotTester) -> None:
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    later = tomorrow + timedelta(days=3)
    question = await bot.ask(f"/mq freeze from {tomorrow} 09:00 until {later} 09:00 UTC quiet")
    assert f"*Freeze acme/site from {tomorrow} 09:00" in question
    assert f"until {later} 09:00" in question
    assert frozen(bot) == []


async def test_a_planned_freeze_keeps_its_time_zone(bot: BotTester) -> None:
    typed = "/mq freeze now from 23:30 Europe/Paris until 23:50 Europe/Paris night work"
    await froze(bot, typed, "planned")
    (made,) = frozen(bot)
    assert made.end is not None
    assert to_datetime(made.start).astimezone(ZoneInfo("Europe/Paris")).strftime("%H:%M") == "23:30"
    assert made.end - made.start == timedelta(minutes=20) // timedelta(microseconds=1)
    assert "*Planned:* night work\n*By* alice" in await bot.ask("/mq freezes")


async def test_a_freeze_of_touching_or_other_times_is_in_nobodys_way(bot: BotTester) -> None:
    begins = bot.clock.now().replace(second=0, microsecond=0) + timedelta(hours=2)
    at = [f"{begins + timedelta(hours=hours):%H:%M} UTC" for hours in range(4)]
    await froze(bot, f"/mq freeze now from {at[1]} until {at[2]} middle", "planned")
    await froze(bot, f"/mq freeze now from {at[0]} until {at[1]} before", "planned")
    await froze(bot, f"/mq freeze now from {at[2]} until {at[3]} after", "planned")
    assert [made.reason for made in frozen(bot)] == [
        f"{name} (by alice via Slack)" for name in ("middle", "before", "after")
    ]
    refused = await bot.ask(f"/mq freeze now from {at[1]} until {at[2]} again")
    assert "A freeze of acme/site is already planned by alice for that time" in refused
    assert "already frozen" not in refused


async def test_ids_in_what_is_said_of_a_freeze_become_names(bot: BotTester) -> None:
    bot.slack.arrangement.set_group("oncall", [BOB])
    card = await froze(bot, "/mq freeze now 45m ask @oncall or @bob in #general")
    (made,) = frozen(bot)
    assert made.reason == "ask @oncall or @bob in #general (by alice via Slack)"
    number = bot.enqueue()
    await bot.publish(
        f"/mq allow now {number} as @bob said",
        f"#{number} of acme/site may merge during the freeze:* as @bob",
    )
    card = await bot.wait_for_change(card, f"*Except* number={number}")
    await bot.wait_for_post("*Freeze changed*")
    await bot.type("/mq unfreeze as @oncall said in #general")
    assert "as @oncall said in #general" in await is_over(bot, card)


async def test_a_freeze_with_exceptions_is_in_the_way_of_none_without(bot: BotTester) -> None:
    await froze(bot, "/mq freeze 2h except:hotfix night")
    await bot.type("/mq freeze 1h an incident")
    await bot.wait_for_reply("acme/site is frozen from")
    await bot.wait_for_post("*acme/site is frozen* · an incident")
    assert len(frozen(bot)) == 2
    assert "already frozen" in await bot.ask("/mq freeze 1h except:hotfix once more")


async def test_a_second_freeze_changes_nothing_and_shows_who_froze(bot: BotTester) -> None:
    await asyncio.gather(
        bot.type("/mq freeze 1h Alice has a reason"),
        bot.type("/mq freeze 1h Bob has one too", by=BOB),
    )
    post = await bot.wait_for_post("is frozen*")
    if "*By* alice" in post:
        winner = "alice"
        loser = BOB
    else:
        winner = "bob"
        loser = ALICE
    await bot.wait_for_reply("is frozen from", by=ALICE if loser == BOB else BOB)
    answer = await bot.wait_for_reply("already frozen", by=loser)
    assert f"acme/site is already frozen by {winner}:" in answer
    assert answer.labels == ["End now…", "Extend…"]
    assert len(frozen(bot)) == 1


async def test_a_freeze_that_lasts_longer_is_made_beside_the_first_and_each_ends_alone(
    bot: BotTester,
) -> None:
    await bot.type("/mq freeze 1h cutting 4.2")
    first = await bot.wait_for_reply("acme/site is frozen from")
    assert "Merging waits until" not in first
    await bot.type("/mq freeze 2h database migration", by=BOB)
    second = await bot.wait_for_reply("acme/site is frozen from", by=BOB)
    migration, *_ = reversed(frozen(bot))
    assert migration.end is not None
    assert "Another freeze holds merges too: cutting 4.2 by alice, from" in second
    assert f"Merging waits until {to_datetime(migration.end):%Y-%m-%d %H:%M} UTC." in second
    status = await bot.ask("/mq status")
    assert f"is frozen until {to_datetime(migration.end):%Y-%m-%d %H:%M} UTC" in status
    again = await bot.ask("/mq freeze 3h database migration", by=BOB)
    assert "acme/site is already frozen by bob: database migration" in again

    question = await bot.ask("/mq unfreeze 4.2 is out")
    assert "acme/site has several freezes. Which one?" in question
    await bot.click(question, "End now…")
    await bot.submit(await bot.modal("In force: cutting 4.2"), reason="4.2 is out")
    ended = await bot.modal("The freeze of acme/site has ended")
    assert "Reason was: cutting 4.2" in ended
    assert "Still frozen by another freeze: database migration by bob, from" in ended
    assert [made.id for made in frozen(bot)] == [migration.id]
    await bot.stop_bot()
    bot.posts()
    bot.direct_messages(by=ALICE)


async def test_the_form_asks_what_to_stop_and_takes_all_that_the_command_takes(
    bot: BotTester,
) -> None:
    bot.enqueue(hangs=True)
    await bot.type("/mq freeze branch:main")
    form = await bot.modal("1 queued. Checks continue, and merging waits.")
    assert "Stop checks too, or only merging?" in form
    answer = await bot.submit(form, reason="Cutting 4.2", end="from nowhere")
    assert answer["response_action"] == "errors"
    answer = await bot.submit(form, reason="Cutting 4.2", end="", branch="x/* y")
    assert "the name of one branch" in str(answer["errors"])
    await bot.submit(
        form, reason="Cutting 4.2", end="1h", **{"branch": "main, dev", "except": "#41 @bob"}
    )
    await bot.modal("is frozen")
    await bot.wait_for_post(":snowflake: *")
    (made,) = frozen(bot)
    assert made.matching_conditions == ({"or": ["base=main", "base=dev"]},)
    assert made.exclude_conditions == ({"or": ["number=41", "author=bob"]},)


async def test_the_fields_of_the_form_are_read_like_typed_words(bot: BotTester) -> None:
    await bot.type("/mq freeze")
    form = await bot.modal("0 queued")
    await bot.submit(
        form,
        reason="Cutting 4.2",
        end="\u201cin 1h\u201d,",
        **{"branch": "`main`, branch:dev", "except": "\u201chotfix\u201d (#41); *@bob*\u200b"},
    )
    await bot.modal("is frozen")
    await bot.wait_for_post(":snowflake: *")
    (made,) = frozen(bot)
    assert abs(lasts(made) - timedelta(hours=1)) < MINUTE
    assert made.matching_conditions == ({"or": ["base=main", "base=dev"]},)
    assert made.exclude_conditions == ({"or": ["label=hotfix", "number=41", "author=bob"]},)


async def test_the_form_becomes_that_of_a_pause_to_stop_checks_too(bot: BotTester) -> None:
    await bot.type("/mq freeze")
    form = await bot.modal("0 queued")
    await bot.choose(form, "Checks too: pause the queue", menu="Only merging: checks continue")
    pause = await bot.modal("no batch is running")
    await bot.submit(pause, reason="CI is down")
    await bot.wait_for_post("is paused")
    assert frozen(bot) == []


async def test_who_ended_another_freeze_is_not_said_to_have_ended_this_one(
    bot: BotTester,
) -> None:
    first = await froze(bot, "/mq freeze 1h cutting 4.2")
    (made,) = frozen(bot)
    bot.merge_queue.unfreeze("acme/site", made.id, "done here", by="erin")
    await bot.wait_for_change(first, "was frozen*")
    await froze(bot, "/mq freeze 1h Night")
    await bot.type("/mq unfreeze acme/site 4.3 is out", by=BOB)
    await bot.wait_for_reply("has ended", by=BOB)
    await bot.click(first, "End now…")
    assert "bob" not in await bot.modal("Nothing was changed.")
    await bot.choose(first, "1 h more", menu="Extend…")
    assert "bob" not in await bot.wait_for_reply("Nothing was changed.")
    await bot.stop_bot()
    bot.posts()


async def test_buttons_extend_and_end_a_freeze_and_say_who_ended_it(bot: BotTester) -> None:
    post = await froze(bot, "/mq freeze 1h cutting 4.2")
    await bot.choose(post, "1 h more", menu="Extend…", by=BOB)
    assert "The freeze of acme/site now holds" in await bot.wait_for_reply(by=BOB)
    assert abs(lasts(frozen(bot)[0]) - timedelta(hours=2)) < MINUTE
    await bot.choose(post, "Another time…", menu="Extend…")
    await bot.submit(await bot.modal("Until when"), end="3h")
    await bot.modal("now holds")
    assert abs(lasts(frozen(bot)[0]) - timedelta(hours=5)) < MINUTE
    await bot.click(post, "End now…", by=BOB)
    form = await bot.modal("Saved with your name", by=BOB)
    await bot.submit(form, reason="4.2 is out", by=BOB)
    await bot.modal("has ended", by=BOB)
    assert frozen(bot) == []
    await bot.click(post, "End now…")
    said = await bot.modal("is over")
    assert "That freeze of acme/site is over. bob ended it" in said
    await bot.choose(post, "1 h more", menu="Extend…")
    assert "bob ended it" in await bot.wait_for_reply()
    await bot.wait_in_thread(post, "*Freeze ended*")
    await bot.has_posted()
    assert len(bot.posts()) == 4


async def test_in_the_thread_of_a_freeze_words_mean_that_freeze(bot: BotTester) -> None:
    other = FreezeTerms("other", matching_conditions=("base=dev",))
    bot.merge_queue.freeze("acme/site", other)
    card = await froze(bot, "/mq freeze 2h branch:main cutting 4.2")
    await until(lambda: "End now…" in (bot.now(card) or card).labels, "the id is known")
    await bot.has_posted()
    mention(bot, "resume", beneath=card)
    offer = await bot.wait_in_thread(card, "This thread is about a freeze, not a pause.")
    assert offer.labels == ["Run /mq unfreeze"]
    mention(bot, "extend 1h", beneath=card)
    await bot.wait_for_post("*Freeze changed*")
    (mine,) = (freeze for freeze in frozen(bot) if freeze.reason != "other")
    assert timedelta(hours=2, minutes=50) < lasts(mine) <= timedelta(hours=3)

    mention(bot, "unfreeze 4.2 is out", beneath=card)
    await bot.wait_for_post("*Freeze ended*")
    await bot.wait_for_change(card, "acme/site was frozen*")
    assert [freeze.reason for freeze in frozen(bot)] == ["other"]


async def plan(bot: BotTester, reason: str) -> Shown:
    """The card of a freeze that alice plans for an hour in two hours' time."""
    begins = bot.clock.now().replace(second=0, microsecond=0) + timedelta(hours=2)
    times = f"from {begins:%H:%M} UTC until {begins + timedelta(hours=1):%H:%M} UTC"
    card = await froze(bot, f"/mq freeze now {times} {reason}", "planned")
    await until(lambda: "Cancel…" in (bot.now(card) or card).labels, "the id is known")
    return card


@pytest.mark.parametrize("words", ["skip this one", "resume"])
async def test_other_words_in_the_thread_of_a_planned_freeze_end_no_other(
    bot: BotTester, words: str
) -> None:
    bot.merge_queue.freeze("acme/site", MAIN)
    card = await plan(bot, "release day")
    await bot.has_posted()
    mention(bot, words, beneath=card)
    if words == "resume":
        offer = await bot.wait_in_thread(card, "This thread is about a freeze, not a pause.")
        await bot.click(offer, "Run /mq unfreeze")
    else:
        offer = await bot.wait_in_thread(card, "Slack opens forms only after a click")
        await bot.click(offer, "Open form")
    form = await bot.modal("Planned: release day")
    assert MAIN.reason not in form
    await bot.submit(form, reason="not today")
    await bot.modal("has ended")
    assert [freeze.reason for freeze in frozen(bot)] == [MAIN.reason]
    await bot.wait_for_post("*Planned freeze canceled*")
    await bot.wait_for_change(card, "*The planned freeze of acme/site was canceled*")


async def test_an_end_in_the_thread_of_a_freeze_is_offered_for_that_one(bot: BotTester) -> None:
    other = FreezeTerms("other", end=LATER, matching_conditions=("base=dev",))
    bot.merge_queue.freeze("acme/site", other)
    card = await froze(bot, "/mq freeze 2h branch:main cutting 4.2")
    await until(lambda: "End now…" in (bot.now(card) or card).labels, "the id is known")
    await bot.has_posted()
    mention(bot, "1h more", beneath=card)
    offer = await bot.wait_in_thread(card, "I don't understand")
    await bot.click(offer, "Run /mq extend 1h")
    assert "The freeze of acme/site now holds" in await bot.wait_for_reply()
    await bot.wait_for_post("*Freeze changed*")
    ends = {freeze.reason: lasts(freeze) for freeze in frozen(bot)}
    assert ends["other"] > timedelta(days=9)
    mine = ends["cutting 4.2 (by alice via Slack)"]
    assert timedelta(hours=2, minutes=50) < mine <= timedelta(hours=3)


async def test_who_resumes_or_extends_a_pause_of_a_frozen_queue_sees_the_freeze(
    bot: BotTester,
) -> None:
    card = await froze(bot, "/mq freeze 2h cutting 4.2")
    await until(lambda: "End now…" in (bot.now(card) or card).labels, "the id is known")
    for typed in ("/mq resume", "/mq extend 1h"):
        answer = await bot.ask(typed)
        assert "acme/site isn't paused, it's frozen. Nothing was changed." in answer
        assert "*In force:* cutting 4.2" in answer
        assert answer.labels == ["End now…", "Extend…"]
    await bot.choose(answer, "1 h more", menu="Extend…")
    assert "The freeze of acme/site now holds" in await bot.wait_for_reply()
    assert timedelta(hours=2, minutes=50) < lasts(frozen(bot)[0]) <= timedelta(hours=3)
    await bot.wait_for_post("*Freeze changed*")


async def test_a_planned_freeze_is_moved_and_canceled_where_freezes_are_listed(
    bot: BotTester,
) -> None:
    card = await plan(bot, "release day")
    question = await bot.ask("/mq move the freeze to friday 18:00")
    assert "To move a planned freeze, press Move… below it." in question
    await bot.click(question, "Run /mq freezes")
    listed = await bot.wait_for_reply("*Planned:* release day")
    assert listed.labels == ["Cancel…", "Extend…", "Move…"]
    begins = frozen_from(bot)
    await bot.click(listed, "Move…")
    hour = timedelta(hours=1)
    await bot.submit(await bot.modal("Starts"), start_at=begins + hour, end_at=begins + 2 * hour)
    await bot.modal("now holds")
    assert frozen_from(bot) == begins + hour
    await bot.wait_for_post("*Planned freeze changed*")
    await bot.click(listed, "Cancel…")
    await bot.submit(await bot.modal("Planned: release day"), reason="not today")
    await bot.modal("has ended")
    assert frozen(bot) == []
    await bot.wait_for_post("*Planned freeze canceled*")
    await bot.wait_for_change(card, "*The planned freeze of acme/site was canceled*")


async def test_a_planned_freeze_is_moved_before_the_bot_has_read_of_it(bot: BotTester) -> None:
    bot.break_service("error", path="/logs", status=503)
    begins = bot.clock.now().replace(microsecond=0) + timedelta(hours=2)
    hour = timedelta(hours=1)
    bot.merge_queue.freeze("acme/site", FreezeTerms("release day", begins, begins + hour))
    listed = await bot.ask("/mq freezes")
    await bot.click(listed, "Move…")
    form = await bot.modal("Starts")
    await bot.submit(form, start_at=begins + hour, end_at=begins + 2 * hour)
    await bot.modal("The freeze of acme/site now holds")
    assert frozen_from(bot) == begins + hour

    bot.break_service("slow", path="/scheduled_freeze", method="GET", seconds=1.0)
    await bot.click(listed, "Move…")
    await bot.modal("Reading the freezes")
    await bot.modal("Starts")
    bot.fix_service()
    bot.break_service("error", path="/scheduled_freeze", method="GET", status=503)
    await bot.click(listed, "Move…")
    await bot.modal("isn't responding")
    bot.fix_service()
    await bot.stop_bot()
    bot.posts()


async def test_several_freezes_are_ended_one_by_one(bot: BotTester) -> None:
    bot.merge_queue.freeze("acme/site", MAIN)
    bot.merge_queue.freeze("acme/site", FreezeTerms("other", matching_conditions=("base=dev",)))
    answer = await bot.ask("/mq unfreeze done")
    assert "acme/site has several freezes. Which one?" in answer
    assert answer.labels == ["End now…", "Set an end…"] * 2
    assert len(frozen(bot)) == 2
    await bot.click(answer, "End now…")
    await bot.submit(await bot.modal("Saved with your name"), reason="done")
    await bot.modal("has ended")
    assert [freeze.reason for freeze in frozen(bot)] == ["other"]
    await froze(bot, "/mq freeze now branch:next third")


async def test_the_form_asks_which_of_several_freezes_ends(bot: BotTester) -> None:
    bot.merge_queue.freeze("acme/site", MAIN)
    bot.merge_queue.freeze("acme/site", FreezeTerms("other", matching_conditions=("base=dev",)))
    await bot.type("/mq unfreeze")
    form = await bot.modal("Which freeze ends?")
    assert "2. In force: other" in form
    answer = await bot.submit(form, reason="dev is green")
    assert "which_freeze" in answer["errors"]
    await bot.submit(form, which_freeze="2. other", reason="dev is green")
    await bot.modal("has ended")
    assert [freeze.reason for freeze in frozen(bot)] == [MAIN.reason]


async def test_one_pull_request_is_let_through(bot: BotTester) -> None:
    assert "isn't frozen" in await bot.ask("/mq allow 41 fixes the outage")
    bot.merge_queue.freeze("acme/site", FreezeTerms("night", exclude_conditions=("label=hotfix",)))
    number = bot.enqueue()
    post = await bot.publish(f"/mq allow {number} fixes the outage", "may merge during")
    assert f"#{number} of acme/site may merge during the freeze:* fixes the outage" in post
    assert "by alice · The freeze is for: night" in post
    excepted = ({"or": ["label=hotfix", f"number={number}"]},)
    assert [freeze.exclude_conditions for freeze in frozen(bot)] == [excepted]
    await bot.happens("action.queue.merged", number)
    assert "already an exception" in await bot.ask(f"/mq allow #{number} acme/site again", by=BOB)
    assert ("allow", ActResult.DONE, f"#{number}") in await acts(bot)


async def test_what_one_freeze_allows_does_not_prove_that_the_other_does(bot: BotTester) -> None:
    """The answer for the second is lost: the first one's event says nothing about it."""
    for terms in (MAIN, FreezeTerms("other", matching_conditions=("base=dev",))):
        bot.merge_queue.freeze("acme/site", terms)
    _, second = frozen(bot)
    number = bot.enqueue()
    bot.merge_queue.faults.arm(Fault("drop_before", path=second.id, method="PATCH", times=None))
    answer = await bot.ask(f"/mq allow {number} fixes the outage")
    assert f"I can't tell yet whether #{number} of acme/site may merge" in answer
    await bot.pass_time(60)
    outcome = await bot.wait_for_post(f"#{number}")
    assert "still waits for the end of the freeze" in outcome


async def test_who_changed_one_of_two_freezes_is_named_though_the_other_was_refused(
    bot: BotTester,
) -> None:
    for terms in (MAIN, FreezeTerms("other", matching_conditions=("base=dev",))):
        bot.merge_queue.freeze("acme/site", terms)
    _, second = frozen(bot)
    number = bot.enqueue()
    bot.break_service("error", path=second.id, status=403)
    answer = await bot.ask(f"/mq allow {number} fixes the outage")
    assert "• made elsewhere: lets it merge" in answer
    bot.fix_service()
    await bot.happens(FREEZE_UPDATE)
    log = await bot.ask("/mq log")
    print(log.line)
    assert "(was no exceptions)\nby alice" in log.line


async def test_only_those_who_may_freeze_do_and_refusals_name_them(start_bot: StartBot) -> None:
    bot = await start_bot(
        channels=f"acme/site={RELEASES}:ci", environment={"MQBOT_WHO_MAY_FREEZE": "U0BOB"}
    )
    bot.merge_queue.freeze("acme/site", MAIN)
    for typed in ("freeze", "freeze 2h x", "unfreeze", "unfreeze x", "allow 41 x"):
        answer = await bot.ask(f"/mq {typed}")
        assert "Only bob can freeze a queue." in answer
    listed = await bot.ask("/mq freezes")
    await bot.click(listed, "End now…")
    assert "Only bob can" in await bot.wait_for_reply()
    await bot.choose(listed, "in 1 h", menu="Set an end…")
    assert "Only bob can" in await bot.wait_for_reply()
    assert len(frozen(bot)) == 1
    await bot.pause("now still allowed")
    await bot.publish("/mq unfreeze done", "Freeze ended", by=BOB)


async def test_a_service_without_freezes_is_said_to_have_none_and_a_pause_is_offered(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={RELEASES}:ci", lacks=("scheduled_freeze",))
    await bot.logged("freeze_endpoints")
    assert "doesn't offer freezes" in await bot.ask("/mq freezes")
    await bot.type("/mq freeze")
    await bot.modal("doesn't offer freezes")
    answer = await bot.ask("/mq freeze 2h CI is down")
    assert "/mq pause acme/site 2h CI is down" in answer
    await bot.click(answer, "Pause instead")
    await bot.wait_for_post("is paused")
    assert bot.pause_reason() == "CI is down (by alice via Slack)"
    asked = [
        request for request in bot.merge_queue.requests if request.path.endswith("scheduled_freeze")
    ]
    assert len(asked) == 1


async def test_a_freeze_is_recorded_before_the_service_fails_and_lost_answers_are_found(
    bot: BotTester,
) -> None:
    down = Fault("error", path="/scheduled_freeze", method="POST", status=503, times=None)
    bot.merge_queue.faults.arm(down)
    answer = await bot.ask("/mq freeze 2h cutting 4.2")
    assert "isn't responding" in answer
    assert answer.labels == ["Try freezing again"]
    assert [(action, result.value) for action, result, _ in await acts(bot)] == [
        ("freeze", "started"),
        ("freeze", "failed"),
    ]
    bot.merge_queue.faults.disarm()
    lost = Fault("drop_after_accept", path="/scheduled_freeze", method="POST")
    bot.merge_queue.faults.arm(lost)
    await bot.click(answer, "Try freezing again")
    card = await bot.wait_for_post("is frozen*")
    assert len(frozen(bot)) == 1
    gone = Fault("drop_after_accept", path="/delete", method="POST")
    bot.merge_queue.faults.arm(gone)
    await bot.type("/mq unfreeze released")
    await is_over(bot, card)
    assert frozen(bot) == []


async def test_an_equal_freeze_of_another_branch_does_not_prove_a_lost_one(bot: BotTester) -> None:
    await froze(bot, "/mq freeze now branch:main incident")
    bot.merge_queue.faults.arm(Fault("drop_before", path="/scheduled_freeze", method="POST"))
    unreadable = Fault("error", path="/scheduled_freeze", method="GET", status=503, times=None)

    def break_afterwards(seen: SeenRequest) -> None:
        if seen.method == "POST":
            bot.merge_queue.faults.arm(unreadable)

    bot.merge_queue.watchers.append(break_afterwards)
    answer = await bot.ask("/mq freeze now branch:dev incident")
    assert "I can't tell yet whether acme/site is frozen" in answer
    bot.fix_service()
    await bot.pass_time(60)
    await bot.wait_for_post("The freeze of acme/site was not made")
    assert len(frozen(bot)) == 1


async def test_the_end_of_a_freeze_is_retried_for_that_freeze_and_ends_no_other(
    bot: BotTester,
) -> None:
    bot.merge_queue.freeze("acme/site", MAIN)
    bot.merge_queue.freeze("acme/site", FreezeTerms("other", matching_conditions=("base=dev",)))
    listed = await bot.ask("/mq freezes")
    await bot.click(listed, "End now…")
    form = await bot.modal("In force: made elsewhere")
    bot.break_service("drop_after_accept", path="/delete", method="POST", times=1)

    def is_silent_after(seen: SeenRequest) -> None:
        if seen.path.endswith("/delete"):
            bot.break_service("error", path="/repos/", status=503)

    bot.merge_queue.watchers.append(is_silent_after)
    await bot.submit(form, reason="main is green")
    failed = await bot.modal("I can't tell yet whether the freeze of acme/site has ended.")
    bot.merge_queue.watchers.clear()
    bot.fix_service()
    await bot.click(failed, "Try unfreezing again")
    # Its end may be known by now.
    assert "Nothing was changed." in await bot.modal("That freeze of acme/site is over.")
    assert [freeze.reason for freeze in frozen(bot)] == ["other"]
    await bot.stop_bot()
    bot.posts()
    bot.direct_messages(by=ALICE)


@pytest.mark.parametrize("ends_by_itself", [False, True])
async def test_who_types_the_end_of_a_freeze_again_ends_no_other_made_since(
    bot: BotTester, *, ends_by_itself: bool
) -> None:
    """They had no answer, so they mean the freeze that was in force then."""
    await froze(bot, "/mq freeze 2h cutting 4.2")
    (cutting,) = frozen(bot)
    kind = "drop_before" if ends_by_itself else "drop_after_accept"
    bot.break_service(kind, path="/delete", method="POST", times=1)

    def is_silent_after(seen: SeenRequest) -> None:
        if seen.path.endswith("/delete"):
            bot.break_service("error", path="/repos/", status=503)

    bot.merge_queue.watchers.append(is_silent_after)
    failed = await bot.ask("/mq unfreeze released")
    assert "I can't tell yet whether the freeze of acme/site has ended." in failed
    if ends_by_itself:
        bot.merge_queue.unfreeze("acme/site", cutting.id)
    bot.merge_queue.freeze("acme/site", FreezeTerms("incident"))
    bot.merge_queue.watchers.clear()
    bot.fix_service()
    await bot.click(failed, "Try unfreezing again")
    over = await bot.wait_for_reply("That freeze of acme/site is over.")
    assert "Nothing was changed." in over
    assert "In force: incident" in over
    assert "That freeze of acme/site is over." in await bot.ask("/mq unfreeze   released")
    assert [freeze.reason for freeze in frozen(bot)] == ["incident"]
    await bot.click(over, "End now…")
    await bot.submit(await bot.modal("In force: incident"), reason="released")
    await bot.modal("The freeze of acme/site has ended")
    assert frozen(bot) == []
    await bot.stop_bot()
    bot.posts()
    bot.direct_messages(by=ALICE)


async def test_the_end_of_a_freeze_that_is_typed_again_means_the_one_that_is_left(
    bot: BotTester,
) -> None:
    await froze(bot, "/mq freeze 2h cutting 4.2")
    bot.break_service("error", path="/delete", method="POST", status=502, times=1)
    assert "I can't tell yet" in await bot.ask("/mq unfreeze released")
    bot.merge_queue.freeze("acme/site", FreezeTerms("incident"))
    await bot.type("/mq unfreeze released")
    await bot.wait_for_reply("The freeze of acme/site has ended")
    assert [freeze.reason for freeze in frozen(bot)] == ["incident"]
    await bot.type("/mq unfreeze incident is over")
    # Told by a post or by a reply: the earlier freeze's card may still be open.
    await until(lambda: not frozen(bot), "the end of the other freeze")
    await bot.stop_bot()
    bot.posts()
    bot.replies()
    bot.direct_messages(by=ALICE)


async def test_the_next_freeze_ends_for_the_same_reason_as_the_one_before(bot: BotTester) -> None:
    """Somebody else's after a while, one's own at once."""
    await froze(bot, "/mq freeze 2h cutting 4.2")
    await bot.type("/mq unfreeze released")
    await bot.wait_for_reply("The freeze of acme/site has ended")
    await froze(bot, "/mq freeze 2h cutting 4.3")
    await bot.type("/mq unfreeze released")
    await bot.wait_for_reply("The freeze of acme/site has ended")
    bot.merge_queue.freeze("acme/site", FreezeTerms("cutting 4.4"))
    assert "That freeze of acme/site is over." in await bot.ask("/mq unfreeze released")
    await bot.pass_time(660)
    await bot.type("/mq unfreeze released")
    # Told by a post or by a reply: the earlier freeze's card may still be open.
    await until(lambda: not frozen(bot), "the end of the other freeze")
    await bot.stop_bot()
    bot.posts()
    bot.replies()
    bot.direct_messages(by=ALICE)


async def test_a_group_is_frozen_after_a_question_and_restored_exactly(three: BotTester) -> None:
    three.merge_queue.freeze("acme/api", FreezeTerms("made elsewhere"))
    question = await three.ask("/mq freeze @release 2h cutting 4.2")
    assert "Freeze @release until" in question
    assert question.labels == ["Freeze", "Don't freeze"]
    await three.click(question, "Freeze")
    post = await three.wait_for_post("1 of 2 queues frozen")
    assert "cutting 4.2" in post
    assert "*1 already frozen:* acme/api" in post
    assert [freeze.reason for freeze in frozen(three)] == ["cutting 4.2 (by alice via Slack)"]
    await three.type("/mq unfreeze @release 4.2 is out", by=BOB)
    ended = await three.wait_for_post("1 of 2 queues unfrozen")
    assert "4.2 is out" in ended
    assert "*1 still frozen:* acme/api" in ended
    assert frozen(three) == []
    assert [freeze.reason for freeze in frozen(three, "acme/api")] == ["made elsewhere"]


async def test_what_was_frozen_for_a_group_ends_with_it_although_its_queue_has_left(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(("acme/site", "acme/api"), "quiet"),
        channels=f"acme/api={RELEASES}:freeze",
        environment={"MQBOT_GROUPS": "release=acme/site,acme/api"},
    )
    await bot.publish("/mq freeze now @release 2h cutting 4.2", "2 of 2 queues frozen")
    card = await bot.wait_for_post("*acme/api is frozen*", RELEASES)
    bot.merge_queue.freeze("acme/api", FreezeTerms("made elsewhere"))
    await bot.stop_bot()
    bot.environment = {"MQBOT_GROUPS": "release=acme/site"}
    await bot.start_bot()

    await bot.publish("/mq unfreeze @release 4.2 is out", "2 of 2 queues unfrozen")

    await bot.wait_for_change(card, "was frozen*")
    assert frozen(bot) == []
    assert [freeze.reason for freeze in frozen(bot, "acme/api")] == ["made elsewhere"]
    await bot.stop_bot()
    bot.posts(RELEASES)


async def test_a_failed_part_of_a_group_is_tried_again_until_the_same_end(three: BotTester) -> None:
    three.break_service("error", path="acme/api/scheduled_freeze", method="POST", status=403)
    post = await three.publish("/mq freeze now @release 2h cutting 4.2", "1 of 2 queues frozen")
    assert "*1 failed:*" in post
    three.merge_queue.faults.disarm()
    await three.click(post, "Retry the rest")
    await three.wait_for_post("1 of 1 queue frozen")
    (site,) = frozen(three)
    (api,) = frozen(three, "acme/api")
    assert site.end == api.end


async def test_of_a_group_with_several_freezes_only_what_is_left_is_tried_again(
    three: BotTester,
) -> None:
    await three.publish("/mq freeze now @release 2h cutting 4.2", "2 of 2 queues frozen")
    later = datetime.now(UTC) + timedelta(hours=5)
    times = f"from {later:%H:%M} UTC until {later + timedelta(hours=2):%H:%M} UTC"
    await three.publish(f"/mq freeze now @release {times} cutting 4.3", "2 of 2 queues is planned")
    first, second = frozen(three, "acme/api")
    three.break_service("error", path=second.id, status=403)

    post = await three.publish("/mq unfreeze @release 4.2 is out", "1 of 2 queues unfrozen")

    assert "• acme/api: 1 freeze is left: " in post
    assert [freeze.id for freeze in frozen(three, "acme/api")] == [second.id]
    assert frozen(three) == []
    three.fix_service()
    ended = len(three.requests(first.id))
    await three.click(post, "Retry the rest")
    await three.wait_for_post("1 of 1 queue unfrozen")
    assert frozen(three, "acme/api") == []
    assert len(three.requests(first.id)) == ended


async def test_now_freezes_no_queue_of_a_group_that_is_frozen_already(three: BotTester) -> None:
    for name in NAMES[:2]:
        three.merge_queue.freeze(name, FreezeTerms("made elsewhere"))
    answer = await three.ask("/mq freeze @release 2h cutting 4.2")
    assert "Already frozen or planned, left as they are: acme/site" in answer
    assert answer.labels == []
    answer = await three.ask("/mq freeze now @release 2h cutting 4.2")
    assert "*@release: nothing was changed*" in answer
    # Who froze them is known once their log was read.
    assert re.search(r"\*2 already frozen:\* acme/site( by \w+)?, acme/api( by \w+)?", str(answer))
    assert [freeze.reason for name in NAMES[:2] for freeze in frozen(three, name)] == [
        "made elsewhere"
    ] * 2
    assert [act for act in await acts(three) if act[1] is ActResult.DONE] == []


async def test_a_freezes_card_has_the_buttons_and_follows_what_they_do(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:freeze")
    await bot.logged("freeze_endpoints")
    await bot.type("/mq freeze 1h cutting 4.2")
    assert "acme/site is frozen from" in await bot.wait_for_reply()
    card = await bot.wait_for_post("is frozen*")
    assert "cutting 4.2\n*By* alice · *Since*" in card
    assert card.labels == ["End now…", "Extend…"]
    for _ in range(2):
        await bot.choose(card, "1 h more", menu="Extend…", by=BOB)
        assert "now holds" in await bot.wait_for_reply(by=BOB)
        card = await bot.wait_for_other(card)
    assert abs(lasts(frozen(bot)[0]) - timedelta(hours=3)) < MINUTE
    await bot.wait_in_thread(card, "*Freeze changed*")
    number = bot.enqueue(hangs=True)
    await bot.publish(f"/mq allow {number} fixes the outage", "may merge during")
    card = await bot.wait_for_change(card, f"*Except* number={number}")
    await bot.wait_in_thread(card, f"except number={number}")
    await bot.click(card, "End now…", by=BOB)
    await bot.submit(await bot.modal("Saved with your name", by=BOB), reason="4.2 is out", by=BOB)
    await bot.modal("has ended", by=BOB)
    over = await bot.wait_for_change(card, "was frozen*")
    assert "Ended by bob" in over
    assert "Reason for ending it: 4.2 is out" in over
    await bot.wait_in_thread(card, "*Freeze ended*")
    assert frozen(bot) == []
    await bot.stop_bot()
    bot.posts()
