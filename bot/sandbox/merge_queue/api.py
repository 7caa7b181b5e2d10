"""The 13 endpoints of the API document, as aiohttp handlers; others are in a file each."""

from collections.abc import Awaitable, Callable
from secrets import token_bytes

from aiohttp import web

from bot.sandbox.merge_queue import credentials, deprecated_listing, openapi, parameters, payloads
from bot.sandbox.merge_queue.controls import Controls, Reached
from bot.sandbox.merge_queue.credentials import Credential, Refusal
from bot.sandbox.merge_queue.freeze_api import FreezeApi
from bot.sandbox.merge_queue.pagination import CursorSeal, read_page
from bot.sandbox.merge_queue.pull_request_api import PullRequestApi
from bot.sandbox.merge_queue.simulation.state import Pause
from bot.sandbox.merge_queue.simulation.vocabulary import event_types

PREFIX = "/v1"
NO_PAUSE = "The pause does not exist"
NOT_PAUSED = "The merge queue is not currently paused on this repository"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def answer(body: object, status: int = 200) -> web.Response:
    return web.json_response(body, status=status)


def refuse(refusal: Refusal) -> web.Response:
    headers = (
        {"WWW-Authenticate": "Bearer"} if refusal.status == web.HTTPUnauthorized.status_code else {}
    )
    return web.json_response({"detail": refusal.detail}, status=refusal.status, headers=headers)


