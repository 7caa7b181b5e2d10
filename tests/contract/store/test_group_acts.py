"""Acts on groups."""

from dataclasses import replace
from datetime import timedelta

from bot.acts.asked import Asked
from bot.acts.group_act import CHANGES, EVERY_ACT, GroupAct, GroupOutcome, RepositoryResult
from bot.acts.group_acts import GroupActs
from bot.acts.record import Action
from bot.kernel.actor import Actor, Origin
from bot.kernel.durations import For
from bot.pauses.pause import PauseLine, PauseRecord
from bot.pauses.rows import Pauses
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE, after, make_new

ACT = GroupAct(
    group="release",
    action=Action.PAUSE,
    at=NOW,
    actor=Actor("U1", "Ada", "T1"),
    origin=Origin.BUTTON,
    repositories=(SITE, SHOP),
    channel_id="C1",
    asked=Asked("freeze \N{SNOWMAN}", For(timedelta(minutes=30))),
    notified_together=frozenset({"C1", "C2"}),
)
RESULTS = (
    RepositoryResult(SITE, GroupOutcome.CHANGED),
    RepositoryResult(SHOP, GroupOutcome.FAILED, who=None, detail="409 conflict: busy"),
)


def test_an_act_comes_back_before_and_after_its_end(transaction: Transaction) -> None:
    first = GroupActs(transaction).save(ACT)
    second = GroupActs(transaction).save(replace(ACT, group="docs", channel_id=None))
    ended = replace(ACT, group_act_id=first, results=RESULTS, ended_at=after(3))
    assert GroupActs(transaction).save(ended) == first
    found = GroupActs(transaction).get([first, second, 999])
    assert GroupActs(transaction).get([]) == {}

    assert first < second
    assert found == {
        first: ended,
        second: replace(ACT, group_act_id=second, group="docs", channel_id=None),
    }


def test_the_latest_act_of_a_group_is_the_one_begun_last(transaction: Transaction) -> None:
    assert GroupActs(transaction).latest("release", EVERY_ACT) is None
    GroupActs(transaction).save(ACT)
    later = replace(ACT, action=Action.RESUME, at=after(-60))
    last = GroupActs(transaction).save(later)
    GroupActs(transaction).save(replace(ACT, group="docs"))
    longer = replace(ACT, action=Action.EXTEND, resumes_at=after(60))
    longest = GroupActs(transaction).save(longer)
    acts = GroupActs(transaction)
    assert acts.latest("release", CHANGES) == replace(later, group_act_id=last)
    assert acts.latest("release", EVERY_ACT) == replace(longer, group_act_id=longest)


def test_unfinished_acts_are_found_by_their_start_time(transaction: Transaction) -> None:
    acts = GroupActs(transaction)
    acts.save(replace(ACT, results=RESULTS, ended_at=after(3)))
    first = acts.save(replace(ACT, at=after(2)))
    second = acts.save(replace(ACT, at=after(1)))
    acts.save(replace(ACT, at=after(60)))
    found = GroupActs(transaction).lasting(after(60))
    assert GroupActs(transaction).lasting(after(1)) == []
    assert found == [
        replace(ACT, group_act_id=first, at=after(2)),
        replace(ACT, group_act_id=second, at=after(1)),
    ]


def test_the_pauses_of_a_group_count_since_it_was_last_resumed(transaction: Transaction) -> None:
    acts = GroupActs(transaction)
    first = acts.save(ACT)
    resumed = acts.save(replace(ACT, action=Action.RESUME))
    acts.save(replace(ACT, group="docs"))
    last = acts.save(ACT)
    acts.save(replace(ACT, action=Action.EXTEND))
    again = acts.save(replace(ACT, action=Action.RESUME))
    assert [act.group_act_id for act in acts.pausing("release", resumed)] == [first]
    assert [act.group_act_id for act in acts.pausing("release", again)] == [last]


def test_an_act_is_kept_while_something_refers_to_it(transaction: Transaction) -> None:
    acts = GroupActs(transaction)
    gone, paused_by, shown, unsettled, young = [
        acts.save(replace(ACT, at=after(seconds))) for seconds in (0, 0, 0, 0, 60)
    ]
    Pauses(transaction).save(
        PauseRecord(SITE, PauseLine(NOW, "freeze", "freeze", group_act_id=paused_by))
    )
    name = LiveSubject(LiveKind.GROUP, SITE, str(shown))
    LiveMessages(transaction).add(name, "C1", now=NOW)
    subject = Subject(SubjectKind.GROUP, SITE, unsettled)
    Outbox(transaction).add([replace(make_new(), subject=subject)])
    assert Upkeep(transaction).prune(NOW)["group_acts"] == 0
    assert Upkeep(transaction).prune(after(60))["group_acts"] == 1
    assert Upkeep(transaction).prune(after(60))["group_acts"] == 0
    left = acts.get([gone, paused_by, shown, unsettled, young])

    assert sorted(left) == [paused_by, shown, unsettled, young]
    Upkeep(transaction).prune(after(61))
    assert acts.get([young]) == {}
    assert acts.save(ACT) > young, "its id is not used again"
