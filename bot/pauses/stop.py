"""What stops merging: a pause, or freezes of one repository."""

from dataclasses import dataclass
from datetime import datetime

from bot.acts.record import AuditRecord
from bot.pauses.pause import PauseRecord


@dataclass(frozen=True, slots=True)
class Stop:
    """What stops merging: a pause, or freezes of one repository."""

    makers: frozenset[str | None]  #: Slack ids; None for somebody outside this bot
    by: str | None  #: the name of the first of them, if known
    reason: str
    since: datetime | None
    pause: PauseRecord | None = None
    subject: str = ""  #: which freezes, in the words that both people's acts have

    def is_of(self, asked: AuditRecord) -> bool:
        """Whether it is what an earlier act was about."""
        if self.pause is not None:
            is_its_time = self.pause.is_of(asked.previous.paused_at)
            return is_its_time and asked.previous.reason == self.reason
        return asked.confirmation is not None and asked.confirmation.subject == self.subject


def stop_by_pause(pause: PauseRecord) -> Stop:
    makers = frozenset({pause.pauser})
    return Stop(makers, pause.by_name, pause.line.reason, pause.line.paused_at, pause)
