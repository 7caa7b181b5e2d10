"""Arms the plan's faults on both local services, and counts those that struck."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bot.sandbox.merge_queue.faults import Fault as ServiceFault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.faults import Fault as SlackFault
from bot.sandbox.slack.server import SlackSandbox
from tests.chaos.plan import Outage

WAITING_FAULTS = 3
"""The most faults that wait for a request at a time."""


@dataclass
class Faults:
    """The faults of one run."""

    service: MergeQueueSandbox
    slack: SlackSandbox
    came_back: list[float] = field(default_factory=list)
    _armed: list[ServiceFault] = field(default_factory=list)
    _struck: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._turns = {"slack": asyncio.Lock(), "merge queue": asyncio.Lock()}

    def arm_slack(self, fault: SlackFault) -> None:
        waiting = [one for one in self.slack.faults.listing()["faults"] if one["times"] > 0]
        if len(waiting) < WAITING_FAULTS:
            wanted = fault.body()
            del wanted["hits"]
            self.slack.faults.arm(wanted)

    def arm_service(self, fault: ServiceFault) -> None:
        waiting = [one for one in self._armed if one.times is not None and one.hits < one.times]
        if len(waiting) < WAITING_FAULTS:
            self.service.faults.arm(fault)
            self._armed.append(fault)

    async def outage(self, outage: Outage) -> None:
        """Stop listening, then come back on the same port with the same state."""
        server = self.slack if outage.service == "slack" else self.service
        address = self.slack.url if outage.service == "slack" else self.service.base_url
        port = urlsplit(address).port
        assert port is not None
        async with self._turns[outage.service]:
            await server.stop()
            try:
                await asyncio.sleep(outage.seconds)
            finally:
                await server.start(port=port)
                self.came_back.append(time.time())
            self._struck[f"{outage.service} outage"] += 1

    def off(self) -> None:
        """Disarm all faults."""
        for fault in self.slack.faults.listing()["faults"]:
            self._struck[f"slack {fault['name']}"] += fault["hits"]
        self.slack.faults.disarm()
        self.service.faults.disarm()

    def struck(self) -> Counter[str]:
        """How often each kind of fault struck a request or a connection."""
        found = Counter(self._struck)
        for armed in self._armed:
            found[f"service {armed.kind}"] += armed.hits
        return +found
