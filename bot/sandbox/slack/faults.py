"""The failures that a test or a person arms on purpose, on Slack's side."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.sandbox.slack.wire import ControlRefusal, Json

EFFECT_ON_CALLS: Mapping[str, str] = {
    "drop_before": "the connection closes before the call is carried out",
    "drop_after_accept": "carried out, then the connection closes without an answer",
    "http_500": "status 500 as JSON, not carried out",
    "html_500": "status 500 as HTML, not carried out",
    "internal_error": "`ok: false` with `internal_error`, not carried out",
    "refuse": "`ok: false` with `code`, not carried out",
    "rate_limit": "429 with `retry_after` as `Retry-After`",
    "slow": "answers after `seconds`",
    "invalid_json": "carried out, but the answer isn't JSON",
    "bare_ok": "carried out, but the answer is only `ok: true`",
    "truncate": "carried out, but the answer is cut in half",
}
EFFECT_ON_SOCKETS: Mapping[str, str] = {
    "disconnect": "every connection is asked to close, with `reason` `warning`, "
    "`refresh_requested`, `link_disabled` or `too_many_websockets`",
    "drop_connections": "every connection breaks",
    "half_open": "one connection goes silent but still counts as open",
    "refuse_handshake": "the next WebSocket handshake is refused",
    "lose_payload": "the next payload gets lost",
    "repeat_payload": "the next payload comes twice",
    "repeat_event": "the next event comes twice, with another event id",
}
CALL_FAULTS = frozenset(EFFECT_ON_CALLS)
SOCKET_FAULTS = frozenset(EFFECT_ON_SOCKETS)
ERRORS = frozenset({"http_500", "html_500", "internal_error", "refuse"})
"""Slack answers with an error; `carried_out` says whether it did what it was asked."""

LOSE_PAYLOAD = frozenset({"lose_payload"})
REPEAT_PAYLOAD = frozenset({"repeat_payload"})
"""As a lost acknowledgement can bring a payload twice."""

REPEAT_EVENT = frozenset({"repeat_event"})
"""The same event comes again with an event id of its own."""

REASONS = ("warning", "refresh_requested", "link_disabled", "too_many_websockets")


@dataclass
class Fault:
    """One armed fault: what happens, to which method's calls (None: any), how many times more."""

    name: str
    method: str | None = None
    channel: str | None = None  #: only calls that name this channel
    times: int = 1
    seconds: float = 1.0  #: how long a slow answer takes
    retry_after: int = 1  #: the whole seconds that a rate limit names
    reason: str = "refresh_requested"  #: with which a connection is ended
    #: Slack's, of a refusal, and `status` the HTTP status of its answer
    code: str = "internal_error"
    status: int = 200
    #: Slack fails after it has carried out the call, at least in part, as `internal_error` and
    #: `fatal_error` may mean (https://docs.slack.dev/reference/methods/chat.postMessage#errors)
    carried_out: bool = False
    hits: int = 0  #: how often it has struck

    def body(self) -> Json:
        return dict(vars(self))


class Faults:
    """The armed faults, each spent once it has struck as often as it was armed for."""

    def __init__(self) -> None:
        self._armed: list[Fault] = []

    def arm(self, name: str, **settings: object) -> Fault:
        """Arm a fault; raises ControlRefusal for a name or setting that is not known."""
        return self.arm_from({"name": name, **settings})

    def arm_from(self, wanted: Mapping[str, object]) -> Fault:
        name = wanted.get("name")
        if not isinstance(name, str) or name not in CALL_FAULTS | SOCKET_FAULTS:
            known = ", ".join(sorted(CALL_FAULTS | SOCKET_FAULTS))
            raise ControlRefusal("unknown_fault", f"name is one of: {known}")
        fault = Fault(name)
        for key, value in wanted.items():
            _set(fault, key, value)
        if fault.carried_out and name not in ERRORS:
            kinds = ", ".join(sorted(ERRORS))
            raise ControlRefusal("invalid_fault", f"carried_out is a setting of: {kinds}")
        self._armed.append(fault)
        return fault

    def disarm_all(self) -> None:
        self._armed.clear()

    def armed(self) -> list[Fault]:
        """List every fault armed since the last disarming, the spent ones (times 0) too."""
        return list(self._armed)

    def take(
        self, names: frozenset[str], method: str | None = None, channel: str | None = None
    ) -> Fault | None:
        """Let the first fitting fault strike, if there is one."""
        for fault in self._armed:
            fits = fault.method in {None, "*", method} and fault.channel in {None, channel}
            if fault.name in names and fault.times > 0 and fits:
                fault.times -= 1
                fault.hits += 1
                return fault
        return None


def _set(fault: Fault, key: str, value: object) -> None:
    if key == "name" or (key in {"method", "channel"} and value is None):
        return
    wanted = {
        "method": str,
        "channel": str,
        "times": int,
        "seconds": int | float,
        "retry_after": int,
        "code": str,
        "status": int,
    }
    if key == "carried_out" and isinstance(value, bool):
        pass
    elif key == "reason":
        if value not in REASONS:
            raise ControlRefusal("invalid_fault", f"reason is one of: {', '.join(REASONS)}")
    elif key not in wanted or isinstance(value, bool) or not isinstance(value, wanted[key]):
        raise ControlRefusal("invalid_fault", f"{key} is not a setting that a fault takes so")
    setattr(fault, key, value)
