"""Groups of repositories: what is taken, what is refused, and what a person may call them."""

import pytest

from bot.config.settings import Settings
from bot.domain.errors import ConfigurationError, UnknownGroup
from bot.domain.groups import ALL, Groups, Repositories, read_groups
from bot.domain.repository import RepositoryName
from tests.support.settings import settings_in

SITE, API, DOCS = (RepositoryName(name) for name in ("acme/site", "acme/api", "acme/docs"))
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
        ("release=site", "“site” in the group “release” is no repository: a repository is written"),
        (";", "no group is named; leave it out to have none"),
    ],
)
def test_a_refused_setting_is_named_with_its_fix(written: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        settings_in({**ENOUGH, "MQBOT_GROUPS": written}, Settings)
    assert list(raised.value.problems) == ["MQBOT_GROUPS"]
    assert sentence in raised.value.problems["MQBOT_GROUPS"]


@pytest.mark.parametrize("word", ["@release", "release", "@RELEASE", "Release"])
def test_a_group_is_found_with_and_without_its_prefix(word: str) -> None:
    found = groups_of(WRITTEN).find(word)
    assert found is not None
    assert (found.mention, found.repositories) == ("@release", (SITE, API))


@pytest.mark.parametrize("word", ["all", "@all", "ALL"])
def test_all_means_every_repository(word: str) -> None:
    found = groups_of(WRITTEN).find(word)
    assert found is not None
    assert (found.name, found.mention, found.repositories) == (ALL, "all", (SITE, API, DOCS))


def test_a_repository_wins_over_a_group_of_the_same_name_without_prefix() -> None:
    groups = groups_of("site=acme/api")
    assert groups.find("site") is None
    assert groups.find("acme/site") is None
    marked = groups.find("@site")
    assert marked is not None
    assert marked.repositories == (API,)


def test_repositories_are_spelled_as_configured() -> None:
    found = groups_of("release=Acme/SITE").find("@release")
    assert found is not None
    assert found.repositories == (SITE,)


@pytest.mark.parametrize(
    ("word", "nearest"), [("@relaese", "release"), ("@doc", "docs"), ("@zzzzzz", None)]
)
def test_an_unknown_group_is_refused_with_the_nearest_name(word: str, nearest: str | None) -> None:
    with pytest.raises(UnknownGroup) as raised:
        groups_of(WRITTEN).find(word)
    assert raised.value.nearest == nearest
    assert raised.value.known == ("release", "docs", "all")


def test_a_word_that_is_not_a_group_belongs_to_the_reason() -> None:
    assert groups_of(WRITTEN).find("deploying") is None
    assert groups_of(WRITTEN).find("docs-are-broken") is None


def test_a_button_of_a_removed_group_is_refused() -> None:
    assert groups_of(WRITTEN).named("docs").repositories == (DOCS,)
    with pytest.raises(UnknownGroup):
        groups_of(WRITTEN).named("gone")
