"""Slack's payloads, validated."""

import html
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from hashlib import sha256
from typing import Annotated, Any

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from bot.blocks import controls
from bot.blocks.addressed import Unread
from bot.blocks.text import clean, without_invisible
from bot.kernel.actor import Actor
from bot.kernel.durations import DurationProblem, at_instant, written
from bot.kernel.errors import InvalidDuration
from bot.kernel.typed import BLANK, read_words

Json = dict[str, Any]

MESSAGES = frozenset({"message", "app_mention"})
"""Events about a message."""

REFERENCE = re.compile(r"<([@#!]?)([^<>|\s]+)(?:\|([^<>]*))?>")
"""`<@U123>`, `<#C123|general>`, `<!subteam^S123|@team>`, `<https://a|label>`."""


def without_links(text: str) -> str:
    """The text as the person meant it, in which only references to ids are still Slack's.

    A link becomes its address, or its label if that is part of the address.
    """
    return html.unescape(REFERENCE.sub(_link, text))


def _link(found: re.Match[str]) -> str:
    sign, target, label = found.groups()
    if sign:
        return found[0]
    return _link_text(target, label or "")


def _link_text(target: str, label: str) -> str:
    """What the person sees, and where it leads if they can't see that.

    A label like the name of a repository is kept with its address, so that the bot acts on no
    other queue than the one on the screen.
    """
    if label and label in target:
        return label
    name = _LIKE_A_NAME.fullmatch(label)
    if name is not None and name[1].casefold() not in target.casefold():
        return f"{label} ({target})"
    return target


_LIKE_A_NAME = re.compile(r"([\w\-]+/[\w\-.]+)(?:[#!]\d+)?")
_LETTER = re.compile(r"\w")


def _seen(text: str) -> str:
    """The text as the person sees it: copied text often has invisible characters."""
    return without_invisible(without_links(text)).replace(BLANK, " ").strip()


TYPED_TEXT_KEPT = 4000
"""Longer texts are cut before their length is checked, so that the error can name it."""

LATEST_PICKED = 9_999_999_999
"""Ten digits of seconds since 1970, as Slack's picker has at most."""

HOME = "home"
"""The type of the view that is the Home tab."""


Text = Annotated[str, BeforeValidator(lambda sent: "" if sent is None else sent)]
"""Null counts as absent."""


class Payload(BaseModel):
    """Ignores unknown fields, because Slack adds new ones."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class SlashCommand(Payload):
    """https://docs.slack.dev/interactivity/implementing-slash-commands#app_command_handling."""

    command: str
    text: Text = ""
    user_id: str
    team_id: str | None = None
    channel_id: str
    response_url: str
    trigger_id: str

    @property
    def actor(self) -> Actor:
        return Actor(self.user_id, "", self.team_id)

    @property
    def typed(self) -> str:
        return _seen(self.text)


WRITTEN_BY_PEOPLE = frozenset({None, "file_share", "thread_broadcast", "me_message"})
"""The subtypes of messages that a person wrote just now.

https://docs.slack.dev/reference/events/message#subtypes
"""


class SaidToBot(Payload):
    """A message in which somebody wrote to the bot.

    https://docs.slack.dev/reference/events/app_mention and message.im: `user` is absent from what
    has no author, `subtype` is there for edits, files and the like, `bot_id` for what apps write.
    An edit in a direct message has what is there now, and was before, in fields of its own.
    `user_team`: the author's workspace or organisation, if that is another one
    (`extract_actor_team_id` of Bolt).
    """

    type: str
    channel: str
    ts: str
    text: Text = ""
    user: Text = ""
    user_team: str | None = None
    thread_ts: str | None = None
    channel_type: Text = ""
    subtype: str | None = None
    bot_id: str | None = None
    edited: dict[str, Any] | None = None
    files: tuple[Any, ...] | None = None
    attachments: tuple[Any, ...] | None = None
    message: dict[str, Any] | None = None
    previous_message: dict[str, Any] | None = None

    @property
    def is_direct(self) -> bool:
        return self.channel_type == "im"

    @property
    def is_addressed(self) -> bool:
        """Whether it is in a place where people write to the bot."""
        return self.type == "app_mention" or self.is_direct

    @property
    def answered_in(self) -> str | None:
        """The thread for an answer that everybody sees; in a direct message only if it has one."""
        return self.thread_ts or (None if self.is_direct else self.ts)

    @property
    def latest(self) -> "SaidToBot":
        """The message itself, where this is only about an edit of it."""
        if self.subtype != "message_changed" or self.message is None:
            return self
        return self.model_copy(update=Edited.model_validate(self.message).fields)

    def unread_because(self, bot_id: str) -> Unread | None:
        """Why it isn't read; None if it is a person's message to the bot."""
        if not self.user or self.bot_id is not None:
            return Unread.OTHER
        if self.edited is not None:
            return Unread.EDITED
        if self.subtype == "document_mention":
            return Unread.CANVAS
        if self.subtype not in WRITTEN_BY_PEOPLE:
            return Unread.OTHER
        if not self.typed_to(bot_id) and (self.files or self.attachments):
            return Unread.FILE
        return None

    @property
    def is_reworded(self) -> bool:
        """Whether an edit changed the words: Slack also edits to add a preview of a link."""
        before = self.previous_message
        return before is None or before.get("text") != self.latest.text

    def typed_to(self, bot_id: str) -> str:
        """What follows the mention of the bot, else what is before it, or all without one."""
        parts = re.split(rf"<@{re.escape(bot_id)}(?:\|[^<>]*)?>", self.text)
        before = parts[0]
        after = " ".join(parts[1:])
        return _seen(after if _LETTER.search(after) else before)


