"""The Events API: sends the app the events that its manifest subscribes to."""

import asyncio
import secrets
import time

from bot.sandbox.slack.delivering.delivery import Delivery, Payload
from bot.sandbox.slack.delivering.interaction_payloads import VERIFICATION_TOKEN
from bot.sandbox.slack.faults import REPEAT_EVENT, Faults
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.workspace import Change, Channel, ChannelKind, Message
from bot.sandbox.slack.wire import Json

# kind -> (event to declare, scope it needs, `channel_type` in the event)
_MESSAGES: dict[ChannelKind, tuple[str, str, str]] = {
    "public": ("message.channels", "channels:history", "channel"),
    "private": ("message.groups", "groups:history", "group"),
    "im": ("message.im", "im:history", "im"),
    "mpim": ("message.mpim", "mpim:history", "mpim"),
}
_OTHER_TEAM = "T0PARTNER"
_CHANNEL_LETTER: dict[ChannelKind, str] = {"public": "C", "private": "G", "im": "D", "mpim": "G"}


def _new_event_id() -> str:
    return f"Ev{secrets.token_hex(5).upper()}"


class AppEvents:
    """Sends the manifest's events, as far as membership and scopes allow."""

    def __init__(self, installation: Installation, delivery: Delivery, faults: Faults) -> None:
        self._installation = installation
        self._delivery = delivery
        self._faults = faults

    def declares(self, name: str) -> bool:
        return name in self._installation.manifest.bot_events

    def send(self, event: Json, channel: Channel | None = None) -> asyncio.Future[str | None]:
        """Send one event; the future gives the fate of its first attempt (see `Delivery`)."""
        installation = self._installation
        team_id = installation.workspace.team.id
        enterprise_id = installation.workspace.team.enterprise_id
        authorization = {
            "enterprise_id": enterprise_id,
            "team_id": team_id,
            "user_id": installation.bot_user_id,
            "is_bot": True,
            "is_enterprise_install": installation.workspace.team.is_org_wide,
        }
        body = {
            "token": VERIFICATION_TOKEN,
            "team_id": team_id,
            "context_team_id": team_id,
            "context_enterprise_id": enterprise_id,
            "api_app_id": installation.app_id,
            "event": event,
            "type": "event_callback",
            "event_id": _new_event_id(),
            "event_time": int(time.time()),
            "authorizations": [authorization],
            "is_ext_shared_channel": bool(channel and channel.is_ext_shared),
            "event_context": secrets.token_urlsafe(24),
        }
        if self._faults.take(REPEAT_EVENT) is not None:
            # Seen with up to eleven ids for one message
            # (https://github.com/slackapi/node-slack-sdk/issues/2141).
            again = {**body, "event_id": _new_event_id()}
            _ = self._delivery.announce(Payload("events_api", again))
        return self._delivery.announce(Payload("events_api", body))

    def on_change(self, change: Change) -> None:
        """Hear of a change in the workspace and pass on what the app may know."""
        channel = self._installation.workspace.channels.get(change.channel or "")
        if channel is None:
            return
        self._send_channel_event(channel, change)
        if change.message is None or not self._installation.is_member(channel):
            return
        if change.kind == "message":
            self._send_message(channel, change.message)
            self._send_mention(channel, change.message)
        elif change.kind == "message_changed" and change.previous is not None:
            self._send_changed(channel, change.message, change.previous)
        elif change.kind == "message_deleted":
            self._send_deleted(channel, change.message)

    def _send_channel_event(self, channel: Channel, change: Change) -> None:
        if change.joined is not None:
            self._send_joined(channel, change.joined, change.inviter)
        if change.joined == self._installation.bot_user_id:
            # Who mentions an app that isn't there may invite it, which it gets as a mention
            # (docs.slack.dev/reference/events/app_mention).
            mentioned = self._installation.uninvited.pop(channel.id, None)
            if mentioned is not None:
                self._send_mention(channel, mentioned)
        if change.kind in {"channel_shared", "channel_unshared"}:
            self._send_shared(channel, change.kind)
        if change.kind == "channel_id" and self.declares("channel_id_changed"):
            event = {
                "type": "channel_id_changed",
                "event_ts": self._installation.workspace.new_ts(),
            }
            _ = self.send(event | {"old_channel_id": change.text, "new_channel_id": channel.id})

    def _gets_messages(self, channel: Channel) -> bool:
        event, scope, _ = _MESSAGES[channel.kind]
        return self.declares(event) and scope in self._installation.manifest.bot_scopes

    def _send_message(self, channel: Channel, message: Message) -> None:
        if self._gets_messages(channel):
            body = self._installation.payloads.message(message)
            _ = self.send(body | self._place(channel, message.ts), channel)

    def _place(self, channel: Channel, event_ts: str) -> Json:
        channel_type = _MESSAGES[channel.kind][2]
        return {"channel": channel.id, "event_ts": event_ts, "channel_type": channel_type}

    def _send_mention(self, channel: Channel, message: Message) -> None:
        mention = f"<@{self._installation.bot_user_id}>"
        if mention not in message.text or channel.kind == "im" or message.from_app:
            return
        granted = "app_mentions:read" in self._installation.manifest.bot_scopes
        if self.declares("app_mention") and granted:
            body = self._installation.payloads.mention(message)
            place = {"channel": channel.id, "event_ts": message.ts}
            _ = self.send(body | place, channel)

    def _send_changed(self, channel: Channel, message: Message, previous: Message) -> None:
        if not self._gets_messages(channel):
            return
        payloads = self._installation.payloads
        ts = self._installation.workspace.new_ts()
        event = {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "message": payloads.message(message),
            "previous_message": payloads.message(previous),
            "ts": ts,
        }
        _ = self.send(event | self._place(channel, ts), channel)

    def _send_deleted(self, channel: Channel, message: Message) -> None:
        if not self._gets_messages(channel):
            return
        ts = self._installation.workspace.new_ts()
        event = {
            "type": "message",
            "subtype": "message_deleted",
            "hidden": True,
            "deleted_ts": message.ts,
            "previous_message": self._installation.payloads.message(message),
            "ts": ts,
        }
        _ = self.send(event | self._place(channel, ts), channel)

    def _send_shared(self, channel: Channel, kind: str) -> None:
        scope = "channels:read" if channel.kind == "public" else "groups:read"
        if not self.declares(kind) or scope not in self._installation.manifest.bot_scopes:
            return
        if channel.is_private and not self._installation.is_member(channel):
            return
        event_ts = self._installation.workspace.new_ts()
        event: Json = {"type": kind, "channel": channel.id, "event_ts": event_ts}
        if kind == "channel_shared":
            event["connected_team_id"] = _OTHER_TEAM
        else:
            event |= {"previously_connected_team_id": _OTHER_TEAM, "is_ext_shared": False}
        _ = self.send(event, channel)

    def _send_joined(self, channel: Channel, user: str, inviter: str | None) -> None:
        # A person who came alone has no inviter
        # (https://docs.slack.dev/reference/events/member_joined_channel).
        scope = "channels:read" if channel.kind == "public" else "groups:read"
        if not self.declares("member_joined_channel") or not self._installation.is_member(channel):
            return
        if scope not in self._installation.manifest.bot_scopes:
            return
        event: Json = {
            "type": "member_joined_channel",
            "user": user,
            "channel": channel.id,
            "channel_type": _CHANNEL_LETTER[channel.kind],
            "team": self._installation.workspace.team.id,
            "event_ts": self._installation.workspace.new_ts(),
        }
        if inviter is not None:
            event["inviter"] = inviter
        _ = self.send(event, channel)
