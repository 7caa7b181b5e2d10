"""`python -m tests.readability`, which refuses packed assignments and words with two meanings."""

import ast
from pathlib import Path

import pytest

from tests.readability import (
    Finding,
    Module,
    packed_assignments,
    problems,
    same_classes,
    two_meanings,
)

PACKED = [
    "a, b = x, y",
    "a, b = f(x), g(x)",
    "self.a, self.b = a, b",
    "waiting, self.waiting = self.waiting, []",
    "FIRST_WAIT, LONGEST_WAIT = 2, 300",
    "[a, b] = [x, y]",
    "(a, b), c = (x, y), z",
    "a, *b = x, y, z",
    "found = a, b = x, y",
    "mark, word = ('a', 'b') if is_frozen else ('c', 'd')",
    "mark, word = ('a', 'b') if is_frozen else words_of(state)",
]
FINE = [
    "a = x",
    "pair = x, y",
    "a = b = x",
    "a, b = f(x)",
    "a, b = await gather(f(x), g(x))",
    "a, b = word.partition(':')[::2]",
    "a, b = pair",
    "a, b = pair if is_known else pair_of(x)",
    "a, b = b, a",
    "rows[i], rows[j] = rows[j], rows[i]",
    "for a, b in ((x, y), (z, w)): pass",
]


@pytest.mark.parametrize("line", PACKED)
def test_values_that_are_packed_into_one_statement_are_refused(line: str) -> None:
    assert len(list(packed_assignments(ast.parse(line)))) == 1


@pytest.mark.parametrize("line", FINE)
def test_one_value_may_be_unpacked_and_two_may_be_swapped(line: str) -> None:
    assert list(packed_assignments(ast.parse(line))) == []


def test_a_packed_assignment_is_found_in_a_method() -> None:
    body = "class A:\n    def f(self):\n        if self.x:\n            a, b = 1, 2\n"
    (found,) = packed_assignments(ast.parse(body))
    assert found.lineno == 4


def meanings(**text_by_module: str) -> list[str]:
    """The names with two meanings in modules with these texts."""
    written = [Module(Path(f"{name}.py"), ast.parse(text)) for name, text in text_by_module.items()]
    return [finding.text for finding in two_meanings(written)]


@pytest.mark.parametrize(
    "other",
    ["PAGE = 25", "PAGE: Final = 25", "A = PAGE = 25", '"""A module."""\n\nPAGE = SMALL * 2'],
)
def test_a_constant_with_another_value_elsewhere_is_refused(other: str) -> None:
    assert meanings(status="PAGE = 10", log=other) == ["PAGE"]


def test_a_private_constant_is_a_word_too() -> None:
    assert meanings(names="_LENGTH = 1", lengths="_LENGTH = 2") == ["_LENGTH"]


@pytest.mark.parametrize(
    "other",
    [
        "PAGE = 10",
        "PAGES = 25",
        "Page = 25",
        "PAGE: int",
        "def f():\n    PAGE = 25\n",
        "from status import PAGE",
        "if PAGE == 25: pass",
    ],
)
def test_one_value_or_another_name_is_fine(other: str) -> None:
    assert meanings(status="PAGE = 10", log=other) == []


@pytest.mark.parametrize(
    "other",
    ["class Page: pass", "class Page(Sheet): pass", "@dataclass\nclass Page:\n    number: int"],
)
def test_a_class_of_the_same_name_elsewhere_is_refused(other: str) -> None:
    texts = ("class Page: pass", other)
    written = [Module(Path(f"{at}.py"), ast.parse(text)) for at, text in enumerate(texts)]
    assert list(same_classes(written)) == [Finding("Page", "0.py, 1.py")]


@pytest.mark.parametrize(
    "other",
    [
        "class Page(Protocol): pass",
        "class Page(Protocol[Item]): pass",
        "class Pages: pass",
        "from status import Page",
        "def f():\n    class Page: pass",
    ],
)
def test_a_protocol_of_a_class_or_another_name_is_fine(other: str) -> None:
    texts = ("class Page: pass", other)
    written = [Module(Path(f"{at}.py"), ast.parse(text)) for at, text in enumerate(texts)]
    assert list(same_classes(written)) == []


def test_every_module_that_gives_a_value_is_named() -> None:
    written = [Module(Path(f"{name}.py"), ast.parse(f"PAGE = {name!r}")) for name in "abc"]
    assert list(two_meanings(written)) == [Finding("PAGE", "a.py, b.py, c.py")]


def test_the_project_has_neither() -> None:
    assert list(problems()) == []
