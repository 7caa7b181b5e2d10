"""Which repositories, groups and pull requests a typed word names, whatever surrounds it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.desk.addresses import Address, read_address
from bot.kernel.errors import RepositoryNotAllowed
from bot.kernel.groups import OF_OWNER, Group, Groups, Target
from bot.kernel.repository import RepositoryName
from bot.kernel.typed import Word, trims
from bot.merge_queue.window import PULL_REQUEST_END

_PULL_REQUEST_NUMBER = re.compile(
    r"(?:pr|mr|pull|issue)?[\s#!/:\-]{0,2}([0-9]{1,19})", re.IGNORECASE
)
_FULL = re.compile(r"(?P<name>[\w\-]+/[\w\-.]+)(?P<more>[^\w\-.].*)?")
_BARE = re.compile(r"(?P<name>[\w\-.]+)(?P<more>[^\w\-./].*)?")
_PULL_BEHIND = re.compile(
    r"(?:[#!]|/(?:(?:-/)?(?:pull|pulls|pull-requests|merge_requests)/)?)([0-9]+)"
)
_ISSUE_BEHIND = re.compile(r"/(?:-/)?(?:issues|work_items)/([0-9]+)")
_NAME_INSIDE = re.compile(r"(?<![\w\-./@])[\w\-]+/[\w\-.]+")
"""A full name behind something else: `repo:acme/site`, `[acme/site](…)`."""

_MANY = re.compile(r"(?P<owner>[\w\-]+)/(?:[\w\-.]*\*[\w\-.*]*)?")
"""Some repositories of an owner, as in other tools: `acme/s*`, `acme/`."""

_NAMING_OPTION = re.compile(r"-{0,2}(?:queue|repo|repository|group)[:=](?=[^/\s]+$)", re.IGNORECASE)
_TIME_BEHIND_NAME = re.compile(r"[,;:](?P<time>\d+(?:[a-z:.]\w*)+)[,;:.]?$", re.IGNORECASE)
"""acme/site,30m"""

_TIME_BEFORE_REASON = re.compile(
    r"\d[\d:.]*(?:am|d|h|hrs?|m|mins?|minutes|hours?|pm)[,;](?=[a-z])", re.IGNORECASE
)
"""30m,CI is down"""

_BETWEEN_NAMES = re.compile(r"[,;|+&]+")
_FRACTION = re.compile(r"[0-9]+/[0-9]+")
"""24/7, 5/10 runners: nobody's repository."""

_OF_UNKNOWN_OWNER = re.compile(r"@?[\w\-]+/\*")

_LIKE_A_SLASH = re.compile(r"[\-_.:|/]+")
_MARKS = re.compile(r"[*~`\"']")
_SURROUNDED = "([{<"

_LOOKALIKES = str.maketrans(
    "аеорсухѕіјԁһӏԛԝкмтпгвнαεοριτυνκχβγηωϲɡɑɩıƖℓ",
    "aeopcyxsijdhlqwkmtnrbhaeopituvkxbyhwcgailll",
)
"""Letters of other alphabets that look like Latin ones."""


@dataclass(frozen=True, slots=True)
class Named:
    """What one word names."""

    targets: tuple[Target, ...]
    """Several for a name that more than one owner has."""

    is_certain: bool
    """Whether it says so by itself: `owner/name`, `@group`, `all` or an address."""

    pull_request: int | None = None

    says_more: bool = False
    """Whether it is more than the name: `acme/site's`, or a page of the repository."""

    is_bare: bool = False
    """Whether it is a name without owner or `@`."""

    issue: int | None = None
    """The number of the issue whose address it is."""

    @property
    def repositories(self) -> list[RepositoryName]:
        return [target for target in self.targets if not isinstance(target, Group)]


def read_number(text: str) -> int | None:
    """The number of a pull request, as in `41`, `#41` or `PR-41`, within the service's limits."""
    matched = _PULL_REQUEST_NUMBER.fullmatch(text.strip("()[]{}<>*_~`\"'.,:;!?"))
    number = int(matched[1]) if matched else 0
    return number if 1 <= number < PULL_REQUEST_END else None


