"""A file of `NAME=value`, as systemd reads one.

https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#EnvironmentFile=
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from bot.kernel.errors import ConfigurationError

OPTION = "--env-file"
_VARIABLE_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def read_environment_file(path: Path) -> Mapping[str, str]:
    """The variables; a `#` ends no value, and a backslash continues a line.

    Raises ConfigurationError, also for a line that systemd would ignore. It repeats no line, which
    may hold a secret.
    """
    lines = enumerate(_text(path).splitlines(), 1)
    given = {}
    for number, line in lines:
        name, equals, value = line.strip().partition("=")
        if not name or name.startswith(("#", ";")):
            continue
        if not equals or not _VARIABLE_NAME.fullmatch(name.strip()):
            hint = "remove the word export" if name.startswith("export ") else "write NAME=value"
            problem = f"line {number} of {path} isn't NAME=value; {hint}"
            raise ConfigurationError({OPTION: problem})
        full_value = _value(value, (following for _, following in lines))
        if full_value is None:
            problem = f"a quotation begins in line {number} of {path}; close it"
            raise ConfigurationError({OPTION: problem})
        given[name.strip()] = full_value
    return given


def _text(path: Path) -> str:
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigurationError({OPTION: f"{path} can't be read: {error.strerror}"}) from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ConfigurationError({OPTION: f"{path} isn't a text file in UTF-8"})
    return text


def _value(begun: str, lines: Iterator[str]) -> str | None:
    """The value, which may go on in the next lines; None if its quotation doesn't end."""
    while begun.endswith("\\"):
        begun = begun[:-1] + next(lines, "")
    text = _unquoted(begun)
    while text is None:
        following = next(lines, None)
        if following is None:
            return None
        begun += f"\n{following}"
        text = _unquoted(begun)
    return text


def _unquoted(value: str) -> str | None:
    """The value without its quotation marks; None if one isn't closed."""
    words = shlex.shlex(value.strip(), posix=True)
    words.whitespace = ""
    words.whitespace_split = True
    words.commenters = ""
    try:
        return words.get_token() or ""
    except ValueError:
        return None
