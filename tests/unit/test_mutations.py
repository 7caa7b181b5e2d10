"""The lines that `python -m tests.mutations` breaks are there to be broken."""

import pytest

from tests.mutations import MUTATIONS, ROOT, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.decision)
def test_the_line_to_break_stands_once(mutation: Mutation) -> None:
    before = (ROOT / mutation.file).read_text()
    assert mutation.applied(before) != before
    for each in mutation.tests:
        assert (ROOT / each).exists()
