"""Reading of `Link` header fields."""

import time
from contextlib import suppress

import httpx
import pytest

from bot.merge_queue.errors import MergeQueueProtocolError
from bot.merge_queue.models import cursor_of

NEXT = "https://queue.example/v1/repos/acme/site/logs"


@pytest.mark.parametrize(
    ("field", "cursor"),
    [
        (f'<{NEXT}?cursor=abc&per_page=10>; rel="next"', "abc"),
        (f"<{NEXT}?cursor=abc>; rel=next", "abc"),
        (f"<{NEXT}?cursor=abc>;rel=NEXT", "abc"),
        (
            f'<{NEXT}?per_page=10&cursor=a%2Bb%3D%3D> ; title="one; two, three" ; rel = "next"',
            "a+b==",
        ),
        (f'<{NEXT}?cursor=one>; rel="prev first", <{NEXT}?cursor=two>; rel="last next"', "two"),
        (f'<{NEXT}?cursor=q>; title="say \\"<next>\\", twice"; rel="next"', "q"),
        (f'<{NEXT}?cursor=a,b;c>; rel="next"', "a,b;c"),
        ('<?cursor=relative>; rel="next"', "relative"),
        ('</v1/repos/acme/site/logs?cursor=rooted>; rel="next"', "rooted"),
        (f'<{NEXT}?cursor=abc>; rel="next"; rel="prev"', "abc"),
        (f'<{NEXT}?cursor=no>; rel="next"; anchor="#part", <{NEXT}?cursor=yes>; rel=next', "yes"),
        (f'garbage, <{NEXT}?cursor=abc>; rel="next"', "abc"),
        (f'<{NEXT}?cursor=abc>; rel="next" junk, <{NEXT}?cursor=p>; rel="prev"', "abc"),
        (f', ,<{NEXT}?cursor=abc>; rel="next",', "abc"),
        (f'<{NEXT}?cursor=p>; rel="prev"', None),
        (f'<{NEXT}?cursor=p>; rel="nextish"', None),
        ("", None),
    ],
)
def test_next_cursor_is_found(field: str, cursor: str | None) -> None:
    assert cursor_of("next", field) == cursor


@pytest.mark.parametrize("text", ["," * 60_000, "<," * 30_000, "<," * 30_000 + ">", " ," * 30_000])
def test_no_header_takes_long_to_parse(text: str) -> None:
    begun = time.process_time()
    with suppress(MergeQueueProtocolError):
        cursor_of("next", text)
    assert time.process_time() - begun < 1


def test_links_may_come_in_several_fields() -> None:
    fields = [
        ("Link", f'<{NEXT}?cursor=p>; rel="prev"'),
        ("Link", f'<{NEXT}?cursor=n>; rel="next"'),
    ]
    header = httpx.Headers(fields)["link"]

    assert cursor_of("next", header) == "n"
    assert cursor_of("prev", header) == "p"
    assert cursor_of("first", header) is None


def test_all_relations_of_a_link_are_read() -> None:
    header = f'<{NEXT}?cursor=a>; rel="first prev"'

    assert cursor_of("first", header) == cursor_of("prev", header) == "a"


@pytest.mark.parametrize(
    "field",
    [
        f'<{NEXT}>; rel="next"',
        f'<{NEXT}?cursor=>; rel="next"',
        f'<{NEXT}?per_page=10>; rel="next"',
        f'<{NEXT}#cursor=abc>; rel="next"',
        '<https://[broken?cursor=a>; rel="next"',
        "nothing of a link",
        f"{NEXT}?cursor=abc; rel=next",
    ],
)
def test_an_unusable_link_is_an_error_and_not_the_end_of_the_list(field: str) -> None:
    with pytest.raises(MergeQueueProtocolError):
        cursor_of("next", field)
