"""The endpoints of single pull requests, which the hosted service has beyond the API document."""

from collections.abc import Callable
from dataclasses import asdict

from aiohttp import web

from bot.sandbox.merge_queue import deprecated_listing, payloads
from bot.sandbox.merge_queue.controls import Controls, Reached
from bot.sandbox.merge_queue.credentials import Refusal
from bot.sandbox.merge_queue.parameters import pull_request_number
from bot.sandbox.merge_queue.simulation import records, removing
from bot.sandbox.merge_queue.simulation.entering import find
from bot.sandbox.merge_queue.simulation.moments import SECOND, optional_rfc3339, rfc3339
from bot.sandbox.merge_queue.simulation.state import Batch, Line, QueuedPullRequest, Repository

NOT_QUEUED = "The pull request is not in the merge queue"

Reach = Callable[..., Reached]
Json = dict[str, object]


class PullRequestApi:
    """Shows and removes one pull request, and lists the branches whose queue is active."""

    def __init__(self, controls: Controls, reach: Reach) -> None:
        self._controls = controls
        self._reach = reach

    def routes(self, repository: str) -> list[web.RouteDef]:
        pull_request = f"{repository}/merge-queue/pull/{{pr_number}}"
        return [
            web.get(f"{repository}/merge-queue/branches", self.branches),
            web.get(pull_request, self.read),
            web.get(f"{pull_request}/dequeue-impact", self.impact),
            web.post(f"{pull_request}/dequeue", self.remove),
        ]

    async def branches(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        active = [line.base_ref for line in repository.lines.values() if any(line.queued())]
        return web.json_response({"branches": list(dict.fromkeys(active))})

    async def read(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        number = pull_request_number(request.match_info["pr_number"])
        found = find(self._controls.turn(repository.name), number)
        if found is None:
            raise Refusal(404, NOT_QUEUED)
        return web.json_response(self._written(repository, *found))

    async def impact(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request)
        number = pull_request_number(request.match_info["pr_number"])
        impact = removing.impact(self._controls.turn(repository.name), number)
        if impact is None:
            raise Refusal(404, NOT_QUEUED)
        return web.json_response(asdict(impact))

    async def remove(self, request: web.Request) -> web.Response:
        _, repository = self._reach(request, write=True)
        number = pull_request_number(request.match_info["pr_number"])
        if not self._controls.remove(repository.name, number):
            raise Refusal(404, NOT_QUEUED)
        return web.Response(status=204)

    def _written(self, repository: Repository, line: Line, queued: QueuedPullRequest) -> Json:
        run = deprecated_listing.run_of(line, queued)
        rule = queued.rule
        timeout = round(rule.checks_timeout * SECOND / self._controls.speed)
        since = run.started_at if run is not None and run.is_running else None
        merge_at = deprecated_listing.merge_at(self._controls.service, repository, run)
        return {
            "number": queued.number,
            "queued_at": rfc3339(queued.queued_at),
            "estimated_time_of_merge": optional_rfc3339(merge_at),
            "position": list(line.queued()).index(queued),
            "priority_rule_name": queued.priority_rule_name or "default",
            "queue_rule_name": rule.name,
            "checks_timeout_at": optional_rfc3339(since + timeout if since is not None else None),
            "queue_rule": payloads.queue_rule(rule),
            "mergeability_check": None if run is None else _check(queued, run),
        }


def _check(queued: QueuedPullRequest, run: Batch) -> Json:
    states = {"success": "success", "failure": "failed", "timed_out": "failed"}
    return {
        "check_type": "in_place" if run.in_place else "draft_pr",
        "queue_pull_request_number": run.check_pull_request or 0,
        "started_at": optional_rfc3339(run.started_at),
        "ci_ended_at": optional_rfc3339(run.ended_at),
        "ci_state": states.get(records.conclusion(run), "pending"),
        "state": records.conclusion(run),
        "checks": [records.queue_check(check) for check in run.checks],
        "conditions_evaluation": records.conditions(queued, run.checks),
    }
