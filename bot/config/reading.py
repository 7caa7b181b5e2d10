"""Loads the settings from the environment, then a TOML file; secrets may be in files."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, TypeVar, get_args

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from bot.config.environment_file import read_environment_file
from bot.config.file import CONFIG_FILE, SUFFIX, NamedFile, SettingsFile, is_special, list_files
from bot.config.problems import NEARLY, SETTING_PREFIX, nearest, plain, written_instead
from bot.config.settings import (
    DatabaseSettings,
    GivenSettings,
    Settings,
    load_file,
    variable,
)
from bot.config.tables import ApprovalTable, PolicyTable, WindowTable
from bot.config.values import read_secret_file
from bot.kernel.attribute_docstrings import attribute_docstrings
from bot.kernel.errors import ConfigurationError
from bot.kernel.wrong_values import why_refused

USUAL_FILES = ("mqbot.toml", "/etc/mqbot/mqbot.toml")
"""Where people put the settings file."""

RELOADED = (
    "repositories",
    "channels",
    "groups",
    "who_may_pause",
    "who_may_freeze",
    "who_may_read",
    "who_may_subscribe",
    "unverified_may_read",
    "logins",
    "login_field",
    "bot_logins",
    "reminder_minutes",
    "health_head_minutes",
    "health_batch_minutes",
    "health_depth",
    "health_failures",
    "health_cause_minutes",
    "policy",
    "window",
    "api_token",
    "slack_signing_secret",
    "machine_tokens",
)
"""The settings that can change without a restart."""

SQLITE_ENDINGS = ("-wal", "-shm")
"""Of the files that SQLite puts beside the database."""

VARIABLES = {variable(name): name for name in Settings.model_fields}
"""The name of each variable's setting."""

DATABASE = "DATABASE_URL"

NOT_SETTINGS = ("MQBOT_URL", "MQBOT_TOKEN")
"""What `mqbot pause` and other commands towards a running bot need."""

SET_BY_KUBERNETES = re.compile(
    r"MQBOT_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)"
)
"""For a service whose name begins with mqbot."""

EXAMPLES = {"MQBOT_POLICY": "owner/name", "MQBOT_WINDOW": "weekend"}
"""A table's name in each of them."""

TABLES: Mapping[str, type[BaseModel]] = {
    "MQBOT_POLICY": PolicyTable,
    "MQBOT_WINDOW": WindowTable,
}
"""The names in each table of the file."""

KEYS_OF_A_MACHINE = 2
"""Of a machine's table of approval within a policy: `approval`, and the machine's name."""

Loaded = TypeVar("Loaded", bound=DatabaseSettings)


def load_settings(kind: type[Loaded]) -> Loaded:
    """The settings of this kind, from the environment and the file in MQBOT_CONFIG.

    Raises ConfigurationError with every invalid variable and what it accepts. A variable that is
    nearly a setting, and an unknown key in the file, are invalid too.
    """
    file = load_file()
    given = {**file.given, **_environment()}
    secrets, unreadable = _secrets(secret_variables(kind), given)
    misspelled = _misspelled(file) if issubclass(kind, Settings) else {}
    return _load(kind, file, secrets, {**unreadable, **misspelled})


def load_database_url() -> str:
    """Only the database's address, even if other settings are invalid."""
    return load_settings(DatabaseSettings).database_url.get_secret_value()


def reload_settings(settings: Settings, files: Sequence[Path] = ()) -> Settings:
    """The settings as the files have them now.

    `files`: those that could be read again before. A secret whose file can't be read twice, such as
    a pipe, stays as it is; the key in a policy can't be in such a file. Raises ConfigurationError,
    also for another secret's file that is empty, unreadable, gone or now a pipe.
    """
    file = load_file()
    given = {**file.given, **_environment()}
    old = {variable(name): value for name, value in settings}
    secrets: dict[str, str | SecretStr] = {}
    to_read = []
    for name in secret_variables(type(settings)):
        value = old[name]
        if isinstance(value, SecretStr) and _is_read_once(given, name + SUFFIX, files):
            secrets[name] = value
        else:
            to_read.append(name)
    readable, unreadable = _secrets(to_read, given, may_be_pipe=False)
    problems = {**unreadable, **_misspelled(file)}
    return _load(type(settings), file, {**secrets, **readable}, problems)