class Edited(Payload):
    """The message in an event about its edit."""

    ts: str
    text: Text = ""
    user: Text = ""
    thread_ts: str | None = None
    bot_id: str | None = None
    edited: dict[str, Any] | None = None

    @property
    def fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields}


class Carried(Payload):
    """Metadata of our modals. It never authorises anything.

    `channel` is where it was opened, None where that was in no channel. `target` is the
    repository, the group or the pause for which it was opened. `end` is an end as typed, and
    `end_seen` which one the pause had when the form was opened. `reason` is what the reason began
    with. `action` is the menu that the form belongs to.
    """

    channel: str | None = None
    target: Text = ""
    end: str | None = None
    end_seen: Text = ""
    reason: Text = ""
    action: Text = ""
    seen: Text = ""
    """The end that the form has shown with its date, to be confirmed by sending it again."""


def at(*places: str, default: Any = "") -> Any:  # noqa: ANN401 - as pydantic's Field
    """A field at the first of these places that the payload has."""
    paths = []
    for place in places:
        first, *rest = place.split(".")
        steps = [int(step) if step.isdigit() else step for step in rest]
        paths.append(AliasPath(first, *steps))
    return Field(default, validation_alias=AliasChoices(*paths))


class Interaction(Payload):
    """A click, a choice, a form, or text typed into a menu; each kind has some of the fields.

    https://docs.slack.dev/reference/interaction-payloads
    """

    user_id: str = Field(validation_alias=AliasPath("user", "id"))
    #: the person's own team, which may not be ours
    team_id: str | None = at("user.team_id", default=None)
    trigger_id: Text = ""
    response_url: str | None = None
    channel_id: str | None = at("channel.id", default=None)
    message_ts: str | None = None
    container_type: Text = at("container.type")
    is_ephemeral: bool | None = at("container.is_ephemeral", default=None)
    asked_at: Text = at("container.message_ts")
    thread_ts: str | None = at("container.thread_ts", "message.thread_ts", default=None)
    callback_id: Text = at("callback_id", "view.callback_id")
    action_id: Text = at("action_id", "actions.0.action_id")
    block_id: Text = at("actions.0.block_id")
    clicked_at: Text = at("actions.0.action_ts")
    #: the value of a button, or of the option of a menu
    chosen: Text = at("actions.0.selected_option.value", "actions.0.value")
    selected_options: tuple[dict[str, Any], ...] = at("actions.0.selected_options", default=())
    typed: Text = at("value")  #: the text in a menu
    view_id: Text = at("view.id")  #: the view that it came from, a modal or the Home tab
    view_type: Text = at("view.type")
    view_hash: str | None = at("view.hash", default=None)
    private_metadata: Text = at("view.private_metadata")
    filled: dict[str, Any] | None = at("view.state.values", default=None)

    @property
    def actor(self) -> Actor:
        return Actor(self.user_id, "", self.team_id)

    @property
    def age(self) -> timedelta:
        """How long after its message a click came, by Slack's clock; zero if unknown."""
        if not self.asked_at or not self.clicked_at:
            return timedelta()
        return timedelta(seconds=float(self.clicked_at) - float(self.asked_at))

    @property
    def has_references(self) -> bool:
        """Whether somebody put a mention into a field of the form."""
        return any(REFERENCE.search(text) for text in self.texts)

    @property
    def texts(self) -> Iterator[str]:
        for elements in (self.filled or {}).values():
            for element in elements.values():
                if isinstance(element.get("value"), str):
                    yield element["value"]

    def with_texts(self, changed: Mapping[str, str]) -> "Interaction":
        """The same form with other texts in its fields."""
        filled: dict[str, dict[str, Any]] = {}
        for block_id, elements in (self.filled or {}).items():
            filled[block_id] = dict(elements)
            for action_id, element in elements.items():
                value = element.get("value")
                if isinstance(value, str) and value in changed:
                    filled[block_id][action_id] = {**element, "value": changed[value]}
        return self.model_copy(update={"filled": filled})

    @property
    def carried(self) -> Carried:
        return Carried.model_validate_json(self.private_metadata or "{}")

    def filled_in(self, block_id: str, action_id: str) -> str:
        """The text or choice in a field of the form; empty if there is none."""
        elements = (self.filled or {}).get(block_id) or {}
        element = elements.get(action_id) or {}
        option = element.get("selected_option") or {}
        found = element.get("value") or option.get("value")
        return found if isinstance(found, str) else ""

    def chosen_channel(self, block_id: str) -> str:
        """The channel chosen in a field of the form; empty if there is none."""
        return self._picked(block_id, "selected_conversation")

    def chosen_time(self, block_id: str) -> time | None:
        """The time of day chosen in a field of the form."""
        picked = self._picked(block_id, "selected_time")
        return time.fromisoformat(picked) if picked else None

    def _picked(self, block_id: str, kind: str) -> str:
        """What a field holds whose element has the same name."""
        elements = (self.filled or {}).get(block_id) or {}
        found = (elements.get(block_id) or {}).get(kind)
        return found if isinstance(found, str) else ""

    @property
    def reason(self) -> str:
        return clean(self.filled_in(controls.REASON_BLOCK, controls.REASON_ACTION), TYPED_TEXT_KEPT)

    @property
    def typed_end(self) -> str:
        """Its words as a command reads them: without marks and quotes around them."""
        typed = clean(self.filled_in(controls.END_BLOCK, controls.END_ACTION), TYPED_TEXT_KEPT)
        return " ".join(word.time for word in read_words(typed) if word.time)

    def words_in(self, block_id: str) -> list[str]:
        """The words of a field that takes several, apart by spaces or commas, as typed words."""
        typed = self.filled_in(block_id, block_id).replace(",", " ")
        return [word.plain for word in read_words(typed) if word.plain]

    @property
    def end(self) -> str:
        """In words, from the picker, or as answered about the reason.

        Raises InvalidDuration for two of them.
        """
        picked = self.picked_end
        given = [end for end in (self.typed_end, self.meant_end) if end]
        if picked is not None:
            given.append(written(at_instant(picked)))
        if len(given) > 1:
            raise InvalidDuration(DurationProblem.TWO_ENDS, given[0])
        return given[0] if given else ""

    @property
    def end_block(self) -> str:
        """The field that gives the end, at which an error about it is shown."""
        is_picked = self.picked_end is not None and not self.typed_end
        return controls.END_AT_BLOCK if is_picked else controls.END_BLOCK

    @property
    def is_without_end(self) -> bool:
        """Whether the person answered that the reason holds no end."""
        return self._end_answer == controls.NO_END_OPTION

    @property
    def meant_end(self) -> str:
        """The end that the person chose as the meaning of the reason."""
        return "" if self.is_without_end else self._end_answer

    @property
    def _end_answer(self) -> str:
        return self.filled_in(controls.END_MEANT_BLOCK, controls.END_MEANT_ACTION)

    @property
    def picked_end(self) -> datetime | None:
        """What was chosen in the picker of a date and a time."""
        return self.picked_time(controls.END_AT_BLOCK)

    def picked_time(self, block_id: str) -> datetime | None:
        """What was chosen in a picker of a date and a time, whose element has the same name."""
        block = (self.filled or {}).get(block_id) or {}
        element = block.get(block_id) or {}
        chosen = element.get("selected_date_time")
        if not isinstance(chosen, int) or not 0 <= chosen <= LATEST_PICKED:
            return None
        return datetime.fromtimestamp(chosen, UTC)

    @property
    def target(self) -> str:
        """The target chosen in a form, or the one for which it was opened."""
        return self.filled_in(controls.TARGET_BLOCK, controls.PAUSE_TARGET) or self.carried.target


def request_key(body: Mapping[str, Any]) -> str | None:
    """The same for each delivery of a request; a hash, because a trigger id is a credential.

    Events have an id, and everything that people do a trigger id; None if there is neither. Slack
    may send one message with several event ids, so a message is known by its place and time.

    https://docs.slack.dev/apis/events-api#event-type-structure
    """
    identity = _message_of(body) or body.get("event_id") or body.get("trigger_id")
    return sha256(identity.encode()).hexdigest() if isinstance(identity, str) else None


def _message_of(body: Mapping[str, Any]) -> str | None:
    """The message that an event is about; all its edits are one."""
    event = body.get("event")
    if not isinstance(event, Mapping) or event.get("type") not in MESSAGES:
        return None
    inner = event.get("message")
    is_edit = isinstance(inner, Mapping) or bool(event.get("edited"))
    ts = inner.get("ts") if isinstance(inner, Mapping) else event.get("ts")
    channel = event.get("channel")
    if not isinstance(ts, str) or not isinstance(channel, str):
        return None
    return f"{channel} {ts} {'edited' if is_edit else event.get('subtype')}"
