"""The tables of policies and windows in the file: what they mean, and what is refused."""

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
from pydantic import SecretStr

from bot.acts.approval import Approval, ApprovalRules
from bot.acts.permission import Everyone, Listed, Right, RightRules, WhoMayPause
from bot.acts.record import Action
from bot.config.policies import own_tokens, policies
from bot.config.secrets import secrets_of
from bot.config.settings import RunSettings
from bot.config.tables import windows
from bot.freezes.windows import RecurringWindow
from bot.health.alert import AlertKind, AlertRules
from bot.kernel.configured import Policy
from bot.kernel.errors import ConfigurationError
from bot.kernel.repository import RepositoryName
from bot.merge_queue.own_token import OwnToken
from bot.pauses.by_rule import PauseRules
from tests.support.settings import ENOUGH, settings_in

SITE, API, DOCS = map(RepositoryName, ("acme/site", "acme/api", "other/docs"))
GIVEN = {
    **ENOUGH,
    "MQBOT_REPOSITORIES": "acme/site,acme/api,other/docs",
    "MQBOT_GROUPS": "release=acme/site,acme/api",
}
ALICE = Listed(frozenset({"U0ALICE"}), frozenset())
EVERY_ACT = (Action.PAUSE, Action.RESUME, Action.FREEZE, Action.UNFREEZE, Action.ALLOW)
BOB = Listed(frozenset({"U0BOB"}), frozenset())


def read(folder: Path, tables: str, **more: str) -> RunSettings:
    file = folder / "mqbot.toml"
    file.write_text(tables, "utf-8")
    return settings_in({**GIVEN, **more, "MQBOT_CONFIG": str(file)}, RunSettings)


def problem(folder: Path, tables: str) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read(folder, tables)
    assert set(refused.value.problems) == {"MQBOT_POLICY"}
    return refused.value.problems["MQBOT_POLICY"]


def test_without_tables_the_settings_rule_all_repositories(tmp_path: Path) -> None:
    settings = read(tmp_path, "", MQBOT_WHO_MAY_PAUSE="U0ALICE", MQBOT_HEALTH_DEPTH="0")
    policy = policies(settings).of(DOCS)
    assert _who(policy) == (ALICE, ALICE)
    assert policy.rules(PauseRules).first_reminder == timedelta(minutes=30)
    assert policy.rules(AlertRules).thresholds == {
        AlertKind.HEAD: 5400,
        AlertKind.BATCH: 3600,
        AlertKind.FAILURES: 5,
        AlertKind.CAUSE: 600,
    }
    assert policy.rules(AlertRules).mention is None


def test_who_may_pause_may_freeze_unless_a_setting_says_otherwise(tmp_path: Path) -> None:
    tables = """
    [MQBOT_POLICY."acme/site"]
    who_may_pause = "U0BOB"
    [MQBOT_POLICY."acme/api"]
    who_may_freeze = "U0BOB"
    """
    found = policies(read(tmp_path, tables, MQBOT_WHO_MAY_PAUSE="U0ALICE"))
    assert [_rights(found.of(name))[Right.FREEZE] for name in (SITE, API, DOCS)] == [
        BOB,
        BOB,
        ALICE,
    ]
    found = policies(read(tmp_path, tables, MQBOT_WHO_MAY_FREEZE="U0ALICE"))
    assert [_rights(found.of(name))[Right.FREEZE] for name in (SITE, API, DOCS)] == [
        ALICE,
        BOB,
        ALICE,
    ]


def test_the_nearest_table_wins_for_each_rule_by_itself(tmp_path: Path) -> None:
    tables = """
    [MQBOT_POLICY."acme/*"]
    who_may_pause = "U0BOB"
    reminder_minutes = 5
    health_depth = 7
    [MQBOT_POLICY."@Release"]
    reminder_minutes = 10
    alert_mention = "S0ONCALL"
    [MQBOT_POLICY."Acme/Site"]
    who_may_resume = ["U0ALICE"]
    reminder_minutes = 0
    """
    found = policies(read(tmp_path, tables))
    site, api, docs = map(found.of, (SITE, API, DOCS))
    assert _who(site) == (BOB, ALICE)
    assert _who(api) == (BOB, BOB)
    assert _who(docs) == (Everyone(), Everyone())
    reminders = [policy.rules(PauseRules).first_reminder for policy in (site, api, docs)]
    assert reminders == [timedelta(), timedelta(minutes=10), timedelta(minutes=30)]
    alerts = [policy.rules(AlertRules) for policy in (site, api, docs)]
    assert [rules.thresholds[AlertKind.DEPTH] for rules in alerts] == [7, 7, 50]
    assert [rules.mention for rules in alerts] == ["S0ONCALL", "S0ONCALL", None]


