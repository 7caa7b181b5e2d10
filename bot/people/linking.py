"""People's logins at the code host, and which mentions and direct messages they get.

Each person decides for themselves. Repeating the current choice changes nothing but is stored, so
that a later default does not undo it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256

from bot.acts.permission import is_machine
from bot.acts.record import Action, ActResult, AuditRecord, SettingChange, Where
from bot.acts.rows import Audit
from bot.kernel.actor import Caller
from bot.kernel.configured import Configured
from bot.kernel.repository import RepositoryName
from bot.people.notices import Notice, wanted
from bot.people.rows import People
from bot.store.handled_requests import HandledRequests
from bot.store.transaction import Transaction


def who_wants(
    transaction: Transaction, notice: Notice, user_ids: Collection[str]
) -> frozenset[str]:
    """The people who get a notice; machines get none."""
    people = [user_id for user_id in user_ids if not is_machine(user_id)]
    if not people:
        return frozenset()
    chosen = People(transaction).chosen(people)
    return frozenset(person for person in people if notice in wanted(chosen.get(person, {})))


ASKED_ONCE_IN = timedelta(days=30)
"""How long a login's owner isn't notified again that the same person wants it."""


@dataclass(frozen=True, slots=True)
class Linked:
    """The result of a link."""

    owners: Sequence[str] = ()  #: other people with that login: nothing changed
    notified: Sequence[str] = ()  #: those to notify that this person wants their login
    is_assigned: bool = False  #: the settings give the login to another person: nothing changed
    is_bots: bool = False  #: the login is a bot's: nothing changed
    #: the person now gets failure notifications, about which they had not decided before
    is_first: bool = False
    replaced: str = ""  #: the login that they had before, empty for none


def link_account(
    transaction: Transaction, caller: Caller, login: str, configured: Configured, now: datetime
) -> Linked:
    """Link a person to a login at the code host, as they claim, and audit it.

    The link says who is notified about whose pull requests, and gives no right.
    """
    user_id = caller.actor.user_id
    before = People(transaction).logins([user_id]).get(user_id, "")
    act = _about_login(caller, Action.LINK, before, login, now)
    linked = _link(transaction, user_id, login, configured, now)
    if linked.is_bots or linked.is_assigned or linked.owners:
        why = "a bot's login" if linked.is_bots else "another person's login"
        Audit(transaction).add_refusal(replace(act, result=ActResult.REFUSED).explained(why))
        return linked
    if before == login:
        return linked
    Audit(transaction).add(act)
    return replace(linked, replaced=before)


def unlink_account(transaction: Transaction, caller: Caller, now: datetime) -> str:
    """End a link as the person wants, and audit it; return the login, empty if there was none."""
    user_id = caller.actor.user_id
    before = People(transaction).logins([user_id]).get(user_id, "")
    if not People(transaction).unlink(user_id, now):
        return ""
    Audit(transaction).add(_about_login(caller, Action.UNLINK, before, "", now))
    return before


def _about_login(
    caller: Caller, action: Action, before: str, after: str, now: datetime
) -> AuditRecord:
    return AuditRecord(
        now,
        caller.actor,
        action,
        Where(caller.origin, caller.channel_id),
        RepositoryName.none(),
        ActResult.DONE,
        setting=SettingChange(before, after),
    )


def _link(
    transaction: Transaction, user_id: str, login: str, configured: Configured, now: datetime
) -> Linked:
    owner = configured.owners.get(login.lower())
    if owner is None and login in configured.bots:
        return Linked(is_bots=True)
    if owner not in {None, user_id}:
        return Linked(is_assigned=True)
    if not People(transaction).link(user_id, login, now):
        owners = People(transaction).linked_to([login])[login]
        told = HandledRequests(transaction)
        until = now + ASKED_ONCE_IN
        notified = [
            owner
            for owner in owners
            if told.add(_told_of(user_id, login, owner), now=now, until=until)
        ]
        return Linked(owners, notified)
    chosen = People(transaction).chosen([user_id]).get(user_id, {})
    if Notice.FAILURE in chosen:
        return Linked()
    People(transaction).choose(user_id, {Notice.FAILURE: True})
    return Linked(is_first=True)


def tell_again(transaction: Transaction, user_id: str, login: str, owner: str) -> None:
    """Notify the owner the next time that the person wants the login: they couldn't be told."""
    HandledRequests(transaction).forget(_told_of(user_id, login, owner))


def _told_of(user_id: str, login: str, owner: str) -> str:
    return sha256(f"{user_id} wants {login.lower()} of {owner}".encode()).hexdigest()
