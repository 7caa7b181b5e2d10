"""The answer to `why` without a number."""

from bot.blocks import blocks, controls
from bot.blocks.message import Block, Message
from bot.blocks.text import clock_time, cut_markup
from bot.doctor import actions as doctor_actions
from bot.doctor.diagnosis import Diagnosis, QueueVerdict
from bot.doctor.texts.causes import MARK, cause_headline, told
from bot.doctor.texts.evidence import how_it_stands, how_it_was_read
from bot.pauses.texts.card import resume_button
from bot.queues.texts.parts import pause_button

CAUSES_SHOWN = 3
EVIDENCE_LIMIT = 1500


def why_queue(diagnosis: Diagnosis) -> Message:
    """The answer to `why` without a number, for the caller only."""
    said = [told(finding, diagnosis) for finding in diagnosis.findings[:CAUSES_SHOWN]]
    shown = [blocks.section(f"{MARK} *{cause_headline(diagnosis)}*")]
    for place, cause in enumerate(said):
        also = f"*Also:* {cause.cause}." if place else ""
        evidence = " ".join(filter(None, [also, *cause.evidence]))
        who = f"*Who can act:* {cause.who}" if cause.who else ""
        shown += blocks.lines(
            [cut_markup(line, EVIDENCE_LIMIT) for line in (evidence, who) if line]
        )
    standing = how_it_stands(diagnosis)
    if standing:
        shown.append(blocks.section(standing))
    shown.append(blocks.context(how_it_was_read(diagnosis), f"Updated {clock_time(diagnosis.at)}"))
    shown.append(_next_steps(diagnosis))
    return blocks.message(*shown)


_FOR_PAUSE = {
    QueueVerdict.SAME_CHECK,
    QueueVerdict.MANY_CHECKS,
    QueueVerdict.START_LATE,
    QueueVerdict.NEVER_START,
    QueueVerdict.HANGS,
    QueueVerdict.RESTARTED,
}

_FOR_SUPPORT = {
    QueueVerdict.NO_ANSWER,
    QueueVerdict.NEVER_START,
    QueueVerdict.HANGS,
    QueueVerdict.DONE,
    QueueVerdict.UNKNOWN,
}


def _next_steps(diagnosis: Diagnosis) -> Block:
    repository = diagnosis.facts.repository
    value = f"why {repository}"
    verdicts = set(diagnosis.verdicts)
    pause = diagnosis.facts.pause
    shown = []
    if pause is not None:
        queued = diagnosis.seen.queued
        shown.append(
            resume_button(repository, pause.drawn, pause.line.reason, pause.by_name, queued)
        )
    elif verdicts & _FOR_PAUSE:
        shown.append(pause_button(repository))
    if verdicts & _FOR_SUPPORT:
        shown.append(
            blocks.button(
                "For the service's support", action_id=doctor_actions.SUPPORT, value=str(repository)
            )
        )
    shown.append(blocks.button("Refresh", action_id=controls.REFRESH, value=value))
    shown.append(blocks.button("Share in channel", action_id=controls.SHARE, value=value))
    return blocks.actions(shown)
