"""Reasons, as typed and as signed, because the service stores no author."""

from string import whitespace
from typing import NamedTuple

from bot.acts.errors import InvalidReason
from bot.acts.permission import is_machine
from bot.blocks.text import clean
from bot.kernel.actor import Actor

REASON_LIMIT = 255
"""API document, Limits: a pause reason has at most 255 characters."""

SIGNED_NAME_LIMIT = 80

_BEGINS = " (by "
_OF_PERSON = " via Slack)"
_OF_MACHINE = " via mqbot)"


_VARIANTS = "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Select how the character before them looks, and are nothing by themselves."""

_UNSEEN_AROUND = "\u034f\u115f\u1160\u2800\u3164\uffa0\u200c\u200d" + whitespace + _VARIANTS
"""Fillers, joiners and the empty Braille cell: letters to Unicode, nothing to the eye."""


def is_visible(text: str) -> bool:
    """Whether a person sees anything of it."""
    return bool(clean(text, REASON_LIMIT).strip(_UNSEEN_AROUND))


def check_reason(reason: str) -> str:
    """The reason, stripped; raises InvalidReason when blank or over 255 characters."""
    stripped = reason.strip()
    if not is_visible(stripped):
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


class Signatures(NamedTuple):
    """What a reason ends with if a person, or a machine, of one name gave it."""

    of_person: str
    of_machine: str


def signatures(name: str) -> Signatures:
    begins = f"{_BEGINS}{name[:SIGNED_NAME_LIMIT]}"
    return Signatures(f"{begins}{_OF_PERSON}", f"{begins}{_OF_MACHINE}")


def signed_by(reason: str) -> str | None:
    """The name in the signature of a reason; None if it isn't signed.

    Everybody who may pause at the service can write such a reason. So the name is only shown: it
    gives no right, and doesn't say which person has it.
    """
    said, _, signature = reason.strip().rpartition(_BEGINS)
    if not said.strip():
        return None
    for end in (_OF_PERSON, _OF_MACHINE):
        name = signature.removesuffix(end)
        is_signed = name != signature
        if is_signed and name.strip():
            return name
    return None


def unsigned_reason(reason: str, name: str | None) -> str:
    """The reason without the signature of a person or machine of that name."""
    if name is None:
        return reason
    possible = signatures(name)
    return reason.removesuffix(possible.of_person).removesuffix(possible.of_machine)
