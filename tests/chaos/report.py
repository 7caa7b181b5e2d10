"""The table that a chaos run prints."""

from tests.chaos.run import Result

_FINDINGS_SHOWN = 40


def table(result: Result) -> str:
    """All figures of the run, and the errors found."""
    options = result.options
    verdict = result.verdict
    rows = [
        ("seed", str(options.seed)),
        ("database, processes", f"{options.database}, {options.processes}"),
        ("duration", f"{result.seconds:.0f} s, of these {result.drain_seconds:.0f} s to drain"),
        ("killed with SIGKILL", str(killed(result))),
        *((f"  {name}", str(count)) for name, count in sorted(result.acts.items())),
        ("ended by themselves", f"{len(result.exits)} {sorted(set(result.exits)) or ''}".rstrip()),
        ("faults", str(result.faults.total())),
        *((f"  {name}", str(count)) for name, count in sorted(result.faults.items())),
        ("events in the logs", f"{result.log_events}, of these {result.late} late"),
        ("to be told", str(verdict.events)),
        ("posts", str(verdict.posts)),
        (
            "  threads",
            f"{verdict.threads}, with {verdict.replies} replies and {verdict.edits} edits",
        ),
        ("  summaries", f"{verdict.summaries}, telling {verdict.covered_by_summaries}"),
        ("lost", str(len(verdict.lost))),
        ("doubled", str(len(verdict.doubled))),
        ("out of order", str(len(verdict.disordered))),
        ("in doubt or left", str(len(verdict.unsettled))),
        ("told wrongly", str(len(verdict.wrong))),
        ("longest delay", f"{verdict.longest_delay:.1f} s"),
        ("  since all were there", f"{verdict.longest_calm:.1f} s"),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:{width}}  {value}" for name, value in rows]
    findings = [*verdict.findings(), *result.problems, *result.defects]
    if not result.drained:
        findings.insert(0, f"not everything was settled within {options.drain_seconds:.0f} s")
    lines += findings[:_FINDINGS_SHOWN]
    if len(findings) > _FINDINGS_SHOWN:
        lines.append(f"… and {len(findings) - _FINDINGS_SHOWN} more")
    return "\n".join(lines)


def killed(result: Result) -> int:
    """How many processes `kill -9` ended."""
    return sum(count for name, count in result.acts.items() if name.startswith("killed, "))
