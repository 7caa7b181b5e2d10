"""All settings: each one's variable, accepted values and default."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
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
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from typing_extensions import override

from bot.acts.permission import Everyone, WhoMayPause
from bot.channels.subscription import Subscription
from bot.config import values
from bot.config.file import CONFIG_FILE, SUFFIX, SettingsFile, read_settings_file
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
from bot.kernel.configured import AcceptedSecret
from bot.kernel.groups import Group, Groups, Repositories
from bot.kernel.logins import KNOWN_BOTS
from bot.kernel.proxies import is_open_http, open_http_problem
from bot.kernel.repository import RepositoryName

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
        # A command fills one of these classes only.
        defer_build=True,
    )
    is_given: ClassVar = False

    database_url: Annotated[SecretStr, AfterValidator(values.one_line)] = Field(
        default_factory=lambda: SecretStr(default_database_url())
    )
    """`sqlite:///path` or `postgresql://…`; default a SQLite file in the platform's data
    directory"""

    @field_validator("*", mode="before")
    @classmethod
    def _is_typed_cleanly(cls, value: object) -> object:
        return values.typed(value)

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
        file = InitSettingsSource(settings_cls, dict(load_file().given))
        return init_settings, env_settings, file


def load_file() -> SettingsFile:
    """The file in MQBOT_CONFIG, with nothing in it if there is none; raises ConfigurationError."""
    path = os.environ.get(CONFIG_FILE)
    if not path:
        return SettingsFile()
    known = {variable(name) for name in Settings.model_fields}
    # Only secrets can be read from files, and a wrong name is a typo all the same.
    return read_settings_file(Path(path), known | {name + SUFFIX for name in known})


class Settings(DatabaseSettings):
    """All settings; secrets show as asterisks wherever they are printed."""

    allow_http: bool = False
    """`true` to send tokens over plain http to another machine, where others could read them; this
    machine's own addresses need nothing"""
    api_url: Annotated[str, BeforeValidator(values.api_url)]
    """address of the merge queue service; http or https, ends in `/v1`"""
    api_token: Annotated[SecretStr, values.token("")]
    """application key (scope `admin`) or personal access token of the service"""
    repositories: Annotated[tuple[RepositoryName, ...], BeforeValidator(values.repositories)]
    """repositories to watch: `owner/name`, comma separated; or `@/path/of/a/file` with one on each
    line"""
    groups: Annotated[tuple[Group, ...], BeforeValidator(values.groups)] = ()
    """named groups of repositories: `release=acme/site,acme/api;docs=acme/docs,umbrella/*`;
    `all` and other groups (`@release`) stand for their repositories too"""
    channels: Annotated[tuple[Subscription, ...], BeforeValidator(values.channels)] = ()
    """subscriptions that can't be removed from Slack: `owner/name=C123:enter,merge,failure;…`;
    in place of a repository `@group`, `owner/*` or `all`; topics and options as for
    `/mq subscribe`"""
    who_may_pause: Annotated[WhoMayPause, BeforeValidator(values.who_may_pause)] = Everyone()
    """who may pause and resume: `everyone` (every full member of the workspace), or the Slack ids
    of people (`U…`, `W…`) and user groups (`S…`) and names of machines (`machine:deploy-job`),
    comma separated"""
    unverified_may_read: bool = False
    """whether people may look at queues while Slack doesn't say whether they are guests, or who
    they are: `true` or `false`; `MQBOT_WHO_MAY_READ` counts all the same, and nobody can change
    anything then"""
    who_may_read: Annotated[WhoMayPause, BeforeValidator(values.who_may_pause)] = Everyone()
    """who may use the bot at all, in the form of `MQBOT_WHO_MAY_PAUSE`; those who may do more need
    this too"""
    who_may_subscribe: Annotated[WhoMayPause, BeforeValidator(values.who_may_pause)] = Everyone()
    """who may change a channel's subscriptions, board and default repository, in the form of
    `MQBOT_WHO_MAY_PAUSE`"""
    who_may_freeze: Annotated[WhoMayPause | None, BeforeValidator(values.who_may_pause)] = None
    """who may freeze and unfreeze; if not set, those who may pause"""
    logins: Annotated[tuple[tuple[str, str], ...], BeforeValidator(values.logins)] = ()
    """people's logins at the code host: `U123=alice-m,U456=bob`; or `@/path/of/a/file` with
    `U123=alice-m` or `U123,alice-m` on each line; notifications follow a person's own `/mq link`,
    the right to remove one's own pull requests this setting or `MQBOT_LOGIN_FIELD`"""
    login_field: Annotated[str | None, BeforeValidator(values.profile_field)] = None
    """the id of a custom profile field in Slack (`Xf…`) that holds people's logins at the code
    host; gives the right to remove one's own pull requests too, so it must be a field that only
    administrators or your directory can edit"""
    bot_logins: Annotated[tuple[str, ...], BeforeValidator(values.bot_logins)] = KNOWN_BOTS
    """logins of programs, which nobody links and no message asks for anything; `*-bot` means every
    login with that ending, and `…[bot]` always counts; default the best known ones and `*-bot`"""
    poll_seconds: Seconds = 10.0
    """average seconds between two polls of a repository: about a quarter of it while it is busy; 1
    to 3600"""
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
    health_cause_minutes: AlertMinutes = 10.0
    """minutes that one cause, such as a pull request that can't advance, may keep a queue from
    merging before an alert; 0 to 10080, 0 turns it off"""
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
    slack_signing_secret: Annotated[SecretStr | None, BeforeValidator(values.signing_secret)] = None
    """signing secret of the app; required by `mqbot web` alone; two at once while you
    [rotate](operations/secrets.md#signing-secret) it: `NEW;OLD until 2030-01-31`"""
    http_host: str | None = None
    """address that `mqbot web` listens on; default `0.0.0.0` if `PORT` is set, else `127.0.0.1`"""
    http_port: Port | None = None
    """port that `mqbot web` listens on; default `PORT`, else 3000"""
    platform_port: Port | None = None
    """port that `mqbot web` listens on, set by platforms that read a Procfile"""
    health_host: str = "127.0.0.1"
    """address for `MQBOT_HEALTH_PORT`"""
    health_port: Port | None = None
    """port of `/healthz`, `/readyz` and `/metrics`; `mqbot web` also serves the first two beside
    Slack's path"""
    machine_tokens: Annotated[SecretStr | None, BeforeValidator(values.machine_tokens)] = None
    """machines that may act and read [through the bot](#machines), each with its own token of
    at least 24 characters: `deploy-job=…;nightly=…`; two at once while you
    [rotate](operations/secrets.md#machine-tokens) one: `deploy-job=NEW;deploy-job=OLD until
    2030-01-31`; `mqbot run` also needs `MQBOT_HEALTH_PORT`"""
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
    log_format: Annotated[
        str,
        BeforeValidator(lambda value: str(value).lower()),
        Field(pattern="^(text|json)$"),
    ] = "text"
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
    def machines(self) -> Sequence[AcceptedSecret]:
        """The tokens of machines, also those whose last day is over."""
        return values.machines(self.machine_tokens) if self.machine_tokens else ()

    @property
    def signing_secrets(self) -> Sequence[AcceptedSecret]:
        """The signing secrets, also those whose last day is over."""
        given = self.slack_signing_secret
        return values.signing_secrets(given) if given else ()

    @field_validator("*", mode="before")
    @classmethod
    def _only_a_switch_is_true_or_false(cls, value: object, info: ValidationInfo) -> object:
        return values.no_switch(value, cls.model_fields[str(info.field_name)].annotation)

    @field_validator("api_url", "slack_api_url")
    @classmethod
    def _no_token_is_sent_in_the_open(cls, address: str, info: ValidationInfo) -> str:
        if is_open_http(address) and not info.data.get("allow_http"):
            raise ValueError(open_http_problem(variable("allow_http")))
        return address

    @field_validator("groups")
    @classmethod
    def _repositories_are_known(
        cls, groups: tuple[Group, ...], info: ValidationInfo
    ) -> tuple[Group, ...]:
        if "repositories" in info.data:
            Groups(groups, Repositories(info.data["repositories"]))
        return groups

    @field_validator("policy", "window")
    @classmethod
    def _targets_are_known(cls, value: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 - of that setting
        if {"repositories", "groups"} <= info.data.keys():
            check = windows if info.field_name == "window" else check_policies
            check(value, info.data["repositories"], info.data["groups"])
        return value

    @field_validator("policy")
    @classmethod
    def _proposing_machines_are_known(
        cls, value: Mapping[str, PolicyTable], info: ValidationInfo
    ) -> Mapping[str, PolicyTable]:
        """A mistyped name would let the machine act by itself."""
        tokens = info.data.get("machine_tokens")
        if tokens is None:
            return value
        known = {accepted.machine for accepted in values.machines(tokens)}
        for name, table in value.items():
            for machine in table.approval or {}:
                if machine not in known:
                    names = ", ".join(sorted(known))
                    raise ValueError(
                        f"in “{name}”: no machine is called “{machine[:80]}”; "
                        f"MQBOT_MACHINE_TOKENS names {names}"
                    )
        return value


class RunSettings(Settings):
    """Settings of `mqbot run`, which opens a connection to Slack."""

    slack_app_token: Annotated[SecretStr, values.token("xapp-")]

    @field_validator("machine_tokens")
    @classmethod
    def _machines_have_a_port(
        cls, tokens: SecretStr | None, known: ValidationInfo
    ) -> SecretStr | None:
        # A port that is wrong isn't there at all, and has a complaint of its own.
        has_no_port = "health_port" in known.data and known.data["health_port"] is None
        if tokens is not None and has_no_port:
            raise ValueError("there is no port for them: set MQBOT_HEALTH_PORT too")
        return tokens


class WebSettings(Settings):
    """Settings of `mqbot web`, which answers Slack's signed requests."""

    slack_signing_secret: Annotated[SecretStr, BeforeValidator(values.signing_secret)]


class GivenSettings(RunSettings):
    """Settings of `mqbot demo`, which come from no environment and no file."""

    is_given = True
