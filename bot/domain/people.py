"""Slack accounts, as far as they decide who may act."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """What Slack says of an account now (https://docs.slack.dev/reference/objects/user-object).

    `team_ids`: every id under which Slack names the organisation the account belongs to, that is
    its workspace's and, on Enterprise Grid, its organisation's and those of its workspaces.
    `is_guest`: a guest of several channels or of one; None where Slack does not tell.
    `zone`: the name of their time zone.
    """

    user_id: str
    name: str
    team_ids: frozenset[str]
    is_deactivated: bool
    is_bot: bool
    is_guest: bool | None
    is_stranger: bool
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Slack could not be asked, or would not say; `code` is its error code, or one of ours."""

    code: str
