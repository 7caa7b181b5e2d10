"""The configured repositories and groups, and the names people use for them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Generic, NamedTuple, TypeVar

from bot.kernel.errors import InvalidRequest, RepositoryNotAllowed, UnknownGroup
from bot.kernel.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Repositories:
    """The configured repositories, in the order of the configuration."""

    names: tuple[RepositoryName, ...]
    #: those that the settings don't name any more, while their queue is still paused: people can
    #: name them, so that they can resume it
    left: tuple[RepositoryName, ...] = ()

    _full: Mapping[str, RepositoryName] = field(init=False, repr=False, compare=False)
    _bare: Mapping[str, tuple[RepositoryName, ...]] = field(init=False, repr=False, compare=False)
    _owners: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        bare: dict[str, tuple[RepositoryName, ...]] = {}
        known = (*self.names, *self.left)
        for repository in known:
            word = repository.name.casefold()
            bare[word] = (*bare.get(word, ()), repository)
        full = {name.casefold(): name for name in reversed(known)}
        object.__setattr__(self, "_full", full)
        object.__setattr__(self, "_bare", bare)
        owners = frozenset(repository.owner.casefold() for repository in known)
        object.__setattr__(self, "_owners", owners)

    def full(self, word: str) -> RepositoryName | None:
        """The repository called `word` with its owner. Case doesn't matter, as on code hosts."""
        return self._full.get(word.casefold())

    def called(self, word: str) -> tuple[RepositoryName, ...]:
        """Those called `word` without their owners."""
        return self._bare.get(word.casefold(), ())

    def has_owner(self, word: str) -> bool:
        return word.casefold() in self._owners

    def find(self, word: str) -> RepositoryName | None:
        """The repository called `word`: "owner/name", or "name" if only one has it."""
        found = self.full(word)
        if found is not None:
            return found
        same = self.called(word)
        return same[0] if len(same) == 1 else None

    def allowed(self, word: str) -> RepositoryName:
        """The configured repository called `word`; raises RepositoryNotAllowed."""
        found = self.find(word)
        if found is None:
            raise RepositoryNotAllowed(word, self.names)
        return found


ALL = "all"
"""Always means every configured repository."""


OF_OWNER = "/*"
"""Behind an owner, it means every configured repository of that owner."""


NAME_LENGTH = 30


_GROUP_NAME = re.compile(rf"[a-z0-9][a-z0-9_\-]{{0,{NAME_LENGTH - 1}}}")


def distance(name: str) -> int:
    """Of two settings the nearer counts: a repository's own, its group's, its owner's, of all."""
    if name.lower().removeprefix("@") == ALL:
        return 3
    if name.endswith(OF_OWNER):
        return 2
    return 1 if name.startswith("@") else 0


class GroupsProblem(ValueError):
    """Unusable groups: a sentence that says what is wrong and how to fix it."""


@dataclass(frozen=True, slots=True)
class Group:
    """A name for several repositories, each listed once."""

    name: str
    repositories: tuple[RepositoryName, ...]

    @property
    def mention(self) -> str:
        """As people write it: "@release", "acme/*" or "all"."""
        return mention_of(self.name)


def mention_of(name: str) -> str:
    """A group's name as people write it."""
    return name if name == ALL or name.endswith(OF_OWNER) else f"@{name}"


def name_in(mention: str) -> str:
    """The name of a group, as people write it."""
    return mention.removeprefix("@")


def read_groups(
    value: object, repositories: Sequence[RepositoryName] | None = None
) -> tuple[Group, ...]:
    """Read `release=acme/site,acme/api;docs=acme/docs,umbrella/*`; raises GroupsProblem.

    `repositories`: the configured ones, in whose order `all`, `owner/*` and other groups are
    expanded; without them these stand for nothing.
    """
    listed: dict[str, Sequence[str]] = {}
    for part in str(value).split(";"):
        if not part.strip():
            continue
        group = _group(part.strip())
        if group.name in listed:
            raise GroupsProblem(f"the group “{group.name}” is there twice; make one of the two")
        listed[group.name] = group.words
    if not listed:
        raise GroupsProblem("no group is named; leave it out to have none")
    expanding = _Expanding(listed, repositories)
    return tuple(Group(name, expanding.members(name)) for name in listed)


class _ListedGroup(NamedTuple):
    """A group as it is written."""

    name: str
    words: Sequence[str]  #: what is listed as its members


def _group(part: str) -> _ListedGroup:
    word, equals, listed = part.partition("=")
    name = word.strip().removeprefix("@").lower()
    if not equals:
        raise GroupsProblem(f"“{part[:80]}” is not name=owner/name,owner/name")
    if name == ALL:
        raise GroupsProblem(
            "“all” always means every repository of MQBOT_REPOSITORIES; give the group another name"
        )
    if not _GROUP_NAME.fullmatch(name):
        raise GroupsProblem(
            f"“{word.strip()[:80]}” cannot name a group; use 1 to {NAME_LENGTH} of a-z, 0-9, "
            "- and _, a letter or digit first"
        )
    words = [word.strip() for word in listed.split(",") if word.strip()]
    if not words:
        raise GroupsProblem(
            f"the group “{name}” names no repository; write {name}=owner/name or leave it out"
        )
    return _ListedGroup(name, words)


