"""The resources of the API document as JSON Schema, for the published OpenAPI document."""

from collections.abc import Sequence

from bot.sandbox.merge_queue.parameters import REASON_LIMIT
from bot.sandbox.merge_queue.payloads import Dialect
from bot.sandbox.merge_queue.simulation.vocabulary import BATCH_STATUS_CODES, CHECK_STATES

Schema = dict[str, object]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
BOOLEAN: Schema = {"type": "boolean"}
MOMENT: Schema = {"type": "string", "format": "date-time"}
UUID: Schema = {"type": "string", "format": "uuid"}
FREEZE_REASON_LIMIT = 10_000
# Without an offset: of the freeze's own time zone.
LOCAL_TIME: Schema = {"type": "string"}
REASON: Schema = {"type": "string", "maxLength": REASON_LIMIT}
# 2^63 - 1 as the API document writes it, rounded by a float.
NUMBER: Schema = {"type": "integer", "minimum": 0, "maximum": 9223372036854776000}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _null_too(schema: Schema) -> Schema:
    return schema if "anyOf" in schema and {"type": "null"} in _any_of(schema) else nullable(schema)


def _any_of(schema: Schema) -> list[object]:
    either = schema["anyOf"]
    return either if isinstance(either, list) else []


def _request(properties: dict[str, Schema], required: Sequence[str]) -> Schema:
    """The body of a request, which may have no other fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


class SchemaWriter:
    """Writes the components; the document's own dialect allows no field it does not list."""

    def __init__(self, dialect: Dialect, event_types: Sequence[str]) -> None:
        self._dialect = dialect
        self._event_types = list(event_types)

    def _record(self, optional: Sequence[str] = (), /, **properties: Schema) -> Schema:
        schema: Schema = {
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if name not in optional],
        }
        return schema if self._dialect.live else schema | {"additionalProperties": False}

    def schemas(self) -> dict[str, Schema]:
        """Give all components by name."""
        return {
            "Error": self._record(detail={"anyOf": [STRING, array({"type": "object"})]}),
            "Application": self._application(),
            "PauseRequest": {
                "type": "object",
                "properties": {"reason": REASON},
                "required": ["reason"],
            },
            "Pause": self._pause(),
            "QueuePause": self._record(reason=REASON, pause_date=MOMENT),
            "QueuePauses": self._record(queue_pause=array(ref("QueuePause"))),
            "QueueRule": self._record(name=STRING, config={"type": "object"}),
            "QueueRules": self._record(configuration=array(ref("QueueRule"))),
            "Branches": self._record(base_refs=array(STRING)),
            "EventType": {"type": "string", "enum": self._event_types},
            "Event": self._event(),
            "EventLog": self._record(size=INTEGER, per_page=INTEGER, events=array(ref("Event"))),
            **self._status_schemas(),
            **self._pull_request_schemas(),
            **self._freeze_schemas(),
            **self._listing_schemas(),
        }

    def _application(self) -> Schema:
        if self._dialect.live:
            account = self._record(id=INTEGER, login=STRING)
            return self._record(id=UUID, name=STRING, scope=STRING, account_scope=account)
        account = self._record(id=INTEGER, login=STRING, type=STRING)
        properties = {"id": INTEGER, "name": STRING, f"{self._dialect.host}_account": account}
        return self._record(**properties)

    def _pause(self) -> Schema:
        if self._dialect.live:
            optional = ("reason", "paused_at")
            reason = nullable(REASON)
            paused_at = nullable(MOMENT)
            return self._record(optional, paused=BOOLEAN, reason=reason, paused_at=paused_at)
        return self._record(reason=REASON, paused_at=MOMENT)

    def _event(self) -> Schema:
        live: dict[str, Schema] = {"outcome": STRING} if self._dialect.live else {}
        return self._record(
            id=INTEGER,
            received_at=MOMENT,
            trigger=STRING,
            repository=STRING,
            pull_request=nullable(INTEGER),
            base_ref=nullable(STRING),
            type=STRING,
            metadata={"type": "object"},
            **live,
        )

    def _status_schemas(self) -> dict[str, Schema]:
        code: Schema = {"type": "string", "enum": list(BATCH_STATUS_CODES)}
        slots: dict[str, Schema] = {
            "batch_filled_slots": nullable(INTEGER),
            "max_batch_slots": nullable(INTEGER),
            "batch_max_start_at": nullable(MOMENT),
        }
        part: dict[str, Schema] = {
            "id": UUID,
            "name": STRING,
            "parent_ids": array(UUID),
            "status": self._record(code=code),
            "started_at": nullable(MOMENT),
            "estimated_merge_at": nullable(MOMENT),
            "scopes": array(STRING),
            "checks_summary": self._record(passed=INTEGER, total=INTEGER),
            "pull_requests": array(ref("QueuedPullRequest")),
            **slots,
        }
        parts = nullable(array(ref("SubBatch")))
        label = self._record(id=INTEGER, name=STRING, color=STRING, default=BOOLEAN)
        queued: dict[str, Schema] = {
            "number": NUMBER,
            "title": STRING,
            "url": STRING,
            "author": self._record(id=INTEGER, login=STRING),
            "queued_at": MOMENT,
            "priority_alias": STRING,
            "priority_rule_name": STRING,
            "labels": array(STRING),
            "scopes": array(STRING),
            f"{self._dialect.host}_labels": nullable(array(ref("Label"))),
            "estimated_merge_at": nullable(MOMENT),
        }
        scope_queues: Schema = {"type": "object", "additionalProperties": array(UUID)}
        return {
            "Label": label,
            "QueuedPullRequest": self._record(("estimated_merge_at",), **queued),
            "SubBatch": self._record(tuple(slots), **part),
            "Batch": self._record((*slots, "sub_batches"), **part, sub_batches=parts),
            "Status": self._record(
                ("scope_queues",),
                batches=array(ref("Batch")),
                waiting_pull_requests=array(ref("QueuedPullRequest")),
                scope_queues=scope_queues,
            ),
        }

    def _pull_request_schemas(self) -> dict[str, Schema]:
        ci_state: Schema = {"type": "string", "enum": ["pending", "success", "failed"]}
        check_types: Schema = {"type": "string", "enum": ["in_place", "draft_pr", "trusted"]}
        check = self._record(
            check_type=check_types,
            queue_pull_request_number=NUMBER,
            started_at=nullable(MOMENT),
            ci_ended_at=nullable(MOMENT),
            ci_state=ci_state,
            state=STRING,
            checks=array(ref("QueueCheck")),
            conditions_evaluation=nullable({"type": "object"}),
        )
        return {
            "QueuedBranches": self._record(branches=array(STRING)),
            "DequeueImpact": self._record(
                interrupted_batches=INTEGER,
                rechecked_pull_requests=INTEGER,
                cascaded_pull_requests=INTEGER,
            ),
            "QueuedDetails": self._record(
                number=NUMBER,
                queued_at=MOMENT,
                estimated_time_of_merge=nullable(MOMENT),
                position=INTEGER,
                priority_rule_name=STRING,
                queue_rule_name=STRING,
                checks_timeout_at=nullable(MOMENT),
                queue_rule=ref("QueueRule"),
                mergeability_check=nullable(check),
            ),
        }

    def _freeze_schemas(self) -> dict[str, Schema]:
        """As the hosted service publishes them: a change may null what it leaves as it is."""
        conditions = array({"anyOf": [STRING, {"type": "object"}]})
        reason: Schema = {"type": "string", "maxLength": FREEZE_REASON_LIMIT}
        terms: dict[str, Schema] = {
            "reason": reason,
            "start": nullable(LOCAL_TIME),
            "end": nullable(LOCAL_TIME),
            "timezone": STRING,
            "matching_conditions": conditions,
            "exclude_conditions": conditions,
        }
        optional = ("end", "matching_conditions", "exclude_conditions")
        shown = terms | {"start": LOCAL_TIME, "id": UUID}
        changed = {name: _null_too(schema) for name, schema in terms.items()}
        deletion = {"type": "object", "properties": {"delete_reason": STRING}}
        return {
            "Freeze": self._record(("exclude_conditions",), **shown),
            "Freezes": self._record(scheduled_freezes=array(ref("Freeze"))),
            "FreezeCreation": _request(terms, [term for term in terms if term not in optional]),
            "FreezeChange": _request(changed, []),
            "FreezeDeletion": nullable({**deletion, "additionalProperties": False}),
        }

    def _listing_schemas(self) -> dict[str, Schema]:
        state: Schema = {"type": "string", "enum": list(CHECK_STATES)}
        check_type: Schema = {"type": "string", "enum": ["in_place", "draft_pr"]}
        return {
            "CheckState": state,
            "QueueCheck": self._record(
                name=STRING,
                description=STRING,
                url=nullable(STRING),
                state=ref("CheckState"),
                avatar_url=nullable(STRING),
            ),
            "SpeculativeCheckPullRequest": self._record(
                in_place=BOOLEAN,
                number=NUMBER,
                started_at=nullable(MOMENT),
                ended_at=nullable(MOMENT),
                checks=array(ref("QueueCheck")),
                evaluated_conditions=STRING,
                state=ref("CheckState"),
            ),
            "BriefMergeabilityCheck": self._record(
                check_type=check_type,
                pull_request_number=NUMBER,
                started_at=MOMENT,
                ended_at=nullable(MOMENT),
                state=ref("CheckState"),
            ),
            "PullRequestQueued": self._record(
                number=NUMBER,
                position=INTEGER,
                priority=INTEGER,
                effective_priority=INTEGER,
                priority_alias=STRING,
                queue_rule=ref("QueueRule"),
                queued_at=MOMENT,
                speculative_check_pull_request=nullable(ref("SpeculativeCheckPullRequest")),
                mergeability_check=nullable(ref("BriefMergeabilityCheck")),
                estimated_time_of_merge=nullable(MOMENT),
                partition_name=STRING,
            ),
            "Queue": self._record(
                branch=self._record(name=STRING),
                pull_requests=array(ref("PullRequestQueued")),
            ),
            "Queues": self._record(queues=array(ref("Queue"))),
        }
