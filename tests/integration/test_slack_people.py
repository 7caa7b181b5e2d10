"""People and user groups from Slack: read over sockets, cached for a minute."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from bot.sandbox.slack.server import SlackSandbox
from bot.slack.person import Guest, Person, PersonUnknown
from bot.slack.ports import Audience
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.people import SlackPeople, SlackUser
from tests.support.clock import FakeClock
from tests.support.slack_client import client_of, workspace

ALICE = "U0ALICE"
CHANNEL = "C0MERGEQ"
GROUP = "S0RELEASE"


@dataclass
class Directory:
    """The adapters on a workspace of their own."""

    sandbox: SlackSandbox
    clock: FakeClock
    people: SlackPeople
    channels: SlackChannels

    def calls(self, method: str) -> int:
        return sum(call["method"] == method for call in self.sandbox.calls.since(0))

    async def known(self, user_id: str) -> Person:
        person = await self.people.person(user_id)
        assert isinstance(person, Person)
        return person


@pytest.fixture
async def directory() -> AsyncIterator[Directory]:
    async with workspace(rate_limits="off") as sandbox, client_of(sandbox) as client:
        clock = FakeClock()
        yield Directory(sandbox, clock, SlackPeople(client, clock), SlackChannels(client, clock))


async def test_a_member_is_known_by_name_and_team(directory: Directory) -> None:
    assert await directory.known(ALICE) == Person(
        ALICE,
        "alice",
        frozenset({"T0ACME"}),
        is_deactivated=False,
        is_bot=False,
        guest=Guest.NO,
        is_stranger=False,
        zone="Europe/London",
    )


async def test_bots_guests_deactivated_people_and_strangers_are_recognised(
    directory: Directory,
) -> None:
    directory.sandbox.arrangement.add_user("gone", deleted=True)
    directory.sandbox.arrangement.add_user("eve", "external", "T0OTHER", enterprise_id="E0OTHER")
    assert (await directory.known("U0MQBOT")).is_bot
    assert (await directory.known("USLACKBOT")).is_bot
    assert SlackUser(id="U0FLOW", is_workflow_bot=True).person.is_bot
    assert not SlackUser(id="U0ALICE").person.is_bot
    assert (await directory.known("U0GONE")).is_deactivated
    for number, kind in enumerate(("guest", "single_channel_guest")):
        directory.sandbox.arrangement.add_user(f"guy{number}", kind)
        assert (await directory.known(f"U0GUY{number}")).guest is Guest.YES
    eve = await directory.known("U0EVE")
    assert eve.is_stranger
    assert eve.team_ids == {"T0OTHER", "E0OTHER"}
    assert await directory.people.person("U0NOBODY") is None


async def test_answers_are_remembered_for_less_than_a_minute(directory: Directory) -> None:
    await asyncio.gather(*(directory.known(ALICE) for _ in range(50)))
    directory.clock.advance(59)
    directory.sandbox.arrangement.change_user(ALICE, {"deleted": True})
    assert not (await directory.known(ALICE)).is_deactivated
    assert directory.calls("users.info") == 1
    directory.clock.advance(1)
    assert (await directory.known(ALICE)).is_deactivated
    assert directory.calls("users.info") == 2
    # The clock jumps back.
    directory.clock.advance(-3600)
    await directory.known(ALICE)
    assert directory.calls("users.info") == 3


async def test_a_cancelled_lookup_does_not_cancel_the_others(directory: Directory) -> None:
    impatient = asyncio.create_task(directory.known(ALICE))
    patient = asyncio.create_task(directory.known(ALICE))
    await asyncio.sleep(0)
    impatient.cancel()
    assert (await patient).name == "alice"
    assert directory.calls("users.info") == 1


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"name": "internal_error"}, "internal_error"),
        ({"name": "html_500"}, "http_500"),
        ({"name": "invalid_json"}, "unreadable_answer"),
        ({"name": "refuse", "code": "missing_scope"}, "missing_scope"),
        ({"name": "slow", "seconds": 4}, "TimeoutError"),
    ],
    ids=[str(each) for each in range(5)],
)
async def test_a_failed_lookup_is_reported_and_not_cached(
    directory: Directory, fault: dict[str, object], code: str
) -> None:
    directory.sandbox.faults.arm({**fault, "method": "users.info"})
    assert await directory.people.person(ALICE) == PersonUnknown(code)
    assert (await directory.known(ALICE)).name == "alice"


async def test_group_members_are_at_most_a_minute_old_and_a_disabled_group_has_none(
    directory: Directory,
) -> None:
    directory.sandbox.arrangement.set_group("release", [ALICE])
    assert await directory.people.members(GROUP) == {ALICE}
    directory.sandbox.arrangement.set_group("release", ["U0BOB"])
    assert await directory.people.members(GROUP) == {ALICE}
    directory.clock.advance(60)
    assert await directory.people.members(GROUP) == {"U0BOB"}
    assert await directory.people.handle(GROUP) == "release"

    directory.sandbox.arrangement.set_group("release", [ALICE], is_enabled=False)
    directory.clock.advance(60)
    assert await directory.people.members(GROUP) == frozenset()
    assert await directory.people.members("S0NOWHERE") == frozenset()
    directory.clock.advance(3600)
    assert await directory.people.handle(GROUP) is None


async def test_a_plan_without_groups_is_no_empty_group(directory: Directory) -> None:
    for method in ("usergroups.users.list", "usergroups.list"):
        directory.sandbox.faults.arm(
            {"name": "refuse", "method": method, "code": "plan_upgrade_required"}
        )
    assert await directory.people.members(GROUP) == PersonUnknown("plan_upgrade_required")
    assert await directory.people.handle(GROUP) is None


async def test_a_channel_counts_as_shared_when_slack_says_so_or_nothing(
    directory: Directory,
) -> None:
    assert await directory.channels.audience(CHANNEL) is Audience.OWN
    directory.sandbox.arrangement.change_channel(CHANNEL, {"is_ext_shared": True})
    assert await directory.channels.audience(CHANNEL) is Audience.OWN
    directory.clock.advance(6 * 3600)
    assert await directory.channels.audience(CHANNEL) is Audience.SHARED
    assert await directory.channels.audience("C0INCIDENT") is Audience.SHARED
