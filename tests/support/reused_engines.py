"""Engines for one test after the other, since what they compile costs more than what they run."""

from pathlib import Path

from sqlalchemy import Engine

from bot.store.engines import create_engine, reading_engine, sqlite_path
from bot.store.transactions import Store


class ReusedEngines:
    """SQLite engines that keep compiled statements; each is a link to the file of its test."""

    store = Store

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._free: list[Engine] = []
        self._lent: list[Engine] = []
        self._readers: dict[Engine, Engine] = {}

    def open_store(self, url: str) -> Store:
        """As the function of that name in `bot.runtime.adapters`, until `take_back`."""
        engine = self._free.pop() if self._free else self._new()
        self._lent.append(engine)
        link = Path(engine.url.database or "")
        link.unlink(missing_ok=True)
        link.symlink_to(sqlite_path(url).absolute())
        if engine not in self._readers:
            self._readers[engine] = reading_engine(engine)
        return self.store(engine, reader=self._readers[engine])

    def _new(self) -> Engine:
        number = len(self._lent)
        return create_engine(f"sqlite:///{self._folder / f'engine-{number}.sqlite3'}")

    def take_back(self) -> None:
        """Their test is over: nothing of its file stays open."""
        for engine in self._lent:
            engine.dispose()
            self._readers[engine].dispose()
        self._free += self._lent
        self._lent = []
