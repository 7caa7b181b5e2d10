"""The layers: who imports what, and what a command loads."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ANYWHERE = {"pydantic", "pydantic_core", "typing_extensions"}
HOMES = {
    "aiohttp": ("bot.health", "bot.machine_api", "bot.sandbox", "bot.slack"),
    "alembic": ("bot.store",),
    "apscheduler": ("bot.scheduler",),
    "psycopg": ("bot.store",),
    "click": ("bot.cli",),
    "httpx": ("bot.merge_queue", "bot.cli.running_bot"),
    "platformdirs": ("bot.config",),
    "prometheus_client": ("bot.metrics",),
    "pydantic_settings": ("bot.config",),
    "rich": ("bot.cli",),
    "slack_bolt": ("bot.slack",),
    "slack_sdk": ("bot.slack", "bot.messages"),
    "sqlalchemy": ("bot.store",),
    "structlog": ("bot.logs", "bot.slack"),
    "websockets": ("bot.slack",),
    "yaml": ("bot.cli", "bot.sandbox"),
}
"""Each external package has one home; add new ones here."""


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
            assert node.level == 0, f"a relative import in {path}"
            yield str(node.module)


def test_the_import_contracts_are_kept() -> None:
    # In a process of its own: the linter sets up logging as it likes.
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "0 broken" in ended.stdout


def test_external_packages_are_imported_only_in_their_home_modules() -> None:
    unmanaged = []
    for module, path in modules():
        for name in imports(path):
            package = name.partition(".")[0]
            if package in {"bot", *ANYWHERE} or package in sys.stdlib_module_names:
                continue
            homes = HOMES.get(package, ())
            if not any(f"{module}.".startswith(f"{home}.") for home in homes):
                unmanaged.append(f"{module} imports {name}")
    assert unmanaged == []


def test_messages_use_only_data_classes_of_the_slack_sdk() -> None:
    found = [
        f"{module} imports {name}"
        for module, path in modules()
        if module.startswith("bot.messages")
        for name in imports(path)
        if name.startswith("slack_sdk") and not f"{name}.".startswith("slack_sdk.models.")
    ]
    assert found == []


def test_the_sandbox_imports_nothing_from_the_bot() -> None:
    found = [
        f"{module} imports {name}"
        for module, path in modules()
        if module.startswith("bot.sandbox")
        for name in imports(path)
        if name == "bot" or (name.startswith("bot.") and not name.startswith("bot.sandbox"))
    ]
    assert found == []


SERVING = "import bot.cli.serving, bot.runtime"
"""What `mqbot run` loads until it starts."""


def loaded_by(statement: str) -> set[str]:
    """The modules in memory after a statement in a fresh interpreter."""
    program = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(ended.stdout.split())


@pytest.mark.parametrize("module", ["serving", "database"])
def test_production_commands_load_no_module_of_the_sandbox(module: str) -> None:
    loaded = loaded_by(f"import bot.cli.{module}")
    assert f"bot.cli.{module}" in loaded
    assert [name for name in loaded if name.startswith("bot.sandbox")] == []


def test_a_start_loads_only_common_modules() -> None:
    loaded = loaded_by(SERVING)
    assert "bot.runtime" in loaded
    assert not loaded & {"alembic", "psycopg", "mako", "bot.sandbox"}
    assert "sqlalchemy.dialects.postgresql" not in loaded


@pytest.mark.parametrize("command", ["run", "web", "worker"])
def test_settings_are_checked_before_other_modules_load(command: str) -> None:
    refused = (
        "import os",
        "from bot.cli import main",
        "os.environ.clear()",
        f"try: main([{command!r}])",
        "except SystemExit as end: assert end.code == 2",
    )
    loaded = loaded_by("\n".join(refused))
    assert "bot.cli.serving" in loaded
    assert not loaded & {"bot.runtime", "bot.store", "sqlalchemy", "slack_bolt", "aiohttp"}


def test_help_loads_no_command() -> None:
    call = "from bot.cli import main\nmain(['--help'], standalone_mode=False)"
    loaded = loaded_by(call)
    assert "bot.cli" in loaded
    assert [name for name in loaded if name.startswith("bot.cli.")] == []
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
    assert "bot.runtime" in loaded_by(statement)


def test_every_module_has_one_docstring_with_its_purpose() -> None:
    missing = [
        module
        for module, path in modules()
        if not ast.get_docstring(ast.parse(path.read_text("utf-8"))) and ".versions." not in module
    ]
    assert missing == []


def test_no_module_exceeds_the_line_limit() -> None:
    # A migration is never changed once it is released.
    long = {
        module: lines
        for module, path in modules()
        if (lines := len(path.read_text("utf-8").splitlines())) > 400 and ".versions." not in module
    }
    assert long == {}
