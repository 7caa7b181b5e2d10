"""Acts that take two people: whose wish counts, and how often channels are asked."""

from dataclasses import replace

import pytest

from bot.acts.errors import SecondPersonNeeded
from bot.acts.permission import MACHINE, Listed, Right, RightRules
from bot.acts.record import ActResult
from bot.kernel.actor import Actor
from bot.kernel.configured import Policy
from bot.pauses.by_rule import PauseRules
from bot.pauses.outcomes import PauseChange
from bot.slack.person import Guest, Person, PersonUnknown
from tests.support.acting import Acting
from tests.support.directories import make_person
from tests.support.make import ALICE, BOB, SITE

CAROL = Actor("U0CAROL", "carol", "T0ACME")
CI = Actor(f"{MACHINE}ci", "ci")
RELEASERS = "S0RELEASERS"
TWO_PEOPLE = Policy([PauseRules(second_person=True)])


async def paused(policy: Policy = TWO_PEOPLE) -> Acting:
    bot = Acting(policy=policy)
    await bot.pause(actor=ALICE)
    return bot


async def waits(bot: Acting, actor: Actor) -> None:
    with pytest.raises(SecondPersonNeeded):
        await bot.resume(actor)


async def test_a_machines_repeated_wish_is_asked_once_and_confirms_nothing() -> None:
    bot = await paused()
    before = len(bot.deliveries())
    for _ in range(20):
        await waits(bot, CI)
    assert len(bot.deliveries()) == before + 1
    assert (await bot.results()).count("asked") == 1
    await waits(bot, BOB)
    await waits(bot, CI)
    assert SITE in bot.merge_queue.pauses
    assert isinstance(await bot.resume(CAROL), PauseChange)


LOST: list[tuple[str, Person | PersonUnknown | None]] = [
    ("deactivated", replace(make_person(BOB.user_id), is_deactivated=True)),
    ("a guest", make_person(BOB.user_id, guest=Guest.YES)),
    ("of another organisation", replace(make_person(BOB.user_id), team_ids=frozenset({"T9"}))),
    ("a stranger", replace(make_person(BOB.user_id), is_stranger=True)),
    ("unknown", None),
    ("a bot", replace(make_person(BOB.user_id), is_bot=True)),
    ("perhaps a guest", replace(make_person(BOB.user_id), guest=Guest.UNKNOWN)),
    ("not to be asked about", PersonUnknown("ratelimited")),
]


@pytest.mark.parametrize("now", [person for _, person in LOST], ids=[name for name, _ in LOST])
async def test_the_first_person_needs_the_right_when_the_second_one_confirms(
    now: Person | PersonUnknown | None,
) -> None:
    bot = await paused()
    await waits(bot, BOB)
    bot.people.others[BOB.user_id] = now
    await waits(bot, CAROL)
    assert SITE in bot.merge_queue.pauses
    bot.people.others.clear()
    outcome = await bot.resume(CAROL)
    assert isinstance(outcome, PauseChange)
    assert outcome.act.confirmation is not None
    assert outcome.act.confirmation.asked_by == BOB


async def test_a_first_person_who_left_the_user_group_counts_no_more() -> None:
    listed = Listed(frozenset({CAROL.user_id}), frozenset({RELEASERS}))
    bot = await paused_by_releasers(listed)
    await waits(bot, BOB)
    bot.people.groups[RELEASERS] = {ALICE.user_id}
    await waits(bot, CAROL)
    bot.people.groups[RELEASERS] = PersonUnknown("ratelimited")
    await waits(bot, CAROL)
    assert SITE in bot.merge_queue.pauses


async def paused_by_releasers(listed: Listed) -> Acting:
    rights = RightRules({Right.PAUSE: listed, Right.RESUME: listed})
    policy = Policy([rights, PauseRules(second_person=True)])
    bot = Acting(policy=policy)
    bot.people.groups[RELEASERS] = {ALICE.user_id, BOB.user_id}
    await bot.pause(actor=ALICE)
    return bot


async def test_a_person_who_asks_again_is_no_second_person() -> None:
    bot = await paused()
    before = len(bot.deliveries())
    for _ in range(5):
        await waits(bot, BOB)
    assert len(bot.deliveries()) == before + 1
    assert [act.result for act in await bot.audit()].count(ActResult.ASKED) == 1


async def test_what_was_asked_before_the_reason_changed_confirms_nothing() -> None:
    """Also where the service keeps the time of the changed pause."""
    bot = await paused()
    await waits(bot, BOB)
    before = bot.merge_queue.pauses[SITE]
    bot.paused_elsewhere("Database migration", at=before.paused_at)
    await waits(bot, CAROL)
    assert SITE in bot.merge_queue.pauses


async def test_what_was_asked_of_another_pause_confirms_nothing() -> None:
    bot = await paused()
    await waits(bot, BOB)
    await bot.resume(ALICE)
    await bot.pause(actor=ALICE)
    await waits(bot, CAROL)
    assert SITE in bot.merge_queue.pauses
