"""The App Home tab: what waits for the person, all repositories at a glance, and bot status."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from bot.acts.errors import PermissionDenied
from bot.acts.permission import Right
from bot.acts.texts.permissions import denied
from bot.blocks import blocks, controls, paging
from bot.blocks.message import Block, View
from bot.blocks.text import (
    by_count,
    channel,
    clock_time,
    duration,
    escape,
    listed,
    pull_request,
    quote,
)
from bot.channels import actions as channel_actions
from bot.channels.texts import overview
from bot.doctor.texts.causes import MARK
from bot.freezes import actions as freeze_actions
from bot.freezes.texts import calendar as freeze_calendar, forms as freeze_forms
from bot.freezes.texts.cards import counted_down
from bot.groups import confirmations
from bot.health import texts as health_texts
from bot.home import actions as home_actions
from bot.home.choices import (
    CalendarPage,
    HomePage,
    HomeState,
    OwnPullRequest,
    SubscriptionsState,
    Viewer,
)
from bot.kernel.metrics import SuspendedChannel
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import PauseRecord
from bot.pauses.texts.ends import resumes
from bot.people import texts as people_texts
from bot.people.actions import MutablePullRequest
from bot.queues import picture
from bot.queues.estimate import NO_OUTLOOK
from bot.queues.snapshot import ReadQueue, Snapshot
from bot.queues.texts import parts as queue_parts, status as queue_status
from bot.slack.errors import CREDENTIAL_CODES

PROPOSALS_SHOWN = 3
MINE_SHOWN = 5
TIMERS_SHOWN = 10
SUSPENDED_SHOWN = 5
OUTAGES_SHOWN = 5
OLD_LOG = timedelta(minutes=2)
"""An event log that was not read for so long is worth a mark."""


def home(state: HomeState, viewer: Viewer, command: str) -> View:
    """The buttons that change something are there for those who may."""
    queues: list[Block] = []
    for queue in state.queues:
        queues += [*_queue_blocks(queue, state, viewer), blocks.divider()]
    first = state.first
    size = len(state.queues)
    total = state.total
    ids = (home_actions.HOME_BACK, home_actions.HOME_ON)
    pages = paging.page_buttons("home", first, total, size, ids=ids)
    if pages:
        place = f"Repositories {first + 1:,} to {first + size:,} of {total:,}, paused ones first"
        pages.insert(0, blocks.context(place))
    return _tab(
        *_proposals(viewer),
        *_mine(state, viewer),
        blocks.header("Merge queues"),
        *queues,
        *pages,
        _set_up(state, viewer),
        *people_texts.menu(viewer.person),
        *_timers(state.timed, command),
        *_calendar(state),
        *_subscriptions(state),
        *_health(state),
        blocks.context(
            f"Updated {clock_time(state.read_at)}",
            f"`{escape(command)} help` in any channel shows what I can do",
        ),
    )


def _tab(*shown: Block) -> View:
    return View({"type": "home", "blocks": [dict(block) for block in shown]})


def subscriptions(state: SubscriptionsState, viewer: Viewer) -> View:
    """All subscriptions of all channels, a page at a time."""
    size = len(state.listed)
    place = "No channel has subscriptions yet"
    if size:
        last = state.first + size
        place = f"Subscriptions {state.first + 1:,} to {last:,} of {state.total:,}"
    ids = (home_actions.HOME_BACK, home_actions.HOME_ON)
    may_change = Right.SUBSCRIBE in viewer.rights
    add = [_add_button()] if may_change else []
    return _tab(
        blocks.header("Subscriptions"),
        blocks.actions([_page_button("Back to Home", HomePage.QUEUES), *add]),
        blocks.context(place),
        *overview.subscription_rows(state.listed, may_change=may_change),
        *paging.page_buttons("home", state.first, state.total, size, ids=ids),
    )


def calendar(state: CalendarPage, viewer: Viewer) -> View:
    """What is planned, with the buttons that skip, move, extend and end it."""
    size = len(state.entries)
    place = "No freeze is in force or planned"
    if size:
        place = f"{state.first + 1:,} to {state.first + size:,} of {state.total:,}, soonest first"
    ids = (home_actions.HOME_BACK, home_actions.HOME_ON)
    may_plan = Right.FREEZE in viewer.rights and state.offers_freezes
    plan = [_plan_button()] if may_plan else []
    rows = freeze_calendar.calendar_rows(
        state.entries, viewer.rights, offers_freezes=state.offers_freezes
    )
    return _tab(
        blocks.header("Calendar of freezes"),
        blocks.actions([_page_button("Back to Home", HomePage.QUEUES), *plan]),
        blocks.context(place),
        *rows,
        *paging.page_buttons("home", state.first, state.total, size, ids=ids),
    )


def _calendar(state: HomeState) -> list[Block]:
    """The first entries; a button leads to all, with what changes them."""
    show = _page_button("Open calendar", HomePage.CALENDAR)
    head = blocks.section("*Calendar of freezes*", accessory=show)
    lines = [freeze_calendar.short_calendar_line(entry) for entry in state.calendar.entries]
    return [head, _beginning(lines, state.calendar.besides, "No freeze is in force or planned")]


def _beginning(lines: Sequence[str], besides: int, nothing: str) -> Block:
    """The first lines of a list, and how many there are besides; `nothing` says it is empty."""
    if not lines:
        return blocks.context(nothing)
    return blocks.section(listed(lines, "\n", length=blocks.LINES_LENGTH, besides=besides))


def _plan_button() -> blocks.Element:
    return blocks.button(
        "Plan a freeze…", action_id=freeze_actions.PLAN, value=freeze_forms.ANY_QUEUE
    )


def _page_button(label: str, page: HomePage) -> blocks.Element:
    return blocks.button(label, action_id=home_actions.HOME_PAGE, value=page)


def _add_button() -> blocks.Element:
    return blocks.button("Add a channel…", action_id=channel_actions.SUBSCRIPTION_ADD, value="home")


def _set_up(state: HomeState, viewer: Viewer) -> Block:
    """What a person sets up, from here."""
    shown = [people_texts.link_button(viewer.person)]
    if Right.SUBSCRIBE in viewer.rights:
        shown.append(_add_button())
    if Right.FREEZE in viewer.rights and state.offers_freezes:
        shown.append(_plan_button())
    shown.append(blocks.button("Who may pause", action_id=home_actions.WHO_MAY, value="home"))
    return blocks.actions(shown, block_id="home:set_up")


def refused(error: PermissionDenied) -> View:
    return _tab(blocks.section(f":no_entry: {denied(error)}"))


def unavailable() -> View:
    """The tab while the bot's own database does not answer."""
    text = ":warning: I can't reach my database right now. Open this tab again in a minute."
    return _tab(blocks.section(text))