def named_by(word: Word, groups: Groups) -> Named | None:
    """What the word names; None if it is an ordinary word."""
    if word.is_name:
        return None
    return (
        _all_of_it(word, groups)
        or _in_address(word, groups)
        or _with_more(word, groups)
        or _inside(word, groups)
        or _bare(word, groups)
        or _otherwise_joined(word, groups)
    )


def parted(word: Word, groups: Groups) -> list[Word]:
    """The word, or its parts where it is a list of names: `acme/site,acme/api`.

    Of an option that names a queue, such as `queue=api`, only the name.
    """
    before = _TIME_BEFORE_REASON.match(word.typed)
    if before is not None:
        at = before.end()
        return [Word(word.typed[:at], word.start), Word(word.typed[at:], word.start + at)]
    time = _TIME_BEHIND_NAME.search(word.typed)
    if time is not None:
        name = Word(word.typed[: time.start()], word.start)
        if _certain(name, groups) is not None:
            return [name, Word(time["time"], word.start + time.start("time"))]
    option = _NAMING_OPTION.match(word.typed)
    if option is not None:
        name = Word(word.typed[option.end() :], word.start + option.end())
        return [name] if named_by(name, groups) is not None else [word]
    if word.is_name or not any(sign in word.typed for sign in "/@"):
        return [word]
    parts: list[Word] = []
    start = 0
    for end in [*(found.start() for found in _BETWEEN_NAMES.finditer(word.typed)), None]:
        typed = word.typed[start:end]
        between = _BETWEEN_NAMES.match(typed)
        skipped = between.end() if between else 0
        if typed[skipped:]:
            parts.append(Word(typed[skipped:], word.start + start + skipped))
        start = end if end is not None else start
    found = {named.targets for part in parts if (named := _certain(part, groups)) is not None}
    return parts if len(found) > 1 else [word]


def _certain(word: Word, groups: Groups) -> Named | None:
    named = named_by(word, groups)
    return named if named is not None and named.is_certain else None


def _all_of_it(word: Word, groups: Groups) -> Named | None:
    """A full name or a marked group, with nothing but punctuation and marks around it."""
    for piece in _pieces(word.folded):
        repository = groups.repositories.full(piece.removeprefix("@"))
        if repository is not None:
            return Named((repository,), is_certain=True)
        if piece.startswith("@"):
            group = groups.known(piece[1:])
            if group is not None:
                return Named((group,), is_certain=True)
        elif piece.endswith(OF_OWNER):
            of_owner = groups.known(piece)
            if of_owner is not None:
                return Named((of_owner,), is_certain=True)
    if word.bare == "all":
        return Named((groups.everything,), is_certain=True)
    return None


def _pieces(folded: str) -> Iterator[str]:
    for text in dict.fromkeys((folded, _MARKS.sub("", folded).replace("\\", "/"))):
        for piece in trims(text):
            yield piece
            # A marked group is found with its mark.
            before = text.find(piece)
            if before > 0 and text[before - 1] == "@":
                yield f"@{piece}"


def _in_address(word: Word, groups: Groups) -> Named | None:
    address = _address(word)
    if address is None:
        return None
    found = [groups.repositories.full(name) for name in address.names]
    known = [named for named in found if named is not None]
    if not known:
        return None
    is_first = found[0] == known[0]
    # The address of an issue mostly stands for why, not for which queue.
    is_named = address.issue is None and (address.is_of_repository or not _is_page(address))
    return Named(
        (known[0],),
        is_certain=is_first and is_named,
        pull_request=read_number(address.number) if address.number else None,
        says_more=not address.is_only_name,
        issue=read_number(address.issue) if address.issue else None,
    )


def _is_page(address: Address) -> bool:
    """Whether it may be anybody's page about the repository: a run of its checks."""
    return not address.is_only_name and address.number is None


def _address(word: Word) -> Address | None:
    return read_address(word.plain.strip("()[]{}<>*_~`\"'.,:;!?/"))


