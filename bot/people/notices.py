"""Personal notices that a person can switch off, and the question before a pause."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.kernel.repository import RepositoryName


class Notice(StrEnum):
    """One kind of personal notification or question."""

    #: their name in a channel, when their pull request left the queue and needs them, and no direct
    #: message tells them
    MENTION = "mentions"
    FAILURE = "failures"  #: the same in a direct message, instead of `MENTION`
    MERGE = "merges"  #: their pull request merged
    REMINDER = "reminders"  #: their pause is still in force
    REPLACED = "replacements"  #: somebody else replaced their pause or resumed the queue
    #: the question before a pause that they type stops running checks. The others are direct
    #: messages.
    CONFIRMATION = "confirmations"


Choices = Mapping[Notice, bool]
"""What a person has switched on or off themselves; what they have not has its default."""

ON_BY_DEFAULT = frozenset({Notice.MENTION, Notice.REMINDER, Notice.REPLACED, Notice.CONFIRMATION})
"""The first link of a login turns on the direct messages about failures as well."""

DIRECT_NOTICES = frozenset(Notice) - {Notice.MENTION, Notice.CONFIRMATION}
"""The direct messages."""

OF_THE_AUTHOR = frozenset({Notice.MENTION, Notice.FAILURE, Notice.MERGE})
"""Those for which the person's login of the code host has to be known."""


@dataclass(frozen=True, slots=True)
class AboutPerson:
    """Their login at the code host, if they gave it, and the notices they get."""

    login: str | None
    wanted: frozenset[Notice]
    #: repositories of which they want to know once that the queue has resumed
    awaited: Sequence[RepositoryName] = ()


def wanted(choices: Choices) -> frozenset[Notice]:
    """The notices a person gets."""
    return frozenset(notice for notice in Notice if choices.get(notice, notice in ON_BY_DEFAULT))
