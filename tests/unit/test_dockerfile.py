"""The Dockerfile follows the rules of good images; `python -m tests.image` builds and runs it."""

import json
import re
import sys

import pytest

from tests import image
from tests.documentation import ROOT

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
