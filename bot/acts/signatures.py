"""The signature of a reason, because the service stores no author of a pause or a freeze."""

from typing import NamedTuple

SIGNED_NAME_LIMIT = 80

_BEGINS = " (by "
_OF_PERSON = " via Slack)"
_OF_MACHINE = " via mqbot)"


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
