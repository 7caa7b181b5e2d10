"""Cases of messages, rendered as they are written or with other text from outside."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel

from bot.acts.asked import CONDITION_LIMIT, EXCEPTIONS_OF_A_FREEZE as MOST_CONDITIONS, Asked
from bot.blocks.controls import Repeat
from bot.blocks.message import Message, View
from bot.config.tables import ENTRY_NAME_LIMIT
from bot.desk.options import BRANCH_LIMIT
from bot.home.reading import CALENDAR_PER_PAGE, SUBSCRIPTIONS_PER_PAGE, SUBSCRIPTIONS_SHOWN
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_types import DEQUEUE_CODES, EVENT_TYPES
from bot.questions.snapshots import EVENTS_PER_PAGE, LARGEST_SHOWN

LONG_NAME = RepositoryName("o" * 39 + "/" + "r" * 100)
"""As long as hosts allow."""

CALLED = ("U0ADA", "U0GRACE", "U0BOB")
"""People whom our own messages mention: outside text never names these."""

ON_CALL = "S0ONCALL"
"""The user group that they mention."""

Case = partial[Message] | partial[View]
"""The function that makes a message or view, with its arguments.

An argument may be a case itself: of a message that stands in another one.
"""

Cases = Mapping[str, Case]
Shown = TypeVar("Shown", Message, View)


def cases_of(make: Callable[..., Shown]) -> Callable[..., partial[Shown]]:
    """Makes cases of one function from its arguments."""
    return partial(partial, make)


OURS = re.compile(
    r"/mq|@?(release|all)|[A-Z]0\w+|[A-Z]\d|\d+m|\d{4}-\d\d-\d\dT\S+|REEMBARKED|\w{8}-\S{27}"
)
"""Text that never comes from outside: names of ours, ids of Slack, times."""

A_CAUSE = "the same check fails in every batch"
A_HEADLINE = "acme/site has merged nothing for 52 min: the same check fails in every batch"
ITS_EVIDENCE = "`integration` failed in 6 of 6 batches."
"""Words of a diagnosis, which an alert stores as they are shown."""

KNOWN = {
    *EVENT_TYPES,
    *DEQUEUE_CODES,
    *("pause", "a label", "Freezing", "0a1b2c3d", A_CAUSE, A_HEADLINE, ITS_EVIDENCE),
}
TYPED_LIMIT = 240
"""Characters of what a person typed: longer words are refused before they are shown."""

AT_MOST = {
    "branch": BRANCH_LIMIT,
    "asked": TYPED_LIMIT,
    "SettingChange.after": 80,
    "Asked.reason": TYPED_LIMIT,
    "Previous.reason": TYPED_LIMIT,
    "AuditPage.records": EVENTS_PER_PAGE,
    "BranchPage.branches": EVENTS_PER_PAGE,
    "HomeState.queues": EVENTS_PER_PAGE,
    "FirstEntries.entries": SUBSCRIPTIONS_SHOWN,
    "CalendarPage.entries": CALENDAR_PER_PAGE,
    "SubscriptionsState.listed": SUBSCRIPTIONS_PER_PAGE,
    "OccurrenceKey.window": ENTRY_NAME_LIMIT,
    "Until.words": len("the day after tomorrow"),
    "Until.zone": len("America/Argentina/ComodRivadavia"),
    "LogPage.records": LARGEST_SHOWN,
    "QueueStatistics.tallies": 7,
    "Asked.branches": MOST_CONDITIONS,
    "Asked.excepted": MOST_CONDITIONS,
    "CommandSyntaxError.instead": 3,
    **dict.fromkeys(("added", "removed", "checks", "users", "reviewers", "team_reviewers"), 3),
}
"""Characters, or items, of a field of any type or of one, as the code that reads it allows."""


@dataclass(frozen=True)
class Outside:
    """Text from outside in place of the text that a case was written with.

    `many`: how often each list is repeated, with the same values, so that it is longer than what is
    shown of it; a tuple given as an argument stays as long as it is.
    """

    text: Callable[[], str]
    url: Callable[[], str]
    many: int = 1

    def render(self, case: Case) -> Message | View:
        arguments = [self._argument(each) for each in case.args]
        named = {name: self._argument(each) for name, each in case.keywords.items()}
        return case.func(*arguments, **named)

    def _argument(self, value: object) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._changed, value))
        changed = self._changed(value)
        # What another case renders is a text of ours.
        is_typed = type(changed) is str and not isinstance(value, partial)
        return changed[:TYPED_LIMIT] if is_typed else changed

    def _changed(self, value: Any) -> Any:
        match value:
            case partial():
                return self.render(value)
            case RepositoryName():
                return RepositoryName(f"{LONG_NAME.owner}/{value.name:r>100}")
            case Enum():
                return value
            case str():
                return self._text(value)
            case list() | tuple() | dict() | frozenset():
                return self._collection(value)
            case _:
                return self._object(value)

    def _text(self, value: str) -> str:
        if value.startswith("<@U0"):
            return f"<@{CALLED[0]}>"
        if OURS.fullmatch(value) or value in KNOWN:
            return value
        return self.url() if value.startswith("https:") else self.text()

    def _collection(self, value: Any) -> Any:
        match value:
            case {"type": _}:  # a block, rendered already
                return value
            case dict():
                return {self._changed(name): self._changed(one) for name, one in value.items()}
            case frozenset():
                return frozenset(map(self._changed, value))
            case _:
                times = self.many if len(set(map(type, value))) == 1 else 1
                return type(value)([self._changed(one) for one in value] * times)

    def _object(self, value: Any) -> Any:
        if isinstance(value, Repeat):
            # Its action is ours.
            return replace(value, value=self._text(value.value))
        if isinstance(value, BaseModel):
            sent = {name: self._field(value, name) for name in value.model_fields_set}
            return value.model_copy(update=sent)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(
                value, **{field.name: self._field(value, field.name) for field in fields(value)}
            )
        if isinstance(value, Exception):
            return type(value)(*map(self._changed, value.args))
        return value

    def _field(self, value: object, name: str) -> Any:
        changed = self._changed(getattr(value, name))
        limit = AT_MOST.get(f"{type(value).__name__}.{name}", AT_MOST.get(name))
        if isinstance(value, Asked) and isinstance(changed, tuple):
            changed = tuple(one[:CONDITION_LIMIT] for one in changed)
        return changed[:limit] if limit and isinstance(changed, str | list | tuple) else changed


def later(make: Callable[..., object], *arguments: object, **named: object) -> Any:
    """An argument that is made when its case is rendered, from text that may be another then."""
    return partial(make, *arguments, **named)


def render(case: Case) -> Message | View:
    """As it is written."""
    return case.func(
        *map(_made, case.args), **{name: _made(each) for name, each in case.keywords.items()}
    )


def _made(argument: Any) -> Any:
    return render(argument) if isinstance(argument, partial) else argument
