"""The settings file in MQBOT_CONFIG: its settings by their variables, and the line of each."""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from bot.config.problems import SETTING_PREFIX, toml_problem
from bot.kernel.errors import ConfigurationError

CONFIG_FILE = "MQBOT_CONFIG"

SUFFIX = "_FILE"
"""Ends the setting that names the file of a secret."""

WITH_LISTS = ("MQBOT_REPOSITORIES", "MQBOT_LOGINS")
"""The settings that can name a file with `@`."""

TABLES_OF_TABLES = ("MQBOT_POLICY", "MQBOT_WINDOW")
"""The settings whose tables have names like those of settings."""

_HEADER = re.compile(r"\s*\[\[?(.+?)\]\]?\s*(#.*)?")
_KEY = re.compile(r"\s*([^=#]+?)\s*=")

Place = tuple[str, ...]
"""A setting, and for a table of the file the names within it."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What the file says."""

    path: Path | None = None
    #: the values by variable; a name that isn't a setting stays as it is written
    given: Mapping[str, Any] = field(default_factory=dict)
    #: by variable, what is wrong with the place or name of a setting
    problems: Mapping[str, str] = field(default_factory=dict)
    known: Collection[str] = ()  #: the names of settings
    text: str = field(default="", repr=False)  #: all of the file, which may have secrets in it

    def line(self, place: Sequence[str]) -> str | None:
        """Where this stands in the file, else what is around it."""
        lines = {
            (_setting(names[0], self.known), *names[1:]): number
            for names, number in _places(self.text).items()
        }
        for length in range(len(place), 0, -1):
            number = lines.get(tuple(place[:length]))
            if number is not None:
                return f"line {number} of {self.path}"
        return None


def read_settings_file(path: Path, known: Collection[str]) -> SettingsFile:
    """Read the file, in which case and `MQBOT_` don't count in the names of `known` settings.

    Paths of files within it are relative to it. Raises ConfigurationError.
    """
    try:
        if not path.is_file():
            raise ConfigurationError({CONFIG_FILE: f"{_what_it_is(path)}; name a settings file"})
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigurationError({CONFIG_FILE: f"{path} can't be read: {error.strerror}"}) from None
    except UnicodeDecodeError:
        raise ConfigurationError({CONFIG_FILE: f"{path} isn't a text file in UTF-8"}) from None
    try:
        read = tomllib.loads(text)
    except ValueError as error:
        problem = toml_problem(error, text)
        raise ConfigurationError({CONFIG_FILE: f"{path} {problem}"}) from None
    file = SettingsFile(path, known=known, text=text)
    given: dict[str, Any] = {}
    written: dict[str, str] = {}
    problems: dict[str, str] = {}
    for name, value in read.items():
        setting = _setting(name, known)
        if setting in given:
            both = f"{written[setting]} and {name}"
            problems[setting] = f"is set twice in {path}, as {both}; remove one of them"
        for inner in _misplaced(setting, value, known):
            where = file.line([setting, inner])
            problems[inner] = f"belongs to the table [{name}] ({where}); put it above all tables"
            value.pop(inner)
        written[setting] = name
        given[setting] = _from_there(setting, value, path.parent)
    return replace(file, given=given, problems=problems)


def _what_it_is(path: Path) -> str:
    """Instead of a file."""
    if path.is_dir():
        return f"{path} is a folder"
    return f"{path} isn't a plain file" if is_special(path) else f"there is no file {path}"


class NamedFile(NamedTuple):
    """A file, after the setting that names it."""

    name: str
    path: Path


def list_files(given: Mapping[str, Any]) -> Sequence[NamedFile]:
    """The files that these values name with `@`, alone or among other words."""
    found: list[NamedFile] = []
    for setting in WITH_LISTS:
        paths = map(path_in, split(given.get(setting)))
        found += [NamedFile(setting, Path(path)) for path in paths if path is not None]
    return found


def split(value: object) -> Sequence[object]:
    """The words of a text with commas, or of a list; a value that is neither, alone."""
    if isinstance(value, str):
        return [word.strip() for word in value.split(",")]
    return value if isinstance(value, (list, tuple)) else [value]


def path_in(word: object) -> str | None:
    """The path of the file that a word of a list stands for, as `@path`; None for other words."""
    text = word.strip() if isinstance(word, str) else ""
    return text[1:].strip() if text.startswith("@") else None


def is_special(path: Path) -> bool:
    """Whether it is a pipe or a device: to read one may never end."""
    # Reading a file that this user may not look at, or that can't be there, says so.
    with suppress(OSError, ValueError):
        return path.exists() and not (path.is_file() or path.is_dir())
    return False


def _misplaced(name: str, value: object, known: Collection[str]) -> Sequence[str]:
    """The settings in a table, which in TOML takes all lines up to the next one."""
    if not isinstance(value, dict) or name not in known or name in TABLES_OF_TABLES:
        return []
    return [inner for inner in value if inner in known]


def _setting(name: str, known: Collection[str]) -> str:
    """The variable that a name in the file means: `poll_seconds` is MQBOT_POLL_SECONDS."""
    upper = name.upper()
    for variable_name in (upper, SETTING_PREFIX + upper):
        if variable_name in known:
            return variable_name
    return name


def _from_there(name: str, value: object, folder: Path) -> object:
    """The value, with paths of files as seen from `folder`."""
    if isinstance(value, dict):
        return {key: _from_there(key, inner, folder) for key, inner in value.items()}
    if name in WITH_LISTS:
        return [_word_from_there(word, folder) for word in split(value)]
    if isinstance(value, list):
        return [_from_there(name, inner, folder) for inner in value]
    if not isinstance(value, str):
        return value
    if value and name.upper().endswith(SUFFIX):
        return str(folder / value)
    return value


def _word_from_there(word: object, folder: Path) -> object:
    path = path_in(word)
    return word if path is None else f"@{folder / path}"


def _places(text: str) -> Mapping[Place, int]:
    """The first line of each table and name; Python's reader doesn't tell them."""
    found: dict[Place, int] = {}
    table: Place = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            table = _dotted_names(header[1])
            places = [table]
        elif key := _KEY.match(line):
            places = [(*table, *_dotted_names(key[1]))]
        else:
            continue
        for place in places:
            for length in range(1, len(place) + 1):
                found.setdefault(place[:length], number)
    return found


def _dotted_names(dotted: str) -> Place:
    """The names in `a."b.c".d`; none if it is something else, such as a line of a long text."""
    try:
        return tuple(_path(tomllib.loads(f"{dotted} = 0")))
    except ValueError:
        return ()


def _path(tables: object) -> Iterator[str]:
    while isinstance(tables, dict):
        for name, inner in tables.items():
            yield name
            tables = inner
