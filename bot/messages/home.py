"""The App Home tab: all repositories at a glance."""

from collections.abc import Sequence

from bot.domain.errors import PermissionDenied
from bot.domain.message import Block, View
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, blocks
from bot.messages.permissions import denied
from bot.messages.status import status
from bot.messages.text import escape

SHOWN = 10
"""Repositories shown in full; a Home tab has at most 100 blocks."""


def home(
    snapshots: Sequence[Snapshot | RepositoryName],
    more: int,
    command: str,
    *,
    may_pause: bool = True,
) -> View:
    """`snapshots` holds the bare name of a repository whose queue could not be read.

    The buttons that change a queue are there for those who may pause.
    """
    shown: list[Block] = [blocks.header("Merge queues")]
    for one in snapshots[:SHOWN]:
        shown += [*_repository(one, may_pause=may_pause), blocks.divider()]
    if more:
        shown.append(blocks.context(f"and {more} more: `{escape(command)} status owner/name`"))
    shown.append(blocks.context(f"`{escape(command)} help` in any channel shows what I can do"))
    return View({"type": "home", "blocks": [dict(block) for block in shown]})


def refused(error: PermissionDenied) -> View:
    """The tab of somebody who may see nothing."""
    text = f":no_entry: {denied(error)}"
    return View({"type": "home", "blocks": [dict(blocks.section(text))]})


def _repository(one: Snapshot | RepositoryName, *, may_pause: bool) -> list[Block]:
    if isinstance(one, Snapshot):
        headline, facts, *rest = status(one).blocks
        reason = rest[:2] if one.pause is not None else []
        return [headline, facts, *reason, _buttons(one, may_pause=may_pause)]
    text = f":warning: *{escape(one)}*: the merge queue service does not answer"
    retry = blocks.button("Try again", action_id=actions.REFRESH, value=one)
    return [blocks.section(text), blocks.actions([retry], block_id=f"home:{one}"[:255])]


def _buttons(snapshot: Snapshot, *, may_pause: bool) -> Block:
    found = status(snapshot).blocks[-1]["elements"]
    state, refresh = (found[0], found[1]) if isinstance(found, list) else (None, None)
    wanted = (state, refresh) if may_pause else (refresh,)
    elements = [one for one in wanted if isinstance(one, dict)]
    return blocks.actions(elements, block_id=f"home:{snapshot.repository}"[:255])
