"""Deployment files and the image follow published schemas and good rules, and fit the program."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from bot.config import SUFFIX, secret_variables
from bot.config.settings import RunSettings, Settings, WebSettings, variable
from bot.health import HEALTH_PATH, READINESS_PATH
from tests import image
from tests.documentation import ROOT

KUBERNETES = "1.32"
KINDS = ("sqlite", "postgres")
COMPOSE = {"sqlite": "compose.yaml", "postgres": "compose.postgres.yaml"}
PUBLISHED = {
    **dict.fromkeys((ROOT / "deploy").glob("compose*.yaml"), "compose-spec"),
    **dict.fromkeys((ROOT / ".github" / "workflows").iterdir(), "github-workflows"),
    **dict.fromkeys((ROOT / ".github" / "ISSUE_TEMPLATE").iterdir(), "github-issue-forms"),
}
COMMANDS = {"run": RunSettings, "web": WebSettings, "worker": Settings}
STARTED = {"sqlite": ["run"], "postgres": ["web", "worker"]}
Body = Mapping[str, Any]


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", sorted(PUBLISHED), ids=short)
def test_a_file_fits_the_published_schema(path: Path) -> None:
    schemas = files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((schemas / f"{PUBLISHED[path]}.json").read_text())
    jsonschema_rs.validate(schema, _load(path))


def _load(path: Path) -> Body:
    # PyYAML takes a workflow's key `on` for true.
    body: Body = yaml.safe_load(path.read_text().replace("\non:\n", '\n"on":\n'))
    return body


def fits_kubernetes(body: Body) -> None:
    # Its import takes longer than all these tests, and every process of tests imports this module.
    import_module("kubernetes_validate").validate(body, KUBERNETES, strict=True)


def secrets_of(command: str) -> set[str]:
    """The variables of the files with the secrets that a command can't start without."""
    settings = COMMANDS[command]
    required = {variable(name) for name, one in settings.model_fields.items() if one.is_required()}
    return {name + SUFFIX for name in secret_variables(settings) if name in required}


def test_a_release_is_tried_on_each_python_named_by_the_package_with_pinned_actions() -> None:
    jobs = _load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: "
    named = [one.removeprefix(prefix) for one in project["classifiers"] if one.startswith(prefix)]
    assert jobs["installs"]["strategy"]["matrix"]["python"] == named
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one)] == []


# Compose


def services(kind: str) -> Iterator[tuple[str, Body]]:
    """The services that run the bot, by the bot's command."""
    for service in _load(ROOT / "deploy" / COMPOSE[kind])["services"].values():
        if "build" in service and service.get("command") != "migrate":
            yield service.get("command", "run"), service


@pytest.mark.parametrize("kind", KINDS)
def test_compose_gives_each_process_its_secrets_as_files_and_no_privilege(kind: str) -> None:
    files_of_secrets = _load(ROOT / "deploy" / COMPOSE[kind])["secrets"]
    found = dict(services(kind))
    assert sorted(found) == STARTED[kind]
    for command, service in found.items():
        given = {name: Path(path) for name, path in service["environment"].items()}
        assert set(given) - {"DATABASE_URL_FILE"} == secrets_of(command)
        for name, path in given.items():
            assert path == Path("/run/secrets") / name.removesuffix(SUFFIX).lower()
            assert path.name in service["secrets"]
            assert files_of_secrets[path.name]["file"] == f"./secrets/{path.name}"
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


# Kubernetes


def manifests(folder: str) -> list[Body]:
    """The objects in a folder's own files, without those it builds on."""
    here = ROOT / "deploy" / "kubernetes" / folder
    names = [path for path in here.iterdir() if path.name != "kustomization.yaml"]
    return [one for path in names for one in yaml.safe_load_all(path.read_text())]


def pods(kind: str) -> Iterator[tuple[str, Body]]:
    """The pods that run the bot, by the bot's command."""
    for one in manifests(kind):
        if one["kind"] in {"Deployment", "StatefulSet"}:
            pod = one["spec"]["template"]["spec"]
            yield pod["containers"][0].get("args", ["run"])[0], pod


@pytest.mark.parametrize("folder", ["base", *KINDS])
def test_a_manifest_fits_the_schema_of_kubernetes(folder: str) -> None:
    for one in manifests(folder):
        fits_kubernetes(one)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pod_has_everything_its_command_needs(kind: str) -> None:
    base = _load(ROOT / "deploy" / "kubernetes" / "base" / "kustomization.yaml")
    (settings,) = base["configMapGenerator"]
    variables = {one.partition("=")[0] for one in settings["literals"]}
    found = dict(pods(kind))
    assert sorted(found) == STARTED[kind]
    for command, pod in found.items():
        container = pod["containers"][0]
        (mount,) = [one for one in container["volumeMounts"] if one["name"] == "secrets"]
        given = {one["name"]: Path(one["value"]) for one in container["env"]}
        assert set(given) - {"DATABASE_URL_FILE"} == secrets_of(command)
        for name, path in given.items():
            assert path == Path(mount["mountPath"]) / name.removesuffix(SUFFIX).lower()
        assert {"MQBOT_API_URL", "MQBOT_REPOSITORIES"} <= variables
        # A service's variables would look like misspelt settings.
        assert pod["enableServiceLinks"] is False


