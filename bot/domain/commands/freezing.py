"""How the words of the commands about freezes are read."""

from dataclasses import dataclass, replace

from bot.domain.commands.readers import GROUP, Request, without_now
from bot.domain.commands.words import Words, read_number
from bot.domain.freezing import read_freeze as read_typed, read_options
from bot.domain.groups import Group
from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class _Place:
    """The repository or group, the words after it, and whether `now` was typed."""

    where: RepositoryName | Group | None
    rest: list[str]
    is_confirmed: bool = False

    def request(self, verb: str, **options: object) -> Request:
        action = verb + GROUP if isinstance(self.where, Group) else verb
        return Request(action, self.where, options)


def read_freeze(words: Words) -> Request:
    """Read the repository before or after the times, and the reason; options may be anywhere."""
    options, rest = read_options(words.all)
    place = _place(words, rest)
    typed = read_typed(place.rest)
    begin = typed.reason.split(maxsplit=1)
    if place.where is None and typed.is_timed and begin and "/" in begin[0]:
        found = words.repositories.find(begin[0])
        if found is not None:
            place = replace(place, where=found)
            typed = replace(typed, reason=" ".join(begin[1:]))
    typed = replace(typed, branches=options.branches, excepted=options.excepted)
    return place.request("freeze", typed=typed, is_confirmed=place.is_confirmed)


def _place(words: Words, rest: list[str]) -> _Place:
    is_confirmed, rest = without_now(rest)
    where: RepositoryName | Group | None = words.group_first(rest)
    if where is not None:
        rest = rest[1:]
    else:
        where, rest = words.repository_first(rest)
    is_confirmed, rest = without_now(rest, is_confirmed=is_confirmed)
    return _Place(where, rest, is_confirmed)


def read_unfreeze(words: Words) -> Request:
    place = _place(words, words.all)
    return place.request("unfreeze", reason=" ".join(place.rest))


def read_allow(words: Words) -> Request:
    """Read a pull request and a repository, in either order, and the reason."""
    where, rest = words.repository_first(words.all)
    number = read_number(rest[0]) if rest else None
    if number is None:
        raise words.problem("Which pull request? Type its number and a reason.")
    if where is None:
        where, rest = words.repository_first(rest[1:])
    else:
        rest = rest[1:]
    options = {"pull_request": number, "reason": " ".join(rest)}
    return Request("allow", where, options)
