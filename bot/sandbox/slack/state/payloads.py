"""The workspace's state as the JSON of Slack's Web API."""

import re
import unicodedata
from collections.abc import Collection
from hashlib import sha256

from bot.sandbox.slack.state.workspace import Channel, Message, Team, User, Workspace
from bot.sandbox.slack.wire import Json

_PICTURE_SIZES = (24, 32, 48, 72, 192, 512)


class Payloads:
    """Writes users, channels and messages as Slack does for one installed app."""

    def __init__(self, workspace: Workspace, app_id: str, bot_id: str, bot_user_id: str) -> None:
        self._workspace = workspace
        self._app_id = app_id
        self._bot_id = bot_id
        self._bot_user_id = bot_user_id

    @property
    def team(self) -> Team:
        return self._workspace.team

    def bot_profile(self) -> Json:
        bot = self._workspace.users[self._bot_user_id]
        return {
            "id": self._bot_id,
            "app_id": self._app_id,
            "user_id": bot.id,
            "name": bot.real_name,
            "icons": {},
            "deleted": False,
            "updated": 1_700_000_000,
            "team_id": self.team.id,
        }

    def message(self, message: Message) -> Json:
        """Write a message whole, with all its metadata (see `without_metadata`)."""
        body: Json = {"type": "message", "user": message.user, "text": message.text}
        body["ts"] = message.ts
        if message.from_app:
            body |= {"bot_id": self._bot_id, "app_id": self._app_id}
            body["bot_profile"] = self.bot_profile()
        body["team"] = self.team.id
        author = self._workspace.users.get(message.user)
        if author is not None and author.kind == "external":
            # `extract_actor_team_id` of Bolt reads this; it may be an organisation's.
            body |= {"user_team": author.acting_team_id, "source_team": author.acting_team_id}
        optional: Json = {
            "subtype": _subtype(message),
            "client_msg_id": message.client_msg_id,
            "blocks": message.blocks or None,
            "attachments": message.attachments or None,
            "edited": message.edited,
            "reactions": [
                {"name": name, "users": users, "count": len(users)}
                for name, users in message.reactions.items()
            ]
            or None,
            "metadata": message.metadata,
            "files": message.files or None,
        }
        if message.files:
            body |= {"upload": False, "display_as_bot": False}
        body |= {name: value for name, value in optional.items() if value is not None}
        return body | self._thread_fields(message)

    def mention(self, message: Message) -> Json:
        """Write a message as `app_mention` carries it: one with files has no subtype there.

        https://github.com/slackapi/bolt-js/pull/2057
        """
        body = self.message(message) | {"type": "app_mention"}
        if body.get("subtype") == "file_share":
            del body["subtype"]
        return body

    def _thread_fields(self, message: Message) -> Json:
        channel = self._workspace.channels[message.channel]
        if message.is_reply:
            parent = channel.messages.get(message.thread_ts or "")
            author = {"parent_user_id": parent.user} if parent else {}
            fields: Json = {"thread_ts": message.thread_ts, **author}
            if message.broadcast and parent is not None:
                # https://docs.slack.dev/reference/events/message/thread_broadcast
                fields["root"] = self.message(parent)
            return fields
        replies = channel.thread(message.ts)
        if not replies:
            return {}
        authors = list(dict.fromkeys(each.user for each in replies))
        return {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users_count": len(authors),
            "latest_reply": replies[-1].ts,
            "reply_users": authors[:5],
            "is_locked": False,
            "subscribed": self._bot_user_id in {message.user, *authors},
        }

    def listed_message(self, message: Message, *, all_metadata: bool) -> Json:
        """Write a message for history; without `all_metadata`, metadata has only the event type."""
        body = self.message(message)
        if message.metadata is not None and not all_metadata:
            body["metadata"] = {"event_type": message.metadata["event_type"]}
        return body

    def channel(self, channel: Channel) -> Json:
        shared = {
            "id": channel.id,
            "created": channel.created,
            "is_archived": channel.is_archived,
            "is_im": channel.kind == "im",
            "is_mpim": channel.kind == "mpim",
            "is_org_shared": False,
            "context_team_id": self.team.id,
            "updated": channel.created * 1000,
        }
        if channel.kind == "im":
            others = channel.members - {self._bot_user_id}
            other = min(others) if others else self._bot_user_id
            return shared | {"user": other, "is_user_deleted": False, "priority": 0}
        return shared | {
            "name": channel.name,
            "is_channel": channel.kind == "public",
            "is_group": channel.kind == "private",
            "is_general": channel.name == "general",
            "unlinked": 0,
            "name_normalized": channel.name,
            "is_shared": channel.is_ext_shared,
            "is_pending_ext_shared": channel.is_pending_ext_shared,
            "pending_shared": [],
            "parent_conversation": None,
            "creator": channel.creator,
            "is_ext_shared": channel.is_ext_shared,
            "shared_team_ids": [self.team.id],
            "pending_connected_team_ids": [],
            "is_member": self._bot_user_id in channel.members,
            "is_private": channel.is_private,
            "topic": {"value": channel.topic, "creator": "", "last_set": 0},
            "purpose": {"value": "", "creator": "", "last_set": 0},
            "previous_names": [],
        }

    def user(self, user: User, scopes: Collection[str] = ()) -> Json:
        """Write a person (docs.slack.dev/reference/objects/user-object)."""
        digest = sha256(user.id.encode()).hexdigest()[:12]
        picture = f"https://avatars.slack-edge.example/{digest}_"
        chosen = user.name if user.display_name is None else user.display_name
        if user.is_bot:
            chosen = ""
        guest = user.kind in {"guest", "single_channel_guest"}
        profile: Json = {
            "title": "",
            "real_name": user.real_name,
            "real_name_normalized": _plain(user.real_name),
            "display_name": chosen,
            "display_name_normalized": _plain(chosen),
            "status_text": "",
            "status_emoji": "",
            "avatar_hash": digest,
            **{f"image_{size}": f"{picture}{size}" for size in _PICTURE_SIZES},
            "team": user.team_id,
        }
        if not user.is_bot and "users:read.email" in scopes:
            # https://docs.slack.dev/reference/scopes/users.read.email
            profile["email"] = f"{user.name}@{self.team.domain}.example"
        if user.is_bot:
            profile |= {"bot_id": self._bot_id, "api_app_id": self._app_id, "always_active": True}
        body: Json = {
            "id": user.id,
            "team_id": user.team_id,
            "name": user.name,
            "deleted": user.deleted,
            "color": "9f69e7",
            "real_name": user.real_name,
            "tz": user.tz,
            "tz_label": user.tz.rpartition("/")[2].replace("_", " "),
            "tz_offset": user.tz_offset,
            "profile": profile,
            "is_admin": user.kind in {"admin", "owner"},
            "is_owner": user.kind == "owner",
            "is_primary_owner": False,
            "is_restricted": guest,
            "is_ultra_restricted": user.kind == "single_channel_guest",
            "is_bot": user.is_bot,
            "is_app_user": False,
            "updated": 1_700_000_000,
            "is_email_confirmed": not user.is_bot,
            "who_can_share_contact_card": "EVERYONE",
        }
        if not user.has_guest_flags:
            del body["is_restricted"], body["is_ultra_restricted"]
        if user.enterprise_id is not None:
            body["enterprise_user"] = {
                "id": user.id,
                "enterprise_id": user.enterprise_id,
                "enterprise_name": "",
                "is_admin": False,
                "is_owner": False,
                "teams": [user.team_id],
            }
        if user.kind == "external":
            body["is_stranger"] = not self._is_met(user)
        return body

    def _is_met(self, user: User) -> bool:
        """Whether somebody of another organisation is in a channel that the app can see."""
        return any(
            user.id in channel.members
            and (not channel.is_private or self._bot_user_id in channel.members)
            for channel in self._workspace.channels.values()
        )


def _subtype(message: Message) -> str | None:
    """Slack's kind of a message (docs.slack.dev/reference/events/message#subtypes)."""
    if message.broadcast:
        return "thread_broadcast"
    return message.subtype or ("file_share" if message.files else None)


def _plain(name: str) -> str:
    """A name without accents, as the `…_normalized` fields have it."""
    spread = unicodedata.normalize("NFKD", name)
    return "".join(each for each in spread if not unicodedata.combining(each))


def permalink(base_url: str, message: Message) -> str:
    """Give the address of a message: `…/archives/C…/p<ts without its dot>`."""
    address = f"{base_url}archives/{message.channel}/p{message.ts.replace('.', '')}"
    if message.is_reply:
        return f"{address}?thread_ts={message.thread_ts}&cid={message.channel}"
    return address


def ts_of_permalink(name: str) -> str | None:
    """Read the message time back from the last part of a permalink."""
    match = re.fullmatch(r"p(\d+)(\d{6})", name)
    return f"{match[1]}.{match[2]}" if match else None
