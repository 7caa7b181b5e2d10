"""The `response_url` of commands and actions: five answers within half an hour."""

import dataclasses
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aiohttp import web

from bot.sandbox.slack.fault_effects import Striker
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.workspace import Message
from bot.sandbox.slack.web_api.calls import Call, CallLog
from bot.sandbox.slack.web_api.credentials import Token
from bot.sandbox.slack.web_api.message_content import Content, read_content, read_metadata
from bot.sandbox.slack.wire import Json, SlackRefusal

USES = 5
USABLE_SECONDS = 30 * 60
_KEPT = 10_000
_GONE = 404
_BAD_REQUEST = 400
_USED_UP = {"expired_url", "used_url"}
_NAME = "response_url"
_NO_SCOPES = Token("bot", ())


@dataclass
class ResponseUrl:
    """What one address stands for; `source` is the message whose element was used, if any."""

    user: str
    channel: str
    minted_at: float
    source: Message | None = None
    is_of_command: bool = False
    uses: int = 0
    texts: list[str] = field(default_factory=list)  #: of the messages it took


class MintedUrl(NamedTuple):
    """A new address."""

    url: str
    target: ResponseUrl  #: what it stands for


class ResponseUrls:
    """Mints response addresses and carries out what apps post to them."""

    def __init__(
        self,
        installation: Installation,
        monotonic: Callable[[], float],
        striker: Striker,
        log: CallLog,
    ) -> None:
        self._installation = installation
        self._monotonic = monotonic
        self._striker = striker
        self._log = log
        self._minted: OrderedDict[str, ResponseUrl] = OrderedDict()

    def mint(
        self,
        user: str,
        channel: str,
        *,
        source: Message | None = None,
        is_of_command: bool = False,
    ) -> MintedUrl:
        """Mint an address."""
        key = secrets.token_urlsafe(24)
        minted = ResponseUrl(user, channel, self._monotonic(), source, is_of_command)
        self._minted[key] = minted
        if len(self._minted) > _KEPT:
            self._minted.popitem(last=False)
        return MintedUrl(f"{self._installation.base_url}response/{key}", minted)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Take a message posted to an address."""
        body = await request.read()
        strike = self._striker.next_for(_NAME)
        await strike.before()
        if strike.prevents:
            self._log.add(_NAME, None, {}).update({"ok": False, "error": strike.error})
            if strike.error in _USED_UP:
                return web.json_response({"ok": False, "error": strike.error}, status=_GONE)
            return strike.failure(request)
        return strike.after(request, self._answer(request.match_info["key"], body))

    def _answer(self, key: str, body: bytes) -> web.Response:
        entry = self._log.add(_NAME, None, {})
        status = _GONE
        try:
            target = self.use(key)
            status = _BAD_REQUEST
            entry["arguments"] = _read_body(body)
            self.respond(target, entry["arguments"])
        except SlackRefusal as refusal:
            entry |= {"ok": False, "error": refusal.code}
            return web.json_response(refusal.body(), status=status)
        entry["ok"] = True
        if target.is_of_command:
            return web.Response(text="ok")
        return web.json_response({"ok": True})

    def texts_of(self, url: str) -> Sequence[str]:
        """What an app has answered at an address that it was given, oldest first."""
        target = self._minted.get(url.rpartition("/")[2])
        return () if target is None else target.texts

    def use(self, key: str) -> ResponseUrl:
        """Count a use of an address; raises SlackRefusal `expired_url`, `used_url`."""
        target = self._minted.get(key)
        if target is None or self._monotonic() - target.minted_at > USABLE_SECONDS:
            raise SlackRefusal("expired_url")
        if target.uses >= USES:
            raise SlackRefusal("used_url")
        target.uses += 1
        return target

    def respond(self, target: ResponseUrl, body: Json) -> None:
        """Carry out a response; also what an acknowledgement with content means.

        Raises SlackRefusal as reading a message's content does, and `no_text`,
        `thread_not_found`, `channel_not_found`.
        """
        call = Call("response_url", _NO_SCOPES, body)
        if call.flag("delete_original"):
            if target.source is not None and self._still(target.source):
                self._installation.workspace.delete(target.source)
            return
        content = read_content(call, self._installation, budgeted=False)
        if content.is_empty:
            raise SlackRefusal("no_text")
        target.texts.append(content.text or "")
        # A command has no message of its own to replace: its answers are always new.
        if call.flag("replace_original") and target.source is not None:
            self._replace(target.source, content)
            return
        self._post_new(target, call, content)

    def _still(self, message: Message) -> bool:
        channel = self._installation.workspace.channels[message.channel]
        timeline = channel.messages if message.ephemeral_to is None else channel.ephemerals
        return timeline.get(message.ts) is not None

    def _replace(self, source: Message, content: Content) -> None:
        """Give the source message new content; an ephemeral one stays ephemeral."""
        if not self._still(source):
            raise SlackRefusal("message_not_found")
        changed = dataclasses.replace(
            source,
            text=content.fallback,
            blocks=content.blocks or [],
            attachments=content.attachments or [],
        )
        self._installation.workspace.replace(changed)

    def _post_new(self, target: ResponseUrl, call: Call, content: Content) -> None:
        workspace = self._installation.workspace
        channel = workspace.channels[target.channel]
        thread_ts = call.text("thread_ts") or None
        if thread_ts is not None and channel.messages.get(thread_ts) is None:
            raise SlackRefusal("thread_not_found")
        public = call.text("response_type") == "in_channel"
        if channel.is_archived:
            # As chat.postMessage and chat.postEphemeral, whose code it is.
            raise SlackRefusal("is_archived")
        message = self._installation.new_message(
            channel.id, content.fallback, content.blocks, content.attachments
        )
        message.thread_ts = thread_ts
        message.metadata = read_metadata(call) if public else None
        message.ephemeral_to = None if public else target.user
        workspace.post(message)


def _read_body(body: bytes) -> Json:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise SlackRefusal("invalid_payload") from None
    if not isinstance(content, dict):
        raise SlackRefusal("invalid_payload")
    return content
