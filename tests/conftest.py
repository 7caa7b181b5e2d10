"""Settings for all tests: a clean environment, Hypothesis profiles, snapshots, no silent skip.

With MQBOT_FAIL_ON_SKIP, skipped tests fail. `--last-skipped` runs only what the last run skipped.
"""

import gc
import os
import random
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.workermanage import WorkerController

from tests.support.database_fixtures import (
    any_database,
    database,
    postgres_database,
    postgres_engine,
    postgres_server,
    postgres_url,
    sqlite_engine,
    sqlite_template,
    sqlite_url,
    store,
    transaction,
)
from tests.support.sharing_out import OneByOne, mixed
from tests.support.snapshots import Snapshots

__all__ = [
    "any_database",
    "database",
    "postgres_database",
    "postgres_engine",
    "postgres_server",
    "postgres_url",
    "sqlite_engine",
    "sqlite_template",
    "sqlite_url",
    "store",
    "transaction",
]

FAIL_ON_SKIP = "MQBOT_FAIL_ON_SKIP"
LAST_SKIPPED = "mqbot/skipped"
"""Where pytest's cache keeps the ids of tests that the last run skipped."""
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ftp_proxy", "ws_proxy")
OURS = ("MQBOT_", "SLACK_")
CI_SEED = "1"

# A shared machine may stall at any instant: slowness is no failure anywhere. Runs outside CI have a
# seed each, so that many short runs see more than a long one; "long" is run by hand, with
# `pytest --hypothesis-profile=long tests/properties`, where a property or what it is about changes.
for profile, examples in {"dev": 25, "ci": 25, "long": 2_000}.items():
    settings.register_profile(
        profile,
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=profile != "dev",
    )
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-snapshots",
        action="store_true",
        help="Write the snapshots of messages anew instead of comparing with them",
    )
    parser.addoption(
        "--last-skipped",
        action="store_true",
        help="Run only the tests that the last run skipped, once their tools are installed",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Set up before anything reads the environment; gives Hypothesis a repeatable seed."""
    for name in list(os.environ):
        ours = name.startswith(OURS) and name != FAIL_ON_SKIP
        if ours or name == "DATABASE_URL" or name.lower() in PROXIES:
            del os.environ[name]
    # Thousands of starts and every worker of xdist would compile all modules anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if config.getoption("--hypothesis-seed") is None:
        given = getattr(config, "workerinput", {}).get("hypothesis_seed")
        config.option.hypothesis_seed = given or _seed()


def _seed() -> str:
    """CI uses the same examples each time; every other run draws new ones."""
    return CI_SEED if os.environ.get("CI") else str(random.SystemRandom().getrandbits(32))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Every process of a run has the seed that its report names."""
    node.workerinput["hypothesis_seed"] = node.config.getoption("--hypothesis-seed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneByOne:
    return OneByOne(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--last-skipped"):
        skipped = set(config.cache.get(LAST_SKIPPED, [])) if config.cache else set()
        others = [item for item in items if item.nodeid not in skipped]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item.nodeid in skipped]
    if hasattr(config, "workerinput"):
        items[:] = mixed(items)


def pytest_report_header(config: pytest.Config) -> str:
    return f"hypothesis: --hypothesis-seed={config.getoption('--hypothesis-seed')}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    skipped = [report.nodeid for report in terminalreporter.stats.get("skipped", [])]
    cache = getattr(config, "cache", None)  # there is none with `-p no:cacheprovider`
    if cache is not None:
        cache.set(LAST_SKIPPED, sorted(skipped))
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(pytest_report_header(config))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of collected tests stay to the end: garbage is not looked for among them.

    What little garbage there is by then stays too: to find it takes half a second of each worker.
    Later it is looked for seldom: each test ends with most of what it made, and looking for cycles
    at Python's own pace took a tenth of the time of those with a bot.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 50, 50)
        gc.enable()


@pytest.fixture
def snapshots(request: pytest.FixtureRequest) -> Snapshots:
    """The snapshots beside the test's own file."""
    folder = Path(request.path).parent / "snapshots"
    return Snapshots(folder, is_updating=bool(request.config.getoption("--update-snapshots")))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Fail skipped tests on a machine that must run all of them."""
    if not os.environ.get(FAIL_ON_SKIP) or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    if "optional: " in str(reason):  # a tool that the project itself does not need
        return
    report.outcome = "failed"
    report.longrepr = f"{reason}\n{FAIL_ON_SKIP} is set, so this skip is a failure."
