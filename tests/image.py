"""`python -m tests.image`: builds the image on a base of Debian's packages, and uses it.

For Linux as root, with the packages buildah, podman, runc and mmdebstrap. No registry of images is
asked. The bot runs read-only, as the image's user, against both local services.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.documentation import ROOT
from tests.support.demo_process import STOP_SECONDS, Slack, wait_for

TOOLS = ("buildah", "podman", "runc", "mmdebstrap")
MOST_BYTES = 200_000_000
DEBIAN = "bookworm"
START_SECONDS = 120.0
SANDBOX = (sys.executable, "-m", "bot", "sandbox")
LIMITS = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000")
"""Below podman's own, which not every machine may set."""

TRIM = """
apt-get purge -qq -y --autoremove binutils perl-modules-5.36
rm -rf /usr/share/doc /usr/share/man /usr/share/locale /usr/lib/*/gconv
rm -rf /var/cache/* /var/lib/apt/lists/*
"""
"""Leaves what Debian's slim images have, and Python."""


class Images:
    """Containers and images in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        store = (f"--root={folder}/images", f"--runroot={folder}/run", "--storage-driver=overlay")
        self._podman = ("podman", *store, "--cgroup-manager=cgroupfs", "--runtime=runc")
        self._buildah = ("buildah", *store)

    def podman(self, *arguments: str | Path) -> str:
        return run(*self._podman, *arguments)

    def buildah(self, *arguments: str | Path) -> str:
        return run(*self._buildah, *arguments)

    def succeeds(self, *arguments: str) -> bool:
        done = subprocess.run([*self._podman, *arguments], capture_output=True, check=False)
        return done.returncode == 0

    def make_bases(self) -> None:
        """`builder` has `strip`, and `base` only Python."""
        archive = self.folder / "builder.tar"
        packages = "--include=usr-is-merged,python3-venv,ca-certificates,binutils"
        run("mmdebstrap", "--quiet", "--variant=minbase", packages, DEBIAN, archive)
        container = self.buildah("from", "scratch").strip()
        self.buildah("add", "--quiet", container, archive, "/")
        self.buildah("commit", "--quiet", container, "localhost/builder")
        self.buildah("run", "--isolation=chroot", container, "--", "sh", "-ec", TRIM)
        self.buildah("commit", "--quiet", "--squash", container, "localhost/base")

    def build(self) -> None:
        wheels = self.folder / "wheels"
        pip = (sys.executable, "-m", "pip", "download", "--quiet", "--dest", wheels)
        run(*pip, "--no-deps", "--require-hashes", "--requirement", ROOT / "requirements.txt")
        run(*pip, "hatchling")
        configuration = self.folder / "pip.conf"
        configuration.write_text("[global]\nno-index = true\nfind-links = /wheels\n")
        self.buildah(
            *("build", "--quiet", "--isolation=chroot", "--format=docker"),
            *("--build-arg=BUILDER=localhost/builder", "--build-arg=BASE=localhost/base"),
            *(f"--volume={wheels}:/wheels:ro", f"--volume={configuration}:/etc/pip.conf:ro"),
            *("--tag=localhost/mqbot", str(ROOT)),
        )

    def size(self, image: str) -> int:
        return int(self.podman("image", "inspect", "--format={{.Size}}", image))

    @contextmanager
    def running(self, **settings: str) -> Iterator[str]:
        """The name of a container in which the bot runs."""
        environment = [f"--env={name}={value}" for name, value in settings.items()]
        self.podman(
            *("run", "--detach", "--name=mqbot", "--read-only", "--read-only-tmpfs=false"),
            *("--no-healthcheck", "--network=host", "--cap-drop=all", *LIMITS, *environment),
            "localhost/mqbot",
        )
        try:
            yield "mqbot"
        finally:
            print(self.podman("logs", "mqbot"))
            self.podman("rm", "--force", "mqbot")


def run(*command: str | Path) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


@contextmanager
def sandbox(*arguments: str) -> Iterator[str]:
    """Run a local service; yield what it printed at its start."""
    command = (*SANDBOX, *arguments, "--port=0")
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        try:
            lines = iter(one.stdout.readline, "")
            yield next(line for line in lines if "_API_URL=" in line or line.startswith("page"))
        finally:
            one.terminate()


def use(images: Images) -> None:
    """Wait for health, type a command, see a post, and stop."""
    with (
        sandbox("merge-queue", "--scenario=demo", "--speed=24") as service,
        sandbox("slack") as slack,
    ):
        page = slack.split()[1]
        with images.running(
            MQBOT_API_URL=service.strip().partition("=")[2],
            MQBOT_API_TOKEN="sandbox-token",
            MQBOT_REPOSITORIES="acme/site",
            MQBOT_CHANNELS="acme/site=C0MERGEQ:enter,merge",
            SLACK_BOT_TOKEN="xoxb-sandbox",
            SLACK_APP_TOKEN="xapp-sandbox",
            SLACK_API_URL=f"{page}api/",
            MQBOT_HEALTH_HOST="127.0.0.1",
        ) as container:
            _use(images, container, page)


def _use(images: Images, container: str, page: str) -> None:
    slack = Slack(page)
    check = json.loads(
        images.podman("image", "inspect", "--format={{json .HealthCheck}}", "localhost/mqbot")
    )

    def is_healthy() -> bool | None:
        return images.succeeds("exec", container, *check["Test"][1:]) or None

    wait_for(is_healthy, "the container is not healthy", START_SECONDS)
    assert images.podman("exec", container, "id", "-u").strip() != "0"
    assert not images.succeeds("exec", container, "touch", "/opt/mqbot/new")
    slack.type_command("/mq status acme/site")
    slack.wait_for_messages("*acme/site* is running", "*Queued*")
    began = time.monotonic()
    images.podman("stop", "--time=30", container)
    stopped = time.monotonic() - began
    assert images.podman("inspect", "--format={{.State.ExitCode}}", container).strip() == "0"
    assert stopped < STOP_SECONDS
    print(f"healthy, answered, posted, and stopped in {stopped:.1f} s")


def main() -> None:
    missing = [one for one in TOOLS if shutil.which(one) is None]
    if missing or os.geteuid() != 0:
        sys.exit(
            f"This needs root and {', '.join(TOOLS)}. Missing: {', '.join(missing) or 'root'}."
        )
    with tempfile.TemporaryDirectory(prefix="mqbot-image-") as folder:
        images = Images(Path(folder))
        images.make_bases()
        began = time.monotonic()
        images.build()
        print(f"built in {time.monotonic() - began:.0f} s")
        size, base = images.size("localhost/mqbot"), images.size("localhost/base")
        print(f"{size / 1e6:.0f} MB, of which the base is {base / 1e6:.0f} MB")
        assert size < MOST_BYTES
        use(images)


if __name__ == "__main__":
    main()
