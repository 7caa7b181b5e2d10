"""The setting that says who may pause."""

import pytest

from bot.config import Settings
from bot.domain.errors import ConfigurationError
from bot.domain.permissions import Everyone, Listed, WhoMayPause
from tests.support.settings import settings_in

REQUIRED = {
    "MQBOT_API_URL": "https://queue.example.com/v1",
    "MQBOT_API_TOKEN": "key",
    "MQBOT_REPOSITORIES": "acme/site",
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("", Everyone()),
        ("everyone", Everyone()),
        ("U0ALICE", Listed(frozenset({"U0ALICE"}), frozenset())),
        (
            " S0RELEASE, W0BOB ,U0ALICE,",
            Listed(frozenset({"U0ALICE", "W0BOB"}), frozenset({"S0RELEASE"})),
        ),
        ("machine:deploy-job", Listed(frozenset({"machine:deploy-job"}), frozenset())),
    ],
)
def test_everyone_or_ids_of_people_and_groups_are_accepted(given: str, meant: WhoMayPause) -> None:
    settings = settings_in({**REQUIRED, "MQBOT_WHO_MAY_PAUSE": given}, Settings)
    assert settings.who_may_pause == meant


@pytest.mark.parametrize(
    "given", ["alice", "@releasers", "everyone,U0ALICE", "C0MERGEQ", ",", "U", "machine:"]
)
def test_anything_else_is_refused_and_allows_nobody_by_mistake(given: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        settings_in({**REQUIRED, "MQBOT_WHO_MAY_PAUSE": given}, Settings)
    assert "`everyone`" in refused.value.problems["MQBOT_WHO_MAY_PAUSE"]
