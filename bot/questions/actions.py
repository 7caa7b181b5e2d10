"""Names and values of the buttons under answers."""

from dataclasses import dataclass, replace
from typing import Self

from bot.acts.record import AuditPosition, AuditSelection
from bot.kernel.groups import Repositories

AUDIT_OLDER = "mq:audit_older"


AUDIT_NEWER = "mq:audit_newer"


LOG_OLDER = "mq:log_older"


LOG_NEWER = "mq:log_newer"


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """The value of *Older* and *Newer*: the selection, and the record at the page's edge."""

    selection: AuditSelection
    place: AuditPosition

    def known_in(self, repositories: Repositories) -> Self:
        return replace(self, selection=self.selection.known_in(repositories))