def _is_read_once(given: Mapping[str, object], name: str, files: Sequence[Path]) -> bool:
    """Whether the variable names a pipe, or named one when the process started.

    A path of the environment is still that of the start; one of the settings file may be new.
    """
    named = given.get(name)
    if named is None or _is_plain_file(named):
        return False
    path = Path(str(named))
    return path not in files and (is_special(path) or name in _environment())


def _is_plain_file(named: object) -> bool:
    # Not all that is typed can be a path.
    with suppress(OSError):
        return isinstance(named, str) and Path(named).is_file()
    return False


class ChangedSettings(NamedTuple):
    """The variables that differ between two readings of the settings."""

    reloaded: Sequence[str]  #: a reload applies them
    need_restart: Sequence[str]


def changed_settings(old: Settings, new: Settings) -> ChangedSettings:
    changed = [name for name, value in old if getattr(new, name) != value]
    reloaded = [variable(name) for name in changed if name in RELOADED]
    need_restart = [variable(name) for name in changed if name not in RELOADED]
    return ChangedSettings(reloaded, need_restart)


def settings_files(settings: Settings) -> Sequence[Path]:
    """The file in MQBOT_CONFIG, those that settings name with `@`, and those of secrets."""
    return [named.path for named in _named_files(settings)]


def secret_files(settings: Settings) -> Sequence[NamedFile]:
    """All files with settings, secrets or data, each after what names it."""
    named = list(_named_files(settings))
    url = settings.database_url.get_secret_value()
    _, is_sqlite, database = url.partition("sqlite:///")
    if is_sqlite:
        endings = ("", *SQLITE_ENDINGS)
        named += [NamedFile(DATABASE, Path(database + ending)) for ending in endings]
    return list(dict.fromkeys(named))


def _named_files(settings: Settings) -> Sequence[NamedFile]:
    """The settings' files, each after what names it: first MQBOT_CONFIG, then `@`, then secrets."""
    if isinstance(settings, GivenSettings):
        return []
    given = {**load_file().given, **_environment()}
    named: list[NamedFile] = []
    if given.get(CONFIG_FILE):
        named.append(NamedFile(CONFIG_FILE, Path(str(given[CONFIG_FILE]))))
    named += list_files(given)
    secrets: dict[str, object] = {}
    for name in secret_variables(type(settings)):
        secrets[name + SUFFIX] = given.get(name + SUFFIX)
    for target, table in settings.policy.items():
        secrets[f"api_token_file of {target}"] = table.api_token_file
    for name, path in secrets.items():
        if _is_plain_file(path):
            named.append(NamedFile(name, Path(str(path))))
    return named


def secret_variables(settings: type[BaseModel]) -> Iterable[str]:
    """The settings that can be read from a file."""
    for name, field in settings.model_fields.items():
        if SecretStr in {field.annotation, *get_args(field.annotation)}:
            yield variable(name)


class _Secrets(NamedTuple):
    """The secrets that files have."""

    readable: Mapping[str, str]  #: by variable
    problems: Mapping[str, str]  #: with the others, by `…_FILE` variable


def _secrets(
    variables: Iterable[str], given: Mapping[str, object], *, may_be_pipe: bool = True
) -> _Secrets:
    secrets: dict[str, str] = {}
    problems: dict[str, str] = {}
    for name in variables:
        named = name + SUFFIX
        if named in given and name in given:
            problems[named] = f"is set together with {name}; remove one of the two"
        elif named in given:
            try:
                secrets[name] = read_secret_file(str(given[named]), may_be_pipe=may_be_pipe)
            except ValueError as error:
                problems[named] = str(error)
    return _Secrets(secrets, problems)


