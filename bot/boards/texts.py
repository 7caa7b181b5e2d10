"""Boards, the live messages that show a queue, and the replies about them."""

from bot.blocks import blocks, controls
from bot.blocks.message import Block, Message
from bot.blocks.text import escape, link, listed, local_time, quote
from bot.boards.board import Board, BoardState, WhyUnread
from bot.freezes.texts.cards import freeze_blocks, next_freeze_line
from bot.kernel.repository import RepositoryName
from bot.queues.estimate import NO_OUTLOOK, Outlook
from bot.queues.picture import Picture
from bot.queues.texts import parts as queue_parts
from bot.slack.ports import ChannelAccess

_WHY_UNREAD = {
    WhyUnread.SILENT: "The merge queue service hasn't responded since",
    WhyUnread.REFUSED: "The merge queue service hasn't let the bot read this queue since",
    WhyUnread.UNREADABLE: "The merge queue service's answers couldn't be read since",
}


def board(known: Board, state: BoardState, outlook: Outlook = NO_OUTLOOK) -> Message:
    """The last known state of the queue; edited when it changes."""
    return blocks.message(*queue_parts.fitting(lambda room: _blocks(known, state, outlook, room)))


def _blocks(known: Board, state: BoardState, outlook: Outlook, room: int) -> list[Block]:
    if state.unread is None:
        picture = state.picture
        read = f"Updated {local_time(state.read_at)}"
        unread = []
    else:
        picture = state.picture.without_estimates()
        read = ""
        why = _WHY_UNREAD[state.unread.why]
        unread = [blocks.section(f":warning: *{why}* {local_time(state.unread.since)}.")]
    return [
        queue_parts.queue_headline(state.repository, picture, is_current=state.unread is None),
        *unread,
        blocks.context(
            queue_parts.queue_counts(picture),
            queue_parts.next_merge(picture, state.read_at),
            queue_parts.unreadable(picture),
            read,
        ),
        *queue_parts.own_outlook(outlook, state.read_at),
        *queue_parts.pause_blocks(picture.pause),
        *freeze_blocks(picture.freezes),
        *next_freeze_line(picture.next_freeze),
        *queue_parts.batch_blocks(picture, room, state.read_at),
        *_waiting_blocks(picture, room),
        _board_buttons(known, state),
    ]


def _waiting_blocks(picture: Picture, room: int) -> list[Block]:
    if not picture.next_up:
        return []
    lines = [
        f"• {queue_parts.authored(queued)}{queue_parts.waits_for(queued)}"
        for queued in picture.next_up
    ]
    head = f"*Next up*, waiting {queue_parts.waiting_for(picture)}"
    shown = [blocks.section(f"{head}\n" + listed(lines, "\n", length=room))]
    behind = picture.waiting - len(picture.next_up)
    if behind > 0:
        numbers = [f"#{number}" for number in picture.behind]
        named = listed(numbers, besides=behind - len(numbers))
        shown.append(blocks.context(f"*Waiting behind them:* {named}"))
    return shown


def _board_buttons(known: Board, state: BoardState) -> Block:
    value = f"status {state.repository}"
    shown = [
        queue_parts.toggle(state.repository, state.picture),
        *queue_parts.why_buttons(state.repository, state.picture),
        blocks.button("Show everything", action_id=controls.RETRY, value=value),
    ]
    # The id survives edits, so that a click just before one still counts.
    return blocks.actions(shown, block_id=f"board-{known.board_id}")


def board_ended(known: Board) -> Message:
    """Replaces a board that is no longer updated."""
    by = quote(known.ended_by or "")
    why = f"by {by}" if by else "the bot no longer follows this repository"
    head = f":black_square_for_stop: *The board of {escape(known.repository)} has ended*"
    at = known.ended_at or known.made_at
    return blocks.message(blocks.section(head), blocks.context(why, f"{local_time(at)}"))


def there_already(repository: RepositoryName, address: str | None) -> Message:
    """The reply to a person who asked for a second board in the channel."""
    words = f"board of {escape(repository)}"
    where = link(address, words) if address is not None else words
    return blocks.sentence(f"This channel already has its {where}. Nothing to do.")


def not_there(repository: RepositoryName) -> Message:
    return blocks.sentence(f"This channel has no board of {escape(repository)}. Nothing to do.")


def ended_reply(repository: RepositoryName) -> Message:
    """The reply to the person who ended it; the board itself shows it to everybody."""
    said = f"The board of {escape(repository)} in this channel has ended."
    value = f"board {repository}"
    again = blocks.button("Start it again", action_id=controls.RETRY, value=value)
    return blocks.post(said, buttons=[again])


def no_place(repository: RepositoryName, access: ChannelAccess, bot_name: str) -> Message:
    """The reply to a person who asked for a board where the bot can't post."""
    head = f"I can't add a board of {escape(repository)} here"
    if access is ChannelAccess.INVITE:
        invite = f"/invite @{quote(bot_name, 80)}"
        return blocks.sentence(f"{head}: I'm not in this channel. Type `{invite}`, then ask again.")
    if access is ChannelAccess.DIRECT:
        return blocks.sentence(
            f"{head}: I can't post in a conversation between people. Use a channel."
        )
    return blocks.sentence(f"{head}: nobody can post in this channel any more.")
