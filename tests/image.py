"""`python -m tests.image`: builds the image on a base of Debian's packages, and uses it.

For Linux as root, with the packages buildah, podman, runc and mmdebstrap. No registry of images is
asked. The bot runs read-only, as the image's user, against both local services. With
`--if-possible`, a machine that can't build images, or fetch Debian's packages, says so and passes.
"""

import argparse
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

READ_ONLY = ("--read-only", "--read-only-tmpfs=false", "--network=host", "--cap-drop=all", *LIMITS)
DRIVERS = ("overlay", "vfs")
"""Of storage. Where the machine's own disk is an overlay, only the slow one works."""

PREPARATION_SECONDS = 300.0
"""For one command before the build of our image."""

TRIM = """
apt-get purge -qq -y --autoremove binutils perl-modules-5.36
rm -rf /usr/share/doc /usr/share/man /usr/share/locale /usr/lib/*/gconv
rm -rf /var/cache/* /var/lib/apt/lists/*
"""
"""Leaves what Debian's slim images have, and Python."""

REHEARSAL = """
FROM localhost/builder AS build
RUN python3 -m venv --without-pip /opt/mqbot
FROM localhost/base
COPY --from=build /opt/mqbot /opt/mqbot
USER 65532:65532
ENTRYPOINT ["/opt/mqbot/bin/python", "--version"]
"""
"""Does what our Dockerfile does, without anything of ours."""


class CannotBuild(Exception):
    """This machine can't build and run any image, so nothing is known about ours."""


class Images:
    """Containers and images in a folder of their own."""

    def __init__(self, folder: Path, driver: str) -> None:
        self.folder = folder
        self.wheels = folder / "wheels"
        self.within: float | None = None
        """The most seconds for one command."""
        store = (f"--root={folder}/images", f"--runroot={folder}/run", f"--storage-driver={driver}")
        self._podman = ("podman", *store, "--cgroup-manager=cgroupfs", "--runtime=runc")
        self._buildah = ("buildah", *store)

    def podman(self, *arguments: str | Path) -> str:
        return run(*self._podman, *arguments, within=self.within)

    def buildah(self, *arguments: str | Path) -> str:
        return run(*self._buildah, *arguments, within=self.within)

    def succeeds(self, *arguments: str) -> bool:
        done = subprocess.run([*self._podman, *arguments], capture_output=True, check=False)
        return done.returncode == 0

    def prepare(self, archive: Path) -> None:
        """Make the bases, and build and run an image without anything of ours.

        Raises SubprocessError if this machine can't.
        """
        self.within = PREPARATION_SECONDS
        self._make_bases(archive)
        self.wheels.mkdir()
        dockerfile = self.folder / "rehearsal" / "Dockerfile"
        dockerfile.parent.mkdir()
        dockerfile.write_text(REHEARSAL)
        self._build("localhost/rehearsal", dockerfile.parent)
        self.podman("run", "--rm", *READ_ONLY, "localhost/rehearsal")
        self.within = None

    def _make_bases(self, archive: Path) -> None:
        """`builder` has `strip`, and `base` only Python."""
        container = self.buildah("from", "scratch").strip()
        self.buildah("add", "--quiet", container, archive, "/")
        self.buildah("commit", "--quiet", container, "localhost/builder")
        self.buildah("run", "--isolation=chroot", container, "--", "sh", "-ec", TRIM)
        self.buildah("commit", "--quiet", "--squash", container, "localhost/base")

    def build(self) -> None:
        pip = (sys.executable, "-m", "pip", "download", "--quiet", "--dest", self.wheels)
        for pinned in ("requirements.txt", ".github/build-requirements.txt"):
            run(*pip, "--no-deps", "--require-hashes", "--requirement", ROOT / pinned)
        self._build("localhost/mqbot", ROOT)

    def _build(self, tag: str, context: Path) -> None:
        configuration = self.folder / "pip.conf"
        configuration.write_text("[global]\nno-index = true\nfind-links = /wheels\n")
        self.buildah(
            *("build", "--quiet", "--isolation=chroot", "--format=docker", f"--tag={tag}"),
            *("--build-arg=BUILDER=localhost/builder", "--build-arg=BASE=localhost/base"),
            *(f"--volume={self.wheels}:/wheels:ro", f"--volume={configuration}:/etc/pip.conf:ro"),
            context,
        )

    def size(self, image: str) -> int:
        return int(self.podman("image", "inspect", "--format={{.Size}}", image))

    @contextmanager
    def running(self, **settings: str) -> Iterator[str]:
        """The name of a container in which the bot runs."""
        environment = [f"--env={name}={value}" for name, value in settings.items()]
        self.podman(
            *("run", "--detach", "--name=mqbot", "--no-healthcheck", *READ_ONLY, *environment),
            "localhost/mqbot",
        )
        try:
            yield "mqbot"
        finally:
            print(self.podman("logs", "mqbot"))
            self.podman("rm", "--force", "mqbot")


def run(*command: str | Path, within: float | None = None) -> str:
    """What a command printed; what it says of errors is shown as it comes."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=within)
    return done.stdout


def brief(error: subprocess.SubprocessError) -> str:
    """The program that failed, and how."""
    match error:
        case subprocess.CalledProcessError(cmd=command, returncode=code):
            return f"{command[0]} ended with {code}"
        case subprocess.TimeoutExpired(cmd=command, timeout=seconds):
            return f"{command[0]} took more than {seconds:.0f} s"
        case _:
            return str(error)


@contextmanager
def usable_images() -> Iterator[Images]:
    """Images with their bases; raises CannotBuild if this machine can't build and run any."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing or os.geteuid() != 0:
        needs = f"this needs root and {', '.join(TOOLS)}"
        raise CannotBuild(f"{needs}; missing: {', '.join(missing) or 'root'}")
    failed = ""
    with temporary_folder() as folder:
        archive = folder / "builder.tar"
        fetch_base(archive)
        for driver in DRIVERS:
            with temporary_folder() as own:
                images = Images(own, driver)
                try:
                    images.prepare(archive)
                except subprocess.SubprocessError as error:
                    failed = brief(error)
                    continue
                yield images
                return
    raise CannotBuild(f"a trivial image can't be built and run on this machine ({failed})")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mqbot-image-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def fetch_base(archive: Path) -> None:
    packages = "--include=usr-is-merged,python3-venv,ca-certificates,binutils"
    # Not every machine may make devices, and a container gets its own.
    options = ("--quiet", "--variant=minbase", "--skip=output/dev", packages)
    try:
        run("mmdebstrap", *options, DEBIAN, archive, within=PREPARATION_SECONDS)
    except subprocess.SubprocessError as error:
        raise CannotBuild(f"Debian's packages give no base ({brief(error)})") from error


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


def build_and_use(images: Images) -> None:
    began = time.monotonic()
    images.build()
    print(f"built in {time.monotonic() - began:.0f} s")
    size = images.size("localhost/mqbot")
    base = images.size("localhost/base")
    print(f"{size / 1e6:.0f} MB, of which the base is {base / 1e6:.0f} MB")
    assert size < MOST_BYTES
    use(images)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.image", description=__doc__)
    parser.add_argument(
        "--if-possible", action="store_true", help="pass where no image can be built"
    )
    if_possible: bool = parser.parse_args().if_possible
    try:
        with usable_images() as images:
            build_and_use(images)
    except CannotBuild as error:
        print(f"The image was not built: {error}.")
        return 0 if if_possible else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
