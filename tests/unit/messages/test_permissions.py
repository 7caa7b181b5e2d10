"""The refusal of a person without permission."""

import pytest

from bot.domain.errors import PermissionDenied
from bot.domain.permissions import DenialReason, Denied, Right, WhoCan
from bot.messages.permissions import denied

EVERYBODY = WhoCan()


def say(reason: DenialReason, who: WhoCan = EVERYBODY, code: str | None = None) -> str:
    return denied(PermissionDenied(Right.PAUSE, Denied(reason, code), who))


@pytest.mark.parametrize(
    ("who", "sentence"),
    [
        (WhoCan(), "Only full members of this workspace may pause a queue."),
        (
            WhoCan(("@releasers",), ("alice",)),
            "Only members of the user group @releasers and alice may pause a queue.",
        ),
        (
            WhoCan(("@a", "@b"), ("alice",)),
            "Only members of the user groups @a and @b, and also alice may pause a queue.",
        ),
        (WhoCan((), ("alice", "bob"), 3), "Only alice, bob and 3 more may pause a queue."),
    ],
    ids=map(str, range(4)),
)
def test_a_refusal_says_who_can(who: WhoCan, sentence: str) -> None:
    assert say(DenialReason.NOT_LISTED, who) == f"You may not pause a queue. {sentence}"


@pytest.mark.parametrize(
    ("reason", "because"),
    [
        (DenialReason.GUEST, "you are a guest here"),
        (DenialReason.OTHER_ORGANISATION, "you belong to another organisation"),
        (DenialReason.BOT, "you are a bot"),
        (DenialReason.DEACTIVATED, "your account is deactivated"),
        (DenialReason.UNKNOWN_PERSON, "Slack does not know your account"),
    ],
)
def test_a_refusal_says_why(reason: DenialReason, because: str) -> None:
    assert say(reason).startswith(f"You may not pause a queue: {because}. Only full members")


@pytest.mark.parametrize(
    ("code", "mend"),
    [
        ("ratelimited", "Please try again in a minute"),
        ("missing_scope", "install the app again with its present manifest"),
        ("plan_upgrade_required", "name people instead (MQBOT_WHO_MAY_PAUSE)"),
    ],
)
def test_without_slacks_answer_the_fix_fits_the_cause(code: str, mend: str) -> None:
    sentence = say(DenialReason.UNVERIFIABLE, code=code)
    assert f"Slack didn't confirm that you may (`{code}`). Nothing was changed." in sentence
    assert mend in sentence


def test_names_are_plain_text_and_mention_nobody() -> None:
    sentence = say(DenialReason.NOT_LISTED, WhoCan(("<!channel>",), ("<@U0ALICE>",)))
    assert "<" not in sentence
    assert "&lt;!channel&gt;" in sentence
