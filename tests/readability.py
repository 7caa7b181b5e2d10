"""`python -m tests.readability`: finds packed assignments, and words with two meanings.

A packed assignment gives several names values that have nothing to do with each other, in one
statement: `a, b = x, y`. To unpack the result of one call or the parts of one object is fine, and
so is a true swap. A constant has two meanings when two modules of `bot` give its name different
values, and a class when two modules define one of that name, unless one is the protocol of the
other.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
FOLDERS = ("bot", "tests")
SANDBOX = ROOT / "bot" / "sandbox"
"""It shares no code with the bot, so its constants may mean something else."""


@dataclass(frozen=True)
class Module:
    """A Python file."""

    path: Path
    tree: ast.Module


@dataclass(frozen=True)
class Finding:
    """A constant or a class with two meanings."""

    text: str  #: its name
    place: str  #: the modules that define it


def modules(folders: Iterable[str] = FOLDERS) -> list[Module]:
    """Every Python file in `folders`, in the order of their paths."""
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [Module(path, ast.parse(path.read_text("utf-8"))) for path in paths]


def packed_assignments(tree: ast.AST) -> Iterator[ast.Assign]:
    """Assignments that unpack a tuple or list that they have just written, except swaps."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(_unpacks(target) for target in node.targets):
            written = [value for value in _alternatives(node.value) if _is_written(value)]
            if written and not _is_swap(node):
                yield node


def _unpacks(target: ast.expr) -> bool:
    return isinstance(target, ast.Tuple | ast.List)


def _is_written(value: ast.expr) -> bool:
    return isinstance(value, ast.Tuple | ast.List)


def _alternatives(value: ast.expr) -> Iterator[ast.expr]:
    """The values that an expression can have: both of a conditional expression."""
    if isinstance(value, ast.IfExp):
        yield from _alternatives(value.body)
        yield from _alternatives(value.orelse)
    else:
        yield value


def _is_swap(node: ast.Assign) -> bool:
    """Whether the same things stand on both sides."""
    target = node.targets[0]
    if not (isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)):
        return False
    left = sorted(ast.unparse(part) for part in target.elts)
    right = sorted(ast.unparse(part) for part in node.value.elts)
    return len(node.targets) == 1 and left == right


def constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names of a module's constants, each with its value as it is written."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper():
                assert node.value is not None
                yield target.id, ast.unparse(node.value)


def two_meanings(found: Iterable[Module]) -> Iterator[Finding]:
    """The constants to which two modules give different values."""
    modules_by_value: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for module in found:
        for name, value in constants(module.tree):
            modules_by_value[name][value].append(_shown(module.path))
    for name, by_value in sorted(modules_by_value.items()):
        if len(by_value) > 1:
            yield Finding(name, ", ".join(path for paths in by_value.values() for path in paths))


def classes(tree: ast.Module) -> Iterator[str]:
    """The names of a module's public classes, without protocols."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            bases = {ast.unparse(base).partition("[")[0] for base in node.bases}
            if "Protocol" not in bases:
                yield node.name


def same_classes(found: Iterable[Module]) -> Iterator[Finding]:
    """The classes of one name that two modules define."""
    modules_by_name: dict[str, list[str]] = defaultdict(list)
    for module in found:
        for name in classes(module.tree):
            modules_by_name[name].append(_shown(module.path))
    for name, paths in sorted(modules_by_name.items()):
        if len(paths) > 1:
            yield Finding(name, ", ".join(paths))


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def problems() -> Iterator[str]:
    """Every problem of the project, one a line."""
    found = modules()
    for module in found:
        for node in packed_assignments(module.tree):
            yield f"{_shown(module.path)}:{node.lineno}: packed assignment: {ast.unparse(node)}"
    own = [
        module
        for module in found
        if module.path.is_relative_to(ROOT / "bot") and not module.path.is_relative_to(SANDBOX)
    ]
    for finding in two_meanings(own):
        yield f"{finding.place}: constant with several meanings: {finding.text}"
    for finding in same_classes(own):
        yield f"{finding.place}: several classes of one name: {finding.text}"


def main() -> int:
    found = list(problems())
    for line in found:
        click.echo(line)
    click.echo(f"{len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
