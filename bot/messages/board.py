"""Boards: the message that is kept true of a queue, and what is said about it."""

from datetime import datetime

from bot.domain.boards import Board, BoardState, OutageCause, Picture, Shown, ShownBatch
from bot.domain.channels import ChannelAccess
from bot.domain.message import MESSAGE_BLOCKS_TEXT_LIMIT, Block, Message, text_length
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks, timers
from bot.messages.pause_card import resume_button_of
from bot.messages.status import (
    FREEZES_SHOWN,
    batch_state,
    freeze_blocks,
    freeze_line,
    pause_button,
)
from bot.messages.text import (
    NAME_LIMIT,
    escape,
    link,
    listed,
    local_time,
    plural,
    quote,
    utc_time,
)

TITLE_LIMIT = 80
TIGHT_LIMIT = 800
"""Characters of each list where the whole would be more than Slack takes."""

_OUTAGES = {
    OutageCause.SILENT: "the merge queue service has not answered",
    OutageCause.REFUSED: "the merge queue service has not let the bot read this queue",
    OutageCause.UNREADABLE: "what the merge queue service answers has made no sense",
}


FREEZES_LENGTH = 900
BATCHES_LENGTH = 700
"""Characters of the text that these share: with the longest reason all of it still fits."""


def board(known: Board, state: BoardState) -> Message:
    """What is true of the queue as far as is known; edited whenever that changes."""
    shown = _blocks(known, state, blocks.LINES_LENGTH)
    if text_length(shown) > MESSAGE_BLOCKS_TEXT_LIMIT:
        shown = _blocks(known, state, TIGHT_LIMIT)
    return Message(text=_text(state), blocks=tuple(shown))


def ended(known: Board) -> Message:
    """Replaces a board that is no longer updated."""
    head = f"The board of {escape(known.repository)} has ended"
    by = quote(known.ended_by or "", NAME_LIMIT)
    why = f"by {by}" if by else "the bot no longer follows this repository"
    at = known.ended_at or known.made_at
    said = f"{head}, {why}, {utc_time(at)}." if by else f"{head}: {why}, {utc_time(at)}."
    return Message(
        text=said,
        blocks=(
            blocks.section(f":black_square_for_stop: *{head}*"),
            blocks.context(why, local_time(at)),
        ),
    )


def there_already(repository: RepositoryName, address: str | None) -> Message:
    """To whoever asked for a second one in the channel."""
    words = f"board of {escape(repository)}"
    where = link(address, words) if address is not None else words
    return blocks.sentence(f"This channel has its {where} already. Nothing to do.")


def not_there(repository: RepositoryName) -> Message:
    return blocks.sentence(f"This channel has no board of {escape(repository)}. Nothing to do.")


def ended_reply(repository: RepositoryName) -> Message:
    """The reply to the person who ended it; the board itself says so to everybody."""
    return blocks.sentence(f"The board of {escape(repository)} in this channel has ended.")


def no_place(repository: RepositoryName, access: ChannelAccess, bot_name: str) -> Message:
    """The reply to a person who asked for one where the bot cannot post."""
    head = f"There is no board of {escape(repository)} here"
    if access is ChannelAccess.INVITE:
        invite = f"/invite @{quote(bot_name, 80)}"
        return blocks.sentence(
            f"{head}: I'm not in this channel yet. Type `{invite}` and ask again."
        )
    if access is ChannelAccess.DIRECT:
        return blocks.sentence(
            f"{head}: I cannot post in a conversation between people. Use a channel."
        )
    return blocks.sentence(f"{head}: nothing can be posted in this channel any more.")


def _blocks(known: Board, state: BoardState, room: int) -> list[Block]:
    picture = state.picture
    return [
        blocks.section(_headline(state)),
        *_outage_blocks(state),
        blocks.context(_counts(picture), _due("next merge", picture.due_at), _read(state)),
        *_pause_blocks(picture),
        *freeze_blocks([freeze_line(one) for one in picture.freezes]),
        *_batch_blocks(picture, room),
        *_waiting_blocks(picture, room),
        _buttons(known, state),
    ]


def _word(state: BoardState) -> str:
    """What cannot be read any more is told as it was."""
    picture = state.picture
    tense = "is" if state.outage is None else "was"
    if picture.pause is not None:
        return f"{tense} paused"
    if not picture.is_pause_known:
        return f"{tense} running or paused: the merge queue service doesn't say which"
    if picture.freezes:
        return f"{tense} frozen"
    busy = picture.batch_count or picture.waiting
    return f"{tense} running" + ("" if busy else ", the queue empty")


def _headline(state: BoardState) -> str:
    return f"{_mark(state.picture)} *{escape(state.repository)}* {_word(state)}"


def _mark(picture: Picture) -> str:
    if picture.pause is not None:
        return ":double_vertical_bar:"
    if picture.freezes:
        return ":snowflake:"
    return ":arrow_forward:" if picture.is_pause_known else ":grey_question:"


def _outage_blocks(state: BoardState) -> list[Block]:
    if state.outage is None or state.out_since is None:
        return []
    since = f"{_OUTAGES[state.outage]} since {local_time(state.out_since)}"
    return [blocks.section(f":warning: *As of* {local_time(state.read_at)}; {since}.")]