def test_a_credential_of_its_own_is_a_secret(tmp_path: Path) -> None:
    settings = read(tmp_path, '[MQBOT_POLICY."other/*"]\napi_token = "key-of-others"\n')
    assert own_tokens(settings) == {
        DOCS: OwnToken('api_token in MQBOT_POLICY."other/*"', SecretStr("key-of-others"))
    }
    assert "key-of-others" in secrets_of(settings)
    assert "key-of-others" not in repr(settings)


def test_the_credential_of_a_table_that_serves_only_a_removed_repository_is_a_secret(
    tmp_path: Path,
) -> None:
    tables = """
    [MQBOT_POLICY."other/*"]
    api_token = "key-of-others"
    [MQBOT_POLICY."other/docs"]
    api_token = "key-of-docs"
    """
    settings = read(tmp_path, tables)
    removed = RepositoryName("other/removed")
    assert own_tokens(settings, [removed])[removed].secret == SecretStr("key-of-others")
    assert {"key-of-others", "key-of-docs"} <= secrets_of(settings)


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        (
            '[MQBOT_POLICY."acme/web"]\nreminder_minutes = 5',
            "“acme/web” isn't a repository or group",
        ),
        ('[MQBOT_POLICY."@web"]\nreminder_minutes = 5', "“@web” isn't a repository or group"),
        ("[MQBOT_POLICY.acme]\nreminder_minutes = 5", "“acme” isn't a repository or group"),
        (
            '[MQBOT_POLICY."acme/site"]\nwho_may_paus = "U0ALICE"',
            "who_may_paus isn't a setting of such a table (line 2 of ",
        ),
        (
            '[MQBOT_POLICY."acme/site"]\nhealth_depth = 5\npoll_seconds = 5',
            "poll_seconds isn't a setting of such a table (line 3 of ",
        ),
        (
            '[MQBOT_POLICY."acme/site"]\nhealth_depth = 5\npoll_seconds = 5',
            "; it's one for everything: put it above the first table",
        ),
        (
            '[MQBOT_POLICY."acme/site"]\nhealth_depth = 5\nMQBOT_LOG_LEVEL = "DEBUG"',
            "; it's one for everything: put it above the first table",
        ),
        (
            '[MQBOT_POLICY."acme/site"]\nwho_may_pause = ["alice"]',
            "“alice” isn't the id of a person",
        ),
        (
            '[MQBOT_POLICY."acme/site"]\nhealth_depth = -1',
            "in “acme/site”: health_depth: less than 0 (line 2 of ",
        ),
        ('[MQBOT_POLICY."acme/site"]\nalert_mention = "@oncall"', "in “acme/site”: alert_mention:"),
        ('[MQBOT_POLICY."acme/site"]\napi_token_file = "/no/such"', "can't be read"),
        ('[MQBOT_POLICY."acme/site"]\napi_token = "a secret"', "in “acme/site”: api_token"),
        ("MQBOT_POLICY = 5", "not tables of the file"),
        (
            '[MQBOT_POLICY."acme/site"]\nwho_may_read = ["U0ALICE"]',
            "; it's one for everything: put it above the first table",
        ),
    ],
)
def test_a_table_that_cannot_apply_is_refused(tmp_path: Path, tables: str, why: str) -> None:
    found = problem(tmp_path, tables)
    assert why in found
    assert "secret" not in found


