"""Loads the settings from the environment, then a TOML file; files may hold the secrets."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import TomlConfigSettingsSource

from bot.config.secret_files import SUFFIX, read_secret_files, secret_variables
from bot.config.settings import (
    CONFIG_FILE,
    DatabaseSettings,
    GivenSettings,
    RunSettings,
    Settings,
    WebSettings,
    default_database_url,
)
from bot.domain.errors import ConfigurationError

__all__ = [
    "CONFIG_FILE",
    "GivenSettings",
    "RunSettings",
    "Settings",
    "WebSettings",
    "default_database_url",
    "load_database_url",
    "load_settings",
]

PREFIX = "MQBOT_"

NEARLY = 0.88
"""How alike two names are of which one is a typo. What Kubernetes sets for a service called mqbot
(`MQBOT_PORT`, `MQBOT_SERVICE_HOST`) reaches 0.8 at most."""

Loaded = TypeVar("Loaded", bound=DatabaseSettings)


def load_settings(kind: type[Loaded]) -> Loaded:
    """The settings of this kind, from the environment and the file in MQBOT_CONFIG.

    Raises ConfigurationError with every invalid variable and what it accepts. A variable that is
    nearly a setting, and an unknown key in the file, are invalid too.
    """
    file = _file()
    return _load(kind, file, _misspelled(file))


def load_database_url() -> str:
    """Only the database's address, even if other settings are invalid."""
    return _load(DatabaseSettings, _file(), {}).database_url.get_secret_value()


def _load(kind: type[Loaded], file: Mapping[str, Any], misspelled: Mapping[str, str]) -> Loaded:
    secrets, unreadable = read_secret_files(secret_variables(kind), {**file, **_environment()})
    problems = {**unreadable, **misspelled}
    try:
        loaded = kind.model_validate(secrets)
    except ValidationError as error:
        found = {}
        for one in error.errors():
            name = str(one["loc"][0])
            if name in secrets:
                found[name + SUFFIX] = f"its content is {_sentence(name, one)}"
            elif name + SUFFIX not in unreadable:
                found[name] = _sentence(name, one)
        raise ConfigurationError({**found, **problems}) from None
    if problems:
        raise ConfigurationError(problems)
    return loaded


def _environment() -> Mapping[str, str]:
    """The environment, where an empty variable counts as absent."""
    return {name: value for name, value in os.environ.items() if value}


def _file() -> Mapping[str, Any]:
    """The content of the file in MQBOT_CONFIG."""
    path = os.environ.get(CONFIG_FILE)
    if not path:
        return {}
    try:
        if not Path(path).is_file():
            raise ConfigurationError({CONFIG_FILE: f"there is no file {path}"})
        return TomlConfigSettingsSource(DatabaseSettings, path)()
    except OSError as error:
        raise ConfigurationError({CONFIG_FILE: f"{path} can't be read: {error.strerror}"}) from None
    except ValueError as error:
        raise ConfigurationError({CONFIG_FILE: f"{path} isn't valid TOML: {error}"}) from None


def _misspelled(file: Mapping[str, Any]) -> Mapping[str, str]:
    """Typos, by the correct setting: one in MQBOT_WHO_MAY_PAUSE would let everybody pause.

    The environment holds names of other programs too; the file must hold settings only.
    """
    known = {str(one.validation_alias) for one in Settings.model_fields.values()}
    known |= {name + SUFFIX for name in secret_variables(Settings)}
    ours = {one for one in _environment() if one.startswith(PREFIX) and one != CONFIG_FILE}
    nearest = {
        one: get_close_matches(one, known, 1, NEARLY) for one in sorted({*ours, *file} - known)
    }
    problems = {
        near[0]: f"is written {one}. {_takes(near[0])}" for one, near in nearest.items() if near
    }
    unknown = [one for one, near in nearest.items() if not near and one in file]
    if unknown:
        path = os.environ[CONFIG_FILE]
        problems[CONFIG_FILE] = f"{path} has what is no setting: {', '.join(unknown)}"
    return problems


def _sentence(name: str, error: ErrorDetails) -> str:
    if error["type"] == "missing":
        return f"is missing. {_takes(name)}"
    why = str(error["ctx"]["error"]) if error["type"] == "value_error" else error["msg"]
    return f"{why.removesuffix('.')}. {_takes(name)}"


def _takes(name: str) -> str:
    fields = Settings.model_fields.values()
    takes = {str(one.validation_alias): one.description for one in fields}
    if name in takes:
        return f"It takes: {takes[name]}"
    return f"It takes: the path of a file that holds {name.removesuffix(SUFFIX)}"
