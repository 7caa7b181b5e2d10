"""Settings: valid and invalid values, and the errors."""

import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from bot.acts.permission import Everyone, Listed, WhoMayPause
from bot.channels.subscription import DEFAULT_TOPICS, Subscription, SubscriptionSource
from bot.config.mentions import mentions
from bot.config.reading import (
    description,
    load_database_url,
    load_settings,
    overridden,
    reload_settings,
    settings_files,
    unknown_variables,
    unused_file,
)
from bot.config.secrets import secrets_of
from bot.config.settings import (
    GivenSettings,
    RunSettings,
    Settings,
    WebSettings,
    default_database_url,
    variable,
)
from bot.kernel.errors import ConfigurationError
from bot.kernel.logins import BotLogins
from bot.kernel.repository import RepositoryName
from bot.runtime.reloading import Reloading
from tests.support.settings import ENOUGH, only_environment, settings_in


def problems(**changed: str) -> dict[str, str]:
    """The complaints about ENOUGH with some variables changed."""
    with pytest.raises(ConfigurationError) as raised:
        settings_in({**ENOUGH, **changed}, RunSettings)
    return dict(raised.value.problems)


def in_file(folder: Path, lines: str) -> dict[str, str]:
    """The variable of a settings file with these lines."""
    file = folder / "mqbot.toml"
    file.write_text(lines, "utf-8")
    return {"MQBOT_CONFIG": str(file)}


def test_only_five_variables_are_needed() -> None:
    # Where the database is depends on the home, whose variable a machine may set otherwise.
    with only_environment(ENOUGH):
        settings = load_settings(RunSettings)
        database_url = default_database_url()
    assert settings.api_url == "https://queue.example/v1"
    assert settings.repositories == (RepositoryName("acme/site"),)
    assert settings.channels == ()
    assert settings.poll_seconds == 10
    assert settings.command == "/mq"
    assert settings.slack_api_url == "https://slack.com/api/"
    assert settings.database_url.get_secret_value() == database_url
    assert settings.log_level == "INFO"


@pytest.mark.parametrize(
    ("name", "kind"), [("SLACK_APP_TOKEN", RunSettings), ("SLACK_SIGNING_SECRET", WebSettings)]
)
def test_settings_of_one_slack_mode_are_required_in_it(name: str, kind: type[Settings]) -> None:
    without = {**ENOUGH, "SLACK_APP_TOKEN": ""}
    assert settings_in(without, Settings).slack_app_token is None
    with pytest.raises(ConfigurationError) as raised:
        settings_in(without, kind)
    assert list(raised.value.problems) == [name]
    assert "is missing. It takes: " in raised.value.problems[name]


def test_a_settings_file_can_provide_required_settings(tmp_path: Path) -> None:
    given = in_file(tmp_path, 'SLACK_SIGNING_SECRET = "two words"')
    with pytest.raises(ConfigurationError, match="entry 1 is not one word"):
        settings_in({**ENOUGH, **given}, WebSettings)
    given = in_file(tmp_path, 'SLACK_SIGNING_SECRET = "e6b19c573432dcc6"')
    found = settings_in({**ENOUGH, **given}, WebSettings).slack_signing_secret
    assert found.get_secret_value() == "e6b19c573432dcc6"


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, ("127.0.0.1", 3000)),
        ({"PORT": "5000"}, ("0.0.0.0", 5000)),
        ({"MQBOT_HTTP_PORT": "8080"}, ("127.0.0.1", 8080)),
        ({"MQBOT_HTTP_PORT": "8080", "PORT": "5000"}, ("0.0.0.0", 8080)),
        ({"MQBOT_HTTP_HOST": "::1", "PORT": "5000"}, ("::1", 5000)),
    ],
)
def test_a_port_set_by_the_platform_accepts_outside_connections(
    given: dict[str, str], address: tuple[str, int]
) -> None:
    assert settings_in({**ENOUGH, **given}, RunSettings).http_address == address


def test_an_empty_variable_counts_as_missing() -> None:
    assert settings_in({**ENOUGH, "MQBOT_COMMAND": ""}, RunSettings).command == "/mq"
    assert "is missing" in problems(MQBOT_API_TOKEN="")["MQBOT_API_TOKEN"]


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "MQBOT_UNKNOWN",
        # What Kubernetes sets beside a service of the name mqbot, or mqbot-http.
        "MQBOT_PORT",
        "MQBOT_PORT_3000_TCP",
        "MQBOT_SERVICE_HOST",
        "MQBOT_SERVICE_PORT",
        "MQBOT_HTTP_SERVICE_PORT",
        "MQBOT_HTTP_PORT_3000_TCP_PORT",
    ],
)
def test_unrelated_variables_are_ignored(name: str) -> None:
    assert settings_in({**ENOUGH, name: "x"}, RunSettings).command == "/mq"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("MQBOT_WHO_MAY_PAUS", "MQBOT_WHO_MAY_PAUSE"),
        ("MQBOT_WHO_CAN_PAUSE", "MQBOT_WHO_MAY_PAUSE"),
        ("MQBOT_CHANNEL", "MQBOT_CHANNELS"),
        ("MQBOT_REPOSITORY", "MQBOT_REPOSITORIES"),
        ("MQBOT_DATABASE_URL", "DATABASE_URL"),
    ],
)
def test_a_variable_close_to_a_setting_is_named(written: str, meant: str, tmp_path: Path) -> None:
    found = problems(**{written: "U123"})
    assert list(found) == [meant]
    assert found[meant].startswith(f"is misspelled as {written}. It takes: ")
    in_line_2 = problems(**in_file(tmp_path, f'\n{written} = "U123"'))
    assert list(in_line_2) == [meant]
    where = f"is misspelled as {written} (line 2 of {tmp_path / 'mqbot.toml'}). It takes: "
    assert in_line_2[meant].startswith(where)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("MQBOT_REPOSITORYS_LIST", "MQBOT_REPOSITORIES"),
        ("MQBOT_POLLSECS", "MQBOT_POLL_SECONDS"),
        ("MQBOT_REMINDERS_MIN", "MQBOT_REMINDER_MINUTES"),
        ("MQBOT_SLACK_APP_TOKEN", "SLACK_APP_TOKEN"),
        ("MQBOT_COLOUR", None),
    ],
)
def test_a_variable_that_is_no_setting_is_named_with_the_nearest(
    written: str, meant: str | None
) -> None:
    with only_environment({**ENOUGH, written: "x"}):
        assert load_settings(RunSettings)
        assert unknown_variables() == {written: meant}


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "MQBOT_CONFIG",
        "MQBOT_COMMAND",
        "MQBOT_API_TOKEN_FILE",
        # What `mqbot pause` needs.
        "MQBOT_URL",
        "MQBOT_TOKEN",
        # What Kubernetes sets beside a service of the name mqbot, or mqbot-http.
        "MQBOT_PORT",
        "MQBOT_PORT_3000_TCP",
        "MQBOT_SERVICE_HOST",
        "MQBOT_SERVICE_PORT_HTTP",
        "MQBOT_HTTP_SERVICE_PORT",
        "MQBOT_HTTP_PORT_3000_TCP_PORT",
    ],
)
def test_settings_and_what_other_programs_set_are_not_named(name: str) -> None:
    with only_environment({**ENOUGH, name: "x"}):
        assert unknown_variables() == {}


