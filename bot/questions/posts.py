"""How the weekly summary is rendered when it is posted."""

from collections.abc import Mapping
from datetime import date

from bot.blocks.message import Message
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic
from bot.posts.claim import Claim
from bot.posts.delivery import Delivery, SubjectKind
from bot.posts.rendering import RenderPost
from bot.questions.posting_weekly import weekly_at, zone_of
from bot.questions.reading_statistics import read_week
from bot.questions.texts import weekly as weekly_texts
from bot.store.transaction import Transaction


def _weekly(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    """None where nothing merged, left or was held in both weeks, and after unsubscribing."""
    name = delivery.subject.repository
    day = date.fromordinal(delivery.subject.subject_id)
    subscriptions = Subscriptions(transaction).of_channel(delivery.channel_id)
    own = (
        followed
        for followed in subscriptions
        if followed.repository == name and Topic.WEEKLY in followed.topics
    )
    subscription = next(own, None)
    if subscription is None:
        return None
    end = min(weekly_at(day, zone_of(subscription)), claim.at)
    found = read_week(transaction, name, end)
    return None if found.is_none else weekly_texts.weekly(found)


QUESTION_POSTS: Mapping[SubjectKind, RenderPost] = {SubjectKind.WEEKLY: _weekly}
