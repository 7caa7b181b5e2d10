"""Commands about groups of repositories and about the audit."""

from datetime import timedelta

import pytest

from bot.domain.commands import Command, parse_command
from bot.domain.commands.asking import GroupStatusCommand
from bot.domain.commands.auditing import AuditCommand
from bot.domain.commands.pausing import PauseCommand, PauseGroupCommand, UnpauseGroupCommand
from bot.domain.commands.subscribing import (
    SubscribeCommand,
    SubscribeGroupCommand,
    UnsubscribeGroupCommand,
)
from bot.domain.errors import CommandSyntaxError, RepositoryNotAllowed, UnknownGroup
from bot.domain.groups import ALL, Group, Groups, Repositories, read_groups
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Topic
from bot.domain.wishes import Wish

SITE, API = RepositoryName("acme/site"), RepositoryName("acme/api")
KNOWN = Repositories((SITE, API))
GROUPS = Groups(read_groups("release=acme/site,acme/api;site=acme/api"), KNOWN)
RELEASE = Group("release", (SITE, API))
EVERYTHING = Group(ALL, (SITE, API))


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("pause @release freeze  for 4.2", PauseGroupCommand(RELEASE, "freeze  for 4.2")),
        ("pause release 4.2", PauseGroupCommand(RELEASE, "4.2")),
        ("pause @release", PauseGroupCommand(RELEASE, "")),
        ("pause all CI is down", PauseGroupCommand(EVERYTHING, "CI is down")),
        ("pause @site down", PauseGroupCommand(Group("site", (API,)), "down")),
        ("pause site down", PauseCommand(SITE, "down")),
        ("pause releases are late", PauseCommand(None, "releases are late")),
        ("pause acme/site @bob asked for it", PauseCommand(SITE, "@bob asked for it")),
        ("unpause @RELEASE", UnpauseGroupCommand(RELEASE)),
        ("resume all", UnpauseGroupCommand(EVERYTHING)),
        ("status @release", GroupStatusCommand(RELEASE)),
        ("subscribe @release", SubscribeGroupCommand(RELEASE)),
        ("subscribe @all merge", SubscribeGroupCommand(EVERYTHING, Wish(frozenset({"merge"})))),
        ("subscribe all", SubscribeCommand(None, Wish(frozenset(Topic)))),
        ("unsubscribe @RELEASE", UnsubscribeGroupCommand(RELEASE)),
        ("unsubscribe @all ci", UnsubscribeGroupCommand(EVERYTHING, Wish(frozenset({"ci"})))),
        ("audit", AuditCommand(None, timedelta(days=7))),
        ("audit api since:24h", AuditCommand(API, timedelta(hours=24))),
        ("audit SINCE:2w", AuditCommand(None, timedelta(weeks=2))),
    ],
)
def test_commands_are_read(typed: str, command: Command) -> None:
    assert parse_command(typed, KNOWN, GROUPS) == command


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("unpause @release now", "Unpausing takes no reason: leave “now” out."),
        ("status @release branch:main", "I do not understand “branch:main” here."),
        ("subscribe release", f"There is no topic “release”. Topics are {', '.join(Topic)}, all."),
        ("unsubscribe @release style:feed", "style: and digest: are for subscribe."),
        ("audit yesterday", "I do not understand “yesterday” here."),
        ("audit since:soon", "since: a length of time is written 90m, 24h, 7d or 2w."),
    ],
)
def test_what_cannot_be_read_is_named(typed: str, problem: str) -> None:
    with pytest.raises(CommandSyntaxError) as raised:
        parse_command(typed, KNOWN, GROUPS)
    assert raised.value.problem == problem


def test_a_group_or_repository_that_there_is_not_is_never_part_of_a_reason() -> None:
    with pytest.raises(UnknownGroup):
        parse_command("pause @bob asked for it", KNOWN, GROUPS)
    with pytest.raises(UnknownGroup):
        parse_command("pause @release freeze", KNOWN)
    with pytest.raises(UnknownGroup):
        parse_command("subscribe @releases merge", KNOWN, GROUPS)
    with pytest.raises(RepositoryNotAllowed):
        parse_command("audit acme/shop", KNOWN, GROUPS)


def test_all_is_there_without_any_group() -> None:
    assert parse_command("pause all down", KNOWN) == PauseGroupCommand(EVERYTHING, "down")
