"""Reading freezes changes nothing; a freeze's event waits for the answer of its act."""

import logging

import pytest

from bot.acts.asked import Asked
from bot.freezes.freezing import FreezeQueue
from bot.freezes.rows import Freezes
from bot.kernel.actor import Caller, Origin
from bot.kernel.repository import RepositoryName
from bot.log.sources import Sources
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.freezes import FreezeTerms, ListedFreeze
from bot.merge_queue.port import OnAnswer
from bot.queues.reading import read_queue
from tests.support.desk import Desk
from tests.support.make import ALICE, CHANNEL, SITE


async def test_reading_freezes_writes_nothing_and_names_who_made_them() -> None:
    desk = Desk()
    service = desk.pausing.merge_queue
    queue = FreezeQueue(service, desk.acts)
    caller = Caller(ALICE, Origin.COMMAND, CHANNEL)
    await queue.freeze(caller, SITE, Asked("release"))
    lost = MergeQueueUnavailable("the connection broke")
    desk.world.service.all_freezes[SITE].clear()
    desk.world.service.fail_next(lost, method="create_freeze", after=True)
    with pytest.raises(MergeQueueUnavailable):
        await queue.freeze(caller, SITE, Asked("audit"))

    before = list(desk.world.database.contents.audit)
    (known,) = await queue.freezes(SITE)
    assert (known.by, known.reason) == (ALICE.name, "audit")
    assert list(desk.world.database.contents.audit) == before


async def test_a_poll_during_the_act_leaves_the_event_to_the_next_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk()
    await desk.subscribe(CHANNEL, topics=("freeze",))
    await desk.turns(2)
    service = desk.world.service
    create = service.create_freeze

    async def create_slowly(
        repository: RepositoryName, wanted: FreezeTerms, *, on_answer: OnAnswer
    ) -> ListedFreeze:
        made = await create(repository, wanted, on_answer=on_answer)
        await desk.poll()
        return made

    monkeypatch.setattr(service, "create_freeze", create_slowly)
    queue = FreezeQueue(desk.pausing.merge_queue, desk.acts)
    desk.world.clock.advance(60)
    outcome = await queue.freeze(Caller(ALICE, Origin.COMMAND, CHANNEL), SITE, Asked("release"))
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    await desk.turns(3, seconds=60)
    known = await desk.acts.store.read(lambda transaction: Freezes(transaction).of([SITE]))
    assert [freeze.freeze_id for freeze in known] == [outcome.freezes[0].freeze_id]


OLD = ListedFreeze.model_validate({"id": "7", "reason": "audit", "start": "2026-01-01T00:00:00Z"})


async def test_the_status_shows_a_freeze_that_is_older_than_the_log() -> None:
    desk = Desk()
    service = desk.world.service
    service.all_freezes[SITE].append(OLD)
    sources = Sources(service, desk.acts.store, desk.world.clock)
    snapshot = await read_queue(SITE, sources)
    assert [freeze.reason for freeze in snapshot.freezes] == ["audit"]


async def test_the_status_shows_the_known_freezes_when_the_list_can_not_be_read() -> None:
    desk = Desk()
    service = desk.world.service
    await desk.turns(2)
    queue = FreezeQueue(desk.pausing.merge_queue, desk.acts)
    await queue.freeze(Caller(ALICE, Origin.COMMAND, CHANNEL), SITE, Asked("release"))
    await desk.turns(3, seconds=60)
    service.fail_next(MergeQueueUnavailable("down", status=503), method="freezes")
    sources = Sources(service, desk.acts.store, desk.world.clock)
    snapshot = await read_queue(SITE, sources)
    assert [(freeze.by, freeze.reason) for freeze in snapshot.freezes] == [(ALICE.name, "release")]
