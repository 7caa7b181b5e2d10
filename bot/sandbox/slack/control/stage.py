"""A stage beside the workspace: what a visitor may try, and what can be made to happen."""

from collections.abc import Callable
from typing import Protocol

from aiohttp import web

from bot.sandbox.slack.control.requests import answering, body_of, texts_of
from bot.sandbox.slack.wire import ControlRefusal, Json


class Stage(Protocol):
    """Only a demo has one."""

    def state(self) -> Json:
        """`is_open`, `tasks` and `triggers`, as the page shows them."""
        ...

    async def bring_about(self, name: str) -> None:
        """Make something happen; raises ControlRefusal `unknown_trigger` or `not_open`."""
        ...


class StageApi:
    """Answers `/control/stage`."""

    def __init__(self, stage: Callable[[], Stage | None]) -> None:
        self._stage = stage

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/control/stage", answering(self._state)),
            web.post("/control/stage", answering(self._bring_about)),
        ]

    async def _state(self, _request: web.Request) -> Json:
        """Answer `stage`: null, or in the demo `is_open`, `tasks` and `triggers`."""
        stage = self._stage()
        return {"ok": True, "stage": stage.state() if stage else None}

    async def _bring_about(self, request: web.Request) -> Json:
        """Take `name` of a trigger; answer `stage`."""
        (name,) = texts_of(await body_of(request), "name")
        stage = self._stage()
        if stage is None:
            raise ControlRefusal("no_stage", "only the demo has a stage", status=404)
        await stage.bring_about(name)
        return {"ok": True, "stage": stage.state()}
