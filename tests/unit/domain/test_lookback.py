"""Lookback lengths, as people type them."""

from datetime import timedelta

import pytest

from bot.domain.durations import OLDEST_LOOKBACK, InvalidLookback, read_lookback


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90m", timedelta(minutes=90)),
        ("24h", timedelta(hours=24)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(weeks=2)),
        (" 1D12H ", timedelta(hours=36)),
    ],
)
def test_lengths_are_read(text: str, length: timedelta) -> None:
    assert read_lookback(text) == length


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1.5d", "7 d", "1y", "٣d", "0m", "9999999d"])
def test_an_invalid_length_is_refused(text: str) -> None:
    with pytest.raises(InvalidLookback):
        read_lookback(text)


def test_lookback_is_at_most_ten_years() -> None:
    assert read_lookback("3660d") == OLDEST_LOOKBACK
    with pytest.raises(InvalidLookback):
        read_lookback("3660d1m")
    for length in ("9999999d", "99999999999999999999w", "6000000m1m", "9" * 20 + "w" + "1w" * 90):
        with pytest.raises(InvalidLookback, match="at most ten years"):
            read_lookback(length)
