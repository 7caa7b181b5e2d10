"""`mqbot demo` as a person starts it, seen through the page's own HTTP interface."""

import sys
import time
from pathlib import Path
from typing import Any

from tests.support.demo_process import Demo, running_demo

DEMO = (sys.executable, "-m", "bot", "demo", "--port", "0")


HOUR = 3600.0


def test_the_demo_opens_on_a_night_and_a_morning_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with running_demo(*DEMO, cwd=tmp_path) as demo:
        opens_on_the_story(demo)
        demo.type_command("/mq pause now acme/site CI runners are down")
        demo.wait_for_messages("*acme/site is paused* · CI runners are down")
        demo.type_command("/mq resume acme/site", user="U0BOB")
        demo.wait_for_messages("*acme/site was paused* · CI runners are down")
        demo.bring_about("colleague")
        demo.wait_for_messages("*acme/site is paused* · Staging is out of disk space", "leave")
    assert list(tmp_path.iterdir()) == []


def opens_on_the_story(demo: Demo) -> None:
    """Nothing is waited for: the address is printed once the story is told."""
    incident = demo.messages("C0INCIDENT")
    card = saying(incident, "acme/site was paused · The image registry is down")
    assert "With carol since" in card["text"]
    assert card["reply_count"] >= 3
    assert hours_ago(card) > 12
    assert hours_ago(saying(incident, "acme/site has resumed")) > 11

    merged = [message for message in demo.messages() if "Merged" in message["text"]]
    assert len(merged) > 10
    failed = saying(demo.messages(), "Remove the old price table: unit tests failed")
    assert hours_ago(failed) < 1
    saying(demo.messages(), "Queued")

    released = demo.messages("C0RELEASE")
    saying(released, "Set the version to 4.2.0")
    assert saying(released, "4.2.0 is live")["files"]


def saying(messages: list[dict[str, Any]], words: str) -> dict[str, Any]:
    return next(message for message in messages if words in message["text"])


def hours_ago(message: dict[str, Any]) -> float:
    return (time.time() - float(message["ts"])) / HOUR
