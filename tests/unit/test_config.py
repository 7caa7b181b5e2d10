"""Settings: valid and invalid values, and the errors."""

import os
import threading
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from bot.cli.process import secrets_of
from bot.config import load_database_url
from bot.config.settings import (
    GivenSettings,
    RunSettings,
    Settings,
    WebSettings,
    default_database_url,
    variable,
)
from bot.domain.errors import ConfigurationError
from bot.domain.permissions import Everyone, Listed, WhoMayPause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import DEFAULT_TOPICS, Subscription, SubscriptionSource
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
    settings = settings_in(ENOUGH, RunSettings)
    assert settings.api_url == "https://queue.example/v1"
    assert settings.repositories == (RepositoryName("acme/site"),)
    assert settings.channels == ()
    assert settings.poll_seconds == 10
    assert settings.command == "/mq"
    assert settings.slack_api_url == "https://slack.com/api/"
    assert settings.database_url.get_secret_value() == default_database_url()
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
    with pytest.raises(ConfigurationError, match="not such a token"):
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
    ],
)
def test_a_variable_close_to_a_setting_is_named(written: str, meant: str, tmp_path: Path) -> None:
    takes = f"is written {written}. It takes: "
    found = problems(**{written: "U123"})
    assert list(found) == [meant]
    assert found[meant].startswith(takes)
    assert problems(**in_file(tmp_path, f'{written} = "U123"')) == found


def test_a_missing_setting_is_linked_to_its_misspelling() -> None:
    found = problems(MQBOT_REPOSITORIES="", MQBOT_REPOSITORY="acme/site")
    assert list(found) == ["MQBOT_REPOSITORIES"]
    assert "is written MQBOT_REPOSITORY" in found["MQBOT_REPOSITORIES"]


def test_unknown_settings_and_wrong_values_in_the_file_are_named(tmp_path: Path) -> None:
    given = in_file(tmp_path, 'poll_seconds = 5\n[mqbot]\nMQBOT_COMMAND = "/queue"')
    said = f"{given['MQBOT_CONFIG']} has what is no setting: mqbot, poll_seconds"
    assert problems(**given) == {"MQBOT_CONFIG": said}
    assert list(problems(**in_file(tmp_path, 'MQBOT_COMMAND = "mq"'))) == ["MQBOT_COMMAND"]


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
        "MQBOT_API_URL": "http://127.0.0.1:8401/v1/",
        "SLACK_API_URL": "http://127.0.0.1:8400/api",
        "MQBOT_REPOSITORIES": "acme/site,acme/api,acme/site",
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
    assert problems(MQBOT_CONFIG=str(missing)) == {"MQBOT_CONFIG": f"there is no file {missing}"}
    broken = problems(**in_file(tmp_path, "MQBOT_COMMAND ="))
    assert "isn't valid TOML" in broken["MQBOT_CONFIG"]
    # There, and not to be read by anybody, root included.
    assert list(problems(MQBOT_CONFIG="/proc/self/mem")) == ["MQBOT_CONFIG"]


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
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert variable(name).isupper(), name


def test_the_operator_assigns_logins_in_the_setting_or_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "logins.csv"
    path.write_text("# Slack, code host\nU0ALICE,alice-m\n\nW0BOB = ci[bot]\n", "utf-8")
    for given in ("U0ALICE=alice-m, W0BOB=ci[bot],", f"@{path}"):
        settings = settings_in({**ENOUGH, "MQBOT_LOGINS": given}, RunSettings)
        assert settings.logins == (("U0ALICE", "alice-m"), ("W0BOB", "ci[bot]"))


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
    assert "“acme” is no repository" in problem()

    names = [f"acme/repository-{number}" for number in range(8000)]
    path.write_text("# all of ours\n\n" + "\n".join(f"{name}  # a remark" for name in names))
    settings = settings_in({**ENOUGH, "MQBOT_REPOSITORIES": f"@{path}"}, RunSettings)
    assert list(settings.repositories) == names


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
    assert found["MQBOT_API_TOKEN_FILE"].startswith("is written MQBOT_API_TOKEN_FILES. It takes: ")


def test_each_machine_has_a_token_of_its_own() -> None:
    tokens = f"deploy-job={'d' * 24};\nnightly={'n' * 20}=+/.;"
    environ = {**ENOUGH, "MQBOT_MACHINE_TOKENS": tokens, "MQBOT_HEALTH_PORT": "8080"}
    machines = settings_in(environ, RunSettings).machines
    assert machines == {"d" * 24: "deploy-job", f"{'n' * 20}=+/.": "nightly"}
    assert secrets_of(settings_in(environ, RunSettings)) > set(machines)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("deploy-job", "entry 1 is not name=token"),
        (f"a={'x' * 24};deploy-job=short-secret", "entry 2 is not name=token"),
        (f"Deploy Job={'x' * 24}", "entry 1 is not name=token"),
        (f"a={'x' * 24};a={'y' * 24}", "entry 2 repeats a name or a token"),
        (f"a={'x' * 24};b={'x' * 24}", "entry 2 repeats a name or a token"),
    ],
)
def test_unusable_tokens_of_machines_are_refused_without_showing_them(given: str, why: str) -> None:
    found = problems(MQBOT_MACHINE_TOKENS=given, MQBOT_HEALTH_PORT="8080")
    assert found["MQBOT_MACHINE_TOKENS"].startswith(why)
    assert not any(one in str(found) for one in ("secret", "xxx", "yyy"))


def test_machines_need_the_port_that_they_ask() -> None:
    found = problems(MQBOT_MACHINE_TOKENS=f"deploy-job={'d' * 24}")
    assert "set MQBOT_HEALTH_PORT too" in found["MQBOT_MACHINE_TOKENS"]
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
    assert "`everyone`" in problems(MQBOT_WHO_MAY_PAUSE=given)["MQBOT_WHO_MAY_PAUSE"]


async def test_the_demo_which_has_no_settings_file_never_reloads() -> None:
    apply = AsyncMock()
    reloading = Reloading(GivenSettings.model_validate(ENOUGH), apply)
    for _ in range(3):
        await reloading.run()
    assert reloading.is_valid
    apply.assert_not_awaited()
