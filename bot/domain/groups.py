"""The configured repositories and groups, and the names people use for them."""

import re
from dataclasses import dataclass
from difflib import get_close_matches

from bot.domain.errors import InvalidRequest, RepositoryNotAllowed, UnknownGroup
from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Repositories:
    """The configured repositories, in the order of the configuration."""

    names: tuple[RepositoryName, ...]

    def find(self, word: str) -> RepositoryName | None:
        """The repository called `word`: "owner/name", or "name" if only one owner has it.

        Case doesn't matter, as on code hosts.
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


ALL = "all"
"""Always means every configured repository."""

NAME_LENGTH = 30
_NAME = re.compile(rf"[a-z0-9][a-z0-9_\-]{{0,{NAME_LENGTH - 1}}}")


class GroupsProblem(ValueError):
    """Unusable groups: a sentence that says what is wrong and how to fix it."""


@dataclass(frozen=True, slots=True)
class Group:
    """A name for several repositories, each listed once."""

    name: str
    repositories: tuple[RepositoryName, ...]

    @property
    def mention(self) -> str:
        """As people write it: "@release", or "all"."""
        return ALL if self.name == ALL else f"@{self.name}"


def read_groups(value: object) -> tuple[Group, ...]:
    """Read `release=acme/site,acme/api;docs=acme/docs`; raises GroupsProblem."""
    groups = [_group(part.strip()) for part in str(value).split(";") if part.strip()]
    if not groups:
        raise GroupsProblem("no group is named; leave it out to have none")
    names = [group.name for group in groups]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise GroupsProblem(f"the group “{double}” is there twice; make one of the two")
    return tuple(groups)


def _group(part: str) -> Group:
    word, equals, listed = part.partition("=")
    name = word.strip().removeprefix("@").lower()
    if not equals:
        raise GroupsProblem(f"“{part[:80]}” is not name=owner/name,owner/name")
    if name == ALL:
        raise GroupsProblem(
            "“all” always means every repository of MQBOT_REPOSITORIES; give the group another name"
        )
    if not _NAME.fullmatch(name):
        raise GroupsProblem(
            f"“{word.strip()[:80]}” cannot name a group; use 1 to {NAME_LENGTH} of a-z, 0-9, "
            "- and _, a letter or digit first"
        )
    return Group(name, _repositories(name, listed))


def _repositories(group: str, listed: str) -> tuple[RepositoryName, ...]:
    found: list[RepositoryName] = []
    for word in filter(None, (word.strip() for word in listed.split(","))):
        try:
            repository = RepositoryName.parse(word)
        except InvalidRequest as error:
            raise GroupsProblem(
                f"“{word[:80]}” in the group “{group}” is no repository: {error.detail}"
            ) from error
        if any(repository.casefold() == other.casefold() for other in found):
            raise GroupsProblem(
                f"{repository} is in the group “{group}” twice; leave one of the two out"
            )
        found.append(repository)
    if not found:
        raise GroupsProblem(
            f"the group “{group}” names no repository; write {group}=owner/name or leave it out"
        )
    return tuple(found)


Target = RepositoryName | Group
"""One queue, or those of a group."""


def repositories_of(target: Target) -> tuple[RepositoryName, ...]:
    return target.repositories if isinstance(target, Group) else (target,)


@dataclass(frozen=True, slots=True)
class Groups:
    """The configured groups of the configured repositories."""

    groups: tuple[Group, ...]
    repositories: Repositories

    def __post_init__(self) -> None:
        """Check the groups; raises GroupsProblem for a repository that isn't configured."""
        for group in self.groups:
            for name in group.repositories:
                if self.repositories.find(name) is None:
                    raise GroupsProblem(
                        f"{name} in the group “{group.name}” is not in MQBOT_REPOSITORIES; "
                        "add it there or take it out of the group"
                    )

    @property
    def names(self) -> tuple[str, ...]:
        return (*(group.name for group in self.groups), ALL)

    def find(self, word: str) -> Group | None:
        """The group called `word`: "@release" or "release", in any case.

        A repository's name takes precedence unless the word starts with `@`. Raises UnknownGroup
        for an unknown `@` word: read as part of a reason, it would pause the wrong queue.
        """
        name = word.removeprefix("@").casefold()
        is_marked = word.startswith("@")
        if not is_marked and self.repositories.find(word) is not None:
            return None
        if name == ALL:
            return Group(ALL, self.repositories.names)
        found = next((group for group in self.groups if group.name == name), None)
        if found is None and is_marked:
            raise self._unknown(word)
        if found is None:
            return None
        # Spelled as in MQBOT_REPOSITORIES.
        return Group(found.name, tuple(map(self.repositories.allowed, found.repositories)))

    def named(self, name: str) -> Group:
        """The group with that exact name, as stored in a button; raises UnknownGroup."""
        found = self.find(f"@{name}")
        if found is None:
            raise self._unknown(f"@{name}")
        return found

    @property
    def offered(self) -> tuple[Group, ...]:
        """Those that a menu offers beside the repositories: `all` only if it is several."""
        several = len(self.repositories.names) > 1
        return tuple(self.named(name) for name in self.names if several or name != ALL)

    def target(self, value: str) -> Target:
        """Read `target_value` back; raises RepositoryNotAllowed and UnknownGroup."""
        if value.startswith("@"):
            return self.named(value[1:])
        return self.repositories.allowed(value)

    def _unknown(self, word: str) -> UnknownGroup:
        nearest = get_close_matches(word.lstrip("@").lower(), self.names, n=1, cutoff=0.5)
        return UnknownGroup(word, self.names, nearest[0] if nearest else None)


def target_value(target: Target) -> str:
    """What the option of a menu, or a form, carries."""
    return f"@{target.name}" if isinstance(target, Group) else target
