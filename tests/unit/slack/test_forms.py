"""Forms on people's screens, when Slack's answers come later than what people do."""

import asyncio
from collections.abc import Mapping

import pytest
from pydantic import JsonValue
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.blocks.message import View
from bot.slack.forms import Forms
from tests.support.waiting import until

FORM = "V1"


def view(name: str) -> View:
    return View({"type": "modal", "title": {"type": "plain_text", "text": name}, "blocks": []})


class Screen:
    """What Slack shows, under a new hash after each update; its answers wait for `answers`."""

    def __init__(self) -> None:
        self.shown = "opened"
        self.number = 0
        self.answers = asyncio.Event()
        self.answers.set()

    @property
    def hash(self) -> str:
        return f"hash {self.number}"

    async def update(
        self,
        *,
        view: Mapping[str, JsonValue],
        view_id: str,
        hash: str | None,  # noqa: A002 - Slack's name
    ) -> AsyncSlackResponse:
        assert view_id == FORM
        if hash is not None and hash != self.hash:
            raise SlackApiError("refused", {"ok": False, "error": "hash_conflict"})  # type: ignore[no-untyped-call]
        title = view["title"]
        assert isinstance(title, dict)
        self.shown = str(title["text"])
        self.number += 1
        now = self.hash
        await self.answers.wait()
        return AsyncSlackResponse(
            client=AsyncWebClient(),
            http_verb="POST",
            api_url="views.update",
            req_args={},
            data={"ok": True, "view": {"hash": now}},
            headers={},
            status_code=200,
        )


@pytest.fixture
def screen() -> Screen:
    return Screen()


async def test_a_choice_made_before_slack_said_that_the_form_is_open_is_the_last(
    screen: Screen,
) -> None:
    forms = Forms()
    choice = forms.turn(FORM, screen.hash)
    opening = forms.opened(FORM, screen.hash)
    await forms.show(screen.update, choice, view("chosen"))
    await forms.show(screen.update, opening, view("read at first"))
    assert screen.shown == "chosen"


async def test_what_was_read_for_a_form_is_shown_as_long_as_nobody_has_done_anything(
    screen: Screen,
) -> None:
    forms = Forms()
    opening = forms.opened(FORM, screen.hash)
    await forms.show(screen.update, opening, view("read at first"))
    assert screen.shown == "read at first"


async def test_a_late_answer_to_an_update_doesnt_hide_what_it_replaced(screen: Screen) -> None:
    """A click on what the update shows comes first, and then one on what was there before."""
    forms = Forms()
    before = screen.hash
    first = forms.turn(FORM, before)
    screen.answers.clear()
    showing = asyncio.create_task(forms.show(screen.update, first, view("reading")))
    await until(lambda: screen.shown == "reading", "the update", 10)
    forms.turn(FORM, screen.hash)
    screen.answers.set()
    await showing
    last = forms.turn(FORM, before)
    await forms.show(screen.update, last, view("last"))
    assert screen.shown == "last"
