"""Values of which many are made are as other values are."""

from dataclasses import replace

from bot.domain.deliveries import Subject, SubjectKind
from tests.support.make import SITE


def test_equal_values_are_one_key() -> None:
    one, same = Subject(SubjectKind.EVENT, SITE, 1), Subject(SubjectKind.EVENT, SITE, 1)

    assert {one: "told"}[same] == "told"
    assert replace(one, subject_id=2) not in {one: "told"}
    assert not hasattr(one, "__dict__")
