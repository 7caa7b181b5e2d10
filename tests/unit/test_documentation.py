"""The documents agree with the code, and their links work."""

import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pydantic import BaseModel

from bot.channels.subscription import Topic
from bot.cli.running_bot import TOKEN, URL
from bot.config.file import CONFIG_FILE, SUFFIX
from bot.config.reading import secret_variables
from bot.config.settings import Settings, variable
from bot.config.tables import PolicyTable, WindowTable
from bot.desk.situation import Situation
from bot.desk.table import parse_command
from bot.kernel.groups import Group, Groups, Repositories
from bot.kernel.repository import RepositoryName
from tests.documentation import FILES, ROOT, TABLES, with_table
from tests.support.every_message import ON_THE_PAGE
from tests.support.message_page import as_text
from tests.support.messages.rendering import render

README = (ROOT / "README.md").read_text()
SET_UP = (
    r"^python3 -m venv \.venv && \.venv/bin/pip install -q -r {pins}"
    r" && \.venv/bin/pip install -q --no-deps -e \. && {start}$"
)
DEMO = SET_UP.format(pins=r"requirements\.txt", start=r"\.venv/bin/mqbot demo")
TESTS = SET_UP.format(pins=r"tests/requirements\.txt", start=r"\.venv/bin/python -m pytest -n 11")
ARCHITECTURE = ROOT / "docs" / "architecture.md"
EVERY_MESSAGE = ROOT / "docs" / "every-message.md"
AT_THE_TOP = ("README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
DOCUMENTS = [*(ROOT / one for one in AT_THE_TOP), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", TABLES)
def test_generated_tables_match_the_code(name: str) -> None:
    path, table = TABLES[name]
    document = path.read_text()
    assert document == with_table(document, name, table()), "run python -m tests.documentation"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_generated_files_match_the_code(path: Path) -> None:
    assert path.read_text("utf-8") == FILES[path](), "run python -m tests.documentation"


def test_every_message_stands_on_the_page_below_a_file_of_its_own() -> None:
    page = EVERY_MESSAGE.read_text("utf-8")
    sections = dict(re.findall(r"^## `([^`]+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert all((ROOT / file).is_file() for file in sections)
    shown = re.findall(r"^```text\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)
    missing = {name for name, case in ON_THE_PAGE.items() if as_text(render(case)) not in shown}
    assert missing == set()


def test_the_page_names_the_file_whose_words_another_file_shows() -> None:
    page = EVERY_MESSAGE.read_text("utf-8")
    (entry,) = re.findall(
        r"^\*\*refused-guest\*\* · also `([^`]+)`\n\n```text\n(.*)$", page, re.MULTILINE
    )
    file, words = entry
    assert "you're a guest" in words
    assert "you're a guest" in (ROOT / file).read_text("utf-8")


def test_the_configuration_page_lists_every_topic() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    topics = page.partition("\n## Topics\n")[2].partition("\n## ")[0]
    assert [topic.value for topic in Topic if f"`{topic.value}`" not in topics] == []


@pytest.mark.parametrize("table", [PolicyTable, WindowTable])
def test_the_configuration_page_names_everything_in_a_table(table: type[BaseModel]) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    named = set(re.findall(r"(?:`|^)([a-z_]+)\b", page, re.MULTILINE))
    assert set(table.model_fields) - named == set()


def test_every_secret_is_documented_with_its_file() -> None:
    document = (ROOT / "docs" / "configuration.md").read_text()
    names = [f"`{name}{SUFFIX}`" for name in secret_variables(Settings)]
    assert [name for name in names if name not in document] == []


def test_every_secret_has_steps_that_replace_it_and_a_sign_that_it_worked() -> None:
    page = (ROOT / "docs" / "operations" / "secrets.md").read_text()
    index, *sections = re.split(r"^## (?=.*\n)", page, flags=re.MULTILINE)
    for name in [*secret_variables(Settings), "MQBOT_POLICY"]:
        about = [section for section in sections if f"`{name}`" in section.split("\n\n")[1]]
        assert len(about) == 1, name
    for section in sections:
        head, _, text = section.partition("\n")
        assert f"| [{head}](#" in index
        assert "**It worked**" in text, head
    assert "tried by `tests/e2e/test_rotation.py`" in index


@pytest.mark.parametrize("page", ["README.md", "docs/first-hour.md", "docs/recipes.md"])
def test_commands_in_the_pages_for_beginners_can_be_parsed(page: str) -> None:
    typed = re.findall(r"(?:`|^)/mq ?([^`\n]*)(?:`|$)", (ROOT / page).read_text(), re.MULTILINE)
    assert len(typed) > 5
    names = ("acme/site", "acme/api")
    repositories = Repositories(tuple(RepositoryName.parse(name) for name in names))
    release = Group("release", repositories.names)
    here = Situation(Groups((release,), repositories))
    for words in typed:
        parse_command(words, here)


def test_log_records_that_pages_for_operators_name_exist() -> None:
    pages = [ROOT / "docs" / "troubleshooting.md", *(ROOT / "docs" / "operations").glob("*.md")]
    text = "".join(page.read_text() for page in pages)
    named = set(re.findall(r"`action=(\w+)`", text))
    assert len(named) > 20
    code = "".join(file.read_text() for file in (ROOT / "bot").rglob("*.py"))
    assert {action for action in named if f'"{action}"' not in code} == set()
    said = re.findall(r"`([^`]+?)(?:…)?` `action=", text)
    assert len(said) > 10
    # A long sentence is several strings in the code, and a short cut is enough to find it.
    joined = re.sub(r'"\s*\n\s*"', "", code)
    assert [sentence for sentence in said if sentence.strip() not in joined] == []


def test_the_readmes_settings_are_all_required_settings() -> None:
    (file,) = re.findall(r"^ *```toml\n(.*?)```", README, re.MULTILINE | re.DOTALL)
    given = tomllib.loads(file)
    required = {
        variable(name) for name, field in Settings.model_fields.items() if field.is_required()
    }
    assert set(given) == required | {"SLACK_APP_TOKEN"}


@pytest.mark.parametrize("command", [DEMO, TESTS], ids=["demo", "tests"])
def test_the_readme_gives_each_command_once_on_one_line_with_its_setup(command: str) -> None:
    assert len(re.findall(command, README, re.MULTILINE)) == 1


def test_the_ci_script_runs_the_readmes_test_command() -> None:
    (documented,) = re.findall(TESTS, README, re.MULTILINE)
    printed = subprocess.run(
        ["bash", ROOT / ".ci" / "run", "--print-test-command"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.strip() == documented


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_pages_headings_files_and_programs_that_a_document_names_exist(document: Path) -> None:
    text = document.read_text()
    links = [
        one for one in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text) if "://" not in one[0]
    ]
    assert [page for page, _ in links if not (document.parent / page).exists()] == []
    places = [(document.parent / page if page else document, place) for page, place in links]
    assert [place for page, place in places if place and place not in _places(page)] == []
    named = [ROOT / one for one in re.findall(r"`((?:tests|bot|docs)/[^`\s*…]+)`", text)]
    assert [one for one in named if not one.exists()] == []
    programs = {one.replace(".", "/") for one in re.findall(r"python -m (tests[a-z_.]+)", text)}
    files = {
        program: (ROOT / f"{program}.py", ROOT / program / "__main__.py") for program in programs
    }
    assert [one for one, known in files.items() if not any(each.exists() for each in known)] == []


def _places(page: Path) -> set[str]:
    """What the headings of a page are called in addresses."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_the_settings_that_documents_name_exist() -> None:
    known = {variable(name) for name in Settings.model_fields}
    known |= {name + SUFFIX for name in secret_variables(Settings)}
    named = {
        one for page in DOCUMENTS for one in re.findall(r"\bMQBOT_[A-Z_]+\b", page.read_text())
    }
    assert len(named) > 20
    assert named - known == {CONFIG_FILE, URL, TOKEN}


def test_the_architecture_page_defines_each_word_once() -> None:
    words = ARCHITECTURE.read_text().rpartition("\n## Words that are ours\n")[2]
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", words, re.MULTILINE)[2:]
    named = Counter(word.strip() for row in rows for word in row.split(","))
    assert 10 < len(named) <= 25
    assert [word for word, times in named.items() if times > 1] == []


def test_the_picture_shows_the_folders_in_the_order_of_their_imports() -> None:
    (picture,) = re.findall(
        r"^## The picture\n.*?```\n(.*?)```", ARCHITECTURE.read_text(), re.MULTILINE | re.DOTALL
    )
    drawn = [re.split(r"  +", line)[0].split(" · ") for line in picture.splitlines() if line]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    (order,) = [each["layers"] for each in contracts if each.get("containers") == ["bot"]]
    assert drawn == [line.split(" | ") for line in order]


def test_functions_named_on_the_architecture_page_stand_in_their_files() -> None:
    named = re.findall(r"`([A-Za-z_.]+)` \(`([a-z_/]+\.py)`\)", ARCHITECTURE.read_text())
    assert len(named) > 20
    missing = [
        f"{part} in {file}"
        for name, file in named
        for part in name.split(".")
        if not re.search(
            rf"^ *(async )?(def|class) {part}\b", (ROOT / "bot" / file).read_text(), re.MULTILINE
        )
    ]
    assert missing == []


def test_files_named_on_the_architecture_page_exist() -> None:
    page = ARCHITECTURE.read_text()
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", page))
    assert len(named) > 20
    assert [one for one in sorted(named) if not (ROOT / "bot" / one).exists()] == []


def _pins(path: Path) -> dict[str, str]:
    """Pinned versions by name; every line must be `name==version` with hashes, or `-r`."""
    found: dict[str, str] = {}
    for whole in path.read_text().replace(" \\\n    --hash", " --hash").splitlines():
        line, *hashes = whole.split(" --hash=")
        if line.startswith("#"):
            continue
        if line.startswith("-r "):
            found |= _pins(path.parent / line.removeprefix("-r "))
            continue
        pin = re.fullmatch(r"([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==([A-Za-z0-9.]+)", line)
        assert pin, f"{path.name}: “{line}” is not name==version"
        assert hashes, f"{path.name}: “{line}” has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), line
        found[canonicalize_name(pin[1])] = pin[2]
    return found


def test_the_pins_satisfy_the_projects_requirements() -> None:
    pins = _pins(ROOT / "requirements.txt")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["postgres"]]
    needed = [one for one in map(Requirement, declared) if not one.marker or one.marker.evaluate()]
    missing = [
        str(one)
        for one in needed
        if not one.specifier.contains(pins.get(canonicalize_name(one.name), "0"))
    ]
    assert missing == []
    assert {"pytest", "ruff", "mypy", "hatchling"} <= set(_pins(ROOT / "tests/requirements.txt"))
