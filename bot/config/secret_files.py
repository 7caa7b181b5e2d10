"""Secrets in files: `SLACK_BOT_TOKEN_FILE` names the file that holds `SLACK_BOT_TOKEN`."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from select import select
from typing import get_args

from pydantic import SecretStr
from pydantic_settings import BaseSettings

SUFFIX = "_FILE"

MOST_BYTES = 64 * 1024
"""More is no secret, and a device file never ends."""

PIPE_SECONDS = 5.0
"""How long a pipe is waited for."""

NOT_PLAIN = "names no plain text file; give the path of one that holds the secret and nothing else"


def secret_variables(settings: type[BaseSettings]) -> Iterable[str]:
    """The settings that can be read from a file."""
    for field in settings.model_fields.values():
        if SecretStr in {field.annotation, *get_args(field.annotation)}:
            yield str(field.validation_alias)


def read_secret_files(
    variables: Iterable[str], given: Mapping[str, object]
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The secrets in files, and the problems with the others, by `…_FILE` variable."""
    secrets, problems = {}, {}
    for variable in variables:
        named = variable + SUFFIX
        if named in given and variable in given:
            problems[named] = f"is set together with {variable}; remove one of the two"
        elif named in given:
            try:
                secrets[variable] = read_secret_file(str(given[named]))
            except ValueError as error:
                problems[named] = str(error)
    return secrets, problems


def read_secret_file(named: str) -> str:
    """The content without its last line break; raises ValueError.

    No problem repeats the path, which may be the secret itself, typed there by mistake.
    """
    try:
        content = _content(Path(named))
        text = content.decode()
    except OSError as error:
        raise ValueError(
            f"names a file that can't be read ({error.strerror}); "
            "give the path of a file that the bot's user may read"
        ) from None
    except ValueError:  # the path has a null byte, or the content is not UTF-8
        raise ValueError(NOT_PLAIN) from None
    if len(content) > MOST_BYTES:
        raise ValueError(NOT_PLAIN)
    if not text.strip():
        raise ValueError("names an empty file; write the secret into it")
    return text.removesuffix("\n").removesuffix("\r")


def _content(path: Path) -> bytes:
    """The content, up to a limit.

    Pipes are fine: a shell's `<(…)` is one. Raises TimeoutError, an OSError, for a pipe that nobody
    writes to.
    """
    content = b""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
        while len(content) <= MOST_BYTES:
            if not select([file], [], [], PIPE_SECONDS)[0]:
                raise TimeoutError(None, "nothing writes to this pipe")
            piece = file.read(MOST_BYTES + 1 - len(content))
            if not piece:
                break
            content += piece
    return content
