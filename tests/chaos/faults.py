"""Arms the plan's faults on both local services, and counts those that struck."""

import asyncio
import time
from collections import Counter
from urllib.parse import urlsplit

from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.server import SlackSandbox
from tests.chaos.plan import Outage, ServiceFault, SlackFault

WAITING_FAULTS = 3
"""The most faults that wait for a request at a time."""


class Faults:
    """The faults of one run."""

    def __init__(self, service: MergeQueueSandbox, slack: SlackSandbox) -> None:
        self._service = service
        self._slack = slack
        self._armed: list[Fault] = []
        self._outages: Counter[str] = Counter()
        self._struck: Counter[str] = Counter()
        self.came_back: list[float] = []
        self._turns = {"slack": asyncio.Lock(), "merge queue": asyncio.Lock()}

    def arm_slack(self, fault: SlackFault) -> None:
        waiting = [one for one in self._slack.faults.listing()["faults"] if one["times"] > 0]
        if len(waiting) < WAITING_FAULTS:
            wanted: dict[str, object] = {
                "name": fault.name,
                "times": fault.times,
                "seconds": fault.seconds,
                "retry_after": fault.retry_after,
                "reason": fault.reason,
            }
            if fault.method is not None:
                wanted["method"] = fault.method
            self._slack.faults.arm(wanted)

    def arm_service(self, wanted: ServiceFault) -> None:
        waiting = [one for one in self._armed if one.times is not None and one.hits < one.times]
        if len(waiting) < WAITING_FAULTS:
            fault = Fault(
                wanted.kind,
                times=wanted.times,
                status=wanted.status,
                seconds=wanted.seconds,
                retry_after=wanted.retry_after,
            )
            self._service.faults.arm(fault)
            self._armed.append(fault)

    async def outage(self, outage: Outage) -> None:
        """Stop listening, then come back on the same port with the same state."""
        server = self._slack if outage.service == "slack" else self._service
        address = self._slack.url if outage.service == "slack" else self._service.base_url
        port = urlsplit(address).port
        assert port is not None
        async with self._turns[outage.service]:
            await server.stop()
            try:
                await asyncio.sleep(outage.seconds)
            finally:
                await server.start(port=port)
                self.came_back.append(time.time())
            self._outages[f"{outage.service} outage"] += 1

    def off(self) -> None:
        """Disarm all faults."""
        for armed in self._armed:
            armed.times = armed.hits
        for fault in self._slack.faults.listing()["faults"]:
            self._struck[f"slack {fault['name']}"] += fault["hits"]
        self._slack.faults.disarm()
        self._service.faults.disarm()

    def struck(self) -> Counter[str]:
        """How often each kind of fault struck a request or a connection."""
        found = Counter(self._outages)
        for armed in self._armed:
            found[f"service {armed.kind}"] += armed.hits
        return found + self._struck
