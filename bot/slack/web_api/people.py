"""Slack's data on people and user groups."""

import asyncio
import logging
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
)
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar
from unicodedata import normalize

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.blocks.text import NAME_LIMIT, clean
from bot.kernel.clock import Clock
from bot.slack.payloads import Payload, Text, at
from bot.slack.person import Guest, Person, PersonUnknown
from bot.slack.ports import PeopleDirectory
from bot.slack.web_api.failures import FAILURES, UNREADABLE, read_failure
from bot.slack.web_api.remembered import Remembered

logger = logging.getLogger(__name__)

LOOKUP_SECONDS = 2.0
"""A trigger is valid for three seconds, and permissions are checked before the modal opens."""

UNKNOWN_PERSON_CODES = frozenset({"user_not_found", "users_not_found", "user_not_visible"})
UNKNOWN_GROUP_CODES = frozenset({"no_such_subteam", "subteam_not_found"})
SLACKBOT = "USLACKBOT"
"""Slackbot's account doesn't say that it is a bot."""

ALL_GROUPS = "all"

Found = TypeVar("Found")

_UNANSWERED = ContextVar[dict[str, PersonUnknown] | None]("unanswered", default=None)
"""The people about whom Slack gave no answer to the request that is being carried out."""


@contextmanager
def asked_once_each() -> Iterator[None]:
    """Within a request, ask no second time about a person: what is shown fits what was decided."""
    token = _UNANSWERED.set({})
    try:
        yield
    finally:
        _UNANSWERED.reset(token)


class SlackUser(Payload):
    """https://docs.slack.dev/reference/objects/user-object.

    Slack omits the guest flags of deactivated accounts only; without them, nobody knows whether
    the account is a guest's.
    """

    id: str
    team_id: str | None = None
    name: Text = ""
    real_name: Text = ""
    display_name: Text = at("profile.display_name")
    full_name: Text = at("profile.real_name")
    deleted: bool = False
    is_bot: bool = False
    is_workflow_bot: bool = False
    is_restricted: bool | None = None
    is_ultra_restricted: bool | None = None
    is_stranger: bool = False
    tz: str | None = None
    enterprise_id: str | None = at("enterprise_user.enterprise_id", default=None)
    enterprise_teams: tuple[str, ...] = at("enterprise_user.teams", default=())

    @property
    def shown_name(self) -> str:
        """The name by which Slack shows them: the one they chose, else their full name.

        `name`, the legacy username, is only better than nothing.
        https://docs.slack.dev/changelog/2017-09-the-one-about-usernames
        """
        names = (self.display_name, self.full_name, self.real_name, self.name)
        for name in names:
            readable = clean(normalize("NFC", name), NAME_LIMIT)
            if readable:
                return readable
        return ""

    @property
    def guest(self) -> Guest:
        if self.is_restricted or self.is_ultra_restricted:
            return Guest.YES
        if self.is_restricted is None or self.is_ultra_restricted is None:
            return Guest.UNKNOWN
        return Guest.NO

    @property
    def person(self) -> Person:
        ids = {self.team_id, self.enterprise_id, *self.enterprise_teams}
        return Person(
            user_id=self.id,
            name=self.shown_name,
            team_ids=frozenset(team_id for team_id in ids if team_id),
            is_deactivated=self.deleted,
            is_bot=self.is_bot or self.is_workflow_bot or self.id == SLACKBOT,
            guest=self.guest,
            is_stranger=self.is_stranger,
            zone=self.tz,
        )


class SlackPeople(PeopleDirectory):
    """Reads `users.info`, `usergroups.users.list` and, to name groups, `usergroups.list`.

    Custom fields are in `users.profile.get` alone.
    """

    def __init__(self, client: AsyncWebClient, clock: Clock) -> None:
        self._client = client
        self._people = Remembered(self._ask_person, clock)
        self._members = Remembered(self._ask_members, clock)
        self._handles = Remembered(self._ask_handles, clock)
        self._profiles = Remembered(self._ask_profile, clock)

    @override
    async def person(self, user_id: str) -> Person | PersonUnknown | None:
        unanswered = _UNANSWERED.get()
        if unanswered is None:
            return await self._people.get(user_id)
        if user_id in unanswered:
            return unanswered[user_id]
        found = await self._people.get(user_id)
        if isinstance(found, PersonUnknown):
            unanswered[user_id] = found
        return found

    @override
    async def members(self, group_id: str) -> Collection[str] | PersonUnknown:
        return await self._members.get(group_id)

    @override
    async def handle(self, group_id: str) -> str | None:
        handles = await self._handles.get(ALL_GROUPS)
        return None if isinstance(handles, PersonUnknown) else handles.get(group_id)

    @override
    async def profile_field(self, user_id: str, field_id: str) -> str:
        profile = await self._profiles.get(user_id)
        return "" if isinstance(profile, PersonUnknown) else profile.get(field_id, "")

    async def _ask_profile(self, user_id: str) -> Mapping[str, str] | PersonUnknown:
        """The custom fields with text, by their ids.

        https://docs.slack.dev/reference/methods/users.profile.get
        """

        def read(answer: AsyncSlackResponse) -> Mapping[str, str]:
            fields = answer["profile"].get("fields")
            if not isinstance(fields, Mapping):
                # A profile without any may have another shape there.
                return {}
            return {
                str(name): str(field["value"]) for name, field in fields.items() if field["value"]
            }

        call = self._client.users_profile_get(user=user_id)
        return await _look_up("users.profile.get", call, read)

    async def _ask_person(self, user_id: str) -> Person | PersonUnknown | None:
        def read(answer: AsyncSlackResponse) -> Person:
            return SlackUser.model_validate(answer["user"]).person

        found = await _look_up("users.info", self._client.users_info(user=user_id), read)
        is_unknown = isinstance(found, PersonUnknown) and found.code in UNKNOWN_PERSON_CODES
        return None if is_unknown else found

    async def _ask_members(self, group_id: str) -> frozenset[str] | PersonUnknown:
        call = self._client.usergroups_users_list(usergroup=group_id, include_disabled=False)
        found = await _look_up(
            "usergroups.users.list", call, lambda answer: frozenset(answer["users"])
        )
        is_unknown = isinstance(found, PersonUnknown) and found.code in UNKNOWN_GROUP_CODES
        return frozenset() if is_unknown else found

    async def _ask_handles(self, _all: str) -> Mapping[str, str] | PersonUnknown:
        def read(answer: AsyncSlackResponse) -> Mapping[str, str]:
            return {
                usergroup["id"]: usergroup["handle"]
                for usergroup in answer["usergroups"]
                if usergroup.get("handle")
            }

        return await _look_up("usergroups.list", self._client.usergroups_list(), read)


async def _look_up(
    method: str, call: Awaitable[AsyncSlackResponse], read: Callable[[AsyncSlackResponse], Found]
) -> Found | PersonUnknown:
    try:
        async with asyncio.timeout(LOOKUP_SECONDS):
            return read(await call)
    except FAILURES as error:
        code = read_failure(error).code
    except (AttributeError, LookupError, TypeError, ValueError):
        code = UNREADABLE
    if code not in UNKNOWN_PERSON_CODES | UNKNOWN_GROUP_CODES:
        extra = {"action": "person_not_read", "method": method, "error": code}
        logger.warning("Slack didn't say who somebody is", extra=extra)
    return PersonUnknown(code)
