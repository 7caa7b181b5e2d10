"""The demo's stage: what ticks each task of the checklist, and what each trigger brings about."""

import pytest

from bot.cli.manifest import manifest_path
from bot.sandbox.merge_queue.controls import FreezeTerms, SentEvent
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.merge_queue.troubles import play
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.acts import Act
from bot.sandbox.slack.state.workspace import Message
from bot.sandbox.slack.wire import ControlRefusal, Json
from bot.sandbox.story.stage import COLLEAGUES_REASON, DASHBOARD_REASON, DemoStage
from bot.sandbox.story.steps import ALICE, API, BOB, CAROL, MERGE_QUEUE, SITE
from bot.sandbox.story.tasks import NOTHING_FAILED
from bot.sandbox.story.telling import Teller

MINUTES = 60.0


class Visit:
    """A stage, and somebody who tries it; there is no app."""

    def __init__(self) -> None:
        self.service = MergeQueueSandbox(repositories={SITE: "staged"})
        self.slack = SlackSandbox(manifest_path())
        sandbox = Sandbox(self.service, self.slack)
        self.app_seconds = 0.0
        self.stage = DemoStage(sandbox, Teller(sandbox, 0.0, self._move), speed=6.0)
        self.stage.open()

    def _move(self, seconds: float) -> None:
        self.app_seconds += seconds

    def acts(self, words: str, *, by: str = ALICE) -> None:
        self.slack.installation.acts.note(Act(by, "command", words))

    def app_posts(self) -> None:
        workspace = self.slack.installation.workspace
        workspace.post(Message(MERGE_QUEUE, workspace.new_ts(), "U0MQBOT", "news", from_app=True))

    def wait(self, minutes: float) -> None:
        self.service.skip(minutes * MINUTES)
        self.service.catch_up()

    def reasons(self) -> list[str]:
        """Why pull requests left the queue."""
        left = (event for event in self.service.events(SITE) if event.type.endswith(".leave"))
        return [str(event.metadata["dequeue_code"]) for event in left]

    @property
    def why_mine(self) -> Json:
        tasks = {task["name"]: task for task in self.stage.state()["tasks"]}
        found: Json = tasks["why-mine"]
        return found

    @property
    def done(self) -> set[str]:
        return {task["name"] for task in self.stage.state()["tasks"] if task["is_done"]}


@pytest.fixture
def visit() -> Visit:
    return Visit()


@pytest.mark.parametrize(
    ("words", "task"),
    [
        ("/mq", "see"),
        ("/mq status acme/site", "see"),
        ("/mq why 3841", "why-mine"),
        ("Why? why 3841 acme/site", "why-mine"),
        ("/mq why", "why-queue"),
        ("Why? why acme/site", "why-queue"),
        ("/mq subscribe acme/site quiet", "quiet"),
    ],
)
def test_what_people_type_and_press_ticks_a_task(visit: Visit, words: str, task: str) -> None:
    visit.acts(words)
    assert visit.done == {task}


@pytest.mark.parametrize("words", ["/mq help", "/mq subscribe acme/site normal", "Log log 3841"])
def test_other_acts_tick_nothing(visit: Visit, words: str) -> None:
    visit.acts(words)
    assert visit.done == set()


def test_a_pause_is_ticked_once_the_app_shows_it_and_the_service_has_it(visit: Visit) -> None:
    visit.acts("/mq pause CI is down")
    visit.app_posts()
    assert visit.done == set()
    visit.service.pause(SITE, "CI is down (by alice via Slack)")
    visit.app_posts()
    assert visit.done == {"pause"}


def test_what_was_there_before_or_is_done_on_the_dashboard_ticks_nothing(visit: Visit) -> None:
    visit.service.pause(SITE, "CI runners are down", by="bob")
    visit.service.freeze(SITE, FreezeTerms("Release 4.2 is being cut"))
    visit.app_posts()
    visit.acts("/mq status")
    assert visit.done == {"see"}
    visit.service.freeze(SITE, FreezeTerms("Holidays (by alice via Slack)"))
    visit.app_posts()
    assert visit.done == {"see", "freeze"}


@pytest.mark.parametrize("words", ["/mq status", "/mq why acme/site", "Resume in 2 h 2h"])
def test_who_only_looks_at_a_pause_is_no_second_person(visit: Visit, words: str) -> None:
    visit.acts("/mq pause CI is down")
    visit.service.pause(SITE, "CI is down (by alice via Slack)")
    visit.acts(words, by=BOB)
    assert "second" not in visit.done


async def test_whoever_resumes_after_dave_is_the_second_person(visit: Visit) -> None:
    visit.acts("/mq help")
    await visit.stage.bring_about("dashboard")
    visit.acts("/mq why acme/site")
    assert "second" not in visit.done
    visit.acts("/mq resume")
    assert "second" in visit.done