def _load(
    kind: type[Loaded],
    file: SettingsFile,
    secrets: Mapping[str, str | SecretStr],
    problems: Mapping[str, str],
) -> Loaded:
    try:
        loaded = kind.model_validate(secrets)
    except ValidationError as error:
        wrong = error.errors()
        found: dict[str, str] = {}
        forgotten = unused_file()
        is_missing = any(problem["type"] == "missing" for problem in wrong)
        if forgotten is not None and is_missing:
            found[CONFIG_FILE] = f"isn't set, so {forgotten} isn't read; set it to that path"
        # A misspelled key before what is missing because of it.
        wrong.sort(key=lambda problem: problem["type"] != "extra_forbidden")
        for problem in wrong:
            name = str(problem["loc"][0])
            if name in secrets:
                found.setdefault(
                    name + SUFFIX, f"its content is {_problem_in_words(name, problem, file)}"
                )
            elif name + SUFFIX not in problems:
                found.setdefault(name, _problem_in_words(name, problem, file))
        raise ConfigurationError({**found, **problems}) from None
    if problems:
        raise ConfigurationError(problems)
    return loaded


def _environment() -> Mapping[str, str]:
    """The environment, where an empty variable counts as absent."""
    return {name: value for name, value in os.environ.items() if value}


def overridden() -> Mapping[str, str]:
    """The settings that the environment and the file both give, with their place in the file.

    The environment's value counts. Raises ConfigurationError for an unreadable file.
    """
    file = load_file()
    both = sorted(_known() & file.given.keys() & _environment().keys())
    return {name: file.line([name]) or str(file.path) for name in both}


def unknown_variables() -> Mapping[str, str | None]:
    """The variables that are named like settings and aren't, with what was probably meant.

    Those that are nearly a setting aren't here: `load_settings` refuses them.
    """
    known = _known()
    unknown: dict[str, str | None] = {}
    for name in sorted(_environment().keys() - known - {CONFIG_FILE, *NOT_SETTINGS}):
        if name.startswith(SETTING_PREFIX) and not SET_BY_KUBERNETES.fullmatch(name):
            unknown[name] = nearest(name, known)
    return unknown


def take_environment(file: Path) -> None:
    """Make the file's variables this process's, in place of all settings of the environment.

    Raises ConfigurationError.
    """
    given = read_environment_file(file)
    for name in [*_known(), CONFIG_FILE]:
        os.environ.pop(name, None)
    os.environ.update(given)


def unused_file(beside: Sequence[Path] = ()) -> Path | None:
    """A settings file in a usual place, if MQBOT_CONFIG names none.

    `beside`: other files whose folders to look into.
    """
    if os.environ.get(CONFIG_FILE):
        return None
    usual = [Path(name) for name in USUAL_FILES]
    candidates = [*(path.parent / usual[0].name for path in beside), *usual]
    for candidate in candidates:
        # Somebody else's folder, which this user may not look into, has no forgotten file.
        with suppress(OSError):
            if candidate.is_file():
                return candidate.absolute()
    return None


def _known() -> set[str]:
    """The names of all settings."""
    known = {variable(name) for name in Settings.model_fields}
    return known | {name + SUFFIX for name in secret_variables(Settings)}


def _misspelled(file: SettingsFile) -> Mapping[str, str]:
    """Typos, by the correct setting: one in MQBOT_WHO_MAY_PAUSE would let everybody pause.

    The environment has names of other programs too; the file must have settings only.
    """
    known = _known()
    ours = {name for name in _environment() if name.startswith(SETTING_PREFIX)} - {CONFIG_FILE}
    problems = dict(file.problems)
    for written in sorted({*ours, *file.given} - known):
        near = get_close_matches(written, {*known, CONFIG_FILE}, 1, NEARLY)
        if written == SETTING_PREFIX + DATABASE:
            # Without it the bot would use a file of its own and say nothing.
            near = [DATABASE]
        if written == CONFIG_FILE + SUFFIX:
            near = [CONFIG_FILE]
        place = file.line([written]) if written in file.given else None
        where = f" ({place})" if place else ""
        if written == CONFIG_FILE:
            problems[written] = f"belongs in the environment{where}; remove it from the file"
        elif near:
            problems[near[0]] = f"is misspelled as {written}{where}. {_takes(near[0])}"
        elif written in file.given:
            guess = nearest(written, known)
            remedy = f"did you mean {guess}?" if guess else _remedy_of_unknown(file.given[written])
            problems[written] = f"isn't a setting{where}; {remedy}"
    return problems


