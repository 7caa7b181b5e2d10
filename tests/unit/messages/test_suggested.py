"""The options of a menu fit into one frame of Socket Mode."""

import json

import pytest

from bot.blocks import targets
from bot.kernel.repository import RepositoryName

FRAME = 20_480
ENVELOPE = 200


@pytest.mark.parametrize("length", [3, 20, 60, 100])
@pytest.mark.parametrize("letter", ["a", "é", "火"])
def test_suggestions_fit_into_a_frame(length: int, letter: str) -> None:
    names = [RepositoryName(f"acme/{letter * length}{number}") for number in range(300)]
    options = targets.suggestions(names, "acme")
    assert options
    assert len(json.dumps({"options": options}).encode()) + ENVELOPE <= FRAME


def test_short_names_are_limited_by_their_number() -> None:
    names = [RepositoryName(f"acme/{number}") for number in range(300)]
    assert len(targets.suggestions(names, "")) == 100
