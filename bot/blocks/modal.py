"""Forms that show a result."""

from collections.abc import Sequence
from dataclasses import replace

from bot.blocks import blocks, controls
from bot.blocks.message import Block, Message, View
from bot.blocks.text import escape
from bot.kernel.repository import RepositoryName


def nothing_changed() -> Message:
    return blocks.sentence("Nothing was changed. You can close this.")


READING_THE_QUEUE = "Reading the queue …"


def working_modal(repository: RepositoryName) -> View:
    shown = [blocks.section(f":hourglass_flowing_sand: Pausing {escape(repository)} …")]
    return result_view("Pause a merge queue", shown, None)


def still_working() -> Message:
    """To the person whose request takes longer than usual; the answer follows."""
    return blocks.sentence(":hourglass_flowing_sand: Still working…")


def result_modal(message: Message, channel_id: str | None) -> View:
    """The last view of the modal: what was done, refused or failed, possibly with buttons."""
    shown = in_form(message).blocks or (blocks.section(message.text),)
    return result_view("Merge queue", shown, channel_id)


def in_form(message: Message) -> Message:
    """The message with a refusal that stands out, which Slack shows in forms only."""
    match message.blocks:
        case ({"type": "section", "text": {"text": str(why)}} as first, *rest) if (
            message.is_refusal and "accessory" not in first
        ):
            return replace(message, blocks=(*blocks.alert(why, "error"), *rest))
    return message


def refusal_modal(why: str) -> View:
    """The last view of a form that was refused."""
    return result_modal(blocks.refusal(blocks.sentence(f":no_entry: {why}")), None)


def result_view(title: str, shown: Sequence[Block], channel_id: str | None) -> View:
    return blocks.modal(f"{controls.PAUSE_VIEW}_result", title, shown, {"channel": channel_id})