@pytest.mark.parametrize("kind", KINDS)
def test_a_pod_has_no_privileges_and_is_probed_on_the_images_port(kind: str) -> None:
    for _, pod in pods(kind):
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
        bot = pod["containers"][0]
        assert bot["livenessProbe"]["httpGet"] == {"path": HEALTH_PATH, "port": "health"}
        assert bot["readinessProbe"]["httpGet"] == {"path": READINESS_PATH, "port": "health"}


def test_ports_and_user_match_the_image() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    ports = {
        one["name"]: one["containerPort"]
        for kind in KINDS
        for _, pod in pods(kind)
        for one in pod["containers"][0]["ports"]
    }
    assert f"EXPOSE {ports['slack']} {ports['health']}\n" in dockerfile
    assert f"MQBOT_HEALTH_PORT={ports['health']}" in dockerfile
    groups = {pod["securityContext"]["fsGroup"] for kind in KINDS for _, pod in pods(kind)}
    assert [f"USER {one}:{one}" in dockerfile for one in groups] == [True]


@pytest.mark.parametrize("kind", KINDS)
def test_kustomize_finds_its_files_and_this_version_of_the_image(kind: str) -> None:
    folder = ROOT / "deploy" / "kubernetes" / kind
    body = _load(folder / "kustomization.yaml")
    assert all((folder / one).exists() for one in body["resources"])
    (image,) = body["images"]
    assert image["name"] == "mqbot"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert str(image["newTag"]) == project["version"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="optional: there is no kubectl")
def test_kustomize_renders_objects_that_fit_the_schema(kind: str) -> None:
    rendered = subprocess.run(
        ["kubectl", "kustomize", ROOT / "deploy" / "kubernetes" / kind],
        capture_output=True,
        text=True,
        check=True,
    )
    objects = list(yaml.safe_load_all(rendered.stdout))
    assert len(objects) > len(manifests(kind))
    for one in objects:
        fits_kubernetes(one)


COMMENT = re.compile(r"^#.*\n", re.MULTILINE)
DOCKERFILE = COMMENT.sub("", (ROOT / "Dockerfile").read_text()).replace("\\\n", "")
RESULT = DOCKERFILE.rpartition("\nFROM ")[2]
"""The last stage."""


def instructions(name: str, stages: str = DOCKERFILE) -> list[str]:
    """What follows the name, of each instruction with it."""
    return re.findall(rf"^{name} +(.*)$", stages, re.MULTILINE)


def test_bases_are_build_arguments_with_pinned_defaults_and_the_last_is_slim() -> None:
    defaults = {f"${{{one.partition('=')[0]}}}": one for one in instructions("ARG")}
    bases = [defaults[one.partition(" ")[0]] for one in instructions("FROM")]
    assert [one for one in bases if not re.search(r":\d|@sha256:", one)] == []
    assert len(bases) > 1
    assert "-slim" in bases[-1]


def test_the_process_has_a_user_a_volume_a_health_check_and_no_shell() -> None:
    (user,) = instructions("USER", RESULT)
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert instructions("VOLUME", RESULT)
    (check,) = instructions("HEALTHCHECK", RESULT)
    commands = [*instructions("ENTRYPOINT", RESULT), *instructions("CMD", RESULT)]
    assert len(commands) == 2
    for command in (*commands, check.partition("CMD ")[2]):
        assert isinstance(json.loads(command), list)


def test_nothing_unpinned_secret_or_needless_is_put_into_the_image() -> None:
    assert instructions("ADD") == []
    values = " ".join([*instructions("ENV"), *instructions("ARG")])
    assert not re.search(r"(TOKEN|SECRET|PASSWORD|KEY)\w*=", values, re.IGNORECASE)
    assert "apt-get install" not in DOCKERFILE
    installs = [one for one in instructions("RUN") if re.match(r"\S+/pip .* install ", one)]
    assert len(installs) > 1
    for install in installs:
        assert "--no-cache-dir" in install
        assert "--require-hashes" in install or "--no-deps" in install


@pytest.mark.parametrize(("options", "code"), [(["--if-possible"], 0), ([], 1)])
def test_where_no_image_can_be_built_one_line_says_why(
    options: list[str],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", ["tests.image", *options])
    assert image.main() == code
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("The image was not built: this needs root and buildah")
