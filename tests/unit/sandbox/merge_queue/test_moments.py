"""Moments: written as the service writes them, read as RFC 3339 allows."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given, strategies as st

from bot.sandbox.merge_queue.simulation.moments import from_datetime, parse_rfc3339, rfc3339

offsets = st.integers(-23 * 60, 23 * 60).map(lambda m: timezone(timedelta(minutes=m)))


@given(st.datetimes(timezones=offsets))
def test_times_formatted_by_datetime_are_read_back(when: datetime) -> None:
    assert parse_rfc3339(when.isoformat()) == from_datetime(when)


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001  (hypothesis takes naive bounds)
def test_written_values_are_read_back(when: datetime) -> None:
    moment = from_datetime(when.replace(tzinfo=UTC))
    assert parse_rfc3339(rfc3339(moment)) == moment
