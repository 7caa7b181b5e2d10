"""The lines of a report on the installation, and how their sentences are made."""

from dataclasses import dataclass
from datetime import timedelta

from bot.domain.inspection import Area, CheckResult, CheckStatus


@dataclass(frozen=True, slots=True)
class Report:
    """Makes the check results of one area."""

    area: Area

    def ok(self, subject: str, sentence: str) -> CheckResult:
        return CheckResult(self.area, subject, CheckStatus.OK, sentence)

    def problem(self, subject: str, sentence: str, fix: str) -> CheckResult:
        return CheckResult(self.area, subject, CheckStatus.WRONG, sentence, fix)

    def warning(self, subject: str, sentence: str, fix: str) -> CheckResult:
        return CheckResult(self.area, subject, CheckStatus.WARNING, sentence, fix)

    def unknown(self, subject: str, sentence: str, fix: str | None = None) -> CheckResult:
        return CheckResult(self.area, subject, CheckStatus.UNKNOWN, sentence, fix)


CONFIGURATION, DATABASE, DELIVERIES, MERGE_QUEUE, SLACK, CHANNEL, CLOCK = map(Report, Area)


def no_time(area: Area, subject: str, seconds: float) -> CheckResult:
    return Report(area).unknown(
        subject,
        f"No result within {seconds:g} seconds.",
        "Look at what is wrong above first, then check again.",
    )


def defect(area: Area, subject: str, error: Exception) -> CheckResult:
    return Report(area).problem(
        subject,
        f"The check itself failed ({type(error).__name__}).",
        "Report this; with MQBOT_LOG_LEVEL=DEBUG the check says more.",
    )


def as_sentence(text: str) -> str:
    text = " ".join(text.split())[:300]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def age_of(age: timedelta) -> str:
    seconds = max(0, round(age.total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
