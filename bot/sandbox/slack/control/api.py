"""The control API over HTTP: what tests and the page ask of the workspace."""

from aiohttp import web

from bot.sandbox.slack.acting.interactions import Interactions
from bot.sandbox.slack.acting.people import People
from bot.sandbox.slack.control.fault_control import FaultControl
from bot.sandbox.slack.control.requests import (
    answering,
    body_of,
    flag_of,
    list_of,
    texts_of,
    viewer_of,
)
from bot.sandbox.slack.control.sight import DEFAULT_LIMIT, Sight
from bot.sandbox.slack.web_api.calls import CallLog
from bot.sandbox.slack.wire import ControlRefusal, Json


class ControlApi:
    """Answers `/control/…`; every answer is `ok: true` or says what is wrong."""

    def __init__(
        self,
        people: People,
        interactions: Interactions,
        sight: Sight,
        faults: FaultControl,
        calls: CallLog,
    ) -> None:
        self._people = people
        self._interactions = interactions
        self._sight = sight
        self._faults = faults
        self._calls = calls

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/control/workspace", answering(self._workspace)),
            web.get("/control/channels/{id}/messages", answering(self._messages)),
            web.get("/control/views", answering(self._views)),
            web.get("/control/calls", answering(self._call_log)),
            web.get("/control/faults", answering(self._list_faults)),
            web.post("/control/faults", answering(self._arm_fault)),
            web.delete("/control/faults", answering(self._disarm_faults)),
            web.post("/control/commands", answering(self._command)),
            web.post("/control/messages", answering(self._message)),
            web.post("/control/actions", answering(self._action)),
            web.post("/control/suggestions", answering(self._suggestions)),
            web.post("/control/shortcuts", answering(self._shortcut)),
            web.post("/control/home", answering(self._home)),
            web.post("/control/views/{id}/submit", answering(self._submit)),
            web.post("/control/views/{id}/close", answering(self._close)),
        ]

    async def _workspace(self, request: web.Request) -> Json:
        """Take `?user=`; answer `team`, `viewer`, `users`, `channels` that they see, `app`.

        `clock_ahead`: seconds from the machine's clock to the workspace's.
        """
        return self._sight.workspace(request.query.get("user") or None)

    async def _messages(self, request: web.Request) -> Json:
        """Take `?user=&thread_ts=&limit=200`; answer `messages`, oldest first, ephemerals too."""
        text = request.query.get("limit", str(DEFAULT_LIMIT))
        if not text.isdecimal() or int(text) == 0:
            raise ControlRefusal("invalid_limit", "limit is a number from 1")
        thread_ts = request.query.get("thread_ts") or None
        channel = request.match_info["id"]
        return self._sight.messages(viewer_of(request), channel, thread_ts, int(text))

    async def _views(self, request: web.Request) -> Json:
        """Take `?user=`; answer `views`, open modals, the top one last, and `home`."""
        return self._sight.views(viewer_of(request))

    async def _call_log(self, request: web.Request) -> Json:
        """Take `?since=N`; answer `calls` of the app, with number, method, arguments and result."""
        since = request.query.get("since", "0")
        if not since.isdecimal():
            raise ControlRefusal("invalid_since", "since is the number of a call")
        return {"ok": True, "calls": self._calls.since(int(since))}

    async def _list_faults(self, _request: web.Request) -> Json:
        """Answer the `faults` armed, with `hits`."""
        return self._faults.listing()

    async def _arm_fault(self, request: web.Request) -> Json:
        """Take a fault's fields, and arm it."""
        return self._faults.arm(await body_of(request))

    async def _disarm_faults(self, _request: web.Request) -> Json:
        """Disarm all faults."""
        return self._faults.disarm()

    async def _command(self, request: web.Request) -> Json:
        """Take `user`, `channel`, `text`; answer `acknowledged`, `ack_text?`."""
        body = await body_of(request)
        user, channel, text = texts_of(body, "user", "channel", "text")
        return await self._people.command(user, channel, text)

    async def _message(self, request: web.Request) -> Json:
        """Take `user`, `channel`, `text`, `thread_ts?`, `broadcast?`, `files?` by name.

        Answer `ts`.
        """
        body = await body_of(request)
        user, channel = texts_of(body, "user", "channel")
        files = list_of(body, "files")
        text = str(body.get("text") or "") if files else texts_of(body, "text")[0]
        thread_ts = body.get("thread_ts")
        return self._people.message(
            user,
            channel,
            text,
            str(thread_ts) if thread_ts else None,
            broadcast=flag_of(body, "broadcast", default=False),
            files=files,
        )

    async def _action(self, request: web.Request) -> Json:
        """Take `user`, `container`, `block_id`, `action_id`, `state?`, the element's fields.

        `not_redrawn: true` accepts an element that a recent edit removed. Answer `acknowledged`,
        `sent?`.
        """
        body = await body_of(request)
        user, *_ = texts_of(body, "user", "block_id", "action_id")
        return await self._interactions.action(user, body)

    async def _suggestions(self, request: web.Request) -> Json:
        """Take `user`, `container`, `block_id`, `action_id`, `value`.

        Answer `acknowledged`, `options?` or `option_groups?`.
        """
        body = await body_of(request)
        user, *_ = texts_of(body, "user", "block_id", "action_id")
        return await self._interactions.suggestions(user, body)

    async def _shortcut(self, request: web.Request) -> Json:
        """Take `user`, `callback_id`, for a message `channel` and `ts`; answer `acknowledged`."""
        body = await body_of(request)
        user, _ = texts_of(body, "user", "callback_id")
        return await self._interactions.shortcut(user, body)

    async def _home(self, request: web.Request) -> Json:
        """Take `user`, `tab?` (`home` or `messages`); answer `acknowledged`."""
        body = await body_of(request)
        (user,) = texts_of(body, "user")
        return await self._people.home(
            user, "messages" if body.get("tab") == "messages" else "home"
        )

    async def _submit(self, request: web.Request) -> Json:
        """Take `user`, `values`; answer `acknowledged`, `response_action?`, `errors?`."""
        body = await body_of(request)
        (user,) = texts_of(body, "user")
        return await self._people.submit(user, request.match_info["id"], body.get("values"))

    async def _close(self, request: web.Request) -> Json:
        """Take `user`, `clear?` (the whole stack)."""
        body = await body_of(request)
        (user,) = texts_of(body, "user")
        clear = flag_of(body, "clear", default=False)
        return self._people.close(user, request.match_info["id"], clear=clear)
