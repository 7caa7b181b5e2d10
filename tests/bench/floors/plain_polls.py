"""One httpx client that asks for an empty page, 8 requests in flight, connections kept."""

import asyncio
import os
import time
from collections.abc import Mapping

import httpx

from tests.bench.contestant import attend

IN_FLIGHT = 8
QUERY = (
    "received_from=2026-07-20T12%3A00%3A00.000000%2B00%3A00"
    "&received_to=2026-07-20T13%3A00%3A00.000000%2B00%3A00&per_page=100"
    "&event_type=action.queue.enter&event_type=action.queue.leave&event_type=action.queue.merged"
    "&event_type=queue.pause.create&event_type=queue.pause.delete&event_type=queue.pause.update"
)


async def main() -> None:
    base = f"{os.environ['BENCH_SERVICE']}/repos"
    limits = httpx.Limits(max_connections=IN_FLIGHT, keepalive_expiry=90)
    headers = {"Authorization": "Bearer bench-token", "Accept": "application/json"}
    verify = httpx.create_ssl_context()
    async with httpx.AsyncClient(
        limits=limits, headers=headers, verify=verify, trust_env=False
    ) as client:

        async def ask(numbers: range) -> None:
            for number in numbers:
                answer = await client.get(f"{base}/acme/r{number}/logs?{QUERY}")
                assert answer.json()["events"] == []

        async def play(amount: int) -> Mapping[str, float]:
            begun = time.process_time()
            await asyncio.gather(*(ask(range(k, amount, IN_FLIGHT)) for k in range(IN_FLIGHT)))
            return {"cpu": time.process_time() - begun}

        await attend(play)


if __name__ == "__main__":
    asyncio.run(main())
