"""Personal notices that a person can switch off, and the question before a pause."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.repository import RepositoryName


class Notice(StrEnum):
    """One kind of personal notification or question.

    `MENTION`: their name in a channel, when their pull request left the queue and needs them, and
    no direct message tells them.
    `CONFIRMATION`: the question before a pause that they type stops running checks.
    The others are direct messages.
    `FAILURE`: the same in a direct message, instead of `MENTION`.
    `MERGE`: their pull request merged.
    `REMINDER`: their pause is still in force.
    `REPLACED`: somebody else replaced their pause or resumed the queue.
    """

    MENTION = "mentions"
    FAILURE = "failures"
    MERGE = "merges"
    REMINDER = "reminders"
    REPLACED = "replacements"
    CONFIRMATION = "confirmations"


Choices = Mapping[Notice, bool]
"""What a person has switched on or off themselves; what they have not has its default."""

ON_BY_DEFAULT = frozenset({Notice.MENTION, Notice.REMINDER, Notice.REPLACED, Notice.CONFIRMATION})
"""The first link of a login turns on the direct messages about failures as well."""

DIRECT = frozenset(Notice) - {Notice.MENTION, Notice.CONFIRMATION}
"""The direct messages."""

OF_THE_AUTHOR = frozenset({Notice.MENTION, Notice.FAILURE, Notice.MERGE})
"""Those for which the person's login of the code host has to be known."""


@dataclass(frozen=True, slots=True)
class AboutPerson:
    """Their login at the code host, if they gave it, and the notices they get.

    `awaited`: repositories of which they want to know once that the queue has resumed.
    """

    login: str | None
    wanted: frozenset[Notice]
    awaited: Sequence[RepositoryName] = ()


def wanted(choices: Choices) -> frozenset[Notice]:
    """The notices a person gets."""
    return frozenset(one for one in Notice if choices.get(one, one in ON_BY_DEFAULT))
