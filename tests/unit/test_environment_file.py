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
    ("written", "value"),
    [
        # Without quotation marks a backslash keeps the character after it, or joins two lines.
        ("it's", "it's"),
        ('a"b"c', 'a"b"c'),
        ("a b  # c", "a b  # c"),
        ("  a b \t", "a b"),
        ("a\\ ", "a "),
        ("a\\tb", "atb"),
        ("C:\\\\temp", "C:\\temp"),
        ("abc\\\\", "abc\\"),
        ("a\\\\\\\nb", "a\\b"),
        ("a\\\n  b", "a  b"),
        ("\\'a'", "'a'"),
        ("a\u2028b\x85c", "a\u2028b\x85c"),
        ("", ""),
        # In single ones everything stands for itself.
        ("'a\\tb\\'", "a\\tb\\"),
        ("'a\nb\\\nc' ", "a\nb\\\nc"),
        ("'say \"hi\"'", 'say "hi"'),
        # In double ones a backslash keeps four characters, and joins two lines.
        ('"a\\$b\\`c\\\\d\\"e"', 'a$b`c\\d"e'),
        ('"a\\tb\\\'"', "a\\tb\\'"),
        ('"a\\\nb\nc"', "ab\nc"),
        ('" a "', " a "),
        # After a quotation there may be another one, or the rest of the value.
        ("'a'\"b\" 'c'", "abc"),
        ("'a'b\"c\" ", 'ab"c"'),
        ("'a' # b", "a# b"),
        ("''", ""),
    ],
)
def test_one_value_is_read_as_systemd_reads_it(tmp_path: Path, written: str, value: str) -> None:
    file = tmp_path / "environment"
    for end, more in (("\nLAST=1\n", {"LAST": "1"}), ("", {})):
        file.write_text(f"# first \\\n; second\n\n\tA = {written}{end}", "utf-8")
        assert read_environment_file(file) == {"A": value, **more}


def test_the_last_line_may_end_in_a_backslash(tmp_path: Path) -> None:
    file = tmp_path / "environment"
    file.write_text("A=1 \\", "utf-8")
    assert read_environment_file(file) == {"A": "1 "}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("A=1\nSLACK_BOT_TOKEN: hush", "line 2 of {} isn't NAME=value; write NAME=value"),
        ("export A=hush", "line 1 of {} isn't NAME=value; remove the word export"),
        ('A="hush\nB=2', "a quotation begins in line 1 of {}; close it"),
        ("A=1\\\n2\nB='hush'\"\n", "a quotation begins in line 3 of {}; close it"),
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
