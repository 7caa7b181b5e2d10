"""Frequently created values behave like other values."""

from dataclasses import replace

from bot.domain.deliveries import Subject, SubjectKind
from tests.support.make import SITE


def test_equal_values_are_equal_keys() -> None:
    one, same = Subject(SubjectKind.EVENT, SITE, 1), Subject(SubjectKind.EVENT, SITE, 1)

    assert {one: "reported"}[same] == "reported"
    assert replace(one, subject_id=2) not in {one: "reported"}
    assert not hasattr(one, "__dict__")
