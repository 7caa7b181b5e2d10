"""The repositories this bot is configured for, and what a person may call them."""

from dataclasses import dataclass

from bot.domain.errors import RepositoryNotAllowed
from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Repositories:
    """The configured repositories, in the order of the configuration."""

    names: tuple[RepositoryName, ...]

    def find(self, word: str) -> RepositoryName | None:
        """The repository called `word`: "owner/name", or "name" when only one owner has it.

        Hosts treat names without regard to case, so this does too.
        """
        folded = word.casefold()
        for name in self.names:
            if name.casefold() == folded:
                return name
        same = [name for name in self.names if name.name.casefold() == folded]
        one_owner = len({name.owner for name in self.names}) == 1
        return same[0] if len(same) == 1 and one_owner else None

    def allowed(self, word: str) -> RepositoryName:
        """The configured repository called `word`; raises RepositoryNotAllowed."""
        found = self.find(word)
        if found is None:
            raise RepositoryNotAllowed(word, self.names)
        return found
