"""Reasons, as typed and as signed for the service."""

from string import whitespace

from bot.acts.errors import InvalidReason
from bot.acts.permission import is_machine
from bot.acts.signatures import signatures
from bot.kernel.actor import Actor

REASON_LIMIT = 255
"""API document, Limits: a pause reason has at most 255 characters."""


_UNSEEN_AROUND = "\u034f\u115f\u1160\u2800\u3164\uffa0\u200c\u200d" + whitespace
"""Fillers, joiners and the empty Braille cell: letters to Unicode, nothing to the eye."""


def check_reason(reason: str) -> str:
    """The reason, stripped; raises InvalidReason when blank or over 255 characters."""
    stripped = reason.strip()
    if not stripped.strip(_UNSEEN_AROUND):
        raise InvalidReason(0)
    if len(stripped) > REASON_LIMIT:
        raise InvalidReason(len(stripped))
    return stripped


def signed_reason(reason: str, actor: Actor) -> str:
    """The reason with the person's name, because the service stores no author.

    At most 255 characters; the reason is shortened for that, never the name.
    """
    possible = signatures(actor.name)
    signature = possible.of_machine if is_machine(actor.user_id) else possible.of_person
    room = REASON_LIMIT - len(signature)
    if len(reason) > room:
        reason = reason[: room - 1].rstrip() + "…"
    return reason + signature