def _with_more(word: Word, groups: Groups) -> Named | None:
    """A full name with something behind it: `acme/site#41`, `acme/site/pull/41`."""
    for piece in _pieces(word.folded):
        found = _FULL.fullmatch(piece.removeprefix("@"))
        if found is None:
            continue
        names = (found["name"], found["name"].rstrip(".-"))
        repository = next(filter(None, map(groups.repositories.full, names)), None)
        if repository is not None:
            pull = _PULL_BEHIND.match(found["more"] or "")
            issue = _ISSUE_BEHIND.match(found["more"] or "")
            return Named(
                (repository,),
                is_certain=issue is None,
                pull_request=read_number(pull[1]) if pull else None,
                says_more=_says_something(found["more"]),
                issue=read_number(issue[1]) if issue else None,
            )
    return None


def _inside(word: Word, groups: Groups) -> Named | None:
    """Full names behind something else in the word: the person has to say whether they meant it."""
    texts = (found[0] for found in _NAME_INSIDE.finditer(word.folded))
    full = (groups.repositories.full(text.rstrip(".-")) for text in texts)
    found = tuple(dict.fromkeys(name for name in full if name is not None))
    return Named(found, is_certain=False, says_more=True) if found else None


def _bare(word: Word, groups: Groups) -> Named | None:
    for piece in _pieces(word.folded):
        found = _BARE.fullmatch(piece)
        if found is None:
            continue
        targets: list[Target] = [*groups.repositories.called(found["name"])]
        group = groups.known(found["name"])
        if group is not None and group.name.casefold() == found["name"].casefold():
            targets.append(group)
        if targets:
            pull = _PULL_BEHIND.match(found["more"] or "")
            number = read_number(pull[1]) if pull else None
            return Named(
                tuple(targets),
                is_certain=False,
                pull_request=number,
                says_more=_says_something(found["more"]),
                is_bare=True,
            )
    return None


def _otherwise_joined(word: Word, groups: Groups) -> Named | None:
    """A full name with another sign than its slash: `acme-site`, `acme//site`."""
    for found in _LIKE_A_SLASH.finditer(word.plain):
        name = f"{word.plain[: found.start()]}/{word.plain[found.end() :]}"
        repository = groups.repositories.full(name)
        if repository is not None:
            return Named((repository,), is_certain=False, is_bare=True)
    return None


def _says_something(more: str | None) -> bool:
    return any(character.isalnum() for character in more or "")


def refuse_unknown(word: Word, groups: Groups) -> None:
    """Raise RepositoryNotAllowed for a name that looks like a repository but isn't configured.

    Read as part of a reason, it would act on the wrong queue.
    """
    if word.is_name:
        return
    alike = _alike(word, groups)
    if alike is not None:
        raise RepositoryNotAllowed(word.typed, groups.repositories.names, alike)
    address = _address(word)
    if address is not None:
        is_named = address.is_only_name or address.number is not None
        if address.names and address.is_of_repository and is_named:
            raise RepositoryNotAllowed(address.names[0], groups.repositories.names)
        return
    if _OF_UNKNOWN_OWNER.fullmatch(word.plain) or _is_pattern(word, groups):
        raise RepositoryNotAllowed(word.plain, groups.repositories.names)
    for piece in _pieces(word.folded):
        found = _FULL.fullmatch(piece.removeprefix("@"))
        if found is not None and _is_claimed(word, found, groups):
            raise RepositoryNotAllowed(found["name"], groups.repositories.names)


def _is_pattern(word: Word, groups: Groups) -> bool:
    many = _MANY.fullmatch(word.folded.strip("`\"'()[].,:;!?"))
    return many is not None and groups.repositories.has_owner(many["owner"])


def _is_claimed(word: Word, found: re.Match[str], groups: Groups) -> bool:
    """Whether it stands for a repository: with one of our owners, or as a word of its own."""
    owner = found["name"].partition("/")[0]
    if groups.repositories.has_owner(owner):
        return True
    is_alone = found["more"] is None and word.folded[0] not in _SURROUNDED
    return is_alone and not _FRACTION.fullmatch(found["name"])


def _alike(word: Word, groups: Groups) -> str | None:
    """The name of the repository or group that the word only looks like."""
    if word.folded.isascii():
        return None
    seen = Word(word.folded.casefold().translate(_LOOKALIKES), 0)
    if seen.folded == word.folded.casefold():
        return None
    named = named_by(seen, groups)
    if named is None:
        return None
    target = named.targets[0]
    return target.mention if isinstance(target, Group) else target
