"""All settings: each one's variable, accepted values and default."""

from collections.abc import Mapping
from typing import Annotated

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
)
from typing_extensions import override

from bot.config import values
from bot.config.database import DatabaseSettings
from bot.config.policy_tables import PolicyTables, read_policy_tables, repositories_of
from bot.config.window_tables import WindowTables, read_window_tables, windows
from bot.domain.groups import Group, Groups, Repositories, read_groups
from bot.domain.permissions import Everyone, WhoMayPause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription

HTTP_PORT = 3000

_LEVELS = "^(DEBUG|INFO|WARNING|ERROR)$"

APP_TOKEN = Field(
    validation_alias="SLACK_APP_TOKEN",
    description=(
        "app-level token with the scope `connections:write`, `xapp-…`; "
        "required by `mqbot run` alone"
    ),
)
SIGNING_SECRET = Field(
    validation_alias="SLACK_SIGNING_SECRET",
    description="signing secret of the app; required by `mqbot web` alone",
)


POLICY = Field(
    validation_alias="MQBOT_POLICY",
    description="in the file only: [tables](#policy) for some of the repositories",
)
WINDOW = Field(
    validation_alias="MQBOT_WINDOW",
    description="in the file only: [tables](#recurring-windows) of times without merges",
)
MACHINE_TOKENS = Field(
    validation_alias="MQBOT_MACHINE_TOKENS",
    description=(
        "machines that may use `mqbot pause`, `resume` and `status`, each with its own token of at "
        "least 24 characters: `deploy-job=…;nightly=…`; `mqbot run` also needs `MQBOT_HEALTH_PORT`"
    ),
)


