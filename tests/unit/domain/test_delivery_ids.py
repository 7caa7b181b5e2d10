"""The id of a delivery is the same in a database that was restored."""

from dataclasses import replace

from bot.kernel.repository import RepositoryName
from bot.posts.delivery import Subject, SubjectKind, delivery_id
from tests.support.stored import SITE

EVENT = Subject(SubjectKind.EVENT, SITE, 7)


def test_a_delivery_id_depends_on_channel_repository_kind_and_identity_only() -> None:
    known = delivery_id("C1", EVENT, "7")
    assert known == delivery_id("C1", replace(EVENT, subject_id=8), "7")
    others = [
        delivery_id("C2", EVENT, "7"),
        delivery_id("C1", replace(EVENT, kind=SubjectKind.ACT), "7"),
        delivery_id("C1", replace(EVENT, repository=RepositoryName("acme/other")), "7"),
        delivery_id("C1", EVENT, "8"),
    ]
    assert len({known, *others}) == 5