def _remedy_of_unknown(value: object) -> str:
    if isinstance(value, dict) and any(nearest(name, VARIABLES) for name in value):
        return "put the settings above all tables, without a table of their own"
    return "remove it, or correct its name"


def _problem_in_words(name: str, error: ErrorDetails, file: SettingsFile) -> str:
    """What is wrong, where it stands, and what the setting takes."""
    table, *inner = error["loc"][1:] or [None]
    if table is None and error["type"] == "missing":
        return f"{_missing(name, file)} {_takes(name)}"
    why = why_refused(error)
    # A number is a place in a list.
    keys = [key for key in inner if isinstance(key, str)]
    described = keys
    if error["type"] in {"dict_type", "mapping_type", "model_type"}:
        why = "not tables of the file"
        table = table if keys else None
    elif error["type"] == "extra_forbidden" and name in TABLES:
        *keys, written = keys
        meant = _name_meant(written, _table_of(name, described))
        described = [*keys, meant] if meant else []
        why = f"{written} isn't a setting of such a table"
        if meant:
            why += f"; did you mean {meant}?"
        elif variable(_in_small(written)) in VARIABLES:
            why += "; it's one for everything: put it above the first table"
    if table is not None:
        within = [".".join(keys)] if keys else []
        why = ": ".join([f"in “{table}”", *within, why])
    takes = (_takes_in_table(name, described) if described else None) or _takes(name)
    where = _place(name, [str(part) for part in error["loc"]], file)
    what, semicolon, remedy = why.removesuffix(".").partition("; ")
    why = f"{what}{where}{semicolon}{remedy}"
    return f"{why}{'' if why.endswith('?') else '.'} {takes}"


def _name_meant(written: str, table: type[BaseModel]) -> str | None:
    """The name in such a table that was probably meant; none for that of another setting."""
    name = _in_small(written)
    if name not in table.model_fields and variable(name) in VARIABLES:
        return None
    return nearest(written, table.model_fields)


def _in_small(written: str) -> str:
    return written.lower().removeprefix(SETTING_PREFIX.lower())


def _table_of(name: str, keys: Sequence[str]) -> type[BaseModel]:
    """The table that the last of these keys belongs to."""
    is_in_approval = keys[0] == "approval" and len(keys) > KEYS_OF_A_MACHINE
    return ApprovalTable if is_in_approval else TABLES[name]


def _place(name: str, place: Sequence[str], file: SettingsFile) -> str:
    """Where the value comes from, if that is the file, or would be without the environment."""
    line = file.line(place) if name in file.given else None
    if line is None:
        return ""
    if name in _environment():
        return f" (in the environment, which counts instead of {line})"
    return f" ({line})"


def _missing(name: str, file: SettingsFile) -> str:
    """That a setting is missing, with the variable that was meant to be it."""
    given = {**file.given, **_environment()}
    others = sorted(given.keys() - VARIABLES.keys() - {CONFIG_FILE})
    written = written_instead(name, [other for other in others if not other.endswith(SUFFIX)])
    return f"is missing; did you misspell it as {written}?" if written else "is missing."


def _takes_in_table(name: str, keys: Sequence[str]) -> str | None:
    """What the last of these names in a table of the file takes, where its description says it."""
    if name not in TABLES:
        return None
    table = _table_of(name, keys)
    key = keys[0] if table is TABLES[name] else keys[-1]
    described = attribute_docstrings(table).get(key)
    one_line = " ".join((described or "").split()) or description(variable(key))
    return f"It takes: {key} = {plain(one_line)}" if one_line else None


def description(name: str) -> str:
    """What a variable takes; empty for one that isn't known."""
    described = attribute_docstrings(Settings).get(VARIABLES.get(name, ""), "")
    return " ".join(described.split())


def _takes(name: str) -> str:
    if name == CONFIG_FILE:
        return "It takes: the path of the settings file"
    if name in TABLES:
        return f'It takes: tables of the file, such as [{name}."{EXAMPLES[name]}"]'
    if name in VARIABLES:
        return f"It takes: {plain(description(name))}"
    return f"It takes: the path of a file that holds {name.removesuffix(SUFFIX)}"
