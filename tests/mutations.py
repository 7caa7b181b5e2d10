"""`python -m tests.mutations`: break each of the most important decisions, and see a test fail.

Each mutation changes one line of a copy of the program; the tests that stand for the decision run
against that copy. Exit code 1 when they pass all the same. `tests/unit/test_mutations.py` holds
that every line is still there to be changed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
COPIED = ("bot", "tests", "pyproject.toml", "manifest.yml")
SECONDS = 600
_FIRST_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mutation:
    """`old` stands once in `file`; `tests` are arguments of pytest."""

    decision: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, text: str) -> str:
        """Raises ValueError unless there is exactly one place to change."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file}: {self.old!r} stands there {text.count(self.old)} times")
        return text.replace(self.old, self.new)


BY_RULE = ("tests/unit/usecases/polling/test_pause_by_rule.py",)

MUTATIONS = (
    Mutation(
        "once",
        "bot/usecases/posting/send.py",
        "return await self._look_up(delivery, claim)",
        "pass",
        ("tests/unit/usecases/posting/test_post_deliveries.py",),
    ),
    Mutation(
        "order",
        "bot/store/channel_queues.py",
        ".order_by(deliveries.c.sequence)",
        ".order_by(deliveries.c.sequence.desc())",
        ("tests/contract/store/test_outbox_order.py",),
    ),
    Mutation(
        "timer compare",
        "bot/usecases/pausing/resume_queue.py",
        "if not _is_expected(known, expected, saying):",
        "if False:",
        ("tests/unit/usecases/pausing/test_timers.py",),
    ),
    Mutation(
        "permission",
        "bot/domain/permissions.py",
        "(person.is_guest, Denied(DenialReason.GUEST))",
        "(False, Denied(DenialReason.GUEST))",
        ("tests/unit/domain/test_permissions.py",),
    ),
    Mutation(
        "classification",
        "bot/domain/classification.py",
        "return EventKind.FAILURE",
        "return EventKind.DEQUEUE",
        ("tests/unit/domain/test_classification.py",),
    ),
    Mutation(
        "watermark",
        "bot/domain/event_log.py",
        "newest = min(newest, walk.window.received_to - CLOCK_ALLOWANCE)",
        "newest = max(newest, walk.window.received_to - CLOCK_ALLOWANCE)",
        ("tests/unit/domain/test_event_log.py",),
    ),
    Mutation(
        "fencing",
        "bot/store/coordination.py",
        "raise LeaseLost(lease.name)",
        "return",
        ("tests/contract/store/test_leases.py",),
    ),
    Mutation(
        "signature",
        "bot/slack/app.py",
        "return self._verifier.is_valid(req.raw_body, timestamp, signature)",
        "return True",
        ("tests/integration/test_http_mode.py",),
    ),
    Mutation(
        "escaping",
        "bot/messages/text.py",
        '.replace("<", "&lt;")',
        "",
        ("tests/properties/test_text.py",),
    ),
    Mutation(
        "pace",
        "bot/domain/pacing.py",
        "if tokens >= 1:",
        "if tokens >= 0:",
        ("tests/unit/domain/test_pacing.py",),
    ),
    Mutation(
        "rule: hour",
        "bot/domain/auto_pause.py",
        " and not was_tried",
        "",
        BY_RULE,
    ),
    Mutation(
        "rule: known pause",
        "bot/domain/auto_pause.py",
        "not any(one.is_open for one in pauses) and ",
        "",
        BY_RULE,
    ),
    Mutation(
        "rule: any pause",
        "bot/usecases/pausing/pause_queue.py",
        "if current is not None:",
        "if False:",
        BY_RULE,
    ),
    Mutation(
        "rule: resumed",
        "bot/domain/auto_pause.py",
        "return max([now - LOOKBACK, *(one + max(clock_ahead, timedelta()) for one in ends)])",
        "return now - LOOKBACK",
        BY_RULE,
    ),
)


def copy_program(folder: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)


def run_tests(folder: Path, tests: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """With the program of that folder, whatever is installed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, *tests],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def killer(mutation: Mutation, folder: Path) -> str | None:
    """The first test that fails of the mutated program; None when all pass."""
    changed = folder / mutation.file
    before = changed.read_text()
    changed.write_text(mutation.applied(before))
    try:
        done = run_tests(folder, mutation.tests)
    finally:
        changed.write_text(before)
    failed = _FIRST_FAILED.search(done.stdout)
    if done.returncode == 1 and failed is not None:
        return failed.group(1)
    if done.returncode:
        sys.exit(f"{mutation.decision}: the tests did not run\n{done.stdout}{done.stderr}")
    return None


def main() -> int:
    survived = 0
    with tempfile.TemporaryDirectory(prefix="mqbot-mutations-") as name:
        folder = Path(name)
        copy_program(folder)
        unchanged = run_tests(folder, tuple(sorted({one for m in MUTATIONS for one in m.tests})))
        if unchanged.returncode:
            print(unchanged.stdout)
            return 1
        for mutation in MUTATIONS:
            by = killer(mutation, folder)
            survived += by is None
            print(f"{mutation.decision:<16} {mutation.file:<40} {by or 'SURVIVED'}", flush=True)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
