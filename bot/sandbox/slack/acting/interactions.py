"""What people do with the app: run its commands and shortcuts, use the elements it shows."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from bot.sandbox.slack.acting.builtin_commands import BUILTINS, run_builtin
from bot.sandbox.slack.acting.reach import Outcome, ask
from bot.sandbox.slack.acting.response_urls import ResponseUrl, ResponseUrls
from bot.sandbox.slack.acting.standing import Standing
from bot.sandbox.slack.block_kit.form_state import (
    VALUE_FIELDS,
    ChoiceUnknown,
    Values,
    carried_over,
    entered,
    find_block,
    find_element,
    merged,
    offered,
)
from bot.sandbox.slack.block_kit.schema import Problems
from bot.sandbox.slack.block_kit.text_objects import SUGGESTIONS
from bot.sandbox.slack.delivering.delivery import NOT_CONNECTED, TIMEOUT, Delivery, Payload
from bot.sandbox.slack.delivering.interaction_payloads import (
    action_json,
    command_payload,
    message_action_payload,
    message_shortcut_payload,
    shortcut_payload,
    suggestion_payload,
    view_action_payload,
)
from bot.sandbox.slack.state.acts import Act
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.manifest import SlashCommand
from bot.sandbox.slack.state.views import View
from bot.sandbox.slack.state.workspace import Channel, Message, User
from bot.sandbox.slack.wire import ControlRefusal, Json, SlackRefusal

_STATES_KEPT = 2_000
_KEEP_THEIR_CHOICE = {"static_select", "external_select"}
_COMMAND_ERRORS = {NOT_CONNECTED: "dispatch_failed", TIMEOUT: TIMEOUT}
_NOT_INTERACTIVE = "interactivity_disabled"
_NO_OPTIONS_URL = "options_url_not_declared"
_INVALID_OPTIONS = "invalid_options"


class _Used(NamedTuple):
    """An element that somebody used."""

    element: Json
    entry: Json  #: what was given to it


class Interactions:
    """Turns what a person does into payloads, and what the app acknowledges into effects."""

    def __init__(
        self,
        installation: Installation,
        delivery: Delivery,
        response_urls: ResponseUrls,
        standing: Standing,
    ) -> None:
        self._installation = installation
        self._delivery = delivery
        self._response_urls = response_urls
        self._standing = standing
        self._message_states: OrderedDict[tuple[str, str, str], Values] = OrderedDict()

    async def command(self, user_id: str, channel_id: str, text: str) -> Json:
        """Type a slash command; answers once it is acknowledged, or after three seconds.

        Raises ControlRefusal: `unknown_command`, `app_not_connected`, and as Standing does.
        """
        user = self._standing.own_person(user_id)
        name, _, rest = text.strip().partition(" ")
        command = self._installation.manifest.command(name)
        if command is None and name in BUILTINS:
            return self._run_builtin(user, self._standing.seen_channel(user, channel_id), text)
        channel = self._standing.writable_channel(user, channel_id)
        if command is None:
            self._notice(user, channel, f"{name} is not a valid command.")
            raise ControlRefusal("unknown_command", f"the manifest declares no command {name}")
        return await self._run_command(user, channel, command, rest.strip())

    def _run_builtin(self, user: User, channel: Channel, text: str) -> Json:
        said = run_builtin(self._installation.workspace, user, channel, text.strip())
        if said is None:
            return {"ok": True, "acknowledged": True}
        self._notice(user, channel, said)
        return {"ok": True, "acknowledged": True, "ack_text": said}

    async def _run_command(
        self, user: User, channel: Channel, command: SlashCommand, text: str
    ) -> Json:
        body = command_payload(self._installation, user, channel, command, text)
        self._installation.acts.note(Act(user.id, "command", f"{command.command} {text}".strip()))
        url, target = self._response_urls.mint(user.id, channel.id, is_of_command=True)
        payload = Payload("slash_commands", {**body, "response_url": url}, answerable=True)
        outcome = await ask(self._delivery, payload)
        if outcome.content:
            typed = f"{command.command} {body['text']}".strip()
            outcome = self._take_answer(target, typed, outcome)
        if outcome.error is not None:
            code = _COMMAND_ERRORS.get(outcome.error, outcome.error)
            sentence = f'{command.command} failed with the error "{code}"'
            self._notice(user, channel, sentence)
        if outcome.error == NOT_CONNECTED:
            raise ControlRefusal(NOT_CONNECTED, "the app has no open connection")
        text_said = outcome.content.get("text")
        return outcome.body() | ({"ack_text": text_said} if text_said else {})

    def _take_answer(self, target: ResponseUrl, typed: str, outcome: Outcome) -> Outcome:
        """Show what the acknowledgement of a command carried.

        An acknowledgement "in_channel", even an empty one, makes the typed command public; a
        later answer through the response_url does not.
        """
        if outcome.content.get("response_type") == "in_channel":
            workspace = self._installation.workspace
            ts = workspace.new_ts()
            workspace.post(Message(target.channel, ts, target.user, typed))
            if set(outcome.content) == {"response_type"}:
                return outcome
        try:
            self._response_urls.respond(target, outcome.content)
        except SlackRefusal as refusal:
            return Outcome(outcome.content, refusal.code)
        return outcome

    async def action(self, user_id: str, request: Mapping[str, object]) -> Json:
        """Use an element of a message or view.

        `request` has `container`, `block_id`, `action_id` and the element's own payload fields;
        `state`, as `{"values": {…}}`, is what was entered elsewhere in its message or view. With
        `not_redrawn` the person's client may still show the message as it was before an edit.
        Raises ControlRefusal as Standing does, and `element_not_found`, `invalid_choice`.
        """
        user = self._standing.person(user_id)
        source = self._source(user, request)
        block_id = str(request.get("block_id"))
        before = self._choice(user, source, request)
        element, entry = self._use(user, source, request)
        if before is not None and before == entry:
            # A menu keeps its choice while its two ids stay the same, also when an edit of its
            # message gives it another: choosing the same again does nothing
            # (https://github.com/slackapi/bolt-python/issues/629, slackapi/bolt-js/issues/1073).
            return {"ok": True, "acknowledged": True, "sent": False}
        if not _is_dispatched(source, block_id):
            return {"ok": True, "acknowledged": True, "sent": False}
        self._installation.acts.note(Act(user.id, "action", _words(element, entry)))
        action = action_json(self._installation, block_id, element, entry)
        body = self._action_body(user, source)
        return await self._send({**body, "actions": [action]})

    def _choice(
        self, user: User, source: Message | View, request: Mapping[str, object]
    ) -> Json | None:
        """What the person chose in this menu before, if it is one that keeps its choice."""
        block_id = str(request.get("block_id"))
        action_id = str(request.get("action_id"))
        if isinstance(source, View):
            values = source.values
        else:
            values = self._message_states.get((source.channel, source.ts, user.id), {})
        entry = values.get(block_id, {}).get(action_id)
        is_menu = entry is not None and entry["type"] in _KEEP_THEIR_CHOICE
        return entry if is_menu and entry and entry.get("selected_option") else None

    def _use(self, user: User, source: Message | View, request: Mapping[str, object]) -> _Used:
        """Find the element in the message as it is or as it was, and give it what is sent."""
        block_id = str(request.get("block_id"))
        action_id = str(request.get("action_id"))
        drawn = [source.drawn]
        if request.get("not_redrawn"):
            drawn += source.shown_before
        refused: ChoiceUnknown | None = None
        for blocks in drawn:
            element = find_element(blocks, block_id, action_id)
            shown_to = element.get("visible_to_user_ids") if element else None
            if element is None or (shown_to and user.id not in shown_to):
                continue
            try:
                entry = self._enter(user, source, (block_id, element), request)
            except ChoiceUnknown as unknown:
                refused = refused or unknown
            else:
                return _Used(element, entry)
        if refused is not None:
            raise ControlRefusal("invalid_choice", str(refused)) from refused
        detail = f"there is no element {block_id}/{action_id}"
        raise ControlRefusal("element_not_found", detail, status=404)

    def _source(self, user: User, request: Mapping[str, object]) -> Message | View:
        container = request.get("container")
        if not isinstance(container, dict) or container.get("type") not in ("message", "view"):
            detail = "container is an object of type message or view"
            raise ControlRefusal("invalid_container", detail)
        if container["type"] == "view":
            return self._standing.seen_view(user, container.get("view_id"))
        return self._standing.seen_message(user, container.get("channel"), container.get("ts"))

    def _enter(
        self,
        user: User,
        source: Message | View,
        target: tuple[str, Json],
        request: Mapping[str, object],
    ) -> Json:
        """Keep what was chosen in the state of its message or view, and give its entry."""
        block_id, element = target
        values = self._values(user, source)
        state = request.get("state")
        if isinstance(state, dict) and state.get("values") is not None:
            values.update(merged(source.drawn, values, state["values"]))
        if element["type"] == "overflow":
            return {"selected_option": offered(element, [request.get("selected_option")])[0]}
        if element["type"] not in VALUE_FIELDS:
            return {}
        entry = entered(element, dict(request))
        values.setdefault(block_id, {})[element["action_id"]] = entry
        return entry

    def _values(self, user: User, source: Message | View) -> Values:
        if isinstance(source, View):
            return source.values
        key = (source.channel, source.ts, user.id)
        # After an update only inputs that are still there keep what was chosen.
        values = carried_over(source.drawn, self._message_states.pop(key, {}))
        self._message_states[key] = values
        if len(self._message_states) > _STATES_KEPT:
            self._message_states.popitem(last=False)
        return values

    def _action_body(self, user: User, source: Message | View) -> Json:
        if isinstance(source, View):
            return view_action_payload(self._installation, user, source)
        values = self._values(user, source)
        body = message_action_payload(self._installation, user, source, values)
        url, _ = self._response_urls.mint(user.id, source.channel, source=source)
        return {**body, "response_url": url}

    async def _send(self, body: Json) -> Json:
        """Send an interaction; the answer's `error` is what Slack's warning sign stands for."""
        if not self._installation.manifest.interactivity_enabled:
            return Outcome(error=_NOT_INTERACTIVE).body()
        return (await ask(self._delivery, Payload("interactive", body))).body()

    async def shortcut(self, user_id: str, request: Mapping[str, object]) -> Json:
        """Run a shortcut by its `callback_id`; a message shortcut also names `channel` and `ts`.

        Raises ControlRefusal: `unknown_shortcut`, and as Standing does.
        """
        user = self._standing.own_person(user_id)
        callback_id = str(request.get("callback_id"))
        shortcut = self._installation.manifest.shortcut(callback_id)
        if shortcut is None:
            detail = f"the manifest declares no shortcut {callback_id}"
            raise ControlRefusal("unknown_shortcut", detail)
        self._installation.acts.note(Act(user.id, "shortcut", shortcut.name))
        if shortcut.type == "global":
            return await self._send(shortcut_payload(self._installation, user, shortcut))
        message = self._standing.seen_message(user, request.get("channel"), request.get("ts"))
        body = message_shortcut_payload(self._installation, user, shortcut, message)
        url, _ = self._response_urls.mint(user.id, message.channel, source=None)
        return await self._send({**body, "response_url": url})

    async def suggestions(self, user_id: str, request: Mapping[str, object]) -> Json:
        """Ask the app for the options of an external menu; `value` is what was typed.

        Options that Slack would not show, more than 100 say, are the error `invalid_options`.
        """
        user = self._standing.person(user_id)
        source = self._source(user, request)
        block_id = str(request.get("block_id"))
        action_id = str(request.get("action_id"))
        element = find_element(source.drawn, block_id, action_id)
        if element is None or "external" not in element["type"]:
            detail = f"there is no external menu {block_id}/{action_id}"
            raise ControlRefusal("element_not_found", detail, status=404)
        manifest = self._installation.manifest
        if not manifest.socket_mode_enabled and not manifest.has_options_url:
            # Over HTTP, Slack asks for options at an address of their own.
            return Outcome(error=_NO_OPTIONS_URL).body()
        typed = str(request.get("value") or "")
        asked = {"block_id": block_id, "action_id": action_id, "value": typed}
        body = suggestion_payload(self._installation, user, source, asked)
        outcome = await ask(self._delivery, Payload("interactive", body, answerable=True))
        if not outcome.acknowledged:
            return outcome.body()
        problems = Problems()
        SUGGESTIONS(outcome.content, "", problems)
        if problems.found:
            refused = Outcome(error=_INVALID_OPTIONS).body()
            return {**refused, "messages": problems.sentences()}
        return outcome.body() | outcome.content

    def _notice(self, user: User, channel: Channel, text: str) -> None:
        self._installation.workspace.tell(user.id, channel.id, text)


def _words(element: Json, entry: Json) -> str:
    """What an element and the choice in it say, with their values."""
    chosen = entry.get("selected_option") or {}
    parts = [
        *(part.get("text", {}).get("text") for part in (element, chosen)),
        *(part.get("value") for part in (element, chosen)),
    ]
    return " ".join(str(part) for part in parts if part)


def _is_dispatched(source: Message | View, block_id: str) -> bool:
    """Whether the app gets an event for the element; for inputs only if their block asks for it."""
    block = find_block(source.drawn, block_id)
    if block is None or block["type"] != "input":
        return True
    return bool(block.get("dispatch_action"))
