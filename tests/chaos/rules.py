"""What the bot does by itself in a chaos run: a window each minute, and a pause after failures."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bot.sandbox.merge_queue.controls import SentEvent
from bot.sandbox.merge_queue.server import MergeQueueSandbox

WINDOWED = "acme/night"
FAILING = "acme/streak"
REPOSITORIES = (WINDOWED, FAILING)
"""No channel follows them: the service tells what was done."""

FAILURES = 3
TABLES = f"""
[MQBOT_WINDOW."minute"]
applies_to = "{WINDOWED}"
starts = "* * * * *"
lasts = "1m"
zone = "UTC"
reason = "Every minute"
announced = "1m"

[MQBOT_POLICY."{FAILING}"]
auto_pause_failures = {FAILURES}
"""


def write_settings(folder: Path) -> Path:
    """The file to name in MQBOT_CONFIG."""
    file = folder / "mqbot.toml"
    file.write_text(TABLES, "utf-8")
    file.chmod(0o600)
    return file


def fail(service: MergeQueueSandbox, pull_request: int) -> None:
    failed = [{"name": "unit tests", "description": "", "url": None, "state": "failure"}]
    metadata = {"merged": False, "dequeue_code": "CHECKS_FAILED", "unsuccessful_checks": failed}
    service.emit(FAILING, SentEvent("action.queue.leave", metadata, pull_request, "main"))


def findings(service: MergeQueueSandbox) -> Iterator[str]:
    """What was done twice, or not at all."""
    ends = Counter(
        _end_of(event.metadata)
        for event in service.events(WINDOWED)
        if event.type == "scheduled_freeze.create"
    )
    if not ends:
        yield "no window was held"
    yield from (f"{count} freezes until {end}" for end, count in ends.items() if count > 1)
    events = service.events(FAILING)
    pauses = [event for event in events if event.type == "queue.pause.create"]
    failed = [event for event in events if event.type == "action.queue.leave"]
    # At most one in an hour, which is longer than a run; none if its one request failed.
    if len(pauses) > int(len(failed) >= FAILURES):
        yield f"{len(pauses)} pauses after {len(failed)} failures in a row"


def _end_of(metadata: Mapping[str, Any]) -> str:
    """It identifies the occurrence; its freeze may begin late."""
    return str(metadata["scheduled_freeze_attributes"]["end"])
