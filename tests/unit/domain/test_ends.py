"""Ends of pauses as people type them: `end_phrases` says what each of them means."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.acts.asked import Asked, read_times, typed_ends
from bot.kernel.durations import readings, written
from bot.kernel.ends.phrases import read_end, read_lasting
from bot.kernel.ends.spans import possible_spans
from bot.kernel.errors import InvalidDuration
from tests.unit.domain.end_phrases import ASK, FRIDAY, PHRASES, REFUSED, TEXT, Phrase


def outcome(phrase: Phrase) -> tuple[str, str]:
    """What the words mean, and the reason that is left."""
    zone = ZoneInfo(phrase.zone)
    try:
        lasting, taken = read_lasting(phrase.typed.split())
        if lasting is None:
            typed = typed_ends(Asked(phrase.typed), phrase.now, zone)
            return (ASK if typed.is_doubt else TEXT), ""
        first, *others = readings(lasting, phrase.now, zone)
    except InvalidDuration:
        return REFUSED, ""
    if others:
        return ASK, ""
    rest = " ".join(phrase.typed.split()[taken:])
    if phrase.expected.endswith("Z"):
        return f"{first.astimezone(UTC):%Y-%m-%dT%H:%M}Z", rest
    return f"{first.astimezone(zone):%Y-%m-%dT%H:%M}", rest


@pytest.mark.parametrize(
    "phrase", PHRASES, ids=lambda phrase: f"{phrase.typed} {phrase.zone} {phrase.now:%b}"
)
def test_an_end_means_what_a_colleague_would_understand(phrase: Phrase) -> None:
    assert outcome(phrase) == (phrase.expected, phrase.rest)


@pytest.mark.parametrize(
    "phrase", PHRASES, ids=lambda phrase: f"{phrase.typed} {phrase.zone} {phrase.now:%b}"
)
def test_an_end_is_read_again_from_what_forms_and_buttons_carry(phrase: Phrase) -> None:
    try:
        lasting, _ = read_lasting(phrase.typed.split())
    except InvalidDuration:
        return
    if lasting is not None:
        assert read_end(written(lasting)) == lasting


def test_the_table_is_long_enough_and_says_each_thing_once() -> None:
    assert (
        len({(phrase.typed, phrase.now, phrase.zone) for phrase in PHRASES}) == len(PHRASES) >= 480
    )
    assert all(isinstance(phrase.now, datetime) for phrase in PHRASES)


@pytest.mark.parametrize(
    ("typed", "start", "end"),
    [
        ("from tomorrow 9am until tomorrow 10am", "28T09:00", "28T10:00"),
        ("from tomorrow 9am until 10am", "28T09:00", "28T10:00"),
        ("from today 23:00 until tomorrow 6am", "27T23:00", "28T06:00"),
        ("from 00:30 until tomorrow 6am", "28T00:30", "28T06:00"),
        ("from tomorrow 22:00 until sunday 6am", "28T22:00", "29T06:00"),
        ("from tomorrow 22:00 for 2h", "28T22:00", "29T00:00"),
    ],
)
def test_tomorrow_is_the_persons_own_also_behind_a_start(typed: str, start: str, end: str) -> None:
    now = datetime(2026, 11, 27, 15, 20, tzinfo=UTC)
    times, _ = read_times(typed.split())
    read = typed_ends(times, now, ZoneInfo("UTC"))
    (only,) = read.ends
    assert only.asked.start is not None
    assert only.at == datetime.fromisoformat(f"2026-11-{end}:00+00:00")
    begins = readings(only.asked.start, now, ZoneInfo("UTC"))
    assert begins == [datetime.fromisoformat(f"2026-11-{start}:00+00:00")]


def test_an_end_before_its_start_is_refused() -> None:
    times, _ = read_times(["from", "sunday", "9am", "until", "tomorrow", "10am"])
    with pytest.raises(InvalidDuration):
        typed_ends(times, datetime(2026, 11, 27, 15, 20, tzinfo=UTC), ZoneInfo("UTC"))


@pytest.mark.parametrize("typed", ["this weekend", "over the weekend", "weekend", "the weekend"])
def test_a_weekend_that_a_pause_is_to_last_doesnt_end_before_it_begins(typed: str) -> None:
    now = datetime(2026, 11, 26, 10, tzinfo=UTC)
    asked = typed_ends(Asked(typed), now, ZoneInfo("UTC"))
    assert asked.is_doubt
    assert asked.ends == ()


@pytest.mark.parametrize("typed", ["45", "for 45", "for 45 CI is down", "for 45, CI is down"])
def test_a_number_without_a_unit_may_be_minutes(typed: str) -> None:
    (meant,) = typed_ends(Asked(typed), FRIDAY, ZoneInfo("UTC")).ends
    assert (meant.at - FRIDAY).total_seconds() == 45 * 60
    assert meant.asked.reason in {"", "CI is down"}


SPANS = [
    ("5-6pm release", ["from 17:00 until 18:00 release"]),
    ("from 5 to 6pm", ["from 17:00 until 18:00"]),
    ("11-1pm", ["from 11:00 until 13:00"]),
    ("from 5pm until 7", ["from 17:00 until 19:00"]),
    ("from 17 to 19", ["from 17:00 until 19:00"]),
    ("17-18 Uhr", ["from 17:00 until 18:00"]),
    ("17:00-19:00 release", ["from 17:00 until 19:00 release"]),
    ("between 5pm and 7pm", ["from 17:00 until 19:00"]),
    ("22:00-6:00", ["from 22:00 until 06:00"]),
    ("5-6pm CET", ["from 17:00 CET until 18:00 CET"]),
    ("friday 17:00-19:00", ["from fri 17:00 until fri 19:00"]),
    ("tomorrow 14 to 16", ["from tomorrow 14:00 until tomorrow 16:00"]),
    ("tomorrow 9:00-10:00", ["from tomorrow 09:00 until tomorrow 10:00"]),
    (
        "tomorrow 9 to 10",
        ["from tomorrow 09:00 until tomorrow 10:00", "from tomorrow 21:00 until tomorrow 22:00"],
    ),
    (
        "from 9 to 10 tomorrow",
        ["from tomorrow 09:00 until tomorrow 10:00", "from tomorrow 21:00 until tomorrow 22:00"],
    ),
    (
        "from 5pm to 7pm tomorrow",
        ["from tomorrow 17:00 until tomorrow 19:00", "from 17:00 until tomorrow 19:00"],
    ),
    ("from 22:00 to 6:00 tomorrow", ["from 22:00 until tomorrow 06:00"]),
    ("9-5", ["from 09:00 until 17:00", "from 21:00 until 05:00"]),
    ("from 5 to 6", ["from 17:00 until 18:00", "from 05:00 until 06:00"]),
    (
        "friday to monday release",
        ["from fri 09:00 until mon 09:00 release", "from fri 00:00 until mon 00:00 release"],
    ),
    (
        "from 5pm until tomorrow",
        ["from 17:00 until tomorrow 09:00", "from 17:00 until tomorrow 00:00"],
    ),
    # No start and end.
    ("9-10 tests fail", ["9-10 tests fail"]),
    ("3 to 4 runners are down", ["3 to 4 runners are down"]),
    ("5 and 6", ["5 and 6"]),
    ("1-2h", ["1-2h"]),
    ("41-42", ["41-42"]),
    ("friday to be fixed", ["friday to be fixed"]),
]
"""What people type, and what it may mean."""


@pytest.mark.parametrize(("typed", "meant"), SPANS)
def test_a_start_and_an_end_in_one_are_read_or_asked_about(typed: str, meant: list[str]) -> None:
    words = typed.split()
    try:
        times, taken = read_times(words)
        found = [replace(times, reason=" ".join(words[taken:]))]
    except InvalidDuration:
        found = [
            Asked(" ".join(words[span.words :]), lasting=span.end, start=span.start)
            for span in possible_spans(words)
        ]
    assert [asked.written for asked in found] == meant


@pytest.mark.parametrize("typed", ["until 9:00-10:00", "until tomorrow 9:00-10:00"])
def test_a_span_is_no_time_zone(typed: str) -> None:
    assert read_lasting(typed.split()).at is None


def test_nine_to_ten_is_not_nine_minutes_to_ten() -> None:
    ends = typed_ends(Asked("until 9 to 10"), FRIDAY, ZoneInfo("UTC")).ends
    assert {end.at.minute for end in ends} == {0}