def _queue_blocks(queue: ReadQueue, state: HomeState, viewer: Viewer) -> list[Block]:
    repository = queue.repository if isinstance(queue, Snapshot) else queue
    last_poll = _last_poll(repository, state)
    block_id = f"home:{repository}"[:255]
    if not isinstance(queue, Snapshot):
        text = f":warning: *{escape(repository)}*: the merge queue service isn't responding"
        return [
            blocks.section(text),
            *([blocks.context(last_poll)] if last_poll else []),
            blocks.actions([_try_again(repository)], block_id=block_id),
        ]
    shown = picture.picture(queue)
    facts = [
        "" if queue_parts.is_idle(shown) else queue_parts.queue_counts(shown),
        queue_parts.next_merge(shown, queue.read_at),
        queue_parts.by_past(state.outlooks.get(repository, NO_OUTLOOK), queue.read_at),
        counted_down(shown.next_freeze),
        last_poll,
    ]
    return [
        _queue_headline(queue, state),
        *([blocks.context(*facts)] if any(facts) else []),
        *queue_status.reason(queue),
        blocks.actions(
            [*_acts_on(queue, state, viewer), queue_status.refresh_button(queue)],
            block_id=block_id,
        ),
    ]


def _last_poll(repository: RepositoryName, state: HomeState) -> str:
    """How long ago its log was read; empty if it never was."""
    polled_at = state.polled.get(repository)
    if polled_at is None:
        return ""
    age = state.read_at - polled_at
    mark = ":warning: " if age > OLD_LOG else ""
    return f"{mark}Event log read {duration(age)} ago"


def _try_again(repository: RepositoryName) -> blocks.Element:
    return blocks.button(
        "Try again",
        action_id=controls.REFRESH,
        value=f"status {repository}",
        spoken=f"Try again: {repository}",
    )


def _acts_on(queue: Snapshot, state: HomeState, viewer: Viewer) -> Iterator[blocks.Element]:
    """The buttons for what the viewer may do to the queue."""
    repository = queue.repository
    if Right.PAUSE in viewer.rights:
        yield queue_parts.toggle(repository, picture.picture(queue))
    if Right.FREEZE in viewer.rights and state.offers_freezes:
        yield blocks.button(
            "Freeze…",
            action_id=freeze_actions.PLAN,
            value=repository,
            spoken=f"Freeze {repository}",
        )


def _queue_headline(queue: Snapshot, state: HomeState) -> Block:
    """What keeps the queue from merging, or else its state."""
    found = state.headlines.get(queue.repository)
    if found is None:
        return queue_status.status_headline(queue)
    return blocks.section(f"{MARK} *{found.words}*")


def _proposals(viewer: Viewer) -> list[Block]:
    """What machines propose and the viewer may answer, the oldest first."""
    if not viewer.proposals:
        return []
    shown: list[Block] = [blocks.section("*Waits for you*")]
    for proposal in viewer.proposals[:PROPOSALS_SHOWN]:
        shown += confirmations.waiting(proposal)
    more = len(viewer.proposals) - PROPOSALS_SHOWN
    if more > 0:
        shown.append(
            blocks.context(
                by_count(more, "{count} more proposal waits", "{count} more proposals wait")
            )
        )
    return shown


