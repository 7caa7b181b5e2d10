"""Names of repositories, and which of them is meant."""

import pytest
from pydantic import BaseModel, ValidationError

from bot.domain.errors import InvalidRequest, RepositoryNotAllowed
from bot.domain.groups import Repositories
from bot.domain.repository import NAME_MAX_LENGTH, OWNER_MAX_LENGTH, RepositoryName
from tests.support.make import API, SITE


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
