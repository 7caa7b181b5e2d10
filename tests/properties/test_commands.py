"""Any typed text gives a command or a refusal with a message."""

import re

from hypothesis import given, strategies as st

from bot.desk import explain
from bot.desk.help import help_text
from bot.desk.table import COMMANDS, parse_command
from bot.kernel.errors import CommandSyntaxError, RepositoryNotAllowed, TargetNotClear, UnknownGroup
from bot.kernel.groups import Repositories
from bot.kernel.repository import RepositoryName
from tests.support.make import API, SITE

REPOSITORIES = Repositories((SITE, API))
WORDS = [word for verb in COMMANDS for word in (verb.name, *verb.aliases)]
ARGUMENTS = [
    "acme/site",
    "acme/other",
    "site",
    "branch:main",
    "branch:",
    "all",
    "enter,",
    "CI/CD",
    "@all",
    "@nobody",
]

words = st.one_of(st.sampled_from([*WORDS, *ARGUMENTS]), st.text(max_size=12))
spaces = st.text(alphabet=" \t\n\u00a0\u2003\x1c", min_size=1, max_size=3)


@st.composite
def typed_texts(draw: st.DrawFn) -> str:
    first = draw(st.one_of(st.sampled_from(WORDS), st.text(max_size=12)))
    return first + "".join(draw(spaces) + word for word in draw(st.lists(words, max_size=6)))


@given(st.one_of(st.text(), typed_texts()))
def test_parsing_raises_only_the_four_refusals(typed: str) -> None:
    try:
        parse_command(typed, REPOSITORIES)
    except (CommandSyntaxError, RepositoryNotAllowed, TargetNotClear, UnknownGroup) as refused:
        reported = explain.explain(refused, command="/mq", reference="0", repeat=None)
        assert "reference" not in reported.text


@given(st.text(alphabet=st.characters(exclude_categories=("Z", "C")), min_size=1), spaces)
def test_a_reason_is_kept_unchanged(word: str, space: str) -> None:
    reason = f"because{space}{word}"

    for where, name in ((SITE, f"acme/site{space}"), (None, "")):
        _, request = parse_command(f"pause{space}{name}{reason}", REPOSITORIES)
        assert (request.where, request.options["asked"].reason) == (where, reason)


@given(st.sampled_from(COMMANDS), st.sampled_from(["/mq", "/queue", "/a&b"]))
def test_commands_printed_by_help_can_be_parsed(verb: object, command: str) -> None:
    assert isinstance(verb, type(COMMANDS[0]))
    shown = str(help_text(command, verb.name).blocks)
    copied = [
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        for text in re.findall(r"• `([^`]+)`", shown)
    ]
    assert len(copied) == len(verb.examples)
    for line in copied:
        assert line.startswith(command)
        parsed, _ = parse_command(line.removeprefix(command), REPOSITORIES)
        assert parsed is verb


@given(st.lists(st.sampled_from(["acme", "umbrella"]), min_size=1, max_size=4), st.text(max_size=9))
def test_only_configured_repositories_are_found(owners: list[str], word: str) -> None:
    names = tuple(RepositoryName(f"{owner}/r{number}") for number, owner in enumerate(owners))
    known = Repositories(names)
    for typed in (word, "r0", "R0", names[0].upper()):
        found = known.find(typed)
        assert found is None or found in names
    _, request = parse_command(f"status {names[0].upper()}", known)
    assert request.where == names[0]
