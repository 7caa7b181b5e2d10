"""Twenty people click everything at once: replies, records and actions agree."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pytest

from bot.acts.record import Action, ActResult, AuditRecord, AuditSelection
from bot.acts.rows import Audit
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import timed
from bot.pauses.rows import Pauses
from bot.posts.outbox import Outbox
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.e2e.conftest import StartBot
from tests.support.bot_tester import ALICE, MERGE_QUEUE, BotTester
from tests.support.shown import Shown
from tests.support.transactions import begin

pytestmark = pytest.mark.e2e

HOW_MANY = 20


@dataclass(frozen=True)
class InForce:
    """A pause according to the audit."""

    who: str
    reason: str
    paused_at: datetime


class Crowd:
    """Twenty people in one channel, and the records of their actions."""

    def __init__(self, bot: BotTester) -> None:
        self.bot = bot
        self.names: dict[str, str] = {ALICE: "alice"}
        for number in range(1, HOW_MANY):
            name = f"person{number:02}"
            user_id = str(bot.slack.arrangement.add_user(name)["user"])
            bot.slack.arrangement.set_member(MERGE_QUEUE, user_id, is_member=True)
            self.names[user_id] = name

    @property
    def people(self) -> list[str]:
        return list(self.names)

    async def records(self) -> Sequence[AuditRecord]:
        store = Store(create_engine(self.bot.database_url))
        try:
            with begin(store) as transaction:
                return Audit(transaction).oldest(AuditSelection(), 10_000)
        finally:
            await store.close()

    async def until_settled(self, ends: int) -> Sequence[AuditRecord]:
        """The whole audit, once so many actions have ended and all posts are out."""
        found: Sequence[AuditRecord] = []
        for _ in range(600):
            found = await self.records()
            if len(ends_of(found)) >= ends and await self.is_posted():
                return found
            await asyncio.sleep(0.1)
        raise AssertionError(f"{len(ends_of(found))} of {ends} acts have ended")

    async def is_posted(self) -> bool:
        store = Store(create_engine(self.bot.database_url))
        try:
            with begin(store) as transaction:
                left = Outbox(transaction).summary()
        finally:
            await store.close()
        return not (left.pending or left.sending or left.in_doubt)

    def answers(self) -> Mapping[str, list[Shown]]:
        """The private replies of each person."""
        return {who: self.bot.replies(by=who) for who in self.people}


def ends_of(records: Sequence[AuditRecord]) -> list[AuditRecord]:
    return [record for record in records if record.result is not ActResult.STARTED]


def replay(records: Sequence[AuditRecord]) -> tuple[InForce | None, Mapping[int, InForce | None]]:
    """The pause that the audit says is in force at the end, and at each end of an act.

    The state before an action must be the state after the previous one.
    """
    state: InForce | None = None
    at: dict[int, InForce | None] = {}
    for end in ends_of(records):
        if end.result is ActResult.DONE and end.action is Action.EXTEND:
            # Extended was the pause in force, and no other.
            assert state is not None, end
            assert (end.previous.reason, end.paused_at) == (state.reason, state.paused_at), end
        elif end.result is ActResult.DONE:
            before = None if state is None else (state.reason, state.paused_at)
            said = (end.previous.reason, end.previous.paused_at)
            assert said == (before or (None, None)), end
            if end.action is Action.PAUSE:
                assert end.paused_at is not None
                state = InForce(end.actor.name, end.reason or "", end.paused_at)
            else:
                state = None
        at[end.record_id] = state
    return state, at


def true_answer(one: AuditRecord, state: InForce | None) -> str:
    """Whether a reply to a person who changed nothing was true."""
    assert one.result is ActResult.UNCHANGED, one
    if state is None and one.action is Action.RESUME:
        return "acme/site is already running: "
    if state is None:
        return "acme/site is not paused. Nothing to do."
    paused = f"paused by {state.who}"
    return f"already {paused}: {state.reason}" if one.action is Action.PAUSE else f"now {paused}"


async def all_pause_at_once(crowd: Crowd, people: Sequence[str]) -> tuple[Shown, dict[str, Shown]]:
    """One of them pauses, the others are notified: returns the post and the others' questions."""
    bot = crowd.bot
    await asyncio.gather(*(bot.type(f"/mq pause first {who}", by=who) for who in people))
    records = await crowd.until_settled(len(people))
    state, at = replay(records)
    assert Counter(end.result for end in ends_of(records)) == {
        ActResult.DONE: 1,
        ActResult.UNCHANGED: len(people) - 1,
    }
    assert state is not None
    post = await bot.wait_for_post(state.reason)
    assert f"By {state.who}" in post
    asked: dict[str, Shown] = {}
    for end in ends_of(records):
        if end.result is ActResult.UNCHANGED:
            wanted = true_answer(end, at[end.record_id])
            asked[end.actor.user_id] = await bot.wait_for_reply(wanted, by=end.actor.user_id)
    return post, asked


