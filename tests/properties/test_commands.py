"""Any typed text gives a command or a refusal with a message."""

import re

from hypothesis import given, strategies as st

from bot.acts.permission import Right
from bot.desk import explain
from bot.desk.help import help_text
from bot.desk.phrases import ASKING
from bot.desk.situation import Situation, ThreadSubject
from bot.desk.table import COMMANDS, parse_command
from bot.desk.understanding import NotUnderstood, Understood, understand
from bot.kernel.groups import Groups, Repositories
from bot.kernel.repository import RepositoryName
from bot.kernel.typed import read_words
from bot.pauses.pause import DrawnLine
from tests.support.clock import NOON
from tests.support.make import API, SITE

HERE = Situation(Groups((), Repositories((SITE, API))))
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


PLACES = (
    HERE,
    Situation(HERE.groups, is_direct=True),
    Situation(HERE.groups, default=SITE, thread=ThreadSubject(API, pause=DrawnLine(NOON))),
    Situation(HERE.groups, default=SITE, thread=ThreadSubject(API, pull_request=41)),
)


@given(st.one_of(st.text(), typed_texts()), st.sampled_from(PLACES))
def test_any_text_is_understood_or_asked_about_or_refused(typed: str, place: Situation) -> None:
    meaning = understand(typed, place)
    if isinstance(meaning, NotUnderstood):
        reported = explain.explain(meaning.error, command="/mq", reference="0", repeat=None)
        assert "reference" not in reported.text
        assert "owner/name" not in reported.text


BEGINNINGS = [
    *("cancel", "end", "stop", "move", "plan", "schedule", "skip", "kill", "take over", "mute"),
    *("freeze", "pause", "resume", "hold", "start"),
]
NAMED = [*ARGUMENTS, "freeze", "the pause", "start", "except:#0", "except:hotfix", "2h", "#0", "41"]


@given(
    st.sampled_from(BEGINNINGS),
    st.lists(st.sampled_from([*BEGINNINGS, *NAMED]), max_size=4),
    st.sampled_from([*PLACES, Situation(HERE.groups, thread=ThreadSubject(API, freeze_id="8f3c"))]),
)
def test_what_is_offered_is_understood(first: str, said: list[str], place: Situation) -> None:
    meaning = understand(" ".join([first, *said]), place)
    if isinstance(meaning, NotUnderstood):
        offered = [understand(offer, place) for offer in meaning.error.instead]
        assert not any(isinstance(read, NotUnderstood) for read in offered)


@given(st.lists(st.one_of(words, st.sampled_from(sorted(ASKING))), max_size=8))
def test_only_its_own_verb_changes_anything(said: list[str]) -> None:
    typed = " ".join(said)
    meaning = understand(typed, HERE)
    if isinstance(meaning, Understood) and meaning.command.right is not Right.READ:
        names = {meaning.command.name, *meaning.command.aliases}
        assert names & {word.bare for word in read_words(typed)}


@given(st.text(alphabet=st.characters(exclude_categories=("Z", "C")), min_size=1), spaces)
def test_a_reason_is_kept_unchanged(word: str, space: str) -> None:
    reason = f"because{space}{word}"

    for where, name in ((SITE, f"acme/site{space}"), (None, "")):
        _, request = parse_command(f"pause{space}{name}{reason}", HERE)
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
        parsed, _ = parse_command(line.removeprefix(command), HERE)
        assert parsed is verb


@given(st.lists(st.sampled_from(["acme", "umbrella"]), min_size=1, max_size=4), st.text(max_size=9))
def test_only_configured_repositories_are_found(owners: list[str], word: str) -> None:
    names = tuple(RepositoryName(f"{owner}/r{number}") for number, owner in enumerate(owners))
    known = Repositories(names)
    for typed in (word, "r0", "R0", names[0].upper()):
        found = known.find(typed)
        assert found is None or found in names
    here = Situation(Groups((), known))
    _, request = parse_command(f"status {names[0].upper()}", here)
    assert request.where == names[0]
