"""Which acts of a machine take a person's approval: it proposes them, and people approve."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from bot.acts.record import Action


@dataclass(frozen=True, slots=True)
class Approval:
    """What the settings rule about one machine."""

    acts: frozenset[Action]  #: what it only proposes
    lasts: timedelta  #: how long a proposal stays open
    most_open: int  #: how many proposals of it may be open at a time
    #: the Slack ids of the people who run it: where the policy asks for a second person, somebody
    #: else approves
    run_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ApprovalRules:
    """What the settings rule about the machines that only propose."""

    machines: Mapping[str, Approval] = field(default_factory=dict)  #: by the machine's id

    def needed(self, user_id: str, action: Action) -> Approval | None:
        """What holds for that act of the machine; None if it acts by itself."""
        approval = self.machines.get(user_id)
        return approval if approval is not None and action in approval.acts else None
