"""The forms on people's screens: each shows what its person did last, whatever comes late."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.blocks.message import View
from bot.kernel.bounded import Bounded
from bot.slack.conversation import show_view
from bot.slack.web_api.failures import VIEW_CODES, VIEW_GONE_CODES, field_of, read_failure

logger = logging.getLogger(__name__)

MOST_FORMS = 1000

UPDATE_SECONDS = 0.4
"""How long the acknowledgement of a form waits for an update of it."""

CHANGED_CODES = VIEW_GONE_CODES | {"hash_conflict"}
"""The person has closed the form, or sent it, or another process has changed it."""

OPENED = 0
"""The number of the turn that opens a form: whatever the person does with it comes later."""

Update = Callable[..., Awaitable[AsyncSlackResponse]]
"""`views.open` or `views.update` of the SDK's client."""


@dataclass(slots=True)
class OpenForm:
    """A form that this process has shown, or in which somebody did something."""

    view_id: str

    hash: str | None = None
    """Slack's, of what the form shows now; None if Slack hasn't told it."""

    replaced: set[str] = field(default_factory=set)
    """The hashes of what this process has replaced; a click may still carry one of them."""

    turns: int = 0
    """How many things the person has done with it."""

    changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while it is changed, so that each update knows the hash of the one before."""


@dataclass(frozen=True, slots=True)
class FormTurn:
    """One thing that a person did with a form; it is over when they do the next."""

    form: OpenForm
    number: int

    @property
    def is_over(self) -> bool:
        return self.number != self.form.turns


class Forms:
    """Changes each form in order, and only to what its person asked for last.

    What other processes do with it is known by the hash alone.
    https://docs.slack.dev/surfaces/modals#handling_race_conditions
    """

    def __init__(self) -> None:
        self._known = Bounded[str, OpenForm](MOST_FORMS)
        self._refused = set[str]()
        """The callback ids of forms whose blocks Slack has refused: these open plainly."""

    async def open(self, open_view: Update, view: View) -> FormTurn:
        """Open a form with a trigger.

        Raises FAILURES. If that is because of its blocks, the next try opens it without them.
        """
        kind = str(view.view.get("callback_id"))
        is_refused = kind in self._refused
        try:
            answer = await show_view("views.open", open_view, view, is_plainest=is_refused)
        except SlackApiError as error:
            if read_failure(error).code in VIEW_CODES:
                self._refused.add(kind)
            raise
        view_id = str(field_of(answer, "view", "id"))
        return self.opened(view_id, field_of(answer, "view").get("hash"))

    def opened(self, view_id: str, shown: str | None) -> FormTurn:
        """Slack has opened the form; by now the person may have done something with it.

        `shown`: the hash of what it showed at first.
        """
        if view_id not in self._known:
            self._known[view_id] = OpenForm(view_id, shown)
        return FormTurn(self._known[view_id], OPENED)

    def turn(self, view_id: str, shown: str | None) -> FormTurn:
        """The person chooses something in the form.

        `shown`: the hash of what they see.
        """
        form = self._known.get(view_id) or OpenForm(view_id)
        if shown not in form.replaced:
            form.hash = shown
        form.turns += 1
        self._known[view_id] = form
        return FormTurn(form, form.turns)

    async def sent(self, view_id: str) -> FormTurn:
        """The person sends the form, and the acknowledgement will change it.

        An update that is on its way to Slack goes first, unless it takes long.
        """
        turn = self.turn(view_id, None)
        with suppress(TimeoutError):
            async with asyncio.timeout(UPDATE_SECONDS), turn.form.changing:
                pass
        # Slack doesn't tell the hash of what an acknowledgement shows.
        turn.form.hash = None
        return turn

    async def show(self, update: Update, turn: FormTurn, view: View) -> None:
        """Show it, unless the person has closed, sent or changed the form meanwhile.

        Raises FAILURES.
        """
        form = turn.form
        async with form.changing:
            if turn.is_over:
                logger.info("form changed meanwhile", extra={"action": "form_outdated"})
                return

            before = form.hash
            change = partial(update, view_id=form.view_id, hash=before)
            try:
                answer = await show_view("views.update", change, view)
            except SlackApiError as error:
                code = read_failure(error).code
                if code not in CHANGED_CODES:
                    raise
                extra = {"action": "modal_gone", "error": code}
                logger.info("form changed meanwhile", extra=extra)
                return
            if before is not None:
                form.replaced.add(before)
            form.hash = (answer.get("view") or {}).get("hash")
