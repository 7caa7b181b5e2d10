"""Cursors of other pages, read from the `Link` header (RFC 8288)."""

import re
from urllib.parse import parse_qs, urlsplit

from bot.domain.errors import MergeQueueProtocolError

_NAME = r'\s*;\s*([^\s=;,"<>]+)'
_VALUE = r'(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;,"]+))?'
_PARAMETER = re.compile(_NAME + _VALUE, re.DOTALL)
_LINK = re.compile(rf"<([^<>]*)>((?:{_NAME}{_VALUE})*)", re.DOTALL)


def cursor_of(relation: str, header: str) -> str | None:
    """The cursor of the first link with this relation; None without such a link.

    Only the cursor is taken, as the address of a link may be of another origin. Raises
    MergeQueueProtocolError when the link has none, or when nothing in the header is a link:
    otherwise the rest of the list would be lost silently.
    """
    links = [(found[1], _parameters(found[2])) for found in _LINK.finditer(header)]
    if not links and header.strip(" \t,"):
        raise MergeQueueProtocolError("the Link header cannot be read")
    for target, parameters in links:
        # A link with an anchor is about another resource than this answer.
        if relation in parameters.get("rel", "").lower().split() and "anchor" not in parameters:
            return _cursor(target)
    return None


def _parameters(text: str) -> dict[str, str]:
    """By their lower-case names; the first of several with one name counts."""
    pairs = reversed(_PARAMETER.findall(text))
    return {name.lower(): value.strip('"') for name, value in pairs}


def _cursor(target: str) -> str:
    try:
        cursors = parse_qs(urlsplit(target).query).get("cursor", [])
    except ValueError:
        cursors = []
    if not cursors:
        raise MergeQueueProtocolError("a link to another page carries no cursor")
    return cursors[0]
