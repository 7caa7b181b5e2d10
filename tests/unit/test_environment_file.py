"""Files of NAME=value, as systemd reads them."""

from pathlib import Path

import pytest

from bot.config.environment_file import read_environment_file
from bot.kernel.errors import ConfigurationError

AS_SYSTEMD = r"""
# a comment
; another one

  MQBOT_COMMAND = /queue
MQBOT_REPOSITORIES="acme/site,acme/api"
MQBOT_API_TOKEN='abc$def#1 "quoted"'
SLACK_BOT_TOKEN=xoxb-1-2#3
MQBOT_WHO_MAY_PAUSE=U0ALICE # kept, as systemd keeps it
MQBOT_LOGINS=U0ALICE=alice-m,\
U0BOB=bob
MQBOT_GROUPS="release=acme/site
docs=acme/api"
EMPTY=
ESCAPED="a \"word\""
"""


def test_values_are_read_as_systemd_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "environment"
    file.write_text(AS_SYSTEMD, "utf-8")
    assert read_environment_file(file) == {
        "MQBOT_COMMAND": "/queue",
        "MQBOT_REPOSITORIES": "acme/site,acme/api",
        "MQBOT_API_TOKEN": 'abc$def#1 "quoted"',
        "SLACK_BOT_TOKEN": "xoxb-1-2#3",
        "MQBOT_WHO_MAY_PAUSE": "U0ALICE # kept, as systemd keeps it",
        "MQBOT_LOGINS": "U0ALICE=alice-m,U0BOB=bob",
        "MQBOT_GROUPS": "release=acme/site\ndocs=acme/api",
        "EMPTY": "",
        "ESCAPED": 'a "word"',
    }


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("A=1\nSLACK_BOT_TOKEN: hush", "line 2 of {} isn't NAME=value; write NAME=value"),
        ("export A=hush", "line 1 of {} isn't NAME=value; remove the word export"),
        ('A="hush\nB=2', "a quotation begins in line 1 of {}; close it"),
        ("SLACK BOT TOKEN=hush", "line 1 of {} isn't NAME=value; write NAME=value"),
    ],
)
def test_a_line_that_sets_nothing_is_named_and_not_repeated(
    tmp_path: Path, lines: str, said: str
) -> None:
    file = tmp_path / "environment"
    file.write_text(lines, "utf-8")
    with pytest.raises(ConfigurationError) as raised:
        read_environment_file(file)
    assert raised.value.problems == {"--env-file": said.format(file)}


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "environment"
    file.write_bytes(b"A=\xff")
    with pytest.raises(ConfigurationError, match="isn't a text file"):
        read_environment_file(file)
    with pytest.raises(ConfigurationError, match="Is a directory"):
        read_environment_file(tmp_path)