def test_a_missing_setting_is_linked_to_its_misspelling() -> None:
    found = problems(MQBOT_REPOSITORIES="", MQBOT_REPOSITORY="acme/site")
    assert list(found) == ["MQBOT_REPOSITORIES"]
    assert "is misspelled as MQBOT_REPOSITORY" in found["MQBOT_REPOSITORIES"]


def test_names_that_are_no_settings_and_wrong_values_are_found_in_the_file(tmp_path: Path) -> None:
    given = in_file(tmp_path, 'colour = 5\n\npol_secs = 1\n[mqbot]\nMQBOT_COMMAND = "/queue"')
    file = given["MQBOT_CONFIG"]
    assert problems(**given) == {
        "colour": f"isn't a setting (line 1 of {file}); remove it, or correct its name",
        "pol_secs": f"isn't a setting (line 3 of {file}); did you mean MQBOT_POLL_SECONDS?",
        "mqbot": (
            f"isn't a setting (line 4 of {file}); put the settings above all tables, without a "
            "table of their own"
        ),
    }
    found = problems(**in_file(tmp_path, '# Ours\nMQBOT_COMMAND = "mq"'))
    assert found["MQBOT_COMMAND"].startswith(f"not such a command (line 2 of {file}). It takes: ")


NATIVE = """
repositories = ["acme/site", "acme/api"]
poll_seconds = 5
mqbot_reminder_minutes = 7
Slack_Bot_Token = "xoxb-of-the-file"
MQBOT_HEALTH_PORT = 8080
MQBOT_WHO_MAY_PAUSE = ["U0ALICE", "S0RELEASE"]

[MQBOT_CHANNELS]
"acme/site" = ["C0123:enter,merge", "C0456"]
"acme/api" = "C0123"

[MQBOT_GROUPS]
release = ["acme/site", "acme/api"]
docs = "acme/api"

[MQBOT_LOGINS]
U0ALICE = "alice-m"
W0BOB = "bob"

[MQBOT_MACHINE_TOKENS]
deploy-job = "dddddddddddddddddddddddd"
"""


def test_tables_lists_and_small_letters_are_native_in_the_file(tmp_path: Path) -> None:
    given = in_file(tmp_path, NATIVE)
    settings = settings_in(
        {**ENOUGH, "MQBOT_REPOSITORIES": "", "SLACK_BOT_TOKEN": "", **given}, RunSettings
    )
    assert settings.repositories == ("acme/site", "acme/api")
    assert (settings.poll_seconds, settings.reminder_minutes, settings.health_port) == (5, 7, 8080)
    assert settings.slack_bot_token.get_secret_value() == "xoxb-of-the-file"
    assert settings.who_may_pause == Listed(frozenset({"U0ALICE"}), frozenset({"S0RELEASE"}))
    channels = [
        (channel.repository, channel.channel_id, channel.topics) for channel in settings.channels
    ]
    assert channels == [
        ("acme/site", "C0123", frozenset({"enter", "merge"})),
        ("acme/site", "C0456", DEFAULT_TOPICS),
        ("acme/api", "C0123", DEFAULT_TOPICS),
    ]
    groups = {group.name: group.repositories for group in settings.groups}
    assert groups == {"release": ("acme/site", "acme/api"), "docs": ("acme/api",)}
    assert settings.logins == (("U0ALICE", "alice-m"), ("W0BOB", "bob"))
    assert [(machine.machine, len(machine.secret)) for machine in settings.machines] == [
        ("deploy-job", 24)
    ]


@pytest.mark.parametrize(
    "lines",
    [
        'MQBOT_CHANNELS = ["acme/site=C123:enter,merge"]',
        'channels = "acme/site=C123:enter,merge"',
        '[MQBOT_CHANNELS."acme/site"]\nC123 = ["enter", "merge"]',
        'MQBOT_CHANNELS = { "acme/site" = { C123 = ["enter", "merge"] } }',
        '[channels]\n"acme/site" = ["C123:enter,merge"]',
    ],
)
def test_each_way_to_write_a_channel_means_the_same(tmp_path: Path, lines: str) -> None:
    (channel,) = settings_in({**ENOUGH, **in_file(tmp_path, lines)}, RunSettings).channels
    expected = ("acme/site", "C123", frozenset({"enter", "merge"}))
    assert (channel.repository, channel.channel_id, channel.topics) == expected


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mqbot.toml"
    path.write_bytes(b"\xef\xbb\xbfpoll_seconds = 5\r\n")
    assert settings_in({**ENOUGH, "MQBOT_CONFIG": str(path)}, RunSettings).poll_seconds == 5


def test_paths_in_the_file_are_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "repositories").write_text("acme/site\nacme/api\n")
    (tmp_path / "logins").write_text("U0ALICE,alice-m\n")
    (tmp_path / "token").write_text("xoxb-of-a-file\n")
    lines = """
    MQBOT_REPOSITORIES = "@lists/repositories"
    MQBOT_LOGINS = "@logins"
    SLACK_BOT_TOKEN_FILE = "token"
    [MQBOT_POLICY."acme/api"]
    api_token_file = "key"
    """
    (tmp_path / "key").write_text("mq-key-of-a-file\n")
    absent = {"MQBOT_REPOSITORIES": "", "SLACK_BOT_TOKEN": ""}
    settings = settings_in({**ENOUGH, **absent, **in_file(tmp_path, lines)}, RunSettings)
    assert settings.repositories == ("acme/site", "acme/api")
    assert settings.logins == (("U0ALICE", "alice-m"),)
    assert settings.slack_bot_token.get_secret_value() == "xoxb-of-a-file"
    found = problems(**in_file(tmp_path, 'MQBOT_LOGINS = "@elsewhere"'))["MQBOT_LOGINS"]
    assert f"{tmp_path}/elsewhere can't be read" in found


