"""The part of the control API that arranges the workspace."""

from aiohttp import web

from bot.sandbox.slack.control.arrangement import Arrangement
from bot.sandbox.slack.control.requests import answering, body_of, flag_of, list_of, texts_of
from bot.sandbox.slack.wire import Json


class ArrangementApi:
    """Answers `/control/users`, `/control/channels…` and `/control/usergroups`."""

    def __init__(self, arrangement: Arrangement) -> None:
        self._arrangement = arrangement

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/control/users", answering(self._add_user)),
            web.post("/control/users/{id}", answering(self._change_user)),
            web.post("/control/enterprise", answering(self._set_enterprise)),
            web.post("/control/channels", answering(self._add_channel)),
            web.post("/control/channels/{id}", answering(self._change_channel)),
            web.post("/control/channels/{id}/members", answering(self._set_member)),
            web.post("/control/usergroups", answering(self._set_group)),
        ]

    async def _add_user(self, request: web.Request) -> Json:
        """Take `name`, `kind?`, `team_id?`, `deleted?`, `enterprise_id?`; answer `user`, `U0NAME`.

        A kind is `member`, `owner`, `admin`, `guest`, `single_channel_guest` or `external`.
        """
        body = await body_of(request)
        (name,) = texts_of(body, "name")
        kind = str(body.get("kind") or "member")
        team_id = body.get("team_id")
        team = str(team_id) if team_id else None
        deleted = flag_of(body, "deleted", default=False)
        grid = body.get("enterprise_id")
        enterprise_id = str(grid) if grid else None
        return self._arrangement.add_user(
            name, kind, team, deleted=deleted, enterprise_id=enterprise_id
        )

    async def _change_user(self, request: web.Request) -> Json:
        """Take `kind?`, `deleted?`, `profile_fields?` (`{"Xf01": "alice-m"}`)."""
        body = await body_of(request)
        return self._arrangement.change_user(request.match_info["id"], body)

    async def _set_enterprise(self, request: web.Request) -> Json:
        """Take `enterprise_id`, null for none, and `is_org_wide?`."""
        body = await body_of(request)
        enterprise_id = body.get("enterprise_id")
        return self._arrangement.set_enterprise(
            str(enterprise_id) if enterprise_id else None,
            is_org_wide=flag_of(body, "is_org_wide", default=False),
        )

    async def _add_channel(self, request: web.Request) -> Json:
        """Take `name`, `members?`, `is_private?`; answer `channel`, `C0NAME`."""
        body = await body_of(request)
        (name,) = texts_of(body, "name")
        is_private = flag_of(body, "is_private", default=False)
        members = list_of(body, "members")
        return self._arrangement.add_channel(name, members, is_private=is_private)

    async def _change_channel(self, request: web.Request) -> Json:
        """Take `is_archived?`, `is_ext_shared?`, `is_pending_ext_shared?`, `topic?`."""
        body = await body_of(request)
        return self._arrangement.change_channel(request.match_info["id"], body)

    async def _set_member(self, request: web.Request) -> Json:
        """Take `user`, `is_member?`."""
        body = await body_of(request)
        (user,) = texts_of(body, "user")
        is_member = flag_of(body, "is_member", default=True)
        channel = request.match_info["id"]
        return self._arrangement.set_member(channel, user, is_member=is_member)

    async def _set_group(self, request: web.Request) -> Json:
        """Take `handle`, `members?`, `is_enabled?`; answer `usergroup`, `S0HANDLE`."""
        body = await body_of(request)
        (handle,) = texts_of(body, "handle")
        is_enabled = flag_of(body, "is_enabled", default=True)
        return self._arrangement.set_group(handle, list_of(body, "members"), is_enabled=is_enabled)
