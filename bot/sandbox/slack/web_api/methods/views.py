"""The views methods: open, push, update, publish."""

from typing import NamedTuple

from bot.sandbox.slack.block_kit.blocks import Surface
from bot.sandbox.slack.block_kit.view_rules import accepted_view
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.triggers import Trigger
from bot.sandbox.slack.state.views import View
from bot.sandbox.slack.web_api.calls import Call
from bot.sandbox.slack.web_api.methods.method import TIER_4, Method
from bot.sandbox.slack.wire import Json, SlackRefusal, invalid_arguments


def _given_view(installation: Installation, call: Call, surface: Surface) -> Json:
    view = call.structured("view", "invalid_arguments")
    if view is None:
        raise invalid_arguments("missing required field: view")
    return accepted_view(view, surface, installation.chance)


def _answer(installation: Installation, view: View) -> Json:
    return {"view": installation.view_json(view)}


def open_view(installation: Installation, call: Call) -> Json:
    """Open a modal for who acted (docs.slack.dev/reference/methods/views.open)."""
    content, trigger = _admitted(installation, call)
    return _answer(installation, installation.views.open(trigger.user, content))


def push_view(installation: Installation, call: Call) -> Json:
    """Put a modal on top (docs.slack.dev/reference/methods/views.push)."""
    content, trigger = _admitted(installation, call)
    if trigger.view_id is None or installation.views.find(trigger.view_id) is None:
        raise SlackRefusal("not_found")
    return _answer(installation, installation.views.push(trigger.user, content))


class _Admitted(NamedTuple):
    """A view that can be shown, and who acted."""

    content: Json
    trigger: Trigger


def _admitted(installation: Installation, call: Call) -> _Admitted:
    triggers = installation.triggers
    trigger_id = call.text("trigger_id") or call.text("interactivity_pointer")
    if not trigger_id:
        raise invalid_arguments("missing required field: trigger_id")
    if triggers.used_by_refusals:
        trigger = triggers.exchange(trigger_id)
        return _Admitted(_given_view(installation, call, "modal"), trigger)
    content = _given_view(installation, call, "modal")
    return _Admitted(content, triggers.exchange(trigger_id))


def update_view(installation: Installation, call: Call) -> Json:
    """Change an open view (docs.slack.dev/reference/methods/views.update)."""
    view_id = call.text("view_id")
    external_id = call.text("external_id")
    if not view_id and not external_id:
        raise invalid_arguments("missing required field: view_id or external_id")
    views = installation.views
    view = views.find(view_id) if view_id else views.find_external(external_id)
    surface: Surface = "home" if view and view.content["type"] == "home" else "modal"
    content = _given_view(installation, call, surface)
    if view is None:
        raise SlackRefusal("not_found")
    return _answer(installation, views.update(view, content, call.text("hash")))


def publish_view(installation: Installation, call: Call) -> Json:
    """Publish a person's Home tab (docs.slack.dev/reference/methods/views.publish)."""
    user = call.required("user_id")
    if not installation.manifest.home_tab_enabled:
        raise SlackRefusal("not_enabled")
    if user not in installation.workspace.users:
        raise invalid_arguments("invalid `user_id`")
    content = _given_view(installation, call, "home")
    view = installation.views.publish(user, content, call.text("hash"))
    return _answer(installation, view)


METHODS = {
    "views.open": Method(open_view, TIER_4),
    "views.push": Method(push_view, TIER_4),
    "views.update": Method(update_view, TIER_4),
    "views.publish": Method(publish_view, TIER_4),
}