async def test_twenty_people_click_every_button_at_once(start_bot: StartBot) -> None:
    bot = await start_bot(channels="acme/site=C0RELEASE:freeze")
    crowd = Crowd(bot)
    # Some look at the queue first, so that they have something to refresh.
    lookers = crowd.people[:4]
    others = crowd.people[4:]
    looks = {who: await bot.ask("/mq status", by=who) for who in lookers}
    post, asked = await all_pause_at_once(crowd, others)
    before = {who: len(shown) for who, shown in crowd.answers().items()}
    assert before == {who: int(who in asked or who in looks) for who in crowd.people}

    replacers = list(asked)[:5]
    rest = [who for who in others if who not in replacers]
    resumers = rest[:4]
    pausers = rest[4:8]
    typers = rest[8:]
    await asyncio.gather(
        *(bot.click(looks[who], "Refresh", by=who) for who in lookers),
        *(bot.click(asked[who], "Replace reason", by=who) for who in replacers),
        *(bot.click(post, "Resume queue", by=who) for who in resumers),
        *(bot.type(f"/mq pause second {who}", by=who) for who in pausers),
        *(bot.type("/mq resume", by=who) for who in typers),
    )
    records = await crowd.until_settled(2 * len(others))

    state, at = replay(records)
    ends = ends_of(records)[len(others) :]
    # One end on record for each of them: nobody acted twice, nobody not at all.
    assert Counter(end.actor.user_id for end in ends) == dict.fromkeys(others, 1)
    signed = None if state is None else f"{state.reason} (by {state.who} via Slack)"
    assert bot.pause_reason() == signed
    await everybody_is_answered_truly(
        crowd, ends, at, {who: asked[who] for who in replacers}, before
    )
    await lookers_see_a_state_there_was(bot, looks, records)
    messages = [*bot.posts(), *bot.thread(post)]
    notice = [f"{message.line} {message.words}" for message in messages]
    for end in ends:
        if end.result is ActResult.DONE:
            name = end.actor.name
            said = (f"By {name}", f"{name} changed", f"{name} replaced")
            assert any(words in each for words in said for each in notice), end
    bot.direct_messages(by=ALICE)


async def everybody_is_answered_truly(
    crowd: Crowd,
    ends: Sequence[AuditRecord],
    at: Mapping[int, InForce | None],
    questions: Mapping[str, Shown],
    before: Mapping[str, int],
) -> None:
    """A person who changed nothing has one true reply; one who did is named in the channel.

    The question of whoever replaces a reason becomes the answer itself.
    """
    bot = crowd.bot
    answered: set[str] = set()
    for end in ends:
        who = end.actor.user_id
        if who in questions:
            replaced = end.result is ActResult.DONE
            wanted = "acme/site is paused" if replaced else true_answer(end, at[end.record_id])
            await bot.wait_for_change(questions[who], wanted, by=who)
        elif end.result is ActResult.UNCHANGED:
            answered.add(who)
            await bot.wait_for_reply(true_answer(end, at[end.record_id]), by=who)
    after = {who: len(shown) for who, shown in crowd.answers().items()}
    assert after == {who: count + int(who in answered) for who, count in before.items()}


