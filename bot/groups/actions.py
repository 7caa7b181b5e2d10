"""The buttons of what a machine proposes; their value is the proposal's record."""

APPROVE = "mq:approve"
REFUSE = "mq:refuse"
