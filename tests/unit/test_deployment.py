"""Deployment files and the image follow published schemas and good rules, and fit the program."""

import json
import os
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

from bot.config.file import SUFFIX
from bot.config.reading import load_settings, secret_variables
from bot.config.settings import RunSettings, Settings, WebSettings, variable
from bot.runtime.health_port import HEALTH_PATH, READINESS_PATH
from tests import image
from tests.documentation import ROOT

KUBERNETES = "1.32"
KINDS = ("sqlite", "postgres")
RENDERED = (*KINDS, "monitoring", "restore/sqlite", "restore/postgres")
SETTINGS = Path("/etc/mqbot")
"""Where containers have the folder with the settings."""

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


@pytest.mark.parametrize(("workflow", "job"), [("check", "python"), ("release", "installs")])
def test_each_python_named_by_the_package_is_tried_with_pinned_actions(
    workflow: str, job: str
) -> None:
    jobs = _load(ROOT / ".github" / "workflows" / f"{workflow}.yml")["jobs"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: "
    named = [
        text.removeprefix(prefix) for text in project["classifiers"] if text.startswith(prefix)
    ]
    assert jobs[job]["strategy"]["matrix"]["python"] == named
    steps = [step for each in jobs.values() for step in each["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


def test_a_releases_readme_links_to_its_own_version_by_address(tmp_path: Path) -> None:
    steps = _load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["package"]["steps"]
    (script,) = [step["run"] for step in steps if "links" in step.get("name", "")]
    text = (ROOT / "README.md").read_text()
    (tmp_path / "README.md").write_text(text)
    where = {
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": "acme/mqbot",
        "GITHUB_REF_NAME": "v0.1.0",
    }
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, env={**os.environ, **where}, check=True)

    here = "https://github.example/acme/mqbot"
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", text)
    rewritten = re.findall(r"\[[^\]]*\]\(([^)]+)\)", (tmp_path / "README.md").read_text())
    kind = {"!": "raw", "": "blob"}
    wanted = [link if ":" in link else f"{here}/{kind[mark]}/v0.1.0/{link}" for mark, link in links]
    assert rewritten == wanted
    assert sum(here in link for link in rewritten) > 20


# Compose


def every_service(kind: str) -> dict[str, Body]:
    found: dict[str, Body] = _load(ROOT / "deploy" / COMPOSE[kind])["services"]
    return found


def services(kind: str) -> Iterator[tuple[str, Body]]:
    """The services that run the bot, by the bot's command."""
    for name, service in every_service(kind).items():
        if name not in {"backup", "database", "migrate"}:
            yield service.get("command", "run"), service


@pytest.mark.parametrize("kind", KINDS)
def test_compose_gives_each_process_its_secrets_as_files_and_no_privilege(kind: str) -> None:
    files_of_secrets = _load(ROOT / "deploy" / COMPOSE[kind])["secrets"]
    found = dict(services(kind))
    assert sorted(found) == STARTED[kind]
    for command, service in found.items():
        given = {name: Path(path) for name, path in service["environment"].items()}
        assert given.pop("MQBOT_CONFIG") == SETTINGS / "mqbot.toml"
        assert f"./settings:{SETTINGS}:ro" in service["volumes"]
        assert set(given) - {"DATABASE_URL_FILE"} == secrets_of(command)
        for name, path in given.items():
            assert path == Path("/run/secrets") / name.removesuffix(SUFFIX).lower()
            assert path.name in service["secrets"]
            assert files_of_secrets[path.name]["file"] == f"./secrets/{path.name}"
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_log_of_compose_fills_the_disk(kind: str) -> None:
    for name, service in every_service(kind).items():
        options = service["logging"]["options"]
        assert {"max-size", "max-file"} == set(options), name


@pytest.mark.parametrize("kind", KINDS)
def test_each_process_of_compose_is_watched_on_a_port_of_its_own_from_this_machine(
    kind: str,
) -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    (inside,) = re.findall(r"MQBOT_HEALTH_PORT=(\d+)", dockerfile)
    published = [text.split(":") for _, service in services(kind) for text in service["ports"]]
    assert {host for host, _, _ in published} == {"127.0.0.1"}
    outside = [port for _, port, _ in published]
    assert len(set(outside)) == len(outside)
    assert [port for _, _, port in published].count(inside) == len(STARTED[kind])


def test_compose_replaces_the_worker_before_web_and_migrates_before_both() -> None:
    found = every_service("postgres")
    # Not healthy: that takes half a minute, in which web's port would be closed.
    assert found["web"]["depends_on"] == {"worker": {"condition": "service_started"}}
    migrated = {"migrate": {"condition": "service_completed_successfully"}}
    assert found["worker"]["depends_on"] == migrated
    assert found["backup"]["depends_on"] == migrated


def test_compose_waits_until_the_database_takes_connections_over_the_network() -> None:
    # Without a host, pg_isready asks the socket, which the image opens to create the database.
    check = every_service("postgres")["database"]["healthcheck"]["test"]
    assert check == ["CMD", "pg_isready", "--host=localhost", "--username=mqbot"]


def test_one_off_commands_on_postgresql_start_no_migration_beside_themselves() -> None:
    pages = [ROOT / "docs" / "installation.md", ROOT / "docs" / "operations" / "README.md"]
    commands = [
        line
        for page in pages
        for line in page.read_text().splitlines()
        if re.match(r"docker compose run .*\b(web|worker|pg_restore)\b", line)
    ]
    assert len(commands) == 3
    assert [command for command in commands if "--no-deps" not in command] == []


def test_the_folder_of_settings_starts_every_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(ROOT / "deploy" / "settings", tmp_path / "settings")
    file = folder / "mqbot.toml"
    file.write_text(file.read_text().replace(str(SETTINGS), str(folder)))
    for name in list(os.environ):
        if name.startswith(("MQBOT_", "SLACK_", "DATABASE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("MQBOT_CONFIG", str(file))
    monkeypatch.setenv("MQBOT_API_TOKEN", "a-key-of-the-service")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-of-the-app")
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-of-the-app")
    monkeypatch.setenv("SLACK_SIGNING_SECRET", "0123456789abcdef0123456789abcdef")
    for kind in COMMANDS.values():
        assert len(load_settings(kind).repositories) == 2


# Kubernetes


def manifests(folder: str) -> list[Body]:
    """The objects in a folder's own files, without those it builds on."""
    here = ROOT / "deploy" / "kubernetes" / folder
    names = [path for path in here.iterdir() if path.name != "kustomization.yaml"]
    return [one for path in sorted(names) for one in yaml.safe_load_all(path.read_text())]


OPERATORS = {"PodMonitor"}
"""Kinds of the Prometheus operator, which are not in the schema of Kubernetes."""


def pods(kind: str) -> Iterator[tuple[str, Body]]:
    """The pods that run the bot, by the bot's command."""
    for manifest in manifests(kind):
        if manifest["kind"] in {"Deployment", "StatefulSet"}:
            pod = manifest["spec"]["template"]["spec"]
            yield pod["containers"][0].get("args", ["run"])[0], pod


@pytest.mark.parametrize("folder", ["base", *RENDERED])
def test_a_manifest_fits_the_schema_of_kubernetes(folder: str) -> None:
    for manifest in manifests(folder):
        if manifest["kind"] not in OPERATORS:
            fits_kubernetes(manifest)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pod_has_everything_its_command_needs(kind: str) -> None:
    base = _load(ROOT / "deploy" / "kubernetes" / "base" / "kustomization.yaml")
    (settings,) = base["configMapGenerator"]
    variables = dict(setting.split("=") for setting in settings["literals"])
    assert variables["MQBOT_CONFIG"] == str(SETTINGS / "mqbot.toml")
    found = dict(pods(kind))
    assert sorted(found) == STARTED[kind]
    for command, pod in found.items():
        container = pod["containers"][0]
        (mount,) = [one for one in container["volumeMounts"] if one["name"] == "secrets"]
        (folder,) = [one for one in container["volumeMounts"] if one["name"] == "settings"]
        assert folder["mountPath"] == str(SETTINGS)
        (volume,) = [one for one in pod["volumes"] if one["name"] == "settings"]
        # Read through the group: other users of the machine are no business of `mqbot check` then.
        assert volume["configMap"] == {"name": "mqbot-settings", "defaultMode": 0o440}
        given = {element["name"]: Path(element["value"]) for element in container["env"]}
        assert set(given) - {"DATABASE_URL_FILE"} == secrets_of(command)
        for name, path in given.items():
            assert path == Path(mount["mountPath"]) / name.removesuffix(SUFFIX).lower()
        # A service's variables would look like misspelt settings.
        assert pod["enableServiceLinks"] is False


def templates(folder: str) -> Iterator[Body]:
    """The pods of every kind in a folder."""
    for manifest in manifests(folder):
        spec = manifest.get("spec", {}).get("jobTemplate", manifest).get("spec", {})
        if "template" in spec:
            yield spec["template"]["spec"]


@pytest.mark.parametrize("folder", [one for one in RENDERED if one != "monitoring"])
def test_a_pod_has_no_privileges(folder: str) -> None:
    found = list(templates(folder))
    assert found
    for pod in found:
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]
            if container["image"] != "mqbot":
                # Its own user and group are root's.
                context = pod["securityContext"]
                assert context["runAsUser"] == context["runAsGroup"] == context["fsGroup"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_pod_is_probed_on_the_images_port_and_an_outage_blocks_no_update(
    kind: str,
) -> None:
    for manifest in manifests(kind):
        if manifest["kind"] not in {"Deployment", "StatefulSet"}:
            continue
        spec = manifest["spec"]
        bot = spec["template"]["spec"]["containers"][0]
        health = {"path": HEALTH_PATH, "port": "health"}
        assert bot["startupProbe"]["httpGet"] == bot["livenessProbe"]["httpGet"] == health
        readiness = bot["readinessProbe"]["httpGet"]
        if manifest["metadata"]["name"] == "mqbot-worker":
            # Nobody's requests are routed to it, and it isn't ready while Slack doesn't answer.
            assert readiness == health
            assert spec["minReadySeconds"] > 0
            continue
        assert readiness == {"path": READINESS_PATH, "port": "health"}
        if manifest["kind"] == "StatefulSet":
            assert spec["podManagementPolicy"] == "Parallel"


def test_one_pod_uses_a_database_file_and_the_copies_are_in_another_volume() -> None:
    (bot,) = [manifest for manifest in manifests("sqlite") if manifest["kind"] == "StatefulSet"]
    assert bot["spec"]["replicas"] == 1
    claims = {
        event["metadata"]["name"]: event["spec"] for event in bot["spec"]["volumeClaimTemplates"]
    }
    assert set(claims) == {"data", "backups"}
    assert {tuple(claim["accessModes"]) for claim in claims.values()} == {("ReadWriteOncePod",)}
    (restore,) = templates("restore/sqlite")
    claimed = {
        volume["name"]: volume["persistentVolumeClaim"]["claimName"]
        for volume in restore["volumes"]
    }
    assert claimed == {name: f"{name}-mqbot-0" for name in claims}
    mounted = {
        mount["name"]: mount["mountPath"] for mount in restore["containers"][0]["volumeMounts"]
    }
    in_bot = bot["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    assert mounted.items() <= {one["name"]: one["mountPath"] for one in in_bot}.items()


@pytest.mark.parametrize("component", ["web", "worker"])
def test_a_drain_or_a_lost_node_leaves_one_of_each_component(component: str) -> None:
    labels = {"app.kubernetes.io/name": "mqbot", "app.kubernetes.io/component": component}
    name = f"mqbot-{component}"
    named = [manifest for manifest in manifests("postgres") if manifest["metadata"]["name"] == name]
    found = {manifest["kind"]: manifest["spec"] for manifest in named}
    budget = found["PodDisruptionBudget"]
    deployment = found["Deployment"]
    assert budget["selector"] == deployment["selector"] == {"matchLabels": labels}
    assert budget["maxUnavailable"] == 1
    assert budget["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    assert deployment["replicas"] > 1
    (spread,) = deployment["template"]["spec"]["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert spread["labelSelector"] == {"matchLabels": labels}


def test_ports_and_user_match_the_image() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    ports = {
        port["name"]: port["containerPort"]
        for kind in KINDS
        for _, pod in pods(kind)
        for port in pod["containers"][0]["ports"]
    }
    (watched,) = [manifest for manifest in manifests("base") if manifest["kind"] == "Service"]
    assert [port["port"] for port in watched["spec"]["ports"]] == [ports["health"]]
    (monitor,) = manifests("monitoring")
    assert monitor["spec"]["selector"]["matchLabels"] == watched["spec"]["selector"]
    assert [endpoint["port"] for endpoint in monitor["spec"]["podMetricsEndpoints"]] == ["health"]
    assert f"EXPOSE {ports['slack']} {ports['health']}\n" in dockerfile
    assert f"MQBOT_HEALTH_PORT={ports['health']}" in dockerfile
    groups = {pod["securityContext"]["fsGroup"] for kind in KINDS for _, pod in pods(kind)}
    assert [f"USER {group}:{group}" in dockerfile for group in groups] == [True]


@pytest.mark.parametrize("folder", RENDERED)
def test_kustomize_finds_its_files_and_this_version_of_the_image(folder: str) -> None:
    here = ROOT / "deploy" / "kubernetes" / folder
    body = _load(here / "kustomization.yaml")
    assert all((here / resource).exists() for resource in body["resources"])
    tags = {image["name"]: str(image["newTag"]) for image in body.get("images", ())}
    used = {
        container["image"]
        for pod in templates(folder)
        for container in [*pod["containers"], *pod.get("initContainers", [])]
    }
    assert set(tags) == used
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert tags.get("mqbot", project["version"]) == project["version"]
    database = every_service("postgres")["database"]["image"]
    assert tags.get("postgres", "17") == database.partition(":")[2]


def rendered(folder: str) -> list[Body]:
    done = subprocess.run(
        ["kubectl", "kustomize", ROOT / "deploy" / "kubernetes" / folder],
        capture_output=True,
        text=True,
        check=True,
    )
    return list(yaml.safe_load_all(done.stdout))


with_kubectl = pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="optional: there is no kubectl"
)


@pytest.mark.parametrize("folder", RENDERED)
@with_kubectl
def test_kustomize_renders_objects_that_fit_the_schema(folder: str) -> None:
    objects = rendered(folder)
    assert len(objects) >= len(manifests(folder))
    for manifest in objects:
        if manifest["kind"] not in OPERATORS:
            fits_kubernetes(manifest)


@with_kubectl
def test_an_upgrade_in_the_documented_order_applies_web_after_everything_else() -> None:
    web: set[tuple[str, str]] = set()
    others: set[tuple[str, str]] = set()
    for event in rendered("postgres"):
        labels = event["metadata"]["labels"]
        assert labels["app.kubernetes.io/name"] == "mqbot"
        is_web = labels.get("app.kubernetes.io/component") == "web"
        (web if is_web else others).add((event["kind"], event["metadata"]["name"]))
    assert web == {
        ("Deployment", "mqbot-web"),
        ("PodDisruptionBudget", "mqbot-web"),
        ("Service", "mqbot-web"),
    }
    assert ("Deployment", "mqbot-worker") in others
    assert ("ConfigMap", "mqbot-settings") in others


@pytest.mark.parametrize("kind", KINDS)
@with_kubectl
def test_a_changed_setting_restarts_no_pod(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [one for one in rendered(kind) if "template" in one.get("spec", {})]
    assert before
    copied = tmp_path / "copy"
    shutil.copytree(ROOT / "deploy", copied / "deploy")
    (copied / "deploy" / "settings" / "repositories").write_text("acme/other\n")
    monkeypatch.setattr("tests.unit.test_deployment.ROOT", copied)
    after = rendered(kind)
    (settings,) = [event for event in after if event["metadata"]["name"] == "mqbot-settings"]
    assert settings["data"]["repositories"] == "acme/other\n"
    assert [one for one in after if "template" in one.get("spec", {})] == before


COMMENT = re.compile(r"^#.*\n", re.MULTILINE)
DOCKERFILE = COMMENT.sub("", (ROOT / "Dockerfile").read_text()).replace("\\\n", "")
RESULT = DOCKERFILE.rpartition("\nFROM ")[2]
"""The last stage."""


def instructions(name: str, stages: str = DOCKERFILE) -> list[str]:
    """What follows the name, of each instruction with it."""
    return re.findall(rf"^{name} +(.*)$", stages, re.MULTILINE)


def test_bases_are_build_arguments_with_pinned_defaults_and_the_last_is_slim() -> None:
    defaults = {
        f"${{{instruction.partition('=')[0]}}}": instruction for instruction in instructions("ARG")
    }
    bases = [defaults[instruction.partition(" ")[0]] for instruction in instructions("FROM")]
    assert [base for base in bases if not re.search(r":\d|@sha256:", base)] == []
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
    pip = re.compile(r"\S+/pip (?:\S+ )*?(?:install|wheel) [^&]*")
    calls = [call for instruction in instructions("RUN") for call in pip.findall(instruction)]
    assert len(calls) == 4
    for call in calls:
        assert "--no-cache-dir" in call
        # Pinned by hashes, or our own, without anything fetched.
        is_ours = "--no-deps" in call and ("--no-build-isolation" in call or "--no-index" in call)
        assert "--require-hashes" in call or is_ours, call


def test_the_image_builds_with_the_build_system_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (backend,) = project["build-system"]["requires"]
    pinned = (ROOT / ".github" / "build-requirements.txt").read_text()
    assert f"\n{backend} " in pinned


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
