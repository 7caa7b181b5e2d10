"""Names of repositories and groups: what is taken, what is refused, and which of them is meant."""

import pytest
from pydantic import BaseModel, ValidationError

from bot.config.settings import Settings
from bot.kernel.errors import ConfigurationError, InvalidRequest, RepositoryNotAllowed, UnknownGroup
from bot.kernel.groups import ALL, Group, Groups, Repositories, read_groups, target_value
from bot.kernel.repository import NAME_MAX_LENGTH, OWNER_MAX_LENGTH, RepositoryName
from tests.support.make import API, SITE
from tests.support.settings import settings_in

DOCS = RepositoryName("acme/docs")
ENOUGH = {
    "MQBOT_API_URL": "https://queue.example/v1",
    "MQBOT_API_TOKEN": "mq-application-key",
    "MQBOT_REPOSITORIES": "acme/site,acme/api,acme/docs",
    "SLACK_BOT_TOKEN": "xoxb-bot",
}
WRITTEN = "release=acme/site,acme/api; docs = acme/docs"


def groups_of(text: str, *names: RepositoryName) -> Groups:
    return Groups(read_groups(text), Repositories(names or (SITE, API, DOCS)))


def test_groups_are_read_from_the_setting() -> None:
    settings = settings_in({**ENOUGH, "MQBOT_GROUPS": WRITTEN}, Settings)
    found = [(group.name, group.repositories) for group in settings.groups]
    assert found == [("release", (SITE, API)), ("docs", (DOCS,))]
    assert settings_in(ENOUGH, Settings).groups == ()


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("release=acme/site,acme/shop", "acme/shop in the group “release” is not in MQBOT_REPOS"),
        ("release=", "the group “release” names no repository; write release=owner/name"),
        ("release= , ", "the group “release” names no repository"),
        ("all=acme/site", "“all” always means every repository of MQBOT_REPOSITORIES; give"),
        ("@All=acme/site", "“all” always means every repository"),
        ("a=acme/site;A=acme/api", "the group “a” is there twice; make one of the two"),
        ("a=acme/site,acme/Site", "acme/Site is in the group “a” twice; leave one of the two out"),
        ("my group=acme/site", "“my group” cannot name a group; use 1 to 30 of a-z, 0-9, - and _"),
        ("=acme/site", "“” cannot name a group"),
        ("-x=acme/site", "“-x” cannot name a group"),
        (f"{'x' * 31}=acme/site", "cannot name a group"),
        ("release", "“release” is not name=owner/name,owner/name"),
        (
            "release=site",
            "“site” in the group “release” isn't a repository: a repository is written",
        ),
        (";", "no group is named; leave it out to have none"),
        ("a=@b;b=@a", "the group “a” is in itself; leave one of the two out"),
        ("a=@b", "@b in the group “a” isn't a group of the settings"),
        ("a=nobody/*", "nobody/* in the group “a” stands for nothing in MQBOT_REPOSITORIES"),
    ],
)
def test_a_refused_setting_is_named_with_its_fix(written: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        settings_in({**ENOUGH, "MQBOT_GROUPS": written}, Settings)
    assert list(raised.value.problems) == ["MQBOT_GROUPS"]
    assert sentence in raised.value.problems["MQBOT_GROUPS"]


@pytest.mark.parametrize(
    ("word", "name", "mention", "repositories"),
    [
        *((one, "release", "@release", (SITE, API)) for one in ("@release", "release", "@RELEASE")),
        *((one, ALL, "all", (SITE, API, DOCS)) for one in ("all", "@all", "ALL")),
    ],
)
def test_a_group_is_found_with_and_without_its_prefix_and_all_is_every_repository(
    word: str, name: str, mention: str, repositories: tuple[RepositoryName, ...]
) -> None:
    found = groups_of(WRITTEN).find(word)
    assert found is not None
    assert (found.name, found.mention, found.repositories) == (name, mention, repositories)


def test_an_owners_repositories_are_a_group_of_their_own() -> None:
    other = RepositoryName("Umbrella/docs")
    groups = groups_of(WRITTEN, SITE, other, API, DOCS)
    for word in ("acme/*", "ACME/*", "@acme/*"):
        found = groups.find(word)
        assert found is not None
        assert (found.mention, found.repositories) == ("acme/*", (SITE, API, DOCS))
    target = groups.target(target_value(Group("Umbrella/*", ())))
    assert isinstance(target, Group)
    assert target.repositories == (other,)
    assert groups.find("nobody/*") is None
    with pytest.raises(UnknownGroup):
        groups.find("@nobody/*")


@pytest.mark.parametrize(
    ("written", "members"),
    [
        ("release=all", (SITE, API, DOCS)),
        ("release=ACME/*", (SITE, API, DOCS)),
        ("release=acme/docs,acme/*", (DOCS, SITE, API)),
        ("release=@few,acme/docs;few=acme/api", (API, DOCS)),
        ("few=acme/api;release=@few,@few", (API,)),
    ],
)
def test_a_group_may_name_all_an_owner_and_other_groups(
    written: str, members: tuple[RepositoryName, ...]
) -> None:
    settings = settings_in({**ENOUGH, "MQBOT_GROUPS": written}, Settings)
    found = {group.name: group.repositories for group in settings.groups}
    assert found["release"] == members


@pytest.mark.parametrize("word", ["site", "acme/site", "deploying", "api-is-broken"])
def test_a_repository_or_any_other_word_is_no_group_without_the_prefix(word: str) -> None:
    assert groups_of("site=acme/api; api=acme/api").find(word) is None


@pytest.mark.parametrize(
    ("written", "word", "meant"),
    [("site=acme/api", "@site", API), ("release=Acme/SITE", "@release", SITE)],
)
def test_a_group_has_what_is_configured(written: str, word: str, meant: RepositoryName) -> None:
    found = groups_of(written).find(word)
    assert found is not None
    assert found.repositories == (meant,)


@pytest.mark.parametrize(
    ("word", "nearest"), [("@relaese", "release"), ("@doc", "docs"), ("@zzzzzz", None)]
)
def test_an_unknown_group_is_refused_with_the_nearest_name(word: str, nearest: str | None) -> None:
    with pytest.raises(UnknownGroup) as raised:
        groups_of(WRITTEN).find(word)
    assert raised.value.nearest == nearest
    assert raised.value.known == ("release", "docs", "all")


def test_a_button_of_a_removed_group_is_refused() -> None:
    assert groups_of(WRITTEN).named("docs").repositories == (DOCS,)
    with pytest.raises(UnknownGroup):
        groups_of(WRITTEN).named("gone")


@pytest.mark.parametrize(
    "text",
    [
        "acme/site",
        "A-1/my_repo.js",
        "a/b",
        "o" * OWNER_MAX_LENGTH + "/" + "r" * NAME_MAX_LENGTH,
        "a/...",
        "a/.x",
    ],
)
def test_a_name_within_the_documented_limits_is_accepted(text: str) -> None:
    name = RepositoryName.parse(text)

    assert name == text
    assert f"{name.owner}/{name.name}" == text


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("site", "repository"),
        ("", "repository"),
        ("/site", "owner"),
        ("acme/", "repository"),
        ("acme/" + "r" * (NAME_MAX_LENGTH + 1), "repository"),
        ("o" * 41 + "/site", "owner"),
        ("ac_me/site", "owner"),
        ("acmé/site", "owner"),
        ("acme/sité", "repository"),
        ("acme/si te", "repository"),
        ("acme/a/b", "repository"),
        ("acme/.", "repository"),
        ("acme/..", "repository"),
        ("acme/site\n", "repository"),
        ("acme/site?x=1", "repository"),
        ("acme/%2e%2e", "repository"),
    ],
)
def test_a_name_beyond_the_limits_is_refused_with_its_field(text: str, field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        RepositoryName.parse(text)

    assert field in refused.value.detail
    assert refused.value.status is None


def test_a_model_holds_names_to_the_same_limits() -> None:
    class Holder(BaseModel):
        name: RepositoryName

    assert Holder.model_validate({"name": "acme/site"}).name.owner == "acme"
    with pytest.raises((ValidationError, InvalidRequest)):
        Holder.model_validate({"name": "../site"})


def test_an_unknown_repository_is_refused_with_the_known_ones() -> None:
    known = Repositories((SITE, API))

    assert known.allowed("api") == API
    with pytest.raises(RepositoryNotAllowed) as refused:
        known.allowed("acme/other")
    assert refused.value.configured == (SITE, API)