async def lookers_see_a_state_there_was(
    bot: BotTester, looks: Mapping[str, Shown], records: Sequence[AuditRecord]
) -> None:
    """Running, or paused by one of those who paused, for that person's reason."""
    pauses = {
        (record.actor.name, record.reason or "")
        for record in records
        if record.result is ActResult.DONE and record.action is Action.PAUSE
    }
    for who, shown in looks.items():
        now = bot.now(shown, by=who)
        assert now is not None
        is_paused = "Resume queue" in now.labels
        seen = {(name, reason) for name, reason in pauses if name in now and reason in now}
        assert len(seen) == int(is_paused), now.words


async def test_concurrent_resume_extend_and_watch_agree(start_bot: StartBot) -> None:
    bot = await start_bot(channels="acme/site=C0RELEASE:freeze")
    crowd = Crowd(bot)
    pausers = crowd.people[:4]
    resumers = crowd.people[4:8]
    extenders = crowd.people[8:14]
    watchers = crowd.people[14:]
    await bot.type("/mq pause 30m first", by=pausers[0])
    card = await bot.wait_for_post("first")

    await asyncio.gather(
        *(bot.type(f"/mq pause 2h second {who}", by=who) for who in pausers),
        *(bot.click(card, "Resume queue", by=who) for who in resumers),
        *(bot.choose(card, "1 h more", menu="Extend…", by=who) for who in extenders),
        *(
            bot.choose(card, "Notify me when it resumes", menu="More actions", by=who)
            for who in watchers
        ),
    )

    actors = [*pausers, *resumers, *extenders]
    records = await crowd.until_settled(1 + len(actors))
    state, at = replay(records)
    ends = ends_of(records)[1:]
    assert Counter(end.actor.user_id for end in ends) == dict.fromkeys(actors, 1)
    signed = None if state is None else f"{state.reason} (by {state.who} via Slack)"
    assert bot.pause_reason() == signed
    for end in ends:
        if end.result is ActResult.UNCHANGED:
            await bot.wait_for_reply(true_answer(end, at[end.record_id]), by=end.actor.user_id)
    await the_timer_is_of_the_pause_in_force(crowd, records, state)
    await watchers_are_notified_once(crowd, watchers, at)
    bot.posts()


async def the_timer_is_of_the_pause_in_force(
    crowd: Crowd, records: Sequence[AuditRecord], state: InForce | None
) -> None:
    """Its end is the one that the last act which gave it one is on record with."""
    store = Store(create_engine(crowd.bot.database_url))
    try:
        with begin(store) as transaction:
            running = timed(Pauses(transaction).open([RepositoryName("acme/site")]))
    finally:
        await store.close()
    of_it = [
        pause for pause in running if state is not None and pause.line.paused_at == state.paused_at
    ]
    given = [
        end.resumes_at
        for end in ends_of(records)
        if state is not None and end.result is ActResult.DONE and end.paused_at == state.paused_at
    ]
    assert [pause.resumes_at for pause in of_it] == given[-1:]


async def watchers_are_notified_once(
    crowd: Crowd, watchers: Sequence[str], at: Mapping[int, InForce | None]
) -> None:
    """People who asked to be notified get one message when the queue resumes, and not before."""
    bot = crowd.bot
    promised: list[str] = []
    for who in watchers:
        answer = await bot.wait_for_reply("acme/site", by=who)
        if "You'll get a direct message when acme/site resumes." in answer:
            promised.append(who)
        else:
            assert "acme/site is not paused. Nothing to do." in answer
            assert None in at.values()
    await bot.type("/mq resume", by=ALICE)
    for who in promised:
        await bot.wait_for_direct_message("resumed acme/site", by=who)
    settled = 1 + len([one for one in at if one])
    await crowd.until_settled(settled)
    assert bot.pause_reason() is None
    for who in watchers:
        notice = [
            message for message in bot.direct_messages(by=who) if "resumed acme/site" in message
        ]
        assert len(notice) == int(who in promised)
    bot.replies(by=ALICE)
    bot.direct_messages(by=ALICE)
