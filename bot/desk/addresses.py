"""Addresses of repositories and pull requests, as people paste them."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import parse_qs, unquote

_ADDRESS = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^/@\s]+@)?|git@|(?=www\.))"
    r"(?P<host>[\w.\-]+)(?::\d+)?[/:](?P<path>[^?#\s]*)(?:\?(?P<query>[^#\s]*))?(?:#\S*)?",
    re.IGNORECASE,
)
_WITHOUT_SCHEME = re.compile(
    r"(?P<host>[\w\-]+(?:\.[\w\-]+)*\.[a-z]{2,})(?::\d+)?/(?P<path>[^?#\s]+/[^?#\s]*)"
    r"(?:\?(?P<query>[^#\s]*))?(?:#\S*)?",
    re.IGNORECASE,
)
_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com"})
"""Where the first two parts of any path are a repository."""

_PULLS = frozenset({"pull", "pulls", "pull-requests", "merge_requests"})
_ISSUES = frozenset({"issues", "work_items"})
_REPOSITORIES_SEGMENT = frozenset({"repo", "repos", "repositories"})
"""Between owner and name on dashboards: `/orgs/acme/repos/site/queues`."""

_OWNERS = ("login", "owner", "org", "organization")
_NAME_KEYS = ("repository", "repo", "repository_name", "repositories")
_NUMBERS = ("pull_request", "pull_request_number", "pullrequestnumber", "pull", "pr")
"""Of a dashboard's query, in small letters: `?login=acme&repository=site&pullRequestNumber=41`."""

_OWNER_AND_NAME = ("owner", "name")
_GIT = ".git"
_NAME_PART = re.compile(r"[\w\-.]+")
_PLAIN_NUMBER = re.compile(r"[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Address:
    """What an address may be the address of."""

    names: tuple[str, ...]
    """Every `owner/name` that it contains, likeliest first."""

    number: str | None
    """Of a pull request."""

    issue: str | None
    """The number of an issue, which is no pull request."""

    is_of_repository: bool
    """Whether the first name certainly is a repository's: a code host's page of it."""

    is_only_name: bool
    """Whether it leads to the repository itself, not to something in it."""


def read_address(word: str) -> Address | None:
    """None for a word that is no address."""
    found = _ADDRESS.fullmatch(word) or _WITHOUT_SCHEME.fullmatch(word)
    if found is None:
        return None
    parts = [part for part in unquote(found["path"]).split("/") if part]
    query = _read_query(found["query"] or "")
    names = [*_in_query(query), *_in_path(parts)]
    number = _number_in(parts, _PULLS) or _first_of_query(query, _NUMBERS)

    has_name = len(parts) >= len(_OWNER_AND_NAME)
    is_on_known_host = found["host"].casefold().removeprefix("www.") in _HOSTS
    is_of_pull_request = number is not None and _leads_to_pull_request(parts)
    is_plain_number = number is not None and _PLAIN_NUMBER.fullmatch(number) is not None
    return Address(
        names=tuple(dict.fromkeys(names)),
        number=number if is_plain_number else None,
        issue=_number_in(parts, _ISSUES) if number is None else None,
        is_of_repository=has_name and (is_on_known_host or is_of_pull_request),
        is_only_name=len(parts) == len(_OWNER_AND_NAME) and not query,
    )


def _read_query(sent: str) -> dict[str, list[str]]:
    """Its values by name in small letters; of names that differ only in case the first counts."""
    by_name = parse_qs(sent)
    return {name.casefold(): values for name, values in reversed(by_name.items())}


def _leads_to_pull_request(parts: Sequence[str]) -> bool:
    """Whether owner and name are followed as on a code host: `/pull/41`, `/-/merge_requests/41`."""
    inside = parts[len(_OWNER_AND_NAME) :]
    return bool(inside) and inside[0].casefold() in {"-", *_PULLS}


def _in_path(parts: Sequence[str]) -> Iterator[str]:
    """Each part with the next, without what dashboards put between them."""
    for at, owner in enumerate(parts[:-1]):
        name = parts[at + 1]
        if name.casefold() in _REPOSITORIES_SEGMENT and at + 2 < len(parts):
            name = parts[at + 2]
        if not _NAME_PART.fullmatch(owner) or not _NAME_PART.fullmatch(name):
            continue
        if name.casefold().endswith(_GIT):
            yield f"{owner}/{name[: -len(_GIT)]}"
        yield f"{owner}/{name}"


def _in_query(query: dict[str, list[str]]) -> Iterator[str]:
    name = _first_of_query(query, _NAME_KEYS)
    owner = _first_of_query(query, _OWNERS)
    if name is not None and "/" in name:
        yield name
    elif name is not None and owner is not None:
        yield f"{owner}/{name}"


def _first_of_query(query: dict[str, list[str]], names: Sequence[str]) -> str | None:
    """The value of the first of these names that the query has."""
    for name in names:
        if name in query:
            return query[name][0]
    return None


def _number_in(parts: Sequence[str], segments: Collection[str]) -> str | None:
    """The number behind one of these parts, such as `pull`."""
    for before, part in pairwise(parts):
        if before.casefold() in segments and _PLAIN_NUMBER.fullmatch(part):
            return part
    return None