def test_only_somebody_else_than_who_paused_is_the_second_person(visit: Visit) -> None:
    visit.acts("/mq pause CI is down")
    visit.service.pause(SITE, "CI is down (by alice via Slack)")
    visit.acts("/mq extend 1h")
    assert visit.done == set()
    visit.acts("Resume queue", by=BOB)
    assert visit.done == {"second"}


async def test_a_pause_on_the_dashboard_ticks_nothing_and_happens_once(visit: Visit) -> None:
    await visit.stage.bring_about("dashboard")
    visit.app_posts()
    pause = visit.service.repository(SITE).pause
    assert pause is not None
    assert pause.reason == DASHBOARD_REASON
    assert visit.done == set()
    with pytest.raises(ControlRefusal, match="paused already"):
        await visit.stage.bring_about("dashboard")


def test_who_takes_over_a_colleagues_pause_is_the_second_person_and_has_not_paused(
    visit: Visit,
) -> None:
    visit.acts(f"/mq pause now acme/site {COLLEAGUES_REASON}", by=CAROL)
    visit.service.pause(SITE, f"{COLLEAGUES_REASON} (by carol via Slack)")
    visit.app_posts()
    assert visit.done == set()
    visit.acts("Take over")
    assert visit.done == {"second"}


async def test_a_colleague_cannot_pause_a_paused_queue(visit: Visit) -> None:
    await visit.stage.bring_about("dashboard")
    with pytest.raises(ControlRefusal, match="paused already"):
        await visit.stage.bring_about("colleague")


async def test_a_failure_is_the_one_that_the_checklist_asks_about(visit: Visit) -> None:
    assert visit.why_mine["command"] is None
    assert visit.why_mine["hint"] == NOTHING_FAILED
    await visit.stage.bring_about("failure")
    visit.app_posts()
    assert visit.why_mine["command"] is None
    visit.wait(minutes=3)
    visit.app_posts()
    assert visit.reasons() == ["CHECKS_FAILED"]
    (failed,) = {
        event.pull_request
        for event in visit.service.events(SITE)
        if event.type == "action.queue.leave"
    }
    assert visit.why_mine["command"] == f"/mq why {failed}"


def test_a_removal_and_a_failure_that_came_back_are_nothing_to_ask_about(visit: Visit) -> None:
    removed = visit.service.enqueue(SITE)
    visit.service.dequeue(SITE, removed)
    failed = {"dequeue_code": "CHECKS_FAILED", "merged": False}
    for type_ in ("leave", "enter"):
        sent = SentEvent(f"action.queue.{type_}", failed if type_ == "leave" else {}, 41, "main")
        visit.service.emit(SITE, sent)
    visit.app_posts()
    assert visit.why_mine["command"] is None
    visit.service.emit(SITE, SentEvent("action.queue.leave", failed, 41, "main"))
    visit.app_posts()
    assert visit.why_mine["command"] == "/mq why 41"


async def test_a_batch_merges_and_another_is_bisected(visit: Visit) -> None:
    await visit.stage.bring_about("batch")
    visit.wait(minutes=15)
    assert visit.reasons() == ["PR_MERGED"] * 3
    await visit.stage.bring_about("bisection")
    visit.wait(minutes=45)
    assert sorted(visit.reasons()[3:]) == ["CHECKS_FAILED", "PR_MERGED", "PR_MERGED"]
    types = {event.type for event in visit.service.events(SITE)}
    assert "action.queue.batch_bisection_end" in types


async def test_outages_last_until_they_are_ended(visit: Visit) -> None:
    of_a_scenario = Fault("error", path="/repos/acme/site/merge-queue/status", times=None)
    visit.service.faults.arm(of_a_scenario)
    for name in ("service", "slack"):
        await visit.stage.bring_about(name)
    triggers = visit.stage.state()["triggers"]
    assert {each["name"] for each in triggers if each["is_on"]} == {"service", "slack"}
    assert visit.service.faults.meet("GET", "/v1/anything", has_cursor=False)
    assert visit.slack.faults.listing()["faults"]
    for name in ("service", "slack"):
        await visit.stage.bring_about(name)
    assert visit.service.faults.armed == [of_a_scenario]
    assert not visit.slack.faults.listing()["faults"]


def test_a_repository_whose_status_fails_leaves_the_others_alone() -> None:
    service = MergeQueueSandbox(repositories={SITE: "staged", API: "staged"})
    play(service, [SITE], "no-answer")
    for name, fails in ((SITE, True), (API, False)):
        path = f"/v1/repos/{name}/merge-queue/status"
        assert (service.faults.meet("GET", path, has_cursor=False) is not None) is fails


async def test_an_unknown_trigger_is_refused(visit: Visit) -> None:
    with pytest.raises(ControlRefusal, match="there is no trigger flood"):
        await visit.stage.bring_about("flood")
