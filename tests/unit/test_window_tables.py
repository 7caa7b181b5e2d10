"""The tables of recurring windows in the file: what they mean, and what is refused."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.config import RunSettings
from bot.config.tables import windows
from bot.domain.errors import ConfigurationError
from bot.domain.windows import RecurringWindow
from tests.support.settings import settings_in

GIVEN = {
    "MQBOT_API_URL": "https://queue.example/v1",
    "MQBOT_API_TOKEN": "key",
    "MQBOT_REPOSITORIES": "acme/site,acme/api,other/docs",
    "MQBOT_GROUPS": "release=acme/site,acme/api",
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
}
WEEKEND = """
[MQBOT_WINDOW."weekend"]
applies_to = "@release"
starts = "0 18 * * fri"
lasts = "2d14h"
zone = "Europe/Paris"
reason = "No merges over the weekend"
"""


def read(folder: Path, tables: str) -> list[RecurringWindow]:
    file = folder / "mqbot.toml"
    file.write_text(tables, "utf-8")
    settings = settings_in({**GIVEN, "MQBOT_CONFIG": str(file)}, RunSettings)
    return list(windows(settings.window, settings.repositories, settings.groups))


def test_a_window_applies_to_a_groups_repositories_and_is_announced_an_hour_before(
    tmp_path: Path,
) -> None:
    (found,) = read(tmp_path, WEEKEND)
    assert (found.name, found.repositories) == ("weekend", ["acme/site", "acme/api"])
    assert (found.starts, found.zone.key) == ("0 18 * * fri", "Europe/Paris")
    assert (found.lasts, found.announced) == (timedelta(hours=62), timedelta(hours=1))


def test_all_means_all_repositories(tmp_path: Path) -> None:
    (found,) = read(tmp_path, WEEKEND.replace("@release", "all"))
    assert len(found.repositories) == 3


@pytest.mark.parametrize(
    ("written", "instead", "sentence"),
    [
        ("@release", "@nobody", "“@nobody” is no repository or group of the settings"),
        ("0 18 * * fri", "0 18 * * 5", "weekdays in `starts` are names, such as mon-fri"),
        ("0 18 * * fri", "0 18", "expected 5"),
        ("2d14h", "until 18:00", "not a length such as 2d14h"),
        ("Europe/Paris", "Paris", "not a time zone such as Europe/Paris"),
        ("reason", "why", "reason: Field required"),
        ('"No merges over the weekend"', '""', "at least 1 character"),
    ],
)
def test_a_broken_table_is_named_with_its_problem(
    tmp_path: Path, written: str, instead: str, sentence: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(tmp_path, WEEKEND.replace(written, instead))
    assert "weekend" in refused.value.problems["MQBOT_WINDOW"]
    assert sentence in refused.value.problems["MQBOT_WINDOW"]