def test_a_list_within_a_list_is_one_of_the_files_to_watch(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("acme/site\n")
    (tmp_path / "logins").write_text("U0ALICE,alice-m\n")
    given = {
        **ENOUGH,
        **in_file(tmp_path, 'repositories = ["acme/api", "@names"]'),
        "MQBOT_REPOSITORIES": "",
        "MQBOT_LOGINS": f"U0BOB=bob,@{tmp_path / 'logins'}",
    }
    with only_environment(given):
        settings = load_settings(RunSettings)
        assert settings.repositories == ("acme/api", "acme/site")
        assert {tmp_path / "names", tmp_path / "logins"} <= {*settings_files(settings)}


@pytest.mark.parametrize("where", ["environment", "text", "list"])
@pytest.mark.parametrize("first", [True, False])
def test_a_list_and_the_watch_on_its_files_agree_wherever_a_file_is_named(
    tmp_path: Path, where: str, *, first: bool
) -> None:
    names = tmp_path / "names"
    # As Windows writes it.
    names.write_bytes(b"\xef\xbb\xbfacme/site\r\nacme/docs\r\n")
    path = f" @{names if where == 'environment' else 'names'} "
    words = [path, "acme/api"] if first else ["acme/api", path]
    text = ",".join(words)
    line = f"repositories = {words if where == 'list' else text!r}"
    given = {**ENOUGH, **in_file(tmp_path, "" if where == "environment" else line)}
    given["MQBOT_REPOSITORIES"] = text if where == "environment" else ""
    with only_environment(given):
        settings = load_settings(RunSettings)
        assert set(settings.repositories) == {"acme/site", "acme/docs", "acme/api"}
        assert names in settings_files(settings)


def test_a_line_with_several_repositories_is_refused_with_what_to_write(tmp_path: Path) -> None:
    names = tmp_path / "names"
    names.write_text("acme/site, acme/api\n")
    problem = problems(MQBOT_REPOSITORIES=f"@{names}")["MQBOT_REPOSITORIES"]
    assert "“acme/site, acme/api” isn't a repository: write each name on its own line" in problem


def test_a_bots_login_with_an_at_sign_names_no_file() -> None:
    problem = problems(MQBOT_BOT_LOGINS="@dependabot")["MQBOT_BOT_LOGINS"]
    assert "“@dependabot” is neither a login nor an ending" in problem


def test_a_setting_that_the_environment_and_the_file_have_is_named(tmp_path: Path) -> None:
    given = in_file(tmp_path, 'MQBOT_COMMAND = "/queue"\npoll_seconds = 5\n')
    with only_environment({**ENOUGH, **given, "MQBOT_POLL_SECONDS": "7"}):
        assert overridden() == {"MQBOT_POLL_SECONDS": f"line 2 of {given['MQBOT_CONFIG']}"}
    found = problems(**given, MQBOT_POLL_SECONDS="soon")["MQBOT_POLL_SECONDS"]
    where = f"in the environment, which counts instead of line 2 of {given['MQBOT_CONFIG']}"
    assert found.startswith(f"not a number ({where}). It takes: ")


def test_a_settings_file_that_nothing_names_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with only_environment(ENOUGH):
        assert unused_file() is None
        given = in_file(tmp_path, "")
        assert unused_file() == tmp_path / "mqbot.toml"
    said = f"isn't set, so {tmp_path / 'mqbot.toml'} isn't read; set it to that path"
    found = problems(MQBOT_API_TOKEN="", MQBOT_API_URL="")
    assert list(found) == ["MQBOT_CONFIG", "MQBOT_API_URL", "MQBOT_API_TOKEN"]
    assert found["MQBOT_CONFIG"] == said
    monkeypatch.chdir("/")
    with only_environment(ENOUGH):
        assert unused_file([tmp_path / "environment"]) == tmp_path / "mqbot.toml"
    with only_environment({**ENOUGH, **given}):
        assert unused_file([tmp_path / "environment"]) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MQBOT_API_URL", "queue.example/v1"),
        ("MQBOT_API_URL", "ftp://queue.example/v1"),
        ("MQBOT_API_URL", "https:///v1"),
        ("MQBOT_API_URL", "https://queue.example/v2"),
        ("MQBOT_API_URL", "https://queue.example:https/v1"),
        ("MQBOT_API_URL", "https://queue.example:99999/v1"),
        ("MQBOT_API_URL", "https://[::1/v1"),
        ("MQBOT_API_URL", "https://queue example/v1"),
        ("MQBOT_API_URL", "https://queue.example/v1?branch=/v1"),
        ("MQBOT_API_URL", "https://queue.example/#/v1"),
        ("MQBOT_API_TOKEN", "two words"),
        ("MQBOT_API_TOKEN", "line\nbreak"),
        ("MQBOT_API_TOKEN", "clé"),
        ("MQBOT_REPOSITORIES", "site"),
        ("MQBOT_REPOSITORIES", "acme/site,acme/"),
        ("MQBOT_REPOSITORIES", " , "),
        ("MQBOT_REPOSITORIES", "acme/.."),
        ("MQBOT_REPOSITORIES", f"{'a' * 41}/site"),
        ("MQBOT_CHANNELS", "C123"),
        ("MQBOT_CHANNELS", "acme/site=general"),
        ("MQBOT_CHANNELS", "acme/site=C123:merged"),
        ("MQBOT_CHANNELS", "acme=C123"),
        ("MQBOT_CHANNELS", "acme/other=C123"),
        ("MQBOT_POLL_SECONDS", "0"),
        ("MQBOT_POLL_SECONDS", "3601"),
        ("MQBOT_POLL_SECONDS", "often"),
        ("MQBOT_POLL_SECONDS", "nan"),
        ("MQBOT_POLL_SECONDS", "inf"),
        ("MQBOT_OVERLAP_SECONDS", "-1"),
        ("MQBOT_BACKFILL_MINUTES", "129601"),
        ("MQBOT_COMMAND", "mq"),
        ("MQBOT_COMMAND", "/MQ"),
        ("MQBOT_COMMAND", f"/{'m' * 32}"),
        ("SLACK_BOT_TOKEN", "xoxp-1"),
        ("SLACK_BOT_TOKEN", "xoxb-"),
        ("SLACK_APP_TOKEN", "xoxb-1"),
        ("SLACK_API_URL", "slack.com/api"),
        ("SLACK_API_URL", "https://slack.com:99999/api/"),
        ("SLACK_API_URL", "https://slack.com/api?x=/"),
        ("MQBOT_RETENTION_DAYS", "0"),
        ("MQBOT_RETENTION_DAYS", "1.5"),
        ("MQBOT_DEPRECATED_PAUSE", "perhaps"),
        ("MQBOT_LOG_LEVEL", "LOUD"),
        ("MQBOT_LOG_FORMAT", "xml"),
    ],
)
def test_a_wrong_value_names_only_its_variable(name: str, value: str) -> None:
    found = problems(**{name: value})
    assert list(found) == [name]
    assert found[name].strip()
    # A full sentence gets one full stop.
    assert ".. It takes: " not in found[name]


@pytest.mark.parametrize("name", ["MQBOT_API_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"])
def test_a_wrong_secret_is_not_repeated(name: str) -> None:
    found = problems(**{name: "hush this secret"})
    assert "hush" not in found[name]


@pytest.mark.parametrize("name", ["MQBOT_API_URL", "SLACK_API_URL"])
@pytest.mark.parametrize("password", ["hush", "hush/1", "hush]"])
def test_an_address_with_a_password_is_refused_and_not_repeated(name: str, password: str) -> None:
    found = problems(**{name: f"https://bot:{password}@queue.example/v1"})
    assert list(found) == [name]
    assert "hush" not in found[name]


