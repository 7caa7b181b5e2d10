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


READINGS = ("tests/properties/test_pause_readings.py",)
WITNESS = ("tests/properties/test_pause_witness.py",)
EVENTS_OF_PAUSES = ("tests/unit/domain/test_events_of_pauses.py",)
BY_RULE = ("tests/unit/usecases/polling/test_pause_by_rule.py",)

PERMISSION = ("tests/unit/domain/test_permissions.py",)
TYPED = ("tests/unit/domain/test_typed_names.py", "tests/unit/domain/test_commands.py")
UNDERSTOOD = ("tests/unit/domain/test_understanding.py",)

OBSERVE = "bot/pauses/observe.py"
PLACE = "bot/pauses/place.py"
ROWS_READ = "bot/pauses/readings.py"
ACT_STEPS = "bot/pauses/act_steps.py"
CHANGING = "bot/pauses/changing.py"

MUTATIONS = (
    Mutation(
        "once",
        "bot/posts/send.py",
        "return await self._look_up(delivery, claim)",
        "pass",
        ("tests/unit/usecases/posting/test_post_deliveries.py",),
    ),
    Mutation(
        "order",
        "bot/posts/channel_queues.py",
        ".order_by(deliveries.c.sequence)",
        ".order_by(deliveries.c.sequence.desc())",
        ("tests/contract/store/test_outbox_order.py",),
    ),
    Mutation(
        "timer compare",
        "bot/pauses/resuming.py",
        "is_another = expected is not None and not known.says_still(expected)",
        "is_another = False",
        ("tests/unit/usecases/pausing/test_timers.py",),
    ),
    Mutation(
        "drawn line",
        "bot/pauses/pause.py",
        "return not drawn.reason or drawn.reason == self.drawn.reason",
        "return True",
        ("tests/unit/usecases/pausing/test_drawn_for_a_line.py",),
    ),
    Mutation(
        "second: a line",
        "bot/pauses/stop.py",
        "return is_its_time and asked.previous.reason == self.reason",
        "return is_its_time",
        ("tests/unit/usecases/pausing/test_second_person.py",),
    ),
    Mutation(
        "lost answer",
        ACT_STEPS,
        "known = observe(known, read, revision, is_own=True).known",
        "pass",
        ("tests/unit/usecases/pausing/test_pausing.py",),
    ),
    Mutation(
        "lost answer: runs",
        "bot/pauses/resuming.py",
        "if status.paused:",
        "if False:",
        ("tests/unit/usecases/pausing/test_pausing.py",),
    ),
    Mutation(
        "unread pause",
        "bot/feed/store_events.py",
        "poll.state.events.pause_wanted = True",
        "pass",
        ("tests/unit/usecases/pausing/test_pause_cards.py",),
    ),
    Mutation(
        "end not theirs",
        CHANGING,
        "notify_end_not_theirs(self.transaction, record.timer, changed, self.now)",
        "pass",
        ("tests/unit/usecases/pausing/test_pause_cards.py",),
    ),
    Mutation(
        "permission",
        "bot/slack/person.py",
        "if person.guest is Guest.YES:",
        "if False:",
        ("tests/unit/domain/test_permissions.py",),
    ),
    Mutation(
        "classification",
        "bot/log/classification.py",
        "return EventKind.FAILURE",
        "return EventKind.DEQUEUE",
        ("tests/unit/domain/test_classification.py",),
    ),
    Mutation(
        "watermark",
        "bot/feed/walk.py",
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
        "one poller",
        "bot/store/coordination.py",
        '~_IS_IN_FORCE, holder=bindparam("by")',
        'leases.c.token >= 0, holder=bindparam("by")',
        ("tests/unit/usecases/polling/test_one_polls.py",),
    ),
    Mutation(
        "the poller's token",
        "bot/feed/poll_repositories.py",
        "Leases(transaction).require(lease, now)",
        "_ = lease",
        ("tests/unit/usecases/polling/test_one_polls.py",),
    ),
    Mutation(
        "lease kept",
        "bot/feed/poll_repositories.py",
        "lease.expires_at - now >= RENEWED_BEFORE",
        "lease.expires_at - now >= timedelta()",
        ("tests/unit/usecases/polling/test_one_polls.py",),
    ),
    Mutation(
        "signature",
        "bot/slack/http.py",
        "if verifier.is_valid(body, signed.timestamp, signed.signature):",
        "if verifier:",
        ("tests/integration/test_http_mode.py",),
    ),
    Mutation(
        "escaping",
        "bot/blocks/text.py",
        '.replace("<", "&lt;")',
        "",
        ("tests/properties/test_text.py",),
    ),
    Mutation(
        "pace",
        "bot/kernel/pacing.py",
        "if tokens >= 1:",
        "if tokens >= 0:",
        ("tests/unit/domain/test_pacing.py",),
    ),
    Mutation(
        "rule: hour",
        "bot/pauses/by_rule.py",
        " and not has_paused",
        "",
        BY_RULE,
    ),
    Mutation(
        "rule: known pause",
        "bot/pauses/by_rule.py",
        "not any(pause.is_open for pause in pauses) and ",
        "",
        BY_RULE,
    ),
    Mutation(
        "rule: any pause",
        "bot/pauses/pausing.py",
        "if current is not None:",
        "if False:",
        BY_RULE,
    ),
    Mutation(
        "rule: resumed",
        "bot/pauses/by_rule.py",
        "return max([now - FAILURES_LOOKBACK, "
        "*(end + max(clock_ahead, timedelta()) for end in ends)])",
        "return now - FAILURES_LOOKBACK",
        BY_RULE,
    ),
    Mutation(
        "pause: revision",
        OBSERVE,
        "if revision != known.revision:",
        "if False:",
        WITNESS,
    ),
    Mutation(
        "pause: under way",
        OBSERVE,
        "if known.acting is not None and not is_of_act:",
        "if False:",
        WITNESS,
    ),
    Mutation(
        "pause: order",
        OBSERVE,
        "if is_older and reading.at - pause.seen_at < STALE_ANSWER:",
        "if False:",
        WITNESS,
    ),
    Mutation(
        "pause: stale",
        OBSERVE,
        "return reading.at - pause.end.seen_at < STALE_ANSWER",
        "return False",
        WITNESS,
    ),
    Mutation(
        "pause: young",
        OBSERVE,
        "if is_agreed and reading.at - pause.seen_at >= STALE_ANSWER:",
        "if is_agreed:",
        WITNESS,
    ),
    Mutation(
        "pause: status",
        OBSERVE,
        "if reading.status is StatusSays.PAUSED:",
        "if False:",
        WITNESS,
    ),
    Mutation(
        "pause: known line",
        OBSERVE,
        "if line.shows(shown):",
        "if False:",
        WITNESS,
    ),
    Mutation(
        "pause: told end",
        OBSERVE,
        "if pause.told_end is not None:",
        "if False:",
        WITNESS,
    ),
    Mutation(
        "pause: own event",
        PLACE,
        "if event.by is None or (event.is_ours and known is not None and not is_person(event.by)):",
        "if event.by is None:",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: early end",
        PLACE,
        "acts = [act for act in acts if act.began_at <= end.at] or acts",
        "acts = [act for act in acts if act.began_at <= end.at]",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: proof",
        OBSERVE,
        "if act.state is ActCertainty.OPEN or _is_told_only(known, act):",
        "if False:",
        WITNESS,
    ),
    Mutation(
        "pause: whole text",
        "bot/pauses/known.py",
        "return reason.split() == other.split()",
        "return reason in other",
        WITNESS,
    ),
    Mutation(
        "readings: revision",
        ROWS_READ,
        "stored.known.revision if revision is None else revision",
        "stored.known.revision",
        READINGS,
    ),
    Mutation(
        "readings: acting",
        ROWS_READ,
        "if not is_own and is_acted_upon(transaction, repository, now):",
        "if False:",
        READINGS,
    ),
    Mutation(
        "readings: missing",
        CHANGING,
        "Pauses(self.transaction).save(replace(record, missing_since=missing_since))",
        "pass",
        READINGS,
    ),
    Mutation(
        "pause: waits",
        PLACE,
        "return replace(known, waiting=(*known.waiting, event))",
        "return known",
        WITNESS,
    ),
    Mutation(
        "pause: resumed by",
        PLACE,
        "if act.state is ActCertainty.OPEN and act.read is not None:",
        "if False:",
        WITNESS,
    ),
    Mutation(
        "pause: its line",
        PLACE,
        "return is_first is not is_create, apart",
        "return False, apart",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: nearest",
        PLACE,
        "return is_first is not is_create, apart",
        "return is_first is not is_create, timedelta()",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: named once",
        PLACE,
        "state=ActCertainty.DONE, is_named=True)",
        "state=ActCertainty.DONE)",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: answered",
        PLACE,
        "(ActCertainty.DONE, ActCertainty.OPEN):",
        "(ActCertainty.OPEN, ActCertainty.DONE):",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: its second",
        "bot/pauses/known.py",
        "return told_at if told_at < seen_at + DATE_PRECISION else seen_at",
        "return min(told_at, seen_at)",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: its end",
        PLACE,
        "ended_at = end_between(pause.end.at, event.at)",
        "ended_at = event.at",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: unseen",
        PLACE,
        "if events[0].at <= pause.first_line.paused_at < end.at:",
        "if False:",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: open last",
        PLACE,
        "key=lambda pause: (pause.is_open, pause.first_line.paused_at)",
        "key=lambda pause: pause.first_line.paused_at",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: own act",
        ACT_STEPS,
        "None if known.acting == act.act_id else known.acting",
        "None",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "pause: ended first",
        ACT_STEPS,
        "known = _with_named_end(known, act)",
        "pass",
        EVENTS_OF_PAUSES,
    ),
    Mutation(
        "permission: outside",
        "bot/slack/person.py",
        "is_home = is_claimed and not person.team_ids.isdisjoint(home_ids)",
        "is_home = is_claimed",
        PERMISSION,
    ),
    Mutation(
        "permission: claimed",
        "bot/slack/person.py",
        "is_claimed = claimed in home_ids or claimed in person.team_ids",
        "is_claimed = True",
        PERMISSION,
    ),
    Mutation(
        "permission: left",
        "bot/slack/person.py",
        "if person.is_deactivated:",
        "if False:",
        PERMISSION,
    ),
    Mutation(
        "permission: group",
        "bot/acts/permission.py",
        "elif user_id in found:",
        "elif found:",
        PERMISSION,
    ),
    Mutation(
        "permission: unsure",
        "bot/acts/permission.py",
        "if standing is not None or rule.names(user_id):",
        "if rule.names(user_id):",
        PERMISSION,
    ),
    Mutation(
        "typed: width",
        "bot/kernel/typed.py",
        'return unicodedata.normalize("NFKC", character)',
        "return character",
        TYPED,
    ),
    Mutation(
        "typed: unseen",
        "bot/kernel/typed.py",
        "if category in _UNSEEN_CATEGORIES:",
        "if False:",
        TYPED,
    ),
    Mutation(
        "queue: several",
        "bot/desk/situation.py",
        "return followed.pop() if len(followed) == 1 else None",
        "return followed.pop() if followed else None",
        UNDERSTOOD,
    ),
    Mutation(
        "queue: default",
        "bot/desk/situation.py",
        "if self.default in configured:",
        "if self.default is not None:",
        UNDERSTOOD,
    ),
    Mutation(
        "queue: readings",
        "bot/desk/understanding.py",
        "if value is None or meant != {value}:",
        "if value is None:",
        UNDERSTOOD,
    ),
    Mutation(
        "words: negation",
        "bot/desk/phrases.py",
        "if not said.words or said.plain & _NEGATIONS or _ends_some_pause(said.words):",
        "if not said.words or _ends_some_pause(said.words):",
        UNDERSTOOD,
    ),
    Mutation(
        "words: acts",
        "bot/desk/understanding.py",
        "if first is not None and first.right is not Right.READ:",
        "if False:",
        UNDERSTOOD,
    ),
    Mutation(
        "words: later",
        "bot/desk/readers/acts.py",
        "    _refuse_later(words, where)",
        "    pass",
        UNDERSTOOD,
    ),
    Mutation(
        "words: all well",
        "bot/desk/words.py",
        " or self._says_all_is_well()",
        "",
        UNDERSTOOD,
    ),
    Mutation(
        "words: its line",
        "bot/desk/understanding.py",
        'options = {**request.options, "expected": thread.pause}',
        "options = dict(request.options)",
        ("tests/e2e/test_understanding.py",),
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
        unchanged = run_tests(folder, tuple(sorted({test for m in MUTATIONS for test in m.tests})))
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
