"""However a repository is written, a command acts on it, asks or refuses, and never on another."""

from hypothesis import assume, given, strategies as st

from bot.acts.asked import is_option
from bot.acts.errors import InvalidCondition
from bot.desk.readers.typed_command import TypedCommand
from bot.desk.situation import Situation
from bot.desk.table import COMMANDS, Command, parse_command
from bot.kernel.errors import (
    CommandSyntaxError,
    InvalidDuration,
    RepositoryNotAllowed,
    TargetNotClear,
    UnknownGroup,
)
from bot.kernel.groups import Groups, Repositories, read_groups
from bot.kernel.repository import RepositoryName
from bot.kernel.typed import read_words
from tests.support.make import API, SITE

DOCS = RepositoryName("acme/docs")
OTHER_DOCS = RepositoryName("umbrella/docs")
ODD = RepositoryName("acme/.all_-")
KNOWN = Repositories((SITE, API, DOCS, OTHER_DOCS, ODD))
GROUPS = Groups(read_groups("release=acme/site,acme/api;docs=acme/docs,umbrella/docs"), KNOWN)
REFUSALS = (
    CommandSyntaxError,
    InvalidCondition,
    InvalidDuration,
    RepositoryNotAllowed,
    UnknownGroup,
)

WITHOUT_TARGET = {"help", "link", "me", "subscriptions"}
PAIRS = [
    "``",
    "**",
    "__",
    "~~",
    '""',
    "''",
    "()",
    "[]",
    "<>",
    "{}",
    "“”",
    "\u2018\u2019",
    "«»",
    "\u2066\u2069",
]
BEHIND = ["", ":", ",", ";", ".", "!", "?", "/", "…", " -", " —", ":,", ").", "\u200b", "\ufe0f"]
UNSEEN = ["\u200b", "\u00ad", "\u2060", "\ufeff", "\ufe0f", "\u034f"]
FORMS = [
    "{0}",
    "{0}#41",
    "{0}/pull/41",
    "https://github.com/{0}",
    "https://github.com/{0}/pull/41/files#x",
    "http://code.example/{0}/-/merge_requests/41",
    "git@github.com:{0}.git",
    "github.com/{0}/",
    "@{0}",
    "/{0}",
    "https://dashboard.example/queues?login={1}&repository={2}",
    "https://ci.example/{0}/runs/7",
]
VERBS = [command for command in COMMANDS if command.name not in WITHOUT_TARGET]
NUMBERED = {"why", "remove", "allow"}


@st.composite
def written(draw: st.DrawFn, repository: RepositoryName) -> str:
    form = draw(st.sampled_from(FORMS))
    text = form.format(repository, repository.owner, repository.name)
    if draw(st.booleans()):
        text = draw(st.sampled_from([text.upper(), text.title(), text]))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(UNSEEN)) + text[at:]
    for pair in draw(st.lists(st.sampled_from(PAIRS), max_size=3)):
        text = pair[0] + text + pair[1]
    return text + draw(st.sampled_from(BEHIND))


def command_with(verb: Command, name: str, *, in_front: str = "", reason: str = "") -> str:
    number = "41 " if verb.name in NUMBERED else ""
    behind = f" {reason}" if verb.takes_text else ""
    return f"{verb.name} {in_front if verb.takes_text else ''}{number}{name}{behind}"


def read(typed: str, *, is_settled: bool = False) -> TypedCommand:
    _, request = parse_command(typed, Situation(GROUPS, is_settled=is_settled))
    return request


@given(
    verb=st.sampled_from(VERBS),
    repository=st.sampled_from(KNOWN.names),
    in_front=st.sampled_from(["", "now ", "45m ", "now until 15:00 "]),
    data=st.data(),
)
def test_a_command_acts_on_the_repository_written_or_asks_or_refuses(
    verb: Command, repository: RepositoryName, in_front: str, data: st.DataObject
) -> None:
    assume(not (verb.name in {"unfreeze", "allow"} and in_front))
    name = data.draw(written(repository))
    typed = command_with(verb, name, in_front=in_front, reason="CI is down")
    try:
        request = read(typed)
    except REFUSALS:
        return
    except TargetNotClear as unclear:
        meant: set[object] = {reading.target for reading in unclear.readings}
    else:
        meant = {request.where}
    assert repository in meant


@given(
    verb=st.sampled_from([one for one in VERBS if one.takes_text]),
    word=st.sampled_from(["site", "api", "docs", "release", "Site:", "`API`", "(docs)", "the api"]),
    reason=st.text(max_size=20),
)
def test_a_bare_name_in_front_of_a_reason_is_always_asked_about(
    verb: Command, word: str, reason: str
) -> None:
    try:
        read(command_with(verb, word, reason=reason))
    except TargetNotClear as unclear:
        for reading in unclear.readings:
            try:
                settled = read(reading.typed, is_settled=True)
            except REFUSALS:
                continue
            meant = None if reading.target is None else GROUPS.target(reading.target)
            assert settled.where == meant
    except REFUSALS:
        return
    else:
        raise AssertionError(word)


@given(
    verb=st.sampled_from([one for one in VERBS if one.takes_text]),
    name=st.sampled_from(["", "acme/site ", "`acme/site`: ", "@release ", "all "]),
    text=st.text(
        st.one_of(st.characters(codec="utf-8"), st.sampled_from(" *_`~\"'“”()<>:,.#@/-—")),
        max_size=40,
    ),
)
def test_a_reason_is_a_piece_of_what_was_typed(verb: Command, name: str, text: str) -> None:
    typed = command_with(verb, name, reason=text)
    assume(not any(is_option(word.plain) for word in read_words(typed)))
    try:
        request = read(typed)
    except (*REFUSALS, TargetNotClear):
        return
    asked = request.options.get("asked")
    reason = asked.reason if asked is not None else request.options["reason"]
    assert reason in typed
    assert reason == reason.strip()


@given(
    repository=st.sampled_from(KNOWN.names),
    other=st.sampled_from(KNOWN.names),
    text=st.sampled_from(["CI is down on {}", "see {}#41", "{} and {} broke", "because of `{}`"]),
)
def test_a_reason_that_names_a_queue_is_never_put_on_another_unasked(
    repository: RepositoryName, other: RepositoryName, text: str
) -> None:
    try:
        request = read(f"pause now {text.format(repository, other)}")
    except TargetNotClear as unclear:
        meant: set[object] = {reading.target for reading in unclear.readings}
    else:
        meant = {request.where}
    assert repository in meant