def test_configured_channels_are_subscriptions_that_commands_cannot_remove() -> None:
    value = "acme/site=C123:enter,merge ; acme/api=G456;"
    settings = settings_in(
        {**ENOUGH, "MQBOT_REPOSITORIES": "acme/site, acme/api", "MQBOT_CHANNELS": value},
        RunSettings,
    )
    configured = SubscriptionSource.CONFIGURATION
    assert settings.channels == (
        Subscription(
            "C123",
            RepositoryName("acme/site"),
            frozenset({"enter", "merge"}),
            source=configured,
        ),
        Subscription("G456", RepositoryName("acme/api"), DEFAULT_TOPICS, source=configured),
    )


def test_addresses_may_end_in_a_slash_and_a_repository_listed_twice_counts_once() -> None:
    given = {
        "MQBOT_API_URL": "http://127.0.0.1:8401/v1/\r",
        "SLACK_API_URL": "http://127.0.0.1:8400/api",
        "MQBOT_REPOSITORIES": "acme/site,acme/api,ACME/Site,acme/site",
    }
    settings = settings_in({**ENOUGH, **given}, RunSettings)
    assert settings.api_url == "http://127.0.0.1:8401/v1"
    assert settings.slack_api_url == "http://127.0.0.1:8400/api/"
    assert settings.repositories == ("acme/site", "acme/api")


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    lines = [f'{name} = "{value}"' for name, value in ENOUGH.items()]
    lines += ['MQBOT_COMMAND = "/from-file"', "MQBOT_POLL_SECONDS = 30"]
    given = {**in_file(tmp_path, "\n".join(lines)), "MQBOT_COMMAND": "/from-environment"}
    settings = settings_in(given, RunSettings)
    assert settings.command == "/from-environment"
    assert settings.poll_seconds == 30
    assert settings.repositories == ("acme/site",)


def test_a_missing_or_invalid_settings_file_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    said = f"there is no file {missing}; name a settings file"
    assert problems(MQBOT_CONFIG=str(missing)) == {"MQBOT_CONFIG": said}
    folder = problems(MQBOT_CONFIG=str(tmp_path))["MQBOT_CONFIG"]
    assert folder == f"{tmp_path} is a folder; name a settings file"
    device = problems(MQBOT_CONFIG="/dev/null")["MQBOT_CONFIG"]
    assert device == "/dev/null isn't a plain file; name a settings file"
    broken = problems(**in_file(tmp_path, "MQBOT_COMMAND ="))
    assert "isn't valid TOML" in broken["MQBOT_CONFIG"]
    # There, and not to be read by anybody, root included.
    assert list(problems(MQBOT_CONFIG="/proc/self/mem")) == ["MQBOT_CONFIG"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"MQBOT_POLL_SECONDS": "soon"}, "not a number. It takes: "),
        ({"MQBOT_POLL_SECONDS": "nan"}, "more than 3,600. It takes: "),
        ({"MQBOT_POLL_SECONDS": "0"}, "less than 1"),
        ({"MQBOT_POLL_SECONDS": "1e9"}, "more than 3,600"),
        ({"MQBOT_RETENTION_DAYS": "1.5"}, "not a whole number"),
        ({"MQBOT_RETENTION_DAYS": "9" * 5000}, "not a whole number"),
        ({"MQBOT_HEALTH_PORT": "http"}, "not a whole number"),
        ({"MQBOT_DEPRECATED_PAUSE": "perhaps"}, "neither true nor false"),
        ({"MQBOT_LOG_LEVEL": "LOUD"}, "not such a value. It takes: DEBUG, INFO, WARNING or ERROR"),
        ({"SLACK_BOT_TOKEN": "", "SLACK_TOKEN": "xoxb-1"}, "did you misspell it as SLACK_TOKEN?"),
        (
            {"SLACK_BOT_TOKEN": "", "SLACK_BOTTOKEN": "xoxb-1"},
            "did you misspell it as SLACK_BOTTOKEN?",
        ),
        (
            {"SLACK_BOT_TOKEN": "", "MQBOT_SLACK_BOT_TOKEN": "xoxb-1"},
            "did you misspell it as MQBOT_SLACK_BOT_TOKEN?",
        ),
        ({"MQBOT_API_TOKEN": "", "API_TOKEN": "x"}, "did you misspell it as API_TOKEN?"),
        ({"MQBOT_API_URL": "", "MQBOT_APIURL": "x"}, "is misspelled as MQBOT_APIURL"),
        (
            {"MQBOT_CONFIG_FILE": "x"},
            "is misspelled as MQBOT_CONFIG_FILE. It takes: the path of the ",
        ),
        (
            {"MQBOT_CONFG": "x"},
            "is misspelled as MQBOT_CONFG. It takes: the path of the settings file",
        ),
        (
            {"SLACK_BOT_TOKEN": "", "slack_bot_token": "x"},
            "did you misspell it as slack_bot_token?",
        ),
        ({"MQBOT_API_URL": "https://queue.example"}, "an address that doesn't end in /v1. "),
        ({"MQBOT_API_URL": "queue.example/v1"}, "begins with neither https:// nor http://. "),
        ({"SLACK_BOT_TOKEN": "xapp-1"}, "an app-level token, which belongs in SLACK_APP_TOKEN. "),
        ({"SLACK_APP_TOKEN": "xoxb-1"}, "a bot token, which belongs in SLACK_BOT_TOKEN. "),
        ({"SLACK_SIGNING_SECRET": "xoxb-1"}, "a bot token, which belongs in SLACK_BOT_TOKEN. "),
        ({"MQBOT_API_TOKEN": "xoxb-1"}, "a bot token, which belongs in SLACK_BOT_TOKEN. "),
        ({"SLACK_BOT_TOKEN": "xoxp-1"}, "a person's token of Slack. "),
        ({"SLACK_BOT_TOKEN": "xoxe.xoxp-1"}, "a token of Slack that configures apps. "),
        ({"SLACK_BOT_TOKEN": "0a" * 16}, "a signing secret, which belongs in SLACK_SIGNING_SECRET"),
        ({"SLACK_BOT_TOKEN": '"xoxb-1"'}, "in quotation marks; leave them out. "),
        ({"SLACK_BOT_TOKEN": "xoxb-…"}, "a placeholder for the token. "),
        ({"MQBOT_API_TOKEN": "Bearer abc"}, "after the word Bearer; leave the word out. "),
        ({"MQBOT_API_URL": "'https://queue.example/v1'"}, "in quotation marks; leave them out. "),
        ({"MQBOT_POLL_SECONDS": '"10"'}, "in quotation marks; leave them out. "),
        ({"MQBOT_WHO_MAY_PAUSE": "“everyone”"}, "in quotation marks; leave them out. "),
        ({"DATABASE_URL": '"sqlite:////bot.sqlite3"'}, "in quotation marks; leave them out. "),
        ({"MQBOT_WHO_MAY_READ": "alice"}, "the form of MQBOT_WHO_MAY_PAUSE"),
        ({"PORT": "http"}, "It takes: port that mqbot web listens on, "),
        ({"MQBOT_REPOSITORIES": "https://github.com/acme/site.git"}, "write acme/site. "),
        ({"MQBOT_REPOSITORIES": "acme/site acme/api"}, "separate repositories by commas. "),
        ({"MQBOT_REPOSITORIES": "acme/*"}, "name each repository, without a pattern. "),
        ({"MQBOT_REPOSITORIES": '["acme/site"]'}, "without brackets and quotation marks. "),
        ({"MQBOT_CHANNELS": "acme/site=#releases"}, "; a channel's id is at the end of its "),
        ({"MQBOT_CHANNELS": "acme/site=C123,acme/site=C456"}, "separate them by semicolons. "),
        ({"MQBOT_CHANNELS": "acme/stie=C123"}, "; did you mean acme/site? It takes: "),
        ({"MQBOT_WHO_MAY_PAUSE": "@releasers"}, "Slack has it as Copy member ID in a profile"),
    ],
)
def test_what_is_wrong_is_said_in_our_words(given: dict[str, str], said: str) -> None:
    (problem,) = problems(**given).values()
    assert said in problem
    assert not re.search(r"`|\]\(|[Ii]nput should|validation|parse", problem)