def _read(state: BoardState) -> str:
    """The clock alone changes nothing here, so what was read then is what is true until edited."""
    return f"read {local_time(state.read_at)}, unchanged since" if state.outage is None else ""


def _counts(picture: Picture) -> str:
    if not picture.batch_count:
        return plural(picture.waiting, "waiting pull request")
    tested = plural(picture.in_batches, "pull request")
    batches = plural(picture.batch_count, "batch", "batches")
    return f"{tested} in {batches}, {picture.waiting:,} waiting"


def _due(what: str, at: datetime | None) -> str:
    return f"{what} about {local_time(at)}" if at is not None else ""


def _pause_blocks(picture: Picture) -> list[Block]:
    pause = picture.pause
    if pause is None:
        return []
    by = f" by {quote(pause.by, NAME_LIMIT)}" if pause.by is not None else ""
    return [
        blocks.section(f"*Reason:* {quote(pause.reason, REASON_LIMIT)}"),
        blocks.context(
            f"Paused{by} since {local_time(pause.paused_at)}",
            timers.lifts(pause.lifts_at, is_overdue=pause.is_overdue),
        ),
    ]


def _batch_blocks(picture: Picture, room: int) -> list[Block]:
    shown = [blocks.section(_batch(batch, room)) for batch in picture.batches]
    left = picture.batch_count - len(picture.batches)
    if left > 0:
        shown.append(blocks.context(f"and {plural(left, 'more batch', 'more batches')}"))
    return shown


def _batch(batch: ShownBatch, room: int) -> str:
    facts = [
        f"*Batch {quote(batch.name, 40)}*",
        batch_state(batch.code),
        _checks(batch),
        _due("", batch.due_at),
    ]
    head = " · ".join(fact.strip() for fact in facts if fact)
    members = [f"• {_pull_request(one)}" for one in batch.pull_requests]
    shown = listed(members, "\n", length=room - len(head), besides=batch.more)
    return f"{head}\n{shown}".rstrip()


def _checks(batch: ShownBatch) -> str:
    return f"checks {batch.passed}/{batch.total} passed" if batch.total else ""


def _waiting_blocks(picture: Picture, room: int) -> list[Block]:
    if not picture.next_up:
        return []
    lines = [f"{place}. {_pull_request(one)}" for place, one in enumerate(picture.next_up, 1)]
    shown = [blocks.section("*Next up*\n" + listed(lines, "\n", length=room))]
    behind = picture.waiting - len(picture.next_up)
    if behind > 0:
        numbers = [f"#{number}" for number in picture.behind]
        named = listed(numbers, besides=behind - len(numbers))
        shown.append(blocks.context(f"*Waiting behind them:* {named}"))
    return shown


def _pull_request(shown: Shown) -> str:
    label = f"#{shown.number} {quote(shown.title, TITLE_LIMIT)}"
    return f"{link(shown.url, label)} by {quote(shown.author, NAME_LIMIT)}"


def _buttons(known: Board, state: BoardState) -> Block:
    repository, pause = state.repository, state.picture.pause
    queued = state.picture.waiting + state.picture.in_batches
    toggle = (
        resume_button_of(repository, pause.paused_at, pause.by, pause.reason, queued)
        if pause is not None
        else pause_button(repository)
    )
    whole = blocks.button("Show all of it", action_id=actions.RETRY, value=f"status {repository}")
    # The same through all edits: a press just before one is still a press of this button.
    return blocks.actions([toggle, whole], block_id=f"board-{known.board_id}")


def _text(state: BoardState) -> str:
    """The same in plain lines, for screen readers and notifications."""
    picture = state.picture
    parts = [f"Board: {escape(state.repository)} {_word(state)}"]
    if state.outage is not None and state.out_since is not None:
        since = f"{_OUTAGES[state.outage]} since {utc_time(state.out_since)}"
        parts.append(f"As of {utc_time(state.read_at)}; {since}")
    pause = picture.pause
    if pause is not None:
        by = f" by {quote(pause.by, NAME_LIMIT)}" if pause.by is not None else ""
        reason = quote(pause.reason, REASON_LIMIT)
        parts.append(f"Paused{by} since {utc_time(pause.paused_at)}: {reason}")
    if picture.freezes:
        lines = [freeze_line(one) for one in picture.freezes]
        parts.append(listed(lines, ". ", length=FREEZES_LENGTH, most=FREEZES_SHOWN))
    parts.append(_counts(picture))
    if picture.batches:
        batches = [_batch_text(batch) for batch in picture.batches]
        parts.append(listed(batches, ". ", length=BATCHES_LENGTH))
    if picture.next_up:
        numbers = ", ".join(f"#{one.number}" for one in picture.next_up)
        parts.append(f"Next up: {numbers}")
    if picture.due_at is not None:
        parts.append(f"Next merge about {utc_time(picture.due_at)}")
    if state.outage is None:
        parts.append(f"Read {utc_time(state.read_at)}")
    return ". ".join(parts) + "."


def _batch_text(batch: ShownBatch) -> str:
    numbers = listed([f"#{one.number}" for one in batch.pull_requests], besides=batch.more)
    facts = [batch_state(batch.code), _checks(batch), numbers]
    return f"Batch {quote(batch.name, 40)}: " + ", ".join(fact for fact in facts if fact)