@dataclass(frozen=True, slots=True)
class _Expanding:
    """Groups by name with the words of their lists, and the configured repositories."""

    listed: Mapping[str, Sequence[str]]
    repositories: Sequence[RepositoryName] | None

    def members(self, group: str, within: tuple[str, ...] = ()) -> tuple[RepositoryName, ...]:
        """`within`: the groups whose lists name it; raises GroupsProblem."""
        if group in within:
            raise GroupsProblem(f"the group “{group}” is in itself; leave one of the two out")
        named: list[RepositoryName] = []
        found: list[RepositoryName] = []
        for word in self.listed[group]:
            if word == ALL or word.startswith("@") or word.endswith(OF_OWNER):
                found += self._selected(word, group, (*within, group))
                continue
            repository = _member_of_group(group, word)
            if any(repository.casefold() == other.casefold() for other in named):
                raise GroupsProblem(
                    f"{repository} is in the group “{group}” twice; leave one of the two out"
                )
            named.append(repository)
            found.append(repository)
        first: dict[str, RepositoryName] = {}
        for name in found:
            first.setdefault(name.casefold(), name)
        return tuple(first.values())

    def _selected(self, word: str, group: str, within: tuple[str, ...]) -> Sequence[RepositoryName]:
        name = word.removeprefix("@").lower()
        if word.startswith("@") and name in self.listed:
            return self.members(name, within)
        known = self.repositories
        found = Groups((), Repositories(tuple(known or ()))).known(name)
        if found is not None or known is None:
            return found.repositories if found is not None else ()
        if word.startswith("@"):
            raise GroupsProblem(f"{word[:80]} in the group “{group}” isn't a group of the settings")
        raise GroupsProblem(
            f"{word[:80]} in the group “{group}” stands for nothing in MQBOT_REPOSITORIES; "
            "add a repository of that owner there, or take it out of the group"
        )


def _member_of_group(group: str, word: str) -> RepositoryName:
    try:
        return RepositoryName.parse(word)
    except InvalidRequest as error:
        raise GroupsProblem(
            f"“{word[:80]}” in the group “{group}” isn't a repository: {error.detail}"
        ) from error


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

        A repository's name takes precedence unless the word starts with `@`, except over `all`.
        Raises UnknownGroup for an unknown `@` word: read as part of a reason, it would pause the
        wrong queue.
        """
        name = word.removeprefix("@")
        is_marked = word.startswith("@")
        is_all = name.casefold() == ALL
        if not (is_marked or is_all) and self.repositories.called(word):
            return None
        found = self.known(name)
        if found is None and is_marked:
            raise self.unknown(word)
        return found

    def known(self, name: str) -> Group | None:
        """The group of that name, in any case."""
        folded = name.casefold()
        if folded == ALL:
            return self.everything
        if folded.endswith(OF_OWNER):
            return self._of_owner(folded.removesuffix(OF_OWNER))
        for group in self.groups:
            if group.name == folded:
                # Spelled as in MQBOT_REPOSITORIES.
                names = tuple(map(self.repositories.allowed, group.repositories))
                return Group(group.name, names)
        return None

    def _of_owner(self, owner: str) -> Group | None:
        found = [name for name in self.repositories.names if name.owner.casefold() == owner]
        if not found:
            return None
        return Group(f"{found[0].owner}{OF_OWNER}", tuple(found))

    @property
    def everything(self) -> Group:
        """Every configured repository."""
        return Group(ALL, self.repositories.names)

    def named(self, name: str) -> Group:
        """The group with that exact name, as stored in a button; raises UnknownGroup."""
        found = self.find(f"@{name}")
        if found is None:
            raise self.unknown(f"@{name}")
        return found

    def of_exactly(self, targets: Collection[Target]) -> Group | None:
        """The group of these queues and no others; `all` only if no other is."""
        wanted = {name for target in targets for name in repositories_of(target)}
        groups = (self.named(name) for name in self.names)
        return next((group for group in groups if set(group.repositories) == wanted), None)

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

    def unknown(self, word: str) -> UnknownGroup:
        nearest = get_close_matches(word.lstrip("@").lower(), self.names, n=1, cutoff=0.5)
        return UnknownGroup(word, self.names, nearest[0] if nearest else None)


def target_value(target: Target) -> str:
    """What the option of a menu, or a form, carries."""
    return f"@{target.name}" if isinstance(target, Group) else target


Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class GroupAnswers(Generic[Answer]):
    """What some of a group's repositories answer, from index `first` of `total`."""

    answers: Sequence[tuple[RepositoryName, Answer | None]]
    """In the group's order; None where it couldn't be read just now."""

    first: int
    total: int

    @property
    def known(self) -> Sequence[Answer]:
        return [answer for _, answer in self.answers if answer is not None]

    @property
    def is_all(self) -> bool:
        """Whether every repository of the group has answered."""
        return len(self.known) == self.total
