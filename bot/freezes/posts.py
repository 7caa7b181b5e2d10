"""How posts and cards about freezes are rendered when they are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.acts.group_act import GroupAct
from bot.blocks.message import Message
from bot.freezes.following import POST_OF_STAGE as STAGE_POSTS
from bot.freezes.freeze import Freeze, Stage, stage_together
from bot.freezes.group_freezes import act_that_froze, freezes_of_act
from bot.freezes.rows import Freezes
from bot.freezes.texts import cards as freeze_cards, forms as freeze_forms
from bot.freezes.texts.cards import FrozenTogether
from bot.freezes.texts.group_cards import GroupFreezes, frozen_group_card
from bot.freezes.texts.together import still_frozen, still_frozen_of
from bot.merge_queue.features import ServiceFeature
from bot.posts.claim import Claim
from bot.posts.delivery import Delivery, SubjectKind
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.rendering import RenderLiveMessage, RenderPost
from bot.store.installation import ServiceFeatures
from bot.store.transaction import Transaction


def _stage(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    """None if the freeze was changed since, or is in a later stage that has a post of its own."""
    about = delivery.subject
    freeze = Freezes(transaction).set_by(about.repository, about.subject_id)
    if freeze is None or STAGE_POSTS.get(freeze.stage) is not about.kind:
        return None
    root = claim.root_of(delivery)
    post = None
    if root is not None and root.subject.kind is LiveKind.GROUP:
        post = _say_together(transaction, freeze)
    post = post or _say(transaction, freeze)
    return replace(post, happened_at=freeze.told.set_at)


def _say_together(transaction: Transaction, freeze: Freeze) -> Message | None:
    """In the thread of its group's card; None if it alone begins or ends then."""
    act = act_that_froze(transaction, freeze)
    freezes = stage_together(Freezes(transaction).of_act(freeze.group_act_id), freeze)
    if act is None or freeze not in freezes or len(freezes) == 1:
        return None
    together = FrozenTogether(act.group, [other.repository for other in freezes])
    counts = [other.queued for other in freezes if other.queued is not None]
    counted = replace(freeze, queued=sum(counts))
    if freeze.stage is Stage.ANNOUNCED:
        return freeze_cards.announced(counted, together)
    if freeze.stage is Stage.IN_FORCE:
        return freeze_cards.begun(counted, together)
    still = [other.repository for other in freezes if _beside(transaction, other)]
    return freeze_cards.freeze_over(freeze, still_frozen_of(still), together)


def _beside(transaction: Transaction, freeze: Freeze) -> Sequence[Freeze]:
    """The freezes of its queue that were in force when it ended."""
    if freeze.over_at is None:
        return ()
    return Freezes(transaction).in_force(freeze.repository, freeze.over_at)


def _say(transaction: Transaction, freeze: Freeze) -> Message:
    if freeze.stage is Stage.ANNOUNCED:
        return freeze_cards.announced(freeze)
    if freeze.stage is Stage.IN_FORCE:
        return freeze_cards.begun(freeze)
    return freeze_cards.freeze_over(freeze, still_frozen(_beside(transaction, freeze)))


def _freeze_card_now(transaction: Transaction, subject: LiveSubject) -> Message | None:
    freeze = Freezes(transaction).one(int(subject.key))
    if freeze is None:
        return None
    is_offered = ServiceFeatures(transaction).offers(ServiceFeature.FREEZES)
    buttons = freeze_forms.card_controls(freeze) if is_offered else ()
    return replace(freeze_cards.freeze_card(freeze, buttons), happened_at=freeze.told.set_at)


def frozen_group_now(transaction: Transaction, act: GroupAct) -> Message:
    """The card of a group that was frozen, once the act has ended."""
    is_offered = ServiceFeatures(transaction).offers(ServiceFeature.FREEZES)
    now = GroupFreezes(act, freezes_of_act(transaction, act))
    return frozen_group_card(now, is_offered=is_offered)


FREEZE_POSTS: Mapping[SubjectKind, RenderPost] = {
    SubjectKind.FREEZE_ANNOUNCED: _stage,
    SubjectKind.FREEZE_BEGUN: _stage,
    SubjectKind.FREEZE_OVER: _stage,
}

FREEZE_LIVE_MESSAGES: Mapping[LiveKind, RenderLiveMessage] = {LiveKind.FREEZE: _freeze_card_now}
