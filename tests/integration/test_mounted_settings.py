"""Settings in a folder that is mounted as Kubernetes mounts a config map."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKED = """\
import sys
from pathlib import Path
from bot.inspection.machine import _open_folders
folder = Path(sys.argv[1])
print([each.sentence for each in _open_folders([("MQBOT_CONFIG", folder / "mqbot.toml")])])
"""
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")
"""An ordinary user may mount in a namespace of their own, where the system allows that."""

READ_ONLY = 'mount --bind "$2" "$2" && mount -o remount,ro,bind "$2" && '


def named(folder: Path, before: str) -> str:
    """What `mqbot check` says of the folder, in a place with mounts of its own."""
    command = f'{before}exec {sys.executable} -c "$1" "$2"'
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", command, "sh", CHECKED, str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def can_mount() -> bool:
    try:
        return subprocess.run([*UNSHARE, "true"], check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not can_mount(), reason="optional: nobody may mount here")
def test_a_folder_that_is_read_only_here_is_not_open_to_others(tmp_path: Path) -> None:
    """A config map's folder has the mode 0777 and no sticky bit; a secret's has one."""
    folder = tmp_path / "etc"
    folder.mkdir()
    folder.chmod(0o777)
    assert "can replace files in" in named(folder, "")
    assert named(folder, READ_ONLY) == "[]"
