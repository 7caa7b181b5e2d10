"""What the listeners of forms have in common."""

from slack_bolt.async_app import AsyncAck

from bot.domain.audit import Origin
from bot.domain.errors import InvalidDuration, InvalidReason, RepositoryNotAllowed, UnknownGroup
from bot.messages.errors import beside_field
from bot.slack.background import Background
from bot.slack.conversation import Conversation
from bot.slack.payloads import ViewSubmission


async def refuse(
    ack: AsyncAck,
    block_id: str,
    error: InvalidReason | InvalidDuration | RepositoryNotAllowed | UnknownGroup,
) -> None:
    """Say what is wrong beside the field of that block; the form stays open."""
    await ack(response_action="errors", errors={block_id: beside_field(error)})


def submitted(
    submission: ViewSubmission, channel_id: str | None, background: Background
) -> Conversation:
    """With whoever submitted a form, which they had opened in that channel, if in any."""
    return background.conversation(
        actor=submission.user.actor,
        origin=Origin.MODAL,
        trigger_id=submission.trigger_id,
        channel_id=channel_id,
        view_id=submission.view.id,
    )
