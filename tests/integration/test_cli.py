"""The short commands of `mqbot`, and the two services run alone."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest
import yaml
from click.testing import CliRunner, Result

import bot
from bot.acts.rows import Audit
from bot.cli.main import PROGRAMS, main
from bot.cli.manifest import manifest_path
from bot.cli.process import UNAVAILABLE_EXIT
from bot.store.engines import opened
from bot.store.transaction import Transaction
from tests.support.bot_process import MqbotProcess
from tests.support.stored import make_record


def run(*arguments: str, environ: dict[str, str] | None = None) -> Result:
    return CliRunner(env=environ).invoke(main, arguments, prog_name="mqbot")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_command(option: str) -> None:
    result = run(option)
    assert result.exit_code == 0
    for name, (_, task) in PROGRAMS.items():
        assert f"  {name} " in result.output
        assert task in " ".join(result.output.split())


@pytest.mark.parametrize("name", [*PROGRAMS, "sandbox slack", "sandbox merge-queue"])
def test_every_command_explains_itself(name: str) -> None:
    result = run(*name.split(), "--help")
    assert result.exit_code == 0
    assert f"Usage: mqbot {name} " in result.output


def test_version_is_the_package_version() -> None:
    assert run("--version").output == f"mqbot, version {bot.__version__}\n"


def test_an_unknown_command_gets_a_clear_error() -> None:
    result = run("rnu")
    assert result.exit_code == 2
    assert "No such command 'rnu'" in result.output


def test_manifest_prints_the_file_unchanged() -> None:
    assert run("manifest").output == manifest_path().read_text("utf-8")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no full device here")
@pytest.mark.parametrize("command", [["manifest"], ["audit", "--json"], ["subscriptions"]])
def test_output_onto_a_full_disk_ends_with_one_sentence(
    sqlite_url: str, command: list[str]
) -> None:
    with opened(sqlite_url) as connection:
        Audit(Transaction(connection)).add(make_record())
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "bot", *command],
            env={**os.environ, "DATABASE_URL": sqlite_url},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == UNAVAILABLE_EXIT
    assert ended.stderr == "mqbot: the output can't be written: No space left on device\n"


def test_manifest_for_http_names_the_address_everywhere() -> None:
    for given, url in (
        ("https://bot.example", "https://bot.example/slack/events"),
        ("https://bot.example/", "https://bot.example/slack/events"),
        ("https://bot.example/here", "https://bot.example/here"),
    ):
        manifest = yaml.safe_load(run("manifest", "--http", given).output)
        settings = manifest["settings"]
        assert settings["socket_mode_enabled"] is False
        assert settings["event_subscriptions"]["request_url"] == url
        assert settings["interactivity"]["request_url"] == url
        assert [command["url"] for command in manifest["features"]["slash_commands"]] == [url]
    minimal = yaml.safe_load(run("manifest", "--minimal", "--http", "https://bot.example").output)
    assert set(minimal["oauth_config"]["scopes"]) == {"bot"}
    assert minimal["settings"]["socket_mode_enabled"] is False
    for given in ("http://bot.example", "bot.example", "https://"):
        result = run("manifest", "--http", given)
        assert result.exit_code == 2
        assert "https://" in result.output


def test_migrate_upgrades_the_database_and_may_be_repeated(tmp_path: Path) -> None:
    environ = {"DATABASE_URL": f"sqlite:///{tmp_path / 'bot.sqlite3'}"}
    first = run("migrate", environ=environ)
    second = run("migrate", environ=environ)
    assert first.exit_code == second.exit_code == 0, first.output
    assert first.output.startswith(f"the database {tmp_path / 'bot.sqlite3'} is at revision ")
    assert first.output == second.output


def test_a_command_that_uses_the_default_database_beside_an_unused_settings_file_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "mqbot.toml"
    settings.write_text(f'DATABASE_URL = "sqlite:///{tmp_path / "bot.sqlite3"}"\n', "utf-8")
    nowhere = {"XDG_DATA_HOME": str(tmp_path), "DATABASE_URL": "", "MQBOT_CONFIG": ""}
    for name in ("migrate", "audit", "subscriptions"):
        forgotten = run(name, environ=nowhere)
        assert forgotten.exit_code == 0, forgotten.output
        assert forgotten.stderr == (
            f"mqbot: MQBOT_CONFIG: isn't set, so {settings} isn't read, and this is about the "
            f"default database {tmp_path / 'mqbot' / 'mqbot.sqlite3'}\n"
        )
    for environ in (
        {**nowhere, "MQBOT_CONFIG": str(settings)},
        {**nowhere, "DATABASE_URL": f"sqlite:///{tmp_path / 'bot.sqlite3'}"},
    ):
        assert run("migrate", environ=environ).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("sandbox", "merge-queue", "--repository", "acme"), "owner/name"),
        (("sandbox", "merge-queue", "--scenario", "wild"), "unknown scenario 'wild'"),
        (("sandbox", "merge-queue", "--speed", "0"), "not in the range"),
        (("sandbox", "slack", "--port", "70000"), "not in the range"),
        (("sandbox", "slack", "--manifest", "no/such.yml"), "does not exist"),
        (("sandbox", "slack", "--port", "0", "--manifest", os.devnull), "the file is empty"),
        (("sandbox", "slack", "--port", "0", "--manifest", __file__), "--manifest"),
        (("demo", "--port", "0", "--log-level", "loud"), "is not one of 'debug', 'info'"),
    ],
)
def test_an_unusable_sample_gets_a_clear_error(arguments: tuple[str, ...], complaint: str) -> None:
    result = run(*arguments)
    assert result.exit_code != 0
    assert complaint in result.output
    assert isinstance(result.exception, SystemExit)


async def test_the_merge_queue_sandbox_runs_alone_and_stops_on_a_signal(tmp_path: Path) -> None:
    options = ["--port", "0", "--token", "T", "--repository", "acme/site", "--speed", "20"]
    options += ["--dialect", "live", "--pause-endpoints", "current", "--read-only-token", "R"]
    process = await MqbotProcess.start("sandbox", "merge-queue", *options, folder=tmp_path)
    try:
        url = await process.prints("MQBOT_API_URL=")
        headers = {"Authorization": "Bearer T"}
        async with aiohttp.ClientSession(headers=headers) as session:
            async with session.get(f"{url}/repos/acme/site/logs") as answer:
                assert answer.status == 200
                assert (await answer.json())["events"]
            async with session.get(f"{url}/application") as answer:
                assert answer.status == 200
                assert (await answer.json())["scope"] == "admin"
            async with session.get(f"{url}/repos/acme/site/merge-queue/pause") as answer:
                assert (await answer.json())["paused"] is False
            async with session.get(f"{url}/repos/acme/site/queue/pause") as answer:
                assert (await answer.json())["detail"] == "Not Found"
            reader = {"Authorization": "Bearer R"}
            for path, status in (("merge-queue/status", 200), ("merge-queue/pause", 403)):
                method = session.get if status == 200 else session.delete
                async with method(f"{url}/repos/acme/site/{path}", headers=reader) as answer:
                    assert answer.status == status
    finally:
        assert await process.stop(signal.SIGINT) == 0, process.complaints
    assert process.complaints == ""


async def test_the_slack_sandbox_runs_alone_with_the_manifest_it_is_given(tmp_path: Path) -> None:
    manifest = yaml.safe_load(manifest_path().read_text("utf-8"))
    manifest["features"]["slash_commands"][0]["command"] = "/queue"
    (tmp_path / "app.yml").write_text(json.dumps(manifest), "utf-8")
    options = ("--port", "0", "--manifest", "app.yml", "--bot-token", "xoxb-mine")
    process = await MqbotProcess.start("sandbox", "slack", *options, folder=tmp_path)
    try:
        page = await process.prints("page ")
        api = await process.prints("SLACK_API_URL=")
        async with aiohttp.ClientSession() as session:
            async with session.get(page) as answer:
                assert answer.content_type == "text/html"
            async with session.get(f"{page}control/workspace") as answer:
                app = (await answer.json())["app"]
            async with session.post(f"{api}auth.test", data={"token": "xoxb-mine"}) as answer:
                assert (await answer.json())["ok"]
    finally:
        assert await process.stop() == 0, process.complaints
    assert [command["command"] for command in app["commands"]] == ["/queue"]


async def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    first = await MqbotProcess.start("sandbox", "slack", "--port", "0", folder=tmp_path)
    try:
        port = (await first.prints("page ")).rstrip("/").rpartition(":")[2]
        second = await MqbotProcess.start("demo", "--port", port, folder=tmp_path)
        assert await second.ends() == 1
    finally:
        await first.stop()
    assert second.complaints == (
        f"Error: port {port} can't be used: Address already in use; try --port 0\n"
    )


def test_an_error_of_the_disk_is_not_told_as_one_of_the_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fill_up(_url: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("bot.store.migrate.upgrade", fill_up)
    result = run("demo", "--port", "0")
    assert isinstance(result.exception, OSError)
    assert "port" not in result.output


@pytest.mark.parametrize("command", ["demo", "sandbox merge-queue"])
@pytest.mark.parametrize("speed", ["nan", "inf", "1001", "0", "-1"])
def test_an_unrealistic_speed_is_refused(command: str, speed: str) -> None:
    result = run(*command.split(), "--port", "0", "--speed", speed)
    assert result.exit_code == 2
    assert "'--speed'" in result.output
