"""How long: our estimate against the service's and last week's median, on a month of queue life."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from bot.log.queue_entries import PastEntry, past_entries
from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.merge_queue.event_types import LEAVE, MERGED
from bot.queues.estimate import Period, past_of
from bot.queues.outlook import ENDS_READ, LEARNED_FROM
from tests.bench.figures import Extent, Row
from tests.bench.queue_life import HABITS, WEEK, Asked, Habits, Life, moment, month
from tests.support.make import SITE

CLOSE = 0.25
MOST_AGAINST_NAIVE = 0.8


@dataclass(frozen=True, slots=True)
class Answers:
    """Minutes that one pull request still waited, and what each said before."""

    really: float
    ours: float | None
    service: float | None
    naive: float | None


@dataclass(frozen=True, slots=True)
class Score:
    """How good the answers of one are."""

    error: float  #: the median, in minutes
    close: float  #: the share within 25 %


async def rows(extent: Extent) -> Sequence[Row]:
    """The same at each run: nothing is measured with a clock."""
    found: list[Row] = []
    for habits in HABITS:
        found += _rows_of(habits, backtest(month(habits), every=extent.scaled(3, 12)))
    return found


def _rows_of(habits: Habits, answers: Sequence[Answers]) -> Iterator[Row]:
    of = f"time to the merge, {habits.name} queue"
    error = f"{of}: median error"
    ours = score(answers, _by_us)
    naive = score(answers, _naively)
    service = score(answers, _by_service)
    last_week = f"{error}, beside last week's median"
    against = ours.error / naive.error
    yield Row(last_week, "min", ours.error, naive.error, against, MOST_AGAINST_NAIVE)
    beside = ours.error / service.error
    yield Row(f"{error}, beside the service's", "min", ours.error, service.error, beside, None)
    close = f"{of}: estimates within 25 %, beside the service's"
    beside = ours.close / service.close
    yield Row(close, "%", 100 * ours.close, 100 * service.close, beside, None)
    share = answered(answers)
    yield Row(f"{of}: questions that we answer", "%", 100 * share, None, share, None)


def backtest(life: Life, *, every: int = 1) -> Sequence[Answers]:
    """Each time somebody asked, what was said from what was known then, and what happened.

    Asked is after the first week, of pull requests that merged, while nothing held the queue.
    """
    past = past_entries(records_of(life))
    held = [
        Period(moment(period.begin), moment(period.end)) for period in (*life.pauses, *life.freezes)
    ]
    asked = [
        question
        for question in life.asked
        if question.entry.has_merged and question.at > WEEK and not life.is_held(question.at)
    ]
    return [_answers(question, past, held) for question in asked[::every]]


def records_of(life: Life) -> Iterator[EventRecord]:
    """What the service's log says of it."""
    for number, entry in enumerate(life.entries):
        if entry.left is None:
            continue
        code = "PR_MERGED" if entry.has_merged else "CHECKS_FAILED"
        queued_at = moment(entry.entered)
        details = EventDetails(queued_at=queued_at, merged=entry.has_merged, code=code)
        of_entry = (entry.number, "main", f"entry {number}", details)
        left_at = moment(entry.left)
        yield EventRecord(SITE, 2 * number, left_at, LEAVE, *of_entry)
        if entry.has_merged:
            yield EventRecord(SITE, 2 * number + 1, left_at, MERGED, *of_entry)


def _answers(question: Asked, past: Sequence[PastEntry], held: Sequence[Period]) -> Answers:
    at = moment(question.at)
    entered_at = moment(question.entry.entered)
    ended = bisect_right(past, at, key=_end)
    since = max(ended - ENDS_READ, bisect_left(past, at - LEARNED_FROM, key=_end))
    known = past_of(past[since:ended], held, None)
    ours = known.estimate(question.ahead, entered_at, at)

    last_week = past[bisect_left(past, at - timedelta(days=7), key=_end) : ended]
    times = [_minutes(entry.left_at - entry.entered_at) for entry in last_week if entry.has_merged]
    naive = max(median(times) - _minutes(at - entered_at), 1.0) if times else None
    return Answers(
        (question.entry.left or 0) - question.at,
        _minutes(ours.remaining) if ours is not None else None,
        question.by_service,
        naive,
    )


def _minutes(length: timedelta) -> float:
    return length / timedelta(minutes=1)


def _end(entry: PastEntry) -> datetime:
    return entry.left_at


def score(answers: Sequence[Answers], by: Callable[[Answers], float | None]) -> Score:
    """Counted are the questions that all could answer."""
    errors: list[float] = []
    close = 0
    for answer in _by_all(answers):
        error = abs((by(answer) or 0) - answer.really)
        errors.append(error)
        close += error <= CLOSE * answer.really
    return Score(median(errors), close / len(errors))


def answered(answers: Sequence[Answers]) -> float:
    return len(_by_all(answers)) / len(answers)


def _by_all(answers: Sequence[Answers]) -> Sequence[Answers]:
    return [answer for answer in answers if None not in (answer.ours, answer.service, answer.naive)]


def _by_us(answer: Answers) -> float | None:
    return answer.ours


def _by_service(answer: Answers) -> float | None:
    return answer.service


def _naively(answer: Answers) -> float | None:
    return answer.naive
