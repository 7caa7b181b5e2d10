"""What stands below an attribute is found as pydantic would find it."""

from typing import ClassVar

from bot.kernel.attribute_docstrings import attribute_docstrings
from bot.machines.requests import FreezeRequest


class Base:
    first: int
    """Of the base."""
    second: int = 2
    # Nothing but a comment.
    third: str = "no docstring"

    def method(self) -> None:
        """Of no attribute."""


class Derived(Base):
    """Of the class."""

    first: int
    """Its own,
    in two lines."""
    fourth: ClassVar[int] = 4
    fifth: int
    """The last."""


def test_a_class_has_its_own_docstrings_and_those_that_it_inherits() -> None:
    assert attribute_docstrings(Derived) == {
        "first": "Its own,\nin two lines.",
        "fifth": "The last.",
    }
    assert attribute_docstrings(Base) == {"first": "Of the base."}


class Request(FreezeRequest, use_attribute_docstrings=True):
    """What pydantic itself reads."""

    branch: str = ""
    """One of ours,

    with a blank line.
    """


def test_it_reads_the_same_as_pydantic() -> None:
    read = Request.model_fields["branch"].description
    assert attribute_docstrings(Request) == {"branch": read}
    assert attribute_docstrings(FreezeRequest).keys() == FreezeRequest.model_fields.keys()
