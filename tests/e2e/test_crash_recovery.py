"""The channels after the process was killed between any two steps and restarted."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from random import Random

import pytest

from tests.support.bot_process import ProcessTester
from tests.support.bot_tester import ALICE, MERGE_QUEUE
from tests.support.databases import sqlite_copy
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

HEARING = f"acme/site={MERGE_QUEUE}:enter,pause"

StartProcess = Callable[..., Awaitable[ProcessTester]]


@pytest.fixture
async def start_process(tmp_path: Path, sqlite_template: Path) -> AsyncIterator[StartProcess]:
    async with AsyncExitStack() as stack:

        async def start(**options: object) -> ProcessTester:
            url = sqlite_copy(sqlite_template, tmp_path)
            # The options are ProcessTester's own, which checks them.
            tester = ProcessTester(url, folder=tmp_path, channels=HEARING, **options)  # type: ignore[arg-type]
            return await stack.enter_async_context(tester)

        yield start


async def _crash(bot: ProcessTester, seconds: int = 60) -> None:
    """Kill the process, and let the time pass in which its leases and claims still hold."""
    await bot.kill_bot()
    earlier = [seconds * 1_000_000]
    with closing(sqlite3.connect(bot.folder / "bot.sqlite3")) as database, database:
        database.execute("UPDATE leases SET expires_at = expires_at - ?", earlier)
        _age_audit(database, earlier)
        database.execute("UPDATE group_acts SET at = at - ?", earlier)
        database.execute(
            "UPDATE slack_limits SET until = until - ?1, met_at = met_at - ?1",
            earlier,
        )
        database.execute(
            "UPDATE unanswered SET due_at = due_at - ?1, asked_at = asked_at - ?1", earlier
        )
        database.execute("UPDATE channel_queues SET claimable_at = claimable_at - ?", earlier)
        database.execute(
            "UPDATE deliveries SET due_at = due_at - ? WHERE settled_at IS NULL", earlier
        )


def _look_at_what_is_owed(bot: ProcessTester) -> None:
    """Let the time pass until the bot looks again what became of the requests."""
    with closing(sqlite3.connect(bot.folder / "bot.sqlite3")) as database, database:
        database.execute("UPDATE unanswered SET due_at = due_at - 60000000")


def _age_audit(database: sqlite3.Connection, earlier: list[int]) -> None:
    """Records of the audit cannot be changed, not even by us, while their triggers stand."""
    guards = database.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'"
    ).fetchall()
    for name, _ in guards:
        database.execute(f"DROP TRIGGER {name}")
    database.execute("UPDATE audit SET at = at - ?", earlier)
    for _, sql in guards:
        database.execute(sql)


def _states(bot: ProcessTester) -> list[str]:
    with closing(sqlite3.connect(bot.folder / "bot.sqlite3")) as database:
        rows = database.execute("SELECT state FROM deliveries ORDER BY sequence")
        return [state for (state,) in rows]


async def _posted_once(bot: ProcessTester, *numbers: int) -> None:
    """Every pull request in order, and nothing else."""
    for number in numbers:
        await bot.wait_for_post(f"#{number}")
    assert len(bot.posts()) == len(numbers)


async def test_killed_before_polling_it_polls_after_a_restart(start_process: StartProcess) -> None:
    bot = await start_process()
    bot.break_service("error", path="/logs", status=503)
    number = bot.enqueue()
    await until(
        lambda: any(request.status == 503 for request in bot.merge_queue.requests), "a poll"
    )
    await _crash(bot)
    bot.fix_service()
    await bot.start_bot()
    await _posted_once(bot, number)


async def test_killed_before_posting_it_posts_after_a_restart(start_process: StartProcess) -> None:
    bot = await start_process()
    bot.expected_refusals = {"chat.postMessage rate_limit"}
    bot.break_slack("rate_limit", "chat.postMessage", retry_after=500)
    first = bot.enqueue()
    second = bot.enqueue()
    await until(lambda: bot.calls("chat.postMessage"), "the first attempt")
    await bot.logged("post_postponed")
    await until(lambda: _states(bot) == ["pending", "pending"], "both still to come")
    await _crash(bot, seconds=600)
    await bot.start_bot()
    await _posted_once(bot, first, second)


async def test_killed_after_slack_accepted_a_post_it_finds_it_again(
    start_process: StartProcess,
) -> None:
    bot = await start_process()
    killed = bot.kill_when_slack_has_posted()
    first = bot.enqueue()
    await until(killed.is_set, "the process killed before it heard of its post")
    await _crash(bot)
    assert _states(bot) == ["sending"]
    await bot.start_bot()
    second = bot.enqueue()
    await _posted_once(bot, first, second)
    assert len(bot.calls("chat.postMessage")) == 2


async def test_killed_after_pausing_it_shows_the_pause_from_the_event_log(
    start_process: StartProcess,
) -> None:
    bot = await start_process()
    killed = bot.kill_when_service_has_answered("PUT", "/merge-queue/pause")
    await bot.type("/mq pause CI runners are down")
    await until(killed.is_set, "the process killed before it heard of its pause")
    await _crash(bot)
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    assert _states(bot) == []
    await bot.start_bot()
    await bot.wait_for_direct_message(
        "I was restarted while pausing acme/site: acme/site is paused"
    )
    post = await bot.wait_for_post("is paused")
    assert "CI runners are down" in post
    assert "By alice" in post
    bot.enqueue()
    await bot.wait_for_change(post, "1 queued")
    assert len(bot.posts()) == 1


def _bring_timers_forward(bot: ProcessTester, seconds: int) -> None:
    with closing(sqlite3.connect(bot.folder / "bot.sqlite3")) as database, database:
        database.execute(
            "UPDATE pauses SET timer_due_at = timer_due_at - ?1, timer = json_set(timer, "
            "'$.resumes_at', strftime(?3, json_extract(timer, '$.resumes_at'), ?2), "
            "'$.due_at', strftime(?3, json_extract(timer, '$.due_at'), ?2))",
            (seconds * 1_000_000, f"-{seconds} seconds", "%Y-%m-%dT%H:%M:%fZ"),
        )


@pytest.mark.parametrize("logs_pauses", [True, False])
async def test_killed_after_pausing_it_resumes_on_time(
    start_process: StartProcess, *, logs_pauses: bool
) -> None:
    bot = await start_process(logs_pauses=logs_pauses)
    killed = bot.kill_when_service_has_answered("PUT", "/merge-queue/pause")
    await bot.type("/mq pause 45m CI runners are down")
    await until(killed.is_set, "the process killed before it heard of its pause")
    await bot.kill_bot()
    await bot.start_bot()

    card = await bot.wait_for_post("is paused", seconds=20)
    assert "acme/site is paused" in await bot.wait_for_direct_message("I was restarted")

    assert "By alice" in card
    assert "Until 20" in card
    status = await bot.ask("/mq status")
    assert "alice" in status
    assert re.search(r"\*Until\* \d{4}-\d\d-\d\d \d\d:\d\d UTC", status.words)
    _bring_timers_forward(bot, 45 * 60)
    assert "By the timer set by alice" in await bot.wait_for_post("has resumed")
    assert bot.pause_reason() is None


async def test_killed_during_a_pause_it_closes_the_card_after_a_resume(
    start_process: StartProcess,
) -> None:
    bot = await start_process()
    card = await bot.pause("CI runners are down")
    card = await bot.wait_for_change(card, "0 queued")
    await _crash(bot)
    assert bot.merge_queue.resume("acme/site", by="carol")
    await bot.start_bot()
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("carol resumed acme/site outside Slack")
    record = await bot.wait_for_change(card, "Resumed by carol")
    assert "*acme/site was paused* · CI runners are down" in record
    assert len(bot.posts()) == 2


async def test_killed_after_posting_a_card_it_edits_that_card(start_process: StartProcess) -> None:
    bot = await start_process()
    killed = bot.kill_when_slack_has_posted()
    await bot.type("/mq pause CI runners are down")
    await until(killed.is_set, "the process killed before it heard of its post")
    await _crash(bot)
    assert _states(bot) == ["sending"]
    await bot.start_bot()
    await bot.wait_for_direct_message(
        "I was restarted while pausing acme/site: acme/site is paused"
    )
    card = await bot.wait_for_post("is paused")
    await bot.wait_for_change(card, "0 queued")
    await bot.type("/mq resume")
    await bot.wait_for_change(card, "*acme/site was paused* · CI runners are down")
    await bot.wait_for_post("has resumed")
    assert len(bot.posts()) == 2


async def test_frozen_before_resuming_it_leaves_a_newer_pause_alone(
    start_process: StartProcess,
) -> None:
    # No look or poll of the schedule comes between.
    bot = await start_process(environment={"MQBOT_POLL_SECONDS": "60"})
    card = await bot.pause("CI runners are down")
    card = await bot.wait_for_change(card, "0 queued")
    frozen = bot.freeze_when_service_has_answered("GET", "/merge-queue/pause")
    await bot.click(card, "Resume queue")
    await until(frozen.is_set, "the process frozen before it heard which pause is in force")
    bot.merge_queue.resume("acme/site", by="carol")
    bot.pause_elsewhere("Database migration")
    await asyncio.sleep(1.1)  # Longer than what a look shows is relied upon.
    bot.thaw_bot()

    assert "Database migration" in await bot.wait_for_reply()
    # What it reads before it acts counts like any reading.
    await bot.wait_for_direct_message(
        "Someone changed your pause of acme/site outside Slack. It now says: Database migration"
    )
    assert bot.pause_reason() == "Database migration"
    assert bot.requests("/merge-queue/pause").count(DELETE) == 0


DELETE = "DELETE /v1/repos/acme/site/merge-queue/pause"

GROUP = {
    "repositories": {"acme/site": "quiet", "acme/api": "quiet"},
    "environment": {"MQBOT_GROUPS": "release=acme/site,acme/api"},
}


async def _interrupt_group(bot: ProcessTester, seconds: int) -> None:
    """Kill it before the first queue of the group, and start it after that time."""
    question = await bot.ask("/mq pause @release freeze")
    killed = bot.kill_when_service_has_answered("GET", "/merge-queue/pause")
    await bot.click(question, "Pause 2 queues")
    await until(killed.is_set, "the process killed before it paused anything")
    await bot.wait_for_change(question, "Pausing @release: 0 of 2")
    await _crash(bot, seconds=seconds)
    await bot.start_bot()


@pytest.mark.parametrize("seconds", [60, 3600])
async def test_killed_before_the_first_queue_of_a_group_it_asks_before_it_retries(
    start_process: StartProcess, seconds: int
) -> None:
    bot = await start_process(**GROUP)
    await _interrupt_group(bot, seconds=seconds)

    notice = await bot.wait_for_direct_message("@release: 0 of 2 queues paused")
    assert "*2 not tried:* acme/site, acme/api" in notice
    assert "Interrupted by a restart of the bot" in notice
    await bot.click(notice, "Retry the rest")
    post = await bot.wait_for_post("@release: 2 of 2 queues paused")
    assert "*2 paused:* acme/site, acme/api" in post
    assert bot.pause_reason("acme/api") == "freeze (by alice via Slack)"
    await bot.wait_for_direct_message("@release: 2 of 2 queues paused")


@pytest.mark.parametrize("seed", [1, 2])
async def test_killed_anywhere_in_a_group_action_each_queue_is_paused_once(
    start_process: StartProcess, seed: int
) -> None:
    names = ["acme/site", *(f"acme/r{number:02}" for number in range(39))]
    bot = await start_process(
        repositories=dict.fromkeys(names, "quiet"), environment={"MQBOT_POLL_SECONDS": "60"}
    )
    question = await bot.ask("/mq pause all freeze")
    last_before = Random(seed).choice(names[8:32])
    killed = bot.kill_when_service_has_answered("PUT", f"/{last_before}/merge-queue/pause")
    await bot.click(question, "Pause 40 queues")
    await until(killed.is_set, "the process killed in the middle")
    await _crash(bot, seconds=60)
    done = [name for name in names if bot.pause_reason(name)]
    assert len(done) < len(names)

    await bot.start_bot()

    # What was under way counts, and nothing is paused behind the person's back.
    notice = await bot.wait_for_direct_message(f"all: {len(done)} of 40 queues paused")
    # On a busy machine a request of one more may not have reached the service.
    parts = re.findall(r"\*(\d+) (?:failed|not tried):\*", notice.words)
    assert sum(map(int, parts)) == len(names) - len(done)
    assert [name for name in names if bot.pause_reason(name)] == done
    await bot.wait_for_post(f"all: {len(done)} of 40 queues paused")
    await bot.click(notice, "Retry the rest")
    left = len(names) - len(done)
    await bot.wait_for_post(f"all: {left} of {left} queue")
    await bot.wait_for_direct_message(f"all: {left} of {left} queue")
    for name in names:
        assert [event.type for event in bot.events(name)] == ["queue.pause.create"]
    bot.direct_messages(by=ALICE)


NOTHING_CHANGED = "no queue was changed"


@pytest.mark.parametrize(
    ("before", "typed", "asked", "told", "posted"),
    [
        ("", "pause CI is down", "GET /merge-queue/status", NOTHING_CHANGED, "is paused"),
        ("", "pause CI is down", "PUT /merge-queue/pause", "acme/site is paused", "is paused"),
        ("pause CI", "resume", "GET /merge-queue/pause", NOTHING_CHANGED, "has resumed"),
        (
            "pause CI",
            "resume",
            "DELETE /merge-queue/pause",
            "acme/site is not paused any more",
            "has resumed",
        ),
        ("", "status", "GET /merge-queue/status", NOTHING_CHANGED, ""),
    ],
)
async def test_a_command_that_a_kill_cut_off_is_answered_after_the_restart(
    start_process: StartProcess,
    before: str,
    typed: str,
    asked: str,
    told: str,
    posted: str,
) -> None:
    bot = await start_process(environment={"MQBOT_POLL_SECONDS": "60"})
    if before:
        await bot.type(f"/mq {before}")
        await bot.wait_for_post("is paused")
    death = bot.kill_when_service_has_answered(*asked.split())
    await bot.type(f"/mq {typed}")
    await until(death.is_set, "the process killed while it carries it out")
    await bot.restart_bot()
    answer = await bot.wait_for_direct_message("I was restarted")
    assert told in answer
    if told == NOTHING_CHANGED:
        await bot.click(answer, "Try again")
        if posted:
            await bot.wait_for_direct_message(posted)
        else:
            await bot.wait_for_reply("acme/site", channel=answer.channel)
    if posted:
        await bot.wait_for_post(posted)
    await bot.next_poll()


Before = Callable[[ProcessTester], Awaitable[int | None]]
"""What is there before; returns the number of the pull request that the act is about."""

FREEZES = "/scheduled_freeze"
CHANGE = "/scheduled_freeze/"


async def _nothing(_bot: ProcessTester) -> int | None:
    return None


async def _frozen(bot: ProcessTester) -> int | None:
    await bot.type("/mq freeze 2h release day")
    await bot.wait_for_reply("is frozen from")
    return None


async def _frozen_and_queued(bot: ProcessTester) -> int | None:
    await _frozen(bot)
    return await _queued(bot)


async def _queued(bot: ProcessTester) -> int | None:
    number = bot.enqueue(hangs=True)
    await bot.happens("action.queue.enter", number)
    return number


@dataclass(frozen=True)
class Act:
    """One kind of act, the requests that read and change the queue, and what is told of it."""

    before: Before
    typed: str
    reads: tuple[str, str]
    changes: tuple[str, str]
    doing: str
    done: str
    told: str  #: to the person who tries it again
    posted: str | None  #: to the channel where it was carried out before the kill; None for an edit
    posted_again: str | None  #: to the channel where it was tried again
    button: str | None = None


ACTS = {
    "freeze": Act(
        _nothing,
        "freeze 2h CI is down",
        ("GET", FREEZES),
        ("POST", FREEZES),
        "freezing acme/site",
        "acme/site is frozen",
        "CI is down",
        "is frozen",
        None,
    ),
    "unfreeze": Act(
        _frozen,
        "unfreeze it is out",
        ("GET", FREEZES),
        ("POST", "/delete"),
        "unfreezing acme/site",
        "the freeze of acme/site has ended",
        "Freeze ended",
        None,
        "Freeze ended",
    ),
    "allow": Act(
        _frozen_and_queued,
        "allow #N fixes the outage",
        ("GET", FREEZES),
        ("PATCH", CHANGE),
        "allowing #N of acme/site through the freeze",
        "#N of acme/site may merge during the freeze",
        "may merge during the freeze",
        None,
        "Freeze changed",
    ),
    "remove": Act(
        _queued,
        "remove #N",
        ("GET", "/merge-queue/status"),
        ("POST", "/dequeue"),
        "removing #N of acme/site from the queue",
        "#N of acme/site has left the queue",
        "Removed from the queue",
        "Removed from the queue",
        "Removed from the queue",
        button="Remove",
    ),
}


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("carried_out", [True, False])
async def test_every_kind_of_act_that_a_kill_cut_off_is_told_after_the_restart(
    start_process: StartProcess, name: str, *, carried_out: bool
) -> None:
    act = ACTS[name]
    bot = await start_process(environment={"MQBOT_POLL_SECONDS": "60"})
    number = await act.before(bot)
    act = replace(
        act,
        typed=act.typed.replace("#N", f"#{number}"),
        doing=act.doing.replace("#N", f"#{number}"),
        done=act.done.replace("#N", f"#{number}"),
    )
    question = await bot.ask(f"/mq {act.typed}") if act.button is not None else None
    death = bot.kill_when_service_has_answered(*(act.changes if carried_out else act.reads))
    if question is not None and act.button is not None:
        await bot.click(question, act.button)
    else:
        await bot.type(f"/mq {act.typed}")
    await until(death.is_set, "the process killed while it carries it out")
    await bot.restart_bot()
    answer = await bot.wait_for_direct_message("I was restarted")
    if carried_out:
        assert f"I was restarted while {act.doing}: {act.done}" in answer
    else:
        assert "no queue was changed" in answer
        assert answer.labels == ["Try again"]
        await bot.click(answer, "Try again")
        await until(lambda: _done(bot, *act.changes), "the same request, by the button")
        await bot.wait_for_direct_message(act.told)
    await bot.next_poll()
    posted = act.posted if carried_out else act.posted_again
    if posted is not None:
        await bot.wait_for_post(posted)
    bot.posts()
    bot.replies()
    bot.replies(channel=answer.channel)
    bot.direct_messages(by=ALICE)


def _done(bot: ProcessTester, method: str, path: str) -> bool:
    made = [
        request
        for request in bot.merge_queue.requests
        if request.method == method and path in request.path
    ]
    return any(one.status < HTTPStatus.BAD_REQUEST for one in made)


@pytest.mark.parametrize("place", [1, 5])
async def test_killed_in_the_middle_of_unfreezing_a_group_its_own_ends_are_counted(
    start_process: StartProcess, place: int
) -> None:
    names = ["acme/site", *(f"acme/r{number:02}" for number in range(11))]
    bot = await start_process(
        repositories=dict.fromkeys(names, "quiet"), environment={"MQBOT_POLL_SECONDS": "60"}
    )
    question = await bot.ask("/mq freeze all 2h release day")
    await bot.click(question, "Freeze")
    await bot.wait_for_post("all: 12 of 12 queues frozen")
    path = f"/{names[place]}/scheduled_freeze"
    killed = bot.kill_when_service_has_answered("POST", path)
    await bot.type("/mq unfreeze all it is out")
    await until(killed.is_set, "the process killed in the middle")
    await _crash(bot, seconds=60)
    left = [name for name in names if bot.merge_queue.repository(name).freezes]
    assert 0 < len(left) < len(names)
    await bot.start_bot()
    ended = len(names) - len(left)
    post = await bot.wait_for_post(f"all: {ended} of 12 queues unfrozen")
    assert "not frozen" not in post
    # One of them may have begun when the process was killed.
    rest = re.findall(r"\*(\d+) (?:not tried|failed):\*", post.words)
    assert sum(int(count) for count in rest) == len(left)
    notice = await bot.wait_for_direct_message(f"all: {ended} of 12 queues unfrozen")
    await bot.click(notice, "Retry the rest")
    await bot.wait_for_post(f"all: {len(left)} of {len(left)} queue")
    await bot.wait_for_direct_message(f"all: {len(left)} of {len(left)} queue")
    assert not any(bot.merge_queue.repository(name).freezes for name in names)
    bot.posts()
    bot.replies()
    bot.direct_messages(by=ALICE)


KILLED_WHILE_AWAY = {
    "pause": ("pause CI is down", "PUT", "pausing acme/site", "whether acme/site is paused"),
    "resume": ("resume", "DELETE", "resuming acme/site", "whether acme/site is still paused"),
}


@pytest.mark.parametrize("name", KILLED_WHILE_AWAY)
async def test_a_person_whose_act_a_kill_cut_off_is_told_that_nobody_can_tell_yet(
    start_process: StartProcess, name: str
) -> None:
    """The service carried it out, and answers nothing after the restart."""
    typed, method, doing, question = KILLED_WHILE_AWAY[name]
    bot = await start_process(environment={"MQBOT_POLL_SECONDS": "60"})
    if name == "resume":
        await bot.pause("CI runners are down")
    death = bot.kill_when_service_has_answered(method, "/merge-queue/pause")
    await bot.type(f"/mq {typed}")
    await until(death.is_set, "the process killed while it carries it out")
    await _crash(bot, seconds=70)
    bot.break_service("error", path="/repos/", status=503)
    await bot.start_bot()
    told = await bot.wait_for_direct_message(f"I was restarted while {doing}, and can't tell yet")
    assert question in told
    assert "I keep checking and will tell you the outcome." in told
    assert told.labels == []
    bot.fix_service()
    _look_at_what_is_owed(bot)
    assert "alice" in await bot.wait_for_post("acme/site")
    bot.posts()
    bot.direct_messages(by=ALICE)


async def test_a_person_whose_group_act_a_kill_cut_off_is_told_that_nobody_can_tell_yet(
    start_process: StartProcess,
) -> None:
    bot = await start_process(
        environment={"MQBOT_GROUPS": "release=acme/site,acme/api", "MQBOT_POLL_SECONDS": "60"},
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
    )
    question = await bot.ask("/mq pause @release freeze")
    bot.break_service("slow", path="/acme/api/merge-queue/pause", seconds=3600)
    killed = bot.kill_when_service_has_answered("PUT", "/acme/site/merge-queue/pause")
    await bot.click(question, "Pause 2 queues")
    await until(killed.is_set, "the process killed before it heard of its first pause")
    await _crash(bot, seconds=70)
    bot.fix_service()
    bot.break_service("error", path="/repos/", status=503)
    await bot.start_bot()
    told = await bot.wait_for_direct_message("I was restarted while pausing @release")
    assert "can't tell yet what became of acme/site. I keep checking" in told
    bot.fix_service()
    _look_at_what_is_owed(bot)
    notice = await bot.wait_for_direct_message("@release: 1 of 2 queues paused")
    assert "*1 not tried:* acme/api" in notice
    await bot.wait_for_post("@release: 1 of 2 queues paused")
    bot.posts()
    bot.replies()
    bot.direct_messages(by=ALICE)
