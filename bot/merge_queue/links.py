"""Reading of `Link` header fields (RFC 8288), and of the cursor they carry.

httpx's own reading splits a field at each `, <` and at each `;`, wherever they stand: a quoted
parameter or an address with a semicolon breaks it, and of two fields for one relation it keeps
the last. Hence this one, which follows the grammar of RFC 8288, section 3 and appendix B.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from bot.domain.errors import MergeQueueProtocolError

_BETWEEN = re.compile(r"[\s,]*")
_TARGET = re.compile(r"<([^>]*)>")
_PARAMETER = re.compile(
    r"""\s*;\s*(?P<name>[^\s=;,"<>]*)"""
    r"""(?:\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<token>[^\s;,"]*)))?""",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_REST = re.compile(r"\s*(?:,|$)")


@dataclass(frozen=True, slots=True)
class Link:
    """One link value: the address as written, perhaps relative, and its relations, lower-case."""

    target: str
    relations: frozenset[str]


def parse_links(fields: Iterable[str]) -> Iterator[Link]:
    """Every link value that can be read; reading goes on after a value that cannot.

    Links with an `anchor` are about another resource than this answer and are left out.
    """
    for text in fields:
        position = _begin(text, 0)
        # Without the last bracket each "<" would be looked at to the end.
        last = text.rfind(">")
        while position <= last:
            target = _TARGET.match(text, position)
            if target is None:
                position = _begin(text, _after_next_comma(text, position))
                continue
            parameters, position = _parameters(text, target.end())
            if not _REST.match(text, position):
                position = _after_next_comma(text, position)
            if "anchor" not in parameters:
                relations = frozenset(parameters.get("rel", "").lower().split())
                yield Link(target[1].strip(), relations)
            position = _begin(text, position)


def _begin(text: str, position: int) -> int:
    """Where the next value may begin: each comma of a thousand is passed once."""
    between = _BETWEEN.match(text, position)
    return between.end() if between else position


def _parameters(text: str, position: int) -> tuple[dict[str, str], int]:
    """The first of several parameters of one name counts (RFC 8288, section 3.3)."""
    parameters: dict[str, str] = {}
    while match := _PARAMETER.match(text, position):
        position = match.end()
        value = match["token"] or ""
        if match["quoted"] is not None:
            value = _ESCAPED.sub(r"\1", match["quoted"])
        if match["name"]:
            parameters.setdefault(match["name"].lower(), value)
    return parameters, position


def _after_next_comma(text: str, position: int) -> int:
    comma = text.find(",", position)
    return len(text) if comma < 0 else comma + 1


def links_in(fields: Iterable[str]) -> Sequence[Link]:
    """All links of the header.

    Raises MergeQueueProtocolError when nothing in the fields is a link: the rest of the list would
    be lost without a word.
    """
    fields = [text for text in fields if text.strip(" \t,")]
    links = list(parse_links(fields))
    if fields and not links:
        raise MergeQueueProtocolError("the Link header cannot be read")
    return links


def cursor_of(relation: str, links: Sequence[Link]) -> str | None:
    """The cursor of the link with this relation, None when there is no such link.

    Only the `cursor` of the link's query is taken, never its address (API document, Limits,
    pagination rule 2). Raises MergeQueueProtocolError when there is a link without a cursor.
    """
    for link in links:
        if relation in link.relations:
            return _cursor(link.target)
    return None


def _cursor(target: str) -> str:
    try:
        cursors = parse_qs(urlsplit(target).query).get("cursor", [])
    except ValueError:
        cursors = []
    if not cursors:
        raise MergeQueueProtocolError("a link to another page carries no cursor")
    return cursors[0]
