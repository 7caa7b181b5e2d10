"""What a person sees of a long act while it goes on."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.messages.groups import group_acts
from bot.ports import Clock
from bot.slack.conversation import Conversation
from bot.usecases.pausing.group_work import Progress

GAPS = (timedelta(seconds=1), timedelta(seconds=3))
"""Waits before each line; with the first line, the answer and what the channel is told they make
five replies, which is as many as Slack takes for one thing that somebody did."""


@dataclass(slots=True)
class ProgressLine:
    """One line that only the actor sees, replaced as the act goes on.

    A line is replaced where the actor pressed a button that nobody else sees. Elsewhere there is
    one line, if the act takes longer than a moment; the answer follows it, or the channel's post.
    """

    conversation: Conversation
    clock: Clock
    told_at: datetime = field(init=False)
    told: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.told_at = self.clock.now()

    @property
    def is_replaced(self) -> bool:
        return self.conversation.on_private_message

    async def __call__(self, progress: Progress) -> None:
        gaps = GAPS if self.is_replaced else GAPS[:1]
        now = self.clock.now()
        is_over = progress.done >= progress.total
        if is_over or self.told >= len(gaps) or now - self.told_at < gaps[self.told]:
            return
        self.told += 1
        self.told_at = now
        message = group_acts.progress(
            progress.group.name, progress.action, progress.done, progress.total
        )
        if self.is_replaced:
            await self.conversation.put_in_place(message)
        else:
            await self.conversation.tell_actor(message)
