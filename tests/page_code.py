"""`python -m tests.page_code`: checks the format and the style of the local Slack page's code.

Biome, from npm, reads the JavaScript and CSS; nothing of it is part of mqbot. Without npm, this
says so and passes, unless MQBOT_FAIL_ON_SKIP is set. `npm run fix` rewrites the files.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Install what `package-lock.json` names, and check; return an exit code."""
    npm = shutil.which("npm")
    if npm is None:
        sys.stdout.write("npm is not installed, so the page's code is not checked.\n")
        return 1 if os.environ.get("MQBOT_FAIL_ON_SKIP") else 0
    for arguments in (("ci", "--ignore-scripts", "--no-audit", "--no-fund"), ("run", "check")):
        done = subprocess.run([npm, *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
