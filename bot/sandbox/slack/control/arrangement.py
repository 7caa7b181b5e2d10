"""Arranges the workspace for a test: more people, channels, user groups, who is where."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.workspace import (
    Change,
    Channel,
    ChannelKind,
    User,
    UserGroup,
    UserKind,
)
from bot.sandbox.slack.wire import ControlRefusal, Json

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_KINDS = tuple(each for each in get_args(UserKind) if each != "bot")
_CHANNEL_CHANGES = {
    "is_archived": bool,
    "is_ext_shared": bool,
    "is_pending_ext_shared": bool,
    "topic": str,
}
_NOT_FOUND = 404


def _kind(name: str) -> UserKind:
    """The kind of that name, as a type checker can see; the name must be one of them."""
    return next(each for each in get_args(UserKind) if each == name)


class Arrangement:
    """What an administrator would set up; each method answers what the control API answers."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._workspace = installation.workspace

    def add_user(
        self,
        name: str,
        kind: str = "member",
        team_id: str | None = None,
        *,
        deleted: bool = False,
        enterprise_id: str | None = None,
    ) -> Json:
        """Add a person; one of another organisation has kind "external" and its own team.

        One with an `enterprise_id` belongs to that Enterprise Grid: payloads then name it as
        their team.
        """
        if not _NAME.fullmatch(name) or self._workspace.user_named(name):
            raise ControlRefusal("invalid_name", f"{name} is taken or no name")
        if kind not in _KINDS:
            raise ControlRefusal("invalid_kind", f"kind is one of: {', '.join(_KINDS)}")
        user_id = f"U0{re.sub('[^A-Z0-9]', '', name.upper())}"
        team = team_id or self._workspace.team.id
        # The legacy username is not what people see.
        user = User(user_id, f"{name}0", name.capitalize(), team, deleted=deleted)
        user.display_name = name
        user.enterprise_id = enterprise_id
        user.kind = _kind(kind)
        self._workspace.add_user(user)
        return {"ok": True, "user": user_id}

    def change_user(self, user_id: str, changes: Mapping[str, object]) -> Json:
        """Set `deleted` (true: deactivated), `kind`, `profile_fields`, or a name of a person."""
        user = self._known_user(user_id)
        for name, value in changes.items():
            if name == "deleted" and isinstance(value, bool):
                user.deleted = value
            elif name == "kind" and value in _KINDS and not user.is_bot:
                user.kind = _kind(str(value))
            elif name == "display_name" and isinstance(value, str):
                user.display_name = value
            elif name == "real_name" and isinstance(value, str):
                user.real_name = value
            elif name == "profile_fields" and isinstance(value, Mapping):
                user.profile_fields = {str(key): str(held) for key, held in value.items()}
            else:
                raise ControlRefusal("invalid_change", f"{name} cannot be set to that")
        self._workspace.notify(Change("app"))
        return {"ok": True}

    def set_enterprise(self, enterprise_id: str | None, *, is_org_wide: bool = False) -> Json:
        """Make the workspace and its people part of an Enterprise Grid, or of none.

        An app asks for it when it starts (auth.test), and whether it is installed for all of it.
        """
        workspace = self._workspace
        before = workspace.team.enterprise_id
        workspace.team = replace(
            workspace.team, enterprise_id=enterprise_id, is_org_wide=is_org_wide
        )
        for user in workspace.users.values():
            if user.enterprise_id == before and user.team_id == workspace.team.id:
                user.enterprise_id = enterprise_id
        return {"ok": True}

    def add_channel(self, name: str, members: list[str], *, is_private: bool = False) -> Json:
        """Add a public or private channel with these people in it."""
        if not _NAME.fullmatch(name) or self._workspace.channel_named(name):
            raise ControlRefusal("name_taken", f"{name} is taken or no name")
        for each in members:
            self._known_user(each)
        channel_id = f"C0{re.sub('[^A-Z0-9]', '', name.upper())}"
        kind: ChannelKind = "private" if is_private else "public"
        self._workspace.add_channel(Channel(channel_id, name, kind, set(members)))
        return {"ok": True, "channel": channel_id}

    def change_channel(self, channel_id: str, changes: Mapping[str, object]) -> Json:
        """Set one of `_CHANNEL_CHANGES` of a channel."""
        channel = self._known_channel(channel_id)
        was_shared = channel.is_ext_shared
        for name, value in changes.items():
            wanted = _CHANNEL_CHANGES.get(name)
            if wanted is None or not isinstance(value, wanted):
                raise ControlRefusal("invalid_change", f"{name} cannot be set to that")
            setattr(channel, name, value)
        self._workspace.touch(channel)
        if channel.is_ext_shared is not was_shared:
            kind = "channel_shared" if channel.is_ext_shared else "channel_unshared"
            self._workspace.notify(Change(kind, channel=channel.id))
        return {"ok": True}

    def change_channel_id(self, channel_id: str, new_id: str) -> Json:
        """Give a channel another id, as Slack may when it is shared, and notify the app."""
        self._known_channel(channel_id)
        self._workspace.change_channel_id(channel_id, new_id)
        return {"ok": True}

    def set_member(self, channel_id: str, user_id: str, *, is_member: bool) -> Json:
        """Put a person or the app's bot user into a channel, or take them out."""
        channel = self._known_channel(channel_id)
        self._known_user(user_id)
        if is_member:
            self._workspace.join(channel, user_id)
        else:
            self._workspace.leave(channel, user_id)
        return {"ok": True}

    def set_group(self, handle: str, members: list[str], *, is_enabled: bool = True) -> Json:
        """Make or change a user group; its id is `S0` and its handle in capitals."""
        for each in members:
            self._known_user(each)
        group_id = f"S0{re.sub('[^A-Z0-9]', '', handle.upper())}"
        group = UserGroup(group_id, handle, handle, set(members), is_enabled)
        self._workspace.groups[group_id] = group
        return {"ok": True, "usergroup": group_id}

    def _known_user(self, user_id: str) -> User:
        user = self._workspace.users.get(user_id)
        if user is None:
            detail = f"there is nobody {user_id}"
            raise ControlRefusal("user_not_found", detail, status=_NOT_FOUND)
        return user

    def _known_channel(self, channel_id: str) -> Channel:
        channel = self._workspace.channels.get(channel_id)
        if channel is None:
            detail = f"there is no channel {channel_id}"
            raise ControlRefusal("channel_not_found", detail, status=_NOT_FOUND)
        return channel
