"""Checks the people, user groups and machines that the settings name, and says who may act."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from bot.acts.permission import MACHINE, Everyone, Listed, WhoMayPause, is_machine
from bot.blocks.text import listed, plural
from bot.config.settings import Settings, variable
from bot.inspection.results import GROUP_SECONDS, Area, CheckResult, patiently, together
from bot.kernel.clock import Clock
from bot.slack.person import DenialReason, Person, PersonUnknown, not_a_member
from bot.slack.web_api.clients import Client
from bot.slack.web_api.failures import FAILURES, read_failure
from bot.slack.web_api.people import UNKNOWN_PERSON_CODES, SlackUser

CONFIGURATION = Area.CONFIGURATION

ASKED_ONE_BY_ONE = 40
"""More people are looked up in Slack's list, because it answers 100 questions a minute."""

MEMBER_PAGES = 20
"""Slack grants so many a minute without a wait."""

PER_PAGE = 1000

PERSON_SECONDS = 0.7
"""Additional time for each person who isn't on those pages."""

PEOPLE_NAMED_BY_CHECKS = 10

ANSWERED_TOO_LATE = "no answer in time"

RIGHT_SETTINGS = ("who_may_pause", "who_may_freeze", "who_may_read", "who_may_subscribe")
"""The settings that give rights."""

