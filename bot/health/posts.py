"""How posts about alerts and outages are rendered when they are sent."""

from collections.abc import Mapping

from bot.blocks.message import Message
from bot.health import texts as health_texts
from bot.health.outage_rows import Outages, SlackOutages
from bot.health.rows import AlertCauses, Alerts
from bot.log.rows import PullRequests
from bot.posts.claim import Claim
from bot.posts.delivery import Delivery, SubjectKind
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.rendering import RenderLiveMessage, RenderPost
from bot.store.transaction import Transaction


def _outage(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """None for an outage that ended before it was posted: its end says how long it lasted."""
    outage = Outages(transaction).one(delivery.subject.subject_id)
    if outage is None:
        return None
    if delivery.subject.kind is SubjectKind.OUTAGE_OVER:
        return health_texts.outage_over(outage)
    return health_texts.outage(outage) if outage.ended_at is None else None


def _slack_outage_over(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    outage = SlackOutages(transaction).one(delivery.subject.subject_id)
    return health_texts.slack_outage_over(outage) if outage is not None else None


def _alert(transaction: Transaction, subject: LiveSubject) -> Message | None:
    alert = Alerts(transaction).one(int(subject.key))
    if alert is None:
        return None
    number = alert.pull_request or 0
    seen = PullRequests(transaction).get(alert.repository, [number] if number else [])
    return health_texts.alert(alert, seen.get(number))


def _alert_cause(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """None once the alert is over."""
    told = AlertCauses(transaction).one(delivery.subject.subject_id)
    alert = Alerts(transaction).one(told.alert_id) if told is not None else None
    if told is None or alert is None or alert.ended_at is not None:
        return None
    return health_texts.cause_found(told)


def _alert_over(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    alert = Alerts(transaction).one(delivery.subject.subject_id)
    return health_texts.alert_over(alert) if alert is not None else None


HEALTH_POSTS: Mapping[SubjectKind, RenderPost] = {
    SubjectKind.OUTAGE: _outage,
    SubjectKind.OUTAGE_OVER: _outage,
    SubjectKind.SLACK_OUTAGE_OVER: _slack_outage_over,
    SubjectKind.ALERT_CAUSE: _alert_cause,
    SubjectKind.ALERT_OVER: _alert_over,
}

HEALTH_LIVE_MESSAGES: Mapping[LiveKind, RenderLiveMessage] = {LiveKind.ALERT: _alert}
