"""How posts and cards about freezes are rendered when they are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.blocks.message import Message
from bot.freezes.freeze import Freeze, Stage
from bot.freezes.notifying import POST_OF_STAGE as STAGE_POSTS
from bot.freezes.rows import Freezes
from bot.freezes.texts import cards as freeze_cards, forms as freeze_forms
from bot.freezes.texts.together import still_frozen
from bot.merge_queue.features import ServiceFeature
from bot.posts.claim import Claim
from bot.posts.delivery import Delivery, SubjectKind
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.rendering import RenderLiveMessage, RenderPost
from bot.store.installation import ServiceFeatures
from bot.store.transaction import Transaction


def _stage(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """None if the freeze was changed since, or is in a later stage that has a post of its own."""
    about = delivery.subject
    freeze = Freezes(transaction).set_by(about.repository, about.subject_id)
    if freeze is None or STAGE_POSTS.get(freeze.stage) is not about.kind:
        return None
    post = _say(transaction, freeze)
    return replace(post, happened_at=freeze.told.set_at)


def _say(transaction: Transaction, freeze: Freeze) -> Message:
    if freeze.stage is Stage.ANNOUNCED:
        return freeze_cards.announced(freeze)
    if freeze.stage is Stage.IN_FORCE:
        return freeze_cards.begun(freeze)
    others: Sequence[Freeze] = ()
    if freeze.over_at is not None:
        others = Freezes(transaction).in_force(freeze.repository, freeze.over_at)
    return freeze_cards.freeze_over(freeze, still_frozen(others))


def _freeze_card_now(transaction: Transaction, subject: LiveSubject) -> Message | None:
    freeze = Freezes(transaction).one(int(subject.key))
    if freeze is None:
        return None
    is_offered = ServiceFeatures(transaction).offers(ServiceFeature.FREEZES)
    buttons = freeze_forms.card_controls(freeze) if is_offered else ()
    return replace(freeze_cards.freeze_card(freeze, buttons), happened_at=freeze.told.set_at)


FREEZE_POSTS: Mapping[SubjectKind, RenderPost] = {
    SubjectKind.FREEZE_ANNOUNCED: _stage,
    SubjectKind.FREEZE_BEGUN: _stage,
    SubjectKind.FREEZE_OVER: _stage,
}

FREEZE_LIVE_MESSAGES: Mapping[LiveKind, RenderLiveMessage] = {LiveKind.FREEZE: _freeze_card_now}
