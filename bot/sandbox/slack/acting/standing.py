"""Whether a person may do a thing at all: who they are and what they can reach."""

from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.views import View
from bot.sandbox.slack.state.workspace import Channel, Message, User
from bot.sandbox.slack.wire import ControlRefusal

_NOT_FOUND = 404


class Standing:
    """Finds what a person names, and refuses what their Slack client would not offer."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation

    def person(self, user_id: object) -> User:
        user = self._installation.workspace.users.get(str(user_id))
        if user is None or user.is_bot or user.deleted:
            detail = f"there is no person {user_id}"
            raise ControlRefusal("user_not_found", detail, status=_NOT_FOUND)
        return user

    def own_person(self, user_id: object) -> User:
        """Find a person of this workspace: others have no commands and no shortcuts here."""
        user = self.person(user_id)
        if user.kind == "external" or user.team_id != self._installation.workspace.team.id:
            detail = f"{user.shown_name} is not of this workspace"
            raise ControlRefusal("user_is_external", detail)
        return user

    def seen_channel(self, user: User, channel_id: object) -> Channel:
        workspace = self._installation.workspace
        channel = workspace.channels.get(str(channel_id))
        if channel is None or not workspace.sees(user.id, channel):
            detail = f"{user.shown_name} sees no channel {channel_id}"
            raise ControlRefusal("channel_not_found", detail, status=_NOT_FOUND)
        return channel

    def writable_channel(self, user: User, channel_id: object) -> Channel:
        channel = self.seen_channel(user, channel_id)
        if user.id not in channel.members:
            raise ControlRefusal(
                "not_in_channel", f"{user.shown_name} has not joined {channel.name}"
            )
        if channel.is_archived:
            raise ControlRefusal("is_archived", f"{channel.name} is archived")
        return channel

    def seen_message(self, user: User, channel_id: object, ts: object) -> Message:
        channel = self.seen_channel(user, channel_id)
        hidden = channel.ephemerals.get(str(ts))
        if hidden is not None and hidden.ephemeral_to == user.id:
            return hidden
        message = channel.messages.get(str(ts))
        if message is None:
            detail = f"{user.shown_name} sees no message {ts} in {channel.id}"
            raise ControlRefusal("message_not_found", detail, status=_NOT_FOUND)
        return message

    def top_view(self, user: User, view_id: object) -> View:
        """Find the modal on top of a person's stack: the only one they can touch."""
        stack = self._installation.views.stack(user.id)
        if not stack or stack[-1].id != str(view_id):
            detail = f"{view_id} is not the modal that {user.shown_name} sees"
            raise ControlRefusal("view_not_found", detail, status=_NOT_FOUND)
        return stack[-1]

    def seen_view(self, user: User, view_id: object) -> View:
        """Find the top modal or the Home view of a person."""
        home = self._installation.views.home(user.id)
        if home is not None and home.id == str(view_id):
            return home
        return self.top_view(user, view_id)
