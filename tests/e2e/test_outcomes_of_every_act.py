"""Every kind of act fails in words of its own, says how things are, and its outcome follows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from tests.e2e.conftest import OVER_SOCKET_MODE
from tests.support.bot_tester import ALICE, MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import Blocks, Shown, ShownView
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

Begin = Callable[[BotTester], Awaitable[None]]
Open = Callable[[BotTester], Awaitable[Blocks | None]]
Do = Callable[[BotTester, Blocks | None], Awaitable[None]]


async def quiet(_bot: BotTester) -> None:
    return


async def frozen(bot: BotTester) -> None:
    await bot.type("/mq freeze 2h release day")
    await bot.wait_for_reply("is frozen from")
    await bot.wait_for_post("release day", RELEASES)


async def queued(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    await bot.happens("action.queue.enter", number)


async def queued_and_frozen(bot: BotTester) -> None:
    await queued(bot)
    await frozen(bot)


async def paused(bot: BotTester) -> None:
    await bot.wait_for_change(await bot.pause("CI is down"), "0 queued")


async def nothing(_bot: BotTester) -> Blocks | None:
    return None


async def freezes(bot: BotTester) -> Blocks | None:
    return await bot.ask("/mq freezes")


async def question_of_removal(bot: BotTester) -> Blocks | None:
    return await bot.ask(named(bot, "/mq remove #N"))


async def card(bot: BotTester) -> Blocks | None:
    return bot.posts()[0]


async def freeze_form(bot: BotTester) -> Blocks | None:
    await bot.type("/mq freeze")
    return await bot.modal("Checks continue")


async def pause_form(bot: BotTester) -> Blocks | None:
    await bot.type("/mq pause")
    return await bot.modal("0 queued")


async def unfreeze_form(bot: BotTester) -> Blocks | None:
    await bot.type("/mq unfreeze")
    return await bot.modal("In force: release day")


def sent(**filled: str) -> Do:
    async def do(bot: BotTester, form: Blocks | None) -> None:
        assert isinstance(form, ShownView)
        await bot.submit(form, reason="CI is down", **filled)

    return do


async def remove(bot: BotTester, asked: Blocks | None) -> None:
    assert asked is not None
    await bot.click(asked, "Remove")


async def extend(bot: BotTester, shown: Blocks | None) -> None:
    assert shown is not None
    await bot.choose(shown, "1 h more", menu="Extend…")


async def resume(bot: BotTester, shown: Blocks | None) -> None:
    assert shown is not None
    await bot.click(shown, "Resume queue")


def named(bot: BotTester, text: str) -> str:
    """The text with the number of the only pull request in place of N."""
    entered = [event.pull_request for event in bot.events() if event.type == "action.queue.enter"]
    return text.replace("#N", f"#{entered[0]}") if entered else text


def typed(text: str) -> Do:
    async def do(bot: BotTester, _: Blocks | None) -> None:
        await bot.type(named(bot, text))

    return do


@dataclass(frozen=True)
class Act:
    """One way to ask for one kind of act, the request that carries it out, and what is said."""

    begin: Begin  #: what the act needs
    open: Open  #: what the person acts in
    do: Do
    method: str
    path: str
    question: str  #: "I can't tell yet whether …"
    undone: str  #: where the service said how things were
    not_tried: str  #: where it didn't
    again: str
    done: str  #: the outcome, once it is known
    is_in_form: bool = False


FREEZE = "/scheduled_freeze"
END = "/delete"
CHANGE = "/scheduled_freeze/"
ACTS = {
    "freeze": Act(
        quiet,
        nothing,
        typed("/mq freeze 2h CI is down"),
        "POST",
        FREEZE,
        "whether acme/site is frozen.",
        "The freeze of acme/site was not made.",
        "acme/site was not frozen.",
        "Try freezing again",
        "acme/site is frozen",
    ),
    "freeze in a form": Act(
        quiet,
        freeze_form,
        sent(end="2h"),
        "POST",
        FREEZE,
        "whether acme/site is frozen.",
        "The freeze of acme/site was not made.",
        "acme/site was not frozen.",
        "Try freezing again",
        "acme/site is frozen",
        is_in_form=True,
    ),
    "unfreeze": Act(
        frozen,
        nothing,
        typed("/mq unfreeze it is out"),
        "POST",
        END,
        "whether the freeze of acme/site has ended.",
        "The freeze of acme/site is still in force.",
        "The freeze of acme/site was not ended.",
        "Try unfreezing again",
        "The freeze of acme/site has ended",
    ),
    "unfreeze in a form": Act(
        frozen,
        unfreeze_form,
        sent(),
        "POST",
        END,
        "whether the freeze of acme/site has ended.",
        "The freeze of acme/site is still in force.",
        "The freeze of acme/site was not ended.",
        "Try unfreezing again",
        "The freeze of acme/site has ended",
        is_in_form=True,
    ),
    "allow": Act(
        queued_and_frozen,
        nothing,
        typed("/mq allow #N fixes the outage"),
        "PATCH",
        CHANGE,
        "whether #N of acme/site may merge during the freeze.",
        "#N of acme/site still waits for the end of the freeze.",
        "#N of acme/site was not allowed through the freeze.",
        "Try allowing it again",
        "#N of acme/site may merge during the freeze",
    ),
    "end of a freeze": Act(
        frozen,
        freezes,
        extend,
        "PATCH",
        CHANGE,
        "whether the freeze of acme/site has its new end.",
        "The end of the freeze of acme/site is unchanged.",
        "The end of the freeze of acme/site was not changed.",
        "Try changing the end again",
        "The freeze of acme/site has its new end",
    ),
    "remove": Act(
        queued,
        question_of_removal,
        remove,
        "POST",
        "/dequeue",
        "whether #N of acme/site is still in the queue.",
        "#N of acme/site is still in the queue.",
        "#N of acme/site was not removed from the queue.",
        "Try removing it again",
        "queue* #N",
    ),
    "pause in a form": Act(
        quiet,
        pause_form,
        sent(),
        "PUT",
        "/merge-queue/pause",
        "whether acme/site is paused.",
        "acme/site is not paused.",
        "acme/site was not paused.",
        "Try pausing again",
        "*acme/site is paused* · CI is down",
        is_in_form=True,
    ),
    "resume by a button": Act(
        paused,
        card,
        resume,
        "DELETE",
        "/merge-queue/pause",
        "whether acme/site is still paused.",
        "acme/site is still paused.",
        "acme/site is still paused*, as far as I know.",
        "Try resuming again",
        "*acme/site has resumed*",
    ),
}


async def answered(bot: BotTester, act: Act, containing: str) -> Any:
    """What the person reads where they asked."""
    if act.is_in_form:
        return await bot.modal(containing)
    return await bot.wait_for_reply(containing)


def read_everything(bot: BotTester) -> None:
    for channel in (MERGE_QUEUE, RELEASES):
        bot.posts(channel)
    bot.replies()
    bot.direct_messages(by=ALICE)


LOST: dict[str, dict[str, Any]] = {
    "no answer": {"kind": "drop_after_accept"},
    "502": {"kind": "html_error", "status": 502, "carried_out": True},
}


def silent_after(bot: BotTester, act: Act, lost: str) -> None:
    """The request is carried out and its answer lost; then the service answers nothing."""
    bot.break_service(**LOST[lost], path=act.path, method=act.method, times=1)

    def look(seen: Any) -> None:
        if seen.method == act.method and act.path in seen.path:
            bot.break_service("error", path="/repos/", status=503)

    bot.merge_queue.watchers.append(look)


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("name", ACTS)
async def test_an_act_that_was_carried_out_is_told_once_the_service_answers(
    bot: BotTester, name: str, lost: str
) -> None:
    act = ACTS[name]
    await act.begin(bot)
    shown = await act.open(bot)
    silent_after(bot, act, lost)
    await act.do(bot, shown)
    answer = await answered(bot, act, "I can't tell yet")
    assert named(bot, act.question) in answer
    assert "I keep checking and will post the outcome here." in answer
    assert answer.labels == [act.again]
    bot.merge_queue.watchers.clear()
    bot.fix_service()
    await bot.pass_time(5)
    await bot.wait_for_post(named(bot, act.done))
    await bot.stop_bot()
    read_everything(bot)


@pytest.mark.parametrize("name", ACTS)
async def test_an_act_that_was_not_carried_out_is_told_and_its_button_repeats_it(
    bot: BotTester, name: str
) -> None:
    act = ACTS[name]
    await act.begin(bot)
    shown = await act.open(bot)
    bot.break_service("error", path=act.path, method=act.method, status=502, times=1)
    await act.do(bot, shown)
    answer = await answered(bot, act, "I can't tell yet")
    assert named(bot, act.question) in answer
    await bot.pass_time(60)
    outcome = await bot.wait_for_post(named(bot, act.undone.removesuffix(".")))
    assert outcome.labels == [act.again]
    await bot.click(outcome, act.again)
    await until(lambda: _is_repeated(bot, act), "the same request again")
    await bot.stop_bot()
    read_everything(bot)


def _is_repeated(bot: BotTester, act: Act) -> bool:
    made = [
        request
        for request in bot.merge_queue.requests
        if request.status and act.path in request.path
    ]
    return any(
        request.method == act.method and request.status < HTTPStatus.BAD_REQUEST for request in made
    )


@pytest.mark.parametrize("name", ACTS)
async def test_a_refused_act_says_how_things_are(bot: BotTester, name: str) -> None:
    act = ACTS[name]
    await act.begin(bot)
    for status in (403, 409, 422):
        shown = await act.open(bot)
        bot.break_service("error", path=act.path, method=act.method, status=status)
        await act.do(bot, shown)
        is_told_by_the_conflict = status == 409 and "pause" in act.path
        said = "Armed failure" if is_told_by_the_conflict else act.undone
        await answered(bot, act, named(bot, said))
        bot.fix_service()
        read_everything(bot)


@pytest.mark.parametrize("name", ACTS)
async def test_an_act_before_which_nothing_could_be_read_says_that_it_was_not_done(
    bot: BotTester, name: str
) -> None:
    act = ACTS[name]
    await act.begin(bot)
    faults: list[dict[str, Any]] = [
        {"kind": "error", "status": 500},
        {"kind": "drop_before"},
        {"kind": "html_error"},
    ]
    for fault in faults:
        shown = await act.open(bot)
        for path in ("/merge-queue/", "/scheduled_freeze"):
            bot.break_service(path=path, **fault)
        await act.do(bot, shown)
        answer = await answered(bot, act, named(bot, act.not_tried))
        assert answer.labels == [act.again]
        bot.fix_service()
        read_everything(bot)


API = "/acme/api/"


@pytest.mark.parametrize("carried_out", [True, False])
async def test_the_outcome_for_one_queue_of_a_group_follows(
    three: BotTester, *, carried_out: bool
) -> None:
    path = f"{API}merge-queue/pause"
    if carried_out:
        three.break_service("drop_after_accept", path=path, method="PUT", times=1)

        def look(seen: Any) -> None:
            if seen.method == "PUT" and API in seen.path:
                three.break_service("error", path=API, status=503)

        three.merge_queue.watchers.append(look)
    else:
        three.break_service("error", path=path, method="PUT", status=502, times=1)
    question = await three.ask("/mq pause @release CI is down")
    await three.click(question, "Pause 2 queues")
    card = await three.wait_for_post("@release: 1 of 2 queues paused")
    assert "1 where I can't tell yet" in card
    assert "acme/api" in card
    assert "I keep checking, and will change this message and tell you the outcome." in card
    three.merge_queue.watchers.clear()
    three.fix_service()
    await three.pass_time(60)
    if carried_out:
        await three.wait_for_change(card, "@release: 2 of 2 queues paused")
    else:
        card = await three.wait_for_change(card, "1 failed")
        told = await three.wait_for_direct_message("@release: 1 of 2 queues paused")
        await three.click(told, "Retry the rest")
    await until(lambda: three.pause_reason("acme/api") is not None, "a pause")
    await three.stop_bot()
    read_everything(three)


async def test_one_of_two_freezes_of_which_nobody_knows_is_not_called_in_force(
    bot: BotTester,
) -> None:
    """The first lets the pull request through; the answer about the second is lost."""
    for reason in ("night", "weekend"):
        bot.merge_queue.freeze("acme/site", FreezeTerms(reason))
    number = bot.enqueue(hangs=True)
    await bot.happens("action.queue.enter", number)
    changes = list[str]()

    def look(seen: Any) -> None:
        if seen.method != "PATCH":
            return
        changes.append(seen.path)
        if len(changes) == 1:
            bot.break_service("drop_after_accept", path=CHANGE, method="PATCH", times=1)
        else:
            bot.break_service("error", path="/repos/", status=503)

    bot.merge_queue.watchers.append(look)
    answer = await bot.ask(f"/mq allow {number} fixes the outage")
    assert f"*I can't tell yet whether #{number} of acme/site may merge during" in answer
    assert "I keep checking and will post the outcome here." in answer
    assert "• night: lets it merge" in answer
    assert "• weekend: I can't tell yet" in answer
    assert answer.labels == ["Try allowing it again"]
    bot.merge_queue.watchers.clear()
    bot.fix_service()
    await bot.pass_time(5)
    await bot.wait_for_post(f"#{number} of acme/site may merge during the freeze")
    await bot.stop_bot()
    read_everything(bot)


UNCHANGED = "*The end of the pause of acme/site was not changed.*"
CHANGE_AGAIN = "Try changing the end again"


async def timed_card(bot: BotTester) -> Shown:
    await bot.pause("45m CI is down")
    (card,) = bot.posts()
    return await bot.wait_for_change(card, "0 queued")


async def test_the_menu_of_a_card_is_repeated_by_a_button(bot: BotTester) -> None:
    card = await timed_card(bot)
    bot.break_service("error", path="/merge-queue/pause", status=503)
    await bot.choose(card, "1 h more", menu="Extend…")
    failed = await bot.wait_for_reply(UNCHANGED)
    assert failed.labels == [CHANGE_AGAIN]
    bot.fix_service()
    await bot.click(failed, CHANGE_AGAIN)
    reply = await bot.wait_in_thread(card, "changed the end")
    assert "alice changed the end" in reply


@pytest.mark.parametrize("length", [None, timedelta(hours=2)])
async def test_the_form_of_an_end_is_repeated_by_a_button(
    bot: BotTester, length: timedelta | None
) -> None:
    card = await timed_card(bot)
    soon = datetime.now(UTC) + timedelta(hours=3)
    end = f"until {soon:%H:%M} UTC" if length is None else "2h"
    await bot.choose(card, "Another time…", menu="Extend…")
    form = await bot.modal("Until when")
    bot.break_service("error", path="/merge-queue/pause", status=503)
    await bot.submit(form, end=end)
    failed = await bot.modal(UNCHANGED)
    assert failed.labels == [CHANGE_AGAIN]
    bot.fix_service()
    await bot.click(failed, CHANGE_AGAIN)
    await bot.modal("acme/site resumes")
    reply = await bot.wait_in_thread(card, "changed the end")
    if length is None:
        assert f"{soon:%H:%M} UTC" in reply


async def test_a_button_of_the_home_tab_is_repeated_in_a_direct_message(bot: BotTester) -> None:
    card = await bot.pause("CI is down")
    home = await bot.see_home("CI is down")
    bot.break_service("error", path="/merge-queue/pause", status=503)
    await bot.click(home, "Resume queue")
    failed = await bot.wait_for_direct_message("*acme/site is still paused*, as far as I know.")
    assert failed.labels == ["Try resuming again"]
    bot.fix_service()
    await bot.click(failed, "Try resuming again")
    await bot.wait_for_change(card, "Resumed by alice")
    await bot.stop_bot()
    read_everything(bot)
