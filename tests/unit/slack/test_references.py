"""What stands in a text by its id becomes a name, and never a target of a command."""

from collections.abc import Collection
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st
from typing_extensions import override

from bot.acts.asked import Asked
from bot.kernel.actor import SOMEONE
from bot.kernel.typed import BLANK
from bot.slack.payloads import without_links
from bot.slack.person import Guest, Person, PersonUnknown
from bot.slack.ports import PeopleDirectory
from bot.slack.references import MOST_NAMED, Names, as_written
from bot.slack.web_api.channels import SlackChannels


def named(name: str) -> Person:
    return Person(
        user_id="U1",
        name=name,
        team_ids=frozenset(),
        is_deactivated=False,
        is_bot=False,
        guest=Guest.NO,
        is_stranger=False,
    )


PEOPLE = {"U0ALICE": "Alice Martin", "U0ALL": "all", "U0SITE": "acme/site", "W0GRID": "grid"}
GROUPS = {"S0OPS": "ops", "S0RELEASE": "Release"}
CHANNELS = {"C0GENERAL": "general", "C0INCIDENT": "", "C041": "41"}


class People(PeopleDirectory):
    @override
    async def person(self, user_id: str) -> Person | PersonUnknown | None:
        if user_id == "U0SLOW":
            return PersonUnknown("TimeoutError")
        return named(PEOPLE[user_id]) if user_id in PEOPLE else None

    @override
    async def members(self, group_id: str) -> Collection[str] | PersonUnknown:
        return ()

    @override
    async def handle(self, group_id: str) -> str | None:
        return GROUPS.get(group_id)

    @override
    async def profile_field(self, user_id: str, field_id: str) -> str:
        return ""


class Channels:
    async def name(self, channel_id: str) -> str | None:
        return CHANNELS.get(channel_id)


NAMES = Names(People(), cast("SlackChannels", Channels()))


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("<@U0ALICE> broke it", "@Alice Martin broke it"),
        ("<@U0ALICE|amartin82> broke it", "@Alice Martin broke it"),
        ("because <@U0ALICE>, again", "because @Alice Martin, again"),
        ("(<@U0ALICE>)", "(@Alice Martin)"),
        ("<@U0ALICE><@W0GRID>", "@Alice Martin@grid"),
        ("<@U0GONE> broke it", "someone broke it"),
        ("<@U0GONE|gone> broke it", "someone broke it"),
        ("<@U0SLOW> broke it", "someone broke it"),
        ("see <#C0GENERAL>", "see #general"),
        ("see <#C0GENERAL|>", "see #general"),
        ("see <#C0GENERAL|general>", "see #general"),
        ("see <#C0GENERAL|C0GENERAL>", "see #general"),
        ("see <#C0INCIDENT|>", "see a private channel"),
        ("see <#C0INCIDENT>", "see a private channel"),
        ("see <#C0GONE>", "see a channel"),
        ("ask <!subteam^S0OPS>", "ask @ops"),
        ("ask <!subteam^S0OPS|@ops>", "ask @ops"),
        ("ask <!subteam^S0GONE>", "ask a user group"),
        ("<!here> look", "@here look"),
        ("<!channel|channel> look", "channel look"),
        ("since <!date^1767000000^{time}|9:20 AM>", "since 9:20 AM"),
        ("a < b > c", "a < b > c"),
        ("nothing", "nothing"),
        ("", ""),
    ],
)
async def test_ids_become_names_or_a_plain_word(sent: str, shown: str) -> None:
    assert await NAMES.in_text(sent) == shown
    assert as_written(await NAMES.in_command(sent, ["@release"])) == shown


@pytest.mark.parametrize("user_id", ["U0ALL", "U0SITE", "U0ALICE", "U0GONE"])
async def test_a_name_is_one_word_that_is_no_target(user_id: str) -> None:
    read = await NAMES.in_command(f"pause <@{user_id}> broke it", ["@release"])
    word = read.split()[1]
    assert len(read.split()) == 4
    assert word not in {"all", "acme/site", "@all", "@acme/site", "@release"}


async def test_a_user_group_with_the_name_of_a_group_of_repositories_means_that() -> None:
    assert await NAMES.in_command("pause <!subteam^S0RELEASE> 2h", ["@release"]) == (
        "pause @release 2h"
    )
    assert BLANK in await NAMES.in_command("pause <!subteam^S0OPS> 2h", ["@release"])


def test_names_are_written_as_usual_in_whatever_a_command_was_read_into() -> None:
    word = f"{BLANK}@Alice{BLANK}Martin"
    asked = Asked(f"ask {word} first")
    read: dict[str, Any] = as_written({"asked": asked, "reason": word, "names": (word, 1), "n": 1})
    assert read["asked"].reason == "ask @Alice Martin first"
    assert (read["reason"], read["names"], read["n"]) == ("@Alice Martin", ("@Alice Martin", 1), 1)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ("&amp;lt; stays", "&lt; stays"),
        ("<@U0BOB> broke it", "<@U0BOB> broke it"),
        ("<https://ci.example/1>", "https://ci.example/1"),
        ("<https://ci.example/1|ci.example/1>", "ci.example/1"),
        ("<https://evil.example|acme/site>", "acme/site (https://evil.example)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("nothing special", "nothing special"),
        ("", ""),
    ],
)
def test_links_are_turned_back_into_typed_text(sent: str, meant: str) -> None:
    assert without_links(sent) == meant


@given(st.text(alphabet=st.characters(blacklist_characters=f"<>&{BLANK}")))
def test_text_without_markup_is_never_changed(text: str) -> None:
    assert without_links(text) == text
    assert as_written(text) == text


async def test_of_many_references_only_the_first_get_their_names() -> None:
    names = Names(People(), cast("SlackChannels", Channels()))
    many = " ".join(f"<@U{number}>" for number in range(MOST_NAMED))

    said = await names.in_text(f"{many} <@U0ALICE> <#C0GENERAL> <!subteam^S0OPS> <@U0>")

    assert (
        said.removeprefix(f"{SOMEONE} " * MOST_NAMED)
        == f"{SOMEONE} a channel a user group {SOMEONE}"
    )
