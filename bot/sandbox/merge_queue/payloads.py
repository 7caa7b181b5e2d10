"""The JSON of the API document, made from the state."""

from dataclasses import dataclass
from itertools import groupby
from typing import cast

from bot.sandbox.merge_queue.credentials import Credential
from bot.sandbox.merge_queue.simulation import authorship, freezing
from bot.sandbox.merge_queue.simulation.event_log import Event
from bot.sandbox.merge_queue.simulation.moments import SECOND, Moment, optional_rfc3339, rfc3339
from bot.sandbox.merge_queue.simulation.state import (
    Batch,
    Pause,
    QueuedPullRequest,
    QueueRule,
    Repository,
    Service,
)
from bot.sandbox.merge_queue.simulation.vocabulary import DEFAULT_PARTITION

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which reading of the service is spoken.

    `host` fills `<host>_labels` and the like; `live` adds what the hosted service has and the API
    document has not; `metadata` is `full`, `seed` (without fields newer than the document) or
    `none` (always empty).
    """

    host: str = "github"
    live: bool = False
    metadata: str = "full"


# Metadata fields that the service added after the API document was written.
_NEWER = frozenset(
    {
        "batch_id",
        "batch_name",
        "parent_batch_ids",
        "previous_batch_id",
        "previous_batch_name",
        "dequeue_code",
        "unsuccessful_checks",
        "scopes",
        "all_scopes",
        "merge_commit_sha",
        "confirmed_culprit_pr_numbers",
        "dropped_unverified_pr_numbers",
        "command_trigger",
        "trigger_comment_url",
        "created_by_staff",
        "updated_by_staff",
        "deleted_by_staff",
    },
)

_BISECTIONS = frozenset({"action.queue.batch_bisection_start", "action.queue.batch_bisection_end"})
_NEWER_OF_BISECTIONS = _NEWER | {"train_car_id"}


def event(record: Event, repository: str, dialect: Dialect) -> Json:
    """Write an element of the event log."""
    metadata = dict(record.metadata) if dialect.metadata != "none" else {}
    if dialect.metadata == "seed":
        newer = _NEWER_OF_BISECTIONS if record.type in _BISECTIONS else _NEWER
        metadata = {name: value for name, value in metadata.items() if name not in newer}
    written: Json = {
        "id": record.id,
        "received_at": rfc3339(record.received_at),
        "trigger": record.trigger,
        "repository": repository,
        "pull_request": record.pull_request,
        "base_ref": record.base_ref,
        "type": record.type,
        "metadata": metadata,
    }
    if dialect.live:
        written["outcome"] = _outcome(record)
    return written


def _outcome(record: Event) -> str:
    if record.type == "action.queue.leave":
        return "success" if record.metadata.get("merged") else "failure"
    if record.type in ("action.queue.merged", "action.merge"):
        return "success"
    if record.type == "action.queue.checks_end":
        return "failure" if record.metadata.get("aborted") else "success"
    return "neutral"


def pause(record: Pause, dialect: Dialect) -> Json:
    written: Json = {"reason": record.reason, "paused_at": rfc3339(record.paused_at)}
    return {"paused": True} | written if dialect.live else written


def deprecated_pause(record: Pause) -> Json:
    return {
        "queue_pause": [{"reason": record.reason, "pause_date": rfc3339(record.paused_at)}],
    }


def application(credential: Credential, dialect: Dialect) -> Json:
    account: Json = {"id": 90_001, "login": credential.account}
    if dialect.live:
        return {
            "id": credential.uuid,
            "name": credential.name,
            "scope": credential.scope,
            "account_scope": account,
        }
    account["type"] = "Organization"
    return {
        "id": credential.id,
        "name": credential.name,
        f"{dialect.host}_account": account,
    }


def queue_rule(rule: QueueRule) -> Json:
    """Write a queue rule, with the keys the API document has seen in `config`."""
    return {
        "name": rule.name,
        "config": {
            "priority": 0,
            "batch_size": rule.batch_size,
            "batch_max_wait_time": rule.batch_max_wait,
            "allow_inplace_checks": True,
            "allow_queue_branch_edit": False,
            "checks_timeout": rule.checks_timeout,
            "draft_bot_account": "",
            "queue_branch_prefix": "merge-queue/",
            "queue_branch_merge_method": "",
            "batch_max_failure_resolution_attempts": rule.max_splits,
            "commit_message_template": "",
            "merge_bot_account": "",
            "merge_method": "merge",
            "update_bot_account": "",
            "update_method": "merge",
        },
    }


class StatusWriter:
    """Writes the merge queue status of one repository at one moment."""

    def __init__(self, service: Service, repository: Repository, dialect: Dialect) -> None:
        self._service = service
        self._repository = repository
        self._dialect = dialect

    def status(self, branch: str | None) -> Json:
        """Write the status of all base branches, or of one."""
        lines = [
            line
            for line in self._repository.lines.values()
            if branch is None or line.base_ref == branch
        ]
        shown = [batch for line in lines for batch in (*line.gone, *line.batches) if batch.members]
        written: Json = {
            "batches": [self._batch(batch) for batch in shown],
            "waiting_pull_requests": [
                self._queued(queued, None) for line in lines for queued in line.waiting
            ],
            "scope_queues": self._scope_queues([batch for line in lines for batch in line.batches]),
        }
        if self._dialect.live:
            held = self._repository.pause
            mode = self._repository.mode
            written |= {"mode": mode, "pause": pause(held, self._dialect) if held else None}
        return written

    def _scope_queues(self, batches: list[Batch]) -> Json:
        queues: dict[str, list[str]] = {}
        for batch in batches:
            for scope in _scopes(batch) or [DEFAULT_PARTITION]:
                queues.setdefault(scope, []).append(batch.id)
        return dict(queues)

    def _batch(self, batch: Batch) -> Json:
        written = self._part(batch)
        parts = batch.sub_batches
        if parts is None:
            return written | {"sub_batches": None}
        parts = [part for part in parts if part.members]
        if not self._dialect.live:
            return written | {"sub_batches": [self._part(part) for part in parts]}
        return self._bisected(written, parts, None)

    def _bisected(self, written: Json, parts: list[Batch], split: Batch | None) -> Json:
        """The hosted service nests pieces as deep as it splits them.

        The pull requests stand in the pieces alone, as its published schema lets them
        (`MergeQueueStatusBatchWithSubBatch`, whose `sub_batches` are of the same kind).
        """
        pieces: list[Json] = []
        for inner, group in groupby(parts, lambda part: _piece_of(part, split)):
            members = list(group)
            if inner is None:
                pieces += [self._part(part) | {"sub_batches": None} for part in members]
            else:
                whole = self._part(inner)
                whole["status"] = {**cast("Json", whole["status"]), "code": "bisecting"}
                pieces.append(self._bisected(whole, members, inner))
        return written | {"pull_requests": [], "sub_batches": pieces}

    def _part(self, batch: Batch) -> Json:
        filling = batch.code == "waiting_for_batch"
        slots: Json = {
            "batch_filled_slots": len(batch.members),
            "max_batch_slots": batch.rule.batch_size,
            "batch_max_start_at": optional_rfc3339(batch.max_start_at if filling else None),
        }
        status: Json = {"code": batch.code}
        merge_at = self._estimate(batch)
        written: Json = {
            "id": batch.id,
            "name": batch.name,
            "parent_ids": batch.parent_ids,
            "status": status,
            "started_at": optional_rfc3339(batch.started_at),
            "estimated_merge_at": optional_rfc3339(merge_at),
            "scopes": _scopes(batch),
            "checks_summary": {
                "passed": sum(check.state == "success" for check in batch.checks),
                "total": len(self._repository.tempo.checks),
            },
            "pull_requests": [self._queued(queued, merge_at) for queued in batch.members],
        }
        if not self._dialect.live:
            return written | slots
        tries: Json = {"retries": batch.members[0].retries, "max_retries": batch.rule.max_retries}
        status |= slots | tries
        return written | {
            "queue_rule_name": batch.rule.name,
            "estimated_ci_finish_at": optional_rfc3339(merge_at if batch.is_running else None),
            "ci_finished_at": optional_rfc3339(batch.ended_at),
            "intermediate_results_skipped": False,
            "queue_pull_request_number": batch.check_pull_request,
            "all_scopes": False,
        }

    def _estimate(self, batch: Batch) -> Moment | None:
        """Guess when a batch merges: never before those ahead, never while it is held."""
        held = self._repository.pause is not None or batch.code in ("frozen", "failed", "merged")
        if held or batch.code == "waiting_schedule":
            return None
        usual = max((plan.longest for plan in self._repository.tempo.checks), default=0.0)
        duration = round((usual + 10) * SECOND / self._service.speed)
        return max((batch.started_at or self._service.now) + duration, self._service.now)

    def _queued(self, queued: QueuedPullRequest, merge_at: Moment | None) -> Json:
        pull = queued.pull
        page = (
            f"https://{self._dialect.host}.example.com/{self._repository.name}/pull/{pull.number}"
        )
        written: Json = {
            "number": pull.number,
            "title": pull.title,
            "url": page,
            "author": {"id": pull.author.id, "login": pull.author.login},
            "queued_at": rfc3339(queued.queued_at),
            "priority_alias": queued.priority_alias,
            "priority_rule_name": queued.priority_rule_name or "default",
            "labels": list(pull.labels),
            "scopes": list(pull.scopes),
            f"{self._dialect.host}_labels": [_label(name) for name in pull.labels],
            "estimated_merge_at": optional_rfc3339(merge_at),
        }
        if pull.waits_for is not None:
            written["depends_on_pull_requests"] = [pull.waits_for]
        if self._dialect.live:
            frozen = freezing.is_frozen(self._repository, pull, self._service.now)
            leaving = queued.dequeue_requested
            written |= {"is_frozen": frozen, "dequeue_requested": leaving, "all_scopes": False}
        return written


def _piece_of(part: Batch, split: Batch | None) -> Batch | None:
    """The piece of `split` that was split again and has `part`; None if `part` is the piece."""
    found = None
    while part.split_of is not split and part.split_of is not None:
        found = part = part.split_of
    return found


def _scopes(batch: Batch) -> list[str]:
    return sorted({scope for queued in batch.members for scope in queued.pull.scopes})


def _label(name: str) -> Json:
    return {
        "id": 300_000 + sum(name.encode()),
        "name": name,
        "color": authorship.label_colour(name),
        "default": name in ("bug", "enhancement"),
    }
