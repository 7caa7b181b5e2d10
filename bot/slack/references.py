"""People, channels and user groups that a text refers to by id, as names.

https://docs.slack.dev/messaging/formatting-message-text#advanced
"""

import asyncio
import html
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from bot.blocks.text import clean
from bot.kernel.actor import SOMEONE
from bot.kernel.typed import BLANK
from bot.slack.payloads import REFERENCE
from bot.slack.person import Person
from bot.slack.ports import PeopleDirectory
from bot.slack.web_api.channels import SlackChannels

ID = re.compile(r"[A-Z][A-Z0-9]{2,}")

GROUP = "subteam^"

_MARK = re.compile(rf"(?<!\S){BLANK}")

MENTION_LIMIT = 60
MOST_NAMED = 20
"""References of one text that get their names: Slack answers so many questions a minute."""

SOME_CHANNEL = "a channel"
PRIVATE_CHANNEL = "a private channel"
SOME_GROUP = "a user group"
_UNNAMED = {"@": SOMEONE, "#": SOME_CHANNEL, "!": SOME_GROUP}

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Names:
    """Looks up what ids stand for."""

    people: PeopleDirectory
    channels: SlackChannels

    async def in_command(self, text: str, groups: Collection[str]) -> str:
        """The text with names, each of them one word that `as_written` reads again.

        `groups`: names with `@` that mean a group of repositories, also where Slack knows a user
        group of that name.
        """
        return await self._replaced(
            text, {group.casefold(): group for group in groups}, joined_by=BLANK
        )

    async def in_text(self, text: str) -> str:
        return await self._replaced(text, {}, joined_by=" ")

    async def _replaced(self, text: str, groups: dict[str, str], joined_by: str) -> str:
        references = {found[0]: found for found in REFERENCE.finditer(text) if found[1]}
        if not references:
            return text
        asked = list(references.values())[:MOST_NAMED]
        names = await asyncio.gather(*map(self._name, asked))
        shown = dict(zip(references, names, strict=False))

        def named(found: re.Match[str]) -> str:
            if not found[1]:
                return found[0]
            name = shown.get(found[0]) or _UNNAMED[found[1]]
            if found[1] == "!" and name.casefold() in groups:
                return groups[name.casefold()]
            begins_word = not text[: found.start()] or text[found.start() - 1].isspace()
            mark = BLANK if joined_by == BLANK and begins_word else ""
            return mark + joined_by.join(name.split())

        return REFERENCE.sub(named, text)

    async def _name(self, reference: re.Match[str]) -> str:
        sign, target, label = reference.groups()
        label = clean(html.unescape(label or ""), MENTION_LIMIT).lstrip("@#")
        if sign == "@":
            # The label is the legacy username, which Slack shows nowhere.
            person = await self.people.person(target)
            return f"@{person.name}" if isinstance(person, Person) and person.name else SOMEONE
        if sign == "#":
            return await self._channel(target, label)
        if target.startswith(GROUP):
            handle = label or await self.people.handle(target.removeprefix(GROUP))
            return f"@{handle}" if handle else SOME_GROUP
        # <!here>, or <!date^…|its words>
        return label or f"@{target.partition('^')[0]}"

    async def _channel(self, channel_id: str, label: str) -> str:
        if label and not ID.fullmatch(label):
            return f"#{label}"
        name = await self.channels.name(channel_id)
        if name is None:
            return SOME_CHANNEL
        return f"#{name}" if name else PRIVATE_CHANNEL


def as_written(value: Value) -> Value:
    """What a command was read into, with names as people write them."""
    changed: Any = value
    if isinstance(value, str):
        changed = _MARK.sub("", value).replace(BLANK, " ") if BLANK in value else value
    elif is_dataclass(value) and not isinstance(value, type):
        own = {
            field.name: as_written(getattr(value, field.name))
            for field in fields(value)
            if field.init
        }
        is_changed = any(own[name] is not getattr(value, name) for name in own)
        changed = replace(value, **own) if is_changed else value
    elif isinstance(value, dict):
        changed = {name: as_written(part) for name, part in value.items()}
    elif isinstance(value, tuple | list | frozenset | set) and _has_marks(value):
        changed = type(value)(as_written(part) for part in value)
    return changed  # type: ignore[no-any-return]  # of the type that was given


def _has_marks(values: Iterable[object]) -> bool:
    return any(isinstance(part, str) and BLANK in part for part in values)