@pytest.mark.parametrize("end", ["\r", " ", "\t", "\r\n"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MQBOT_LOG_LEVEL", "DEBUG"),
        ("MQBOT_LOG_FORMAT", "json"),
        ("MQBOT_HEALTH_HOST", "0.0.0.0"),
        ("MQBOT_COMMAND", "/queue"),
        ("MQBOT_ALLOW_HTTP", "true"),
        ("DATABASE_URL", "sqlite:////bot.sqlite3"),
    ],
)
def test_what_nobody_sees_behind_a_value_is_no_part_of_it(name: str, value: str, end: str) -> None:
    """A line end of Windows, or a space from copying."""
    typed = settings_in({**ENOUGH, name: value + end}, RunSettings)
    assert typed == settings_in({**ENOUGH, name: value}, RunSettings)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("MQBOT_COMMAND = ", "isn't valid TOML at end of document"),
        ("[[[", "isn't valid TOML at line 1, column"),
        ('a = "\\q"', "isn't valid TOML at line 1, column"),
        ("a = 1\na = 2\nb = 3", "isn't valid TOML at line 2, column"),
        ("MQBOT_COMMAND = /mq", "column 17 (MQBOT_COMMAND); put text into quotation marks"),
        ("SLACK_BOT_TOKEN = xoxb-hush", "column 19 (SLACK_BOT_TOKEN); put text into quotation"),
        ("MQBOT_COMMAND: '/mq'", 'write NAME = "value"'),
        (
            'MQBOT_WHO_MAY_PAUSE = ["U0ALICE"\nMQBOT_HEALTH_PORT = 8080',
            "(MQBOT_HEALTH_PORT); close the bracket of a value before it",
        ),
        (
            'MQBOT_WHO_MAY_PAUSE = [\n  "U0ALICE",\n\nMQBOT_COMMAND = "/mq"',
            "line 4, column 1 (MQBOT_COMMAND); close the bracket of a value before it",
        ),
        ("export MQBOT_COMMAND='/mq'", "remove the word export"),
        ("MQBOT_COMMAND = “/mq”", "use straight quotation marks"),
        ("a = 1\na = 2", "appears twice: remove one of them"),
        ("[a]\n[a]", "appears twice: remove one of them"),
        ("MQBOT_GROUPS = [\n'a'", "see that quotation marks, brackets and commas are complete"),
        ("poll_seconds = 5\nPOLL_SECONDS = 6", "is set twice in"),
        (
            "[MQBOT_GROUPS]\nrelease = 'acme/site'\nMQBOT_POLL_SECONDS = 5",
            "MQBOT_POLL_SECONDS: belongs to the table [MQBOT_GROUPS] (line 3 of ",
        ),
        ("slack_bot_toke = 'x'", "did you mean SLACK_BOT_TOKEN?"),
        ("repos = 'x'", "remove it, or correct its name"),
        ("reminder_minute = 5", "did you mean MQBOT_REMINDER_MINUTES?"),
        ("MQBOT_POLL_SECONDS = true", "not a number (line 1 of "),
        ("[MQBOT_POLICY.'acme/site']\nWHO_MAY_PAUSE = 'U1'", "It takes: who_may_pause = who may"),
        ("SLACK_API_URL = ['https://slack.com/api/']", "not text (line 1 of "),
        ("[SLACK_SIGNING_SECRET]\nvalue = 'hush'", "not text (line 1 of "),
        ("[channels]\n'acme/?' = 'C123'", "“acme/?” isn't a repository: "),
        ("MQBOT_HEALTH_PORT = false", "not a number (line 1 of "),
        ("MQBOT_RETENTION_DAYS = true", "not a number (line 1 of "),
        ("MQBOT_COMMAND = true", "not text (line 1 of "),
        ("MQBOT_POLL_SECONDS = 07:32:00", "not a number (line 1 of "),
        ("MQBOT_GROUPS = 5", "neither text nor a list of texts"),
        ("[MQBOT_GROUPS]\nrelease = ['acme/stie']", "acme/stie in the group “release” is not in"),
        ("[MQBOT_CHANNELS]\n'acme/stie' = 'C123'", "did you mean acme/site?"),
        ("[MQBOT_CHANNELS]\nC123 = 'acme/site'", "; the repository comes first"),
        ("[[MQBOT_CHANNELS]]\nchannel = 'C123'", "neither text nor a list of texts"),
        ("[MQBOT_LOGINS]\nalice-m = 'U0ALICE'", "; the Slack id comes first"),
        ("[MQBOT_WHO_MAY_PAUSE]\npeople = ['U1']", "neither text nor a list of texts"),
        ("[MQBOT_POLICY]\nreminder_minutes = 5", 'such as [MQBOT_POLICY."owner/name"]'),
        ("[MQBOT_POLICY.'acme/stie']\nhealth_depth = 5", "did you mean acme/site?"),
        ("[MQBOT_POLICY.'acme/site']\nhealth_depth = true", "health_depth: not a number (line 2"),
        (
            "[MQBOT_POLICY.'acme/site']\nsecond_person = 5",
            "It takes: second_person = true or false: whether it takes two people",
        ),
        ("who_may_paus = 'x'", "did you mean MQBOT_WHO_MAY_PAUSE?"),
        ("[POLICYS.all]", "did you mean MQBOT_POLICY?"),
        ("[MQBOT_POLICY.all]\nreminder_minuts = 5", "did you mean reminder_minutes?"),
        ("[MQBOT_POLICY.all]\nMQBOT_REMINDER_MINUTES = 5", "did you mean reminder_minutes?"),
        ("[MQBOT_POLICY.all]\nsecond_person = 'maybe'", "neither true nor false"),
        ("[MQBOT_POLICY.all]\nhealth_depth = 1.5", "not a whole number"),
        ("[MQBOT_POLICY.all]\nalert_mention = 'oncall'", "“oncall” isn't the id of a user group"),
        ("[MQBOT_POLICY.all]\nalert_mention = 5", "not text"),
        ("[MQBOT_WINDOW.w]\nstart = '0 9 * * 1'", "did you mean starts?"),
        ("MQBOT_POLICY = 'x'", "not tables of the file"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_in_our_words(
    tmp_path: Path, lines: str, said: str
) -> None:
    found = " | ".join(
        f"{name}: {text}" for name, text in problems(**in_file(tmp_path, lines)).items()
    )
    assert said in found
    assert "hush" not in found
    assert not re.search(r"`|\]\(|[Ii]nput should|validation|parse|Expected|Invalid", found)


def test_a_file_of_other_bytes_is_no_text_file(tmp_path: Path) -> None:
    path = tmp_path / "mqbot.toml"
    path.write_bytes(b"MQBOT_COMMAND = '\xff'")
    assert "isn't a text file" in problems(MQBOT_CONFIG=str(path))["MQBOT_CONFIG"]


def test_no_representation_shows_secrets() -> None:
    settings = settings_in(
        {**ENOUGH, "DATABASE_URL": "postgresql://u:sesame@db/mqbot"}, RunSettings
    )
    shown = f"{settings!r} {settings} {settings.model_dump()}"
    for secret in ("mq-application-key", "xoxb-bot", "xapp-app", "sesame"):
        assert secret not in shown


def test_the_database_address_needs_no_other_variable() -> None:
    with only_environment({"DATABASE_URL": "sqlite:///here.db", "MQBOT_WHO_MAY_PAUS": "U1"}):
        assert load_database_url() == "sqlite:///here.db"
    with only_environment({}):
        assert load_database_url() == default_database_url()


def test_every_setting_describes_its_values() -> None:
    for name in Settings.model_fields:
        assert description(variable(name)), name
        assert variable(name).isupper(), name


def test_the_operator_assigns_logins_in_the_setting_or_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "logins.csv"
    path.write_text("# Slack, code host\nU0ALICE,alice-m\n\nW0BOB = ci[bot]\n", "utf-8")
    for given in ("U0ALICE=alice-m, W0BOB=ci[bot],", f"@{path}"):
        settings = settings_in({**ENOUGH, "MQBOT_LOGINS": given}, RunSettings)
        assert settings.logins == (("U0ALICE", "alice-m"), ("W0BOB", "ci[bot]"))


@pytest.mark.parametrize(
    ("login", "is_a_bots"),
    [
        ("dependabot[bot]", True),
        ("Dependabot[Bot]", True),
        ("anything-at-all[bot]", True),
        ("dependabot", True),
        ("Renovate", True),
        ("mergify", True),
        ("github-actions", True),
        ("acme-release-bot", True),
        ("abbot", False),
        ("bot", False),
        ("bot-lover", False),
        ("renovate-fan", False),
        ("alice-m", False),
        ("", False),
    ],
)
def test_bots_are_known_by_their_logins(login: str, *, is_a_bots: bool) -> None:
    assert (login in BotLogins(settings_in(ENOUGH, RunSettings).bot_logins)) is is_a_bots


def test_an_operator_says_which_logins_are_bots() -> None:
    settings = settings_in(
        {**ENOUGH, "MQBOT_BOT_LOGINS": "Ci[bot], *.Robot,acme-sync"}, RunSettings
    )
    bots = BotLogins(settings.bot_logins)
    expected = {"ci": True, "any.robot": True, "ACME-sync": True, "x-bot": False, "x[bot]": True}
    assert {one: one in bots for one in expected} == expected


@pytest.mark.parametrize("given", ["*", "*bot", "**-bot", "a*b", "a b", "-bot"])
def test_a_word_that_may_mean_people_is_no_bots_login(given: str) -> None:
    assert list(problems(MQBOT_BOT_LOGINS=given)) == ["MQBOT_BOT_LOGINS"]


@pytest.mark.parametrize(
    "given", ["alice=alice-m", "U0ALICE", "U0ALICE=a b", "U0ALICE=a,U0BOB=A", "U0BOB=a,U0BOB=b"]
)
def test_unreadable_or_repeated_logins_are_refused(given: str) -> None:
    assert list(problems(MQBOT_LOGINS=given)) == ["MQBOT_LOGINS"]


def test_thousands_of_repositories_are_read_from_a_file_whose_faults_are_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "repositories.txt"

    def problem() -> str:
        return problems(MQBOT_REPOSITORIES=f"@{path}")["MQBOT_REPOSITORIES"]

    assert f"{path} can't be read (No such file or directory)" in problem()
    path.write_bytes(b"\xff\xfe")
    assert "isn't a text file" in problem()
    path.write_text("acme/site\nacme\n")
    assert "“acme” isn't a repository" in problem()

    names = [f"acme/repository-{number}" for number in range(8000)]
    path.write_text("# all of ours\n\n" + "\n".join(f"{name}  # a remark" for name in names))
    settings = settings_in({**ENOUGH, "MQBOT_REPOSITORIES": f"@{path}"}, RunSettings)
    assert list(settings.repositories) == names


@contextmanager
def named_pipe(path: Path, content: str) -> Iterator[None]:
    """A pipe at that path, into which somebody writes once."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=[content], daemon=True)
    writer.start()
    yield
    # Lets the writer go, if nobody has read.
    if writer.is_alive():
        with path.open("rb"):
            writer.join()


def test_a_list_is_not_read_from_a_pipe_or_a_device_which_could_block_a_reload(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "list"
    for setting, content in (("MQBOT_REPOSITORIES", "acme/site"), ("MQBOT_LOGINS", "U0A=alice")):
        with named_pipe(pipe, content):
            found = problems(**{setting: f"@{pipe}"})
        assert f"{pipe} isn't a plain file" in found[setting]
    found = problems(MQBOT_REPOSITORIES="@/dev/null, acme/site")
    assert "/dev/null isn't a plain file" in found["MQBOT_REPOSITORIES"]
    found = problems(MQBOT_REPOSITORIES=f"@{tmp_path}")
    assert f"{tmp_path} can't be read (Is a directory)" in found["MQBOT_REPOSITORIES"]


def test_the_old_name_of_a_repository_is_not_searched_in_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "list"
    given = {**ENOUGH, "MQBOT_REPOSITORIES": f"@{pipe}"}
    with named_pipe(pipe, "acme/site"), only_environment(given):
        assert mentions("acme/site") == [f"{pipe}, which can't be read here"]


SECRETS = (
    ("DATABASE_URL", "database_url", "postgresql://bot:sesame@db/mq bot"),
    ("MQBOT_API_TOKEN", "api_token", "mq-other-key"),
    ("SLACK_BOT_TOKEN", "slack_bot_token", "xoxb-2-other"),
    ("SLACK_APP_TOKEN", "slack_app_token", "xapp-2-other"),
    ("SLACK_SIGNING_SECRET", "slack_signing_secret", "8f742231b10e8888"),
)


@pytest.mark.parametrize(("variable", "field", "secret"), SECRETS)
def test_a_secret_can_come_from_a_file(
    variable: str, field: str, secret: str, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    in_toml = in_file(tmp_path, f'{variable}_FILE = "{file}"')
    for end in ("", "\n", "\r\n"):
        file.write_bytes(f"{secret}{end}".encode())
        for given in ({f"{variable}_FILE": str(file)}, in_toml):
            settings = settings_in({**ENOUGH, variable: "", **given}, RunSettings)
            assert getattr(settings, field).get_secret_value() == secret


HOSTILE = {
    "empty": b"",
    "a line break": b"\n",
    "blanks": b" \t \n",
    "two lines": b"xoxb-hush\nxoxb-hush\n",
    "two words": b"xoxb-hush hush",
    "a null byte": b"xoxb-hush\0hush",
    "a null byte at the end": b"xoxb-hush\0",
    "an escape sequence": b"xoxb-hush\x1b[2J",
    "no UTF-8": b"xoxb-hush\xff",
    "a byte order mark": b"\xef\xbb\xbfxoxb-hush",
    "a megabyte": b"xoxb-" + b"hush" * 300_000,
}


@pytest.mark.parametrize("content", HOSTILE)
def test_a_file_without_one_secret_is_refused_in_one_line(content: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_bytes(HOSTILE[content])
    for name, _, _ in SECRETS:
        # The path of a SQLite file may have blanks.
        if (name, content) != ("DATABASE_URL", "two words"):
            found = problems(**{name: "", f"{name}_FILE": str(file)})
            assert list(found) == [f"{name}_FILE"]
            assert found[f"{name}_FILE"].isprintable()
            assert "hush" not in found[f"{name}_FILE"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("mq-secret-in-place-of-a-path", "can't be read (No such file or directory)"),
        ("/dev/null/secret", "can't be read (Not a directory)"),
        ("/", "can't be read (Is a directory)"),
        ("/proc/self/mem", "can't be read (Input/output error)"),
        ("/dev/zero", "give the path of one that holds the secret and nothing else"),
        ("x" * 5000, "can't be read (File name too long)"),
    ],
)
def test_a_wrong_secret_path_is_not_repeated(path: str, why: str) -> None:
    found = problems(MQBOT_API_TOKEN="", MQBOT_API_TOKEN_FILE=path)
    assert list(found) == ["MQBOT_API_TOKEN_FILE"]
    assert why in found["MQBOT_API_TOKEN_FILE"]
    assert path == "/" or path not in found["MQBOT_API_TOKEN_FILE"]


def test_a_pipe_is_read_like_a_file() -> None:
    """As `MQBOT_API_TOKEN_FILE=<(pass show mqbot)` names one."""
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(b"mq-in-a-pipe\n")

    later = threading.Timer(0.2, write)
    later.start()
    given = {**ENOUGH, "MQBOT_API_TOKEN": "", "MQBOT_API_TOKEN_FILE": f"/dev/fd/{reading}"}
    settings = settings_in(given, Settings)
    later.join()
    os.close(reading)
    assert settings.api_token.get_secret_value() == "mq-in-a-pipe"


def test_a_pipe_in_place_of_a_secrets_file_is_refused_by_a_reload(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("mq-first")
    given = {**ENOUGH, "MQBOT_API_TOKEN": "", "MQBOT_API_TOKEN_FILE": str(file)}
    with only_environment(given):
        settings = load_settings(Settings)
        files = settings_files(settings)
        with named_pipe(file, "mq-second"), pytest.raises(ConfigurationError) as raised:
            reload_settings(settings, files)
        assert "no plain text file" in raised.value.problems["MQBOT_API_TOKEN_FILE"]
        file.unlink()
        file.symlink_to("/dev/null")
        with pytest.raises(ConfigurationError) as raised:
            reload_settings(settings, files)
        assert "no plain text file" in raised.value.problems["MQBOT_API_TOKEN_FILE"]


@pytest.mark.parametrize("path", ["x" * 300, "/proc/self/mem/x", "\0"])
def test_a_reload_refuses_a_path_that_no_file_can_have(path: str, tmp_path: Path) -> None:
    """Typed into the settings file while the bot runs."""
    first = in_file(tmp_path, f'MQBOT_API_TOKEN_FILE = "{tmp_path}/key"')
    (tmp_path / "key").write_text("mq-first")
    with only_environment({**ENOUGH, "MQBOT_API_TOKEN": "", **first}):
        settings = load_settings(Settings)
        files = settings_files(settings)
        in_file(tmp_path, f"MQBOT_API_TOKEN_FILE = {json.dumps(path)}")
        with pytest.raises(ConfigurationError) as raised:
            reload_settings(settings, files)
    assert list(raised.value.problems) == ["MQBOT_API_TOKEN_FILE"]


def test_a_path_with_a_null_byte_and_a_secret_set_twice_are_refused(tmp_path: Path) -> None:
    toml = in_file(tmp_path, 'SLACK_BOT_TOKEN_FILE = "/run/\\u0000"')
    assert list(problems(SLACK_BOT_TOKEN="", **toml)) == ["SLACK_BOT_TOKEN_FILE"]
    said = "is set together with SLACK_BOT_TOKEN; remove one of the two"
    toml = in_file(tmp_path, 'SLACK_BOT_TOKEN_FILE = "/run/secrets/slack"')
    assert problems(**toml) == {"SLACK_BOT_TOKEN_FILE": said}
    assert problems(SLACK_BOT_TOKEN_FILE="/run/x") == {"SLACK_BOT_TOKEN_FILE": said}


def test_problems_with_files_are_reported_with_all_others() -> None:
    found = problems(
        MQBOT_API_TOKEN="",
        MQBOT_API_TOKEN_FILES="/run/x",
        SLACK_BOT_TOKEN="",
        SLACK_BOT_TOKEN_FILE="/nowhere",
        MQBOT_POLL_SECONDS="0",
    )
    assert {"SLACK_BOT_TOKEN_FILE", "MQBOT_POLL_SECONDS"} <= set(found)
    assert found["MQBOT_API_TOKEN_FILE"].startswith(
        "is misspelled as MQBOT_API_TOKEN_FILES. It takes: "
    )


def test_each_machine_has_a_token_of_its_own() -> None:
    tokens = f"deploy-job={'d' * 24};\nnightly={'n' * 20}=+/.;"
    environ = {**ENOUGH, "MQBOT_MACHINE_TOKENS": tokens, "MQBOT_HEALTH_PORT": "8080"}
    settings = settings_in(environ, RunSettings)
    machines = {machine.secret.get_secret_value(): machine.machine for machine in settings.machines}
    assert machines == {"d" * 24: "deploy-job", f"{'n' * 20}=+/.": "nightly"}
    assert secrets_of(settings) > set(machines)


def test_a_machine_and_the_signing_secret_may_have_two_values_at_once(tmp_path: Path) -> None:
    old = "o" * 24
    new = "n" * 24
    other = "x" * 24
    in_text = f"deploy-job={new}; deploy-job={old}  until 2030-01-31\nnightly={other}"
    environ = {**ENOUGH, "MQBOT_HEALTH_PORT": "8080", "MQBOT_MACHINE_TOKENS": in_text}
    environ["SLACK_SIGNING_SECRET"] = "secret-of-before until 2030-01-31;secret-of-now"
    table = f"""SLACK_SIGNING_SECRET = ["secret-of-before until 2030-01-31", "secret-of-now"]
[machine_tokens]
deploy-job = ["{new}", "{old} until 2030-01-31"]
nightly = "{other}"
"""
    from_file = {**ENOUGH, "MQBOT_HEALTH_PORT": "8080", **in_file(tmp_path, table)}
    end = date(2030, 1, 31)
    for given in (environ, from_file):
        settings = settings_in(given, RunSettings)
        assert [
            (one.entry, one.machine, one.secret.get_secret_value(), one.last_day)
            for one in (*settings.machines, *settings.signing_secrets)
        ] == [
            (1, "deploy-job", new, None),
            (2, "deploy-job", old, end),
            (3, "nightly", other, None),
            (1, "", "secret-of-before", end),
            (2, "", "secret-of-now", None),
        ]
        assert secrets_of(settings) > {old, new, other, "secret-of-before", "secret-of-now"}
        (first, *_) = settings.signing_secrets
        at = datetime(2030, 1, 31, 23, 59, tzinfo=UTC)
        assert first.counts(at)
        assert first.days_left(at) == 0
        assert not first.counts(at + timedelta(minutes=1))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("secret-1,secret-2", "entry 1 has a comma; write two secrets as NEW;OLD until 20"),
        ("secret-1 secret-2", "entry 1 is not one word; write two secrets as NEW;OLD until 20"),
        ("secret-1 until soon;secret-2", "entry 1 has no such last day"),
        ("secret-1;secret-2 until 2030-02-30", "entry 2 has no such last day"),
        ("secret-1;secret-1 until 2030-01-31", "entry 2 repeats an earlier one"),
        ("secret-1;secret-2;secret-3", "entry 3 is the third; remove"),
        ("secret-1 until 2030-01-31", "each secret has a last day"),
        ("secret-1;xoxb-secret", "in entry 2: a bot token, which belongs in SLACK_BOT_TOKEN"),
        ('"secret-1"', "a value in quotation marks; leave them out"),
        (";", "no secret is given"),
    ],
)
def test_unusable_signing_secrets_are_refused_without_showing_them(given: str, why: str) -> None:
    found = problems(SLACK_SIGNING_SECRET=given)
    assert found["SLACK_SIGNING_SECRET"].startswith(why)
    assert not any(f"secret-{number}" in str(found) for number in (1, 2, 3))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("deploy-job", "entry 1 is not name=token"),
        (
            f"a={'x' * 24};deploy-job=short-secret",
            "the token of entry 2 has fewer than 24 characters",
        ),
        (f"Deploy={'x' * 24}", "entry 1 is not name=token; a machine's name has up to 40 of a-z"),
        (f"Deploy Job={'x' * 24}", "entry 1 is not name=token"),
        (f"a={'x' * 24};b={'x' * 24}", "entry 2 repeats an earlier one"),
        (
            f"b={'y' * 24};a={'x' * 24},{'y' * 24}",
            "entry 2 has a comma; write two tokens of one machine as name=NEW;name=OLD until 20",
        ),
        (f"a={'x' * 24} {'y' * 24}", "entry 1 is not name=token"),
        (f"a={'x' * 24} until today", "entry 1 has no such last day"),
        (f"a={'x' * 24};a={'y' * 24};a={'z' * 24}", "entry 3 is the third of its machine"),
    ],
)
def test_unusable_tokens_of_machines_are_refused_without_showing_them(given: str, why: str) -> None:
    found = problems(MQBOT_MACHINE_TOKENS=given, MQBOT_HEALTH_PORT="8080")
    assert found["MQBOT_MACHINE_TOKENS"].startswith(why)
    assert not any(word in str(found) for word in ("secret", "xxx", "yyy"))


def test_machines_need_the_port_that_they_ask() -> None:
    found = problems(MQBOT_MACHINE_TOKENS=f"deploy-job={'d' * 24}")
    assert "set MQBOT_HEALTH_PORT too" in found["MQBOT_MACHINE_TOKENS"]
    # A wrong port is one mistake, not two.
    found = problems(MQBOT_MACHINE_TOKENS=f"deploy-job={'d' * 24}", MQBOT_HEALTH_PORT="80800")
    assert found.keys() == {"MQBOT_HEALTH_PORT"}
    settings_in({**ENOUGH, "MQBOT_MACHINE_TOKENS": f"deploy-job={'d' * 24}"}, Settings)


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
    settings = settings_in({**ENOUGH, "MQBOT_WHO_MAY_PAUSE": given}, Settings)
    assert settings.who_may_pause == meant


@pytest.mark.parametrize(
    "given", ["alice", "@releasers", "everyone,U0ALICE", "C0MERGEQ", ",", "U", "machine:"]
)
def test_anything_else_is_refused_and_allows_nobody_by_mistake(given: str) -> None:
    assert "resume: everyone (" in problems(MQBOT_WHO_MAY_PAUSE=given)["MQBOT_WHO_MAY_PAUSE"]


def test_a_folder_that_may_not_be_looked_into_hides_no_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refuse)
    with only_environment(ENOUGH):
        assert unused_file() is None


def test_a_machine_with_capitals_reads_how_machines_are_called() -> None:
    found = problems(MQBOT_WHO_MAY_PAUSE="machine:Deploy")["MQBOT_WHO_MAY_PAUSE"]
    assert "; a machine's name has up to 40 of a-z, 0-9, ., _ and -" in found
    assert "Copy member ID" not in found


def test_the_settings_file_does_not_name_itself(tmp_path: Path) -> None:
    given = in_file(tmp_path, 'MQBOT_CONFIG = "mqbot.toml"\n')
    said = f"belongs in the environment (line 1 of {given['MQBOT_CONFIG']}); "
    assert problems(**given) == {"MQBOT_CONFIG": f"{said}remove it from the file"}


async def test_the_demo_which_has_no_settings_file_never_reloads() -> None:
    applied: list[Settings] = []

    async def apply(settings: Settings) -> None:
        applied.append(settings)

    reloading = Reloading(GivenSettings.model_validate(ENOUGH), apply)
    for _ in range(3):
        await reloading.run()
    assert reloading.is_valid
    assert applied == []