class MergeQueueApi:
    """Answers the requests of clients; one for each sandbox."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self._seal = CursorSeal(token_bytes(16))
        self._event_types = event_types(controls.host, live=controls.speaks.live)

    def routes(self) -> list[web.RouteDef]:
        """List the endpoints in the order of the document, and the OpenAPI document."""
        repository = f"{PREFIX}/repos/{{owner}}/{{repository}}"
        pause = f"{repository}/merge-queue/pause"
        old_pause = f"{repository}/queue/pause"
        missing = {
            "both": (),
            "current": ("queue/pause",),
            "deprecated": ("merge-queue/pause",),
            "none": ("merge-queue/pause", "queue/pause"),
        }[self._controls.pause_endpoints]
        missing = tuple(f"{repository}/{lacking}/" for lacking in (*missing, *self._controls.lacks))
        routes = [
            web.get(f"{repository}/merge-queue/status", self.status),
            web.put(pause, self.pause),
            web.delete(pause, self.resume),
            web.get(pause, self.read_pause),
            web.get(f"{repository}/queues/configuration", self.configuration),
            web.get(f"{repository}/logs", self.logs),
            web.get(f"{repository}/queues/branches", self.branches),
            web.get(f"{PREFIX}/application", self.application),
            web.put(old_pause, self.deprecated_pause),
            web.delete(old_pause, self.resume),
            web.get(old_pause, self.read_deprecated_pause),
            web.post(f"{old_pause}/delete", self.resume),
            web.get(f"{repository}/queues", self.queues),
            web.get(f"{PREFIX}/openapi.json", self.describe),
            *PullRequestApi(self._controls, self._reach).routes(repository),
            *FreezeApi(self._controls, self._reach).routes(repository),
        ]
        return [route for route in routes if not f"{route.path}/".startswith(missing)]

    def _caller(self, request: web.Request) -> Credential:
        known = self._controls.known_credentials
        return credentials.identify(request.headers.get("Authorization"), known)

    def _reach(self, request: web.Request, *, write: bool = False) -> Reached:
        """Find the caller and the repository; refuse with 401, 422, 403 or 404, in this order."""
        caller = self._caller(request)
        path = request.match_info
        name = parameters.repository_name(path["owner"], path["repository"])
        new_name = self._controls.renamed.get(name)
        if new_name is not None:
            # As hosting platforms do (https://docs.github.com/en/rest/using-the-rest-api).
            address = str(request.url).replace(f"/repos/{name}/", f"/repos/{new_name}/", 1)
            raise web.HTTPMovedPermanently(address)
        credentials.require_access(caller, name, write=write)
        repository = self._controls.service.repositories.get(name)
        if repository is None:
            raise Refusal(404, "Repository not found")
        return Reached(caller, repository)

    async def status(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        writer = payloads.StatusWriter(self._controls.service, repository, self._controls.speaks)
        return answer(writer.status(parameters.one(_query(request), "branch")))

    async def pause(self, request: web.Request) -> web.Response:
        return answer(payloads.pause(await self._pause(request), self._controls.speaks))

    async def deprecated_pause(self, request: web.Request) -> web.Response:
        """Pause the queue, or refuse where it isn't paused yet.

        The API document's Errors table has a 404 of endpoint 9 "when the pause does not exist".
        """
        return answer(payloads.deprecated_pause(await self._pause(request, is_deprecated=True)))

    async def _pause(self, request: web.Request, *, is_deprecated: bool = False) -> Pause:
        # The credential comes before the body: who is not known learns nothing about the rest.
        self._caller(request)
        reason = parameters.pause_reason(await parameters.json_body(request))
        caller, repository = self._reach(request, write=True)
        may_create = self._controls.deprecated_creates or not is_deprecated
        if repository.pause is None and not may_create:
            raise Refusal(404, NO_PAUSE)
        return self._controls.pause(repository.name, reason, caller.actor)

    async def resume(self, request: web.Request) -> web.Response:
        caller, repository = self._reach(request, write=True)
        if not self._controls.resume(repository.name, caller.actor):
            raise Refusal(404, NOT_PAUSED)
        return web.Response(status=204)

    async def read_pause(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        if repository.pause is not None:
            return answer(payloads.pause(repository.pause, self._controls.speaks))
        if self._controls.speaks.live:
            return answer({"paused": False, "reason": None, "paused_at": None})
        raise Refusal(404, NOT_PAUSED)

    async def read_deprecated_pause(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        if repository.pause is None:
            raise Refusal(404, NOT_PAUSED)
        return answer(payloads.deprecated_pause(repository.pause))

    async def configuration(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        if repository.configuration_error is not None:
            raise Refusal(422, repository.configuration_error)
        return answer({"configuration": [payloads.queue_rule(rule) for rule in repository.rules]})

    async def logs(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        now = max(self._controls.service.now, self._controls.service.last_received_at)
        asked = parameters.log_request(_query(request), self._event_types, now)
        cursor = None if asked.cursor is None else self._seal.read(repository.name, asked.cursor)
        page = read_page(repository.log, asked, cursor)
        speaks = self._controls.speaks
        body = {
            "size": len(page.events),
            "per_page": asked.per_page,
            "events": [payloads.event(event, repository.name, speaks) for event in page.events],
        }
        relations = ("next", "prev") if speaks.live else ("next", "prev", "first", "last")
        links = [
            f"<{_page_url(request, self._seal.write(repository.name, page.cursors[relation]))}>; "
            f'rel="{relation}"'
            for relation in relations
            if relation in page.cursors
        ]
        return web.json_response(body, headers={"Link": ", ".join(links)} if links else {})

    async def branches(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        start_at, end_at = parameters.window(_query(request), self._controls.service.now)
        return answer({"base_refs": repository.log.base_refs(start_at, end_at)})

    async def application(self, request: web.Request) -> web.Response:
        caller = self._caller(request)
        credentials.require_application(caller)
        return answer(payloads.application(caller, self._controls.speaks))

    async def queues(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        return answer(deprecated_listing.queues(self._controls.service, repository))

    async def describe(self, _request: web.Request) -> web.Response:
        return answer(openapi.document(self._controls.speaks, self._event_types))


def _query(request: web.Request) -> dict[str, list[str]]:
    return {name: request.query.getall(name) for name in request.query}


def _page_url(request: web.Request, cursor: str) -> str:
    """Write the address of another page, absolute, with the filters of this request."""
    query = {name: values for name, values in _query(request).items() if name != "cursor"}
    query |= {"cursor": [cursor]}
    query.setdefault("per_page", [str(parameters.PER_PAGE_DEFAULT)])
    return str(request.url.origin().with_path(request.path).with_query(query))
