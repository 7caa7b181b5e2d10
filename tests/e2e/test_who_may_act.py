"""Who may read, who may pause and who may do nothing: by command, button, form and Home tab."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import product

import pytest

from bot.acts.record import Action, ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.kernel.actor import Origin
from bot.kernel.repository import RepositoryName
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import (
    ALICE,
    BOB,
    CAROL,
    DAVE,
    INCIDENTS,
    MERGE_QUEUE,
    REPOSITORY,
    BotTester,
)
from tests.support.transactions import begin

pytestmark = [pytest.mark.e2e, OVER_HTTP]

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
OTHER_TEAM = "T0OTHER"
ORGANISATION = "E0ACME"
ONLY_BOB = {"MQBOT_WHO_MAY_PAUSE": "U0BOB"}
RELEASERS = {"MQBOT_WHO_MAY_PAUSE": "S0RELEASERS, U0BOB"}
LISTED = "Only members of the user group @releasers and bob can"
GUEST = "You can't use this bot: you're a guest here."
UNREACHABLE: Sequence[tuple[Mapping[str, object], str]] = [
    ({"name": "internal_error"}, "`internal_error`"),
    ({"name": "html_500"}, "`http_500`"),
    # The client asks again by itself when a kept connection breaks on a GET.
    ({"name": "drop_before", "times": 2}, "`ServerDisconnectedError`"),
    ({"name": "slow", "seconds": 5}, "`TimeoutError`"),
    # Last, because the client asks for nothing more for as long.
    ({"name": "rate_limit", "retry_after": 30}, "`ratelimited`"),
]
EXTERNAL = "You can't use this bot: you belong to another organisation."


def add_person(bot: BotTester, name: str, kind: str, team_id: str | None = None) -> str:
    """A person of that kind, in the channel."""
    user_id: str = bot.slack.arrangement.add_user(name, kind, team_id)["user"]
    bot.slack.arrangement.set_member(MERGE_QUEUE, user_id, is_member=True)
    return user_id


async def acts(bot: BotTester, repository: str = REPOSITORY) -> list[AuditRecord]:
    """The whole audit, oldest first."""
    store = Store(create_engine(bot.database_url))
    try:
        with begin(store) as transaction:
            return list(Audit(transaction).since(RepositoryName.parse(repository), LONG_AGO))
    finally:
        await store.close()


async def refusals(bot: BotTester) -> list[tuple[str, Action, str | None]]:
    return [
        (act.actor.user_id, act.action, act.outcome.detail)
        for act in await acts(bot)
        if act.result is ActResult.REFUSED
        # Those of one minute share a row, which counts them.
        for _ in range(act.times)
    ]


@pytest.mark.parametrize("kind", ["guest", "single_channel_guest"])
async def test_a_guest_gets_nothing_by_command(bot: BotTester, kind: str) -> None:
    guest = add_person(bot, "guy", kind)
    for typed in ("", "help", "subscriptions", "pause x", "resume", "subscribe"):
        answer = await bot.ask(f"/mq {typed}".strip(), by=guest)
        assert GUEST in answer
        assert answer.labels == []
    assert bot.pause_reason() is None
    assert bot.posts() == []


async def test_guests_and_external_people_cannot_use_buttons(bot: BotTester) -> None:
    post = await bot.pause("CI runners are down", by=BOB)
    post = await bot.wait_for_change(post, "0 queued")
    guest = add_person(bot, "guy", "guest")
    eve = add_person(bot, "eve", "external", OTHER_TEAM)
    await bot.click(post, "Resume queue", by=guest)
    assert GUEST in await bot.wait_for_reply(by=guest)
    await bot.click(post, "Resume queue", by=eve)
    assert EXTERNAL in await bot.wait_for_reply(by=eve)
    assert bot.pause_reason() == "CI runners are down (by bob via Slack)"
    assert bot.now(post) == post


ASKED_OF_OUTSIDERS = (
    "",
    "help",
    "nonsense",
    "status",
    "status acme/secret",
    "status acme/nothing",
    "status @release",
    "status @nothing",
    "why 1",
    "why nothing/else#1",
    "pause now CI is down",
    "pause acme/secret CI is down",
    "pause acme/nothing CI is down",
    "pause @release CI is down",
    "resume",
    "resume acme/nothing",
    "extend 1h",
    "unfreeze acme/nothing x",
    "allow 41 acme/secret x",
    "remove 41 acme/secret",
    "remove 41 acme/nothing",
    "log acme/nothing",
    "audit acme/nothing",
    "subscribe acme/nothing everything",
    "subscriptions",
    "subscriptions from:acme/nothing",
    "default acme/secret",
    "default acme/nothing",
    "board acme/secret",
    "link alice-m",
    "me",
    "me dm off",
)


@pytest.mark.parametrize("kind", ["guest", "single_channel_guest"])
async def test_people_outside_hear_one_sentence_whatever_they_try(
    start_bot: StartBot, kind: str
) -> None:
    """It tells neither who may nor what there is; nothing of theirs is stored."""
    settings = {
        "MQBOT_WHO_MAY_PAUSE": f"S0RELEASERS, {BOB}",
        "MQBOT_GROUPS": "release=acme/secret,acme/site",
    }
    two = {"acme/secret": "quiet", "acme/site": "quiet"}
    bot = await start_bot(environment=settings, repositories=two)
    outside = add_person(bot, "outsider", kind)
    for typed in ASKED_OF_OUTSIDERS:
        answer = await bot.ask(f"/mq {typed}".strip(), by=outside)
        assert answer.words == f":warning: {GUEST}", typed
        assert answer.labels == [], typed
    for name in two:
        assert await acts(bot, name) == []
    assert bot.posts() == []


async def test_a_setting_says_who_may_read_and_who_may_subscribe(start_bot: StartBot) -> None:
    settings = {
        "MQBOT_WHO_MAY_READ": f"S0RELEASERS,{ALICE},{BOB}",
        "MQBOT_WHO_MAY_SUBSCRIBE": BOB,
    }
    bot = await start_bot(environment=settings)
    bot.slack.arrangement.set_group("releasers", [CAROL])
    for typed in ("/mq", "/mq help", "/mq pause now mine", "/mq status acme/nothing", "/mq link d"):
        answer = await bot.ask(typed, by=DAVE)
        assert answer.words.startswith(":warning: You don't have access to this bot.")
    home = await bot.see_home("You don't have access to this bot.", by=DAVE)
    assert home.labels == []
    assert "is running" in await bot.ask("/mq", by=CAROL)
    refused = "Only bob can change a channel's subscriptions."
    assert refused in await bot.ask(f"/mq subscribe {REPOSITORY}", by=ALICE)
    assert refused in await bot.ask(f"/mq default {REPOSITORY}", by=ALICE)
    await bot.publish(f"/mq subscribe {REPOSITORY}", "Subscribed this channel", by=BOB)
    assert bot.pause_reason() is None


@pytest.mark.parametrize("shown", ["shortcut", "home", "mention"])
async def test_people_outside_learn_nothing_by_other_ways(bot: BotTester, shown: str) -> None:
    guest = add_person(bot, "guy", "guest")
    if shown == "shortcut":
        await bot.shortcut(by=guest)
        answer = await bot.wait_for_direct_message(by=guest)
        assert answer.words == f":warning: {GUEST}"
    elif shown == "home":
        home = await bot.see_home(GUEST, by=guest)
        assert home.labels == []
    else:
        bot.slack.people.message(guest, MERGE_QUEUE, "@merge-queue pause acme/nothing x")
        assert (await bot.wait_for_reply(by=guest)).words == f":warning: {GUEST}"
    assert await acts(bot) == []


async def test_a_forms_fields_name_no_other_repository(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={REPOSITORY: "quiet", "acme/api": "quiet"})
    status = await bot.ask(f"/mq status {REPOSITORY}")
    await bot.click(status, "Pause queue…")
    form = await bot.modal("0 queued")
    await bot.stop_bot()
    bot.environment = {"MQBOT_REPOSITORIES": "acme/secret", "MQBOT_CHANNELS": ""}
    await bot.start_bot()
    answer = await bot.submit(form, reason="CI is down")
    said = "This isn't available any more. Close the form and open it again."
    assert list(answer["errors"].values()) == [said]


async def test_guests_and_external_people_learn_no_names_from_old_buttons(
    start_bot: StartBot,
) -> None:
    """Its repository is configured no more; another, which they never heard of, is.

    While it is paused, its own people can still resume it.
    """
    bot = await start_bot()
    guest = add_person(bot, "guy", "guest")
    eve = add_person(bot, "eve", "external", OTHER_TEAM)
    post = await bot.pause("CI runners are down", by=BOB)
    post = await bot.wait_for_change(post, "0 queued")
    await bot.stop_bot()
    bot.environment = {"MQBOT_REPOSITORIES": "acme/secret", "MQBOT_CHANNELS": ""}
    await bot.start_bot()
    for person, refusal in ((guest, GUEST), (eve, EXTERNAL)):
        await bot.click(post, "Resume queue", by=person)
        answer = await bot.wait_for_reply(by=person)
        assert "secret" not in answer
        assert refusal in answer
    await bot.click(post, "Resume queue")
    await bot.wait_for_post("has resumed")
    assert "alice resumed acme/site" in await bot.wait_for_direct_message(by=BOB)


async def test_a_guest_sees_no_queue_on_the_home_tab_and_cannot_open_the_form(
    bot: BotTester,
) -> None:
    guest = add_person(bot, "guy", "guest")
    home = await bot.see_home("you're a guest here", by=guest)
    assert home.labels == []
    assert REPOSITORY not in home
    await bot.shortcut(by=guest)
    assert "you're a guest here" in await bot.wait_for_direct_message(by=guest)
    assert bot.open_modals(by=guest) == []


async def test_all_members_read_and_only_listed_people_pause(start_bot: StartBot) -> None:
    bot = await start_bot(environment=RELEASERS)
    bot.slack.arrangement.set_group("releasers", [CAROL])
    assert "*acme/site* is running" in await bot.ask("/mq", by=ALICE)
    refused = await bot.ask("/mq pause Just so", by=ALICE)
    assert f"{LISTED} pause a queue." in refused
    assert bot.pause_reason() is None
    post = await bot.pause("CI runners are down", by=CAROL)
    await bot.click(post, "Resume queue", by=ALICE)
    assert f"{LISTED} resume a queue." in await bot.wait_for_reply()
    refused = await bot.ask("/mq resume", by=ALICE)
    assert "can resume a queue." in refused
    assert bot.pause_reason() == "CI runners are down (by carol via Slack)"
    await bot.click(post, "Resume queue", by=BOB)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("bob resumed acme/site", by=CAROL)
    denied = "not_listed"
    assert await refusals(bot) == [
        (ALICE, Action.PAUSE, f"pause: {denied}"),
        (ALICE, Action.RESUME, f"resume: {denied}"),
        (ALICE, Action.RESUME, f"resume: {denied}"),
    ]


async def test_a_refusal_names_the_people_allowed_without_mentioning_them(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(environment=RELEASERS)
    bot.slack.arrangement.set_group("releasers", [CAROL])
    answer = await bot.ask("/mq pause Just so", by=ALICE)
    written = answer.blocks[0]["text"]
    assert "@releasers" in written["text"]
    assert "<" not in written["text"]
    assert written["verbatim"] is True


async def test_people_without_the_right_get_no_form_and_no_home_buttons(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(environment=ONLY_BOB)
    status = await bot.ask("/mq", by=ALICE)
    await bot.click(status, "Pause queue…")
    assert "Only bob can pause a queue." in await bot.wait_for_reply()
    await bot.shortcut()
    assert "Only bob can pause a queue." in await bot.wait_for_direct_message()
    assert bot.open_modals() == []
    await bot.open_home()
    set_up = ["Link my login…", "Add a channel…", "Who may pause"]
    below = [*set_up, "Choose notifications", "Open calendar", "All subscriptions"]
    assert (await bot.home("is running")).labels == ["Refresh", *below]
    await bot.open_home(by=BOB)
    # Whether the service offers freezes may not be known yet.
    theirs = (await bot.home("is running", by=BOB)).labels
    besides = [label for label in theirs if label not in {"Plan a freeze…", "Freeze…"}]
    assert besides == ["Pause queue…", "Refresh", *below]
    assert await refusals(bot) == [
        (ALICE, Action.PAUSE, "pause: not_listed"),
        (ALICE, Action.PAUSE, "pause: not_listed"),
    ]


async def test_people_removed_from_the_group_while_the_form_was_open_cannot_submit_it(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(environment={"MQBOT_WHO_MAY_PAUSE": "S0RELEASERS"})
    bot.slack.arrangement.set_group("releasers", [ALICE])
    status = await bot.ask("/mq")
    await bot.click(status, "Pause queue…")
    form = await bot.modal("0 queued")
    await bot.stop_bot()
    bot.slack.arrangement.set_group("releasers", [BOB])
    # What it knew of the group it would use for a minute; a bot that starts knows nothing.
    await bot.start_bot()
    await bot.submit(form, reason="CI runners are down")
    refused = await bot.modal("can pause a queue.")
    assert "Only members of the user group @releasers can pause a queue." in refused
    assert bot.pause_reason() is None


async def test_people_turned_guest_while_the_form_was_open_cannot_submit_it(bot: BotTester) -> None:
    await bot.shortcut()
    form = await bot.modal("0 queued")
    await bot.stop_bot()
    bot.slack.arrangement.change_user(ALICE, {"kind": "guest"})
    await bot.start_bot()
    await bot.submit(form, reason="CI runners are down")
    await bot.modal(GUEST)
    assert bot.pause_reason() is None
    assert await refusals(bot) == []


async def test_a_user_group_counts_its_current_members_and_a_disabled_one_has_none(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(environment=RELEASERS)
    bot.expected_refusals = {"usergroups.users.list no_such_subteam"}
    bot.slack.arrangement.set_group("releasers", [ALICE], is_enabled=False)
    refused = await bot.ask("/mq pause Just so")
    assert "Only members of the user group S0RELEASERS and bob can pause a queue." in refused


async def test_when_slack_is_unreachable_nothing_changes_and_the_person_is_notified(
    bot: BotTester,
) -> None:
    bot.expected_refusals = {f"users.info {fault['name']}" for fault, _ in UNREACHABLE}
    bot.expected_refusals.add("users.info ratelimited")
    bot.merge_queue.pause(REPOSITORY, "Night", by="carol")
    doings = {"/mq resume": "resume a queue", "/mq pause x": "pause a queue", "/mq": "see"}
    for (fault, said), (typed, doing) in product(UNREACHABLE, doings.items()):
        bot.slack.faults.arm({**fault, "method": "users.info"})
        answer = await bot.ask(typed)
        assert f"I can't let you {doing}" in answer
        assert f"Slack didn't confirm that you may ({said}). Nothing was changed." in answer
        assert "Please try again in a minute" in answer
    assert bot.pause_reason() == "Night"


async def test_a_failed_people_lookup_is_not_cached(bot: BotTester) -> None:
    bot.expected_refusals = {"users.info internal_error"}
    bot.break_slack("internal_error", "users.info")
    assert "I can't let you pause a queue right now" in await bot.ask(
        "/mq pause CI runners are down"
    )
    await bot.pause("CI runners are down", by=ALICE)


@pytest.mark.parametrize(
    ("code", "mend"),
    [
        ("missing_scope", "An operator of the bot can install the app again"),
        ("plan_upgrade_required", "This workspace's plan has no user groups"),
    ],
)
async def test_without_user_groups_only_the_people_named_may(
    start_bot: StartBot, code: str, mend: str
) -> None:
    bot = await start_bot(environment=RELEASERS)
    bot.expected_refusals = {f"usergroups.users.list {code}", f"usergroups.list {code}"}
    bot.break_slack("refuse", "usergroups.users.list", code=code)
    bot.break_slack("refuse", "usergroups.list", code=code)
    refused = await bot.ask("/mq pause Just so")
    assert "I can't let you pause a queue right now" in refused
    assert f"Slack didn't confirm that you may (`{code}`)" in refused
    assert mend in refused
    await bot.pause("CI runners are down", by=BOB)
    assert await refusals(bot) == [(ALICE, Action.PAUSE, f"pause: unverifiable ({code})")]


@pytest.mark.parametrize("is_org_wide", [False, True])
async def test_people_of_the_enterprise_grid_count_as_members(
    bot: BotTester, *, is_org_wide: bool
) -> None:
    await bot.stop_bot()
    bot.slack.arrangement.set_enterprise(ORGANISATION, is_org_wide=is_org_wide)
    await bot.start_bot()
    post = await bot.pause("CI runners are down", by=ALICE)
    await bot.click(post, "Resume queue", by=BOB)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("bob resumed acme/site")
    sue = bot.slack.arrangement.add_user("sue", "member", "T0SISTER", enterprise_id=ORGANISATION)
    bot.slack.arrangement.set_member(MERGE_QUEUE, sue["user"], is_member=True)
    post = await bot.pause("CI runners are down", by=ALICE)
    await bot.click(post, "Resume queue", by=sue["user"])
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("sue resumed acme/site")
    eve = bot.slack.arrangement.add_user("eve", "external", OTHER_TEAM, enterprise_id="E0OTHER")
    bot.slack.arrangement.set_member(MERGE_QUEUE, eve["user"], is_member=True)
    post = await bot.pause("CI runners are down", by=ALICE)
    await bot.click(post, "Resume queue", by=eve["user"])
    assert EXTERNAL in await bot.wait_for_reply(by=eve["user"])


async def test_user_groups_and_lookups_work_when_installed_for_the_whole_organisation(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(environment=RELEASERS)
    await bot.stop_bot()
    bot.slack.arrangement.set_enterprise(ORGANISATION, is_org_wide=True)
    bot.slack.arrangement.set_group("releasers", [CAROL])
    await bot.start_bot()
    assert LISTED in await bot.ask("/mq pause Just so", by=ALICE)
    bot.break_slack("drop_after_accept", "chat.postMessage")
    await bot.pause("CI runners are down", by=CAROL)
    await bot.has_posted()


@pytest.mark.parametrize("sign", ["is_ext_shared", "is_pending_ext_shared"])
async def test_a_shared_channel_gets_posts_without_buttons(bot: BotTester, sign: str) -> None:
    # What the bot has heard of a channel it remembers for a while.
    await bot.stop_bot()
    bot.slack.arrangement.change_channel(MERGE_QUEUE, {sign: True})
    await bot.start_bot()
    post = await bot.pause("CI runners are down", by=BOB)
    assert post.labels == []
    assert "CI runners are down" in post
    status = await bot.ask("/mq")
    assert status.labels == ["Resume queue", "Refresh", "Share in channel"]
    await bot.click(status, "Share in channel")
    assert (await bot.wait_for_post("*acme/site* is paused")).labels == []
    await bot.click(status, "Resume queue")
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("alice resumed acme/site", by=BOB)
    await bot.wait_for_change(status, "is running")


async def test_an_unreadable_channel_gets_posts_without_buttons(bot: BotTester) -> None:
    bot.expected_refusals = {"conversations.info channel_not_found"}
    post = await bot.pause("CI runners are down", channel=INCIDENTS)
    assert post.labels == []


async def test_every_decision_on_an_act_is_on_record(bot: BotTester) -> None:
    guest = add_person(bot, "guy", "guest")
    post = await bot.pause("CI runners are down", by=ALICE)
    await bot.ask("/mq pause Another", by=BOB)
    await bot.click(post, "Resume queue", by=guest)
    await bot.wait_for_reply(by=guest)
    await bot.click(post, "Resume queue", by=BOB)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("bob resumed acme/site")
    await bot.ask("/mq resume")
    assert [(act.actor.name, act.action, act.result) for act in await acts(bot)] == [
        ("alice", Action.PAUSE, ActResult.STARTED),
        ("alice", Action.PAUSE, ActResult.DONE),
        ("bob", Action.PAUSE, ActResult.UNCHANGED),
        ("bob", Action.RESUME, ActResult.STARTED),
        ("bob", Action.RESUME, ActResult.DONE),
        ("alice", Action.RESUME, ActResult.UNCHANGED),
    ]


@pytest.mark.usefixtures("hurried_reminders")
async def test_decisions_are_on_record_from_every_entry_point(start_bot: StartBot) -> None:
    two = {REPOSITORY: "quiet", "acme/api": "quiet"}
    bot = await start_bot(environment=ONLY_BOB, repositories=two)
    post = await bot.pause(f"{REPOSITORY} CI runners are down", by=BOB)
    await bot.shortcut()
    await bot.wait_for_direct_message("Only bob can pause a queue.")
    await bot.choose(post, "Another time…", menu="Set an end…")
    await bot.wait_for_reply()
    await bot.pass_time(1801)
    mine = await bot.wait_for_direct_message("still paused", by=BOB)
    await bot.click(mine, "Snooze 2 h", by=BOB)
    await bot.wait_for_reply("No reminders about acme/site before", by=BOB, channel=mine.channel)
    found = [(act.actor.name, act.action, act.where.origin, act.result) for act in await acts(bot)]
    assert found == [
        ("bob", Action.PAUSE, Origin.COMMAND, ActResult.STARTED),
        ("bob", Action.PAUSE, Origin.COMMAND, ActResult.DONE),
        # No repository was chosen yet: the refusal is on record once, and counts the others.
        ("alice", Action.PAUSE, Origin.SHORTCUT, ActResult.REFUSED),
        ("alice", Action.EXTEND, Origin.BUTTON, ActResult.REFUSED),
        ("bob", Action.SNOOZE, Origin.BUTTON, ActResult.DONE),
    ]
    assert await acts(bot, "acme/api") == []


async def test_a_decision_on_reading_is_logged(
    bot: BotTester, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    guest = add_person(bot, "guy", "guest")
    await bot.ask("/mq status", by=ALICE)
    await bot.ask("/mq status", by=guest)
    await bot.see_home("you're a guest here", by=guest)
    decisions = [
        (vars(record)["actor"], vars(record)["right"], vars(record)["decision"])
        for record in caplog.records
        if vars(record).get("action") == "decision"
    ]
    assert decisions == [
        (ALICE, "read", "allowed"),
        (guest, "read", "read: guest"),
        (guest, "read", "read: guest"),
    ]


async def test_a_person_with_incomplete_slack_data_is_refused_with_a_reason(bot: BotTester) -> None:
    bot.slack.installation.workspace.users[ALICE].has_guest_flags = False
    answer = await bot.ask("/mq status")
    assert "Slack didn't confirm that you may" in answer
    assert "you're a guest here" not in answer
    assert "Ask the bot's operator to run `mqbot check`" in answer


UNVERIFIED = {"MQBOT_UNVERIFIED_MAY_READ": "true"}


async def test_help_answers_people_whom_slack_does_not_vouch_for(bot: BotTester) -> None:
    bot.slack.installation.workspace.users[ALICE].has_guest_flags = False
    assert "What I can do" in await bot.ask("/mq help")
    assert "/mq pause" in await bot.ask("/mq help pause")
    bot.expected_refusals.add("users.info internal_error")
    bot.break_slack("internal_error", "users.info")
    assert "What I can do" in await bot.ask("/mq help", by=BOB)
    guest = add_person(bot, "guy", "guest")
    assert "you're a guest here" in await bot.ask("/mq help", by=guest)


async def test_a_setting_lets_people_read_whom_slack_does_not_vouch_for(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(environment=UNVERIFIED)
    bot.slack.installation.workspace.users[ALICE].has_guest_flags = False
    assert "is running" in await bot.ask("/mq status")
    refused = await bot.ask("/mq pause now CI is down")
    assert "I can't let you pause a queue right now" in refused
    assert "mqbot check" in refused
    bot.expected_refusals.add("users.info internal_error")
    bot.break_slack("internal_error", "users.info")
    assert "is running" in await bot.ask("/mq status", by=BOB)
    bot.break_slack("internal_error", "users.info")
    assert "I can't let you" in await bot.ask("/mq resume", by=BOB)
    guest = add_person(bot, "guy", "guest")
    assert "you're a guest here" in await bot.ask("/mq status", by=guest)
    assert bot.pause_reason() is None


@pytest.mark.parametrize("enterprise_id", [None, "E0OTHER"])
async def test_the_setting_lets_nobody_of_another_organisation_read(
    start_bot: StartBot, enterprise_id: str | None
) -> None:
    """A mention in a shared channel comes under our own workspace's id."""
    bot = await start_bot(environment=UNVERIFIED)
    added = bot.slack.arrangement.add_user(
        "eve", "external", OTHER_TEAM, enterprise_id=enterprise_id
    )
    eve = added["user"]
    bot.slack.arrangement.set_member(MERGE_QUEUE, eve, is_member=True)
    bot.expected_refusals.add("users.info internal_error")
    bot.break_slack("internal_error", "users.info", times=50)
    bot.slack.people.message(eve, MERGE_QUEUE, "@merge-queue status")
    assert "I can't let you" in await bot.wait_for_reply(by=eve)
    assert "is running" in await bot.ask("/mq status", by=BOB)
