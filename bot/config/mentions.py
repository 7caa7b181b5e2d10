"""Where the settings name a repository: what an operator changes when it gets another name."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bot.config.file import CONFIG_FILE, is_special, list_files
from bot.config.problems import SETTING_PREFIX
from bot.config.settings import load_file

_AROUND = r"[\w.\-/]"
"""Characters beside which it is part of another name."""


def mentions(name: str) -> Sequence[str]:
    """Variables of this process, and lines of the settings file and of lists, that name it.

    Also lists that can't be read. Raises ConfigurationError for such a settings file.
    """
    pattern = re.compile(rf"(?<!{_AROUND}){re.escape(name)}(?!{_AROUND})", re.IGNORECASE)
    given = {
        name: value
        for name, value in os.environ.items()
        if value and name.startswith(SETTING_PREFIX)
    }
    found = [
        f"{name} in the environment" for name in sorted(given) if pattern.search(str(given[name]))
    ]
    for path in _files(given):
        found += [f"{path}, {where}" for where in _places(path, pattern)]
    return found


def _files(given: Mapping[str, str]) -> Sequence[Path]:
    """The settings file, and the lists that it or the environment names."""
    lists = [named.path for named in list_files({**load_file().given, **given})]
    return [Path(given[CONFIG_FILE]), *lists] if given.get(CONFIG_FILE) else lists


def _places(path: Path, pattern: re.Pattern[str]) -> Iterator[str]:
    text = None
    with suppress(OSError, ValueError):
        if not is_special(path):
            text = path.read_text("utf-8-sig")
    if text is None:
        # The bot's own user may be able to read it.
        yield "which can't be read here"
        return
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.search(line):
            yield f"line {number}"
