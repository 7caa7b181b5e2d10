"""The signature of a reason, because the service stores no author of a pause or a freeze."""

SIGNED_NAME_LIMIT = 80

_BEGINS = " (by "
_OF_PERSON = " via Slack)"
_OF_MACHINE = " via mqbot)"


def signatures(name: str) -> tuple[str, str]:
    """What a reason ends with if a person, or a machine, of that name gave it."""
    shown = name[:SIGNED_NAME_LIMIT]
    return f"{_BEGINS}{shown}{_OF_PERSON}", f"{_BEGINS}{shown}{_OF_MACHINE}"


def signed_by(reason: str) -> str | None:
    """The name in the signature of a reason; None if it isn't signed.

    Everybody who may pause at the service can write such a reason. So the name is only shown: it
    gives no right, and doesn't say which person has it.
    """
    said, _, signature = reason.strip().rpartition(_BEGINS)
    for end in (_OF_PERSON, _OF_MACHINE):
        name = signature.removesuffix(end)
        if name != signature and name.strip() and said.strip():
            return name
    return None


def unsigned_reason(reason: str, name: str | None) -> str:
    """The reason without the signature of a person or machine of that name."""
    if name is None:
        return reason
    of_person, of_machine = signatures(name)
    return reason.removesuffix(of_person).removesuffix(of_machine)
