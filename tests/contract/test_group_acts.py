"""A group action with the service's client on the sandbox."""

from collections.abc import Sequence

from pydantic import SecretStr

from bot.acts.group_act import CHANGES, GroupAct, GroupOutcome, RepositoryResult
from bot.acts.group_acts import GroupActs
from bot.freezes.freezing import FreezeQueue
from bot.groups.acting import ActOnGroups
from bot.kernel.pacing import Patience
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import Http
from bot.pauses.group_pauses import with_recorded
from bot.pauses.group_work import GroupWork
from bot.pauses.pausing import PauseQueue
from bot.pauses.resuming import ResumeQueue
from bot.runtime.clock import SystemClock
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from tests.support.acting_groups import ActingOnGroups
from tests.support.transactions import begin

SECONDS = 8.0
"""The timeout of one request; the service hangs far longer."""


async def test_a_hanging_repository_delays_and_fails_only_itself() -> None:
    bot = ActingOnGroups(count=40)
    hanging, *others = bot.names
    sandbox = MergeQueueSandbox(repositories=dict.fromkeys(bot.names, "quiet"), token="key")
    await sandbox.start()
    sandbox.faults.arm(Fault("slow", path=f"/{hanging}/", times=None, seconds=3600))
    http = Http(
        base_url=sandbox.base_url,
        token=SecretStr("key"),
        clock=SystemClock(),
        patience=Patience(SECONDS, SECONDS, SECONDS, read_back=0.2, attempts=1),
    )
    reported: list[int] = []
    shown_at_last: list[RepositoryResult] = []

    async def report(act: GroupAct, done: int) -> None:
        reported.append(done)
        if done == len(act.repositories):
            shown_at_last.extend(stored_results(bot))

    try:
        async with MergeQueueClient(http) as client:
            queues = PauseQueue(client, bot.acts), ResumeQueue(client, bot.acts)
            freezing = FreezeQueue(client, bot.acts)
            groups = ActOnGroups(*queues, freezing, GroupWork(bot.acts, progress_seconds=0.01))
            act = await groups.act(bot.request("freeze"), report)
    finally:
        await sandbox.stop()

    assert reported == list(range(1, 41))
    # All that was shown before the one that hangs was given up.
    changed = dict.fromkeys(others, GroupOutcome.CHANGED)
    assert {result.repository: result.outcome for result in shown_at_last} == changed
    assert isinstance(act, GroupAct)
    outcomes = {result.repository: result.outcome for result in act.results}
    assert outcomes == {hanging: GroupOutcome.FAILED, **changed}
    assert act.ended_at is not None


def stored_results(bot: ActingOnGroups) -> Sequence[RepositoryResult]:
    with begin(bot.store) as transaction:
        stored = GroupActs(transaction).latest(bot.group.name, CHANGES)
        assert stored is not None
        assert stored.ended_at is None
        return with_recorded(transaction, stored).results
