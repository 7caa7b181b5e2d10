"""The lines of a report on the installation, and how their sentences are made."""

from datetime import timedelta

from bot.domain.inspection import Area, Finding, Standing


def ok(area: Area, subject: str, sentence: str) -> Finding:
    return Finding(area, subject, Standing.OK, sentence)


def wrong(area: Area, subject: str, sentence: str, mend: str) -> Finding:
    return Finding(area, subject, Standing.WRONG, sentence, mend)


def warning(area: Area, subject: str, sentence: str, mend: str) -> Finding:
    return Finding(area, subject, Standing.WARNING, sentence, mend)


def unknown(area: Area, subject: str, sentence: str, mend: str | None = None) -> Finding:
    return Finding(area, subject, Standing.UNKNOWN, sentence, mend)


def no_time(area: Area, subject: str, seconds: float) -> Finding:
    return unknown(
        area,
        subject,
        f"No result within {seconds:g} seconds.",
        "Look at what is wrong above first, then check again.",
    )


def defect(area: Area, subject: str, error: Exception) -> Finding:
    return wrong(
        area,
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
