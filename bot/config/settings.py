"""All settings: each one's variable, accepted values and default."""

import os
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from platformdirs import user_data_path
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from typing_extensions import override

from bot.config import values
from bot.config.tables import (
    AlertMinutes,
    Depth,
    Failures,
    PolicyTable,
    ReminderMinutes,
    WindowTable,
    check_policies,
    windows,
)
from bot.domain.groups import Group, Groups, Repositories, read_groups
from bot.domain.permissions import Everyone, WhoMayPause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription

CONFIG_FILE = "MQBOT_CONFIG"

HTTP_PORT = 3000

Port = Annotated[int, Field(ge=0, le=65535)]
Seconds = Annotated[float, Field(ge=1, le=3600)]


def variable(field: str) -> str:
    """The variable, or key of the file, of a setting."""
    if field == "platform_port":
        return "PORT"
    return field.upper() if field.startswith(("database_", "slack_")) else f"MQBOT_{field.upper()}"


def default_database_url() -> str:
    """A SQLite file in the platform's data directory."""
    return f"sqlite:///{user_data_path('mqbot', appauthor=False) / 'mqbot.sqlite3'}"


class DatabaseSettings(BaseSettings):
    """The settings needed to reach the database; the environment counts before the file."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
        arbitrary_types_allowed=True,
        validate_default=False,
        case_sensitive=True,
        env_ignore_empty=True,
        enable_decoding=False,
        alias_generator=variable,
        use_attribute_docstrings=True,
        # A command fills one of these classes only.
        defer_build=True,
    )
    is_given: ClassVar = False

    database_url: Annotated[SecretStr, AfterValidator(values.one_line)] = Field(
        default_factory=lambda: SecretStr(default_database_url())
    )
    """`sqlite:///path` or `postgresql://…`; default a SQLite file in the platform's data
    directory"""

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        if cls.is_given:
            return (init_settings,)
        file = TomlConfigSettingsSource(settings_cls, os.environ.get(CONFIG_FILE))
        return init_settings, env_settings, file


class Settings(DatabaseSettings):
    """All settings; secrets show as asterisks wherever they are printed."""

    api_url: Annotated[str, BeforeValidator(values.api_url)]
    """address of the merge queue service; http or https, ends in `/v1`"""
    api_token: Annotated[SecretStr, values.token("")]
    """application key (scope `admin`) or personal access token of the service"""
    repositories: Annotated[tuple[RepositoryName, ...], BeforeValidator(values.repositories)]
    """repositories to watch: `owner/name`, comma separated; or `@/path/of/a/file` with one on each
    line"""
    channels: Annotated[tuple[Subscription, ...], BeforeValidator(values.channels)] = ()
    """subscriptions that can't be removed from Slack: `owner/name=C123:enter,merge,failure;…`;
    topics and options as for `/mq subscribe`"""
    groups: Annotated[tuple[Group, ...], BeforeValidator(read_groups)] = ()
    """named groups of repositories: `release=acme/site,acme/api;docs=acme/docs`"""
    who_may_pause: Annotated[WhoMayPause, BeforeValidator(values.who_may_pause)] = Everyone()
    """who may pause and resume: `everyone` (every full member of the workspace), or the Slack ids
    of people (`U…`, `W…`) and user groups (`S…`) and names of machines (`machine:deploy-job`),
    comma separated"""
    who_may_freeze: Annotated[WhoMayPause | None, BeforeValidator(values.who_may_pause)] = None
    """who may freeze and unfreeze; if not set, those who may pause"""
    logins: Annotated[tuple[tuple[str, str], ...], BeforeValidator(values.logins)] = ()
    """people's logins at the code host: `U123=alice-m,U456=bob`; or `@/path/of/a/file` with
    `U123=alice-m` or `U123,alice-m` on each line; a person's own `/mq link` wins"""
    poll_seconds: Seconds = 10.0
    """average seconds between two polls of a repository: about a third of it while it is busy; 1 to
    3600"""
    quiet_poll_seconds: Seconds | None = None
    """seconds between two polls of a repository after a quiet hour; 1 to 3600, default six times
    `MQBOT_POLL_SECONDS`"""
    requests_at_once: Annotated[int, Field(ge=8, le=128)] = 8
    """requests to the service at a time, in one process, one of them reserved for people; 8 to
    128"""
    reminder_minutes: ReminderMinutes = 30.0
    """minutes until the first reminder of a pause; 0 to 1440, 0 turns reminders off"""
    health_head_minutes: AlertMinutes = 90.0
    """minutes that the head of a queue may wait before an alert, pauses excluded; 0 to 10080, 0
    turns it off"""
    health_batch_minutes: AlertMinutes = 60.0
    """minutes that a batch's checks may run before an alert; 0 to 10080, 0 turns it off"""
    health_depth: Depth = 50
    """alert when more pull requests than this are queued; 0 to 100000, 0 turns it off"""
    health_failures: Failures = 5
    """alert when this many pull requests in a row fail and leave; 0 to 1000, 0 turns it off"""
    overlap_seconds: Annotated[float, Field(ge=0, le=43_200)] = 120.0
    """seconds that each poll reads again, for events that show up late; 0 to 43200"""
    backfill_minutes: Annotated[float, Field(ge=0, le=129_600)] = 0.0
    """minutes of history to post when a repository is first polled; 0 to 129600"""
    command: Annotated[str, BeforeValidator(values.command)] = "/mq"
    """the slash command, as in the manifest: `/` and up to 31 of `a-z 0-9 _ -`"""
    slack_bot_token: Annotated[SecretStr, values.token("xoxb-")]
    """the app's bot token, `xoxb-…`"""
    slack_app_token: Annotated[SecretStr | None, values.token("xapp-")] = None
    """app-level token with the scope `connections:write`, `xapp-…`; required by `mqbot run`
    alone"""
    slack_signing_secret: Annotated[SecretStr | None, values.token("")] = None
    """signing secret of the app; required by `mqbot web` alone"""
    http_host: str | None = None
    """address that `mqbot web` listens on; default `0.0.0.0` if `PORT` is set, else `127.0.0.1`"""
    http_port: Port | None = None
    """port that `mqbot web` listens on; default `PORT`, else 3000"""
    platform_port: Port | None = None
    """the same, set by platforms that read a Procfile"""
    health_host: str = "127.0.0.1"
    """address for `MQBOT_HEALTH_PORT`"""
    health_port: Port | None = None
    """port of `/healthz`, `/readyz` and `/metrics`; `mqbot web` also serves the first two beside
    Slack's path"""
    machine_tokens: Annotated[SecretStr | None, AfterValidator(values.machine_tokens)] = None
    """machines that may use `mqbot pause`, `resume` and `status`, each with its own token of at
    least 24 characters: `deploy-job=…;nightly=…`; `mqbot run` also needs `MQBOT_HEALTH_PORT`"""
    policy: Mapping[str, PolicyTable] = {}
    """in the file only: [tables](#policy) for some of the repositories"""
    window: Mapping[str, WindowTable] = {}
    """in the file only: [tables](#recurring-windows) of times without merges"""
    slack_api_url: Annotated[str, BeforeValidator(values.slack_url)] = "https://slack.com/api/"
    """address of Slack's Web API; http or https"""
    retention_days: Annotated[int, Field(ge=1, le=3650)] = 30
    """days to keep posted events and finished deliveries; 1 to 3650"""
    deprecated_pause: bool = False
    """`true` to use the deprecated pause endpoints without asking which ones exist"""
    log_level: Annotated[
        str,
        BeforeValidator(lambda value: str(value).upper()),
        Field(pattern="^(DEBUG|INFO|WARNING|ERROR)$"),
    ] = "INFO"
    """`DEBUG`, `INFO`, `WARNING` or `ERROR`"""
    log_format: Annotated[str, Field(pattern="^(text|json)$")] = "text"
    """`text` for people, `json` for machines"""

    @property
    def http_address(self) -> tuple[str, int]:
        """Host and port of HTTP mode.

        A platform that sets `PORT` routes requests to it from outside. Elsewhere a proxy stands in
        front, and nothing else needs access.
        """
        is_routed = self.platform_port is not None
        host = self.http_host or ("0.0.0.0" if is_routed else "127.0.0.1")  # noqa: S104 - see above
        ports = (self.http_port, self.platform_port, HTTP_PORT)
        return host, next(port for port in ports if port is not None)

    @property
    def machines(self) -> Mapping[str, str]:
        """The names of machines by their tokens."""
        return values.machines(self.machine_tokens) if self.machine_tokens else {}

    @field_validator("channels", "groups")
    @classmethod
    def _repositories_are_known(cls, value: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - of that setting
        if "repositories" in info.data:
            known = Repositories(info.data["repositories"])
            check = Groups if info.field_name == "groups" else values.check_channels
            check(value, known)
        return value

    @field_validator("policy", "window")
    @classmethod
    def _targets_are_known(cls, value: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - of that setting
        if {"repositories", "groups"} <= info.data.keys():
            check = windows if info.field_name == "window" else check_policies
            check(value, info.data["repositories"], info.data["groups"])
        return value


class RunSettings(Settings, use_attribute_docstrings=False):
    """Settings of `mqbot run`, which opens a connection to Slack."""

    slack_app_token: Annotated[SecretStr, values.token("xapp-")]

    @field_validator("machine_tokens")
    @classmethod
    def _machines_have_a_port(
        cls, tokens: SecretStr | None, known: ValidationInfo
    ) -> SecretStr | None:
        if tokens is not None and known.data.get("health_port") is None:
            raise ValueError("there is no port for them: set MQBOT_HEALTH_PORT too")
        return tokens


class WebSettings(Settings, use_attribute_docstrings=False):
    """Settings of `mqbot web`, which answers Slack's signed requests."""

    slack_signing_secret: Annotated[SecretStr, values.token("")]


class GivenSettings(RunSettings):
    """Settings of `mqbot demo`, which come from no environment and no file."""

    is_given = True