def test_the_key_of_a_policy_is_not_read_from_a_pipe_which_could_block_a_reload(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "key"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=["mq-in-a-pipe"], daemon=True)
    writer.start()
    found = problem(tmp_path, '[MQBOT_POLICY."acme/site"]\napi_token_file = "key"')
    assert "api_token_file names no plain text file" in found
    # Lets the writer go.
    with pipe.open("rb"):
        writer.join()


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ('acts = ["merge"]', "approval.ai.acts: not such a value (line 2 of "),
        ('acts = ["merge"]', ". It takes: acts = what it only proposes: some of pause, resume,"),
        ('acts = "pause"', "approval.ai.acts: not a list (line 2 of "),
        ("acts = []", "approval.ai.acts: empty (line 2 of "),
        ("minutes = 0", "approval.ai.minutes: less than 1 (line 2 of "),
        ("minutes = 0", ". It takes: minutes = minutes until a proposal expires; 1 to 1440"),
        ('run_by = ["alice"]', "approval.ai.run_by: “alice” isn't the id of a person (line 2 of "),
        ("minute = 5", "approval.ai: minute isn't a setting of such a table (line 2 of "),
        ("minute = 5", "; did you mean minutes? It takes: minutes = minutes until"),
        ("reminder_minutes = 5", "; it's one for everything: put it above the first table"),
    ],
)
def test_what_is_wrong_in_a_table_of_approval_names_the_machine_and_the_line(
    tmp_path: Path, table: str, sentence: str
) -> None:
    found = problem(tmp_path, f'[MQBOT_POLICY."acme/site".approval.ai]\n{table}')
    assert found.startswith("in “acme/site”: approval.ai")
    assert sentence in found


def test_a_mistyped_machine_of_approval_reads_how_the_machines_are_called(tmp_path: Path) -> None:
    tokens = ";".join(f"{name}={name * 12}" for name in ("nightly", "deploy"))
    table = '[MQBOT_POLICY."acme/site".approval.deploi]\nminutes = 5'
    with pytest.raises(ConfigurationError) as refused:
        read(tmp_path, table, MQBOT_MACHINE_TOKENS=tokens, MQBOT_HEALTH_PORT="8080")
    found = refused.value.problems["MQBOT_POLICY"]
    assert found.startswith("in “acme/site”: no machine is called “deploi” (line 1 of ")
    assert "; MQBOT_MACHINE_TOKENS names deploy, nightly. " in found


@pytest.mark.parametrize(
    "tables",
    [
        '[MQBOT_POLICY."acme/site"]\napproval = ["ai"]',
        '[MQBOT_POLICY."acme/site".approval]\nai = ["pause"]',
        '[MQBOT_POLICY."acme/site".approval]\nminutes = 5',
    ],
)
def test_approval_takes_a_table_for_each_machine(tmp_path: Path, tables: str) -> None:
    found = problem(tmp_path, tables)
    assert found.startswith("in “acme/site”: approval")
    assert "not tables of the file" in found
    assert 'such as [MQBOT_POLICY."owner/name".approval.ai-agent]' in found


def _rights(policy: Policy) -> Mapping[Right, WhoMayPause]:
    return policy.rules(RightRules).who_may


def _who(policy: Policy) -> tuple[WhoMayPause, WhoMayPause]:
    """Who may pause, and resume."""
    who_may = _rights(policy)
    return who_may[Right.PAUSE], who_may[Right.RESUME]


WEEKEND = """
[MQBOT_WINDOW."weekend"]
applies_to = "@release"
starts = "0 18 * * fri"
lasts = "2d14h"
zone = "Europe/Paris"
reason = "No merges over the weekend"
"""


def read_windows(folder: Path, tables: str) -> list[RecurringWindow]:
    settings = read(folder, tables)
    return list(windows(settings.window, settings.repositories, settings.groups))


def test_a_window_applies_to_a_group_and_is_announced_an_hour_before(tmp_path: Path) -> None:
    (found,) = read_windows(tmp_path, WEEKEND)
    assert (found.name, found.repositories) == ("weekend", ["acme/site", "acme/api"])
    assert (found.starts, found.zone.key) == ("0 18 * * fri", "Europe/Paris")
    assert (found.lasts, found.announced) == (timedelta(hours=62), timedelta(hours=1))
    for written, count in (("all", 3), ("@all", 3), ("acme/*", 2), ("other/*", 1)):
        (found,) = read_windows(tmp_path, WEEKEND.replace("@release", written))
        assert len(found.repositories) == count


