"""What one person sees: the workspace, a channel's messages, open modals, the Home tab."""

from bot.sandbox.slack.acting.standing import Standing
from bot.sandbox.slack.delivering.delivery import Delivery
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.workspace import Change, Channel, Message, User
from bot.sandbox.slack.wire import Json

DEFAULT_LIMIT = 200


class Sight:
    """Reads for one person, in the shapes of the control API."""

    def __init__(self, installation: Installation, delivery: Delivery, standing: Standing) -> None:
        self._installation = installation
        self._delivery = delivery
        self._standing = standing

    def workspace(self, user: str | None = None) -> Json:
        """Give the team, its people, the channels this person sees, and what the app offers.

        Without a person the first one of the workspace is the viewer.
        """
        workspace = self._installation.workspace
        manifest = self._installation.manifest
        viewer = self._standing.person(user or next(iter(workspace.users)))
        shown = [c for c in workspace.channels.values() if workspace.sees(viewer.id, c)]
        return {
            "ok": True,
            "team": {
                "id": workspace.team.id,
                "name": workspace.team.name,
                "domain": workspace.team.domain,
            },
            "viewer": viewer.id,
            "clock_ahead": round(workspace.ahead),
            "users": [_user_json(each) for each in workspace.users.values()],
            "channels": [self._channel_json(viewer, each) for each in shown],
            "app": {
                "id": self._installation.app_id,
                "name": manifest.name,
                "bot_user_id": self._installation.bot_user_id,
                "connected": self._delivery.connections > 0,
                "connections": self._delivery.connections,
                "commands": [
                    {
                        "command": each.command,
                        "description": each.description,
                        "usage_hint": each.usage_hint,
                    }
                    for each in manifest.commands
                ],
                "shortcuts": [vars(each) for each in manifest.shortcuts],
                "home_tab_enabled": manifest.home_tab_enabled,
                "messages_tab_enabled": manifest.messages_tab_enabled,
            },
        }

    def _channel_json(self, viewer: User, channel: Channel) -> Json:
        others = sorted(channel.members - {viewer.id})
        users = self._installation.workspace.users
        name = channel.name or ", ".join(users[each].real_name for each in others)
        return {
            "id": channel.id,
            "name": name,
            "kind": channel.kind,
            "is_private": channel.is_private,
            "is_archived": channel.is_archived,
            "is_ext_shared": channel.is_ext_shared,
            "is_member": viewer.id in channel.members,
            "bot_is_member": self._installation.is_member(channel),
            "topic": channel.topic,
            "num_members": len(channel.members),
        }

    def messages(
        self,
        user: str,
        channel: str,
        thread_ts: str | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> Json:
        """Give a channel's newest messages, or a thread's, oldest first."""
        viewer = self._standing.person(user)
        target = self._standing.seen_channel(viewer, channel)
        hidden = [each for each in target.ephemerals if each.ephemeral_to == viewer.id]
        if thread_ts is None:
            shown = _newest(target, limit)
            hidden = [each for each in hidden if each.thread_ts is None]
        else:
            parent = self._standing.seen_message(viewer, channel, thread_ts)
            shown = [parent, *target.thread(thread_ts)]
            hidden = [each for each in hidden if each.thread_ts == thread_ts]
        found = sorted([*shown, *hidden], key=lambda each: each.ts)
        kept = found if thread_ts is not None else found[-limit:]
        return {"ok": True, "messages": [self.message_json(each) for each in kept]}

    def message_json(self, message: Message) -> Json:
        """Write a message as the page and tests read it."""
        workspace = self._installation.workspace
        author = workspace.users.get(message.user)
        channel = workspace.channels[message.channel]
        body: Json = {
            "ts": message.ts,
            "channel": message.channel,
            "user": message.user,
            "username": author.shown_name if author else message.user,
            "is_bot": bool(author and author.is_bot),
            "text": message.text,
            "blocks": message.blocks,
            "reply_count": len(channel.thread(message.ts)),
            "ephemeral": message.ephemeral_to is not None,
        }
        optional: Json = {
            "thread_ts": message.thread_ts,
            "edited": message.edited,
            "metadata": message.metadata,
            "attachments": message.attachments or None,
            "files": message.files or None,
            "broadcast": message.broadcast or None,
            "subtype": message.subtype,
            "deleted": True if message.subtype == "tombstone" else None,
            "reactions": message.reactions or None,
        }
        return body | {name: value for name, value in optional.items() if value is not None}

    def views(self, user: str) -> Json:
        """Give the person's open modals, the top one last, and their Home view or null."""
        viewer = self._standing.person(user)
        views = self._installation.views
        home = views.home(viewer.id)
        return {
            "ok": True,
            "views": [self._installation.view_json(each) for each in views.stack(viewer.id)],
            "home": self._installation.view_json(home) if home else None,
        }

    def change_json(self, user: str, change: Change) -> Json | None:
        """Write a change as this person's stream carries it, or None when they do not see it."""
        if change.users and user not in change.users:
            return None
        workspace = self._installation.workspace
        channel = workspace.channels.get(change.channel or "")
        if channel is not None and not change.users and not workspace.sees(user, channel):
            # Who was just taken out of a private channel still learns that it is gone.
            return None if change.kind != "channel" else {"kind": "channel", "channel": channel.id}
        body: Json = {"kind": change.kind}
        if change.channel is not None:
            body["channel"] = change.channel
        if change.text is not None:
            body["text"] = change.text
        if change.message is not None:
            body |= {"ts": change.message.ts, "message": self.message_json(change.message)}
            if change.message.thread_ts is not None:
                body["thread_ts"] = change.message.thread_ts
            root = self._root_of(change.message)
            if root is not None:
                body["root"] = self.message_json(root)
        return body

    def _root_of(self, message: Message) -> Message | None:
        """Find what a reply answers, whose count of replies changes with it."""
        if not message.is_reply or message.ephemeral_to is not None:
            return None
        return self._installation.workspace.channels[message.channel].messages.get(
            message.thread_ts or ""
        )


def _newest(channel: Channel, limit: int) -> list[Message]:
    shown: list[Message] = []
    for each in channel.messages.newest_first():
        if len(shown) == limit:
            break
        if each.is_listed:
            shown.append(each)
    return shown


def _user_json(user: User) -> Json:
    return {
        "id": user.id,
        "name": user.shown_name,
        "real_name": user.real_name,
        "kind": user.kind,
        "team_id": user.team_id,
        "is_bot": user.is_bot,
        "deleted": user.deleted,
        "tz": user.tz,
    }
