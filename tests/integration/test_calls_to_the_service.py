"""The overhead of a request to the merge queue service."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from pydantic import SecretStr
from typing_extensions import override

from bot.kernel.repository import RepositoryName
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import Http
from bot.runtime.clock import SystemClock
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from tests.support.bot_tester import REPOSITORY

TOKEN = "queue-key"


class LookedFor(MetaPathFinder):
    """Finds no module, and keeps the names of those that others are to find."""

    def __init__(self) -> None:
        self.names: list[str] = []

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        self.names.append(fullname)
        return None


@contextmanager
def modules_looked_for() -> Iterator[list[str]]:
    finder = LookedFor()
    sys.meta_path.insert(0, finder)
    try:
        yield finder.names
    finally:
        sys.meta_path.remove(finder)


async def test_a_request_looks_for_no_module() -> None:
    """A module that isn't installed is looked for in all folders, each time."""
    service = MergeQueueSandbox(repositories={REPOSITORY: "quiet"}, token=TOKEN)
    await service.start()
    token = SecretStr(TOKEN)
    http = Http(base_url=service.base_url, token=token, clock=SystemClock())
    async with MergeQueueClient(http) as client:
        await client.status(RepositoryName(REPOSITORY))
        with modules_looked_for() as names:
            await client.status(RepositoryName(REPOSITORY))
    await service.stop()
    assert names == []
