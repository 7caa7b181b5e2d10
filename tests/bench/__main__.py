"""`python -m tests.bench`: measure the bot against floors of the same run, and show the table."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict

from rich.console import Console

from tests.bench import documents, growth, table
from tests.bench.figures import FULL, QUICK, Extent, Row
from tests.bench.rows import (
    acks,
    diagnosis,
    empty_polls,
    estimate,
    event_to_post,
    first_answer,
    full_pages,
    history,
    many,
    memory,
    start_up,
    working_day,
)

Measure = Callable[[Extent], Awaitable[Sequence[Row]]]

PARTS: Mapping[str, Measure] = {
    "acks": acks.rows,
    "answer": first_answer.rows,
    "polls": empty_polls.rows,
    "pages": full_pages.rows,
    "many": many.rows,
    "events": event_to_post.rows,
    "start": start_up.rows,
    "memory": memory.rows,
    "history": history.rows,
    "diagnosis": diagnosis.rows,
    "estimate": estimate.rows,
    "day": working_day.rows,
}

GROWTH = "growth"
ALL = [*PARTS, GROWTH]


async def measure(names: Sequence[str], extent: Extent, console: Console) -> list[Row]:
    found: list[Row] = []
    for name in names:
        begun = time.perf_counter()
        found += await PARTS[name](extent)
        console.print(f"{name}: {time.perf_counter() - begun:.0f} s", style="dim")
    return found


def _as_json(rows: Sequence[Row], curves: Sequence[growth.Curve]) -> Mapping[str, object]:
    return {
        "rows": [{**asdict(row), "verdict": row.verdict} for row in rows],
        "growth": [asdict(curve) for curve in curves],
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        help=f"of {', '.join(ALL)}, which are all when left out; a quick run leaves out {GROWTH}",
    )
    parser.add_argument("--quick", action="store_true", help="one round, for CI")
    parser.add_argument("--json", action="store_true", help="print JSON and no table")
    parser.add_argument(
        "--load",
        metavar="WORDS",
        help="write docs/performance.md, with these words on what else the machine was doing",
    )
    parser.add_argument(
        "--long",
        action="store_true",
        help="growth up to 8,000 repositories and a million events, about ten minutes more",
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.parts) - set(ALL))
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; parts are {', '.join(ALL)}")
    if arguments.load is not None and arguments.parts:
        parser.error("--load writes what all parts gave")
    if not arguments.parts:
        # Growth takes minutes: a quick run has it only where the page is written.
        is_short = arguments.quick and arguments.load is None
        arguments.parts = list(PARTS) if is_short else ALL
    return arguments


def main() -> int:
    """Return 0 even if goals are missed: the table shows them, and shared machines vary."""
    arguments = _arguments()
    console = Console(stderr=arguments.json)
    extent = QUICK if arguments.quick else FULL
    names = [name for name in arguments.parts if name != GROWTH]
    rows = asyncio.run(measure(names, extent, console))
    has_growth = GROWTH in arguments.parts
    curves = asyncio.run(growth.curves(extent, long=arguments.long)) if has_growth else []
    if arguments.json:
        print(json.dumps(_as_json(rows, curves), indent=2))
    else:
        print(table.of_rows(rows), *([table.of_growth(curves)] if curves else []), sep="\n\n")
    if arguments.load is not None:
        documents.write(rows, curves, arguments.load, extent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