def _mine(state: HomeState, viewer: Viewer) -> list[Block]:
    login = viewer.person.login
    head = blocks.section("*My pull requests in the queues*")
    if login is None:
        return [head, blocks.context("Link your code host username to see them here")]
    # Not all repositories are asked when somebody looks.
    read = len(state.read)
    total = state.total
    mine = state.pull_requests_of(login)
    loaded = f"Looked at {read:,} of {total:,} repositories" if read < total else ""
    if not mine:
        none = f"No pull request of {quote(login)} is queued right now"
        return [head, blocks.context(none, loaded)]
    shown = [head, *(_own(own, viewer) for own in mine[:MINE_SHOWN])]
    more = len(mine) - MINE_SHOWN
    besides = by_count(more, "and {count} more pull request", "and {count} more pull requests")
    facts = [besides if more > 0 else "", loaded]
    if any(facts):
        shown.append(blocks.context(*facts))
    return shown


def _own(own: OwnPullRequest, viewer: Viewer) -> Block:
    """A pull request of the viewer, with a button that mutes it for them."""
    shown = picture.shown(own.pull_request)
    is_muted = MutablePullRequest(own.repository, shown.number) in viewer.muted
    switch = people_texts.mute_switch(own.repository, shown.number, is_muted=is_muted)
    muted = " · muted for you" if is_muted else ""
    name = pull_request(shown.number, shown.title, shown.url)
    text = f"{escape(own.repository)}: {name}{muted}"
    return blocks.section(text, accessory=switch)


def _timers(timed: Sequence[PauseRecord], command: str) -> list[Block]:
    if not timed:
        return []
    lines = [
        f"• {escape(pause.repository)} {resumes(pause.resumes_at, is_overdue=pause.is_overdue)}, "
        f"set by {quote(pause.timer.set_by.name)}"
        for pause in timed
        if pause.timer is not None
    ]
    rest = f": `{escape(command)} status all` shows paused queues first"
    shown = listed(lines, "\n", length=blocks.LINES_LENGTH, most=TIMERS_SHOWN, rest=rest)
    return [blocks.section("*Pauses that resume automatically*"), blocks.section(shown)]


def _subscriptions(state: HomeState) -> list[Block]:
    """The first ones; a button leads to all, with what changes them."""
    show = _page_button("All subscriptions", HomePage.SUBSCRIPTIONS)
    head = blocks.section("*Subscriptions*", accessory=show)
    lines = [overview.short_subscription_line(each) for each in state.subscriptions.entries]
    besides = state.subscriptions.besides
    return [head, _beginning(lines, besides, "No channel has subscriptions yet")]


def _health(state: HomeState) -> list[Block]:
    """The bot's health: waiting posts, channels where Slack refuses posts, and outages."""
    health = state.health
    outbox = health.outbox
    oldest_at = outbox.oldest_created_at
    age = state.read_at - oldest_at if oldest_at is not None else timedelta()
    outages = [health_texts.ongoing(outage) for outage in health.outages[:OUTAGES_SHOWN]]
    if health.slack_outage is not None:
        outages.insert(0, health_texts.slack_silent(health.slack_outage))
    is_well = not (outbox.suspended or outages or age > OLD_LOG)
    waiting = outbox.pending + outbox.sending
    facts = []
    if waiting:
        facts.append(by_count(waiting, "{count} post waiting", "{count} posts waiting"))
    if oldest_at is not None:
        facts.append(f"the oldest for {duration(age)}")
    if outbox.in_doubt:
        facts.append(f"{outbox.in_doubt:,} in doubt")
    refused = [_suspended_channel(channel) for channel in outbox.suspended[:SUSPENDED_SHOWN]]
    return [
        blocks.section(f"*Bot status:* {'OK' if is_well else 'problems'}"),
        *([blocks.context(*facts)] if facts else []),
        *refused,
        *(blocks.context(f":warning: {outage}") for outage in outages),
    ]


def _suspended_channel(suspended: SuspendedChannel) -> Block:
    """A channel to which Slack takes no posts: nobody can type anything there any more.

    With a refused token it is every channel, and ending subscriptions would help none of them.
    """
    place = channel(suspended.channel_id)
    said = f":warning: Slack refuses posts to {place} ({quote(suspended.code, 60)})"
    block_id = f"refused-{suspended.channel_id}"
    if suspended.code in CREDENTIAL_CODES:
        return blocks.section(
            f"{said}: the app has to be installed again, with its new token", block_id=block_id
        )
    end = blocks.button(
        "End its subscriptions",
        action_id=controls.END_CHANNEL,
        value=suspended.channel_id,
        confirm=blocks.confirmation(
            "End its subscriptions?",
            "The channel gets no more posts, and waiting posts are dropped.",
            confirm="End them",
            deny="Keep them",
            style="danger",
        ),
    )
    return blocks.section(said, block_id=block_id, accessory=end)
