"""Loads the settings from the environment, then a TOML file; files may hold the secrets."""

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import TomlConfigSettingsSource

from bot.config.policies import own_tokens
from bot.config.settings import (
    CONFIG_FILE,
    DatabaseSettings,
    GivenSettings,
    Settings,
    variable,
)
from bot.config.values import read_secret_file
from bot.domain.errors import ConfigurationError

PREFIX = "MQBOT_"
SUFFIX = "_FILE"
"""Ends the setting that names the file of a secret."""

NEARLY = 0.88
"""The similarity from which a name counts as a typo of another. The variables that Kubernetes sets
for a service called mqbot (`MQBOT_PORT`, `MQBOT_SERVICE_HOST`) reach 0.8 at most."""

RELOADED = (
    "repositories",
    "channels",
    "groups",
    "who_may_pause",
    "who_may_freeze",
    "logins",
    "reminder_minutes",
    "health_head_minutes",
    "health_batch_minutes",
    "health_depth",
    "health_failures",
    "policy",
    "window",
)
"""The settings that can change without a restart."""

LISTS = ("MQBOT_REPOSITORIES", "MQBOT_LOGINS")
"""The settings that can name a file with `@`."""

DESCRIPTIONS = {
    variable(name): " ".join((field.description or "").split())
    for name, field in Settings.model_fields.items()
}
"""What each variable takes."""

Loaded = TypeVar("Loaded", bound=DatabaseSettings)


def load_settings(kind: type[Loaded]) -> Loaded:
    """The settings of this kind, from the environment and the file in MQBOT_CONFIG.

    Raises ConfigurationError with every invalid variable and what it accepts. A variable that is
    nearly a setting, and an unknown key in the file, are invalid too.
    """
    file = _file()
    given = {**file, **_environment()}
    secrets, unreadable = _secrets(secret_variables(kind), given)
    misspelled = _misspelled(file) if issubclass(kind, Settings) else {}
    return _load(kind, secrets, {**unreadable, **misspelled})


def load_database_url() -> str:
    """Only the database's address, even if other settings are invalid."""
    return load_settings(DatabaseSettings).database_url.get_secret_value()


def reload_settings(settings: Settings) -> Settings:
    """The settings as the files have them now.

    A secret whose own file can't be read again, such as a pipe, stays as it is. Raises
    ConfigurationError.
    """
    file = _file()
    given = {**file, **_environment()}
    old = {variable(name): value for name, value in settings}
    secrets = {
        name: value
        for name, value in old.items()
        if isinstance(value, SecretStr) and name not in given
    }
    to_read = [name for name in secrets if _is_plain_file(given.get(name + SUFFIX))]
    readable, _ = _secrets(to_read, given)
    return _load(type(settings), {**secrets, **readable}, _misspelled(file))


def _is_plain_file(named: object) -> bool:
    return isinstance(named, str) and Path(named).is_file()


def changed_settings(old: Settings, new: Settings) -> tuple[Sequence[str], Sequence[str]]:
    """The variables that differ: those that a reload applies, and those that need a restart."""
    changed = [name for name, value in old if getattr(new, name) != value]
    reloaded = [variable(name) for name in changed if name in RELOADED]
    kept = [variable(name) for name in changed if name not in RELOADED]
    known = {old.api_token, *(one.secret for one in own_tokens(old).values())}
    tokens = own_tokens(new).values()
    kept += dict.fromkeys(one.setting for one in tokens if one.secret not in known)
    return reloaded, kept


def settings_files(settings: Settings) -> Sequence[Path]:
    """The file in MQBOT_CONFIG, those that settings name with `@`, and those of secrets."""
    if isinstance(settings, GivenSettings):
        return []
    given = {**_file(), **_environment()}
    named = [given.get(name) for name in LISTS]
    paths = [value[1:].strip() for value in named if isinstance(value, str) and value[:1] == "@"]
    secrets = [given.get(name + SUFFIX) for name in secret_variables(type(settings))]
    secrets += [table.api_token_file for table in settings.policy.values()]
    paths += [str(path) for path in secrets if _is_plain_file(path)]
    return [Path(path) for path in (given.get(CONFIG_FILE), *paths) if path]


def secret_variables(settings: type[BaseModel]) -> Iterable[str]:
    """The settings that can be read from a file."""
    for name, field in settings.model_fields.items():
        if SecretStr in {field.annotation, *get_args(field.annotation)}:
            yield variable(name)


def _secrets(
    variables: Iterable[str], given: Mapping[str, object]
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The secrets in files, and the problems with the others, by `…_FILE` variable."""
    secrets, problems = {}, {}
    for name in variables:
        named = name + SUFFIX
        if named in given and name in given:
            problems[named] = f"is set together with {name}; remove one of the two"
        elif named in given:
            try:
                secrets[name] = read_secret_file(str(given[named]))
            except ValueError as error:
                problems[named] = str(error)
    return secrets, problems


def _load(
    kind: type[Loaded], secrets: Mapping[str, str | SecretStr], problems: Mapping[str, str]
) -> Loaded:
    try:
        loaded = kind.model_validate(secrets)
    except ValidationError as error:
        found: dict[str, str] = {}
        for one in error.errors():
            name = str(one["loc"][0])
            if name in secrets:
                found.setdefault(name + SUFFIX, f"its content is {_sentence(name, one)}")
            elif name + SUFFIX not in problems:
                found.setdefault(name, _sentence(name, one))
        raise ConfigurationError({**found, **problems}) from None
    if problems:
        raise ConfigurationError(problems)
    return loaded


def _environment() -> Mapping[str, str]:
    """The environment, where an empty variable counts as absent."""
    return {name: value for name, value in os.environ.items() if value}


def settings_file() -> Path | None:
    """The file in MQBOT_CONFIG."""
    path = os.environ.get(CONFIG_FILE)
    return Path(path) if path else None


def _file() -> Mapping[str, Any]:
    path = settings_file()
    if path is None:
        return {}
    try:
        if not path.is_file():
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
    known = {variable(name) for name in Settings.model_fields}
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
    table, *key = error["loc"][1:] or [None]
    if table is None and error["type"] == "missing":
        return f"is missing. {_takes(name)}"
    why = str(error["ctx"]["error"]) if error["type"] == "value_error" else error["msg"]
    if error["type"] in {"dict_type", "mapping_type", "model_type"}:
        why = "not tables of the file"
    elif table is not None:
        why = ": ".join([f"in “{table}”", *map(str, key[:1]), why])
    return f"{why.removesuffix('.')}. {_takes(name)}"


def _takes(name: str) -> str:
    if name in DESCRIPTIONS:
        return f"It takes: {DESCRIPTIONS[name]}"
    return f"It takes: the path of a file that holds {name.removesuffix(SUFFIX)}"
