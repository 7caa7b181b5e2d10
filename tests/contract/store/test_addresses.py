"""Database addresses: what is taken, what is refused, and that no secret shows."""

import sys
from pathlib import Path

import pytest

from bot.store.engines import create_engine, sqlite_path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///bot.sqlite3", "bot.sqlite3"),
        ("sqlite:////var/lib/mqbot/bot 1%.sqlite3", "/var/lib/mqbot/bot 1%.sqlite3"),
    ],
)
def test_a_sqlite_address_names_a_file(url: str, path: str) -> None:
    assert sqlite_path(url) == Path(path)
    assert create_engine(url).dialect.driver == "pysqlite"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://mqbot:s3cret@db.example/mqbot",
        "postgres://mqbot:s3cret@db.example:5432/mqbot?sslmode=require",
        "postgresql+psycopg://mqbot:s3cret@db.example/mqbot",
        "postgresql:///mqbot?host=/run/postgresql&password=s3cret",
    ],
)
def test_a_postgresql_address_in_any_usual_spelling_shows_no_password(url: str) -> None:
    engine = create_engine(url)

    assert engine.dialect.driver == "psycopg"
    assert "s3cret" not in f"{engine!r} {engine.url!r} {engine.url}"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "s3cret",
        "mysql://mqbot:s3cret@db.example/mqbot",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///bot.sqlite3?password=s3cret",
        "postgresql://mqbot:s3cret#1@db.example/mqbot",
        "postgresql://mqbot:s3cret/1@db.example/mqbot",
        "postgresql://mqbot:s3cret@db.example:port/mqbot",
        "postgresql://[s3cret/mqbot",
    ],
)
def test_a_wrong_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="address") as caught:
        create_engine(url)

    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("place", ["~", "$HOME", "/~", "${HOME}"])
def test_a_path_that_a_shell_would_complete_is_refused_before_a_folder_gets_that_name(
    place: str,
) -> None:
    with pytest.raises(ValueError, match="in place of") as caught:
        sqlite_path(f"sqlite:///{place}/bot.sqlite3")
    said = f"a SQLite address is taken as it is: write the folder in place of {place.strip('/')}"
    assert str(caught.value) == said


def test_postgresql_without_its_driver_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ValueError, match="PostgreSQL needs psycopg") as caught:
        create_engine("postgresql://mqbot:s3cret@db.example/mqbot")
    said = "PostgreSQL needs psycopg: install mqbot with its extra 'postgres'"
    assert str(caught.value) == said
