"""The evaluated conditions of a queue rule: which aren't met, and which checks they name.

The API document doesn't show them. A leave and the details of a queued pull request carry a tree of
`match`, `label`, `subconditions` and `evaluations`, whose `related_checks` name the checks.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Node = Mapping[str, Any]

MOST_NODES = 1000
"""Nodes read of one tree; a rule has a few dozen conditions."""

_NAMES_CHECK = re.compile(r"-?(?:check|status)-[a-z-]+\s*=\s*[\"']?(.+?)[\"']?\s*", re.ASCII)
"""`check-success=unit tests`: a condition on one check."""


@dataclass(slots=True)
class EvaluatedConditions:
    """What a tree of conditions says of checks."""

    unmet: list[str] = field(default_factory=list)  #: the labels of the innermost ones
    blocking: set[str] = field(default_factory=set)  #: the checks that these name
    named: set[str] = field(default_factory=set)  #: the checks that any condition names

    def requires(self, check: object) -> bool | None:
        """Whether this check keeps a condition from being met; None if no condition names one."""
        if not self.named or not isinstance(check, str):
            return None
        return check in self.blocking


def evaluated(tree: object) -> EvaluatedConditions:
    """Read a tree as sent; what can't be read is left out."""
    found = EvaluatedConditions()
    unread: list[tuple[Node, bool]] = [(tree, True)] if isinstance(tree, Mapping) else []
    read = 0
    while unread and read < MOST_NODES:
        node, is_reached = unread.pop()
        read += 1
        is_unmet = is_reached and node.get("match") is False
        inner = _objects(node.get("subconditions"))
        names = set(_checks_of(node, only_unmet=False))
        found.named |= names
        # A part that isn't met says more than the whole.
        if is_unmet and not any(part.get("match") is False for part in inner):
            found.blocking |= set(_checks_of(node, only_unmet=True))
            label = node.get("label")
            if isinstance(label, str) and label:
                found.unmet.append(label)
        unread += [(part, is_unmet) for part in reversed(inner)]
    return found


def _checks_of(node: Node, *, only_unmet: bool) -> Iterator[str]:
    label = node.get("label")
    if isinstance(label, str) and (named := _NAMES_CHECK.fullmatch(label.strip())):
        yield named[1]
    for evaluation in _objects(node.get("evaluations")):
        if only_unmet and evaluation.get("match") is True:
            continue
        related = evaluation.get("related_checks")
        if isinstance(related, list):
            yield from (name for name in related if isinstance(name, str))


def _objects(sent: object) -> Sequence[Node]:
    if not isinstance(sent, list):
        return ()
    return [node for node in sent if isinstance(node, Mapping)]
