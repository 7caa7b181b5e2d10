"""A diagnosis as plain text for the service's support, with ids of batches and events."""

import re
from datetime import UTC, datetime
from html import unescape

from bot.blocks import blocks
from bot.blocks.message import Message
from bot.blocks.text import clean, escape, without_markup
from bot.doctor.diagnosis import Diagnosis
from bot.doctor.texts.causes import cause_headline, told
from bot.doctor.texts.evidence import how_it_stands
from bot.doctor.texts.parts import NUMBERS_NAMED

BATCHES_LISTED = 5
EVENTS_LISTED = 10
ID_LIMIT = 60
SUPPORT_LIMIT = 2_800


def support(diagnosis: Diagnosis) -> str:
    """The same as plain text for the service's support, with ids of batches and events."""
    facts = diagnosis.facts
    lines = [_plain(cause_headline(diagnosis)), f"At: {_exact(diagnosis.at)}"]
    for finding in diagnosis.findings:
        said = told(finding, diagnosis)
        lines += [f"- {_plain(sentence)}" for sentence in said.evidence if sentence]
    lines.append(f"- {_plain(how_it_stands(diagnosis))}")
    if facts.status is not None:
        for batch in facts.status.batches[:BATCHES_LISTED]:
            members = ", ".join(f"#{member.number}" for member in batch.members[:NUMBERS_NAMED])
            started = _exact(batch.started_at) if batch.started_at is not None else "not started"
            summary = batch.checks_summary
            lines.append(
                f"Batch {clean(batch.id, ID_LIMIT)}: {clean(batch.status.code, ID_LIMIT)}, "
                f"{started}, {summary.passed}/{summary.total} checks, {members}"
            )
    newest = sorted(
        (event for events in facts.log.events.values() for event in events[-EVENTS_LISTED:]),
        key=lambda event: (event.received_at, event.event_id),
    )
    for event in newest[-EVENTS_LISTED:]:
        about = [
            f"Event {event.event_id}: {_exact(event.received_at)}",
            clean(event.type, ID_LIMIT),
            f"#{event.pull_request}" if event.pull_request is not None else "",
            clean(event.details.code or "", ID_LIMIT),
            clean(event.details.batch or "", ID_LIMIT),
        ]
        lines.append(" ".join(filter(None, about)))
    return "\n".join(lines)


_SLACK_TIME = re.compile(r"<!date\^(\d+)\^[^>]*>")


def _plain(text: str) -> str:
    """Without markup, with exact times: the reader's zone isn't known."""
    return unescape(without_markup(_SLACK_TIME.sub(_in_figures, text)))


def _in_figures(time: re.Match[str]) -> str:
    return _exact(datetime.fromtimestamp(int(time[1]), UTC))


def _exact(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


def for_support(diagnosis: Diagnosis) -> Message:
    """What to copy and send; only the person who asked sees it."""
    plain = escape(support(diagnosis)).replace("`", "'")
    head = f"*{escape(diagnosis.facts.repository)}: copy this for the service's support*"
    return blocks.message(
        blocks.section(head), blocks.section(f"```\n{plain[:SUPPORT_LIMIT]}\n```")
    )
