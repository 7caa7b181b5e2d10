"""The lines in which `mqbot explain` tells of messages, pull requests and events."""

from collections.abc import Iterator
from datetime import UTC, datetime

from bot.blocks.text import plural
from bot.channels.subscription import Mismatch, Style, SubscriptionSource, words_of
from bot.cli.audit import as_line
from bot.feed.topics import topic_of
from bot.inspection.account import (
    EventAccount,
    EventHistory,
    ExplainedPost,
    MessageAccount,
    Unposted,
)
from bot.log.classification import EventKind
from bot.posts.delivery import UNSUBSCRIBED, Delivery, DeliveryState, Progress
from bot.posts.live_message import LiveMessage
from bot.slack.person import is_for_person
from bot.store.lease_values import EDIT_LEASE, POLL_LEASE, POST_LEASE, Lease


def message_lines(found: MessageAccount, now: datetime) -> Iterator[str]:
    delivery = found.post.delivery
    message = found.post.message
    subject = delivery.subject if delivery is not None else None
    if message is not None:
        shown = message.subject
        yield f"a message about {shown.repository}: {shown.kind} {shown.key}, edited as it changes"
    elif subject is not None:
        yield f"a message about {subject.repository}: {subject.kind} {subject.subject_id}"
    yield from _post_lines(found.post, now)
    if found.others:
        yield f"  a summary: it covers {plural(found.others, 'other', 'others')} of its channel"
    for act in found.acts:
        yield f"  it tells of: {as_line(act)}"
    for account in found.about:
        yield ""
        yield from account_lines(account, now)


def account_lines(account: EventHistory, now: datetime) -> Iterator[str]:
    known = account.known
    what = f"#{account.number}" if account.number is not None else ""
    title = f" “{known.title}” by {known.author}" if known is not None and known.title else ""
    yield f"{account.repository}{what}{title}"
    yield from log_lines(account)
    yield from _subscriptions(account)
    if account.messages:
        yield "messages that are edited as this changes:"
        for post in account.messages:
            yield from _post_lines(post, now)
    if not account.events:
        yield (
            "events: none is stored. It wasn't in the queue while the log was read, or only with "
            "events that nobody was subscribed to, or longer ago than MQBOT_RETENTION_DAYS"
        )
    else:
        yield f"events, oldest first ({len(account.events)}):"
    for event in account.events:
        yield from _event_lines(event, account, now)
    yield from _processes(account, now)


def log_lines(account: EventHistory) -> Iterator[str]:
    if account.polled is None:
        yield "log: never read to its end; is the repository in MQBOT_REPOSITORIES?"
        return
    newest = _time(account.watermark) if account.watermark is not None else "none"
    yield f"log: read at {_time(account.polled.polled_at)}, newest event: {newest}"
    types = sorted(account.polled.polled_types)
    if types:
        read = ", ".join(types)
        yield f"  only these types are read, because nobody is subscribed to others: {read}"


def _subscriptions(account: EventHistory) -> Iterator[str]:
    if not account.subscriptions:
        yield "subscriptions: no channel is subscribed to this repository"
    else:
        yield "subscriptions now:"
    for subscription in account.subscriptions:
        is_typed = subscription.source is SubscriptionSource.COMMAND
        source = f"by {subscription.created_by or 'a command'}" if is_typed else "by MQBOT_CHANNELS"
        since = (
            f" since {_time(subscription.created_at)}"
            if subscription.created_at is not None
            else ""
        )
        yield f"  {subscription.channel_id}: {words_of(subscription)} ({source}{since})"
    for act in account.changes:
        yield f"  changed {_time(act.at)} by {act.actor.name}: {act.where.channel_id}"
        yield f"    from “{act.setting.before}” to “{act.setting.after}”"


def _event_lines(event: EventAccount, account: EventHistory, now: datetime) -> Iterator[str]:
    record = event.record
    branch = f", into {record.base_ref}" if record.base_ref else ""
    topic = topic_of(event.kind)
    of_topic = f"topic {topic}" if topic is not None else "no topic"
    yield f"  {_time(record.received_at)} event {record.event_id} {record.type}{branch}"
    yield f"    counts as {event.kind} ({of_topic})"
    if not event.is_routed:
        yield "    not posted yet: waiting for an event that explains it, or for its turn"
        return
    for post in event.posts:
        for line in _post_lines(post, now):
            yield f"  {line}"
    shown = {
        message.message.channel_id for message in account.messages if message.message is not None
    }
    # A channel may be subscribed by a command and by the settings, without a post for one reason.
    reasons = dict.fromkeys(
        (unposted.subscription.channel_id, _why_unposted(unposted, event, shown))
        for unposted in event.unposted
    )
    for channel_id, why in reasons:
        yield f"    {channel_id}: no post of its own: {why}"
    if not event.posts and not event.unposted:
        yield "    nobody is subscribed"


