"""Removes what the bot keeps about one person, at an operator's wish."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa
from pydantic import JsonValue

from bot.acts.reason import signatures
from bot.acts.record import Action, ActResult
from bot.acts.tables import audit, unanswered
from bot.boards.tables import boards
from bot.desk.tables import questions
from bot.freezes.tables import freezes
from bot.pauses.tables import IN_FORCE, pauses, resume_watchers
from bot.people.tables import muted_pull_requests, people
from bot.store.protection import audit_may_change
from bot.store.schema import OutsideText, StoredJson, compact, metadata, require_all_tables
from bot.store.statements import Part

ACT_UNDER_WAY = timedelta(days=1)
"""How long the end of an act may still be found out by its reason."""

_BARE_NAMES = frozenset({boards.c.made_by, boards.c.ended_by})
"""Columns with a name and nothing else."""

_OF_A_LOGIN = frozenset({Action.LINK, Action.UNLINK})
_LOGINS = ("setting_before", "setting_after")


class Forgotten(NamedTuple):
    """How many rows were removed, and in how many the id replaced the name."""

    choices: int
    waits: int
    requests: int
    acts: int
    others: int
    in_force: int  #: the reasons that keep the name until what they are of is over


class Forgetting(Part):
    """A person's login, choices, waits and open requests go; elsewhere their id stays.

    The service shows the reasons of what is in force, and the bot finds it by them. So they, and
    the rows with them, keep the name until it is over.
    """

    def forget(self, user_id: str, now: datetime) -> Forgotten:
        """Remove what is theirs, and put the id in place of the name in all other rows."""
        require_all_tables()
        choices = self._remove(people, people.c.user_id == user_id)
        waits = self._remove(resume_watchers, resume_watchers.c.user_id == user_id)
        waits += self._remove(muted_pull_requests, muted_pull_requests.c.user_id == user_id)
        requests = self._remove(unanswered, unanswered.c.user_id == user_id)
        self._remove(questions, questions.c.user_id == user_id)

        names = frozenset(self._names_of(user_id)) - {"", user_id}
        rows: list[_Row] = []
        for table in metadata.sorted_tables:
            rows += self._rows(table, names)
        names_of_others = {name for row in rows for name in _names_of_others(row, user_id)}
        # Without an id beside it, a name may mean any person who has it.
        only_theirs = names - names_of_others
        in_force = {text for text in self._in_force(now) if _is_signed(text, names)}

        acts: set[int] = set()
        others = 0
        with audit_may_change(self._connection):
            for row in rows:
                if not in_force.isdisjoint(row.strings()):
                    continue
                their_names = names if row.names_by_id(user_id) else only_theirs
                is_changed = self._rename(row, _Renaming(user_id, their_names))
                if not is_changed:
                    continue
                if row.table is audit:
                    acts.add(row.key[audit.c.record_id])
                else:
                    others += 1
            acts |= self._remove_logins(user_id)
        return Forgotten(choices, waits, requests, len(acts), others, len(in_force))

    def _names_of(self, user_id: str) -> Iterator[str]:
        """The names that the person has had, as far as they are stored with the id."""
        pattern = f'"user_id":{json.dumps(user_id)}'
        for table in metadata.sorted_tables:
            for row in self._with(table, [pattern]):
                for actor_id, name in row.actors():
                    if actor_id == user_id:
                        yield name

    def _rows(self, table: sa.Table, names: Collection[str]) -> "Sequence[_Row]":
        """The rows that may have one of the names."""
        signed = {signature for name in names for signature in signatures(name)}
        in_json = {pattern for name in names for pattern in _in_json(name)}
        return self._with(table, sorted(in_json), sorted(signed), names)

    def _with(
        self,
        table: sa.Table,
        in_json: Collection[str],
        in_text: Collection[str] = (),
        names: Collection[str] = (),
    ) -> "Sequence[_Row]":
        """The rows with one of these parts in a text, or with one of the names as a text."""
        columns = _texts_of(table)
        raw = {column: sa.type_coerce(column, sa.Text) for column in columns}
        matches: list[sa.ColumnElement[bool]] = []
        for column in columns:
            patterns = in_json if isinstance(column.type, StoredJson) else in_text
            matches += [raw[column].contains(pattern, autoescape=True) for pattern in patterns]
            if column in _BARE_NAMES:
                matches.append(column.in_(sorted(names)))
        if not matches:
            return []
        keys = list(table.primary_key)
        found = self._run(sa.select(*keys, *raw.values()).where(sa.or_(*matches))).all()
        rows: list[_Row] = []
        for row in found:
            key = dict(zip(keys, row[: len(keys)], strict=True))
            texts = dict(zip(columns, row[len(keys) :], strict=True))
            rows.append(_Row(table, key, texts))
        return rows

    def _in_force(self, now: datetime) -> Iterator[str]:
        """The reasons by which the bot finds something that the service shows now."""
        paused = sa.select(pauses.c.stored_reason, pauses.c.timer).where(IN_FORCE)
        for row in self._run(paused):
            yield row.stored_reason
            if row.timer is not None:
                yield row.timer.stored_reason
        frozen = sa.select(freezes.c.terms).where(freezes.c.over_at.is_(None))
        for terms in self._run(frozen).scalars():
            yield terms.reason or ""
        end = audit.alias()
        has_end = sa.exists().where(end.c.act_id == audit.c.record_id, end.c.act_id > 0)
        begun = sa.select(audit.c.stored_reason).where(
            audit.c.result == ActResult.STARTED, audit.c.at > now - ACT_UNDER_WAY, ~has_end
        )
        for reason in self._run(begun).scalars():
            yield reason or ""

    def _rename(self, row: "_Row", renaming: "_Renaming") -> bool:
        """Put the id in place of the name; return whether anything changed."""
        changed: dict[str, object] = {}
        for column, text in row.texts.items():
            if text is None:
                continue
            after = renaming.column(column, text)
            if after != text:
                changed[column.name] = sa.literal(after, sa.Text())
        if changed:
            self._change(row.table, *row.this, **changed)
        return bool(changed)

    def _remove_logins(self, user_id: str) -> set[int]:
        """From the audit of linking them; return the ids of the records that changed."""
        logins = [audit.c[name] for name in _LOGINS]
        linked = sa.select(audit.c.record_id, audit.c.actor, *logins)
        found = set()
        for row in self._run(linked.where(audit.c.action.in_(_OF_A_LOGIN))).all():
            if row.actor.user_id != user_id:
                continue
            filled = [name for name in _LOGINS if getattr(row, name)]
            if all(getattr(row, name) == user_id for name in filled):
                continue
            nameless = dict.fromkeys(filled, user_id)
            self._change(audit, audit.c.record_id == row.record_id, **nameless)
            found.add(row.record_id)
        return found


class _Named(NamedTuple):
    """A person in a row."""

    user_id: str
    name: str


@dataclass(frozen=True)
class _Row:
    """A row with its texts as they are stored."""

    table: sa.Table
    key: Mapping[sa.Column[Any], Any]
    texts: Mapping[sa.Column[Any], str | None]

    @property
    def this(self) -> list[sa.ColumnElement[bool]]:
        return [column == value for column, value in self.key.items()]

    def names_by_id(self, user_id: str) -> bool:
        """Whether it says by an id whom it is about."""
        return any(user_id in (text or "") for text in self.texts.values())

    def strings(self) -> Iterator[str]:
        for value in self._values():
            yield from (part for part in _parts(value) if isinstance(part, str))

    def actors(self) -> Iterator[_Named]:
        """The people in it."""
        for value in self._values():
            for part in _parts(value):
                if isinstance(part, dict) and {"user_id", "name"} <= part.keys():
                    yield _Named(str(part["user_id"]), str(part["name"]))

    def _values(self) -> Iterator[JsonValue]:
        for column, text in self.texts.items():
            if text is not None:
                yield json.loads(text) if isinstance(column.type, StoredJson) else text


@dataclass(frozen=True)
class _Renaming:
    """Replaces the names of a person by their id, where the bot wrote them.

    What people typed stays, also where it names somebody.
    """

    user_id: str
    names: frozenset[str]

    def column(self, column: sa.Column[Any], text: str) -> str:
        if isinstance(column.type, StoredJson):
            before = json.loads(text)
            after = self._value(before)
            return text if after == before else compact(after)
        if column in _BARE_NAMES:
            return self.user_id if text in self.names else text
        return self._text(text)

    def _value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._value(part) for part in value]
        if not isinstance(value, dict):
            return value
        changed = {key: self._value(part) for key, part in value.items()}
        if value.get("user_id") == self.user_id and "name" in value:
            changed["name"] = self.user_id
        # Of the result of an act on a group.
        if value.get("who") in self.names:
            changed["who"] = self.user_id
        return changed

    def _text(self, text: str) -> str:
        for name in self.names:
            before = signatures(name)
            after = signatures(self.user_id)
            for signature, nameless in zip(before, after, strict=True):
                text = text.replace(signature, nameless)
        return text


def _texts_of(table: sa.Table) -> list[sa.Column[Any]]:
    """The columns that may have a name; keys don't."""
    return [
        column
        for column in table.columns
        if not column.primary_key
        and (column.type is OutsideText or isinstance(column.type, (sa.Text, StoredJson)))
    ]


def _parts(value: JsonValue) -> Iterator[JsonValue]:
    """A JSON value, and all within it."""
    yield value
    inner: Sequence[JsonValue] = ()
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    for part in inner:
        yield from _parts(part)


def _names_of_others(row: _Row, user_id: str) -> Iterator[str]:
    return (name for actor_id, name in row.actors() if actor_id not in {"", user_id})


def _is_signed(text: str, names: Collection[str]) -> bool:
    return any(signature in text for name in names for signature in signatures(name))


def _in_json(name: str) -> Iterator[str]:
    """What is in JSON with the name, whether it has escapes for other letters or not."""
    for is_ascii in (True, False):
        written = json.dumps(name, ensure_ascii=is_ascii)
        yield f'"name":{written}'
        yield f'"who":{written}'
        for signature in signatures(name):
            yield json.dumps(signature, ensure_ascii=is_ascii)[1:-1]
