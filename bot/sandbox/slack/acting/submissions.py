"""What people do with modals: fill and submit them, or close them."""

import json

from bot.sandbox.slack.acting.reach import ask
from bot.sandbox.slack.acting.response_urls import ResponseUrls
from bot.sandbox.slack.acting.standing import Standing
from bot.sandbox.slack.block_kit.form_state import VALUE_FIELDS, ChoiceUnknown, merged, refusals
from bot.sandbox.slack.block_kit.view_rules import accepted_view
from bot.sandbox.slack.delivering.background import Background
from bot.sandbox.slack.delivering.delivery import Delivery, Payload
from bot.sandbox.slack.delivering.interaction_payloads import closed_payload, submission_payload
from bot.sandbox.slack.state.acts import Act
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.views import View
from bot.sandbox.slack.state.workspace import User
from bot.sandbox.slack.wire import ControlRefusal, Json, SlackRefusal

_UNREADABLE = "invalid_response_action"


class Submissions:
    """Submits and closes modals, and does what the app answers to it."""

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
        self._background = Background()

    async def submit(self, user_id: str, view_id: str, values: object) -> Json:
        """Submit the top modal with `{block_id: {action_id: {type, value or selected_…}}}`.

        What Slack's own form check refuses comes back as `response_action: "errors"` with
        `acknowledged: null`: the app was not asked. Raises ControlRefusal as Standing does,
        and `invalid_choice`, `not_submittable`.
        """
        user = self._standing.person(user_id)
        view = self._standing.top_view(user, view_id)
        if view.content["submit"] is None or view.content["submit_disabled"]:
            raise ControlRefusal("not_submittable", f"{view_id} has no Submit button to press")
        try:
            view.values = merged(view.blocks, view.values, values or {})
        except ChoiceUnknown as unknown:
            raise ControlRefusal("invalid_choice", str(unknown)) from unknown
        refused = refusals(view.blocks, view.values)
        if refused:
            unsent = {"ok": True, "acknowledged": None, "response_action": "errors"}
            return {**unsent, "errors": refused}
        return await self._send(user, view)

    async def _send(self, user: User, view: View) -> Json:
        self._installation.acts.note(Act(user.id, "submission", json.dumps(view.values)))
        urls = self._response_urls_of(user, view)
        body = submission_payload(self._installation, user, view, urls)
        outcome = await ask(self._delivery, Payload("interactive", body, answerable=True))
        if outcome.error is not None:
            return outcome.body()
        try:
            return outcome.body() | self._apply(view, outcome.content)
        except SlackRefusal as refusal:
            # The modal stays open and shows the person an error, as when no answer came.
            return {**outcome.body(), "acknowledged": False, "error": refusal.code}

    def _response_urls_of(self, user: User, view: View) -> list[Json]:
        """Mint an address for each chosen channel whose menu asks for one."""
        urls = []
        for block in view.blocks:
            if block["type"] != "input" or not block["element"].get("response_url_enabled"):
                continue
            element = block["element"]
            ids = {"block_id": block["block_id"], "action_id": element["action_id"]}
            entry = view.values[ids["block_id"]][ids["action_id"]]
            channel_id = str(entry.get(VALUE_FIELDS[element["type"]][0]))
            if channel_id in self._installation.workspace.channels:
                url, _ = self._response_urls.mint(user.id, channel_id)
                urls.append({**ids, "channel_id": channel_id, "response_url": url})
        return urls

    def _apply(self, view: View, content: Json) -> Json:
        """Do what the acknowledgement of a submission says; nothing said closes the modal."""
        views = self._installation.views
        action = content.get("response_action")
        if action is None:
            views.pop(view)
            return {}
        if action == "errors":
            return {"response_action": "errors", "errors": _read_errors(view, content)}
        if action == "clear":
            views.clear(view.user)
        elif action in ("update", "push"):
            new = accepted_view(content.get("view"), "modal", self._installation.chance)
            if action == "update":
                views.update(view, new)
            else:
                views.push(view.user, new)
        else:
            raise SlackRefusal(_UNREADABLE)
        return {"response_action": action}

    def close(self, user_id: str, view_id: str, *, clear: bool = False) -> Json:
        """Close the top modal, or with `clear` all of them; notify the app if it asked."""
        user = self._standing.person(user_id)
        view = self._standing.top_view(user, view_id)
        views = self._installation.views
        is_cleared = clear or view.content["clear_on_close"]
        for closed in views.clear(user.id) if clear else views.close(view):
            if closed.content["notify_on_close"]:
                body = closed_payload(self._installation, user, closed, is_cleared=is_cleared)
                self._notify_closed(Payload("interactive", body))
        return {"ok": True}

    def _notify_closed(self, payload: Payload) -> None:
        # Nothing waits for this: the modal is closed even if the app gets no event.
        self._background.start(ask(self._delivery, payload))

    async def stop(self) -> None:
        await self._background.stop()


def _read_errors(view: View, content: Json) -> Json:
    errors = content.get("errors")
    inputs = {each["block_id"] for each in view.blocks if each["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not set(errors) <= inputs:
        raise SlackRefusal(_UNREADABLE)
    if not all(isinstance(each, str) and each for each in errors.values()):
        raise SlackRefusal(_UNREADABLE)
    return errors
