"""How often garbage is looked for, and what is left out of it."""

import gc

from bot.garbage import YOUNG, settled_heap


def test_garbage_is_looked_for_less_often_and_what_is_there_is_left_out() -> None:
    usual, before = gc.get_threshold(), gc.get_freeze_count()

    with settled_heap():
        assert gc.get_threshold() == (YOUNG, *usual[1:])
        assert gc.get_freeze_count() > before

    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == 0


def test_garbage_that_refers_to_itself_is_still_found() -> None:
    class Ring:
        def __init__(self) -> None:
            self.itself = self

    with settled_heap():
        rings = sum(isinstance(one, Ring) for one in gc.get_objects())
        for _ in range(3 * YOUNG):
            Ring()
        left = sum(isinstance(one, Ring) for one in gc.get_objects())

    assert rings == 0
    assert left < 3 * YOUNG