_STANDINGS = {
    DenialReason.OTHER_ORGANISATION: "Belongs to another organisation, so they can't do anything.",
    DenialReason.GUEST: "Is a guest, so they can't do anything.",
    DenialReason.BOT: "Is an app, so it can't do anything.",
    DenialReason.DEACTIVATED: "Is deactivated in Slack.",
}


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A group as Slack lists it (https://docs.slack.dev/reference/objects/usergroup-object)."""

    handle: str
    members: Collection[str]
    is_enabled: bool


@dataclass(slots=True)
class NamedPeople:
    """What the settings name, and what Slack says of it once `inspect` has asked."""

    settings: Settings
    people: dict[str, Person | PersonUnknown | None] = field(default_factory=dict)
    groups: dict[str, UserGroup | PersonUnknown | None] = field(default_factory=dict)
    home_ids: frozenset[str] = frozenset()

    def label(self, name: str) -> str:
        """A person, group or machine of a rule as people know it."""
        person = self.people.get(name)
        if isinstance(person, Person) and person.name:
            return f"{person.name} ({name})"
        group = self.groups.get(name)
        if isinstance(group, UserGroup):
            return f"@{group.handle} ({name}, {plural(len(group.members), 'person', 'people')})"
        return name

    def who(self, rule: WhoMayPause) -> str:
        if isinstance(rule, Everyone):
            return str(rule)
        labels = [self.label(name) for name in sorted(rule.people | rule.groups)]
        return listed(labels, most=PEOPLE_NAMED_BY_CHECKS)

    async def inspect(self, client: Client, clock: Clock) -> Sequence[CheckResult]:
        """Ask Slack for every id in every setting; raises none of Slack's failures."""
        named = _ids_in_settings(self.settings)
        people = [
            person for person in named if not is_machine(person) and not person.startswith("S")
        ]
        groups = [group for group in named if group.startswith("S")]
        if people or groups:
            try:
                answer = await client.auth_test()
            except FAILURES as error:
                code = read_failure(error).code
                self.people = dict.fromkeys(people, PersonUnknown(code))
                self.groups = dict.fromkeys(groups, PersonUnknown(code))
                unknown = CONFIGURATION.unknown("ids", "Not checked without a working bot token.")
                return [*self._rights(), unknown]
            ids = {answer.get("team_id"), answer.get("enterprise_id")}
            self.home_ids = frozenset(str(user_id) for user_id in ids if user_id)
            await self._ask_people(client, clock, people)
            await self._ask_groups(client, clock, groups)
        found = [*self._rights()]
        for user_id, settings in named.items():
            found += self._problems(user_id, settings)
        if people or groups:
            found.append(self._total(people, groups))
        return found

    async def _ask_people(self, client: Client, clock: Clock, ids: Sequence[str]) -> None:
        if len(ids) > ASKED_ONE_BY_ONE:
            wanted = set(ids)
            for user in await _list_people(client, clock):
                if user.id in wanted:
                    self.people[user.id] = user.person
        left = [user_id for user_id in ids if user_id not in self.people]

        async def ask(user_id: str) -> Iterable[CheckResult]:
            self.people[user_id] = await _person(client, clock, user_id)
            return []

        allowed = GROUP_SECONDS + PERSON_SECONDS * len(left)
        await together(left, CONFIGURATION, ask, seconds=allowed, group_seconds=allowed)
        for user_id in left:
            self.people.setdefault(user_id, PersonUnknown(ANSWERED_TOO_LATE))

    async def _ask_groups(self, client: Client, clock: Clock, ids: Sequence[str]) -> None:
        """https://docs.slack.dev/reference/methods/usergroups.list."""
        if not ids:
            return
        try:
            answer = await patiently(
                clock,
                lambda: client.usergroups_list(include_disabled=True, include_users=True),
            )
        except FAILURES as error:
            self.groups |= dict.fromkeys(ids, PersonUnknown(read_failure(error).code))
            return
        known = {
            str(usergroup.get("id")): UserGroup(
                handle=str(usergroup.get("handle")),
                members=frozenset(usergroup.get("users") or ()),
                is_enabled=not usergroup.get("date_delete"),
            )
            for usergroup in answer.get("usergroups") or []
        }
        self.groups |= {user_id: known.get(user_id) for user_id in ids}

    def _rights(self) -> Iterable[CheckResult]:
        """One line that says who may act, and a problem for each right that nobody has."""
        settings = self.settings
        freezing = settings.who_may_freeze or settings.who_may_pause
        same = freezing == settings.who_may_pause
        may = f"Pausing{', resuming and freezing' if same else ' and resuming'}: "
        may += f"{self.who(settings.who_may_pause)}."
        if not same:
            may += f" Freezing: {self.who(freezing)}."
        for rule, what in (
            (settings.who_may_read, "Using the bot at all"),
            (settings.who_may_subscribe, "Subscribing channels"),
        ):
            if not isinstance(rule, Everyone):
                may += f" {what}: {self.who(rule)}."
        if settings.policy:
            may += " Some repositories have a policy of their own."
        yield CONFIGURATION.ok("who may act", may)
        for name, rule in _rules(settings):
            if not isinstance(rule, Listed):
                continue
            can_act = [named for named in rule.people | rule.groups if self._may_act(named)]
            if not can_act:
                yield CONFIGURATION.problem(
                    name,
                    "Nobody has this right: it names no valid person, group or machine.",
                    "Name somebody who is a full member of the workspace.",
                )

    def _may_act(self, name: str) -> bool:
        """Whether somebody may by this id, or Slack doesn't say."""
        if is_machine(name):
            machines = {machine.machine for machine in self.settings.machines}
            return name.removeprefix(MACHINE) in machines
        if name.startswith("S"):
            group = self.groups.get(name)
            if isinstance(group, UserGroup):
                return group.is_enabled and bool(group.members)
            return group is not None
        reason = self._standing(name)
        return reason in {None, DenialReason.UNVERIFIABLE}

    def _standing(self, user_id: str) -> DenialReason | None:
        person = self.people.get(user_id)
        denied = not_a_member(person, next(iter(self.home_ids), None), self.home_ids)
        return denied.reason if denied is not None else None

    def _problems(self, name: str, settings: Sequence[str]) -> Iterable[CheckResult]:
        subject = f"{self.label(name)} in {listed(settings, most=3)}"
        if is_machine(name):
            if not self._may_act(name):
                yield CONFIGURATION.problem(
                    subject,
                    "It has no token.",
                    "Give it one in MQBOT_MACHINE_TOKENS, or correct its name.",
                )
        elif name.startswith("S"):
            yield from self._group_problems(name, subject)
        else:
            is_for_logins = settings == ["MQBOT_LOGINS"]
            yield from self._person_problems(name, subject, is_for_logins=is_for_logins)

    def _group_problems(self, name: str, subject: str) -> Iterable[CheckResult]:
        group = self.groups.get(name)
        if isinstance(group, PersonUnknown):
            yield CONFIGURATION.unknown(
                subject,
                f"Slack doesn't say who is in it ({group.code}).",
                "Make sure the app has the scope usergroups:read, or check again in a minute.",
            )
        elif group is None:
            yield CONFIGURATION.problem(
                subject,
                "Slack has no such user group.",
                "Copy its id in Slack (Copy group ID), or remove it.",
            )
        elif not group.is_enabled:
            yield CONFIGURATION.problem(
                subject,
                "It is disabled in Slack, so its members don't count.",
                "Enable it in Slack, or name another group.",
            )
        elif not group.members:
            yield CONFIGURATION.warning(subject, "It has no members.", "Add people to it in Slack.")

    def _person_problems(
        self, name: str, subject: str, *, is_for_logins: bool
    ) -> Iterable[CheckResult]:
        person = self.people.get(name)
        if isinstance(person, PersonUnknown):
            yield CONFIGURATION.unknown(
                subject,
                f"Slack doesn't say who this is ({person.code}).",
                "Fix the bot token and its scopes, or check again in a minute.",
            )
        elif person is None:
            fix = "Copy their id in Slack (Copy member ID), or remove it."
            report = CONFIGURATION.warning if is_for_logins else CONFIGURATION.problem
            yield report(subject, "Slack knows no such person.", fix)
        else:
            reason = self._standing(name)
            if reason in _STANDINGS:
                fix = "Remove them from the setting."
                yield CONFIGURATION.warning(subject, _STANDINGS[reason], fix)

    def _total(self, people: Sequence[str], groups: Sequence[str]) -> CheckResult:
        known = [person for person in people if isinstance(self.people.get(person), Person)]
        known_groups = [group for group in groups if isinstance(self.groups.get(group), UserGroup)]
        sentence = (
            f"Slack knows {len(known):,} of {plural(len(people), 'person', 'people')} and "
            f"{len(known_groups):,} of {plural(len(groups), 'user group')} in the settings."
        )
        if len(known) == len(people) and len(known_groups) == len(groups):
            return CONFIGURATION.ok("ids", sentence)
        return CONFIGURATION.warning("ids", sentence, "Correct the others, which have a line each.")


class _Rule(NamedTuple):
    """A rule about people, after the setting that gives it."""

    setting: str
    rule: WhoMayPause


def _rules(settings: Settings) -> Iterable[_Rule]:
    for name in RIGHT_SETTINGS:
        rule: WhoMayPause | None = getattr(settings, name)
        if rule is not None:
            yield _Rule(variable(name), rule)
    for of, table in settings.policy.items():
        for name, value in table.given.items():
            if isinstance(value, (Everyone, Listed)):
                yield _Rule(f'{name} in MQBOT_POLICY."{of}"', value)


def _ids_in_settings(settings: Settings) -> Mapping[str, Sequence[str]]:
    """Every id in the settings, with those that name it."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, rule in _rules(settings):
        if isinstance(rule, Listed):
            for person_or_group in sorted(rule.people | rule.groups):
                found[person_or_group].append(name)
    for of, table in settings.policy.items():
        if table.alert_mention is not None:
            found[table.alert_mention].append(f'alert_mention in MQBOT_POLICY."{of}"')
    for user_id, _ in settings.logins:
        found[user_id].append("MQBOT_LOGINS")
    return found


async def _person(client: Client, clock: Clock, user_id: str) -> Person | PersonUnknown | None:
    """https://docs.slack.dev/reference/methods/users.info."""
    try:
        answer = await patiently(clock, lambda: client.users_info(user=user_id))
        return SlackUser.model_validate(answer.get("user")).person
    except FAILURES as error:
        code = read_failure(error).code
        return None if code in UNKNOWN_PERSON_CODES else PersonUnknown(code)


async def _list_people(client: Client, clock: Clock) -> Sequence[SlackUser]:
    """The first pages of all people; https://docs.slack.dev/reference/methods/users.list."""
    found: list[SlackUser] = []
    cursor = ""
    for _ in range(MEMBER_PAGES):
        try:
            page = await patiently(clock, partial(client.users_list, limit=PER_PAGE, cursor=cursor))
        except FAILURES:
            # The others are asked for one by one, and say why Slack doesn't answer.
            break
        found += [SlackUser.model_validate(member) for member in page.get("members") or []]
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            break
    return found
