"""The layers: who imports what, and what a command loads."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ANYWHERE = {"pydantic", "pydantic_core", "typing_extensions"}
"""May be imported by every module; pydantic requires its core in one exact version."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / "bot").glob("**/*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def imports(path: Path) -> Iterator[str]:
    """The full names of what a module imports, wherever in it that stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def test_every_external_package_is_declared_and_has_a_home() -> None:
    found = {name.partition(".")[0] for _, path in modules() for name in imports(path)}
    external = found - sys.stdlib_module_names - {"bot"}
    dependencies = [
        *PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"]["postgres"],
    ]
    declared = {canonicalize_name(Requirement(dependency).name) for dependency in dependencies}
    homes = packages_distributions()
    for name in external - {"pydantic_core"}:
        assert not declared.isdisjoint(map(canonicalize_name, homes[name])), name
    # `lint-imports` keeps them there.
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    at_home = {one for contract in contracts for one in contract.get("protected_modules", ())}
    assert external - ANYWHERE <= at_home


def test_outside_of_its_adapter_only_data_classes_of_the_slack_sdk_are_used() -> None:
    found = [
        f"{module} imports {name}"
        for module, path in modules()
        if not module.startswith(("bot.sandbox.", "bot.slack."))
        for name in imports(path)
        if name.startswith("slack_sdk") and not f"{name}.".startswith("slack_sdk.models.")
    ]
    assert found == []


READ_AND_STORE = (
    "bot.store",
    "bot.slack.web_api",
    "bot.merge_queue.client",
    "bot.merge_queue.http",
)


def values() -> Iterator[str]:
    """The modules that the contracts put below a subject's rows and texts."""
    for contract in PROJECT["tool"]["importlinter"]["contracts"]:
        if not contract["name"].startswith("Inside "):
            continue
        (subject,) = contract["containers"]
        layers = [
            set(layer.replace("|", ":").replace(" ", "").split(":")) for layer in contract["layers"]
        ]
        of_rows = [at for at, layer in enumerate(layers) if layer & {"tables", "rows", "texts"}]
        lowest = max(of_rows, default=len(layers) - 2)
        yield from (f"{subject}.{name}" for layer in layers[lowest + 1 :] for name in layer)


def test_values_read_no_database_not_even_through_others() -> None:
    graph = grimp.build_graph("bot")
    found = [
        f"{value} reaches {module}"
        for value in sorted(values())
        for module in graph.find_upstream_modules(value)
        if module.startswith(READ_AND_STORE) or module.endswith((".rows", ".tables"))
    ]
    # A lease is a value too, which its table stands beside.
    assert set(found) <= {
        "bot.feed.poll_state reaches bot.store.lease_values",
        "bot.posts.claim reaches bot.store.lease_values",
    }


def loaded_by(statement: str) -> set[str]:
    """The modules in memory after a statement in a fresh interpreter."""
    program = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(ended.stdout.split())


def test_a_start_loads_only_common_modules() -> None:
    loaded = loaded_by("import bot.cli.serving, bot.runtime.process")
    assert "bot.runtime.process" in loaded
    assert not loaded & {"alembic", "psycopg", "mako", "bot.sandbox"}
    assert "sqlalchemy.dialects.postgresql" not in loaded


def test_settings_are_checked_before_other_modules_load() -> None:
    refused = """
import os
from bot.cli.main import main
os.environ.clear()
for command in ("run", "web", "worker"):
    try:
        main([command])
    except SystemExit as end:
        assert end.code == 2
"""
    loaded = loaded_by(refused)
    assert "bot.cli.serving" in loaded
    assert not loaded & {
        "bot.runtime.process",
        "bot.store.engines",
        "sqlalchemy",
        "slack_bolt",
        "aiohttp",
    }


def test_help_loads_no_command() -> None:
    call = "from bot.cli.main import main\nmain(['--help'], standalone_mode=False)"
    loaded = loaded_by(call)
    assert "bot.cli.main" in loaded
    assert [name for name in loaded if name.startswith("bot.cli.")] == ["bot.cli.main"]
    assert not loaded & {"slack_bolt", "sqlalchemy", "httpx", "aiohttp"}


def test_importing_a_module_has_no_side_effects() -> None:
    names = [module for module, _ in modules() if module != "bot.__main__"]
    names = [name for name in names if ".migrations" not in name]
    statement = "\n".join(
        (
            "import importlib, threading, asyncio, logging",
            f"for name in {names!r}: importlib.import_module(name)",
            "assert threading.active_count() == 1",
            "assert logging.getLogger().handlers == []",
        )
    )
    assert "bot.runtime.process" in loaded_by(statement)
