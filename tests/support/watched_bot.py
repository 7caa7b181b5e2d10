"""The health port of a bot, as seen by a scraper."""

from dataclasses import dataclass, field
from typing import Any

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from tests.support.bot_tester import BotTester
from tests.support.waiting import until_true


@dataclass
class WatchedBot:
    """Asks a bot's health port over HTTP: the one `opened` last, or `at` a port."""

    bot: BotTester
    opened: int = -1
    at: int | None = None
    timeout: aiohttp.ClientTimeout = field(default_factory=lambda: aiohttp.ClientTimeout(total=15))

    @property
    def port(self) -> int:
        if self.at is not None:
            return self.at
        opened = [
            record.__dict__["port"]
            for record in self.bot.log.records
            if record.__dict__.get("action") == "health_open"
        ]
        assert opened, "no health port was opened"
        port: int = opened[self.opened]
        return port

    async def get(self, path: str) -> tuple[int, str]:
        url = f"http://127.0.0.1:{self.port}{path}"
        async with aiohttp.ClientSession(timeout=self.timeout) as session, session.get(url) as got:
            return got.status, await got.text()

    async def readiness(self) -> tuple[int, dict[str, Any]]:
        url = f"http://127.0.0.1:{self.port}/readyz"
        async with aiohttp.ClientSession(timeout=self.timeout) as session, session.get(url) as got:
            return got.status, await got.json()

    async def problems(self) -> dict[str, str]:
        found: dict[str, str] = (await self.readiness())[1]["problems"]
        return found

    async def until_problem(self, name: str) -> None:
        async def look() -> bool:
            return name in await self.problems()

        await until_true(look, f"“{name}” among the problems")

    async def until_ready(self) -> None:
        async def look() -> bool:
            return not await self.problems()

        await until_true(look, "readiness")

    async def families(self) -> set[str]:
        """The names of all metrics, as an expression would name them."""
        _, text = await self.get("/metrics")
        return family_names(text)

    async def value(self, name: str, **labels: str) -> float | None:
        _, text = await self.get("/metrics")
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name == name and sample.labels == labels:
                    return sample.value
        return None


def family_names(text: str) -> set[str]:
    """Of a scrape: every name a query may use, with or without samples yet."""
    names: set[str] = set()
    for family in text_string_to_metric_families(text):
        names.add(family.name)
        if family.type == "counter":
            names.add(f"{family.name}_total")
        if family.type == "histogram":
            names.update(f"{family.name}_{end}" for end in ("bucket", "sum", "count"))
        names.update(sample.name for sample in family.samples)
    return names


def sample_labels(text: str) -> dict[str, set[str]]:
    """Of a scrape: the labels of every name that has samples."""
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return labels
