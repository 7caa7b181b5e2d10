"""How often garbage is looked for, and what is left out of it."""

import gc

from bot.garbage import YOUNG, kept_to_the_end, settled_heap


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


def test_at_the_end_of_a_process_nothing_is_looked_through_any_more() -> None:
    with kept_to_the_end(), settled_heap():
        held = [[] for _ in range(1000)]  # type: ignore[var-annotated]  # what is in them is no matter
    try:
        looked_through = {id(one) for one in gc.get_objects()}
        assert not any(id(one) in looked_through for one in held)
    finally:
        gc.unfreeze()
