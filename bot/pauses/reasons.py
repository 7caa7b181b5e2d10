"""Why a pause was ended, and what a rule acted on, by the acts on record."""

from bot.acts.causes import act_with_reason, possibly_done
from bot.acts.record import Action, Evidence
from bot.acts.rows import Audit
from bot.pauses.by_rule import AUTO_PAUSE
from bot.pauses.pause import NEAR, PauseRecord
from bot.store.transaction import Transaction


def reason_of_end(transaction: Transaction, pause: PauseRecord) -> str | None:
    """Why the person resumed the queue, if they said so."""
    if pause.ended_at is None:
        return None
    acts = Audit(transaction).since(pause.repository, pause.ended_at - NEAR)
    resumed = [
        act
        for act in possibly_done(acts)
        if act.action is Action.RESUME
        and act.actor == pause.ended_by
        and pause.is_of(act.previous.paused_at)
    ]
    return resumed[-1].reason if resumed else None


def evidence_of(transaction: Transaction, pause: PauseRecord) -> Evidence | None:
    """What the rule acted on that made the pause; None if a person made it."""
    if pause.pauser != AUTO_PAUSE.user_id:
        return None
    acts = Audit(transaction).since(pause.repository, pause.line.paused_at - NEAR)
    act = act_with_reason(acts, Action.PAUSE, pause.line.stored_reason)
    return act.evidence if act is not None else None