class Settings(DatabaseSettings):
    """All settings; secrets show as asterisks wherever they are printed."""

    api_url: Annotated[str, BeforeValidator(values.api_url)] = Field(
        validation_alias="MQBOT_API_URL",
        description="address of the merge queue service; http or https, ends in `/v1`",
    )
    api_token: Annotated[SecretStr, values.token("")] = Field(
        validation_alias="MQBOT_API_TOKEN",
        description="application key (scope `admin`) or personal access token of the service",
    )
    repositories: Annotated[tuple[RepositoryName, ...], BeforeValidator(values.repositories)] = (
        Field(
            validation_alias="MQBOT_REPOSITORIES",
            description=(
                "repositories to watch: `owner/name`, comma separated; "
                "or `@/path/of/a/file` with one on each line"
            ),
        )
    )
    channels: Annotated[tuple[Subscription, ...], BeforeValidator(values.channels)] = Field(
        default=(),
        validation_alias="MQBOT_CHANNELS",
        description=(
            "subscriptions that can't be removed from Slack: "
            "`owner/name=C123:enter,merge,failure;…`; topics and options as for `/mq subscribe`"
        ),
    )
    groups: Annotated[tuple[Group, ...], BeforeValidator(read_groups)] = Field(
        default=(),
        validation_alias="MQBOT_GROUPS",
        description=("named groups of repositories: `release=acme/site,acme/api;docs=acme/docs`"),
    )
    who_may_pause: Annotated[WhoMayPause, BeforeValidator(values.who_may_pause)] = Field(
        default=Everyone(),
        validation_alias="MQBOT_WHO_MAY_PAUSE",
        description=(
            "who may pause and resume: `everyone` (every full member of the workspace), or the "
            "Slack ids of people (`U…`, `W…`) and user groups (`S…`) and names of machines "
            "(`machine:deploy-job`), comma separated"
        ),
    )
    who_may_freeze: Annotated[WhoMayPause | None, BeforeValidator(values.who_may_pause)] = Field(
        default=None,
        validation_alias="MQBOT_WHO_MAY_FREEZE",
        description="who may freeze and unfreeze; if not set, those who may pause",
    )
    logins: Annotated[tuple[tuple[str, str], ...], BeforeValidator(values.logins)] = Field(
        default=(),
        validation_alias="MQBOT_LOGINS",
        description=(
            "people's logins at the code host: `U123=alice-m,U456=bob`; or `@/path/of/a/file` "
            "with `U123=alice-m` or `U123,alice-m` on each line; a person's own `/mq link` wins"
        ),
    )
    poll_seconds: float = Field(
        default=10.0,
        ge=1,
        le=3600,
        validation_alias="MQBOT_POLL_SECONDS",
        description=(
            "average seconds between two polls of a repository: about a third of it while it is "
            "busy; 1 to 3600"
        ),
    )
    quiet_poll_seconds: float | None = Field(
        default=None,
        ge=1,
        le=3600,
        validation_alias="MQBOT_QUIET_POLL_SECONDS",
        description=(
            "seconds between two polls of a repository after a quiet hour; 1 to 3600, default six "
            "times `MQBOT_POLL_SECONDS`"
        ),
    )
    requests_at_once: int = Field(
        default=8,
        ge=8,
        le=128,
        validation_alias="MQBOT_REQUESTS_AT_ONCE",
        description=(
            "requests to the service at a time, in one process, one of them reserved for people; "
            "8 to 128"
        ),
    )
    reminder_minutes: float = Field(
        default=30.0,
        ge=0,
        le=1440,
        validation_alias="MQBOT_REMINDER_MINUTES",
        description="minutes until the first reminder of a pause; 0 to 1440, 0 turns reminders off",
    )
    health_head_minutes: float = Field(
        default=90.0,
        ge=0,
        le=10_080,
        validation_alias="MQBOT_HEALTH_HEAD_MINUTES",
        description=(
            "minutes that the head of a queue may wait before an alert, pauses excluded; 0 to "
            "10080, 0 turns it off"
        ),
    )
    health_batch_minutes: float = Field(
        default=60.0,
        ge=0,
        le=10_080,
        validation_alias="MQBOT_HEALTH_BATCH_MINUTES",
        description=(
            "minutes that a batch's checks may run before an alert; 0 to 10080, 0 turns it off"
        ),
    )
    health_depth: int = Field(
        default=50,
        ge=0,
        le=100_000,
        validation_alias="MQBOT_HEALTH_DEPTH",
        description=(
            "alert when more pull requests than this are queued; 0 to 100000, 0 turns it off"
        ),
    )
    health_failures: int = Field(
        default=5,
        ge=0,
        le=1000,
        validation_alias="MQBOT_HEALTH_FAILURES",
        description=(
            "alert when this many pull requests in a row fail and leave; 0 to 1000, 0 turns it off"
        ),
    )
    overlap_seconds: float = Field(
        default=120.0,
        ge=0,
        le=43_200,
        validation_alias="MQBOT_OVERLAP_SECONDS",
        description="seconds that each poll reads again, for events that show up late; 0 to 43200",
    )
    backfill_minutes: float = Field(
        default=0.0,
        ge=0,
        le=129_600,
        validation_alias="MQBOT_BACKFILL_MINUTES",
        description="minutes of history to post when a repository is first polled; 0 to 129600",
    )
    command: Annotated[str, BeforeValidator(values.command)] = Field(
        default="/mq",
        validation_alias="MQBOT_COMMAND",
        description="the slash command, as in the manifest: `/` and up to 31 of `a-z 0-9 _ -`",
    )
    slack_bot_token: Annotated[SecretStr, values.token("xoxb-")] = Field(
        validation_alias="SLACK_BOT_TOKEN",
        description="the app's bot token, `xoxb-…`",
    )
    slack_app_token: Annotated[SecretStr | None, values.token("xapp-"), APP_TOKEN] = None
    slack_signing_secret: Annotated[SecretStr | None, values.token(""), SIGNING_SECRET] = None
    http_host: str | None = Field(
        default=None,
        validation_alias="MQBOT_HTTP_HOST",
        description=(
            "address that `mqbot web` listens on; default `0.0.0.0` if `PORT` is set, else "
            "`127.0.0.1`"
        ),
    )
    http_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        validation_alias="MQBOT_HTTP_PORT",
        description="port that `mqbot web` listens on; default `PORT`, else 3000",
    )
    platform_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        validation_alias="PORT",
        description="the same, set by platforms that read a Procfile",
    )
    health_host: str = Field(
        default="127.0.0.1",
        validation_alias="MQBOT_HEALTH_HOST",
        description="address for `MQBOT_HEALTH_PORT`",
    )
    health_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        validation_alias="MQBOT_HEALTH_PORT",
        description=(
            "port of `/healthz`, `/readyz` and `/metrics`; `mqbot web` also serves the first two "
            "beside Slack's path"
        ),
    )
    machine_tokens: Annotated[
        SecretStr | None, AfterValidator(values.machine_tokens), MACHINE_TOKENS
    ] = None
    policy: Annotated[PolicyTables, BeforeValidator(read_policy_tables), POLICY] = ()
    window: Annotated[WindowTables, BeforeValidator(read_window_tables), WINDOW] = ()
    slack_api_url: Annotated[str, BeforeValidator(values.slack_url)] = Field(
        default="https://slack.com/api/",
        validation_alias="SLACK_API_URL",
        description="address of Slack's Web API; http or https",
    )
    retention_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        validation_alias="MQBOT_RETENTION_DAYS",
        description="days to keep posted events and finished deliveries; 1 to 3650",
    )
    deprecated_pause: bool = Field(
        default=False,
        validation_alias="MQBOT_DEPRECATED_PAUSE",
        description="`true` to use the deprecated pause endpoints without asking which ones exist",
    )
    log_level: Annotated[
        str, BeforeValidator(lambda value: str(value).upper()), Field(pattern=_LEVELS)
    ] = Field(
        default="INFO",
        validation_alias="MQBOT_LOG_LEVEL",
        description="`DEBUG`, `INFO`, `WARNING` or `ERROR`",
    )
    log_format: Annotated[str, Field(pattern="^(text|json)$")] = Field(
        default="text",
        validation_alias="MQBOT_LOG_FORMAT",
        description="`text` for people, `json` for machines",
    )

    @property
    def http_address(self) -> tuple[str, int]:
        """Host and port of HTTP mode.

        A platform that sets `PORT` routes requests to it from outside. Elsewhere a proxy stands in
        front, and nothing else needs access.
        """
        is_routed = self.platform_port is not None
        host = self.http_host or ("0.0.0.0" if is_routed else "127.0.0.1")  # noqa: S104 - see above
        for port in (self.http_port, self.platform_port):
            if port is not None:
                return host, port
        return host, HTTP_PORT

    @property
    def machines(self) -> Mapping[str, str]:
        """The names of machines by their tokens."""
        return values.machines(self.machine_tokens) if self.machine_tokens else {}

    @field_validator("channels")
    @classmethod
    def _channels_name_repositories(
        cls, channels: tuple[Subscription, ...], known: ValidationInfo
    ) -> tuple[Subscription, ...]:
        if "repositories" in known.data:
            repositories = Repositories(known.data["repositories"])
            for one in channels:
                if repositories.find(one.repository) is None:
                    raise ValueError(f"{one.repository} is not in MQBOT_REPOSITORIES")
        return channels

    @field_validator("groups")
    @classmethod
    def _groups_name_repositories(
        cls, groups: tuple[Group, ...], known: ValidationInfo
    ) -> tuple[Group, ...]:
        if "repositories" in known.data:
            Groups(groups, Repositories(known.data["repositories"]))
        return groups

    @field_validator("policy")
    @classmethod
    def _policy_names_repositories(
        cls, tables: PolicyTables, known: ValidationInfo
    ) -> PolicyTables:
        if {"repositories", "groups"} <= known.data.keys():
            for name, _ in tables:
                if not repositories_of(name, known.data["repositories"], known.data["groups"]):
                    raise ValueError(f"“{name}” is no repository or group of the settings")
        return tables

    @field_validator("window")
    @classmethod
    def _windows_name_repositories(
        cls, tables: WindowTables, known: ValidationInfo
    ) -> WindowTables:
        if {"repositories", "groups"} <= known.data.keys():
            windows(tables, known.data["repositories"], known.data["groups"])
        return tables


class RunSettings(Settings):
    """Settings of `mqbot run`, which opens a connection to Slack."""

    slack_app_token: Annotated[SecretStr, values.token("xapp-"), APP_TOKEN]

    @field_validator("machine_tokens")
    @classmethod
    def _machines_have_a_port(
        cls, tokens: SecretStr | None, known: ValidationInfo
    ) -> SecretStr | None:
        if tokens is not None and known.data.get("health_port") is None:
            raise ValueError("there is no port for them: set MQBOT_HEALTH_PORT too")
        return tokens


class WebSettings(Settings):
    """Settings of `mqbot web`, which answers Slack's signed requests."""

    slack_signing_secret: Annotated[SecretStr, values.token(""), SIGNING_SECRET]


class GivenSettings(RunSettings):
    """Settings of `mqbot demo`, which ignores the environment and its file."""

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
        return (init_settings,)
