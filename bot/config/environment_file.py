"""A file of `NAME=value`, as systemd reads one.

https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#EnvironmentFile=
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bot.kernel.errors import ConfigurationError

OPTION = "--env-file"
_VARIABLE_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BLANKS = " \t"

_QUOTED = re.compile(r"""[ \t]*(?:'([^']*)'|"((?:[^"\\]|\\.)*)")""", re.DOTALL)
"""A quotation at the beginning of a value, or after another one."""

_UNCLOSED = re.compile(r"""[ \t]*['"]""")
_UNQUOTED = re.compile(r"[ \t]*((?:\\.|\\\Z|[^\\\n])*?)[ \t]*(?=\n|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.|\Z)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r'\\(["\\`$\n])')


def read_environment_file(path: Path) -> Mapping[str, str]:
    """The variables; a `#` ends no value, and a backslash continues a line.

    Raises ConfigurationError, also for a line that systemd would ignore. It repeats no line, which
    may hold a secret.
    """
    text = _text_of_file(path)
    given = {}
    begin = 0
    while begin < len(text):
        line, _, _ = text[begin:].partition("\n")
        end = begin + len(line)
        if line.strip(_BLANKS) and not line.lstrip(_BLANKS).startswith(("#", ";")):
            number = text.count("\n", 0, begin) + 1
            name = _variable(path, number, line)
            value = _read_value(text, text.index("=", begin) + 1)
            if value is None:
                problem = f"a quotation begins in line {number} of {path}; close it"
                raise ConfigurationError({OPTION: problem})
            given[name] = value.text
            end = value.end
        begin = end + 1
    return given


def _text_of_file(path: Path) -> str:
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigurationError({OPTION: f"{path} can't be read: {error.strerror}"}) from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ConfigurationError({OPTION: f"{path} isn't a text file in UTF-8"})
    return text


def _variable(path: Path, number: int, line: str) -> str:
    """What is before the equals sign; raises ConfigurationError."""
    name, equals, _ = line.strip(_BLANKS).partition("=")
    if not equals or not _VARIABLE_NAME.fullmatch(name.strip(_BLANKS)):
        hint = "remove the word export" if name.startswith("export ") else "write NAME=value"
        problem = f"line {number} of {path} isn't NAME=value; {hint}"
        raise ConfigurationError({OPTION: problem})
    return name.strip(_BLANKS)


class _Value(NamedTuple):
    """A value, and where it ends in the file."""

    text: str
    end: int


def _read_value(text: str, begin: int) -> _Value | None:
    """The value that begins there; None if a quotation isn't closed."""
    value = ""
    end = begin
    while quoted := _QUOTED.match(text, end):
        end = quoted.end()
        if quoted[1] is not None:
            value += quoted[1]
        else:
            value += _ESCAPE_IN_QUOTES.sub(_escaped, quoted[2])
    unquoted = _UNQUOTED.match(text, end)
    if unquoted is None or _UNCLOSED.match(text, end):
        return None
    return _Value(value + _ESCAPE.sub(_escaped, unquoted[1]), unquoted.end())


def _escaped(escape: re.Match[str]) -> str:
    """What a backslash and the character after it mean: at the end of a line, nothing."""
    return "" if escape[1] == "\n" else escape[1]
