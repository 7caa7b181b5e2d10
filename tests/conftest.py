"""What holds for every test: where MQBOT_FAIL_ON_SKIP is set, nothing may be left out."""

import os
from collections.abc import Generator

import pytest

FAIL_ON_SKIP = "MQBOT_FAIL_ON_SKIP"


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
    """A machine that is meant to run every test must not be green without some of them."""
    if not os.environ.get(FAIL_ON_SKIP) or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"{reason}\n{FAIL_ON_SKIP} is set, so this skip is a failure."