def _why_unposted(unposted: Unposted, event: EventAccount, shown: set[str]) -> str:
    if unposted.mismatch is not None:
        return _lacking(unposted, event)
    if unposted.is_newer:
        return "subscribed after it"
    if unposted.subscription.channel_id in shown:
        return "the message above shows it by an edit"
    if event.kind is EventKind.ENTER and unposted.subscription.style is Style.THREAD:
        return "arrivals during a pause are counted on its card"
    return (
        "it matches now, but the subscription was different then, the post about an act showed it,"
        " or its delivery is older than MQBOT_RETENTION_DAYS"
    )


def _lacking(unposted: Unposted, event: EventAccount) -> str:
    record = event.record
    if unposted.mismatch is Mismatch.BRANCH:
        return f"only {', '.join(sorted(unposted.subscription.branches))}, not {record.base_ref}"
    if unposted.mismatch is Mismatch.AUTHOR:
        return "its author is left out (except:)"
    topic = topic_of(event.kind)
    return f"not subscribed to {record.type if topic is None else f'{topic} or {record.type}'}"


def _post_lines(post: ExplainedPost, now: datetime) -> Iterator[str]:
    delivery = post.delivery
    message = post.message
    if delivery is not None:
        yield f"  {_addressee(delivery.channel_id)}: {_delivery_state(delivery, now)}"
        yield f"    {_tries(delivery)}"
        if post.summary is not None:
            summary = post.summary
            yield f"    in the summary {summary.delivery_id}: {_delivery_state(summary, now)}"
    if message is not None:
        if delivery is None:
            yield f"  {_addressee(message.channel_id)}: its first post isn't stored any more"
        yield f"    {_edits(message, now)}"


def _addressee(channel_id: str) -> str:
    return f"{channel_id} (a person)" if is_for_person(channel_id) else channel_id


def _delivery_state(delivery: Delivery, now: datetime) -> str:
    progress = delivery.progress
    if progress.settled_at is not None:
        return _settled(progress, _time(progress.settled_at))
    error = f", last: {progress.error}" if progress.error else ""
    if progress.state is DeliveryState.SENDING:
        return f"being sent; the claim lasts until {_time(progress.due_at)}"
    if progress.state is DeliveryState.IN_DOUBT:
        lookups = plural(progress.lookups, "time", "times")
        return (
            f"in doubt{error}: Slack may have posted it, so it is looked for in the channel's"
            f" history, {lookups} so far; next {_time(progress.due_at)}"
        )
    waits = "for its digest, " if delivery.waits_for_digest else ""
    overdue = "overdue since" if progress.due_at < now else "next try"
    return f"waits {waits}{overdue} {_time(progress.due_at)}{error}"


def _settled(progress: Progress, at: str) -> str:
    if progress.state is DeliveryState.DELIVERED:
        return f"posted {at}, ts {progress.message_ts}"
    if progress.state is DeliveryState.SUMMARIZED:
        other = (
            f"another message, ts {progress.message_ts}"
            if progress.message_ts
            else "another message"
        )
        return f"shown {at} by {other}"
    if progress.error == UNSUBSCRIBED:
        return f"dropped {at}, because the channel unsubscribed"
    return f"given up {at}: {progress.error}"


def _tries(delivery: Delivery) -> str:
    progress = delivery.progress
    parts = [f"decided {_time(delivery.created_at)}", plural(progress.attempts, "try", "tries")]
    if progress.failures:
        parts.append(f"{plural(progress.failures, 'failure', 'failures')} in a row")
    if progress.attempted_at is not None:
        parts.append(f"sent {_time(progress.attempted_at)}, rendered just before")
    if progress.process is not None:
        parts.append(f"by process {progress.process}")
    queue = "urgent, " if delivery.urgent else ""
    parts.append(
        f"{queue}number {delivery.sequence} of its channel, delivery_id {delivery.delivery_id}"
    )
    return " · ".join(parts)


def _edits(message: LiveMessage, now: datetime) -> str:
    edits = f"edits: shows change {message.shown} of {message.wanted}"
    if message.edited_by is not None:
        edits += f", the last edit by process {message.edited_by}"
    if message.is_lost:
        return f"{edits}; lost, because Slack refuses to edit it"
    again = ""
    if message.is_second:
        again = "; posted a second time, because Slack refused to edit the first"
    if message.message_ts is None:
        return f"{edits}; not posted yet{again}"
    if message.wanted > message.shown:
        overdue = "overdue since" if message.due_at < now else "next"
        failed = (
            f", {plural(message.failures, 'failure', 'failures')} in a row"
            if message.failures
            else ""
        )
        return f"{edits}; {overdue} {_time(message.due_at)}{failed}{again}"
    return f"{edits}; {'closed' if message.closed else 'up to date'}{again}"


def _processes(account: EventHistory, now: datetime) -> Iterator[str]:
    """Who reads, posts and edits now."""
    known = account.holders
    leases = {
        "reads the log:": known.get(POLL_LEASE),
        "posts:": known.get(POST_LEASE),
        "edits:": known.get(EDIT_LEASE),
    }
    parts = [
        f"{does} {_holder(lease, now)}"
        for does, lease in leases.items()
        if lease is not None and lease.holder
    ]
    if parts:
        yield f"processes now: {', '.join(parts)}"


def _holder(lease: Lease, now: datetime) -> str:
    return lease.holder if lease.expires_at > now else f"{lease.holder} (not now)"


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
