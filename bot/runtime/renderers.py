"""How every post and live message is rendered: what the subjects say, put together."""

from dataclasses import replace

from bot.acts.record import Action, ActResult
from bot.acts.rows import Audit
from bot.blocks.blocks import without_controls
from bot.blocks.message import Message
from bot.boards import posts as board_posts
from bot.channels.texts import followed
from bot.feed import posts as feed_posts
from bot.feed.counting_repeats import begin_counting
from bot.feed.rendering import summary_post
from bot.freezes import posts as freeze_posts
from bot.freezes.texts import cards as freeze_cards
from bot.groups import posts as group_posts
from bot.health import posts as health_posts
from bot.kernel.actor import Origin
from bot.log.rows import PullRequests
from bot.pauses import posts as pause_posts
from bot.pauses.by_rule import AUTO_PAUSE
from bot.pauses.texts import (
    replies as pause_replies,
)
from bot.posts.claim import Claim
from bot.posts.delivery import Delivery, SubjectKind
from bot.posts.rendering import Renderers
from bot.questions import posts as question_posts
from bot.removals import texts as removal_texts
from bot.store.transaction import Transaction
from bot.storms import posts as storm_posts


def _act_post(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    act = Audit(transaction).one(delivery.subject.subject_id)
    if act is None:
        return None
    if delivery.subject.kind is not SubjectKind.ACT:
        message = pause_replies.changed_by_other(act)
    elif act.where.origin is Origin.RULE and act.result in {ActResult.FAILED, ActResult.REFUSED}:
        is_of_auto_pause = act.actor.user_id == AUTO_PAUSE.user_id
        message = (
            pause_replies.not_paused_by_rule(act)
            if is_of_auto_pause
            else freeze_cards.window_not_applied(act)
        )
    elif act.action in {Action.SUBSCRIBE, Action.UNSUBSCRIBE}:
        return replace(
            followed.subscriptions_changed(Audit(transaction).together(act)), happened_at=act.at
        )
    elif act.action in _PLANS:
        message = _PLANS[act.action](act)
    elif act.pull_request is None:
        message = pause_replies.act_post(act)
    else:
        linked = PullRequests(transaction).linked(act.repository, [act.pull_request])
        message = removal_texts.done(act, linked.get(act.pull_request))
    if act.action is not Action.PLAN:
        # In the thread of a card, which has the buttons.
        message = without_controls(message)
    return replace(message, happened_at=act.at)


_PLANS = {Action.PLAN: freeze_cards.planned_pause, Action.SKIP: freeze_cards.skipped_pause}


RENDERERS = Renderers(
    posts={
        SubjectKind.ACT: _act_post,
        SubjectKind.REPLACED: _act_post,
        **pause_posts.PAUSE_POSTS,
        **freeze_posts.FREEZE_POSTS,
        **group_posts.GROUP_POSTS,
        **health_posts.HEALTH_POSTS,
        **feed_posts.FEED_POSTS,
        **question_posts.QUESTION_POSTS,
    },
    live_messages={
        **pause_posts.PAUSE_LIVE_MESSAGES,
        **freeze_posts.FREEZE_LIVE_MESSAGES,
        **group_posts.GROUP_LIVE_MESSAGES,
        **board_posts.BOARD_LIVE_MESSAGES,
        **feed_posts.FEED_LIVE_MESSAGES,
        **storm_posts.STORM_LIVE_MESSAGES,
        **health_posts.HEALTH_LIVE_MESSAGES,
    },
    summary=summary_post,
    when_posted=begin_counting,
)
