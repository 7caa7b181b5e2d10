"""Slack's data on people and user groups."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeVar

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.domain.permissions import Person, Unanswered
from bot.ports import Clock, PeopleDirectory
from bot.slack.payloads import Payload, at
from bot.slack.web_api.failures import FAILURES, read_failure
from bot.slack.web_api.remembered import Remembered

logger = logging.getLogger(__name__)

LOOKUP_SECONDS = 2.0
"""A trigger is valid for three seconds, and permissions are checked before the modal opens."""

UNKNOWN_PERSON_CODES = frozenset({"user_not_found", "users_not_found", "user_not_visible"})
UNKNOWN_GROUP_CODES = frozenset({"no_such_subteam", "subteam_not_found"})
SLACKBOT = "USLACKBOT"
"""Slackbot's account doesn't say that it is a bot."""

ALL_GROUPS = "all"
UNREADABLE = "unreadable_answer"

Found = TypeVar("Found")


class SlackUser(Payload):
    """https://docs.slack.dev/reference/objects/user-object.

    Slack omits the guest flags of deactivated accounts only; without them, nobody knows whether
    the account is a guest's.
    """

    id: str
    team_id: str | None = None
    name: str = ""
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
    def person(self) -> Person:
        ids = {self.team_id, self.enterprise_id, *self.enterprise_teams}
        flags = {self.is_restricted, self.is_ultra_restricted}
        otherwise = None if None in flags else False
        return Person(
            user_id=self.id,
            name=self.name or self.id,
            team_ids=frozenset(one for one in ids if one),
            is_deactivated=self.deleted,
            is_bot=self.is_bot or self.is_workflow_bot or self.id == SLACKBOT,
            is_guest=True in flags or otherwise,
            is_stranger=self.is_stranger,
            zone=self.tz,
        )


class SlackPeople(PeopleDirectory):
    """Reads `users.info`, `usergroups.users.list` and, to name groups, `usergroups.list`."""

    def __init__(self, client: AsyncWebClient, clock: Clock) -> None:
        self._client = client
        self._people = Remembered(self._ask_person, clock)
        self._members = Remembered(self._ask_members, clock)
        self._handles = Remembered(self._ask_handles, clock)

    @override
    async def person(self, user_id: str) -> Person | Unanswered | None:
        return await self._people.get(user_id)

    @override
    async def members(self, group_id: str) -> Collection[str] | Unanswered:
        return await self._members.get(group_id)

    @override
    async def handle(self, group_id: str) -> str | None:
        handles = await self._handles.get(ALL_GROUPS)
        return None if isinstance(handles, Unanswered) else handles.get(group_id)

    async def _ask_person(self, user_id: str) -> Person | Unanswered | None:
        def read(answer: AsyncSlackResponse) -> Person:
            return SlackUser.model_validate(answer["user"]).person

        found = await _read("users.info", self._client.users_info(user=user_id), read)
        is_unknown = isinstance(found, Unanswered) and found.code in UNKNOWN_PERSON_CODES
        return None if is_unknown else found

    async def _ask_members(self, group_id: str) -> frozenset[str] | Unanswered:
        call = self._client.usergroups_users_list(usergroup=group_id, include_disabled=False)
        found = await _read("usergroups.users.list", call, lambda one: frozenset(one["users"]))
        is_unknown = isinstance(found, Unanswered) and found.code in UNKNOWN_GROUP_CODES
        return frozenset() if is_unknown else found

    async def _ask_handles(self, _all: str) -> Mapping[str, str] | Unanswered:
        def read(answer: AsyncSlackResponse) -> Mapping[str, str]:
            return {one["id"]: one["handle"] for one in answer["usergroups"] if one.get("handle")}

        return await _read("usergroups.list", self._client.usergroups_list(), read)


async def _read(
    method: str, call: Awaitable[AsyncSlackResponse], read: Callable[[AsyncSlackResponse], Found]
) -> Found | Unanswered:
    try:
        async with asyncio.timeout(LOOKUP_SECONDS):
            return read(await call)
    except FAILURES as error:
        code = read_failure(error).code
    except (LookupError, TypeError, ValueError):
        code = UNREADABLE
    if code not in UNKNOWN_PERSON_CODES | UNKNOWN_GROUP_CODES:
        extra = {"action": "person_not_read", "method": method, "error": code}
        logger.warning("Slack did not say who somebody is", extra=extra)
    return Unanswered(code)
