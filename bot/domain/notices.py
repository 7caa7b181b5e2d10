"""What one person is told, and may switch off: mentions and kinds of direct messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.repository import RepositoryName


class Notice(StrEnum):
    """One kind of what a person is told.

    `MENTION`: their name in a channel, where a pull request of theirs left the queue and needs
    them. The others are direct messages. `FAILURE`: the same, told them alone. `MERGE`: a pull
    request of theirs merged. `REMINDER`: a pause of theirs goes on. `REPLACED`: somebody else
    replaced or resumed it.
    """

    MENTION = "mentions"
    FAILURE = "failures"
    MERGE = "merges"
    REMINDER = "reminders"
    REPLACED = "replacements"


Choices = Mapping[Notice, bool]
"""What a person has switched on or off themselves; what they have not has its default."""

ON_BY_DEFAULT = frozenset({Notice.MENTION, Notice.REMINDER, Notice.REPLACED})
"""A mention says already who is needed; what would be told twice has to be asked for."""

DIRECT = frozenset(Notice) - {Notice.MENTION}
"""The direct messages."""

OF_THE_AUTHOR = frozenset({Notice.MENTION, Notice.FAILURE, Notice.MERGE})
"""Those for which the person's login of the code host has to be known."""


@dataclass(frozen=True, slots=True)
class AboutPerson:
    """Their login of the code host, if they told it, and the notices they get.

    `awaited`: the repositories of which they are told once that the queue goes on.
    """

    login: str | None
    wanted: frozenset[Notice]
    awaited: Sequence[RepositoryName] = ()


def wanted(choices: Choices) -> frozenset[Notice]:
    """The notices that a person gets."""
    return frozenset(one for one in Notice if choices.get(one, one in ON_BY_DEFAULT))
