"""Settings as they are given: by the environment, over a TOML file with the same names."""

import tomllib
from collections.abc import Collection, Mapping
from copy import copy
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from bot.config.settings import DatabaseSettings, Settings, default_database_url
from bot.domain.errors import ConfigurationError

__all__ = ["CONFIG_FILE", "Settings", "default_database_url", "load_database_url", "load_settings"]

CONFIG_FILE = "MQBOT_CONFIG"
PREFIX = "MQBOT_"

NEARLY = 0.88
"""How alike two names are of which one is a mistake; what Kubernetes sets for a service of the
name mqbot (`MQBOT_PORT`, `MQBOT_SERVICE_HOST`) is 0.8 and less."""


def load_settings(environ: Mapping[str, str], required: Collection[str] = ()) -> Settings:
    """The settings in `environ`, over those in the TOML file that MQBOT_CONFIG names, if any.

    An empty variable counts as absent. `required`: variables that have to be there though they
    may be absent otherwise. Raises ConfigurationError, naming every variable at fault and what
    it takes; a variable whose name is nearly that of a setting, and a key of the file that names
    none, are at fault too.
    """
    file = _file(environ)
    return _load(Settings, environ, file, required, _misspelled(environ, file))


def load_database_url(environ: Mapping[str, str]) -> str:
    """The database's address alone, read in the same way."""
    loaded = _load(DatabaseSettings, environ, _file(environ))
    return loaded.database_url.get_secret_value()


Loaded = TypeVar("Loaded", bound=DatabaseSettings)


def _load(
    settings: type[Loaded],
    environ: Mapping[str, str],
    file: Mapping[str, Any],
    required: Collection[str] = (),
    problems: Mapping[str, str] = MappingProxyType({}),
) -> Loaded:
    names = [str(field.validation_alias) for field in settings.model_fields.values()]
    given: dict[str, Any] = {name: file[name] for name in names if name in file}
    given |= {name: environ[name] for name in names if environ.get(name)}
    wanted: type[Loaded] = type(settings.__name__, (settings,), dict(_required(settings, required)))
    try:
        loaded = wanted(**given)
    except ValidationError as error:
        found = dict([_problem(one) for one in error.errors()])
        raise ConfigurationError({**found, **problems}) from None
    if problems:
        raise ConfigurationError(problems)
    return loaded


def _file(environ: Mapping[str, str]) -> Mapping[str, Any]:
    """What stands in the file that MQBOT_CONFIG names."""
    path = environ.get(CONFIG_FILE)
    if not path:
        return {}
    if not Path(path).is_file():
        raise ConfigurationError({CONFIG_FILE: f"there is no file {path}"})
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            {CONFIG_FILE: f"{path} cannot be read: {error.strerror}"}
        ) from None
    except ValueError as error:
        raise ConfigurationError({CONFIG_FILE: f"{path} is not valid TOML: {error}"}) from None


def _misspelled(environ: Mapping[str, str], file: Mapping[str, Any]) -> Mapping[str, str]:
    """By the setting that is meant: what would otherwise go unheard, who may pause for one.

    In the environment stand names of others too, so only what is nearly a setting counts.
    """
    takes = _takes()
    strange = (
        {one for one in environ if one.startswith(PREFIX) and environ[one]}
        - takes.keys()
        - {CONFIG_FILE}
    )
    meant = {
        one: get_close_matches(one, takes, 1, NEARLY)
        for one in sorted(strange | file.keys() - takes.keys())
    }
    problems = {
        near[0]: f"is written {one}. It takes: {takes[near[0]]}"
        for one, near in meant.items()
        if near
    }
    unheard = [one for one, near in meant.items() if not near and one in file]
    if unheard:
        problems[CONFIG_FILE] = (
            f"{environ[CONFIG_FILE]} has what is no setting: {', '.join(unheard)}"
        )
    return problems


def _takes() -> Mapping[str, str]:
    """What each setting takes, by its variable."""
    fields = Settings.model_fields.values()
    return {str(one.validation_alias): str(one.description) for one in fields}


def _required(settings: type[BaseSettings], variables: Collection[str]) -> Mapping[str, Any]:
    """The fields of a class in which these variables have no default."""
    fields = {
        name: copy(field)
        for name, field in settings.model_fields.items()
        if field.validation_alias in variables
    }
    for field in fields.values():
        field.default = FieldInfo().default
    return {**fields, "__annotations__": {name: one.annotation for name, one in fields.items()}}


def _problem(error: Any) -> tuple[str, str]:  # noqa: ANN401 - pydantic's ErrorDetails
    if not error["loc"]:
        name, _, text = str(error["ctx"]["error"]).partition(":")
        return name, text
    name = str(error["loc"][0])
    takes = _takes()[name]
    if error["type"] == "missing":
        return name, f"is missing. It takes: {takes}"
    why = str(error["ctx"]["error"]) if error["type"] == "value_error" else error["msg"]
    return name, f"{why.removesuffix('.')}. It takes: {takes}"
