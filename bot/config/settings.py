"""All settings: each one's variable, accepted values and default."""

from collections.abc import Mapping
from typing import Annotated, Any

from platformdirs import user_data_path
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
)

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

HTTP_PORT = 3000

Port = Annotated[int, Field(ge=0, le=65535)]
Seconds = Annotated[float, Field(ge=1, le=3600)]

FOR_RUN = (
    "app-level token with the scope `connections:write`, `xapp-…`; required by `mqbot run` alone"
)
FOR_WEB = "signing secret of the app; required by `mqbot web` alone"


def setting(variable: str, takes: str, default: object = ...) -> Any:  # noqa: ANN401 - like pydantic's Field
    """A field with its variable and a description of its values."""
    return Field(default, validation_alias=variable, description=takes)


def default_database_url() -> str:
    """A SQLite file in the platform's data directory."""
    return f"sqlite:///{user_data_path('mqbot', appauthor=False) / 'mqbot.sqlite3'}"


class DatabaseSettings(BaseModel):
    """The settings needed to reach the database."""

    # Built late, because a command fills one of these classes only.
    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True, defer_build=True)

    database_url: Annotated[SecretStr, AfterValidator(values.one_line)] = Field(
        default_factory=lambda: SecretStr(default_database_url()),
        validation_alias="DATABASE_URL",
        description=(
            "`sqlite:///path` or `postgresql://…`; "
            "default a SQLite file in the platform's data directory"
        ),
    )


