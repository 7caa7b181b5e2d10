"""Every message and view, with outside text wherever it can occur."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import time, timedelta

from pydantic import JsonValue

from bot.domain.audit import SECOND_PERSON, Action, Actor, ActResult, Evidence, Origin
from bot.domain.auto_pause import AUTO_PAUSE
from bot.domain.classification import EventKind, classify
from bot.domain.commands.words import BRANCH_LIMIT
from bot.domain.durations import DurationProblem, For, Until
from bot.domain.errors import (
    CommandSyntaxError,
    CredentialRefused,
    CutOff,
    FreezesNotOffered,
    InvalidCondition,
    InvalidConfiguration,
    InvalidDuration,
    InvalidReason,
    InvalidRequest,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    NeedsClick,
    NotOffered,
    PauseNotOffered,
    PermissionDenied,
    QueueBusy,
    RepositoryNotAllowed,
    RepositoryNotChosen,
    ResourceNotFound,
    SecondPersonNeeded,
    ServiceMoved,
    StateConflict,
    StoreUnavailable,
    UnknownGroup,
)
from bot.domain.event_log import Window
from bot.domain.event_records import EventRecord, FreezeAttributes
from bot.domain.event_types import EVENT_TYPES, MERGED
from bot.domain.freezes import Freeze, Stage
from bot.domain.groups import Group, Repositories
from bot.domain.home import HomeState
from bot.domain.message import Message, View
from bot.domain.notices import Notice
from bot.domain.outages import Outage
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.permissions import DenialReason, Denied, Right, WhoCan
from bot.domain.queue import QueueRule, RemovalImpact
from bot.domain.queue_position import (
    Explanation,
    InBatch,
    InQueue,
    Left,
    Merged,
    NeverQueued,
    NotListed,
    QueuePosition,
)
from bot.domain.removals import LEFT_UNSEEN, NotRemoved, Removed, Unremovable, WouldRemove
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import (
    LARGEST_SHOWN,
    TYPES_LIMIT,
    BranchActivity,
    BranchPage,
    Impact,
    LogPage,
    LogPlace,
    LogSelection,
    ReadQueue,
    Snapshot,
)
from bot.domain.statistics import CheckStatistics, Removals
from bot.domain.subscriptions import DigestTime, Level, Style, Subscription, Topic
from bot.messages import (
    actions,
    alerts,
    branches,
    choice,
    errors,
    event_log,
    freezes,
    help as help_messages,
    home,
    pause,
    pause_card,
    pause_form,
    people,
    reminders,
    removals,
    rules,
    statistics,
    status,
    subscriptions,
    timers,
    why,
)
from bot.messages.events import event_posts, summaries
from bot.messages.text import mention
from bot.ports import ChannelAccess
from tests.support.alert_messages import messages_of_alerts
from tests.support.board_messages import messages_of_boards
from tests.support.clock import NOON
from tests.support.freeze_messages import messages_of_freezes
from tests.support.group_messages import messages_of_audit, messages_of_groups
from tests.support.make import (
    SITE,
    make_act,
    make_batch,
    make_event_record,
    make_known_pause,
    make_outbox,
    make_person,
    make_pull_request_record,
    make_queued,
    make_snapshot,
    make_statistics,
    make_status,
    make_subscription,
    make_timer,
    make_viewer,
)

KINDS = {classify(make_event_record(each)): each for each in sorted(EVENT_TYPES)}
TYPES = sorted(KINDS.values())
"""One event type of each kind."""

LONG_NAME = RepositoryName("o" * 39 + "/" + "r" * 100)
"""As long as hosts allow."""

CALLED = ("U0ADA", "U0GRACE")
"""People whom our own messages mention: outside text never names these."""

ON_CALL = "S0ONCALL"
"""The user group that they mention."""

HOUR = timedelta(hours=1)
DAY = Window(NOON - timedelta(days=1), NOON)

Rendered = Mapping[str, Message | View]


def _windows(text: str) -> Rendered:
    by_window = make_act(Action.PLAN, actor=Actor("rule:window night", text))
    plan = replace(by_window, reason=text, paused_at=NOON, resumes_at=NOON + HOUR)
    skip = make_act(Action.SKIP, actor=Actor("U1", text))
    return {
        "pause planned": freezes.planned_pause(replace(plan, setting_after=text[:80])),
        "planned pause skipped": freezes.skipped_pause(skip),
        "skip answered": freezes.skip_reply(skip, is_new=True),
        "skipped before": freezes.skip_reply(skip, is_new=False),
        "skipped too late": freezes.skip_reply(plan, is_new=False),
    }


def _removals(text: str, url: str) -> Rendered:
    queued = make_queued(41, title=text, url=url, author=text)
    act = replace(make_act(Action.REMOVE, actor=Actor("U1", text)), pull_request=41)
    seen = make_pull_request_record(title=text, url=url, author=text)
    lost = replace(act, detail=LEFT_UNSEEN)
    return {
        "remove": removals.question(WouldRemove(SITE, queued, RemovalImpact())),
        "removed": removals.done(act, seen),
        "removed without a title": removals.done(act, None),
        "removed perhaps": removals.done(lost, seen),
        "removal answered": removals.answer(Removed(act, seen, posted_here=True)),
        "removal answered in doubt": removals.answer(Removed(lost, seen, posted_here=True)),
        "not removed": removals.not_removed(NotRemoved(SITE, 41, Unremovable.GONE, act)),
    }


def every_message(text: str, url: str) -> Rendered:
    """By a name of its own each; `text` and `url` come from outside."""
    snapshot = make_hostile_snapshot(text, url)
    branch = text[:BRANCH_LIMIT] or None
    found: dict[str, Message | View] = {
        "help": help_messages.help_text("/mq"),
        "help pause": help_messages.help_text("/mq", "pause"),
        "status": status.status(snapshot),
        "status of a branch": status.status(make_snapshot(branch=branch)),
        "waiting page": status.waiting_page(snapshot, 10),
        "home": home.home(make_home_state(text, snapshot, SITE), make_viewer(text), "/mq"),
        "home of one who may not pause": home.home(
            make_home_state(text, snapshot, SITE), make_viewer(may_pause=False), "/mq"
        ),
        "home without the database": home.unavailable(),
        "pause confirm": pause.confirm(
            actions.PauseChoice(LONG_NAME, text[:255], For(timedelta(hours=2))),
            Impact(12, 9, 3, NOON, 24),
            "/mq",
        ),
        **_removals(text, url),
        **_windows(text),
        "linked": people.linked(make_person(text), "/mq"),
        "linked first": people.linked(make_person(text), "/mq", is_first=True),
        "login taken": people.taken(text),
        "login assigned": people.assigned(text),
        "login wanted by another": people.wanted_by("U0GRACE", text, "/mq"),
        "me": people.me(make_person(text), "/mq"),
        "merge told its author": people.direct(
            event_posts.event(
                make_event_record(MERGED),
                make_pull_request_record(title=text, url=url, author=text),
            ),
            Notice.MERGE,
        ),
        "me waiting": people.me(
            replace(make_person(text), awaited=[LONG_NAME] * 20),
            "/mq",
            people.stopped_waiting(is_new=False),
        ),
        "me switched": people.me(
            make_person(text, mentions=False),
            "/mq",
            people.switched(dict.fromkeys(Notice, False)),
        ),
        "unlinked": people.unlinked(was_linked=True),
        "home of one who may see nothing": home.refused(
            PermissionDenied(Right.READ, Denied(DenialReason.UNVERIFIABLE, text), WhoCan())
        ),
        "which repository": choice.which_repository([SITE, LONG_NAME], text[:240]),
        "question that has expired": choice.expired(text[:240], "/mq"),
        "merged together": summaries.merged(
            [
                (
                    make_event_record(MERGED, event_id=number, base_ref=text),
                    make_pull_request_record(title=text, url=url, author=text),
                )
                for number in range(1, summaries.MOST + 1)
            ]
        ),
        "summary": summaries.summary(
            {(SITE, EventKind.FAILURE): 7, (LONG_NAME, text): 3},
            NOON,
            [(_leave(text, url), make_pull_request_record(title=text, url=url, author=text))] * 2,
        ),
    }
    return {
        **found,
        **_pauses(text, snapshot),
        **messages_of_groups(text, snapshot),
        **messages_of_boards(text, url, snapshot),
        **messages_of_freezes(text, LONG_NAME),
        **messages_of_audit(text),
        **messages_of_alerts(text, url),
        **_pause_cards(text),
        **_freezes(text),
        **_windows(text),
        **_questions(text, url, snapshot),
        **_subscriptions(text),
        **_errors(text),
        **_events(text, url),
    }


def make_home_state(text: str, *queues: ReadQueue) -> HomeState:
    """As full as it gets."""
    subscription = make_subscription("merge", text or "enter", repository=LONG_NAME)
    return HomeState(
        queues=queues,
        first=10,
        total=10 + len(queues) + 3,
        polled={SITE: NOON - timedelta(hours=3)},
        subscriptions=[subscription] * 20,
        outbox=make_outbox(1234, 5, NOON - timedelta(hours=1), [("C0GONE", text)] * 9),
        outages=(),
        read_at=NOON,
        timed=[PauseRecord(LONG_NAME, NOON, text, text, timer=make_timer(text))] * 20,
    )


def make_hostile_snapshot(text: str, url: str) -> Snapshot:
    """More than is shown of everything, and `text` in every field."""
    queued = [
        make_queued(number, title=text, url=url, author=text, priority_alias=text)
        for number in range(16)
    ]
    batches = [
        make_batch(*queued[:7], name=text + str(number), code=text, estimated_merge_at=NOON)
        for number in range(6)
    ]
    known = make_known_pause(text, actor=Actor("U1", text, "T0ACME"))
    queue = make_status(*batches, waiting=queued)
    return make_snapshot(
        queue, pause=known, repository=LONG_NAME, branch=text[:BRANCH_LIMIT] or None
    )


def _pauses(text: str, snapshot: Snapshot) -> Rendered:
    actor = Actor("U1", text, "T0ACME")
    known = make_known_pause(text, actor=actor)
    paused = make_act(actor=actor, reason=text, repository=LONG_NAME)
    replaced = make_act(
        actor=actor, reason=text, previous_reason=text, previous_paused_at=NOON, repository=SITE
    )
    # A reason is held to 255 characters before it gets into a button.
    already = pause.already_paused(LONG_NAME, known, text[:255])
    return {
        "paused": pause.act(paused),
        "replaced": pause.act(replaced),
        "paused reply": pause.paused_reply(paused),
        "replaced reply": pause.replaced(replaced),
        "not paused": pause.not_paused(LONG_NAME),
        "resumed, to a machine": pause.resumed_reply(LONG_NAME),
        "paused already, to a machine": pause.left_as_paused(known),
        "not its pause, to a machine": pause.not_yours(known),
        "already paused": already,
        "already paused timed": pause.already_paused(
            LONG_NAME, replace(known, timer=make_timer()), text[:255], Until(time(15))
        ),
        "resume other": pause.resume_other(
            LONG_NAME, replace(known, timer=make_timer(), repository=LONG_NAME)
        ),
        "other pause": pause.other_pause(LONG_NAME, replace(known, timer=make_timer())),
        "other end": timers.other_end(LONG_NAME, replace(known, timer=make_timer())),
        "no end": timers.other_end(LONG_NAME, known),
        "is it an end": pause.is_it_an_end(LONG_NAME, text[:255], text[:250], Until(time(15))),
        "unchanged": pause.unchanged(),
        "over": pause.over(LONG_NAME),
        "reason modal": pause_form.form(
            [SITE, LONG_NAME],
            chosen=SITE,
            channel_id="C1",
            notes=pause_form.queue_notes(snapshot),
        ),
        "second person needed": pause.act(
            replace(
                make_act(action=Action.RESUME, actor=Actor("U1", text), previous_reason=text),
                detail=SECOND_PERSON,
            )
        ),
        "pause extended": pause.act(
            make_act(action=Action.EXTEND, actor=Actor("U1", text), resumes_at=NOON)
        ),
        "stats checks": statistics.check_statistics(_checks(text)),
        "weekly": statistics.weekly(_checks(text)),
        "pause kept": pause.act(make_act(action=Action.KEEP, actor=Actor("U1", text))),
        "pause kept, to the actor": timers.extended_reply(make_act(action=Action.KEEP)),
        "timer that did nothing": pause.act(
            make_act(
                action=Action.RESUME,
                origin=Origin.TIMER,
                result=ActResult.UNCHANGED,
                actor=Actor("U1", text),
                previous_reason=text,
            )
        ),
        "pause extended, to the actor": timers.extended_reply(make_act(resumes_at=NOON)),
        "reminder": reminders.reminder(
            PauseRecord(
                LONG_NAME,
                NOON,
                text,
                text,
                Who(text),
                queued_at_start=2,
                queued_now=7,
                timer=make_timer(resumes_at=NOON + timedelta(hours=2)),
            ),
            NOON + timedelta(hours=1),
        ),
        "reminder of a pause that is over": reminders.over(
            PauseRecord(LONG_NAME, NOON, text, text, ended_by=Who(text), ended_at=NOON)
        ),
        "a message that could not be rendered": errors.unrendered(LONG_NAME, "merge", updates=1),
        "event logs not read": alerts.outage(Outage((LONG_NAME,) * 9, NOON)),
        "event logs read again": alerts.outage_over(
            Outage((LONG_NAME,) * 9, NOON, ended_at=NOON + timedelta(hours=1))
        ),
        "snoozed": reminders.snoozed(LONG_NAME, NOON),
        "group snoozed": reminders.snoozed(LONG_NAME, NOON, "release"),
        "extend modal": timers.extend_form(LONG_NAME, "value", "C0MERGEQ"),
        "extend modal at work": timers.working_modal(),
        "reason modal of one": pause_form.form(
            [SITE], chosen=SITE, channel_id=None, notes=pause_form.queue_notes(make_snapshot())
        ),
        "working modal": pause_form.working_modal(LONG_NAME),
        "result modal": pause_form.result_modal(already, "C1"),
    }


def _freezes(text: str) -> Rendered:
    terms = FreezeAttributes(reason=text, start=text, timezone=text, matching_conditions=(text,))
    planned = Freeze(LONG_NAME, 1, 1, NOON, terms, text, NOON, None, queued=1)
    ended_at = NOON + timedelta(days=1)
    over = replace(planned, stage=Stage.OVER, over_at=ended_at, removed_by=text)
    in_force = replace(planned, stage=Stage.IN_FORCE)
    return {
        "freeze planned": freezes.card(planned),
        "freeze in force": freezes.card(in_force),
        "freeze over": freezes.card(replace(over, removed_for=text)),
        "freeze canceled": freezes.card(replace(over, over_at=NOON)),
        "freeze announced": freezes.announced(planned),
        "freeze begun": freezes.begun(in_force),
        "freeze ended": freezes.over(over),
    }


def _pause_cards(text: str) -> Rendered:
    record = PauseRecord(
        repository=LONG_NAME,
        paused_at=NOON,
        stored_reason=text,
        reason=text,
        by=Who(text, "U1"),
        previous_reason=text,
        queued_at_start=400,
        queued_now=412,
        joined=frozenset(range(12)),
    )
    found: dict[str, Message | View] = {
        "pause card": pause_card.card(replace(record, timer=make_timer())),
        "pause card by rule": pause_card.card(
            replace(record, timer=replace(make_timer(), set_by=Who(text, AUTO_PAUSE.user_id))),
            Evidence(text, text, tuple(range(1, 60)), ON_CALL),
            {1: make_pull_request_record(title=text, url="https://code.example/1", author=text)},
        ),
        "pause card overdue": pause_card.card(replace(record, timer=make_timer(failures=1))),
        "replaced elsewhere": pause_card.replaced_elsewhere(record),
        "told when it resumes": pause_card.will_notify(LONG_NAME, is_new=True),
        "told already": pause_card.will_notify(LONG_NAME, is_new=False),
    }
    for ending in PauseEnding:
        over = replace(record, ended_at=NOON, ended_by=Who(text), ending=ending)
        found[f"pause card {ending}"] = pause_card.card(over)
        found[f"pause end {ending}"] = pause_card.ended(over)
        found[f"still paused after {ending}"] = pause_card.still_paused(over)
        found[f"resumed {ending}"] = pause_card.resumed(over)
        found[f"resumed for you {ending}"] = pause_card.resumed_for_you(over, is_paused_again=True)
        found[f"already running {ending}"] = pause.not_paused(LONG_NAME, over)
        found[f"paused again {ending}"] = pause_card.resumed(over, is_paused_again=True)
    return found


def _questions(text: str, url: str, snapshot: Snapshot) -> Rendered:
    queued = snapshot.status.waiting_pull_requests[0]
    leave = _leave(text, url)
    seen = make_pull_request_record(title=text, url=url, author=text)
    branch = text[:BRANCH_LIMIT] or None
    types = frozenset(sorted(EVENT_TYPES, key=len)[-TYPES_LIMIT:])
    selection = LogSelection(LONG_NAME, DAY, 41, branch, types, LARGEST_SHOWN)
    pages = LogPage(
        LogPlace(selection, "c" * 3000),
        [leave] * LARGEST_SHOWN,
        {},
        {41: seen},
        LogPlace(selection, text * 3),
        LogPlace(selection, "c" * 3000),
        unreadable=3,
        restarted=True,
    )
    places: list[QueuePosition] = [
        InBatch(queued, snapshot.status.batches[0], 2),
        InQueue(queued, 7, 9),
        Merged(leave),
        Left(leave),
        NotListed(),
        NeverQueued(),
    ]
    config: dict[str, JsonValue] = {text + str(number): text for number in range(30)}
    config |= {"list": [text] * 9, "nothing": None, "yes": True, "size": 5}
    rule = QueueRule(name=text, config=config)
    found: dict[str, Message | View] = {
        f"why {type(place).__name__}": why.why(
            Explanation(41, snapshot, place, [leave] * 20, {}, seen, whole_log=False)
        )
        for place in places
    }
    return {
        **found,
        "why of one whose title is not known": why.why(
            Explanation(41, make_snapshot(), Left(leave), [], {}, None)
        ),
        "event log": event_log.event_log(pages),
        "empty event log": event_log.event_log(LogPage(LogPlace(selection), [])),
        "rules": rules.rules(LONG_NAME, (rule,) * 30, 5),
        "no rules": rules.rules(LONG_NAME, ()),
        "statistics": statistics.statistics(make_statistics(LONG_NAME, text[:BRANCH_LIMIT])),
        "shared statistics": statistics.shared(make_statistics(LONG_NAME, text[:BRANCH_LIMIT])),
        "branches": branches.branches(
            LONG_NAME,
            HOUR,
            BranchPage((BranchActivity(text, 10**6, leave, seen),) * branches.PAGE, 20, 300),
        ),
        "no branches": branches.branches(LONG_NAME, HOUR, BranchPage((), 0, 0)),
    }


def _subscriptions(text: str) -> Rendered:
    wide = Subscription(
        "C0MERGEQ",
        LONG_NAME,
        frozenset({*Topic, *EVENT_TYPES}),
        frozenset({text, *map(str, range(20))}),
        frozenset({text, *map(str, range(20))}),
        style=Style.DIGEST,
        digest=DigestTime(time(9), text[:200]),
    )
    subscription = Subscription("C1", LONG_NAME, frozenset({*Topic, *EVENT_TYPES}))
    found: dict[str, Message | View] = {
        f"subscribed {access}": subscriptions.subscribed(
            LONG_NAME, [subscription], access, command="/mq", bot_name=text
        )
        for access in ChannelAccess
    }
    return {
        **found,
        **_subscriptions_together(text, wide),
        "levels": subscriptions.levels(LONG_NAME, (NOON, dict.fromkeys(Level, 1_000_000))),
        "levels without an hour": subscriptions.levels(LONG_NAME, None),
        "subscribed besides": subscriptions.subscribed(
            LONG_NAME,
            [subscription],
            ChannelAccess.INVITE,
            command="/mq",
            bot_name=text,
            configured=[wide],
        ),
        "already so": subscriptions.already_so(LONG_NAME, [wide], "/mq"),
        "default set": subscriptions.default_set(LONG_NAME),
        "default forgotten": subscriptions.default_set(None),
        "default told": subscriptions.default_reply(LONG_NAME, "/mq"),
        "no default": subscriptions.default_reply(None, "/mq"),
        "samples": subscriptions.samples(LONG_NAME, [("merge", [wide] * 8)] * 3, text),
        "subscriptions with all options": subscriptions.subscriptions([wide] * 12, "/mq", SITE),
        "unsubscribed": subscriptions.unsubscribed(LONG_NAME, [LONG_NAME], [], "/mq"),
        "unsubscribed in part": subscriptions.unsubscribed(
            LONG_NAME, [], [make_subscription()], "/mq"
        ),
        "was not heard": subscriptions.not_subscribed(
            LONG_NAME, [make_subscription(text[:200] or "enter")], "/mq"
        ),
        "was not subscribed": subscriptions.not_subscribed(LONG_NAME, [], "/mq"),
        "configured": subscriptions.still_configured([LONG_NAME] * 40),
        "subscriptions": subscriptions.subscriptions([make_subscription()] * 40, "/mq"),
        "no subscriptions": subscriptions.subscriptions([], "/mq"),
    }


def _subscriptions_together(text: str, wide: Subscription) -> Rendered:
    group = Group("release", (LONG_NAME,) * 60)
    found = [wide, *[make_subscription()] * 60]
    return {
        "subscribed together": subscriptions.subscribed(
            group,
            found,
            ChannelAccess.INVITE,
            bot_name=text,
            configured=found,
            command="/mq",
        ),
        "already so together": subscriptions.already_so(group, found, "/mq"),
        "unsubscribed together": subscriptions.unsubscribed(group, group.repositories, [], "/mq"),
        "unsubscribed together in part": subscriptions.unsubscribed(
            group, group.repositories, found, "/mq"
        ),
        "narrowed together": subscriptions.unsubscribed(group, [], found, "/mq"),
        "was not subscribed together": subscriptions.not_subscribed(group, [], "/mq"),
        "was not heard together": subscriptions.not_subscribed(group, found, "/mq"),
    }


def _errors(text: str) -> Rendered:
    names = Repositories((SITE, LONG_NAME)).names
    raised: list[Exception] = [
        CommandSyntaxError(text, usage=text, nearest=("pause",), instead=("pause",)),
        RepositoryNotAllowed(text, names * 20),
        RepositoryNotAllowed(text, ()),
        RepositoryNotChosen(names * 20),
        *_denials(text),
        NeedsClick(),
        QueueBusy(LONG_NAME),
        SecondPersonNeeded(LONG_NAME, text, is_asked=True),
        SecondPersonNeeded(LONG_NAME, None, is_asked=False),
        UnknownGroup(text, (text,) * 60, text),
        *(InvalidDuration(problem, text) for problem in DurationProblem),
        InvalidCondition(text, "a label"),
        InvalidReason(0),
        InvalidReason(999),
        MergeQueueUnavailable(text),
        MergeQueueProtocolError(text),
        ServiceMoved(text, text),
        CredentialRefused(403, text),
        ResourceNotFound(404, text),
        NotOffered(410, text),
        PauseNotOffered(404, text),
        FreezesNotOffered(404, text),
        StateConflict(409, text),
        InvalidRequest(422, text, field=text or None),
        InvalidConfiguration(422, text),
        StoreUnavailable(text),
        CutOff(text),
        ValueError(text),
    ]
    return {
        "defect": errors.defect("0a1b2c3d", "/mq"),
        **{
            f"error {number} {type(error).__name__}": errors.explain(
                error, command="/mq", reference="0a1b2c3d", repository=LONG_NAME, retry=text or None
            )
            for number, error in enumerate(raised)
        },
    }


def _denials(text: str) -> list[Exception]:
    names = (text,) * 10
    who_can = WhoCan(names, names, more=7)
    return [
        PermissionDenied(right, Denied(reason, text), who_can)
        for right in Right
        for reason in DenialReason
    ]


def _leave(text: str, url: str) -> EventRecord:
    return make_event_record(
        "action.queue.leave",
        base_ref=text,
        reason=text,
        merged=False,
        queue_name=text,
        trigger="@" + text,
        checks=[{"name": text, "url": url}] * 5,
    )


def _events(text: str, url: str) -> Rendered:
    seen = make_pull_request_record(title=text, url=url, author=text)
    found: dict[str, Message | View] = {
        f"event {event_type}": event_posts.event(
            make_event_record(
                event_type,
                repository=LONG_NAME,
                base_ref=text,
                reason=text,
                actor=text,
                conclusion=text,
                queue_name=text,
                trigger="@" + text,
                queued_at=(NOON - timedelta(minutes=9)).isoformat(),
                pull_requests=[1, 2, 3],
                culprits=[1],
                remaining=[2, 3],
                checks=[{"name": text, "url": url}] * 5,
            ),
            seen,
        )
        for event_type in [*TYPES, text]
    }
    for code in ["CHECKS_FAILED", "PR_AHEAD_DEQUEUED", text]:
        leave = make_event_record("action.queue.leave", code=code, trigger="@" + text)
        found[f"leave {code}"] = event_posts.event(leave, seen, calls=[*map(mention, CALLED)])
        found[f"broadcast {code}"] = event_posts.event(
            leave, seen, calls=[*map(mention, CALLED)], is_brief=True
        )
        ended = make_event_record(
            "action.queue.checks_end", code=code, aborted=True, abort_status="REEMBARKED"
        )
        found[f"put back {code}"] = event_posts.event(ended, None)
    return found


def _checks(text: str) -> CheckStatistics:
    """More checks and reasons than are shown."""
    checks = {f"{text} {one}": one for one in range(9)}
    reasons: dict[str | None, int] = {f"{text}{one}": one for one in range(9)}
    now = Removals(400, checks, reasons, timedelta(hours=30), timedelta(minutes=4))
    week = timedelta(days=7)
    return CheckStatistics(LONG_NAME, week, NOON - week, NOON, now, now)
