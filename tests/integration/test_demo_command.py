"""`mqbot demo` as a person starts it, seen through the page's own HTTP interface."""

import sys
from pathlib import Path

from tests.support.demo_process import running_demo

DEMO = (sys.executable, "-m", "bot", "demo", "--port", "0")


def test_the_channel_shows_events_and_a_pause_and_nothing_is_left_behind(tmp_path: Path) -> None:
    with running_demo(*DEMO, cwd=tmp_path) as demo:
        demo.wait_for_messages("*Queued*", "*Merged*", "*Left the queue*")
        demo.type_command("/mq pause now acme/site CI runners are down")
        demo.wait_for_messages("*acme/site is paused* · CI runners are down")
        demo.type_command("/mq resume acme/site", user="U0BOB")
        demo.wait_for_messages("*acme/site has resumed*")
        assert demo.messages("C0RELEASE") is not None
    assert list(tmp_path.iterdir()) == []
