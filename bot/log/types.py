"""Types of events about freezes."""

FREEZE_CREATE = "scheduled_freeze.create"


FREEZE_UPDATE = "scheduled_freeze.update"


FREEZE_DELETE = "scheduled_freeze.delete"


FREEZE_TYPES = (FREEZE_CREATE, FREEZE_DELETE, FREEZE_UPDATE)
