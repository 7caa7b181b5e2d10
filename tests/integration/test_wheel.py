"""The wheel, built from the sdist and installed elsewhere, is complete."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from packaging.utils import canonicalize_name

from tests.support.demo_process import running_demo

ROOT = Path(__file__).parents[2]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


@dataclass(frozen=True, slots=True)
class Installation:
    """An environment with the wheel in it, and an empty folder to stand in."""

    programs: Path
    folder: Path
    environ: Mapping[str, str]

    def run(self, program: str, *arguments: str) -> str:
        return _run(self.programs / program, *arguments, cwd=self.folder, environ=self.environ)


def _run(
    *command: str | Path, cwd: Path, environ: Mapping[str, str] | None = None, seconds: float = 100
) -> str:
    finished = subprocess.run(
        command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=seconds, check=False
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist, and with the wheel that is made of it; nothing is fetched."""
    folder = tmp_path_factory.mktemp("build")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Installed with nothing fetched; the libraries are those of this environment.

    They come in by a path file. The path file that makes this environment see the repository is
    not followed from there, so what is imported as `bot` can only be the wheel's.
    """
    (wheel,) = built.glob("mqbot-*.whl")
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    here = Path(
        _run(
            python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=built
        ).strip()
    )
    libraries = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (here / "libraries.pth").write_text("\n".join(libraries))
    _run(*PIP, "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=built)
    folder = tmp_path_factory.mktemp("elsewhere")
    return Installation(python.parent, folder, {"PATH": os.defpath, "HOME": str(folder)})


def test_tests_use_the_installed_wheel_and_not_the_repository(installed: Installation) -> None:
    imported = installed.run("python", "-c", "import bot; print(bot.__file__)").strip()
    assert Path(imported).is_relative_to(installed.programs.parent)


def test_the_program_reports_the_projects_version(installed: Installation) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert installed.run("mqbot", "--version") == f"mqbot, version {project['version']}\n"
    assert "Run the bot over Socket Mode" in installed.run("mqbot", "--help")


def test_pipx_installs_the_wheel_with_the_newest_libraries(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("mqbot-*.whl")
    places = {name: str(tmp_path / name) for name in ("PIPX_HOME", "PIPX_BIN_DIR", "PIPX_MAN_DIR")}
    pipx = (sys.executable, "-m", "pipx", "install", "--python", sys.executable)
    # Compiling all the libraries takes longer than all the rest.
    options = ("--pip-args=--no-compile", wheel)
    _run(*pipx, *options, cwd=tmp_path, environ={**os.environ, **places}, seconds=200)
    said = _run(tmp_path / "PIPX_BIN_DIR" / "mqbot", "--version", cwd=tmp_path)
    assert said.startswith("mqbot, version ")


def test_the_list_of_contents_names_the_program_and_every_pinned_library(
    installed: Installation,
) -> None:
    listing = installed.folder / "mqbot.cdx.json"
    # The release lets it be validated, which takes twelve seconds of CPU.
    options = ("--no-validate", "--pyproject", ROOT / "pyproject.toml", "-o", listing)
    command = (Path(sys.executable).parent / "cyclonedx-py", "environment", *options)
    _run(*command, installed.programs / "python", cwd=installed.folder)
    found = json.loads(listing.read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert found["bomFormat"] == "CycloneDX"
    program = found["metadata"]["component"]
    assert (program["name"], program["version"]) == (project["name"], project["version"])
    listed = {
        (canonicalize_name(component["name"]), component["version"])
        for component in found["components"]
    }
    pins = re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert {(canonicalize_name(name), version) for name, version in pins} <= listed


def test_the_changelog_begins_with_the_projects_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions = re.findall(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == project["version"]


def test_the_sdist_contains_pins_and_container_files(built: Path) -> None:
    (sdist,) = built.glob("mqbot-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"requirements.txt", "Dockerfile", "deploy/compose.yaml", "manifest.yml"} <= names
    assert {
        ".dockerignore",
        ".github/build-requirements.txt",
        ".github/release-requirements.txt",
        "tests/requirements.txt",
    } <= names


def test_the_manifest_can_be_printed_from_any_folder(installed: Installation) -> None:
    assert installed.run("mqbot", "manifest") == (ROOT / "manifest.yml").read_text()


def test_migrations_are_in_the_wheel(installed: Installation) -> None:
    assert "at revision" in installed.run("mqbot", "migrate")


def test_the_demo_serves_its_page(installed: Installation) -> None:
    mqbot = installed.programs / "mqbot"
    with running_demo(
        mqbot, "demo", "--port", "0", cwd=installed.folder, environ=installed.environ
    ) as demo:
        page = httpx.get(demo.page_url, trust_env=False).raise_for_status().text
        for asset in ("page.js", "page.css"):
            assert asset in page
            httpx.get(f"{demo.page_url}static/{asset}", trust_env=False).raise_for_status()
        demo.wait_for_messages("Queued")
