"""What people do in the workspace: type, click, submit, close, open the Home tab."""

import mimetypes
from collections.abc import Mapping, Sequence
from hashlib import sha256

from bot.sandbox.slack.acting.interactions import Interactions
from bot.sandbox.slack.acting.reach import Outcome
from bot.sandbox.slack.acting.standing import Standing
from bot.sandbox.slack.acting.submissions import Submissions
from bot.sandbox.slack.delivering.app_events import AppEvents
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.mrkdwn import rich_text_from_person, text_from_person
from bot.sandbox.slack.state.workspace import Channel, Message
from bot.sandbox.slack.wire import ControlRefusal, Json

_LONGEST_MESSAGE = 12_000


class People:
    """The control API in Python: each method answers what its HTTP counterpart answers.

    Each raises ControlRefusal where the control API answers `ok: false`.
    """

    def __init__(
        self,
        installation: Installation,
        interactions: Interactions,
        submissions: Submissions,
        events: AppEvents,
        standing: Standing,
    ) -> None:
        self._installation = installation
        self._interactions = interactions
        self._submissions = submissions
        self._events = events
        self._standing = standing

    async def command(self, user: str, channel: str, text: str) -> Json:
        """Type a slash command and wait until the app acknowledged it or three seconds passed."""
        if not text.startswith("/"):
            raise ControlRefusal("not_a_command", 'a command begins with "/"')
        if text.startswith("/me "):
            return {**self.message(user, channel, text), "acknowledged": True}
        return await self._interactions.command(user, channel, text)

    def message(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str | None = None,
        *,
        broadcast: bool = False,
        files: Sequence[str] = (),
    ) -> Json:
        """Write a message into a channel or thread; one that begins with `/me` is a me_message.

        `broadcast`: *Also send to channel*. `files`: the names of files to attach.
        """
        person = self._standing.person(user)
        target = self._standing.writable_channel(person, channel)
        is_me = text.startswith("/me ")
        text = text.removeprefix("/me ")
        if not text.strip() and not files:
            raise ControlRefusal("no_text", "a message needs text")
        if len(text) > _LONGEST_MESSAGE:
            raise ControlRefusal("msg_too_long", f"a message has {_LONGEST_MESSAGE} characters")
        if thread_ts is not None:
            parent = self._standing.seen_message(person, channel, thread_ts)
            thread_ts = parent.thread_ts or parent.ts
        workspace = self._installation.workspace
        stored = text_from_person(text, workspace)
        ts = workspace.new_ts()
        serial = f"{self._installation.chance.getrandbits(128):032x}"
        message = Message(target.id, ts, person.id, stored, thread_ts=thread_ts)
        if stored:
            message.blocks = [{**rich_text_from_person(stored), "block_id": f"b{ts[-6:]}"}]
        message.client_msg_id = serial
        message.broadcast = broadcast and thread_ts is not None
        message.files = [_file(name, person.id, ts) for name in files]
        if is_me:
            # https://docs.slack.dev/reference/events/message/me_message
            message.subtype = "me_message"
            message.blocks = []
            message.client_msg_id = None
        workspace.post(message)
        self._offer_invitation(message, target)
        return {"ok": True, "ts": ts}

    def _offer_invitation(self, message: Message, channel: Channel) -> None:
        """Say that a mentioned app isn't in the channel, as Slack does: the app gets no event.

        https://docs.slack.dev/reference/events/app_mention
        """
        app = self._installation.bot
        is_mentioned = f"<@{app.id}>" in message.text
        if not is_mentioned or channel.kind == "im" or self._installation.is_member(channel):
            return
        self._installation.uninvited[channel.id] = message
        said = f"You mentioned @{app.name}, but they're not in this channel."
        invite = f"Type `/invite @{app.name}` to add them."
        self._installation.workspace.tell(message.user, channel.id, f"{said} {invite}")

    async def action(self, user: str, **request: object) -> Json:
        """Use an element: `container`, `block_id`, `action_id` and its own payload fields."""
        return await self._interactions.action(user, request)

    async def shortcut(self, user: str, callback_id: str, **where: object) -> Json:
        """Run a shortcut; a message shortcut also takes `channel` and `ts`."""
        return await self._interactions.shortcut(user, {"callback_id": callback_id, **where})

    async def suggestions(self, user: str, **request: object) -> Json:
        """Ask for the options of an external menu, `value` being what was typed into it."""
        return await self._interactions.suggestions(user, request)

    async def submit(
        self, user: str, view_id: str, values: Mapping[str, object] | None = None
    ) -> Json:
        """Submit the modal on top with what was entered."""
        return await self._submissions.submit(user, view_id, values)

    def close(self, user: str, view_id: str, *, clear: bool = False) -> Json:
        """Close the modal on top, or with `clear` the whole stack."""
        return self._submissions.close(user, view_id, clear=clear)

    async def home(self, user: str, tab: str = "home") -> Json:
        """Open the app's Home tab (or its "messages" tab), which sends app_home_opened."""
        person = self._standing.person(user)
        if tab == "home" and not self._installation.manifest.home_tab_enabled:
            raise ControlRefusal("home_tab_disabled", "the manifest does not enable the Home tab")
        workspace = self._installation.workspace
        channel = workspace.direct_channel(self._installation.bot_user_id, person.id)
        event: Json = {
            "type": "app_home_opened",
            "user": person.id,
            "channel": channel.id,
            "tab": tab,
            "event_ts": workspace.new_ts(),
        }
        view = self._installation.views.home(person.id)
        if tab == "home" and view is not None:
            event["view"] = self._installation.view_json(view)
        if not self._events.declares("app_home_opened"):
            return Outcome(error="event_not_declared").body()
        return Outcome(error=await self._events.send(event)).body()


def _file(name: str, user: str, ts: str) -> Json:
    """A file as messages carry it (https://docs.slack.dev/reference/objects/file-object)."""
    kind = name.rpartition(".")[2].lower()
    return {
        "id": f"F{sha256(f'{ts}{name}'.encode()).hexdigest()[:9].upper()}",
        "created": int(float(ts)),
        "name": name,
        "title": name,
        "mimetype": mimetypes.guess_type(name)[0] or "application/octet-stream",
        "filetype": kind,
        "user": user,
        "mode": "hosted",
        "size": 1024,
        "file_access": "visible",
    }
