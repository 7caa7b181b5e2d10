"""The JSON shape and the refusals that pass between the modules of the workspace."""

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]


class SlackRefusal(Exception):
    """Slack answers `ok: false` with this error code; `fields` stand beside it in the body."""

    def __init__(
        self,
        code: str,
        *,
        messages: Iterable[str] = (),
        fields: Json | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.messages = list(messages)
        self.fields = fields or {}

    def body(self) -> Json:
        answer: Json = {"ok": False, "error": self.code, **self.fields}
        if self.messages:
            answer["response_metadata"] = {"messages": self.messages}
        return answer


def invalid_arguments(*messages: str) -> SlackRefusal:
    """Build the refusal of Slack's argument check, one sentence per argument."""
    return SlackRefusal("invalid_arguments", messages=[f"[ERROR] {each}" for each in messages])


class ControlRefusal(Exception):
    """A control request that cannot be done; `status` is its HTTP status (400 or 404)."""

    def __init__(self, code: str, detail: str, *, status: int = 400) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.status = status
