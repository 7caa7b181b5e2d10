"""Engines for one test after the other, since what they compile costs more than what they run."""

from pathlib import Path

from sqlalchemy import Engine

from bot.store.engines import create_engine, reading_engine, sqlite_path


class ReusedEngines:
    """SQLite engines that keep compiled statements; each is a link to the file of its test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._free: list[Engine] = []
        self._lent: list[Engine] = []
        self._reading: dict[Engine, Engine] = {}

    def create_engine(self, url: str) -> Engine:
        """As the function of that name, until `take_back`."""
        engine = self._free.pop() if self._free else self._new()
        self._lent.append(engine)
        link = Path(engine.url.database or "")
        link.unlink(missing_ok=True)
        link.symlink_to(sqlite_path(url).absolute())
        return engine

    def reading_engine(self, engine: Engine) -> Engine:
        """As the function of that name; what a lent engine gets is kept with it."""
        if engine not in self._lent:
            return reading_engine(engine)
        if engine not in self._reading:
            self._reading[engine] = reading_engine(engine)
        return self._reading[engine]

    def _new(self) -> Engine:
        number = len(self._lent)
        return create_engine(f"sqlite:///{self._folder / f'engine-{number}.sqlite3'}")

    def take_back(self) -> None:
        """Their test is over: nothing of its file stays open."""
        for engine in self._lent:
            engine.dispose()
            if engine in self._reading:
                self._reading[engine].dispose()
        self._free += self._lent
        self._lent = []
