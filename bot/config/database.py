"""The settings needed to reach the database, and where all settings come from."""

import os
from typing import Annotated

from platformdirs import user_data_path
from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from typing_extensions import override

from bot.config import values

CONFIG_FILE = "MQBOT_CONFIG"


def default_database_url() -> str:
    """A SQLite file in the platform's data directory."""
    return f"sqlite:///{user_data_path('mqbot', appauthor=False) / 'mqbot.sqlite3'}"


class DatabaseSettings(BaseSettings):
    """The settings needed to reach the database."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
        case_sensitive=True,
        env_ignore_empty=True,
        enable_decoding=False,
        validate_default=False,
        # A command fills one of these classes only.
        defer_build=True,
    )

    database_url: Annotated[SecretStr, AfterValidator(values.one_line)] = Field(
        default_factory=lambda: SecretStr(default_database_url()),
        validation_alias="DATABASE_URL",
        description=(
            "`sqlite:///path` or `postgresql://…`; "
            "default a SQLite file in the platform's data directory"
        ),
    )

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
        file = TomlConfigSettingsSource(settings_cls, os.environ.get(CONFIG_FILE))
        return init_settings, env_settings, file