@pytest.mark.parametrize(
    ("written", "instead", "sentence"),
    [
        ("@release", "@nobody", "“@nobody” isn't a repository or group of the settings"),
        ("0 18 * * fri", "0 18 * * 5", "weekdays are names, such as mon-fri"),
        ("0 18 * * fri", "0 18", "not five fields"),
        ("2d14h", "until 18:00", "not a length from a minute to 30 days"),
        ("Europe/Paris", "Paris", "not a time zone (line"),
        ("reason", "why", "in “weekend”: why isn't a setting of such a table (line 7 of "),
        ('"No merges over the weekend"', '""', "in “weekend”: reason: empty (line 7 of "),
        ('"No merges over the weekend"', '" \\u200d "', "in “weekend”: reason: empty (line 7 of "),
        (
            "No merges over the weekend",
            "x" * 256,
            "in “weekend”: reason: too long (line 7 of ",
        ),
    ],
)
def test_a_broken_table_is_named_with_its_problem(
    tmp_path: Path, written: str, instead: str, sentence: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_windows(tmp_path, WEEKEND.replace(written, instead))
    assert "weekend" in refused.value.problems["MQBOT_WINDOW"]
    assert sentence in refused.value.problems["MQBOT_WINDOW"]


def test_a_table_of_all_is_the_farthest(tmp_path: Path) -> None:
    tables = """
    [MQBOT_POLICY."all"]
    who_may_pause = "U0BOB"
    [MQBOT_POLICY."acme/*"]
    who_may_pause = "U0ALICE"
    """
    found = policies(read(tmp_path, tables))
    assert [_rights(found.of(name))[Right.PAUSE] for name in (SITE, API, DOCS)] == [
        ALICE,
        ALICE,
        BOB,
    ]


@pytest.mark.parametrize(
    "entry", ["all=C123:{}", "@release=C123:{};other/*=C123:{}", "ALL=C123:{}"]
)
def test_channels_are_subscribed_to_selections_and_the_nearest_entry_counts(
    tmp_path: Path, entry: str
) -> None:
    given = entry.format("merge", "merge") + ";acme/api=C123:failure"
    found = read(tmp_path, "", MQBOT_CHANNELS=given).channels
    assert {subscription.repository: set(subscription.topics) for subscription in found} == {
        SITE: {"merge"},
        API: {"failure"},
        DOCS: {"merge"},
    }
    assert [subscription.through for subscription in found if subscription.repository == API] == [
        None
    ]
    assert {subscription.through for subscription in found if subscription.repository != API} <= {
        "all",
        "@release",
        "other/*",
    }


def test_a_channel_of_an_unknown_selection_is_refused(tmp_path: Path) -> None:
    for entry in ("@releese=C123", "nobody/*=C123"):
        with pytest.raises(ConfigurationError) as refused:
            read(tmp_path, "", MQBOT_CHANNELS=entry)
        said = refused.value.problems["MQBOT_CHANNELS"]
        assert "isn't a repository or group of the settings" in said
        assert ("did you mean @release?" in said) is entry.startswith("@")


def test_a_nearer_table_of_approval_replaces_only_the_lines_that_it_has(tmp_path: Path) -> None:
    tables = """
        health_port = 8080
        machine_tokens = "ai=at-least-24-characters-of-it;ci=24-characters-of-another-one"
        [MQBOT_POLICY.all.approval.ai]
        run_by = ["U0ALICE"]
        acts = ["pause"]
        [MQBOT_POLICY.all.approval.ci]
        minutes = 5
        [MQBOT_POLICY."@release".approval.ai]
        minutes = 30
        acts = ["pause", "resume"]
        [MQBOT_POLICY."acme/site".approval.ai]
        acts = ["freeze"]
        most_open = 5
    """
    found = policies(read(tmp_path, tables))
    ci = Approval(frozenset(EVERY_ACT), timedelta(minutes=5), 3, frozenset())
    for repository, acts, minutes, most_open in (
        (SITE, {Action.FREEZE}, 30, 5),
        (API, {Action.PAUSE, Action.RESUME}, 30, 3),
        (DOCS, {Action.PAUSE}, 60, 3),
    ):
        ai = Approval(
            frozenset(acts), timedelta(minutes=minutes), most_open, frozenset({"U0ALICE"})
        )
        rules = found.of(repository).rules(ApprovalRules)
        assert rules == ApprovalRules({"machine:ai": ai, "machine:ci": ci})
