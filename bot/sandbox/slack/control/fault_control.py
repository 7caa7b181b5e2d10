"""Arms and disarms faults; those of open connections strike at once."""

from collections.abc import Mapping

from bot.sandbox.slack.delivering.socket_mode import SocketMode
from bot.sandbox.slack.faults import Faults
from bot.sandbox.slack.wire import Json

_DISCONNECT = frozenset({"disconnect"})
_DROP = frozenset({"drop_connections"})
_HALF_OPEN = frozenset({"half_open"})


class FaultControl:
    """The faults of the control API."""

    def __init__(self, faults: Faults, socket_mode: SocketMode) -> None:
        self._faults = faults
        self._socket_mode = socket_mode

    def arm(self, wanted: Mapping[str, object]) -> Json:
        """Arm a fault; those of open connections happen now: to every one, `half_open` to one."""
        fault = self._faults.arm_from(wanted)
        answer: Json = {"ok": True}
        if fault.name in _DISCONNECT:
            self._faults.take(_DISCONNECT)
            answer["connections"] = self._socket_mode.disconnect_all(fault.reason)
        elif fault.name in _DROP:
            self._faults.take(_DROP)
            answer["connections"] = self._socket_mode.drop_all()
        elif fault.name in _HALF_OPEN:
            self._faults.take(_HALF_OPEN)
            answer["connections"] = self._socket_mode.let_go_half_open()
        return {**answer, "fault": fault.body()}

    def listing(self) -> Json:
        return {"ok": True, "faults": [each.body() for each in self._faults.armed()]}

    def disarm(self) -> Json:
        self._faults.disarm_all()
        return {"ok": True}
