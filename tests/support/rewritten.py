"""pytest's rewriting of test files, done once before several processes collect them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

# Each process would do it for itself: at the same time, in the same order. There is no public way.
from _pytest.assertion import AssertionState
from _pytest.assertion.rewrite import (
    PYC_TAIL,
    _read_pyc,
    _rewrite_test,
    _write_pyc,
    assertstate_key,
    get_cache_dir,
    try_makedirs,
)


def rewrite_once(config: pytest.Config) -> None:
    """Keep what is asked for in rewritten form; what is kept already is left as it is."""
    state = config.stash[assertstate_key]
    for path in _asked_for(config):
        _rewrite(path, state, config)


def _asked_for(config: pytest.Config) -> Iterator[Path]:
    for argument in config.args:
        path = config.invocation_params.dir / argument.partition("::")[0]
        if path.is_file():
            yield path
        for name in ("test_*.py", "conftest.py"):
            yield from path.rglob(name)


def _rewrite(path: Path, state: AssertionState, config: pytest.Config) -> None:
    folder = get_cache_dir(path)
    kept = folder / f"{path.stem}{PYC_TAIL}"
    if _read_pyc(path, kept) is None and try_makedirs(folder):
        source_hash, code = _rewrite_test(path, config)
        _write_pyc(state, code, source_hash, kept)
