"""The Dockerfile follows the rules of good images; `python -m tests.image` builds and runs it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.documentation import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
SECRET = re.compile(r"\b\w*(?:TOKEN|SECRET|PASSWORD|KEY)\w*=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Instruction:
    stage: int
    name: str
    rest: str


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions with continued lines joined; those before the first FROM have stage 0."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    stage = 0
    for line in "\n".join(lines).replace("\\\n", "").splitlines():
        name, _, rest = line.strip().partition(" ")
        stage += name == "FROM"
        if name:
            yield Instruction(stage, name, rest.strip())


def problems(text: str) -> Iterator[str]:
    found = list(instructions(text))
    last = [one for one in found if one.stage == found[-1].stage]
    yield from _of_base(found)
    yield from _of_process(last)
    for one in found:
        yield from _of_instruction(one)


def _of_base(found: list[Instruction]) -> Iterator[str]:
    bases = dict(one.rest.split("=", 1) for one in found if one.stage == 0 and one.name == "ARG")
    for one in found:
        if one.name == "FROM":
            argument = re.match(r"\$\{(\w+)\}", one.rest)
            base = bases.get(argument[1], "") if argument else ""
            if not re.search(r":\d|@sha256:", base):
                yield "a base is not a build argument with a pinned default"
    if found[-1].stage < 2 or "-slim" not in bases.get("BASE", ""):
        yield "the result does not have a slim base of its own"


def _of_process(last: list[Instruction]) -> Iterator[str]:
    by_name = {one.name: one.rest for one in last}
    user = by_name.get("USER", "").partition(":")[0]
    if not user.isdecimal() or int(user) == 0:
        yield "the user is not a number above 0"
    for name in ("ENTRYPOINT", "CMD", "HEALTHCHECK"):
        if name not in by_name:
            yield f"there is no {name}"
        elif not _is_exec(by_name[name].partition("CMD ")[2] or by_name[name]):
            yield f"{name} is not in exec form"
    if "VOLUME" not in by_name:
        yield "there is no volume"


def _is_exec(rest: str) -> bool:
    try:
        return isinstance(json.loads(rest), list)
    except ValueError:
        return False


def _of_instruction(one: Instruction) -> Iterator[str]:
    if one.name == "ADD":
        yield "ADD in place of COPY"
    if one.name in {"ENV", "ARG"} and SECRET.search(one.rest):
        yield "a secret in the image"
    if "apt-get install" in one.rest and "rm -rf /var/lib/apt/lists" not in one.rest:
        yield "apt's lists are left"
    for command in re.findall(r"\bpip\b[^&|;]* install[^&|;]*", one.rest):
        if "--no-cache-dir" not in command:
            yield "pip's cache is left"
        if "--require-hashes" not in command and "--no-deps" not in command:
            yield "pip installs what is not pinned by hashes"


def test_the_dockerfile_passes_its_checks() -> None:
    assert list(problems(DOCKERFILE)) == []


@pytest.mark.parametrize(
    ("good", "bad", "problem"),
    [
        ("ARG BASE=python:3.13-slim-bookworm", "ARG BASE=python:latest", "pinned"),
        ("ARG BASE=python:3.13-slim-bookworm", "ARG BASE=python:3.13", "slim"),
        ("FROM ${BASE}\n", "FROM python\n", "pinned"),
        ("USER 65532:65532\n", "", "user"),
        ("USER 65532:65532\n", "USER 0\n", "user"),
        ('ENTRYPOINT ["mqbot"]', "ENTRYPOINT mqbot", "ENTRYPOINT is not in exec form"),
        ('CMD ["python", ', "CMD python -c [", "HEALTHCHECK is not in exec form"),
        ("HEALTHCHECK", "LABEL", "no HEALTHCHECK"),
        ("VOLUME", "LABEL", "volume"),
        ("COPY bot", "ADD bot", "ADD"),
        ("PYTHONDONTWRITEBYTECODE=1", "SLACK_BOT_TOKEN=xoxb-1", "secret"),
        ("RUN install", "RUN apt-get install gcc && install", "lists"),
        ("--require-hashes", "", "not pinned"),
        ("--no-cache-dir --no-compile --no-deps", "--no-deps", "cache"),
    ],
)
def test_a_worse_dockerfile_fails_the_checks(good: str, bad: str, problem: str) -> None:
    assert good in DOCKERFILE
    assert problem in " ".join(problems(DOCKERFILE.replace(good, bad)))


@pytest.mark.parametrize(("options", "code"), [(["--if-possible"], 0), ([], 1)])
def test_where_no_image_can_be_built_one_line_says_why(options: list[str], code: int) -> None:
    command = [sys.executable, "-m", "tests.image", *options]
    done = subprocess.run(
        command, cwd=ROOT, env={"PATH": ""}, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    (line,) = done.stdout.splitlines()
    assert line.startswith("The image was not built: this needs root and buildah")
