"""The lines that `python -m tests.mutations` breaks exist."""

import pytest

from tests.mutations import MUTATIONS, ROOT, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.decision)
def test_each_mutated_line_occurs_once(mutation: Mutation) -> None:
    before = (ROOT / mutation.file).read_text()
    assert mutation.applied(before) != before
    for each in mutation.tests:
        assert (ROOT / each).exists()
