"""Every message about boards, with outside text wherever it can occur."""

from collections.abc import Mapping
from dataclasses import replace

from bot.domain.boards import Board, seen
from bot.domain.message import Message, View
from bot.domain.outages import OF_QUEUE, Outage
from bot.domain.snapshots import Snapshot
from bot.messages import board
from bot.ports import ChannelAccess
from tests.support.clock import NOON
from tests.support.make import make_timer


def messages_of_boards(text: str, url: str, snapshot: Snapshot) -> Mapping[str, Message | View]:
    """By a name of its own each."""
    name = snapshot.repository
    known = Board("C0MERGEQ", name, text, NOON, board_id=7)
    if snapshot.pause is not None:
        snapshot = replace(snapshot, pause=replace(snapshot.pause, timer=make_timer(failures=1)))
    state = seen(None, snapshot)
    found: dict[str, Message | View] = {
        f"board while {cause}": board.board(known, state, Outage((name,), NOON, cause=cause))
        for cause in OF_QUEUE
    }
    return {
        **found,
        "board": board.board(known, state),
        "board ended": board.ended(replace(known, ended_at=NOON, ended_by=text)),
        "board that nobody ended": board.ended(replace(known, ended_at=NOON)),
        "board there already": board.there_already(name, url),
        "board there already, nobody knows where": board.there_already(name, None),
        "no board": board.not_there(name),
        "board ended, to the actor": board.ended_reply(name),
        **{
            f"no place for a board {access}": board.no_place(name, access, text)
            for access in ChannelAccess
        },
    }
