"""Serves the page, its files and the stream of changes that keeps it up to date."""

import asyncio
import itertools
import json
import mimetypes
from importlib import resources

from aiohttp import web

from bot.sandbox.slack.acting.standing import Standing
from bot.sandbox.slack.control.requests import refused
from bot.sandbox.slack.control.sight import Sight
from bot.sandbox.slack.state.payloads import ts_of_permalink
from bot.sandbox.slack.state.workspace import Change, Workspace
from bot.sandbox.slack.wire import ControlRefusal, Json

PING_SECONDS = 15.0
_BACKLOG = 1_000
_MISSING = "The page is not part of this installation (static/{name} is missing)."
_HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
_STREAM_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}


class Page:
    """The one web page; it reads state through the control API and changes through the stream."""

    def __init__(self, workspace: Workspace, sight: Sight, standing: Standing) -> None:
        self._sight = sight
        self._standing = standing
        self._serial = itertools.count(1)
        self._streams: dict[asyncio.Queue[tuple[int, Change] | None], str] = {}
        workspace.on_change(self._spread)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self._index),
            web.get("/static/{name}", self._static),
            web.get("/archives/{channel}/{message}", self._permalink),
            web.get("/control/stream", self._stream),
        ]

    async def _index(self, _request: web.Request) -> web.Response:
        return _file("index.html")

    async def _static(self, request: web.Request) -> web.Response:
        return _file(request.match_info["name"])

    async def _permalink(self, request: web.Request) -> web.Response:
        ts = ts_of_permalink(request.match_info["message"])
        if ts is None:
            raise web.HTTPNotFound
        query = {"channel": request.match_info["channel"], "ts": ts}
        if "thread_ts" in request.query:
            query["thread_ts"] = request.query["thread_ts"]
        raise web.HTTPFound(str(request.url.origin().with_query(query)))

    def _spread(self, change: Change) -> None:
        numbered = (next(self._serial), change)
        for queue in list(self._streams):
            if queue.full():
                # The reader is too slow: end its stream, and it reads the state again.
                self._streams.pop(queue)
                queue.get_nowait()
                queue.put_nowait(None)
            else:
                queue.put_nowait(numbered)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        """Take `?user=`; send Server-Sent Events `change`."""
        try:
            user = self._standing.person(request.query.get("user")).id
        except ControlRefusal as refusal:
            return refused(refusal)
        response = web.StreamResponse(headers=_STREAM_HEADERS)
        queue: asyncio.Queue[tuple[int, Change] | None] = asyncio.Queue(_BACKLOG)
        # Nothing is missed between the page's hearing that the stream is open and its beginning.
        self._streams[queue] = user
        try:
            await response.prepare(request)
            await response.write(b"retry: 1000\n\n")
            await self._follow(response, queue, user)
        except ConnectionError:
            # The page was closed.
            return response
        finally:
            self._streams.pop(queue, None)
        return response

    async def _follow(
        self,
        response: web.StreamResponse,
        queue: asyncio.Queue[tuple[int, Change] | None],
        user: str,
    ) -> None:
        while True:
            try:
                item = await asyncio.wait_for(queue.get(), PING_SECONDS)
            except TimeoutError:
                await response.write(b": ping\n\n")
                continue
            if item is None:
                return
            number, change = item
            body = self._sight.change_json(user, change)
            if body is not None:
                await response.write(_event(number, body))

    def stop(self) -> None:
        """End every stream."""
        for queue in list(self._streams):
            self._streams.pop(queue)
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(None)


def _event(number: int, body: Json) -> bytes:
    return f"id: {number}\nevent: change\ndata: {json.dumps(body)}\n\n".encode()


def _file(name: str) -> web.Response:
    folder = resources.files("bot.sandbox.slack").joinpath("static")
    wanted = folder.joinpath(name)
    if "/" in name or "\\" in name or name.startswith(".") or not wanted.is_file():
        return web.Response(status=404, text=_MISSING.format(name=name))
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    charset = "utf-8" if kind.startswith("text/") or kind.endswith("javascript") else None
    content = wanted.read_bytes()
    return web.Response(body=content, content_type=kind, charset=charset, headers=_HEADERS)
