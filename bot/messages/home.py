"""The App Home tab: what waits for the person, all repositories at a glance, and bot status."""

from collections.abc import Sequence
from datetime import timedelta

from bot.domain import boards
from bot.domain.errors import PermissionDenied
from bot.domain.home import HomeState, Viewer
from bot.domain.message import Block, View
from bot.domain.pause_records import PauseRecord
from bot.domain.snapshots import ReadQueue, Snapshot
from bot.messages import actions, alerts, blocks, paging, people, queue_parts, status
from bot.messages.permissions import denied
from bot.messages.subscriptions import channel, options_text, origin
from bot.messages.text import duration, escape, listed, local_time, plural, quote
from bot.messages.timers import resumes

MINE_SHOWN = 5
TIMERS_SHOWN = 10
SUSPENDED_SHOWN = 5
OUTAGES_SHOWN = 5
STALE = timedelta(minutes=2)
"""An event log that was not read for so long is worth a mark."""


def home(state: HomeState, viewer: Viewer, command: str) -> View:
    """The buttons that change a queue are there for those who may pause."""
    queues: list[Block] = []
    for one in state.queues:
        queues += [*_repository(one, state, viewer), blocks.divider()]
    first, size, total = state.first, len(state.queues), state.total
    ids = (actions.HOME_BACK, actions.HOME_ON)
    pages = paging.page_buttons("home", first, total, size, ids=ids)
    if pages:
        place = f"Repositories {first + 1:,} to {first + size:,} of {total:,}, paused ones first"
        pages.insert(0, blocks.context(place))
    return _tab(
        *_mine(state, viewer.person.login, command),
        blocks.header("Merge queues"),
        *queues,
        *pages,
        *people.menu(viewer.person),
        *_timers(state.timed, command),
        *_subscriptions(state, command),
        *_health(state),
        blocks.context(
            f"Read {local_time(state.read_at)}",
            f"`{escape(command)} help` in any channel shows what I can do",
        ),
    )


def _tab(*shown: Block) -> View:
    return View({"type": "home", "blocks": [dict(block) for block in shown]})


def refused(error: PermissionDenied) -> View:
    return _tab(blocks.section(f":no_entry: {denied(error)}"))


def unavailable() -> View:
    """The tab while the bot's own database does not answer."""
    text = ":warning: I can't reach my database right now. Open this tab again in a minute."
    return _tab(blocks.section(text))


def _repository(one: ReadQueue, state: HomeState, viewer: Viewer) -> list[Block]:
    repository = one.repository if isinstance(one, Snapshot) else one
    last_poll, polled_at = "", state.polled.get(repository)
    if polled_at is not None:
        age = state.read_at - polled_at
        last_poll = f"{':warning: ' if age > STALE else ''}event log read {duration(age)} ago"
    block_id = f"home:{repository}"[:255]
    if not isinstance(one, Snapshot):
        text = f":warning: *{escape(repository)}*: the merge queue service isn't responding"
        retry = blocks.button("Try again", action_id=actions.REFRESH, value=f"status {repository}")
        return [
            blocks.section(text),
            *([blocks.context(last_poll)] if last_poll else []),
            blocks.actions([retry], block_id=block_id),
        ]
    change = [queue_parts.toggle(repository, boards.picture(one))] if viewer.may_pause else []
    return [
        status.headline(one),
        blocks.context(
            plural(len(one.status.batches), "batch", "batches"),
            f"{len(one.status.waiting_pull_requests):,} waiting",
            queue_parts.next_merge(one.status.next_merge_at),
            last_poll,
        ),
        *status.reason(one),
        blocks.actions([*change, status.refresh_button(one)], block_id=block_id),
    ]


def _mine(state: HomeState, login: str | None, command: str) -> list[Block]:
    head = blocks.section("*My pull requests in the queues*")
    if login is None:
        hint = f"Link your login with `{escape(command)} link LOGIN` to see them here"
        return [head, blocks.context(hint)]
    # Not all repositories are asked when somebody looks.
    read, total, mine = len(state.read), state.total, state.pull_requests_of(login)
    loaded = f"looked at {read:,} of {total:,} repositories" if read < total else ""
    if not mine:
        none = f"No pull request of {quote(login)} is queued right now"
        return [head, blocks.context(none, loaded)]
    lines = [f"• {escape(name)}: {queue_parts.authored(boards.shown(one))}" for name, one in mine]
    rest = f": `{escape(command)} status owner/name` shows a whole queue"
    return [
        head,
        blocks.section(listed(lines, "\n", length=blocks.LINES_LENGTH, most=MINE_SHOWN, rest=rest)),
        *([blocks.context(loaded)] if loaded else []),
    ]


def _timers(timed: Sequence[PauseRecord], command: str) -> list[Block]:
    if not timed:
        return []
    lines = [
        f"• {escape(one.repository)} {resumes(one.resumes_at, is_overdue=one.is_overdue)}, set by "
        f"{quote(one.timer.set_by.name)}"
        for one in timed
        if one.timer is not None
    ]
    rest = f": `{escape(command)} status all` shows paused queues first"
    shown = listed(lines, "\n", length=blocks.LINES_LENGTH, most=TIMERS_SHOWN, rest=rest)
    return [blocks.section("*Timers running*"), blocks.section(shown)]


def _subscriptions(state: HomeState, command: str) -> list[Block]:
    """Links to channels; Slack shows the name only to people who may see the channel."""
    head = blocks.section("*Subscriptions*")
    if not state.subscriptions:
        hint = (
            f"No channel has subscriptions yet: `{escape(command)} subscribe` in a channel adds one"
        )
        return [head, blocks.context(hint)]
    lines = [
        f"• {channel(one.channel_id)} is subscribed to {escape(one.repository)}: "
        f"{options_text(one)}{origin(one)}"
        for one in state.subscriptions
    ]
    rest = f": `{escape(command)} subscriptions` in a channel lists its own"
    besides = max(state.subscriptions_in_all - len(lines), 0)
    shown = listed(lines, "\n", length=blocks.LINES_LENGTH, besides=besides, rest=rest)
    return [head, blocks.section(shown)]


def _health(state: HomeState) -> list[Block]:
    """The bot's health: waiting posts, channels where Slack refuses posts, and outages."""
    outbox, oldest_at = state.outbox, state.outbox.oldest_created_at
    age = state.read_at - oldest_at if oldest_at is not None else timedelta()
    is_well = not (outbox.suspended or state.outages or age > STALE)
    facts = [plural(outbox.pending + outbox.sending, "post") + " waiting"]
    if oldest_at is not None:
        facts.append(f"the oldest for {duration(age)}")
    if outbox.in_doubt:
        facts.append(f"{outbox.in_doubt:,} in doubt")
    problems = [
        f":warning: Slack refuses posts to {channel(one.channel_id)} ({quote(one.code, 60)})"
        for one in outbox.suspended[:SUSPENDED_SHOWN]
    ]
    problems += [f":warning: {alerts.ongoing(one)}" for one in state.outages[:OUTAGES_SHOWN]]
    return [
        blocks.section(f"*Bot status:* {'OK' if is_well else 'problems'}"),
        blocks.context(*facts),
        *(blocks.context(one) for one in problems),
    ]
