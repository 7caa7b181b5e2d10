"""`python -m tests.check`: everything that must hold before a change is taken; one exit code."""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(sys.executable).parent

STEPS = {
    "format": ("ruff", "format", "--check", "."),
    "lint": ("ruff", "check", "."),
    "readability": ("python", "-m", "tests.readability"),
    "types": ("mypy",),
    "imports": ("lint-imports", "--no-logo"),
    "dependencies": ("deptry", "bot"),
    "page": ("python", "-m", "tests.page_code"),
    "tests": ("pytest", "-n", "10"),
}


def main() -> int:
    """Run every requested step, even after failures; return 0 if all passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.check", description=__doc__)
    parser.add_argument(
        "steps", nargs="*", metavar="step", help=f"of {', '.join(STEPS)}; all when left out"
    )
    chosen = parser.parse_args().steps or list(STEPS)
    unknown = sorted(set(chosen) - set(STEPS))
    if unknown:
        parser.error(f"there is no step {', '.join(unknown)}; steps are {', '.join(STEPS)}")
    results = [_run(step) for step in chosen]
    click.echo("\n" + "\n".join(line for _, line in results))
    return 0 if all(passed for passed, _ in results) else 1


def _run(step: str) -> tuple[bool, str]:
    program, *arguments = STEPS[step]
    click.echo(f"\n== {step}: {program} {' '.join(arguments)}")
    started = time.monotonic()
    finished = subprocess.run(
        [PROGRAMS / program, *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, check=False
    )
    seconds = time.monotonic() - started
    passed = finished.returncode == 0
    return passed, f"{step:12} {'passed' if passed else 'FAILED'} {seconds:7.1f} s"


if __name__ == "__main__":
    sys.exit(main())