class Settings(DatabaseSettings):
    """All settings; secrets show as asterisks wherever they are printed."""

    api_url: Annotated[str, BeforeValidator(values.api_url)] = setting(
        "MQBOT_API_URL", "address of the merge queue service; http or https, ends in `/v1`"
    )
    api_token: Annotated[SecretStr, values.token("")] = setting(
        "MQBOT_API_TOKEN", "application key (scope `admin`) or personal access token of the service"
    )
    repositories: Annotated[tuple[RepositoryName, ...], BeforeValidator(values.repositories)] = (
        setting(
            "MQBOT_REPOSITORIES",
            "repositories to watch: `owner/name`, comma separated; or `@/path/of/a/file` with "
            "one on each line",
        )
    )
    channels: Annotated[tuple[Subscription, ...], BeforeValidator(values.channels)] = setting(
        "MQBOT_CHANNELS",
        "subscriptions that can't be removed from Slack: "
        "`owner/name=C123:enter,merge,failure;…`; topics and options as for `/mq subscribe`",
        (),
    )
    groups: Annotated[tuple[Group, ...], BeforeValidator(read_groups)] = setting(
        "MQBOT_GROUPS",
        "named groups of repositories: `release=acme/site,acme/api;docs=acme/docs`",
        (),
    )
    who_may_pause: Annotated[WhoMayPause, BeforeValidator(values.who_may_pause)] = setting(
        "MQBOT_WHO_MAY_PAUSE",
        "who may pause and resume: `everyone` (every full member of the workspace), or the "
        "Slack ids of people (`U…`, `W…`) and user groups (`S…`) and names of machines "
        "(`machine:deploy-job`), comma separated",
        Everyone(),
    )
    who_may_freeze: Annotated[WhoMayPause | None, BeforeValidator(values.who_may_pause)] = setting(
        "MQBOT_WHO_MAY_FREEZE", "who may freeze and unfreeze; if not set, those who may pause", None
    )
    logins: Annotated[tuple[tuple[str, str], ...], BeforeValidator(values.logins)] = setting(
        "MQBOT_LOGINS",
        "people's logins at the code host: `U123=alice-m,U456=bob`; or `@/path/of/a/file` "
        "with `U123=alice-m` or `U123,alice-m` on each line; a person's own `/mq link` wins",
        (),
    )
    poll_seconds: Seconds = setting(
        "MQBOT_POLL_SECONDS",
        "average seconds between two polls of a repository: about a third of it while it is "
        "busy; 1 to 3600",
        10.0,
    )
    quiet_poll_seconds: Seconds | None = setting(
        "MQBOT_QUIET_POLL_SECONDS",
        "seconds between two polls of a repository after a quiet hour; 1 to 3600, default "
        "six times `MQBOT_POLL_SECONDS`",
        None,
    )
    requests_at_once: Annotated[int, Field(ge=8, le=128)] = setting(
        "MQBOT_REQUESTS_AT_ONCE",
        "requests to the service at a time, in one process, one of them reserved for people; "
        "8 to 128",
        8,
    )
    reminder_minutes: ReminderMinutes = setting(
        "MQBOT_REMINDER_MINUTES",
        "minutes until the first reminder of a pause; 0 to 1440, 0 turns reminders off",
        30.0,
    )
    health_head_minutes: AlertMinutes = setting(
        "MQBOT_HEALTH_HEAD_MINUTES",
        "minutes that the head of a queue may wait before an alert, pauses excluded; 0 to "
        "10080, 0 turns it off",
        90.0,
    )
    health_batch_minutes: AlertMinutes = setting(
        "MQBOT_HEALTH_BATCH_MINUTES",
        "minutes that a batch's checks may run before an alert; 0 to 10080, 0 turns it off",
        60.0,
    )
    health_depth: Depth = setting(
        "MQBOT_HEALTH_DEPTH",
        "alert when more pull requests than this are queued; 0 to 100000, 0 turns it off",
        50,
    )
    health_failures: Failures = setting(
        "MQBOT_HEALTH_FAILURES",
        "alert when this many pull requests in a row fail and leave; 0 to 1000, 0 turns it off",
        5,
    )
    overlap_seconds: Annotated[float, Field(ge=0, le=43_200)] = setting(
        "MQBOT_OVERLAP_SECONDS",
        "seconds that each poll reads again, for events that show up late; 0 to 43200",
        120.0,
    )
    backfill_minutes: Annotated[float, Field(ge=0, le=129_600)] = setting(
        "MQBOT_BACKFILL_MINUTES",
        "minutes of history to post when a repository is first polled; 0 to 129600",
        0.0,
    )
    command: Annotated[str, BeforeValidator(values.command)] = setting(
        "MQBOT_COMMAND",
        "the slash command, as in the manifest: `/` and up to 31 of `a-z 0-9 _ -`",
        "/mq",
    )
    slack_bot_token: Annotated[SecretStr, values.token("xoxb-")] = setting(
        "SLACK_BOT_TOKEN", "the app's bot token, `xoxb-…`"
    )
    slack_app_token: Annotated[SecretStr | None, values.token("xapp-")] = setting(
        "SLACK_APP_TOKEN", FOR_RUN, None
    )
    slack_signing_secret: Annotated[SecretStr | None, values.token("")] = setting(
        "SLACK_SIGNING_SECRET", FOR_WEB, None
    )
    http_host: str | None = setting(
        "MQBOT_HTTP_HOST",
        "address that `mqbot web` listens on; default `0.0.0.0` if `PORT` is set, else `127.0.0.1`",
        None,
    )
    http_port: Port | None = setting(
        "MQBOT_HTTP_PORT", "port that `mqbot web` listens on; default `PORT`, else 3000", None
    )
    platform_port: Port | None = setting(
        "PORT", "the same, set by platforms that read a Procfile", None
    )
    health_host: str = setting("MQBOT_HEALTH_HOST", "address for `MQBOT_HEALTH_PORT`", "127.0.0.1")
    health_port: Port | None = setting(
        "MQBOT_HEALTH_PORT",
        "port of `/healthz`, `/readyz` and `/metrics`; `mqbot web` also serves the first two "
        "beside Slack's path",
        None,
    )
    machine_tokens: Annotated[SecretStr | None, AfterValidator(values.machine_tokens)] = setting(
        "MQBOT_MACHINE_TOKENS",
        "machines that may use `mqbot pause`, `resume` and `status`, each with its own token "
        "of at least 24 characters: `deploy-job=…;nightly=…`; `mqbot run` also needs "
        "`MQBOT_HEALTH_PORT`",
        None,
    )
    policy: Mapping[str, PolicyTable] = setting(
        "MQBOT_POLICY", "in the file only: [tables](#policy) for some of the repositories", {}
    )
    window: Mapping[str, WindowTable] = setting(
        "MQBOT_WINDOW", "in the file only: [tables](#recurring-windows) of times without merges", {}
    )
    slack_api_url: Annotated[str, BeforeValidator(values.slack_url)] = setting(
        "SLACK_API_URL", "address of Slack's Web API; http or https", "https://slack.com/api/"
    )
    retention_days: Annotated[int, Field(ge=1, le=3650)] = setting(
        "MQBOT_RETENTION_DAYS", "days to keep posted events and finished deliveries; 1 to 3650", 30
    )
    deprecated_pause: bool = setting(
        "MQBOT_DEPRECATED_PAUSE",
        "`true` to use the deprecated pause endpoints without asking which ones exist",
        default=False,
    )
    log_level: Annotated[
        str,
        BeforeValidator(lambda value: str(value).upper()),
        Field(pattern="^(DEBUG|INFO|WARNING|ERROR)$"),
    ] = setting("MQBOT_LOG_LEVEL", "`DEBUG`, `INFO`, `WARNING` or `ERROR`", "INFO")
    log_format: Annotated[str, Field(pattern="^(text|json)$")] = setting(
        "MQBOT_LOG_FORMAT", "`text` for people, `json` for machines", "text"
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


class RunSettings(Settings):
    """Settings of `mqbot run`, which opens a connection to Slack."""

    slack_app_token: Annotated[SecretStr, values.token("xapp-")] = setting(
        "SLACK_APP_TOKEN", FOR_RUN
    )

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

    slack_signing_secret: Annotated[SecretStr, values.token("")] = setting(
        "SLACK_SIGNING_SECRET", FOR_WEB
    )


class GivenSettings(RunSettings):
    """Settings of `mqbot demo`, which come from no environment and no file."""
