"""The chat methods: post, update, delete, ephemeral, permalink."""

import dataclasses

from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.payloads import permalink
from bot.sandbox.slack.state.workspace import Channel, Message
from bot.sandbox.slack.web_api.calls import Call
from bot.sandbox.slack.web_api.message_content import (
    POSTED_TEXT,
    Content,
    read_content,
    read_metadata,
)
from bot.sandbox.slack.web_api.methods.channels import visible_channel
from bot.sandbox.slack.web_api.methods.method import SPECIAL, TIER_3, TIER_4, Method
from bot.sandbox.slack.wire import Json, SlackRefusal

UPDATED_TEXT = 4_000


def post_message(installation: Installation, call: Call) -> Json:
    """Post a message (docs.slack.dev/reference/methods/chat.postMessage)."""
    channel = _destination(installation, call)
    content = read_content(call, installation)
    metadata = read_metadata(call)
    if content.is_empty:
        raise SlackRefusal("no_text")
    thread_ts = _thread(call, channel)
    message = _new_message(installation, channel, content)
    message.metadata = metadata
    message.thread_ts = thread_ts
    message.broadcast = thread_ts is not None and call.flag("reply_broadcast")
    installation.workspace.post(message)
    answer = {"channel": channel.id, "ts": message.ts}
    return {**answer, "message": installation.payloads.message(message)}


def _new_message(installation: Installation, channel: Channel, content: Content) -> Message:
    return installation.new_message(
        channel.id, content.fallback, content.blocks, content.attachments
    )


def _destination(installation: Installation, call: Call) -> Channel:
    """Find where a post goes: a channel id or name, or a person's id for their direct messages."""
    given = call.required("channel")
    workspace = installation.workspace
    if given in workspace.users:
        channel = workspace.direct_channel(installation.bot_user_id, given)
    else:
        named = workspace.channel_named(given)
        channel = visible_channel(installation, named.id if named else given)
    if channel.kind == "im" and not installation.manifest.messages_tab_enabled:
        raise SlackRefusal("messages_tab_disabled")
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    if not installation.is_member(channel) and "chat:write.public" not in call.token.scopes:
        raise SlackRefusal("not_in_channel")
    return channel


def _thread(call: Call, channel: Channel) -> str | None:
    thread_ts = call.text("thread_ts")
    if not thread_ts:
        return None
    parent = channel.messages.get(thread_ts)
    if parent is None and thread_ts in channel.deleted:
        # Slack posts it to the channel, without an error and without `thread_ts` in its answer
        # (https://github.com/slack-go/slack/issues/1571).
        return None
    if parent is None:
        raise SlackRefusal("thread_not_found")
    # A reply's own ts lands in the thread of its parent.
    return parent.thread_ts or parent.ts


def update_message(installation: Installation, call: Call) -> Json:
    """Change a message of the app (docs.slack.dev/reference/methods/chat.update)."""
    channel = visible_channel(installation, call.required("channel"))
    message = _own_message(installation, call, channel, "cant_update_message")
    if len(call.text("text")) > UPDATED_TEXT:
        raise SlackRefusal("msg_too_long")
    content = read_content(call, installation, default_parse="client")
    if channel.is_archived:
        raise SlackRefusal("is_inactive")
    changed = _updated(installation, message, content)
    if call.flag("reply_broadcast"):
        if not message.is_reply:
            raise SlackRefusal("cant_broadcast_message")
        changed.broadcast = True
    if call.has("metadata"):
        changed.metadata = read_metadata(call)
    installation.workspace.replace(changed)
    answer = {"channel": channel.id, "ts": message.ts, "text": changed.text}
    return {**answer, "message": installation.payloads.message(changed)}


def _updated(installation: Installation, message: Message, content: Content) -> Message:
    """Apply the rules of chat.update: text alone removes the blocks, blocks alone keep the text."""
    says_nothing = content.text is None and content.blocks is None and content.attachments is None
    if says_nothing:
        raise SlackRefusal("no_text")
    changed = dataclasses.replace(message)
    if content.text is not None:
        changed.text = content.text
        changed.blocks = []
    if content.blocks is not None:
        changed.blocks = content.blocks
        if content.text is None and content.blocks:
            changed.text = content.fallback
    if content.attachments is not None:
        changed.attachments = content.attachments
    if not (changed.text or changed.blocks or changed.attachments):
        raise SlackRefusal("no_text")
    if not changed.blocks:
        edited_at = installation.workspace.new_ts()
        changed.edited = {"user": installation.bot_user_id, "ts": edited_at}
    return changed


def _own_message(installation: Installation, call: Call, channel: Channel, refusal: str) -> Message:
    message = channel.messages.get(call.required("ts"))
    if message is None or message.subtype == "tombstone":
        raise SlackRefusal("message_not_found")
    if not message.from_app or message.user != installation.bot_user_id:
        raise SlackRefusal(refusal)
    return message


def delete_message(installation: Installation, call: Call) -> Json:
    """Delete a message of the app (docs.slack.dev/reference/methods/chat.delete)."""
    channel = visible_channel(installation, call.required("channel"))
    message = _own_message(installation, call, channel, "cant_delete_message")
    installation.workspace.delete(message)
    return {"channel": channel.id, "ts": message.ts}


def post_ephemeral(installation: Installation, call: Call) -> Json:
    """Show a message to one member (docs.slack.dev/reference/methods/chat.postEphemeral)."""
    channel = visible_channel(installation, call.required("channel"))
    user = call.required("user")
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    if not installation.is_member(channel):
        raise SlackRefusal("not_in_channel")
    if user not in channel.members:
        raise SlackRefusal("user_not_in_channel")
    if len(call.text("text")) > POSTED_TEXT:
        raise SlackRefusal("msg_too_long")
    content = read_content(call, installation)
    if content.is_empty:
        raise SlackRefusal("no_text")
    if any("blocks" in each for each in content.attachments or ()):
        raise SlackRefusal("invalid_attachments")
    message = _new_message(installation, channel, content)
    message.thread_ts = _thread(call, channel)
    message.ephemeral_to = user
    installation.workspace.post(message)
    return {"message_ts": message.ts}


def get_permalink(installation: Installation, call: Call) -> Json:
    """Give a message's address (docs.slack.dev/reference/methods/chat.getPermalink)."""
    channel = visible_channel(installation, call.required("channel"))
    message = channel.messages.get(call.required("message_ts"))
    if message is None:
        raise SlackRefusal("message_not_found")
    return {"channel": channel.id, "permalink": permalink(installation.base_url, message)}


METHODS = {
    "chat.postMessage": Method(post_message, SPECIAL, ("chat:write",)),
    "chat.update": Method(update_message, TIER_3, ("chat:write",)),
    "chat.delete": Method(delete_message, TIER_3, ("chat:write",)),
    "chat.postEphemeral": Method(post_ephemeral, TIER_4, ("chat:write",)),
    "chat.getPermalink": Method(get_permalink, SPECIAL),
}
