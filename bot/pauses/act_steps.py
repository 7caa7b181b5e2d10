"""The steps of an act on a pause: stored, sent, and answered or not."""

from dataclasses import replace
from datetime import datetime

from bot.pauses.known import ActCertainty, Known, PauseAct, Reading
from bot.pauses.observe import observe


def begun(known: Known, act: PauseAct) -> Known:
    """The act is stored before its request; until its end, other readings wait."""
    return replace(known, acts=(*known.acts, act), acting=act.act_id).revised


def answered(known: Known, act_id: int, answer: Reading, revision: int) -> Known:
    """The service carried out the act, and said how the queue is now.

    `revision`: that of `known` when the request left.
    """
    act = replace(known.act(act_id), answered=answer.shown)
    known = observe(known.with_act(act), answer, revision, answer_to=act_id).known
    if answer.shown is None:
        known = _with_named_end(known, act)
    return _with_end(known, act, ActCertainty.DONE, answer.at)


def unanswered(known: Known, act_id: int, read: Reading | None, revision: int) -> Known:
    """The answer was lost, so the act stays open until something proves it.

    `read`: what the service said afterwards, which may prove it; None if it said nothing.
    `revision`: that of `known` when the request left.
    """
    if read is not None:
        known = observe(known, read, revision, is_own=True).known
    act = known.act(act_id)
    return _with_end(known, act, act.state, None)


def not_done(known: Known, act_id: int) -> Known:
    """The service refused, or there was nothing to do."""
    return _with_end(known, known.act(act_id), ActCertainty.NOT_DONE, None)


def _with_end(known: Known, act: PauseAct, state: ActCertainty, at: datetime | None) -> Known:
    # What the log has told of it meanwhile stays.
    ended = replace(known.act(act.act_id), state=state, answered=act.answered, answered_at=at)
    acting = None if known.acting == act.act_id else known.acting
    return replace(known.with_act(ended), acting=acting).revised


def _with_named_end(known: Known, act: PauseAct) -> Known:
    """What is known once the end that another reading showed first has its person."""
    pause = known.last
    if pause is None or pause.end is None or pause.end.is_named or pause.end.by is not None:
        return known
    if act.read is None or not any(line.shows(act.read) for line in pause.lines):
        return known
    end = replace(pause.end, by=act.actor)
    return known.with_pause(len(known.pauses) - 1, replace(pause, end=end))
